/** Listening: opening, what is told, the ways it ends, and opening it again. */
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { assert, describe, expect, it } from "@effect/vitest"
import * as HttpTransport from "@fairlead/client/HttpTransport"
import * as McpClient from "@fairlead/client/McpClient"
import * as StdioTransport from "@fairlead/client/StdioTransport"
import * as Subscription from "@fairlead/client/Subscription"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as Resource from "@fairlead/protocol/Resource"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import { ConnectionClosed, type Failure, type Incoming, type Outgoing, Transport } from "@fairlead/protocol/Transport"
import * as HttpApp from "@fairlead/server/HttpApp"
import * as McpEndpoint from "@fairlead/server/McpEndpoint"
import * as McpServer from "@fairlead/server/McpServer"
import * as TestClient from "@fairlead/testing/TestClient"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Scheduler from "effect/Scheduler"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { clientOf, event, events, json, peer, result } from "./support/peer.ts"
import { Search } from "./support/tools.ts"
import { hits, metaOf, scripted, success } from "./support/transport.ts"

const { notification: names } = Revision

const told = (request: Outgoing, method: string, params: Json.Object = {}, id: Json.Value = request.id as number) =>
  request.notify({ _tag: "Notification", method, params: { ...params, _meta: { [Revision.meta.subscriptionId]: id } } })

const acknowledge = (request: Outgoing, notifications: Json.Object = { toolsListChanged: true }) =>
  told(request, names.acknowledged, { notifications })

/** Enough for every fiber to do what it can. */
const turns = Effect.repeat(Effect.yieldNow, { times: 5 })

/** A server that acknowledges, and then does what the test says. */
const listening = (options: McpClient.Options & { readonly acknowledges?: boolean } = {}) =>
  Effect.gen(function*() {
    const ends: Array<Deferred.Deferred<Incoming, Failure>> = []
    const { acknowledges = true, ...rest } = options
    const scriptedClient = yield* scripted((request) => {
      request.sent()
      if (request.method !== Revision.method.listen) return Effect.succeed(success(request, hits("a")))
      const end = Deferred.makeUnsafe<Incoming, Failure>()
      ends.push(end)
      if (acknowledges) acknowledge(request)
      return Deferred.await(end)
    }, rest)
    const { client, requests } = scriptedClient
    return {
      scripted: scriptedClient,
      client,
      requests,
      get last() {
        return requests.at(-1)!
      },
      finish: Effect.suspend(() =>
        Deferred.succeed(ends.at(-1)!, success(requests.at(-1)!, { resultType: "complete" }))
      ),
      lose: Effect.suspend(() => Deferred.fail(ends.at(-1)!, new ConnectionClosed({ evidence: "MaybeSent" })))
    }
  })

const all = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

describe("opening", () => {
  it.effect("a scope that closes meanwhile ends it as it stands: the request has left", () =>
    Effect.gen(function*() {
      const server = yield* listening({ acknowledges: false })
      const scope = yield* Scope.make()
      const fiber = yield* server.client.listen(all).pipe(Scope.provide(scope), Effect.flip, Effect.forkChild)
      yield* turns
      expect(server.requests.length).toBe(1)
      yield* Scope.close(scope, Exit.void)
      expect((yield* Fiber.join(fiber)).code).toBe("cancelled.maybe_sent")
    }))

  it.effect("what comes while a reader begins to wait is not passed over", () =>
    Effect.gen(function*() {
      const server = yield* listening()
      const subscription = yield* server.client.listen(all)
      // Each step of the reader takes a turn of its own, and the notification comes in any of them.
      for (let before = 0; before < 20; before++) {
        const reader = yield* subscription.next("1 minute").pipe(
          Effect.provideService(Scheduler.MaxOpsBeforeYield, 3),
          Effect.forkChild
        )
        for (let i = 0; i < before; i++) yield* Effect.yieldNow
        told(server.last, names.toolsListChanged)
        for (let i = 0; i < 60; i++) yield* Effect.yieldNow
        expect(reader.pollUnsafe()).toEqual(Exit.succeed(Option.some(new Subscription.ToolsListChanged())))
      }
    }))

  it.effect(
    verifies(
      "client/listen",
      "client/listening",
      "client/promise/listen_returns_after_ack",
      "client/type/subscription",
      "snodo/promise/listen_not_delivered",
      "SUB-1",
      "SUB-4",
      "GAP-20@client"
    )("waits for the acknowledgement, and gives what of the filter is honoured"),
    () =>
      Effect.gen(function*() {
        const server = yield* listening({ acknowledges: false })
        const filter = { ...all, resourceSubscriptions: ["docs://a"], promptsListChanged: undefined }
        const fiber = yield* Effect.forkChild(server.client.listen(filter))
        yield* turns
        expect(server.requests.length).toBe(1)
        expect(Number.isSafeInteger(server.last.id) && Number(server.last.id) > 0).toBe(true)
        expect(server.last.params["notifications"]).toEqual({
          toolsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: ["docs://a"]
        })
        expect(fiber.pollUnsafe()).toBeUndefined()
        acknowledge(server.last, { toolsListChanged: true })
        told(server.last, names.toolsListChanged)
        const subscription = yield* Fiber.join(fiber)
        expect(subscription.confirmed).toEqual({ toolsListChanged: true })
        // What came between the acknowledgement and the first read is not lost.
        expect(yield* subscription.next(0)).toEqual(Option.some(new Subscription.ToolsListChanged()))
      })
  )

  it.effect(
    verifies("client/promise/listen_one_budget", "client/with_timeout")(
      "has the timeout of a request, then is cancelled"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* listening({ acknowledges: false })
        const fiber = yield* Effect.forkChild(Effect.flip(server.client.listen(all)))
        yield* TestClock.adjust("30 seconds")
        const error = yield* Fiber.join(fiber)
        assert(error.reason._tag === "TimedOut")
        expect({ ...error.reason }).toMatchObject({ bound: "timeout", millis: 30_000, evidence: "MaybeSent" })
        expect(server.scripted.interrupted).toBe(1)
      })
  )

  it.effect("is cancelled with its fiber, though the scope lives on", () =>
    Effect.gen(function*() {
      const server = yield* listening({ acknowledges: false })
      const fiber = yield* Effect.forkChild(server.client.listen(all))
      yield* turns
      yield* Fiber.interrupt(fiber)
      expect(server.scripted.interrupted).toBe(1)
    }))

  it.effect.each<readonly [string, (request: Outgoing) => void]>([
    ["another notification", (request) => told(request, names.toolsListChanged)],
    ["an acknowledgement of another subscription", (request) => told(request, names.acknowledged, {}, "1")],
    ["an acknowledgement without a filter", (request) => told(request, names.acknowledged)]
  ])(
    verifies("SUB-3")("fails when %s comes first, and cancels at the server"),
    ([_case, tell]) =>
      Effect.gen(function*() {
        const server = yield* listening({ acknowledges: false })
        const fiber = yield* Effect.forkChild(Effect.flip(server.client.listen(all)))
        yield* turns
        tell(server.last)
        expect((yield* Fiber.join(fiber)).code).toBe("malformed_response")
        expect(server.scripted.interrupted).toBe(1)
      })
  )

  it.effect("fails when the stream ends first", () =>
    Effect.gen(function*() {
      const server = yield* listening({ acknowledges: false })
      const fiber = yield* Effect.forkChild(Effect.flip(server.client.listen(all)))
      yield* turns
      yield* server.finish
      expect((yield* Fiber.join(fiber)).code).toBe("malformed_response")
    }))

  it.effect.each<readonly [string, Subscription.Options]>([
    ["bufferSize", { bufferSize: 0 }],
    ["reconnect", { reconnect: { base: 0 } }],
    ["reconnect", { reconnect: { cap: "Infinity" } }],
    ["reconnect", { reconnect: { attempts: 0.5 } }]
  ])("a %s that cannot be used is refused", ([field, options]) =>
    Effect.gen(function*() {
      const server = yield* listening()
      const error = yield* Effect.flip(server.client.listen(all, options))
      assert(error.reason._tag === "InvalidConfig")
      expect([error.reason.field, server.requests.length]).toEqual([field, 0])
    }))
})

describe("reading", () => {
  it.effect("each different change waits once, in the order of arrival", () =>
    Effect.gen(function*() {
      const server = yield* listening()
      const subscription = yield* server.client.listen(all)
      told(server.last, names.resourceUpdated, { uri: "docs://b" })
      for (let i = 0; i < 3; i++) {
        told(server.last, names.toolsListChanged)
        told(server.last, names.promptsListChanged)
        told(server.last, names.resourcesListChanged)
        told(server.last, names.resourceUpdated, { uri: "docs://a" })
      }
      told(server.last, "notifications/future")
      told(server.last, names.toolsListChanged, {}, "other")
      yield* server.finish
      expect(yield* Stream.runCollect(subscription.stream)).toEqual([
        new Subscription.ResourceUpdated({ uri: "docs://b" }),
        new Subscription.ToolsListChanged(),
        new Subscription.PromptsListChanged(),
        new Subscription.ResourcesListChanged(),
        new Subscription.ResourceUpdated({ uri: "docs://a" })
      ])
    }))

  it.effect("more different changes than the buffer holds are one `Missed`", () =>
    Effect.gen(function*() {
      const server = yield* listening()
      const subscription = yield* server.client.listen(all, { bufferSize: 2 })
      for (const uri of ["docs://a", "docs://b", "docs://c", "docs://d"]) {
        told(server.last, names.resourceUpdated, { uri })
      }
      yield* server.finish
      expect(yield* Stream.runCollect(subscription.stream)).toEqual([
        new Subscription.Missed(),
        new Subscription.ResourceUpdated({ uri: "docs://d" })
      ])
    }))

  it.effect(
    verifies("client/next_notification", "client/promise/next_keeps_stream")(
      "waits for a while; a wait that ran out, or was interrupted, loses nothing"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* listening()
        const subscription = yield* server.client.listen(all)
        expect(yield* subscription.next(0)).toEqual(Option.none())
        const first = yield* Effect.forkChild(subscription.next("5 seconds"))
        yield* TestClock.adjust("4999 millis")
        expect(first.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust("1 millis")
        expect(yield* Fiber.join(first)).toEqual(Option.none())
        const second = yield* Effect.forkChild(subscription.next("5 seconds"))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(second)
        told(server.last, names.toolsListChanged)
        expect(yield* subscription.next("5 seconds")).toEqual(Option.some(new Subscription.ToolsListChanged()))
        const third = yield* Effect.forkChild(subscription.next("5 seconds"))
        yield* Effect.yieldNow
        told(server.last, names.promptsListChanged)
        expect(yield* Fiber.join(third)).toEqual(Option.some(new Subscription.PromptsListChanged()))
      })
  )
})

describe("ending", () => {
  it.effect(verifies("SUB-9")("at once, where the server honours nothing of the filter"), () =>
    Effect.gen(function*() {
      const { client } = yield* scripted((request) => {
        request.sent()
        acknowledge(request, {})
        return Effect.succeed(success(request, { resultType: "complete" }))
      })
      const subscription = yield* client.listen(all)
      expect(subscription.confirmed).toEqual({})
      expect(yield* Stream.runCollect(subscription.stream)).toEqual([])
    }))

  const endOf = (subscription: Subscription.Subscription) =>
    Effect.map(Effect.exit(subscription.next("1 day")), (exit) => {
      assert(Exit.isFailure(exit))
      const error = Cause.squash(exit.cause)
      return Cause.isDone(error) ? "done" : (error as { readonly code?: string }).code
    })

  it.effect(
    verifies("SUB-8", "SUB-9", "client/promise/next_terminal_releases", "GAP-1@client")(
      "by the server is the end of the stream"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* listening()
        const subscription = yield* server.client.listen(all)
        told(server.last, names.toolsListChanged)
        yield* server.finish
        expect(yield* subscription.next(0)).toEqual(Option.some(new Subscription.ToolsListChanged()))
        expect(yield* endOf(subscription)).toBe("done")
        expect(yield* Stream.runCollect(subscription.stream)).toEqual([])
        const other = yield* server.client.listen(all)
        server.last.notify({ _tag: "Notification", method: names.cancelled, params: { requestId: server.last.id } })
        expect(yield* endOf(other)).toBe("done")
      })
  )

  it.effect(
    verifies("CAN-8@client")("by a cancellation is logged with the reason, as far as a line holds it"),
    () =>
      Effect.gen(function*() {
        const lines: Array<string> = []
        const logger = Logger.layer([Logger.make(({ message }) => void lines.push(JSON.stringify(message)))])
        const server = yield* listening({ label: "docs" })
        for (const reason of ["maintenance", "x".repeat(1000), undefined]) {
          const subscription = yield* Effect.provide(server.client.listen(all), logger)
          const params = { requestId: server.last.id, ...(reason === undefined ? {} : { reason }) }
          server.last.notify({ _tag: "Notification", method: names.cancelled, params: params as Json.Object })
          expect(yield* endOf(subscription)).toBe("done")
        }
        const [first, second, third] = lines.map((line) => JSON.parse(line)[1])
        expect(first).toEqual({ client: "docs", reason: "maintenance" })
        expect(second.reason.length).toBe(200)
        expect(third).toEqual({ client: "docs" })
      })
  )

  it.effect(verifies("GAP-1@client")("by a loss fails, after what came before it"), () =>
    Effect.gen(function*() {
      const server = yield* listening()
      const subscription = yield* server.client.listen(all)
      told(server.last, names.toolsListChanged)
      yield* server.lose
      const seen: Array<string> = []
      const error = yield* Effect.flip(
        Stream.runForEach(subscription.stream, ({ _tag }) => Effect.sync(() => seen.push(_tag)))
      )
      expect([error.code, seen]).toEqual(["connection_closed.maybe_sent", ["ToolsListChanged"]])
      expect(yield* endOf(subscription)).toBe("connection_closed.maybe_sent")
    }))

  it.effect(
    verifies("client/promise/listen_timeout_ends_with_ack", "client/promise/listen_deadline_goes_on", "CAN-9")(
      "by deadline, token or the client's end, but not by the timeout"
    ),
    () =>
      Effect.gen(function*() {
        const ways: ReadonlyArray<
          readonly [string, (client: McpClient.Client, token: Call.CancellationToken) => Effect.Effect<void>]
        > = [
          ["timed_out.maybe_sent", () => TestClock.adjust("1 hour")],
          ["cancelled.maybe_sent", (_client, token) => token.cancel],
          ["cancelled.maybe_sent", (client) => client.close]
        ]
        for (const [code, end] of ways) {
          const server = yield* listening()
          const token = yield* Call.makeCancellationToken
          const subscription = yield* server.client.listen(all).pipe(
            Call.withDeadline("90 minutes"),
            Call.withCancellation(token)
          )
          expect(metaOf(server.last)[Call.metaKeys.timeoutMillis]).toBe(90 * 60_000)
          yield* TestClock.adjust("59 minutes")
          expect(yield* subscription.next(0)).toEqual(Option.none())
          yield* end(server.client, token)
          expect(yield* endOf(subscription)).toBe(code)
          expect(server.scripted.interrupted).toBe(1)
        }
      })
  )

  it.effect(
    verifies("client/close_subscription", "SUB-10")(
      "with its scope cancels at the server, and leaves other calls alone"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* listening()
        const scope = yield* Scope.make()
        const other = yield* server.client.listen(all)
        const subscription = yield* Scope.provide(server.client.listen(all), scope)
        yield* Scope.close(scope, Exit.void)
        expect(server.scripted.interrupted).toBe(1)
        expect(yield* endOf(subscription)).toBe("cancelled.maybe_sent")
        expect(yield* other.next(0)).toEqual(Option.none())
        expect(yield* server.client.call(Search, { query: "a" })).toEqual({ titles: ["a"] })
      })
  )
})

describe("reconnecting", () => {
  it.effect(
    verifies("SUB-11")("opens a lost stream again after a wait that grows, and tells of the gap"),
    () =>
      Effect.gen(function*() {
        const server = yield* listening()
        const subscription = yield* server.client.listen(all, { reconnect: true })
        yield* server.lose
        yield* TestClock.adjust("249 millis")
        expect(server.requests.length).toBe(1)
        yield* TestClock.adjust("251 millis")
        expect(server.requests.length).toBe(2)
        expect(yield* subscription.next(0)).toEqual(Option.some(new Subscription.Missed()))
        told(server.last, names.toolsListChanged)
        expect(yield* subscription.next(0)).toEqual(Option.some(new Subscription.ToolsListChanged()))
        yield* server.lose
        yield* TestClock.adjust("499 millis")
        expect(server.requests.length).toBe(2)
        yield* TestClock.adjust("501 millis")
        expect(server.requests.length).toBe(3)
        expect(new Set(server.requests.map(({ id }) => id)).size).toBe(3)
        expect(new Set(server.requests.map((request) => metaOf(request)[Call.metaKeys.correlation])).size).toBe(1)
      })
  )

  it.effect("gives up after so many attempts in a row; one that held for long begins anew", () =>
    Effect.gen(function*() {
      const server = yield* listening()
      const subscription = yield* server.client.listen(all, { reconnect: { base: 100, cap: 200, attempts: 2 } })
      yield* TestClock.adjust("1 second")
      for (let i = 0; i < 2; i++) {
        yield* server.lose
        yield* TestClock.adjust("100 millis")
        yield* TestClock.adjust("1 second")
      }
      expect(server.requests.length).toBe(3)
      for (let i = 0; i < 2; i++) {
        yield* server.lose
        yield* TestClock.adjust(i === 0 ? 100 : 200)
      }
      expect(server.requests.length).toBe(5)
      yield* server.lose
      const error = yield* Effect.flip(Stream.runDrain(subscription.stream))
      expect([error.code, server.requests.length]).toEqual(["connection_closed.maybe_sent", 5])
    }))

  it.effect("a hundred times leaves one listener at the token, and one request under way", () =>
    Effect.gen(function*() {
      const server = yield* listening()
      const controller = new AbortController()
      let listeners = 0
      const counted = (key: string | symbol) => {
        if (key === "addEventListener") listeners++
        if (key === "removeEventListener") listeners--
      }
      const signal = new Proxy(controller.signal, {
        get: (target, key) => {
          counted(key)
          const value = Reflect.get(target, key)
          return typeof value === "function" ? value.bind(target) : value
        }
      })
      const token: Call.CancellationToken = { ...yield* Call.makeCancellationToken, signal }
      const reconnect = { base: 10, cap: 10, attempts: 1000 }
      const scope = yield* Scope.make()
      const subscription = yield* server.client.listen(all, { reconnect }).pipe(
        Call.withCancellation(token),
        Scope.provide(scope)
      )
      for (let i = 0; i < 100; i++) {
        yield* turns
        yield* server.lose
        yield* turns
        yield* TestClock.adjust(10)
      }
      yield* turns
      expect(server.requests.length).toBe(101)
      expect(listeners).toBe(1)
      expect(yield* subscription.next(0)).toEqual(Option.some(new Subscription.Missed()))
      yield* Scope.close(scope, Exit.void)
      expect([listeners, server.scripted.interrupted]).toEqual([0, 1])
    }))

  it.effect("does not open what the server ended, what was refused first, or what ran out of time", () =>
    Effect.gen(function*() {
      const ended = yield* listening()
      const one = yield* ended.client.listen(all, { reconnect: true })
      yield* ended.finish
      yield* Stream.runDrain(one.stream)
      const refused = yield* listening({ acknowledges: false })
      const fiber = yield* Effect.forkChild(Effect.flip(refused.client.listen(all, { reconnect: true })))
      yield* turns
      yield* refused.lose
      expect((yield* Fiber.join(fiber)).code).toBe("connection_closed.maybe_sent")
      const timed = yield* listening()
      const two = yield* timed.client.listen(all, { reconnect: true }).pipe(Call.withDeadline("1 minute"))
      yield* TestClock.adjust("1 minute")
      expect((yield* Effect.flip(Stream.runDrain(two.stream))).code).toBe("timed_out.maybe_sent")
      yield* TestClock.adjust("10 minutes")
      expect([ended, refused, timed].map(({ requests }) => requests.length)).toEqual([1, 1, 1])
    }))
})

describe("over each transport", () => {
  const Touch = Tool.make("touch", { input: Schema.Struct({ uri: Schema.String }) })
  const filter = { toolsListChanged: true, resourceSubscriptions: ["docs://manual"] }
  const until = (condition: () => boolean) =>
    Effect.promise(async () => {
      for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
      expect(condition()).toBe(true)
    })

  /** What a client of the server hears. */
  const script = Effect.fnUntraced(function*(client: McpClient.Client, stop: Effect.Effect<unknown>) {
    const subscription = yield* client.listen(filter)
    expect(subscription.confirmed).toEqual(filter)
    const scope = yield* Scope.make()
    const other = yield* Scope.provide(client.listen(filter), scope)
    yield* client.call(Touch, { uri: "docs://manual" })
    for (const each of [subscription, other]) {
      expect(yield* each.next("5 seconds")).toEqual(
        Option.some(new Subscription.ResourceUpdated({ uri: "docs://manual" }))
      )
    }
    yield* Scope.close(scope, Exit.void)
    yield* client.call(Touch, { uri: "docs://manual" })
    expect(Option.isSome(yield* subscription.next("5 seconds"))).toBe(true)
    yield* stop
    expect(yield* Stream.runCollect(subscription.stream)).toEqual([])
  })

  it.live(
    verifies("SUB-5", "SUB-6", "snodo/promise/same_functions_three_connections")("stdio, several at once beside calls"),
    () =>
      Effect.gen(function*() {
        const fixture = new URL("../../node/test/fixtures/listenServer.ts", import.meta.url)
        const service = yield* StdioTransport.make({
          command: process.execPath,
          args: ["--conditions=@fairlead/source", fileURLToPath(fixture)]
        })
        const client = yield* McpClient.make().pipe(Effect.provideService(Transport, service))
        yield* script(client, Effect.orDie(client.callDiscovered("change", { what: "stop" })))
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("stdio, where streams take no place of calls and are bounded by as many", () =>
    Effect.gen(function*() {
      const fixture = new URL("../../node/test/fixtures/listenServer.ts", import.meta.url)
      const service = yield* StdioTransport.make({
        command: process.execPath,
        args: ["--conditions=@fairlead/source", fileURLToPath(fixture)],
        maxPendingCalls: 1
      })
      const client = yield* McpClient.make().pipe(Effect.provideService(Transport, service))
      const scope = yield* Scope.make()
      yield* Scope.provide(client.listen(filter), scope)
      yield* client.call(Touch, { uri: "docs://manual" })
      expect((yield* Effect.flip(client.listen(filter))).code).toBe("too_many_pending_calls")
      yield* Scope.close(scope, Exit.void)
      yield* client.listen(filter)
      yield* client.call(Touch, { uri: "docs://manual" })
    }).pipe(Effect.provide(NodeServices.layer)))

  /** A server that is told of changes by a tool, and the script of its client. */
  const local = () => {
    let endpoint: McpEndpoint.McpEndpoint["Service"] | undefined
    const program = Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      endpoint = yield* McpEndpoint.McpEndpoint
      yield* script(client, endpoint.stop)
    })
    const server = McpServer.handlers([
      McpServer.toolHandler(Touch, ({ uri }) => Effect.as(endpoint!.resourceUpdated(uri), [])),
      McpServer.resourceHandler(Resource.make("docs://manual", { name: "manual" }), () => Effect.succeed("Read."))
    ]).pipe(McpEndpoint.serve({ name: "listen", version: "1.0.0" }))
    return { program, server }
  }

  it.live(verifies("snodo/promise/same_functions_three_connections")("in process"), () => {
    const { program, server } = local()
    return program.pipe(Effect.provide(TestClient.layer(server)))
  })

  it.live(verifies("snodo/promise/same_functions_three_connections")("HTTP, an endpoint behind a listener"), () => {
    const { program, server } = local()
    const listener = HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(
        NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 100 })
      )
    )
    const client = Layer.unwrap(Effect.map(HttpServer.HttpServer, ({ address }) =>
      McpClient.layer().pipe(
        Layer.provide(HttpTransport.layer({ url: `http://127.0.0.1:${"port" in address ? address.port : 0}/mcp` })),
        Layer.provide(FetchHttpClient.layer)
      )))
    return program.pipe(Effect.provide(client.pipe(Layer.provideMerge(listener), Layer.provideMerge(server))))
  })

  it.live(
    verifies("SUB-12@client")(
      "HTTP, where a stream is longer than any answer may be, and closing it closes the response"
    ),
    () =>
      Effect.gen(function*() {
        const target = yield* peer((request, response) => {
          if (request.message.method !== Revision.method.listen) return json(response, result(request))
          const meta = { _meta: { [Revision.meta.subscriptionId]: request.message.id } }
          const say = (method: string, params: object = {}) =>
            response.write(`: alive\n\n${event({ jsonrpc: "2.0", method, params: { ...params, ...meta } })}`)
          events(response)
          say(names.acknowledged, { notifications: filter })
          for (let i = 0; i < 100; i++) say(names.resourceUpdated, { uri: `docs://manual/${i}` })
        })
        const client = yield* clientOf(target.url, { maxResponseBytes: 1000, maxStreamBytes: 2000 })
        const scope = yield* Scope.make()
        const subscription = yield* Scope.provide(client.listen(filter), scope)
        expect((yield* Stream.runCollect(Stream.take(subscription.stream, 100))).length).toBe(100)
        expect(yield* client.call(Search, { query: "a" })).toEqual({ titles: ["a"] })
        yield* Scope.close(scope, Exit.void)
        yield* Effect.promise(() => target.received[0]!.closed)
        yield* until(() => target.received.length === 2)
      })
  )
})
