/**
 * What clients do to a server over HTTP: all that is right, and all that is not.
 */
import { InputHandlers, McpClient } from "@fairlead/client"
import { NodeHttpTransport } from "@fairlead/node"
import { Call, Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as fc from "fast-check"
import { connect, type Connection, statusOf } from "./Connection.ts"
import { fuzzed } from "./Fuzz.ts"
import type { Log } from "./Log.ts"
import type { Front } from "./server.ts"
import { Ask, Change, Count, Die, Echo, Hang, Large, limits, manual, Refuse, Scoped } from "./Tools.ts"
import { moment, oneOf, type Worker } from "./Worker.ts"

export interface Target {
  readonly front: Exclude<Front, "stdio">
  readonly port: number
  readonly seed: number
  readonly log: Log
}

/** A request as bytes. */
const bytesOf = ({ body, headers }: TestRequest.TestRequest): Buffer => {
  const all = { host: "localhost", ...headers, "content-length": String(Buffer.byteLength(body)) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`)
}

const callOf = (name: string, args: Record<string, string | number> = {}) =>
  bytesOf(
    TestRequest.make("tools/call", { name, arguments: args }, { meta: { [Revision.meta.progressToken]: 1 } })
  )

const listenRequest = () =>
  bytesOf(TestRequest.make(Revision.method.listen, { notifications: { toolsListChanged: true } }))

const began = (connection: Connection) => connection.until((text) => text.includes("\r\n\r\n"))

/** A client of the toolkit that answers what it is asked. */
const layerClient = (port: number) =>
  McpClient.layer().pipe(
    Layer.provide(InputHandlers.form(() => Effect.succeed(InputHandlers.accept({ name: "Ada" })))),
    Layer.provide(NodeHttpTransport.layer({ url: `http://127.0.0.1:${port}/mcp` }))
  )

/** The ordinary calls, and what has to come of them. */
const calls = ({ log }: Target, client: McpClient.Client): Worker => {
  const ends = <A>(name: string, call: Effect.Effect<A, unknown>, isRight: (exit: Exit.Exit<A, unknown>) => boolean) =>
    Effect.flatMap(
      Effect.exit(call),
      (exit) => Effect.andThen(log.did("calls"), isRight(exit) ? Effect.void : log.wrong(`${name}: ${exit}`))
    )
  const gives = <A>(name: string, call: Effect.Effect<A, unknown>, value: A) =>
    ends(name, call, (exit) => Exit.isSuccess(exit) && exit.value === value)
  const fails = (name: string, call: Effect.Effect<unknown, unknown>, tag: string) =>
    ends(name, call, (exit) => Exit.isFailure(exit) && String(exit.cause).includes(tag))
  const reported = client.with({ progress: () => Effect.void })
  return {
    count: 4,
    step: oneOf([
      Effect.flatMap(Random.nextIntBetween(0, 200), (length) => {
        const text = "é".repeat(length)
        return gives("echo", client.call(Echo, { text }), text)
      }),
      Effect.flatMap(Random.nextIntBetween(0, 100), (to) => gives("count", reported.call(Count, { to }), to)),
      ends("scoped", client.call(Scoped, {}), Exit.isSuccess),
      ends("change", client.call(Change, {}), Exit.isSuccess),
      ends("listTools", client.listTools, Exit.isSuccess),
      ends("read", client.readResource(manual), Exit.isSuccess),
      gives("ask", client.call(Ask, {}), "Ada"),
      fails("refuse", client.call(Refuse, {}), "ToolFailed"),
      fails("die", client.call(Die, {}), "-32603"),
      fails("large", client.call(Large, {}), "-32603")
    ])
  }
}

/** Calls that their client gives up: by interruption, by a timeout, by a token. */
const cancels = ({ log }: Target, client: McpClient.Client): Worker => ({
  count: 2,
  step: oneOf([
    Effect.flatMap(Random.nextIntBetween(0, 20), (millis) => Effect.timeoutOption(client.call(Hang, {}), millis)),
    Effect.flatMap(
      Random.nextIntBetween(1, 20),
      (millis) => Effect.exit(Call.withTimeout(client.call(Hang, {}), millis))
    ),
    Effect.flatMap(
      Random.nextIntBetween(0, 20),
      (millis) => Effect.timeoutOption(Call.withProgress(client.call(Count, { to: 10_000 }), () => Effect.void), millis)
    )
  ]).pipe(Effect.andThen(log.did("cancels")))
})

/** Listeners that come, hear something and go. */
const listeners = ({ log }: Target, client: McpClient.Client): Worker => ({
  count: 3,
  step: Effect.gen(function*() {
    const subscription = yield* client.listen({ toolsListChanged: true, resourceSubscriptions: [manual] })
    yield* Effect.forkScoped(Effect.exit(client.call(Change, {})))
    yield* Stream.runDrain(Stream.take(subscription.stream, 1)).pipe(
      Effect.timeoutOption("5 seconds"),
      Effect.filterOrElse((heard) => heard._tag === "Some", () => log.wrong("A listener heard nothing"))
    )
    yield* moment
    yield* log.did("listens")
  })
})

/** Connections that break: within the head, within the body, before the answer, within a stream. */
const disconnects = ({ log, port }: Target): Worker => {
  const cut = (bytes: Buffer) =>
    Effect.gen(function*() {
      const connection = yield* connect(port)
      connection.write(bytes.subarray(0, yield* Random.nextIntBetween(1, bytes.length)))
      yield* moment
    })
  const leave = (bytes: Buffer) =>
    Effect.gen(function*() {
      const connection = yield* connect(port)
      connection.write(bytes)
      yield* oneOf([moment, began(connection)])
    })
  const stopReading = Effect.gen(function*() {
    const connection = yield* connect(port)
    connection.pause()
    connection.write(callOf("count", { to: 100_000 }))
    yield* Effect.sleep("100 millis")
  })
  return {
    count: 3,
    step: oneOf([
      cut(callOf("echo", { text: "x".repeat(2000) })),
      leave(callOf("hang")),
      leave(callOf("stubborn")),
      leave(callOf("count", { to: 10_000 })),
      leave(callOf("scoped")),
      leave(listenRequest()),
      leave(Buffer.concat([callOf("hang"), callOf("echo", { text: "a" }), callOf("hang")])),
      stopReading
    ]).pipe(Effect.andThen(log.did("disconnects")))
  }
}

/** Malformed requests: the status has to be the one that the check order gives. */
const malformed = ({ front, log, port, seed }: Target): Worker => {
  const batch = 200
  let round = 0
  let waiting: ReturnType<typeof sample> = []
  const arbitrary = fuzzed(front)
  const sample = () =>
    fc.sample(arbitrary, { seed: seed + round, numRuns: batch }).map((request, index) => ({
      request,
      where: `seed ${seed + round}, number ${index}`
    })).reverse()
  const next = Effect.sync(() => {
    if (waiting.length === 0) {
      waiting = sample()
      round++
    }
    return waiting.pop()!
  })
  return {
    count: 4,
    step: Effect.gen(function*() {
      const { request: { expected, mistakes, parts }, where } = yield* next
      const connection = yield* connect(port)
      for (const part of parts) connection.write(part)
      yield* Effect.timeoutOption(began(connection), "5 seconds")
      const status = statusOf(connection.text())
      yield* log.did("malformed")
      // What is no HTTP never comes to a router: the server around it answers and closes at once, and what its client still
      // sends then resets the connection, with the answer.
      const mayBeLost = front === "router" && mistakes[0] === "HTTP"
      if (status === undefined ? !mayBeLost : !expected.includes(status)) {
        const wanted = `${mistakes.join(" + ") || "no mistake"} wants ${expected.join(" or ")}`
        yield* log.wrong(
          `${front}, ${where}: ${wanted}, got ${status ?? "no answer"}: ${
            Buffer.concat(parts).toString("latin1").slice(0, 600)
          }`
        )
      }
    })
  }
}

/** All that is done to a server at once. */
export const workers = (target: Target): Effect.Effect<ReadonlyArray<Worker>, unknown, Scope.Scope> =>
  Effect.map(
    Effect.flatMap(Layer.build(layerClient(target.port)), (services) =>
      Effect.provideContext(McpClient.McpClient, services)),
    (client) => [
      calls(target, client),
      cancels(target, client),
      listeners(target, client),
      disconnects(target),
      malformed(target)
    ]
  )

/** How many of a number of requests are let in; each is held until all have come. */
const admitted = (port: number, count: number, bytes: Buffer) =>
  Effect.scoped(Effect.gen(function*() {
    const held: Array<Connection> = []
    for (let i = 0; i < count; i++) {
      const connection = yield* connect(port)
      connection.write(bytes)
      yield* began(connection)
      held.push(connection)
    }
    return held.filter((connection) => statusOf(connection.text()) === 200).length
  }))

/** How many bodies may be on their way at once: the next request after them is turned away. */
const arriving = (port: number, count: number) =>
  Effect.scoped(Effect.gen(function*() {
    const whole = callOf("echo", { text: "a" })
    let refused = 0
    for (let i = 0; i < count; i++) {
      const connection = yield* connect(port)
      connection.write(whole.subarray(0, -1))
      if (i >= limits.maxArrivingRequests) {
        yield* began(connection)
        if (statusOf(connection.text()) === 503) refused++
      }
      yield* Effect.sleep(1)
    }
    return count - refused
  }))

/**
 * The slots that did not come back, by kind. All are taken again, and one more: where one is missing, one request too few
 * is let in; where one came back twice, one too many.
 */
export const slotsLeft = (port: number): Effect.Effect<number> =>
  Effect.gen(function*() {
    const kinds: ReadonlyArray<readonly [limit: number, admitted: Effect.Effect<number>]> = [
      [limits.maxConcurrentRequests, admitted(port, limits.maxConcurrentRequests + 1, callOf("hang"))],
      [limits.listen.maxListeners, admitted(port, limits.listen.maxListeners + 1, listenRequest())],
      [limits.maxArrivingRequests, arriving(port, limits.maxArrivingRequests + 1)]
    ]
    let left = 0
    for (const [limit, count] of kinds) {
      left += Math.abs(limit - (yield* count))
      yield* settled
    }
    return left
  })

/** Enough for what was broken off to have ended. */
const settled = Effect.sleep("300 millis")
