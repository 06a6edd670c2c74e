/**
 * A small server of Fairlead.
 */
import * as NodeMcpEndpoint from "@fairlead/node/NodeMcpEndpoint"
import * as Tool from "@fairlead/protocol/Tool"
import * as McpEndpoint from "@fairlead/server/McpEndpoint"
import * as McpServer from "@fairlead/server/McpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { ready } from "./ready.ts"

const importedAt = performance.now()
const Text = Schema.Struct({ text: Schema.String })
const Echo = Tool.make("echo", { description: "Gives the text back.", input: Text, output: Text })
Effect.runFork(Layer.launch(
  Layer.effectDiscard(Effect.map(NodeMcpEndpoint.HttpListener, ({ port }) => ready(port, importedAt))).pipe(
    Layer.provide(NodeMcpEndpoint.layerHttp()),
    Layer.provide(
      McpServer.tool(Echo, ({ text }) => Effect.succeed({ text })).pipe(
        McpEndpoint.serve({ name: "bench", version: "1.0.0" })
      )
    )
  )
))
