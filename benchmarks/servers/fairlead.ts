/**
 * Fairlead's HTTP listener.
 */
import { NodeMcpEndpoint } from "@fairlead/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { serve } from "../harness/agent.ts"
import { endpoint } from "./fairleadTools.ts"

const program = Layer.effectDiscard(
  Effect.map(NodeMcpEndpoint.HttpListener, ({ port }) => serve({ port }))
).pipe(Layer.provide(NodeMcpEndpoint.layerHttp()), Layer.provide(endpoint))

Effect.runFork(Layer.launch(program))
