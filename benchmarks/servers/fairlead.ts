/**
 * Fairlead's HTTP listener.
 */
import { NodeMcpEndpoint } from "@fairlead/node"
import { McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { serve } from "../harness/agent.ts"
import { echoTool } from "./fairleadEcho.ts"
import { endpoint } from "./fairleadTools.ts"

const Extra = McpServer.toolHandler(echoTool("another"), ({ text }) => Effect.succeed({ text }))

const program = Layer.effectDiscard(Effect.gen(function*() {
  const { port } = yield* NodeMcpEndpoint.HttpListener
  const server = yield* McpServer.McpServer
  // The tool comes and goes: each is one change.
  const change = Effect.flatMap(
    server.unregister("tool", "another"),
    (was) => was ? Effect.void : Effect.orDie(server.register(Extra))
  )
  serve({ port, tell: () => Effect.runSync(change) })
})).pipe(Layer.provide(NodeMcpEndpoint.layerHttp()), Layer.provide(endpoint))

Effect.runFork(Layer.launch(program))
