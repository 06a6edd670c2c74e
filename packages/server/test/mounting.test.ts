import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Revision, Tool } from "@fairlead/protocol"
import { HttpApp, Invocation, McpEndpoint, McpServer, WebHandler } from "@fairlead/server"
import { TestRequest } from "@fairlead/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { createServer } from "node:http"
import { eventsOf, open, send } from "./support/http.ts"
import { makeGate, until } from "./support/serve.ts"
import { call, request } from "./support/wire.ts"

const greet = McpServer.tool(
  Tool.make("greet"),
  () => Effect.as(Invocation.progress({ progress: 1 }), [Content.text("Hello")])
)
const endpoint = greet.pipe(McpEndpoint.serve({ name: "test", version: "1.0.0" }))

describe("an endpoint mounted in a server", () => {
  it.live("that drains first gives its listeners their final result before the server closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        McpEndpoint.drainFirst(HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true }))
          .pipe(
            Layer.provideMerge(endpoint),
            Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
          ),
        scope
      )
      const { address } = Context.get(services, HttpServer.HttpServer)
      assert(address._tag === "InetAddressV4")
      const url = `http://127.0.0.1:${address.port}/mcp`
      const stream = yield* open(
        url,
        request("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: "listen" })
      )
      yield* until(() => stream.text().includes("acknowledged"))
      let ended = false
      stream.response.on("end", () => {
        ended = true
      })
      yield* Scope.close(scope, Exit.void)
      yield* until(() => ended)
      const last = eventsOf(stream.text()).at(-1) as { readonly id: string; readonly result: Record<string, unknown> }
      assert.strictEqual(last.id, "listen")
      assert.strictEqual(last.result["resultType"], "complete")
    }))

  it.live("that drains first interrupts after its grace what still runs, and the server is closed then", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const gate = makeGate()
      const slow = McpServer.tool(Tool.make("slow"), () => Effect.as(gate.run, []))
      const services = yield* Layer.buildWithScope(
        McpEndpoint.drainFirst(HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true }))
          .pipe(
            Layer.provideMerge(
              slow.pipe(McpEndpoint.serve({ name: "test", version: "1.0.0", cancellationGrace: "100 millis" }))
            ),
            Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
          ),
        scope
      )
      const { address } = Context.get(services, HttpServer.HttpServer)
      assert(address._tag === "InetAddressV4")
      const url = `http://127.0.0.1:${address.port}/mcp`
      const answer = yield* Effect.forkChild(send(url, call("slow")))
      yield* gate.started
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* until(() => closing.pollUnsafe() !== undefined || gate.ends() === 1)
      assert.strictEqual(gate.ends(), 1)
      assert.strictEqual((yield* Fiber.join(answer)).json.error.code, Revision.codes.internalError)
      yield* Fiber.join(closing)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(send(url, call("slow")))))
    }))
})

describe("a buffered handler", () => {
  it.effect(
    verifies("http/promise/buffered_listen_406", "http/handle", "http/promise/handle_drops_progress")(
      "answers with JSON, without what was said on the way, and refuses streams"
    ),
    () =>
      Effect.gen(function*() {
        const services = yield* Layer.build(endpoint)
        const handler = yield* Effect.provideContext(WebHandler.makeBuffered, services)
        const called = TestRequest.make("tools/call", { name: "greet" }, {
          meta: { [Revision.meta.progressToken]: 1 }
        })
        const answer = yield* Effect.promise(() => handler(called.toWeb()))
        assert.strictEqual(answer.headers.get("content-type"), "application/json")
        const listen = TestRequest.make("subscriptions/listen", { notifications: { toolsListChanged: true } })
        const refused = yield* Effect.promise(() => handler(listen.toWeb()))
        assert.strictEqual(refused.status, 406)
        const onlyEvents = TestRequest.make("tools/call", { name: "greet" }, {
          headers: { accept: "text/event-stream" }
        })
        assert.strictEqual((yield* Effect.promise(() => handler(onlyEvents.toWeb()))).status, 406)
      })
  )
})
