import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Json, type JsonRpc, Prompt, Resource, Revision, Tool, Transport } from "@fairlead/protocol"
import { InProcess, Invocation, McpEndpoint, McpServer, Notifications, RequestContext } from "@fairlead/server"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { open } from "./support/http.ts"
import { about, allLists, fronts, listenTo, pipeTo, received, textsOf } from "./support/listening.ts"
import { endpointOf, makeGate, serve, turns, until } from "./support/serve.ts"
import { call, headersOf, present, request } from "./support/wire.ts"

const { codes, meta, notification } = Revision

const Ping = Tool.make("ping")
const ping = McpServer.toolHandler(Ping, () => Effect.succeed([]))
const Manual = Resource.make("docs://manual", { name: "manual" })
const manual = McpServer.resourceHandler(Manual, () => Effect.succeed("Read."))
const Page = Resource.template("docs://pages/{page}", { name: "page" })
const page = McpServer.templateHandler(Page, () => Effect.succeed("A page."))
const Review = Prompt.make("review")
const review = McpServer.promptHandler(Review, () => Effect.succeed("Review it."))
const everything = McpServer.handlers([ping, manual, page, review])

const Other = Tool.make("other")
const other = McpServer.toolHandler(Other, () => Effect.succeed([]))

const subscriptionOf = ({ params, result }: { readonly params?: Json.Object; readonly result?: Json.Object }) =>
  ((params ?? result)?.["_meta"] as Json.Object | undefined)?.[meta.subscriptionId]

describe.each(fronts)("listening through $name", (front) => {
  it.effect(
    verifies("SUB-3", "SUB-5", "SUB-7", "SUB-13", "TOOL-14", "PROMPT-8", "RES-9", "HTTP-13", "META-16")(
      "is acknowledged first; then each change comes once, under the id of the request"
    ),
    () =>
      Effect.gen(function*() {
        const { endpoint, listen, server } = yield* front.make(everything)
        const stream = yield* listen(
          listenTo({ ...allLists, resourceSubscriptions: ["docs://manual"] }, { id: "sub" })
        )
        const [acknowledged] = yield* received(stream, 1)
        assert.strictEqual(stream.status, 200)
        assert.deepStrictEqual(acknowledged, {
          jsonrpc: "2.0",
          method: notification.acknowledged,
          params: {
            notifications: { ...allLists, resourceSubscriptions: ["docs://manual"] },
            _meta: { [meta.subscriptionId]: "sub" }
          }
        })
        yield* server.register(other)
        yield* server.unregister("prompt", "review")
        yield* server.unregister("resourceTemplate", "docs://pages/{page}")
        yield* endpoint.resourceUpdated("docs://manual")
        yield* received(stream, 5)
        yield* turns()
        assert.deepStrictEqual(stream.messages().map(about), [
          notification.acknowledged,
          notification.toolsListChanged,
          notification.promptsListChanged,
          notification.resourcesListChanged,
          `${notification.resourceUpdated} docs://manual`
        ])
        assert.deepStrictEqual(stream.messages().map(subscriptionOf), ["sub", "sub", "sub", "sub", "sub"])
        for (const { id, result } of stream.messages()) assert.deepStrictEqual([id, result], [undefined, undefined])
        assert.isFalse(stream.isOver())
      })
  )

  it.effect.each(["0", "-1", "\"\"", "\"1\"", "1", "\"é\\n\"", "9007199254740993"])(
    verifies("SUB-5", "GAP-20@server")("repeats the id %s with its type and digits, to the end"),
    (source) =>
      Effect.gen(function*() {
        const { endpoint, listen, server } = yield* front.make(everything)
        const parsed = JSON.parse(source) as string | number
        const id = source.length > 10 ? new Json.ExactNumber(source) : parsed
        const stream = yield* listen(listenTo({ toolsListChanged: true }, { id }))
        yield* received(stream, 1)
        yield* server.register(other)
        yield* received(stream, 2)
        yield* endpoint.stop
        yield* until(stream.isOver)
        const key = `"${meta.subscriptionId}":${JSON.stringify(id)}`
        const texts = stream.texts().filter((text) => !text.includes(notification.cancelled))
        assert.lengthOf(texts, 3)
        for (const text of texts) assert.include(text, key)
        assert.include(texts[2], `"id":${JSON.stringify(id)}`)
      })
  )

  it.effect(
    verifies("SUB-2")("tells nothing that was not asked for"),
    () =>
      Effect.gen(function*() {
        const { endpoint, listen, server } = yield* front.make(everything)
        const kinds: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ toolsListChanged: true }, [notification.toolsListChanged]],
          [{ promptsListChanged: true, toolsListChanged: false }, [notification.promptsListChanged]],
          [{ resourcesListChanged: true }, [notification.resourcesListChanged, notification.resourcesListChanged]],
          [
            { resourceSubscriptions: ["docs://manual", "docs://pages/1"] },
            [`${notification.resourceUpdated} docs://pages/1`, `${notification.resourceUpdated} docs://manual`]
          ]
        ]
        const streams = yield* Effect.forEach(kinds, ([filter]) => listen(listenTo(filter)))
        yield* Effect.forEach(streams, (stream) => received(stream, 1))
        yield* server.unregister("tool", "ping")
        yield* server.unregister("prompt", "review")
        yield* server.unregister("resource", "docs://manual")
        yield* server.unregister("resourceTemplate", "docs://pages/{page}")
        yield* endpoint.resourceUpdated("docs://pages/1")
        yield* endpoint.resourceUpdated("docs://pages/2")
        yield* endpoint.resourceUpdated("docs://manual")
        yield* Effect.forEach(streams, (stream, i) => received(stream, 1 + kinds[i]![1].length))
        yield* turns()
        assert.deepStrictEqual(
          streams.map((stream) => stream.messages().slice(1).map(about)),
          kinds.map(([, told]) => [...told])
        )
      })
  )

  it.effect(
    verifies("SUB-3")("leaves out of the acknowledgement what the server does not offer"),
    () =>
      Effect.gen(function*() {
        const { listen } = yield* front.make(McpServer.handlers([ping]))
        const stream = yield* listen(listenTo({ ...allLists, resourceSubscriptions: ["docs://a"], unknown: true }))
        const [{ params }] = yield* received(stream, 1)
        assert.deepStrictEqual(params.notifications, { toolsListChanged: true })
      })
  )

  it.effect.each([
    ["of what the server does not offer", { promptsListChanged: true, resourceSubscriptions: ["docs://a"] }],
    ["of nothing", {}],
    ["of nothing, in words", { toolsListChanged: false, resourceSubscriptions: [] }]
  ])(
    verifies("SUB-3", "SUB-8")("%s is acknowledged and ends with its result: nothing is held open"),
    ([, filter]) =>
      Effect.gen(function*() {
        const { listen } = yield* front.make(McpServer.handlers([ping]), { listen: { maxListeners: 1 } })
        for (let i = 0; i < 3; i++) {
          const stream = yield* listen(listenTo(filter, { id: i }))
          yield* until(stream.isOver)
          assert.deepStrictEqual(stream.messages(), [
            {
              jsonrpc: "2.0",
              method: notification.acknowledged,
              params: { notifications: {}, _meta: { [meta.subscriptionId]: i } }
            },
            {
              jsonrpc: "2.0",
              id: i,
              result: {
                resultType: "complete",
                _meta: { [meta.subscriptionId]: i, [meta.serverInfo]: { name: "test", version: "1.2.3" } }
              }
            }
          ])
        }
      })
  )

  it.effect("a client that goes away gives its place back", () =>
    Effect.gen(function*() {
      const { listen, server } = yield* front.make(everything, {
        listen: { maxListeners: 1 },
        maxConcurrentRequests: 1
      })
      for (let i = 0; i < 5; i++) {
        const stream = yield* listen(listenTo(allLists))
        yield* received(stream, 1)
        stream.disconnect()
        yield* turns()
        yield* server.register(other)
        yield* server.unregister("tool", "other")
        assert.lengthOf(stream.messages(), 1)
      }
    }))

  it.effect(
    verifies("CAN-9@server", "http/promise/subscription_outlives_timeout")(
      "a stream outlives the deadline of requests, also that of the client"
    ),
    () =>
      Effect.gen(function*() {
        const { listen, server } = yield* front.make(everything, { requestTimeout: "1 second" })
        const stream = yield* listen(listenTo(allLists, { meta: { "io.github.fairlead/timeout-ms": 500 } }))
        yield* received(stream, 1)
        yield* TestClock.adjust("1 hour")
        yield* server.register(other)
        yield* received(stream, 2)
        assert.isFalse(stream.isOver())
      })
  )

  it.effect(
    verifies("SUB-8", "CAN-7")("where it may not last for ever, a stream ends with its result; the next one is heard"),
    () =>
      Effect.gen(function*() {
        const { listen, server } = yield* front.make(everything, { listen: { maxLifetime: "10 minutes" } })
        const stream = yield* listen(listenTo(allLists, { id: "a" }))
        yield* received(stream, 1)
        yield* TestClock.adjust("599999 millis")
        yield* server.register(other)
        yield* received(stream, 2)
        yield* TestClock.adjust("1 millis")
        yield* until(stream.isOver)
        assert.deepStrictEqual(stream.messages().slice(2).map((message) => [about(message), subscriptionOf(message)]), [
          ...(front.isHttp ? [] : [[notification.cancelled, undefined]]),
          ["complete", "a"]
        ])
        const next = yield* listen(listenTo(allLists, { id: "b" }))
        yield* received(next, 1)
        yield* server.unregister("tool", "other")
        yield* received(next, 2)
        next.disconnect()
        yield* turns()
        // The timer of one that has gone does nothing.
        yield* TestClock.adjust("10 minutes")
        yield* turns()
        assert.lengthOf(next.messages(), 2)
      })
  )

  it.effect("a stream goes on however much it has told: the limit is of each message", () =>
    Effect.gen(function*() {
      const { endpoint, listen } = yield* front.make(everything, { maxResponseBytes: 1000 })
      const stream = yield* listen(listenTo({ resourceSubscriptions: ["docs://manual"] }))
      yield* received(stream, 1)
      for (let i = 0; i < 50; i++) {
        yield* endpoint.resourceUpdated("docs://manual")
        yield* received(stream, i + 2)
      }
      assert.isAbove(stream.text().length, 5000)
      assert.isFalse(stream.isOver())
      stream.disconnect()
    }))

  it.effect("two listeners hear of one change under their own ids", () =>
    Effect.gen(function*() {
      const { listen, server } = yield* front.make(everything)
      const first = yield* listen(listenTo({ toolsListChanged: true }, { id: 1 }))
      const second = yield* listen(listenTo({ toolsListChanged: true }, { id: "1" }))
      yield* received(first, 1)
      yield* received(second, 1)
      yield* server.register(other)
      yield* received(first, 2)
      yield* received(second, 2)
      assert.deepStrictEqual(first.messages().map(subscriptionOf), [1, 1])
      assert.deepStrictEqual(second.messages().map(subscriptionOf), ["1", "1"])
    }))

  it.effect(
    verifies("SUB-8", "GAP-1@server", "CAN-7", "HTTP-14")(
      "when the server stops, ends with its result and nothing after it"
    ),
    () =>
      Effect.gen(function*() {
        const { endpoint, listen, server } = yield* front.make(everything)
        const stream = yield* listen(listenTo(allLists, { id: 7 }))
        yield* received(stream, 1)
        // Listeners have nothing to finish: it does not take the grace.
        yield* endpoint.stop
        yield* server.register(other)
        yield* endpoint.resourceUpdated("docs://manual")
        yield* until(stream.isOver)
        yield* turns()
        const result = {
          jsonrpc: "2.0",
          id: 7,
          result: {
            resultType: "complete",
            _meta: { [meta.subscriptionId]: 7, [meta.serverInfo]: { name: "test", version: "1.2.3" } }
          }
        }
        const cancelled = {
          jsonrpc: "2.0",
          method: notification.cancelled,
          params: { requestId: 7, reason: "The server is stopping" }
        }
        assert.deepStrictEqual(stream.messages().slice(1), front.isHttp ? [result] : [cancelled, result])
      })
  )

  it.effect(
    verifies("http/promise/callbacks_in_request")(
      "with a context function, its scope closes when the stream ends, whoever ends it"
    ),
    () =>
      Effect.gen(function*() {
        const log: Array<string> = []
        const { endpoint, listen, server } = yield* front.make(everything, {
          context: () =>
            Effect.gen(function*() {
              yield* Effect.addFinalizer(() => Effect.sync(() => log.push("closed")))
              yield* Effect.yieldNow
              return Context.empty()
            })
        })
        const gone = yield* listen(listenTo(allLists))
        yield* received(gone, 1)
        const stays = yield* listen(listenTo(allLists))
        yield* received(stays, 1)
        assert.deepStrictEqual(log, [])
        gone.disconnect()
        yield* until(() => log.length === 1)
        yield* server.register(other)
        yield* received(stays, 2)
        assert.deepStrictEqual(log, ["closed"])
        yield* endpoint.stop
        yield* until(stays.isOver)
        assert.deepStrictEqual(log, ["closed", "closed"])
      })
  )

  it.effect("an update while the context function runs is told once, after the acknowledgement", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { endpoint, listen } = yield* front.make(everything, {
        context: () => Effect.as(gate.run, Context.empty())
      })
      const watched = ["docs://manual", "docs://pages/1", "docs://pages/2"]
      yield* endpoint.resourceUpdated("docs://pages/2")
      const opening = yield* Effect.forkChild(listen(listenTo({ resourceSubscriptions: watched })))
      yield* gate.started
      for (const uri of ["docs://pages/1", "docs://manual", "docs://pages/1", "docs://pages/3"]) {
        yield* endpoint.resourceUpdated(uri)
      }
      yield* gate.release
      const stream = yield* Fiber.join(opening)
      yield* received(stream, 3)
      yield* turns()
      assert.deepStrictEqual(stream.messages().map(about), [
        notification.acknowledged,
        `${notification.resourceUpdated} docs://pages/1`,
        `${notification.resourceUpdated} docs://manual`
      ])
      yield* endpoint.resourceUpdated("docs://manual")
      yield* received(stream, 4)
    }))

  it.effect("where there was too much to remember, all that may have changed is told once", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { endpoint, listen } = yield* front.make(everything, {
        context: () => Effect.as(gate.run, Context.empty())
      })
      const filter = { toolsListChanged: true, resourceSubscriptions: ["docs://manual", "docs://pages/1"] }
      const opening = yield* Effect.forkChild(listen(listenTo(filter)))
      yield* gate.started
      yield* endpoint.resourceUpdated("docs://manual")
      for (let i = 0; i < 1024; i++) yield* endpoint.resourceUpdated(`docs://pages/${i + 2}`)
      yield* gate.release
      const stream = yield* Fiber.join(opening)
      yield* received(stream, 4)
      yield* turns()
      assert.deepStrictEqual(stream.messages().map(about), [
        notification.acknowledged,
        notification.toolsListChanged,
        `${notification.resourceUpdated} docs://manual`,
        `${notification.resourceUpdated} docs://pages/1`
      ])
    }))

  it.effect("a change while the context function runs is told once, after the acknowledgement", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { listen, server } = yield* front.make(everything, {
        context: () => Effect.as(gate.run, Context.empty())
      })
      const opening = yield* Effect.forkChild(listen(listenTo(allLists)))
      yield* gate.started
      yield* server.register(other)
      yield* server.unregister("tool", "other")
      yield* server.unregister("resourceTemplate", "docs://pages/{page}")
      yield* gate.release
      const stream = yield* Fiber.join(opening)
      yield* received(stream, 3)
      yield* turns()
      assert.deepStrictEqual(stream.messages().map(about), [
        notification.acknowledged,
        notification.toolsListChanged,
        notification.resourcesListChanged
      ])
      yield* server.register(other)
      yield* received(stream, 4)
    }))
})

describe("a change of the catalog", () => {
  const kinds = [
    ["tool", ping, "ping", notification.toolsListChanged],
    ["prompt", review, "review", notification.promptsListChanged],
    ["resource", manual, "docs://manual", notification.resourcesListChanged],
    ["resourceTemplate", page, "docs://pages/{page}", notification.resourcesListChanged]
  ] as const

  const listening = Effect.gen(function*() {
    const services = yield* endpointOf(everything)
    const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
    const pipe = pipeTo(endpoint)
    pipe.send(listenTo(allLists))
    return { server: Context.get(services, McpServer.McpServer), told: () => pipe.messages().slice(1).map(about) }
  })

  it.effect.each(kinds)(
    verifies("TOOL-14", "PROMPT-8", "RES-9", "SUB-13", "http/register_tool", "http/unregister_tool")(
      "of a %s is told exactly once, when it comes and when it goes"
    ),
    ([kind, handler, name, method]) =>
      Effect.gen(function*() {
        const { server, told } = yield* listening
        assert.isTrue(yield* server.unregister(kind, name))
        assert.deepStrictEqual(told(), [method])
        yield* server.register(handler)
        assert.deepStrictEqual(told(), [method, method])
        yield* server.unregister(kind, name)
        const scope = yield* Scope.make()
        yield* Scope.provide(server.registerScoped(handler), scope)
        assert.lengthOf(told(), 4)
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(told(), [method, method, method, method, method])
      })
  )

  it.effect.each(kinds)("of a %s that fails is told to nobody", ([kind, handler, name]) =>
    Effect.gen(function*() {
      const { server, told } = yield* listening
      const error = yield* Effect.flip(server.register(handler))
      assert.instanceOf(error, McpServer.DuplicateName)
      assert.isFalse(yield* server.unregister(kind, `${name}x`))
      assert.isTrue(Exit.isFailure(
        yield* Effect.exit(
          Layer.build(McpServer.handlers([handler])).pipe(
            Effect.provideService(McpServer.McpServer, server)
          )
        )
      ))
      assert.deepStrictEqual(told(), [])
    }))

  it.effect("before anybody listens is told to nobody later", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(everything)
      const server = Context.get(services, McpServer.McpServer)
      yield* server.register(other)
      const pipe = pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
      pipe.send(listenTo(allLists))
      assert.deepStrictEqual(pipe.messages().map(about), [notification.acknowledged])
    }))
})

describe("a request to listen", () => {
  it.effect.each([
    ["without a filter", undefined],
    ["with null", null],
    ["with a list", []],
    ["with a text", "all"],
    ["with a kind that is no boolean", { toolsListChanged: "yes" }],
    ["with a kind that is null", { promptsListChanged: null }],
    ["with URIs that are no list", { resourceSubscriptions: "docs://manual" }],
    ["with a URI that is no text", { resourceSubscriptions: ["docs://manual", 1] }],
    ["with more than 1,000 URIs", { resourceSubscriptions: Array.from({ length: 1001 }, (_, i) => `docs://${i}`) }]
  ])(verifies("SUB-14")("%s is -32602"), ([, notifications]) =>
    Effect.gen(function*() {
      const server = yield* serve(everything)
      const { json } = yield* server.send(request("subscriptions/listen", present({ notifications })))
      assert.strictEqual(json.error.code, codes.invalidParams)
    }))

  it.effect("may watch 1,000 resources", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything)
      const uris = Array.from({ length: 1000 }, (_, i) => `docs://pages/${i}`)
      const stream = yield* open(server.url, listenTo({ resourceSubscriptions: uris }))
      yield* until(() => textsOf(stream.text()).length === 1)
      yield* server.endpoint.resourceUpdated("docs://pages/999")
      yield* until(() => textsOf(stream.text()).length === 2)
      assert.deepStrictEqual(JSON.parse(textsOf(stream.text())[0]!).params.notifications.resourceSubscriptions, uris)
    }))

  it.effect("from a client that takes JSON alone is 406 in a short text", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything, { listen: { maxListeners: 1 } })
      for (let i = 0; i < 3; i++) {
        const answer = yield* server.send(listenTo(allLists), { headers: { accept: "application/json" } })
        assert.strictEqual(answer.status, 406)
        assert.include(answer.headers["content-type"], "text/plain")
        assert.strictEqual(answer.text, "Listening needs a client that accepts text/event-stream.")
      }
    }))

  it.effect.each(fronts)(
    verifies("SUB-14", "HDR-3")("is -32601 through $name where listening is off"),
    (front) =>
      Effect.gen(function*() {
        const { endpoint } = yield* front.make(everything, { listen: false })
        const pipe = pipeTo(endpoint)
        pipe.send(listenTo(allLists))
        assert.strictEqual(pipe.messages()[0].error.code, codes.methodNotFound)
      })
  )

  it.effect(
    verifies("SUB-14", "HDR-3")("is 404 over HTTP where listening is off, and no list promises to tell"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(everything, { listen: false })
        const answer = yield* server.send(listenTo(allLists))
        assert.deepStrictEqual([answer.status, answer.json.error.code], [404, codes.methodNotFound])
        const { json } = yield* server.send(request("server/discover"))
        assert.deepStrictEqual(json.result.capabilities, { tools: {}, resources: {}, prompts: {} })
        // Nobody hears of it, and nothing breaks.
        yield* server.server.register(other)
        yield* server.endpoint.resourceUpdated("docs://manual")
      })
  )

  it.effect(
    verifies("SUB-14")("is served where the capabilities promise it"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(everything)
        const { json } = yield* server.send(request("server/discover"))
        assert.deepStrictEqual(json.result.capabilities, {
          tools: { listChanged: true },
          resources: { listChanged: true, subscribe: true },
          prompts: { listChanged: true }
        })
      })
  )

  it.effect(
    verifies("http/with_max_listen_streams", "http/config_field/max_listen_streams")(
      "beyond the bound is 503; other requests are served, and the place comes back"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(everything, { listen: { maxListeners: 2 } })
        const streams = yield* Effect.forEach([1, 2], (id) => open(server.url, listenTo(allLists, { id })))
        for (let i = 0; i < 2; i++) {
          const refused = yield* server.send(listenTo(allLists))
          assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [503, "1"])
          assert.strictEqual(refused.text, "Too many clients are listening.")
        }
        assert.strictEqual((yield* server.send(call("ping"))).status, 200)
        streams[0]!.destroy()
        yield* turns()
        const again = yield* open(server.url, listenTo(allLists))
        assert.strictEqual(again.response.statusCode, 200)
        assert.strictEqual((yield* server.send(listenTo(allLists))).status, 503)
        const error = yield* Effect.flip(endpointOf(everything, { listen: { maxListeners: 0 } }))
        assert.deepStrictEqual(
          error instanceof McpEndpoint.InvalidConfig ? error.field : error,
          "listen.maxListeners"
        )
      })
  )

  it.effect(verifies("http/default/max_listen_streams")("is refused from the 65th on"), () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(everything)
      const pipe = pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
      for (let id = 1; id <= 65; id++) pipe.send(listenTo(allLists, { id }))
      assert.deepStrictEqual(
        pipe.messages().filter(({ id }) => id !== undefined).map(({ error, id }) => [
          id,
          error.code
        ]),
        [[65, codes.internalError]]
      )
    }))

  it.effect("whose context function refuses opens nothing", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything, {
        listen: { maxListeners: 1 },
        context: ({ header }) =>
          header("x-who") === undefined
            ? Effect.fail(new RequestContext.Refused({ status: 401, message: "Who are you" }))
            : Effect.succeed(Context.empty())
      })
      assert.strictEqual((yield* server.send(listenTo(allLists))).status, 401)
      const stream = yield* open(server.url, listenTo(allLists), { headers: { "x-who": "me" } })
      assert.strictEqual(stream.response.statusCode, 200)
    }))

  it.effect("that waits for its context has the deadline of every request", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(everything, { context: () => Effect.as(gate.run, Context.empty()) })
      const answer = yield* Effect.forkChild(server.send(listenTo(allLists)))
      yield* gate.started
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(answer)).status, 504)
    }))

  it.effect("that waits for its context while the server stops is refused, and holds nothing up", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(everything, { context: () => Effect.as(gate.run, Context.empty()) })
      const answer = yield* Effect.forkChild(server.send(listenTo(allLists)))
      yield* gate.started
      const stopped = yield* Effect.forkChild(server.endpoint.stop)
      yield* turns()
      yield* gate.release
      assert.strictEqual((yield* Fiber.join(answer)).status, 503)
      yield* Fiber.join(stopped)
    }))

  it.effect("takes its place when it opens: two that wait together do not both get the last one", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(everything, {
        listen: { maxListeners: 1 },
        context: () => Effect.as(gate.run, Context.empty())
      })
      const pipe = pipeTo(server.endpoint)
      pipe.send(listenTo(allLists, { id: 1 }))
      pipe.send(listenTo(allLists, { id: 2 }))
      yield* until(() => gate.starts() === 2)
      yield* gate.release
      yield* until(() => pipe.messages().length === 2)
      assert.deepStrictEqual(pipe.messages().map(about).sort(), [
        String(codes.internalError),
        notification.acknowledged
      ])
    }))
})

describe("over HTTP", () => {
  it.effect(
    verifies("HTTP-15", "HTTP-16@server", "SUB-7")("the stream tells proxies to keep out, and has nothing to resume"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(everything)
        const { response, text } = yield* open(server.url, listenTo(allLists))
        yield* until(() => text() !== "")
        assert.strictEqual(response.headers["content-type"], "text/event-stream")
        assert.strictEqual(response.headers["x-accel-buffering"], "no")
        assert.strictEqual(response.headers["cache-control"], "no-store")
        for (const line of text().split("\n")) assert.match(line, /^(data: \{.*\})?$/)
      })
  )

  it.effect.each(fronts.filter(({ isHttp }) => isHttp))(
    verifies("SUB-12@server", "http/with_sse_keepalive", "http/default/sse_keepalive", "http/promise/streaming_mount")(
      "an idle stream of $name gets a comment every 15 seconds, and no event"
    ),
    (front) =>
      Effect.gen(function*() {
        const { listen, server } = yield* front.make(everything)
        const stream = yield* listen(listenTo(allLists))
        yield* received(stream, 1)
        const acknowledged = stream.text()
        yield* TestClock.adjust("14999 millis")
        yield* turns()
        assert.strictEqual(stream.text(), acknowledged)
        yield* TestClock.adjust("1 millis")
        yield* until(() => stream.text() !== acknowledged)
        assert.strictEqual(stream.text(), `${acknowledged}:\n\n`)
        for (let i = 2; i <= 4; i++) {
          yield* TestClock.adjust("15 seconds")
          yield* until(() => stream.text() === acknowledged + ":\n\n".repeat(i))
        }
        yield* server.register(other)
        yield* received(stream, 2)
      })
  )

  it.effect(
    verifies("http/config_field/sse_keepalive")("the comments can come more often; nothing is not often"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(everything, { listen: { keepAlive: "2 seconds" } })
        const { text } = yield* open(server.url, listenTo(allLists))
        yield* until(() => text() !== "")
        yield* TestClock.adjust("2 seconds")
        yield* until(() => text().endsWith(":\n\n"))
        const error = yield* Effect.flip(endpointOf(everything, { listen: { keepAlive: 0 } }))
        assert.deepStrictEqual(error instanceof McpEndpoint.InvalidConfig ? error.field : error, "listen.keepAlive")
      })
  )

  it.effect("one timer serves all streams, and none is left when the last has gone", () =>
    Effect.gen(function*() {
      const { clock, sleeping } = yield* countingClock
      const services = yield* Effect.provideService(endpointOf(everything), Clock.Clock, clock)
      const pipe = pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
      for (let id = 0; id < 10; id++) pipe.send(listenTo(allLists, { id }))
      assert.strictEqual(sleeping(), 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(sleeping(), 1)
      pipe.close()
      assert.strictEqual(sleeping(), 0)
      for (let i = 0; i < 1000; i++) {
        const pipe = pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
        pipe.send(listenTo(allLists))
        assert.strictEqual(sleeping(), 1)
        pipe.close()
      }
      assert.strictEqual(sleeping(), 0)
    }))

  it.effect("a client that reads nothing gets one comment, not one more each time", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(everything)
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const { responder, written } = deaf()
      const message = listenTo(allLists)
      const headers: Record<string, string> = { host: "localhost", ...headersOf(message) }
      const admission = endpoint.http({
        method: "POST",
        url: "/mcp",
        header: (name) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
      })
      if (admission._tag === "Refuse") return assert.fail(admission.body)
      admission.serve(new TextEncoder().encode(JSON.stringify(message)), responder)
      yield* turns()
      assert.lengthOf(written, 1)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(written.slice(1), [":\n\n"])
    }))

  it.effect("a client that does not read gets each change once when it reads on", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything)
      // One with so long a URI that the buffers of the sockets are full soon.
      const uri = `docs://pages/${"x".repeat(100_000)}`
      const stream = yield* open(server.url, listenTo({ ...allLists, resourceSubscriptions: [uri] }), { paused: true })
      for (let i = 0; i < 2000; i++) {
        yield* server.endpoint.resourceUpdated(uri)
        yield* server.server.register(other)
        yield* server.server.unregister("tool", "other")
        if (i % 50 === 0) yield* turns(1)
      }
      yield* turns()
      const before = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
      for (let i = 0; i < 2000; i++) yield* server.endpoint.resourceUpdated(uri)
      const after = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
      // Kept, they would be 200 MB; what was not collected yet is far less.
      assert.isBelow(after - before, 100 * 1024 * 1024)
      let text = ""
      stream.response.setEncoding("utf8")
      stream.response.on("data", (chunk: string) => {
        text += chunk
      })
      yield* turns(500)
      const told = textsOf(text)
      // Far fewer than the 8,000 that there were.
      assert.isBelow(told.length, 2000)
      assert.isAtLeast(told.length, 3)
      // It is up to date: what comes next comes alone.
      const count = told.length
      yield* server.endpoint.resourceUpdated(uri)
      yield* until(() => textsOf(text).length === count + 1)
      yield* turns()
      assert.lengthOf(textsOf(text), count + 1)
      stream.destroy()
    }), 30_000)

  it.effect("1,000 streams that came and went leave no listener, no slot and no timer", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything, { listen: { maxListeners: 8 }, maxConcurrentRequests: 8 })
      const one = Effect.gen(function*() {
        const stream = yield* open(server.url, listenTo(allLists))
        assert.strictEqual(stream.response.statusCode, 200)
        yield* until(() => stream.text() !== "")
        stream.destroy()
      })
      for (let i = 0; i < 250; i++) {
        yield* Effect.all([one, one, one, one], { concurrency: 4 })
        yield* until(() => server.logs.length === 0)
        yield* turns(3)
      }
      const streams = yield* Effect.forEach(
        [1, 2, 3, 4, 5, 6, 7, 8],
        () => open(server.url, listenTo(allLists))
      )
      assert.deepStrictEqual(streams.map(({ response }) => response.statusCode), Array(8).fill(200))
      assert.deepStrictEqual(server.logs, [])
    }), 60_000)

  it.effect(
    verifies("SUB-8", "GAP-1@server", "http/stop")("the layer's end tells listeners before the listener closes"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(everything)
        const { response, text } = yield* open(server.url, listenTo(allLists, { id: "last" }))
        yield* until(() => text() !== "")
        yield* server.close
        yield* until(() => response.complete)
        assert.deepStrictEqual(textsOf(text()).map((it) => about(JSON.parse(it))), [
          notification.acknowledged,
          "complete"
        ])
      })
  )
})

describe("on a channel", () => {
  const channel = (registrations = everything, options: Partial<McpEndpoint.Options> = {}) =>
    Effect.map(endpointOf(registrations, options), (services) => ({
      endpoint: Context.get(services, McpEndpoint.McpEndpoint),
      server: Context.get(services, McpServer.McpServer),
      pipe: pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
    }))

  const cancel = (requestId: unknown) => ({
    jsonrpc: "2.0",
    method: notification.cancelled,
    params: { requestId }
  })

  it.effect(
    verifies("SUB-5", "CAN-4", "GAP-20@server", "STATE-6")(
      "listeners share it under their own ids; the cancelled one hears nothing more, and gets no answer"
    ),
    () =>
      Effect.gen(function*() {
        const { pipe, server } = yield* channel(everything, { listen: { maxListeners: 3 } })
        for (const id of [1, "1", ""]) pipe.send(listenTo({ toolsListChanged: true }, { id }))
        assert.deepStrictEqual(pipe.messages().map(subscriptionOf), [1, "1", ""])
        yield* server.register(other)
        assert.deepStrictEqual(pipe.messages().slice(3).map(subscriptionOf), [1, "1", ""])
        pipe.send(cancel(1))
        pipe.send(cancel(2))
        yield* server.unregister("tool", "other")
        assert.deepStrictEqual(pipe.messages().slice(6).map(subscriptionOf), ["1", ""])
        // The place is free, and the id may be used again.
        pipe.send(listenTo({ toolsListChanged: true }, { id: 1 }))
        assert.strictEqual(about(pipe.messages()[8]), notification.acknowledged)
        assert.lengthOf(pipe.messages(), 9)
      })
  )

  it.effect("an id of a listener is taken until it ends", () =>
    Effect.gen(function*() {
      const { pipe } = yield* channel()
      pipe.send(listenTo(allLists, { id: 5 }))
      pipe.send(call("ping", {}, { id: 5 }))
      assert.strictEqual(pipe.messages()[1].error.code, codes.invalidRequest)
    }))

  it.effect(
    verifies("CAN-7", "GAP-1@server", "SUB-8")("when the server stops, each listener is cancelled and then answered"),
    () =>
      Effect.gen(function*() {
        const { endpoint, pipe } = yield* channel()
        pipe.send(listenTo(allLists, { id: 1 }))
        pipe.send(listenTo(allLists, { id: "1" }))
        yield* endpoint.stop
        assert.deepStrictEqual(
          pipe.messages().slice(2).map(({ id, method, params }) => [method, params?.requestId ?? id]),
          [[notification.cancelled, 1], [undefined, 1], [notification.cancelled, "1"], [undefined, "1"]]
        )
        yield* endpoint.stop
        assert.lengthOf(pipe.messages(), 6)
      })
  )

  it.effect(verifies("CAN-7")("no other request is cancelled by the server"), () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { endpoint, pipe } = yield* channel(McpServer.tool(Ping, () => Effect.as(gate.run, [])))
      pipe.send(call("ping"))
      yield* gate.started
      const stopped = yield* Effect.forkChild(endpoint.stop)
      yield* turns()
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(stopped)
      assert.deepStrictEqual(pipe.messages().map(about), [String(codes.internalError)])
    }))

  it.effect("a client that does not read gets each change once, and the acknowledgement first", () =>
    Effect.gen(function*() {
      const { endpoint, pipe, server } = yield* channel()
      pipe.pause()
      pipe.send(listenTo({ ...allLists, resourceSubscriptions: ["docs://manual", "docs://pages/1"] }))
      for (let i = 0; i < 1000; i++) {
        yield* server.register(other)
        yield* server.unregister("tool", "other")
        yield* endpoint.resourceUpdated("docs://manual")
        yield* endpoint.resourceUpdated("docs://pages/1")
      }
      assert.deepStrictEqual(pipe.messages().map(about), [notification.acknowledged])
      pipe.resume()
      assert.deepStrictEqual(pipe.messages().slice(1).map(about), [
        notification.toolsListChanged,
        `${notification.resourceUpdated} docs://manual`,
        `${notification.resourceUpdated} docs://pages/1`
      ])
      yield* server.register(other)
      assert.lengthOf(pipe.messages(), 5)
    }))

  it.effect("a client that stops reading again in the middle gets the rest later", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(everything)
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const got: Array<string> = []
      let resume = () => {}
      const reader = endpoint.connect({
        transport: "pipe",
        send: (text) => {
          got.push(about(JSON.parse(text)))
          return false
        },
        onDrain: (callback) => {
          resume = callback
        },
        services: undefined
      })
      reader.receive(JSON.stringify(listenTo({ resourceSubscriptions: ["a:1", "a:2", "a:3"] })))
      for (const uri of ["a:1", "a:2", "a:3"]) yield* endpoint.resourceUpdated(uri)
      assert.lengthOf(got, 1)
      resume()
      assert.lengthOf(got, 2)
      yield* endpoint.resourceUpdated("a:1")
      resume()
      resume()
      resume()
      assert.deepStrictEqual(
        got.slice(1),
        ["a:1", "a:2", "a:3", "a:1"].map((uri) => `${notification.resourceUpdated} ${uri}`)
      )
    }))

  it.effect("whoever closes while blocked gets nothing when it drains", () =>
    Effect.gen(function*() {
      const { pipe, server } = yield* channel()
      pipe.pause()
      pipe.send(listenTo(allLists, { id: 3 }))
      yield* server.register(other)
      pipe.send(cancel(3))
      pipe.resume()
      assert.deepStrictEqual(pipe.messages().map(about), [notification.acknowledged])
    }))

  it.effect("a client that cancels in answer to the acknowledgement is not told of anything", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(everything, { listen: { maxListeners: 1 } })
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const got: Array<string> = []
      const reader = endpoint.connect({
        transport: "pipe",
        send: (text) => {
          got.push(about(JSON.parse(text)))
          reader.receive(JSON.stringify(cancel(1)))
          return true
        },
        onDrain: () => {},
        services: undefined
      })
      for (let i = 0; i < 3; i++) reader.receive(JSON.stringify(listenTo(allLists)))
      yield* Context.get(services, McpServer.McpServer).register(other)
      assert.deepStrictEqual(got, Array(3).fill(notification.acknowledged))
    }))
})

describe("in the same process", () => {
  const connect = (options: Partial<McpEndpoint.Options> = {}) =>
    Effect.gen(function*() {
      const services = yield* endpointOf(everything, options)
      const transport = Context.get(
        yield* Effect.provide(Layer.build(InProcess.layer()), services),
        Transport.Transport
      )
      const listen = (id: JsonRpc.RequestId, notify: (it: JsonRpc.Notification) => void) => {
        const message = listenTo(allLists, { id })
        const { method, params } = message
        return transport.send({
          id,
          method,
          params,
          text: JSON.stringify(message),
          headers: [],
          sent: () => {},
          notify
        })
      }
      return {
        endpoint: Context.get(services, McpEndpoint.McpEndpoint),
        server: Context.get(services, McpServer.McpServer),
        listen
      }
    })

  it.effect(
    verifies("SUB-3", "SUB-5", "SUB-8")("a client is notified by its subscription, and answered at the end"),
    () =>
      Effect.gen(function*() {
        const { endpoint, listen, server } = yield* connect()
        const notified: Array<string> = []
        const answer = yield* Effect.forkChild(listen(9, (it) => void notified.push(it.method)))
        yield* until(() => notified.length === 1)
        yield* server.register(other)
        assert.deepStrictEqual(notified, [notification.acknowledged, notification.toolsListChanged])
        yield* endpoint.stop
        const { response } = yield* Fiber.join(answer)
        assert.strictEqual(response._tag, "Success")
      })
  )

  it.effect("interrupting it frees the listener", () =>
    Effect.gen(function*() {
      const { listen } = yield* connect({ listen: { maxListeners: 1 } })
      for (let id = 1; id <= 3; id++) {
        const opened = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(listen(id, () => Deferred.doneUnsafe(opened, Effect.void)))
        yield* Deferred.await(opened)
        yield* Fiber.interrupt(fiber)
      }
    }))
})

describe("access", () => {
  it.effect("of a resource that a caller may not use it hears nothing, and the acknowledgement does not tell", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(everything, {
        access: ({ principal }) => ({
          visible: ({ name }) => principal === "admin" || name !== "docs://manual",
          callable: ({ kind }) => principal === "admin" || kind !== "resourceTemplate"
        })
      })
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const as = (principal: string) =>
        pipeTo(endpoint, Context.make(Invocation.Principal, principal) as Context.Context<never>)
      const admin = as("admin")
      const guest = as("guest")
      const uris = ["docs://manual", "docs://pages/1", "docs://elsewhere"]
      for (const pipe of [admin, guest]) pipe.send(listenTo({ resourceSubscriptions: uris }))
      assert.deepStrictEqual(guest.texts(), admin.texts())
      for (const uri of uris) yield* endpoint.resourceUpdated(uri)
      assert.deepStrictEqual(admin.messages().slice(1).map(({ params }) => params.uri), uris)
      assert.deepStrictEqual(guest.messages().slice(1).map(({ params }) => params.uri), ["docs://elsewhere"])
    }))

  /** What comes and goes, each with the list it is in. */
  const secrets = [
    ["tool", McpServer.toolHandler(Tool.make("secret"), () => Effect.succeed([])), "secret"],
    ["prompt", McpServer.promptHandler(Prompt.make("secret"), () => Effect.succeed("")), "secret"],
    [
      "resource",
      McpServer.resourceHandler(Resource.make("docs://secret", { name: "secret" }), () => Effect.succeed("")),
      "docs://secret"
    ],
    [
      "resourceTemplate",
      McpServer.templateHandler(Resource.template("docs://secret/{a}", { name: "secret" }), () => Effect.succeed("")),
      "docs://secret/{a}"
    ]
  ] as const

  const hiding = (gate?: Effect.Effect<void>) => ({
    access: ({ principal }: McpEndpoint.AccessRequest<never>) => ({
      visible: ({ name }: McpEndpoint.AccessItem) => principal === "admin" || !name.includes("secret")
    }),
    ...(gate === undefined ? {} : {
      context: ({ header }: RequestContext.RequestInfo) =>
        Effect.as(gate, Context.make(Invocation.Principal, header("x-who")) as Context.Context<never>)
    })
  })

  it.effect.each(secrets)(
    verifies("TOOL-15", "CACHE-8")("of a %s that comes and goes it hears only where the caller may see that"),
    ([kind, handler, name]) =>
      Effect.gen(function*() {
        const services = yield* endpointOf(everything, hiding())
        const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
        const server = Context.get(services, McpServer.McpServer)
        const as = (principal: string | undefined) =>
          pipeTo(endpoint, Context.make(Invocation.Principal, principal) as Context.Context<never>)
        const [admin, guest, nobody] = [as("admin"), as("guest"), as(undefined)]
        for (const pipe of [admin, guest, nobody]) pipe.send(listenTo(allLists))
        yield* server.register(handler)
        yield* server.unregister(kind, name)
        assert.deepStrictEqual(guest.messages().map(about), [notification.acknowledged])
        assert.deepStrictEqual(nobody.messages().map(about), [notification.acknowledged])
        assert.lengthOf(admin.messages(), 3)
        // What everybody may see is told to all.
        yield* server.register(other)
        assert.deepStrictEqual(guest.messages().slice(1).map(about), [notification.toolsListChanged])
        assert.lengthOf(admin.messages(), 4)
      })
  )

  it.effect("of what it may not see it hears nothing either when that changed while it was opening", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(everything, hiding(gate.run))
      const listening = (who: string) => open(server.url, listenTo(allLists), { headers: { "x-who": who } })
      const opening = yield* Effect.forkChild(Effect.all([listening("guest"), listening("admin")], { concurrency: 2 }))
      yield* until(() => gate.starts() === 2)
      for (const [, handler] of secrets) yield* server.server.register(handler)
      yield* gate.release
      const [guest, admin] = yield* Fiber.join(opening)
      yield* until(() => textsOf(admin.text()).length === 4)
      yield* server.server.register(other)
      yield* until(() => textsOf(guest.text()).length === 2)
      assert.deepStrictEqual(textsOf(guest.text()).map((text) => about(JSON.parse(text))), [
        notification.acknowledged,
        notification.toolsListChanged
      ])
      guest.destroy()
      admin.destroy()
    }))

  it.effect("of what another process registers it hears only where the caller may see that", () =>
    Effect.gen(function*() {
      const shared = yield* Layer.build(Notifications.layerMemory)
      const one = yield* Effect.provide(endpointOf(everything, hiding()), shared)
      const two = yield* Effect.provide(endpointOf(everything, hiding()), shared)
      const as = (principal: string) =>
        pipeTo(
          Context.get(two, McpEndpoint.McpEndpoint),
          Context.make(Invocation.Principal, principal) as Context.Context<never>
        )
      const [admin, guest] = [as("admin"), as("guest")]
      // What the registrations published is over.
      yield* turns()
      for (const pipe of [admin, guest]) pipe.send(listenTo(allLists))
      for (const [, handler] of secrets) yield* Context.get(one, McpServer.McpServer).register(handler)
      yield* Context.get(one, McpServer.McpServer).register(other)
      yield* until(() => guest.messages().length === 2)
      assert.lengthOf(admin.messages(), 6)
      assert.strictEqual(about(guest.messages()[1]), notification.toolsListChanged)
    }))

  it.effect("a policy that throws tells nothing, and reaches nobody else", () =>
    Effect.gen(function*() {
      let armed = false
      const services = yield* endpointOf(everything, {
        access: () => ({
          visible: () => {
            if (armed) throw new Error("broken")
            return true
          }
        })
      })
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const pipe = pipeTo(endpoint)
      pipe.send(listenTo({ resourceSubscriptions: ["docs://manual"] }))
      armed = true
      yield* endpoint.resourceUpdated("docs://manual")
      armed = false
      yield* endpoint.resourceUpdated("docs://manual")
      assert.lengthOf(pipe.messages(), 2)
    }))
})

/** The clock of the test, which tells how many sleep. */
const countingClock = Effect.map(Clock.Clock, (clock) => {
  let sleeping = 0
  const counting: Clock.Clock = Object.create(clock)
  return {
    sleeping: () => sleeping,
    clock: Object.assign(counting, {
      sleep: (duration: Duration.Duration) =>
        Effect.suspend(() => {
          sleeping++
          return Effect.ensuring(
            clock.sleep(duration),
            Effect.sync(() => {
              sleeping--
            })
          )
        })
    })
  }
})

/** A responder whose client takes one chunk. */
const deaf = () => {
  const written: Array<string> = []
  return {
    written,
    responder: {
      respond: () => {},
      open: () => {},
      write: (chunk: string) => {
        written.push(chunk)
        return written.length === 1
      },
      onDrain: () => {},
      abort: () => {},
      end: () => {}
    }
  }
}
