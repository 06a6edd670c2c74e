/**
 * The shape of a request, in counts: what is made once, and what each request costs. A count that changes here changes
 * the speed on every machine; the times are in `benchmarks/`.
 */
import { afterAll, assert, describe, it, vi } from "@effect/vitest"
import { type Json, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { endpointOf, until } from "./support/serve.ts"
import { call, headersOf, request } from "./support/wire.ts"

/** A string that counts how often its codec was made, and how often it was used. */
const counted = () => {
  const counts = { made: 0, used: 0 }
  const schema = Schema.declare<string>(
    (u): u is string => {
      counts.used++
      return typeof u === "string"
    },
    {
      expected: "a string",
      toCodecJson: () => {
        counts.made++
        return undefined
      }
    }
  )
  return { counts, schema }
}

const echoOf = (name: string, text: Schema.Codec<string>) =>
  Tool.make(name, { input: Schema.Struct({ text }), output: Schema.Struct({ text }) })

const echo = (name: string, text: Schema.Codec<string> = Schema.String) =>
  McpServer.tool(echoOf(name, text), ({ text }) => Effect.succeed({ text }))

const many = (count: number) =>
  Layer.mergeAll(
    echo("echo"),
    McpServer.handlers(Array.from({ length: count - 1 }, (_, i) =>
      McpServer.toolHandler(echoOf(`tool-${i}`, Schema.String), ({ text }) =>
        Effect.succeed({ text }))))
  )

/** A front without a socket: gives the answer of a message, which has to be there at once. */
const frontOf = <A, E>(
  registrations: Layer.Layer<A, E, McpServer.McpServer>,
  options: Partial<McpEndpoint.Options> = {}
) =>
  Effect.map(endpointOf(registrations, options), (services) => {
    const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
    return (message: Json.Object): Served => {
      const headers: Record<string, string> = { ...headersOf(message), host: "localhost" }
      const body = new TextEncoder().encode(stringify(message))
      const served: Served = { texts: [] }
      const admission = endpoint.http({ method: "POST", url: "/mcp", header: (name) => headers[name] })
      assert(admission._tag === "Read")
      admission.serve(body, {
        respond: (_status, _headers, text) => served.texts.push(text),
        open: () => {},
        write: () => true,
        onDrain: () => {},
        abort: () => {},
        end: (text) => served.texts.push(text)
      })
      return served
    }
  })

interface Served {
  readonly texts: Array<string>
}

// The test's own use of it does not count.
const { stringify } = JSON

const calls = {
  parse: vi.spyOn(JSON, "parse"),
  stringify: vi.spyOn(JSON, "stringify"),
  timers: vi.spyOn(globalThis, "setTimeout")
}

/** How many fibers were started so far: their ids are numbered. */
const fibers = (): number => Effect.runSync(Effect.fiberId)

interface Counts {
  readonly fibers: number
  readonly timers: number
  readonly parsed: number
  /** How often anything but a text or a number was written: results, declarations, metadata. */
  readonly written: number
}

const count = (run: () => void): Counts => {
  const before = fibers()
  for (const spy of Object.values(calls)) spy.mockClear()
  run()
  return {
    timers: calls.timers.mock.calls.length,
    parsed: calls.parse.mock.calls.length,
    written: calls.stringify.mock.calls.filter(([value]) => typeof value === "object").length,
    // The fiber that asks is one itself.
    fibers: fibers() - before - 1
  }
}

const liveClock = Context.get(Context.empty(), Clock.Clock)

const hello = call("echo", { text: "hello" })

describe("the hot path", () => {
  afterAll(() => {
    for (const spy of Object.values(calls)) spy.mockRestore()
  })

  it.effect("a call is one fiber, no timer, one parse, and its result is written once", () =>
    Effect.gen(function*() {
      const send = yield* frontOf(echo("echo"))
      send(hello)
      let served: Served | undefined
      const counts = count(() => {
        served = send(hello)
      })
      assert.include(served?.texts[0], "\"structuredContent\":{\"text\":\"hello\"}")
      assert.deepStrictEqual(counts, { fibers: 1, timers: 0, parsed: 1, written: 1 })
    }))

  it.effect("a handler that waits has one timer, which its end stops", () =>
    Effect.gen(function*() {
      const Wait = Tool.make("wait")
      let go = () => {}
      const waiting = Effect.callback<ReadonlyArray<never>>((resume) => {
        go = () => resume(Effect.succeed([]))
      })
      const send = yield* frontOf(McpServer.tool(Wait, () => waiting))
      const cleared = vi.spyOn(globalThis, "clearTimeout")
      let served: Served | undefined
      const counts = count(() => {
        served = send(call("wait"))
      })
      assert.deepStrictEqual(served?.texts, [])
      assert.deepStrictEqual([counts.fibers, counts.timers], [1, 1])
      go()
      assert.strictEqual(served?.texts.length, 1)
      assert.include(cleared.mock.calls.map(([timer]) => timer), calls.timers.mock.results[0]?.value)
      cleared.mockRestore()
    }).pipe(Effect.provideService(Clock.Clock, liveClock)))

  it.effect("a request that is refused starts no fiber", () =>
    Effect.gen(function*() {
      const send = yield* frontOf(echo("echo"))
      assert.deepStrictEqual(count(() => send(call("other", {}))), { fibers: 0, timers: 0, parsed: 1, written: 1 })
    }))

  it.effect("codecs are made with the definition, and used once each way", () =>
    Effect.gen(function*() {
      const { counts, schema } = counted()
      const send = yield* frontOf(echo("echo", schema))
      send(hello)
      const { made, used } = counts
      assert.isAbove(made, 0)
      for (let i = 0; i < 10; i++) send(hello)
      assert.deepStrictEqual([counts.made - made, counts.used - used], [0, 20])
    }))

  it.effect("a list and discovery are written once for many requests", () =>
    Effect.gen(function*() {
      const send = yield* frontOf(many(20))
      for (const method of ["tools/list", "server/discover"]) {
        const first = send(request(method)).texts[0]
        let last: string | undefined
        const counts = count(() => {
          for (let i = 0; i < 10; i++) last = send(request(method)).texts[0]
        })
        assert.strictEqual(last, first)
        assert.deepStrictEqual(counts, { fibers: 0, timers: 0, parsed: 10, written: 0 }, method)
      }
    }))

  it.effect("nothing of a call or of the first page depends on the number of tools", () =>
    Effect.gen(function*() {
      const few = yield* frontOf(many(200))
      const lots = yield* frontOf(many(2000))
      for (const message of [hello, request("tools/list")]) {
        for (const send of [few, lots]) {
          // The first page of several has a cursor, which is sealed once.
          const { texts } = send(message)
          yield* until(() => texts.length > 0)
        }
        const counts = count(() => lots(message))
        assert.deepStrictEqual(counts, count(() => few(message)))
        assert.isAtMost(counts.fibers, 1)
      }
      assert.isBelow(
        lots(request("tools/list")).texts[0]!.length,
        few(request("tools/list")).texts[0]!.length * 1.5
      )
    }))

  it.effect("a progress report is written once, and is no fiber", () =>
    Effect.gen(function*() {
      const Work = Tool.make("work", { output: Schema.Struct({ done: Schema.Boolean }) })
      const send = yield* frontOf(McpServer.tool(Work, () => {
        let i = 0
        const report = Effect.whileLoop({
          while: () => i < 10,
          body: () => Invocation.progress({ progress: ++i }),
          step: () => {}
        })
        return Effect.as(report, { done: true })
      }))
      const message = call("work", {}, { meta: { progressToken: 1 } })
      send(message)
      // Ten reports and a result.
      assert.deepStrictEqual(count(() => send(message)), { fibers: 1, timers: 0, parsed: 1, written: 11 })
    }))
})
