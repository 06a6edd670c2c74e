/**
 * What a client does to a server over stdio: calls, cancellations, listeners, and lines that are no message.
 */
import { type Json, Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as fc from "fast-check"
import { createInterface } from "node:readline"
import type { Child } from "./Child.ts"
import type { Log } from "./Log.ts"
import { limits } from "./Tools.ts"
import { moment, oneOf, type Worker } from "./Worker.ts"

/** A response, as far as it is looked at. */
interface Response {
  readonly result?: { readonly structuredContent?: Json.Value }
  readonly error?: { readonly code: number }
}

/** What stdio takes at once (`NodeMcpEndpoint.runStdio`). */
const maxRequests = 100
/** The largest line that is read, in bytes. */
const maxFrameBytes = 1024 * 1024

/** The client's end of the two pipes. */
export interface Channel {
  /** Sends a request and waits for its answer; interrupting it cancels. */
  readonly ask: (method: string, params: Json.Object) => Effect.Effect<Response>
  /** Sends a request that is cancelled with the scope; waits for what is said first about it, the answer or not. */
  readonly begin: (method: string, params: Json.Object) => Effect.Effect<
    Effect.Effect<Response | undefined>,
    never,
    Scope.Scope
  >
  readonly line: (bytes: string | Uint8Array) => Effect.Effect<void>
}

interface Waiting {
  readonly answered: (response: Response) => void
  readonly told: () => void
}

export const channelOf = (child: Child, log: Log): Channel => {
  let lastId = 0
  const waiting = new Map<number, Waiting>()
  const cancelled = new Set<number>()
  const wrong = (what: string) => Effect.runSync(log.wrong(`stdio: ${what}`))

  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as Response & {
      readonly id?: number
      readonly params?: { readonly progressToken?: number; readonly _meta?: Readonly<Record<string, number>> }
    }
    if (message.params !== undefined) {
      const { _meta, progressToken } = message.params
      waiting.get(progressToken ?? _meta?.[Revision.meta.subscriptionId] ?? -1)?.told()
      return
    }
    // Lines that were no message are answered without an id.
    if (message.id === undefined || typeof message.id !== "number") return
    const one = waiting.get(message.id)
    if (one !== undefined) return one.answered(message)
    if (!cancelled.has(message.id)) wrong(`an answer to nothing: ${line.slice(0, 200)}`)
  })

  const write = (bytes: string | Uint8Array) => void child.stdin.write(bytes)
  const send = (id: number, method: string, params: Json.Object) => {
    const { body } = TestRequest.make(method, params, { id, meta: { [Revision.meta.progressToken]: id } })
    write(`${body}\n`)
  }
  const cancel = (id: number) => {
    waiting.delete(id)
    // A cancellation may cross the answer.
    cancelled.add(id)
    if (cancelled.size > 1000) cancelled.delete(cancelled.values().next().value!)
    write(`${JSON.stringify({ jsonrpc: "2.0", method: Revision.notification.cancelled, params: { requestId: id } })}\n`)
  }

  return {
    ask: (method, params) =>
      Effect.callback<Response>((resume) => {
        const id = ++lastId
        waiting.set(id, {
          answered: (response) => {
            waiting.delete(id)
            resume(Effect.succeed(response))
          },
          told: () => {}
        })
        send(id, method, params)
        return Effect.sync(() => cancel(id))
      }),
    begin: (method, params) =>
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => {
            const id = ++lastId
            let first: { readonly answer: Response | undefined } | undefined
            let listener: (() => void) | undefined
            const tell = (answer: Response | undefined) => {
              first ??= { answer }
              listener?.()
            }
            waiting.set(id, {
              answered: (response) => {
                waiting.delete(id)
                tell(response)
              },
              told: () => tell(undefined)
            })
            send(id, method, params)
            const began = Effect.callback<Response | undefined>((resume) => {
              listener = () => resume(Effect.succeed(first!.answer))
              if (first !== undefined) listener()
            })
            return { id, began }
          }),
          ({ id }) =>
            Effect.sync(() => {
              if (waiting.has(id)) cancel(id)
            })
        ),
        ({ began }) => began
      ),
    line: (bytes) =>
      Effect.sync(() => {
        write(bytes)
        write("\n")
      })
  }
}

const call = (name: string, args: Json.Object = {}) => ["tools/call", { name, arguments: args }] as const

const calls = (channel: Channel, log: Log): Worker => {
  const gives = (name: string, args: Json.Object, isRight: (response: Response) => boolean) =>
    Effect.flatMap(
      channel.ask(...call(name, args)),
      (response) => isRight(response) ? log.did("calls") : log.wrong(`stdio, ${name}: ${JSON.stringify(response)}`)
    )
  return {
    count: 4,
    step: oneOf([
      Effect.flatMap(Random.nextIntBetween(0, 2000), (length) => {
        const text = "é".repeat(length)
        return gives("echo", { text }, ({ result }) => result?.structuredContent === text)
      }),
      Effect.flatMap(
        Random.nextIntBetween(0, 100),
        (to) => gives("count", { to }, ({ result }) => result?.structuredContent === to)
      ),
      gives("scoped", {}, ({ result }) => result !== undefined),
      gives("change", {}, ({ result }) => result !== undefined),
      gives("refuse", {}, ({ result }) => result !== undefined),
      gives("die", {}, ({ error }) => error !== undefined),
      gives("large", {}, ({ error }) => error !== undefined)
    ])
  }
}

const cancels = (channel: Channel, log: Log): Worker => ({
  count: 3,
  step: Effect.gen(function*() {
    const began = yield* channel.begin(...call(yield* Random.choice(["hang", "stubborn", "scoped"] as const)))
    yield* oneOf([Effect.void, Effect.yieldNow, began])
    // Those that overstay must not take all slots.
    yield* Effect.sleep(5)
    yield* log.did("cancels")
  })
})

const listeners = (channel: Channel, log: Log): Worker => ({
  count: 2,
  step: Effect.gen(function*() {
    const began = yield* channel.begin(Revision.method.listen, { notifications: { toolsListChanged: true } })
    yield* began
    yield* moment
    yield* log.did("listens")
  })
})

/** Lines that are no request, or none that can be served. The line after them is served as ever. */
const malformed = (channel: Channel, log: Log, seed: number): Worker => {
  const text = fc.string({ unit: "binary" }).map((value) => value.replace(/[\r\n]/g, ""))
  const json = fc.jsonValue({ maxDepth: 4 })
  const lines: fc.Arbitrary<string | Uint8Array> = fc.oneof(
    text,
    json.map((value) => JSON.stringify(value)),
    fc.uint8Array().map((bytes) => bytes.map((byte) => byte === 10 ? 255 : byte)),
    fc.record({ jsonrpc: fc.constant("2.0"), id: text, result: json }).map((value) => JSON.stringify(value)),
    fc.record({ jsonrpc: fc.constant("2.0"), method: text, params: json }).map((value) => JSON.stringify(value)),
    fc.record({ jsonrpc: fc.constant("2.0"), id: text, method: text, params: json }).map((value) =>
      JSON.stringify(value)
    ),
    fc.record({
      jsonrpc: fc.constant("2.0"),
      method: fc.constant(Revision.notification.cancelled),
      params: fc.record({ requestId: fc.oneof(text, json) })
    }).map((value) => JSON.stringify(value)),
    fc.integer({ min: limits.maxJsonDepth, max: 5000 }).map((depth) => "[".repeat(depth)),
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 100 }).map((more) => "x".repeat(maxFrameBytes + more)) }
  )
  let round = 0
  let waiting: Array<string | Uint8Array> = []
  return {
    count: 1,
    step: Effect.gen(function*() {
      if (waiting.length === 0) waiting = fc.sample(lines, { seed: seed + round++, numRuns: 100 })
      yield* channel.line(waiting.pop()!)
      const served = yield* Effect.timeoutOption(channel.ask(...call("echo", { text: "still there" })), "10 seconds")
      yield* log.did("malformed")
      if (served._tag === "None" || served.value.result === undefined) {
        yield* log.wrong(`stdio, seed ${seed + round - 1}: no answer after a malformed line`)
      }
    })
  }
}

export const workers = (channel: Channel, log: Log, seed: number): ReadonlyArray<Worker> => [
  calls(channel, log),
  cancels(channel, log),
  listeners(channel, log),
  malformed(channel, log, seed)
]

/** The slots that did not come back: all are taken again, and one more, as over HTTP. */
export const slotsLeft = (channel: Channel): Effect.Effect<number> =>
  Effect.scoped(Effect.gen(function*() {
    const held: Array<Effect.Effect<Response | undefined>> = []
    for (let i = 0; i <= maxRequests; i++) held.push(yield* channel.begin(...call("hang")))
    let admitted = 0
    for (const began of held) if ((yield* began) === undefined) admitted++
    return Math.abs(maxRequests - admitted)
  }))
