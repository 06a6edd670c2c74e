import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer, RequestContext } from "@fairlead/server"
import { Invocation } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Http from "node:http"
import { begin, open } from "./support/http.ts"
import { endpointOf, makeGate, serve, until } from "./support/serve.ts"
import { call, withToken } from "./support/wire.ts"

const Greet = Tool.make("greet")
const Slow = Tool.make("slow")
const greet = McpServer.tool(Greet, () => Effect.succeed([Content.text("Hello")]))

describe("a verifier", () => {
  const verify = (request: RequestContext.RequestInfo) =>
    request.header("authorization") === "Bearer token"
      ? Effect.succeed({ principal: "alice", scope: "all" })
      : Effect.fail(
        new RequestContext.Refused({
          status: 401,
          message: "A token is needed",
          headers: { "www-authenticate": "Bearer" }
        })
      )

  it.effect("turns a request away before it is read", () =>
    Effect.gen(function*() {
      const server = yield* serve(greet, { verify })
      const answer = yield* server.send("{", { headers: { "content-type": "application/json" } })
      assert.deepStrictEqual(
        [answer.status, answer.headers["www-authenticate"], answer.text],
        [401, "Bearer", "A token is needed."]
      )
    }))

  it.effect("that takes too long is answered with 504; what it grants later starts no handler", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      let handled = 0
      const server = yield* serve(
        McpServer.tool(Greet, () =>
          Effect.sync(() => {
            handled++
            return []
          })),
        {
          maxConcurrentRequests: 1,
          verify: () => Effect.as(Effect.uninterruptible(gate.run), { principal: "alice" })
        }
      )
      const answer = yield* Effect.forkChild(server.send(call("greet")))
      yield* gate.started
      yield* TestClock.adjust("30 seconds")
      const { status, text } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, text], [504, "The request took longer than allowed."])
      assert.strictEqual((yield* server.send(call("greet"))).status, 503)
      yield* gate.release
      yield* gate.ended
      assert.strictEqual((yield* server.send(call("greet"))).status, 200)
      assert.strictEqual(handled, 1)
    }))

  it.effect("says who asks, to the context function and the handler", () =>
    Effect.gen(function*() {
      class Scope extends Context.Service<Scope, { readonly scope: string }>()("test/Scope") {}
      const server = yield* serve(
        McpServer.tool(Greet, () =>
          Effect.gen(function*() {
            const { principal } = yield* Invocation.Invocation
            const { scope } = yield* Scope
            return [Content.text(`${principal} ${scope}`)]
          })),
        {
          verify,
          context: (_request: RequestContext.RequestInfo, grant: McpEndpoint.Grant | undefined) =>
            Effect.succeed(Context.make(Scope, { scope: String(grant?.["scope"]) }))
        }
      )
      const answer = yield* server.send(call("greet"), { headers: { authorization: "Bearer token" } })
      assert.strictEqual(answer.json.result.content[0].text, "alice all")
    }))

  it.effect("that comes too late starts nothing", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      let ran = 0
      const server = yield* serve(
        McpServer.tool(Greet, () =>
          Effect.sync(() => {
            ran++
            return []
          })),
        {
          maxConcurrentRequests: 1,
          verify: () => Effect.as(Effect.uninterruptible(gate.run), { principal: "alice" })
        }
      )
      const asked = yield* Effect.forkChild(server.send(call("greet")))
      yield* gate.started
      yield* TestClock.adjust("30 seconds")
      const answer = yield* Fiber.join(asked)
      assert.deepStrictEqual([answer.status, answer.text], [504, "The request took longer than allowed."])
      // Its slot is taken until it has ended.
      assert.strictEqual((yield* server.send(call("greet"))).status, 503)
      yield* gate.release
      yield* gate.ended
      assert.strictEqual(ran, 0)
    }))
})

describe("a correlation builder", () => {
  const echo = McpServer.tool(
    Greet,
    () => Effect.map(Invocation.Invocation, ({ correlation }) => [Content.text(correlation)])
  )
  const answered = (options: McpEndpoint.Options["correlation"], headers: Record<string, string>) =>
    Effect.gen(function*() {
      const server = yield* serve(echo, { correlation: options })
      return (yield* server.send(call("greet"), { headers })).json.result.content[0].text as string
    })

  it.effect(
    verifies("http/promise/correlation_precedence", "http/with_correlation")("counts before the header of the client"),
    () =>
      Effect.gen(function*() {
        const headers = { "x-request-id": "from-proxy", "x-correlation-id": "from-client" }
        assert.strictEqual(yield* answered((request) => request.header("x-request-id"), headers), "from-proxy")
      })
  )

  it.effect(
    verifies("http/promise/correlation_precedence")("that has none, or a malformed one, leaves it to the client"),
    () =>
      Effect.gen(function*() {
        const headers = { "x-correlation-id": "from-client" }
        for (
          const builder of [
            () => undefined,
            () => "two words",
            () => "",
            () => "x".repeat(129)
          ]
        ) {
          assert.strictEqual(yield* answered(builder, headers), "from-client")
        }
      })
  )

  it.effect(
    verifies("http/promise/callback_failure_500", "http/promise/callbacks_in_request")(
      "that throws is 500 without its reason, starts nothing and gives its slot back"
    ),
    () =>
      Effect.gen(function*() {
        let verified = 0
        let isBroken = true
        const server = yield* serve(echo, {
          maxConcurrentRequests: 1,
          correlation: () => {
            if (isBroken) throw new Error("secret of the builder")
            return "built"
          },
          verify: () => Effect.sync(() => ({ principal: `number ${++verified}` }))
        })
        for (let i = 0; i < 2; i++) {
          const answer = yield* server.send(call("greet"), { headers: { "x-correlation-id": "from-client" } })
          assert.deepStrictEqual([answer.status, answer.text], [500, "Internal error."])
        }
        assert.strictEqual(verified, 0)
        assert.strictEqual(server.logs.length, 2)
        assert.strictEqual(server.logs[0]!.annotations["correlation"], "from-client")
        isBroken = false
        const { json } = yield* server.send(call("greet"))
        assert.strictEqual(json.result.content[0].text, "built")
      })
  )
})

describe("a client that does not read", () => {
  it.effect("is given up after the write timeout, and its handler interrupted", () =>
    Effect.gen(function*() {
      let interrupted = false
      let reports = 0
      const server = yield* serve(
        McpServer.tool(Slow, () =>
          Effect.forever(Effect.suspend(() =>
            Effect.flatMap(Invocation.Invocation, (invocation) =>
              invocation.progress({ progress: ++reports, message: "x".repeat(10_000) }))
          )).pipe(Effect.onInterrupt(() =>
            Effect.sync(() => {
              interrupted = true
            })
          ))),
        { writeTimeout: "5 seconds", requestTimeout: "1 hour" }
      )
      const stream = yield* open(server.url, call("slow", {}, withToken(1)), { paused: true })
      // It waits when the buffers between are full.
      let seen = -1
      yield* until(() => {
        const still = seen === reports
        seen = reports
        return still && reports > 0
      })
      yield* TestClock.adjust("5 seconds")
      yield* until(() =>
        interrupted
      )
      stream.destroy()
    }))
})

describe("a notification beyond the response limit", () => {
  it.effect("is left out and logged; the answer comes", () =>
    Effect.gen(function*() {
      const server = yield* serve(
        McpServer.tool(Greet, () =>
          Effect.as(Invocation.progress({ progress: 1, message: "x".repeat(2000) }), [Content.text("Hello")])),
        { maxResponseBytes: 1000 }
      )
      const answer = yield* server.send(call("greet", {}, withToken(1)))
      assert.strictEqual(answer.json.result.content[0].text, "Hello")
      assert.isTrue(server.logs.some(({ text }) =>
        text.includes("beyond the response limit")
      ))
    }))
})

describe("requests that send their bodies slowly", () => {
  it.live("are bounded in number, and do not stop others", () =>
    Effect.gen(function*() {
      const server = yield* serve(greet, { maxArrivingRequests: 3 })
      const agent = new Http.Agent()
      const slow = yield* Effect.acquireRelease(
        Effect.sync(() =>
          [1, 2].map(() => {
            const request = begin(server.url, call("greet"), { agent, headers: { "content-length": "100" } })
            request.on("error", () => {})
            request.write("{")
            return request
          })
        ),
        (requests) => Effect.sync(() => requests.forEach((request) => request.destroy()))
      )
      assert.lengthOf(slow, 2)
      assert.strictEqual((yield* server.send(call("greet"))).status, 200)
      const third = begin(server.url, call("greet"), { agent, headers: { "content-length": "100" } })
      third.on("error", () => {})
      third.write("{")
      let refused
      do refused = yield* server.send(call("greet"))
      while (refused.status === 200)
      assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [503, "1"])
      // Whoever goes away makes room.
      third.destroy()
      let again
      do again = yield* server.send(call("greet"))
      while (again.status === 503)
      assert.strictEqual(again.status, 200)
    }))
})

describe("readiness", () => {
  it.effect("ends while most slots are held by handlers beyond their grace, and when it stops", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const services = yield* endpointOf(
        McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), [])),
        { maxConcurrentRequests: 1, requestTimeout: "1 second", cancellationGrace: "1 second" }
      )
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const sent: Array<string> = []
      const channel = endpoint.connect({
        transport: "test",
        send: (message) => sent.push(message) > 0,
        onDrain: () => {},
        services: undefined
      })
      assert.isTrue(yield* endpoint.isReady)
      channel.receive(JSON.stringify(call("slow")))
      yield* gate.started
      yield* TestClock.adjust("1 second")
      assert.lengthOf(sent, 1)
      assert.isTrue(yield* endpoint.isReady)
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* endpoint.isReady)
      yield* gate.release
      yield* gate.ended
      yield* TestClock.adjust(0)
      assert.isTrue(yield* endpoint.isReady)
      yield* endpoint.stop
      assert.isFalse(yield* endpoint.isReady)
    }))
})

describe("a channel with a bound", () => {
  it.effect("answers what is beyond it with an error", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const services = yield* endpointOf(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const sent: Array<string> = []
      const channel = Context.get(services, McpEndpoint.McpEndpoint).connect({
        transport: "test",
        send: (message) => sent.push(message) > 0,
        onDrain: () => {},
        services: undefined,
        maxRequests: 1
      })
      channel.receive(JSON.stringify(call("slow", {}, { id: "a" })))
      channel.receive(JSON.stringify(call("slow", {}, { id: "b" })))
      assert.deepStrictEqual(sent.map((text) => JSON.parse(text)).map(({ error, id }) => [id, error.message]), [
        ["b", "Too many requests are running"]
      ])
      yield* gate.release
      yield* until(() => sent.length === 2)
      channel.receive(JSON.stringify(call("slow", {}, { id: "c" })))
      yield* until(() => sent.length === 3)
    }))
})

describe("validate", () => {
  it.effect(
    verifies(
      "http/validate",
      "http/type/config",
      "http/type/config_field",
      "http/config_field/max_body_bytes",
      "http/config_field/max_response_bytes",
      "http/config_field/request_timeout",
      "http/config_field/cancellation_grace",
      "http/config_field/allowed_hosts",
      "http/config_field/max_concurrent_requests",
      "http/config_field/max_json_depth"
    )("says what serve would say, and serves nothing"),
    () =>
      Effect.gen(function*() {
        const base = { name: "test", version: "1" }
        yield* McpEndpoint.validate(base)
        const wrong: ReadonlyArray<readonly [string, Partial<McpEndpoint.Options>]> = [
          ["name", { name: "" }],
          ["maxBodyBytes", { maxBodyBytes: 0 }],
          ["maxResponseBytes", { maxResponseBytes: 1.5 }],
          ["maxJsonDepth", { maxJsonDepth: -1 }],
          ["requestTimeout", { requestTimeout: 0 }],
          ["requestTimeout", { requestTimeout: "soon" as never }],
          ["cancellationGrace", { cancellationGrace: -1 }],
          ["writeTimeout", { writeTimeout: 0 }],
          ["maxArrivingRequests", { maxArrivingRequests: 0 }],
          ["maxConcurrentRequests", { maxConcurrentRequests: Infinity }],
          ["pageSize", { pageSize: 0 }],
          ["listen.maxListeners", { listen: { maxListeners: 0 } }],
          ["listen.keepAlive", { listen: { keepAlive: 0 } }],
          ["allowedHosts", { allowedHosts: ["a b"] }],
          ["allowedOrigins", { allowedOrigins: ["example.com"] }],
          ["extensions", { extensions: { noprefix: {} } }]
        ]
        for (const [field, options] of wrong) {
          const error = yield* Effect.flip(McpEndpoint.validate({ ...base, ...options }))
          assert.strictEqual(error.field, field)
          assert.include(error.message, field)
        }
      })
  )
})
