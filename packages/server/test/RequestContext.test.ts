import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, JsonRpc, Revision, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer, RequestContext } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { endpointOf, makeGate, serve, turns, until } from "./support/serve.ts"
import { call, request } from "./support/wire.ts"

class Tenant extends Context.Service<Tenant, { readonly name: string }>()("Tenant") {}

const Who = Tool.make("who", {
  output: Schema.Struct({ tenant: Schema.String, principal: Schema.NullOr(Schema.String) })
})

const who = McpServer.tool(Who, () =>
  Effect.gen(function*() {
    const { name } = yield* Tenant
    const { principal } = yield* Invocation.Invocation
    return { tenant: name, principal: principal ?? null }
  }))

const tenantOf = (info: RequestContext.RequestInfo) => {
  const name = info.header("x-tenant")
  return name === undefined
    ? Effect.fail(
      new RequestContext.Refused({
        status: 401,
        message: "Say which tenant you are",
        headers: { "www-authenticate": "Bearer realm=\"test\"" }
      })
    )
    : Effect.succeed(Context.make(Tenant, { name }))
}

describe("the context function", () => {
  it.effect(
    verifies("STATE-1", "http/new_with_context")("gives each request its own services"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(who, { context: tenantOf })
        for (const tenant of ["a", "b"]) {
          const answer = yield* server.send(call("who"), { headers: { "x-tenant": tenant } })
          assert.deepStrictEqual(answer.json.result.structuredContent, { tenant, principal: null })
        }
      })
  )

  it.effect(
    verifies("http/promise/context_error_answers", "http/promise/context_sees_request")(
      "turns a request away with status, headers and a short text, before its body is looked at"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(who, { context: tenantOf })
        for (const body of [call("who"), "{", request("unknown")]) {
          const answer = yield* server.send(body)
          assert.deepStrictEqual([answer.status, answer.text], [401, "Say which tenant you are."])
          assert.strictEqual(answer.headers["www-authenticate"], "Bearer realm=\"test\"")
          assert.strictEqual(answer.headers["content-type"], "text/plain; charset=utf-8")
        }
        // What it lets through is looked at as ever.
        const headers = { "x-tenant": "a" }
        assert.strictEqual((yield* server.send("{", { headers })).json.error.code, Revision.codes.parseError)
        assert.strictEqual((yield* server.send("[]", { headers })).json.error.code, Revision.codes.invalidRequest)
        assert.strictEqual((yield* server.send(request("unknown"), { headers })).status, 404)
        assert.strictEqual((yield* server.send(request("tools/list"), { headers })).json.result.tools.length, 1)
        const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" })
        const accepted = yield* server.send(notification, { headers })
        assert.deepStrictEqual([accepted.status, accepted.text], [202, ""])
        assert.strictEqual((yield* server.send(notification)).status, 401)
      })
  )

  it.effect(
    verifies("http/promise/context_sees_request")("sees transport, method, URL, headers and correlation"),
    () =>
      Effect.gen(function*() {
        const seen: Array<RequestContext.RequestInfo> = []
        const server = yield* serve(who, {
          context: (info) =>
            Effect.sync(() => {
              seen.push(info)
              return Context.make(Tenant, { name: "a" })
            })
        })
        yield* server.send(call("who"), {
          path: "/mcp?tenant=a",
          headers: { "X-Correlation-Id": "order-1", "x-many": ["a", "b"] }
        })
        const [info] = seen
        assert.deepStrictEqual(
          [info?.transport, info?.method, info?.url, info?.correlation, info?.header("x-many"), info?.header("x-none")],
          ["http", "POST", "/mcp?tenant=a", "order-1", "a, b", undefined]
        )
      })
  )

  it.effect("names the principal that handlers see", () =>
    Effect.gen(function*() {
      const server = yield* serve(who, {
        context: () =>
          Effect.succeed(Context.make(Tenant, { name: "a" }).pipe(Context.add(Invocation.Principal, "alice")))
      })
      assert.strictEqual((yield* server.send(call("who"))).json.result.structuredContent.principal, "alice")
    }))

  it.effect("its services win over those of layers", () =>
    Effect.gen(function*() {
      const server = yield* serve(who.pipe(Layer.provide(Layer.succeed(Tenant, { name: "layer" }))), {
        context: tenantOf
      })
      const answer = yield* server.send(call("who"), { headers: { "x-tenant": "request" } })
      assert.strictEqual(answer.json.result.structuredContent.tenant, "request")
    }))

  it.effect("its resources live until the request is over, and no longer", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const gate = makeGate()
      const Slow = Tool.make("slow")
      const server = yield* serve(
        McpServer.tool(Slow, () =>
          Effect.gen(function*() {
            yield* Effect.addFinalizer(() => Effect.sync(() => log.push("handler closed")))
            yield* gate.run
            log.push("handler ends")
            return []
          })),
        {
          context: () =>
            Effect.acquireRelease(
              Effect.sync(() => {
                log.push("opened")
                return Context.make(Tenant, { name: "a" })
              }),
              () => Effect.sync(() => log.push("closed"))
            )
        }
      )
      const slow = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      assert.deepStrictEqual(log, ["opened"])
      yield* gate.release
      yield* Fiber.join(slow)
      assert.deepStrictEqual(log, ["opened", "handler ends", "handler closed", "closed"])

      // Also of requests that never reach a handler.
      for (const body of ["{", request("unknown"), request("tools/list")]) {
        log.length = 0
        yield* server.send(body)
        assert.deepStrictEqual(log, ["opened", "closed"])
      }
    }))

  it.effect(
    verifies("http/promise/callback_failure_500")(
      "one that dies or throws is 500 without its reason, and the endpoint lives"
    ),
    () =>
      Effect.gen(function*() {
        for (
          const context of [
            () => Effect.die(new Error("secret")),
            () => {
              throw new Error("secret")
            }
          ]
        ) {
          const server = yield* serve(who, {
            context: (info: RequestContext.RequestInfo): Effect.Effect<Context.Context<Tenant>> =>
              info.header("x-die") === undefined ? Effect.succeed(Context.make(Tenant, { name: "a" })) : context()
          })
          const answer = yield* server.send(call("who"), { headers: { "x-die": "1", "x-correlation-id": "c-1" } })
          assert.deepStrictEqual([answer.status, answer.text], [500, "Internal error."])
          assert.deepStrictEqual(server.logs.map((entry) => [entry.level, entry.annotations["correlation"]]), [
            ["Error", "c-1"]
          ])
          assert.strictEqual((yield* server.send(call("who"))).status, 200)
          yield* server.close
        }
      })
  )

  it.effect.each(
    [
      ["a status that is none", { status: 1000, message: "No" }],
      ["a status of success", { status: 200, message: "No" }],
      ["a header name that is none", { status: 401, message: "No", headers: { "a b": "x" } }],
      ["a header value with a line break", { status: 401, message: "No", headers: { "x-a": "x\r\nx-b: y" } }]
    ] as const
  )("a refusal with %s is 500, and gives its slot back", ([, refused]) =>
    Effect.gen(function*() {
      const server = yield* serve(who, {
        maxConcurrentRequests: 1,
        context: (): Effect.Effect<Context.Context<Tenant>, RequestContext.Refused> =>
          Effect.fail(new RequestContext.Refused(refused))
      })
      for (let i = 0; i < 2; i++) {
        const answer = yield* server.send(call("who"))
        assert.deepStrictEqual([answer.status, answer.text], [500, "Internal error."])
        assert.isUndefined(answer.headers["x-b"])
      }
    }))

  it.effect(
    verifies(
      "http/promise/deadline_from_slot",
      "http/promise/expiry_504",
      "http/promise/late_admission",
      "http/with_request_timeout"
    )("its wait counts for the deadline: 504 in a short text, and its late success starts no handler"),
    () =>
      Effect.gen(function*() {
        const asked = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        let started = 0
        let contexts = 0
        const Tool1 = Tool.make("tool")
        const server = yield* serve(
          McpServer.tool(Tool1, () =>
            Effect.sync(() => {
              started++
              return []
            })),
          {
            requestTimeout: "10 seconds",
            maxConcurrentRequests: 1,
            context: () =>
              // A verifier that cannot be interrupted.
              Effect.uninterruptible(Effect.gen(function*() {
                yield* Deferred.succeed(asked, undefined)
                yield* Deferred.await(release)
                contexts++
                return Context.make(Tenant, { name: "a" })
              }))
          }
        )
        const answer = yield* Effect.forkChild(server.send(call("tool")))
        yield* Deferred.await(asked)
        yield* TestClock.adjust("10 seconds")
        const { headers, status, text } = yield* Fiber.join(answer)
        assert.strictEqual(status, 504)
        assert.strictEqual(headers["content-type"], "text/plain; charset=utf-8")
        assert.notInclude(text, "jsonrpc")
        // It holds its slot until it has ended.
        assert.strictEqual((yield* server.send(call("tool"))).status, 503)
        yield* Deferred.succeed(release, undefined)
        yield* until(() => contexts === 1)
        assert.strictEqual((yield* server.send(call("tool"))).status, 200)
        assert.strictEqual(started, 1)
      })
  )

  it.effect("a timeout of the client counts, although the context function waits first", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const gate = makeGate()
      const Slow = Tool.make("slow")
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])), {
        context: () =>
          Deferred.succeed(asked, undefined).pipe(
            Effect.andThen(Deferred.await(go)),
            Effect.as(Context.make(Tenant, { name: "a" }))
          )
      })
      const answer = yield* Effect.forkChild(
        server.send(call("slow", {}, { meta: { [Call.metaKeys.timeoutMillis]: 1000 } }))
      )
      yield* Deferred.await(asked)
      yield* turns()
      yield* Deferred.succeed(go, undefined)
      yield* gate.started
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(answer)).status, 504)
    }))

  it.effect("a client that goes away interrupts it", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(who, { context: () => Effect.as(gate.run, Context.make(Tenant, { name: "a" })) })
      const answer = yield* Effect.forkChild(server.send(call("who")))
      yield* gate.started
      yield* Fiber.interrupt(answer)
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
    }))

  it.effect("starts with a call that carries nothing but what came over the wire", () =>
    Effect.gen(function*() {
      const calls: Array<Call.Call> = []
      const context = () =>
        Effect.gen(function*() {
          const { correlation, deadline, idempotencyKey } = yield* Call.Current
          calls.push({ ...Call.empty, correlation, deadline, idempotencyKey })
          return Context.make(Tenant, { name: "a" })
        })
      const server = yield* serve(who, { context }).pipe(
        Call.withCorrelation("leaked"),
        Call.withIdempotencyKey("leaked"),
        Call.withDeadline("1 hour")
      )
      yield* server.send(call("who"), { headers: { "x-correlation-id": "c-1" } })
      assert.deepStrictEqual(calls, [{ ...Call.empty, correlation: "c-1", deadline: 30_000 }])
    }))
})

describe("the context function of a channel", () => {
  const channel = (
    endpoint: McpEndpoint.McpEndpoint["Service"],
    services?: Context.Context<never>
  ) => {
    const sent: Array<string> = []
    const it = endpoint.connect({
      transport: "test",
      send: (message) => {
        sent.push(message)
        return true
      },
      onDrain: (resume) => resume(),
      services
    })
    return { ...it, sent, messages: () => sent.map((text) => JSON.parse(text)) }
  }

  it.effect("runs without headers, with the correlation of the metadata; its refusal is an error with the id", () =>
    Effect.gen(function*() {
      const seen: Array<RequestContext.RequestInfo> = []
      const services = yield* endpointOf(who, {
        context: (info) => {
          seen.push(info)
          return tenantOf(info)
        }
      })
      const { messages, receive } = channel(Context.get(services, McpEndpoint.McpEndpoint))
      receive(JSON.stringify(call("who", {}, { id: "a", meta: { [Call.metaKeys.correlation]: "c-1" } })))
      const [answer] = messages()
      assert.deepStrictEqual([answer.id, answer.error.message], ["a", "Say which tenant you are"])
      assert.deepStrictEqual(answer.error.data, { status: 401 })
      assert.deepStrictEqual([seen[0]?.transport, seen[0]?.method, seen[0]?.url], ["test", undefined, undefined])
      assert.strictEqual(seen[0]?.correlation, "c-1")
      assert.isUndefined(seen[0]?.header("x-tenant"))
    }))

  it.effect("one that dies, or lasts too long, is answered with the id", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(who, {
        context: (info): Effect.Effect<Context.Context<Tenant>> =>
          info.correlation === "die" ? Effect.die("secret") : Effect.never
      })
      const { messages, receive, sent } = channel(Context.get(services, McpEndpoint.McpEndpoint))
      receive(JSON.stringify(call("who", {}, { id: 1, meta: { [Call.metaKeys.correlation]: "die" } })))
      receive(JSON.stringify(call("who", {}, { id: 2 })))
      yield* TestClock.adjust("30 seconds")
      yield* until(() => sent.length === 2)
      assert.deepStrictEqual(messages().map(({ error, id }) => [id, error.code]), [
        [1, JsonRpc.codes.internalError],
        [2, JsonRpc.codes.internalError]
      ])
      assert.notInclude(sent.join(""), "secret")
    }))

  it.effect("services of the front take its place", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(who, { context: tenantOf })
      const { messages, receive } = channel(
        Context.get(services, McpEndpoint.McpEndpoint),
        Context.make(Tenant, { name: "front" }) as Context.Context<never>
      )
      receive(JSON.stringify(call("who")))
      assert.strictEqual(messages()[0].result.structuredContent.tenant, "front")
    }))
})
