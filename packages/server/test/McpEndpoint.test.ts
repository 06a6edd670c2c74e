import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, Content, Revision, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { endpointOf, makeGate, serve, turns, until } from "./support/serve.ts"
import { call, request, version } from "./support/wire.ts"

const { codes, meta } = Revision

const Ping = Tool.make("ping")
const ping = McpServer.tool(Ping, () => Effect.succeed([]))
const Slow = Tool.make("slow")

describe("the options", () => {
  it.effect.each(
    [
      ["name", { name: "" }],
      ["version", { version: "" }],
      ["icons", { icons: [{ src: "javascript:alert(1)" }] }],
      ["maxBodyBytes", { maxBodyBytes: 0 }],
      ["maxBodyBytes", { maxBodyBytes: 1.5 }],
      ["maxResponseBytes", { maxResponseBytes: -1 }],
      ["maxJsonDepth", { maxJsonDepth: Number.NaN }],
      ["maxConcurrentRequests", { maxConcurrentRequests: Infinity }],
      ["requestTimeout", { requestTimeout: 0 }],
      ["cancellationGrace", { cancellationGrace: -1 }],
      ["allowedHosts", { allowedHosts: ["a b"] }],
      ["allowedHosts", { allowedHosts: ["https://a.example"] }],
      ["allowedOrigins", { allowedOrigins: ["a.example"] }],
      ["allowedOrigins", { allowedOrigins: ["null"] }],
      ["allowedOrigins", { allowedOrigins: ["https://a.example/path"] }]
    ] as const
  )("%s cannot be %o: the layer fails and says which", ([field, options]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(endpointOf(ping, options))
      assert.instanceOf(error, McpEndpoint.InvalidConfig)
      assert.strictEqual(error.field, field)
      assert.include(error.message, field)
    }))

  it.effect("a grace of nothing and a timeout without end are allowed", () =>
    Effect.gen(function*() {
      const server = yield* serve(ping, { cancellationGrace: 0, requestTimeout: Infinity })
      assert.strictEqual((yield* server.send(call("ping"))).status, 200)
    }))
})

describe("server/discover", () => {
  it.effect(
    verifies("DISC-1", "DISC-2", "VER-4@server", "BASE-7", "CACHE-1", "GAP-7", "META-14")("tells what the server is"),
    () =>
      Effect.gen(function*() {
        const icons = [{ src: "https://example.test/icon.png" }]
        const server = yield* serve(ping, {
          name: "main",
          version: "2.0.0",
          title: "Main",
          description: "The main one",
          websiteUrl: "https://example.test",
          icons,
          instructions: "Ask it first."
        })
        assert.deepStrictEqual((yield* server.send(request("server/discover"))).json.result, {
          supportedVersions: [version],
          capabilities: { tools: { listChanged: true } },
          instructions: "Ask it first.",
          ttlMs: 0,
          cacheScope: "private",
          resultType: "complete",
          _meta: {
            [meta.serverInfo]: {
              name: "main",
              version: "2.0.0",
              title: "Main",
              description: "The main one",
              websiteUrl: "https://example.test",
              icons
            }
          }
        })
      })
  )

  it.effect(
    verifies("META-3@server", "META-2@server")("metadata of our own has keys that the protocol does not reserve"),
    () =>
      Effect.gen(function*() {
        for (const key of Object.values(Call.metaKeys)) {
          assert.isTrue(Revision.isMetaKey(key) && key.includes("/"), key)
          assert.isFalse(Revision.isReservedMetaKey(key), key)
        }
        const server = yield* serve(ping)
        for (const message of [request("server/discover"), request("tools/list"), call("ping"), request("other")]) {
          const { result } = (yield* server.send(message)).json
          assert.deepStrictEqual(Object.keys(result?._meta ?? {}), result === undefined ? [] : [meta.serverInfo])
        }
      })
  )

  it.effect("serverInfo can be left out of every result", () =>
    Effect.gen(function*() {
      const server = yield* serve(ping, { serverInfo: false })
      for (const message of [request("server/discover"), request("tools/list"), call("ping")]) {
        assert.notProperty((yield* server.send(message)).json.result, "_meta")
      }
    }))
})

describe("the response limit", () => {
  const Text = Tool.make("text", { input: Schema.Struct({ text: Schema.String, times: Schema.Int }) })
  const text = McpServer.tool(Text, ({ text, times }) => Effect.succeed([Content.text(text.repeat(times))]))

  it.effect(
    verifies("http/default/max_response_bytes")(
      "an answer over it is -32603 that names the limit, in JSON and in a stream, and the server stays up"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(text)
        const large = call("text", { text: "x", times: 1024 * 1024 })
        const json = yield* server.send(large)
        assert.strictEqual(json.status, 200)
        assert.strictEqual(json.json.error.code, codes.internalError)
        assert.include(json.json.error.message, String(1024 * 1024))
        const events = yield* server.send(large, { headers: { accept: "text/event-stream" } })
        assert.deepStrictEqual(events.events, [json.json])
        assert.strictEqual((yield* server.send(call("text", { text: "x", times: 1 }))).status, 200)
      })
  )

  it.effect(
    verifies("http/with_max_response_bytes")("counts bytes, not characters, to the byte"),
    () =>
      Effect.gen(function*() {
        const measure = yield* serve(text)
        for (const character of ["x", "é", "世", "🙂"]) {
          const message = call("text", { text: character, times: 100 })
          const size = Buffer.byteLength((yield* measure.send(message)).text)
          const fits = yield* serve(text, { maxResponseBytes: size })
          assert.isDefined((yield* fits.send(message)).json.result, character)
          yield* fits.close
          const tooSmall = yield* serve(text, { maxResponseBytes: size - 1 })
          assert.strictEqual((yield* tooSmall.send(message)).json.error?.code, codes.internalError, character)
          yield* tooSmall.close
        }
      })
  )

  it.effect("an answer of many megabytes goes out whole when the limit is raised", () =>
    Effect.gen(function*() {
      const server = yield* serve(text, { maxResponseBytes: 16 * 1024 * 1024 })
      const answer = yield* server.send(call("text", { text: "0123456789", times: 1024 * 1024 }))
      assert.strictEqual(answer.json.result.content[0].text.length, 10 * 1024 * 1024)
    }))
})

describe("a slot", () => {
  const secret = "hunter2"
  const endings: ReadonlyArray<readonly [string, Effect.Effect<ReadonlyArray<Content.Block>, Tool.ToolError>]> = [
    ["success", Effect.succeed([])],
    ["a failure", Effect.fail(Tool.error("no"))],
    ["a defect", Effect.die(secret)],
    ["a later success", Effect.as(Effect.yieldNow, [])],
    ["a later defect", Effect.andThen(Effect.yieldNow, Effect.die(secret))],
    ["an answer over the limit", Effect.succeed([Content.text("x".repeat(2000))])]
  ]

  it.effect.each(endings)("comes back after %s", ([, handle]) =>
    Effect.gen(function*() {
      const server = yield* serve(McpServer.tool(Slow, () => handle), {
        maxConcurrentRequests: 1,
        maxResponseBytes: 1000
      })
      for (let i = 0; i < 3; i++) assert.strictEqual((yield* server.send(call("slow"))).status, 200)
    }))

  it.effect("comes back after a finalizer that dies", () =>
    Effect.gen(function*() {
      const layer = McpServer.tool(Slow, () => Effect.as(Effect.addFinalizer(() => Effect.die(secret)), []))
      const server = yield* serve(layer, { maxConcurrentRequests: 1 })
      for (let i = 0; i < 3; i++) {
        assert.strictEqual((yield* server.send(call("slow"))).json.error.code, codes.internalError)
      }
    }))

  it.effect("comes back after requests that never reach a handler", () =>
    Effect.gen(function*() {
      const server = yield* serve(ping, { maxConcurrentRequests: 1 })
      const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" })
      for (const body of ["{", "[]", request("other"), call("nobody"), request("tools/list"), notification]) {
        for (let i = 0; i < 2; i++) assert.notStrictEqual((yield* server.send(body)).status, 503)
      }
    }))

  it.effect("comes back exactly once: two at a time stay two, after every kind of ending", () =>
    Effect.gen(function*() {
      const gates: Array<ReturnType<typeof makeGate>> = []
      const layer = McpServer.tool(Slow, () =>
        Effect.suspend(() => {
          const gate = makeGate()
          gates.push(gate)
          return Effect.as(gate.run, [])
        }))
      const server = yield* serve(layer, { maxConcurrentRequests: 2, requestTimeout: "10 seconds" })
      // One that ends by a disconnect, one by its deadline.
      const gone = yield* Effect.forkChild(server.send(call("slow")))
      const late = yield* Effect.forkChild(server.send(call("slow")))
      yield* until(() => gates.length === 2)
      yield* Fiber.interrupt(gone)
      yield* until(() => gates.filter((gate) => gate.ends() === 1).length === 1)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(late)).status, 504)
      // Both slots are free, and no more than both.
      const two = yield* Effect.forkChild(Effect.all([server.send(call("slow")), server.send(call("slow"))], {
        concurrency: 2
      }))
      yield* until(() => gates.length === 4)
      assert.strictEqual((yield* server.send(call("slow"))).status, 503)
      for (const gate of gates) yield* gate.release
      assert.deepStrictEqual((yield* Fiber.join(two)).map(({ status }) => status), [200, 200])
    }))

  it.effect(
    verifies("HTTP-11", "STATE-2")("two requests with one id run at once, each with its own answer"),
    () =>
      Effect.gen(function*() {
        const Echo = Tool.make("echo", { input: Schema.Struct({ n: Schema.Int }), output: Schema.Int })
        const gate = makeGate()
        let running = 0
        const layer = McpServer.tool(Echo, ({ n }) =>
          Effect.suspend(() => {
            running++
            return n === 1 ? Effect.as(gate.run, 1) : Effect.succeed(n)
          }))
        const server = yield* serve(layer)
        const first = yield* Effect.forkChild(server.send(call("echo", { n: 1 }, { id: 7 })))
        yield* gate.started
        const second = yield* server.send(call("echo", { n: 2 }, { id: 7 }))
        assert.deepStrictEqual([second.json.id, second.json.result.structuredContent], [7, 2])
        yield* gate.release
        const { json } = yield* Fiber.join(first)
        assert.deepStrictEqual([json.id, json.result.structuredContent], [7, 1])
        assert.strictEqual(running, 2)
      })
  )
})

describe("stop", () => {
  it.effect("lets what runs end, and refuses what is new with 503", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [Content.text("done")])))
      const slow = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      const stop = yield* Effect.forkChild(server.endpoint.stop)
      yield* turns()
      assert.isUndefined(stop.pollUnsafe())
      const refused = yield* server.send(call("slow"))
      assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [503, "1"])
      assert.strictEqual(refused.headers["content-type"], "text/plain; charset=utf-8")
      yield* gate.release
      assert.strictEqual((yield* Fiber.join(slow)).json.result.content[0].text, "done")
      yield* Fiber.join(stop)
      assert.strictEqual(gate.starts(), 1)
    }))

  it.effect("interrupts after the grace what still runs, and answers it", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])), {
        cancellationGrace: "3 seconds"
      })
      const slow = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      const stop = yield* Effect.forkChild(server.endpoint.stop)
      yield* TestClock.adjust("2999 millis")
      assert.strictEqual(gate.ends(), 0)
      yield* TestClock.adjust("1 millis")
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
      const answer = yield* Fiber.join(slow)
      // It may have acted, so nothing asks to send it again.
      assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [500, undefined])
      assert.deepStrictEqual([answer.json.id, answer.json.error.code], [1, codes.internalError])
      yield* Fiber.join(stop)
    }))

  it.effect("turns away with 503 what had not reached a handler after the grace", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(ping, {
        cancellationGrace: "3 seconds",
        context: () => Effect.as(gate.run, Context.empty() as Context.Context<never>)
      })
      const waiting = yield* Effect.forkChild(server.send(call("ping")))
      yield* gate.started
      const stop = yield* Effect.forkChild(server.endpoint.stop)
      yield* TestClock.adjust("3 seconds")
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
      const { headers, status, text } = yield* Fiber.join(waiting)
      assert.deepStrictEqual([status, headers["retry-after"], text], [503, "1", "The server is stopping."])
      yield* Fiber.join(stop)
    }))

  it.effect(
    verifies("http/promise/stop_bounded")(
      "takes no longer than the grace and 5 seconds, whatever a handler does, also when a layer closes"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const server = yield* serve(
          McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), [])),
          { cancellationGrace: "3 seconds" }
        )
        const slow = yield* Effect.forkChild(Effect.exit(server.send(call("slow"))))
        yield* gate.started
        const close = yield* Effect.forkChild(server.close)
        yield* TestClock.adjust("3 seconds")
        yield* turns()
        assert.isUndefined(close.pollUnsafe())
        yield* TestClock.adjust("5 seconds")
        yield* until(() => close.pollUnsafe() !== undefined)
        yield* Fiber.join(slow)
        yield* gate.release
      })
  )

  it.effect("twice is once", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const slow = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      const stops = yield* Effect.forkChild(
        Effect.all([server.endpoint.stop, server.endpoint.stop], { concurrency: 2 })
      )
      yield* turns()
      yield* gate.release
      yield* Fiber.join(stops)
      yield* server.endpoint.stop
      assert.strictEqual((yield* Fiber.join(slow)).status, 200)
    }))

  it.effect("answers a channel's requests, those under way and those to come", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const services = yield* endpointOf(McpServer.tool(Slow, () => Effect.as(gate.run, [])), {
        cancellationGrace: 0
      })
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const sent: Array<string> = []
      const channel = endpoint.connect({
        transport: "test",
        send: (message) => {
          sent.push(message)
          return true
        },
        onDrain: () => {},
        services: undefined
      })
      channel.receive(JSON.stringify(call("slow", {}, { id: "a" })))
      const stop = yield* Effect.forkChild(endpoint.stop)
      yield* TestClock.adjust(0)
      yield* Fiber.join(stop)
      channel.receive(JSON.stringify(call("slow", {}, { id: "b" })))
      assert.deepStrictEqual(
        sent.map((text) => JSON.parse(text)).map(({ error, id }) => [id, error.code, error.message]),
        [
          ["a", codes.internalError, "The server stopped before the answer"],
          ["b", codes.internalError, "The server is stopping"]
        ]
      )
    }))
})

describe("the layer", () => {
  it.effect("gives the endpoint, the catalog and what the registrations give", () =>
    Effect.gen(function*() {
      class Extra extends Context.Service<Extra, number>()("Extra") {}
      const services = yield* endpointOf(Layer.merge(ping, Layer.succeed(Extra, 1)))
      assert.strictEqual(Context.get(services, Extra), 1)
      assert.deepStrictEqual(yield* Context.get(services, McpServer.McpServer).names("tool"), ["ping"])
    }))

  it.effect("two endpoints in one program have nothing in common", () =>
    Effect.gen(function*() {
      const a = yield* serve(ping, { name: "a" })
      const b = yield* serve(Layer.empty, { name: "b" })
      assert.strictEqual((yield* a.send(request("tools/list"))).status, 200)
      assert.strictEqual((yield* b.send(request("tools/list"))).status, 404)
    }))
})
