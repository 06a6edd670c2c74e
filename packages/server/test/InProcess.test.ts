import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, Content, type JsonRpc, Revision, Tool, Transport } from "@fairlead/protocol"
import { InProcess, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { endpointOf, makeGate, until } from "./support/serve.ts"
import { call, type Message, request } from "./support/wire.ts"

const { codes } = Revision
const Slow = Tool.make("slow")

const connect = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: InProcess.Options = {},
  endpointOptions: Partial<McpEndpoint.Options> = {}
) =>
  Effect.gen(function*() {
    const services = yield* endpointOf(registrations, endpointOptions)
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const transport = Context.get(
      yield* Layer.buildWithScope(InProcess.layer(options), scope).pipe(Effect.provide(services)),
      Transport.Transport
    )
    const notified: Array<JsonRpc.Notification> = []
    const send = (message: Message) => {
      const { id, method, params } = message as Message & { readonly id: JsonRpc.RequestId }
      return transport.send({
        id,
        method,
        params,
        text: JSON.stringify(message),
        headers: [],
        sent: () => {},
        notify: (notification) => void notified.push(notification)
      })
    }
    return {
      transport,
      notified,
      send,
      result: (message: Message) => Effect.map(send(message), ({ response }) => JSON.parse(JSON.stringify(response))),
      endpoint: Context.get(services, McpEndpoint.McpEndpoint),
      close: Scope.close(scope, Exit.void)
    }
  })

describe("the in-process transport", () => {
  it.effect(
    verifies(
      "PAT-2@server",
      "TR-1",
      "TR-3",
      "client/in_process",
      "snodo/direct",
      "client/promise/in_process_same_messages"
    )("carries requests and answers as they would travel"),
    () =>
      Effect.gen(function*() {
        const { result, transport } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([Content.text("done")])))
        assert.deepStrictEqual([transport.name, transport.hasHeaders], ["in-process", false])
        assert.strictEqual((yield* result(call("slow"))).result.content[0].text, "done")
        assert.strictEqual((yield* result(call("nobody"))).error.code, codes.invalidParams)
        assert.strictEqual((yield* result(request("other", {}, { id: "a" }))).id, "a")
      })
  )

  it.effect("tells when a request leaves, and never before", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { transport } = yield* connect(McpServer.tool(Slow, () =>
        Effect.sync(() => {
          log.push("handler")
          return []
        })))
      const message = call("slow")
      yield* transport.send({
        id: 1,
        method: "tools/call",
        params: message.params,
        text: JSON.stringify(message),
        headers: [],
        sent: () => void log.push("sent"),
        notify: () => {}
      })
      assert.deepStrictEqual(log, ["sent", "handler"])
    }))

  it.effect(
    verifies("snodo/promise/direct_progress")("brings progress to its request, in order and before the answer"),
    () =>
      Effect.gen(function*() {
        const layer = McpServer.tool(
          Slow,
          () => Effect.forEach([1, 2], (progress) => Invocation.progress({ progress })).pipe(Effect.as([]))
        )
        const { notified, send } = yield* connect(layer)
        // A client takes the id of the request for its token.
        yield* send(call("slow", {}, { id: 5, meta: { [Revision.meta.progressToken]: 5 } }))
        assert.deepStrictEqual(
          notified.map(({ params }) => params["progress"]),
          [1, 2]
        )
      })
  )

  it.effect(verifies("CAN-4")("interrupting a call interrupts the handler"), () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { result, send } = yield* connect(McpServer.tool(Slow, () => Effect.as(gate.run, [])), {}, {
        maxConcurrentRequests: 1
      })
      const sending = yield* Effect.forkChild(send(call("slow")))
      yield* gate.started
      yield* Fiber.interrupt(sending)
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
      assert.isDefined((yield* result(request("tools/list"))).result)
    }))

  it.effect("closing fails what waits, interrupts the handlers, and sends nothing more", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { close, send } = yield* connect(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const sending = yield* Effect.forkChild(Effect.flip(send(call("slow"))))
      yield* gate.started
      yield* close
      const error = yield* Fiber.join(sending)
      assert.deepStrictEqual([error._tag, "evidence" in error && error.evidence], ["ConnectionClosed", "MaybeSent"])
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
      const late = yield* Effect.flip(send(call("slow")))
      assert.deepStrictEqual([late._tag, "evidence" in late && late.evidence], ["ConnectionClosed", "NotSent"])
      assert.strictEqual(gate.starts(), 1)
    }))

  it.effect("a stopped endpoint answers; nobody waits for ever", () =>
    Effect.gen(function*() {
      const { endpoint, result } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([])))
      yield* endpoint.stop
      assert.strictEqual((yield* result(call("slow"))).error.message, "The server is stopping")
    }))

  it.effect("a request that the server cannot read has its error all the same", () =>
    Effect.gen(function*() {
      const { result } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([])))
      const deep = JSON.parse("[".repeat(80) + "]".repeat(80))
      assert.strictEqual((yield* result(call("slow", { deep }))).error.code, codes.invalidRequest)
    }))

  it.effect("an answer may be nested as deep as a handler makes it", () =>
    Effect.gen(function*() {
      const Deep = Tool.make("deep", { output: Schema.Unknown })
      const deep = JSON.parse("[".repeat(80) + "]".repeat(80))
      const { result } = yield* connect(McpServer.tool(Deep, () => Effect.succeed(deep)))
      assert.deepStrictEqual((yield* result(call("deep"))).result.structuredContent, deep)
    }))

  it.effect.each([0, -1, 1.5, NaN, Infinity])("the limit %d is refused", (maxResponseLength) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(connect(McpServer.tool(Slow, () => Effect.succeed([])), { maxResponseLength }))
      assert.deepInclude({ ...error }, { _tag: "InvalidConfig", field: "maxResponseLength" })
    }))

  it.effect("an answer over the limit fails its call and no other", () =>
    Effect.gen(function*() {
      const layer = McpServer.tool(Slow, () => Effect.succeed([Content.text("x".repeat(1000))]))
      const { result, send } = yield* connect(layer, { maxResponseLength: 1000 })
      const error = yield* Effect.flip(send(call("slow")))
      assert.deepStrictEqual([error._tag, "limit" in error && error.limit], ["ResponseTooLarge", 1000])
      assert.isDefined((yield* result(request("tools/list"))).result)
    }))

  it.effect(
    verifies("snodo/option/auth", "client/in_process")(
      "gives services in place of the context function, and a principal over it"
    ),
    () =>
      Effect.gen(function*() {
        class Tenant extends Context.Service<Tenant, string>()("Tenant") {}
        const Who = Tool.make("who", { output: Schema.Array(Schema.String) })
        const layer = McpServer.tool(Who, () =>
          Effect.gen(function*() {
            const { principal } = yield* Invocation.Invocation
            return [yield* Tenant, principal ?? "nobody"]
          }))
        const registrations = Layer.provide(layer, Layer.succeed(Tenant, "layer"))
        const services = Context.make(Tenant, "given") as Context.Context<never>
        const context = () => Effect.die("not asked")
        const both = yield* connect(registrations, { services, principal: "alice" }, { context })
        assert.deepStrictEqual((yield* both.result(call("who"))).result.structuredContent, ["given", "alice"])
        const principal = yield* connect(registrations, { principal: "bob" }, {
          context: () =>
            Effect.succeed(
              Context.make(Tenant, "context").pipe(Context.add(Invocation.Principal, "carol")) as Context.Context<never>
            )
        })
        assert.deepStrictEqual((yield* principal.result(call("who"))).result.structuredContent, ["context", "bob"])
        const alone = yield* connect(registrations, { principal: "bob" })
        assert.deepStrictEqual((yield* alone.result(call("who"))).result.structuredContent, ["layer", "bob"])
        const neither = yield* connect(registrations)
        assert.deepStrictEqual((yield* neither.result(call("who"))).result.structuredContent, ["layer", "nobody"])
      })
  )

  it.effect("a handler has a fresh call: only what the message carries", () =>
    Effect.gen(function*() {
      const seen: Array<readonly [string | undefined, string | undefined]> = []
      const layer = McpServer.tool(Slow, () =>
        Effect.gen(function*() {
          const { correlation, idempotencyKey } = yield* Call.Current
          seen.push([correlation, idempotencyKey])
          return []
        }))
      const { send } = yield* connect(layer)
      const message = call("slow", {}, { meta: { [Call.metaKeys.correlation]: "carried" } })
      yield* send(message).pipe(Call.withCorrelation("leaked"), Call.withIdempotencyKey("leaked"))
      assert.deepStrictEqual(seen, [["carried", undefined]])
    }))

  it.effect("many calls run at once", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { send } = yield* connect(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const all = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 50 }, (_, id) => send(call("slow", {}, { id }))), { concurrency: "unbounded" })
      )
      yield* until(() => gate.starts() === 50)
      yield* gate.release
      const answers = yield* Fiber.join(all)
      assert.deepStrictEqual(answers.map(({ response }) => response.id), Array.from({ length: 50 }, (_, id) => id))
    }))

  it.effect("a stream is told that it is cancelled, and then answered, when the endpoint stops", () =>
    Effect.gen(function*() {
      const { endpoint, notified, send } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([])))
      const listening = yield* Effect.forkChild(
        send(request(Revision.method.listen, { notifications: { toolsListChanged: true } }, { id: 7 }))
      )
      yield* until(() => notified.length === 1)
      yield* endpoint.stop
      assert.strictEqual((yield* Fiber.join(listening)).response._tag, "Success")
      assert.deepStrictEqual(notified.map(({ method, params }) => [method, params["requestId"] ?? null]), [
        [Revision.notification.acknowledged, null],
        [Revision.notification.cancelled, 7]
      ])
    }))
})
