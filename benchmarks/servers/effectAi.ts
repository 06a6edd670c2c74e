/**
 * `effect/ai`'s server over HTTP: `--mode shared` is `layerHttp`, anything else its request-scoped form.
 */
import { NodeHttpServer } from "@effect/platform-node"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServer } from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import { serve } from "../harness/agent.ts"
import { identity } from "../Requests.ts"
import { registrations } from "./effectAiTools.ts"
import { mode } from "./settings.ts"

const options = { ...identity, path: "/mcp", protocols: [McpProtocol.v2026_07_28], registrations } as const
const routes = mode === "shared" ? McpServer.layerHttp(options) : McpServer.layerHttpRequestScoped(options)

const program = Layer.effectDiscard(Effect.gen(function*() {
  const { address } = yield* HttpServer
  const { notifications } = yield* McpServer.McpServer
  serve({
    port: "port" in address ? address.port : 0,
    tell: () => Effect.runPromise(notifications["notifications/tools/list_changed"]({}))
  })
})).pipe(
  Layer.provide(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
  Layer.provide(NodeHttpServer.layer(() => Http.createServer(), { port: 0, host: "127.0.0.1" }))
)

Effect.runFork(Layer.launch(program))
