/**
 * The same server, imported from the packages instead of their modules.
 */
import { NodeMcpEndpoint } from "@fairlead/node"
import { Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import { Effect, Layer, Schema } from "effect"
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
