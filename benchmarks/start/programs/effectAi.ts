/**
 * A small server of `effect/ai`.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServer } from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Http from "node:http"
import { ready } from "./ready.ts"

const importedAt = performance.now()
const Text = Schema.Struct({ text: Schema.String })
const tools = Toolkit.make(Tool.make("echo", { description: "Gives the text back.", parameters: Text, success: Text }))
const handlers = tools.toLayer({ echo: ({ text }) => Effect.succeed({ text }) })
const routes = McpServer.layerHttp({
  name: "bench",
  version: "1.0.0",
  path: "/mcp",
  protocols: [McpProtocol.v2026_07_28],
  registrations: McpServer.toolkit(tools).pipe(Layer.provide(handlers))
})
Effect.runFork(Layer.launch(
  Layer.effectDiscard(
    Effect.map(HttpServer, ({ address }) => ready("port" in address ? address.port : 0, importedAt))
  ).pipe(
    Layer.provide(HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true })),
    Layer.provide(NodeHttpServer.layer(() => Http.createServer(), { port: 0, host: "127.0.0.1" }))
  )
))
