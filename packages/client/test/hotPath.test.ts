/**
 * The shape of a call, in counts: what is made once, and what each call costs. A count that changes here changes the
 * speed on every machine; the times are in `benchmarks/`.
 */
import { afterAll, assert, describe, it, vi } from "@effect/vitest"
import { Tool } from "@fairlead/protocol"
import type { Incoming, Outgoing } from "@fairlead/protocol/Transport"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { scripted, success } from "./support/transport.ts"

const liveClock = Context.get(Context.empty(), Clock.Clock)

const Echo = Tool.make("echo", {
  input: Schema.Struct({ text: Schema.String }),
  output: Schema.Struct({ text: Schema.String })
})

const hello = { text: "hello" }
const answer = (request: Outgoing): Incoming =>
  success(request, {
    resultType: "complete",
    content: [{ type: "text", text: "{\"text\":\"hello\"}" }],
    structuredContent: hello
  })

const calls = {
  parse: vi.spyOn(JSON, "parse"),
  stringify: vi.spyOn(JSON, "stringify"),
  timers: vi.spyOn(globalThis, "setTimeout")
}

const clear = () => {
  for (const spy of Object.values(calls)) spy.mockClear()
}

/** Of the test's own fiber and what it starts. */
const count = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const before = yield* startedFibers
    clear()
    yield* effect
    return {
      fibers: (yield* startedFibers) - before - 1,
      timers: calls.timers.mock.calls.length,
      parsed: calls.parse.mock.calls.length,
      written: calls.stringify.mock.calls.filter(([value]) => typeof value === "object").length
    }
  })

/** How many fibers were started so far: their ids are numbered. */
const startedFibers = Effect.sync(() => Effect.runSync(Effect.fiberId))

describe("the hot path", () => {
  afterAll(() => {
    for (const spy of Object.values(calls)) spy.mockRestore()
  })

  it.effect("a call that is answered at once is one fiber and no timer, and its request is written once", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted((request) => Effect.succeed(answer(request)))
      const call = client.call(Echo, hello)
      yield* call
      assert.deepStrictEqual(yield* count(call), { fibers: 1, timers: 0, parsed: 0, written: 1 })
    }))

  it.effect("a call that waits has one timer, which its end stops", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted((request) =>
        Effect.callback((resume) => {
          setImmediate(() => resume(Effect.succeed(answer(request))))
        })
      )
      const call = client.call(Echo, hello)
      yield* call
      const cleared = vi.spyOn(globalThis, "clearTimeout")
      assert.deepStrictEqual(yield* count(call), { fibers: 1, timers: 1, parsed: 0, written: 1 })
      assert.include(cleared.mock.calls.map(([timer]) => timer), calls.timers.mock.results[0]?.value)
      cleared.mockRestore()
    }).pipe(Effect.provideService(Clock.Clock, liveClock)))

  it.effect("codecs are made with the definition, and used once each way", () =>
    Effect.gen(function*() {
      let made = 0
      let used = 0
      const text = Schema.declare<string>((u): u is string => {
        used++
        return typeof u === "string"
      }, {
        expected: "a string",
        toCodecJson: () => {
          made++
          return undefined
        }
      })
      const Counted = Tool.make("echo", { input: Schema.Struct({ text }), output: Schema.Struct({ text }) })
      const { client } = yield* scripted((request) => Effect.succeed(answer(request)))
      yield* client.call(Counted, hello)
      const before = [made, used] as const
      for (let i = 0; i < 10; i++) yield* client.call(Counted, hello)
      assert.deepStrictEqual([made - before[0], used - before[1]], [0, 20])
    }))
})
