/**
 * Fairlead's HTTP listener with options that stand around every request: `--mode middleware`, `access`, `idempotency` or
 * `all`.
 */
import { NodeMcpEndpoint } from "@fairlead/node"
import { Idempotency, McpEndpoint, type Middleware } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { serve } from "../harness/agent.ts"
import { identity } from "../Requests.ts"
import { tools } from "./fairleadTools.ts"
import { limit, mode } from "./settings.ts"

const has = (option: string) => mode === option || mode === "all"

const passing: Middleware.Middleware = (_request, next) => next
const allowing: McpEndpoint.AccessPolicy = { visible: () => true, callable: () => true }

const endpoint = tools.pipe(
  McpEndpoint.serve({
    ...identity,
    maxBodyBytes: limit,
    maxResponseBytes: limit,
    access: has("access") ? () => allowing : undefined,
    middleware: [...(has("middleware") ? [passing] : []), ...(has("idempotency") ? [Idempotency.middleware()] : [])]
  }),
  Layer.provide(Idempotency.layerMemory())
)

const program = Layer.effectDiscard(
  Effect.map(NodeMcpEndpoint.HttpListener, ({ port }) => serve({ port }))
).pipe(Layer.provide(NodeMcpEndpoint.layerHttp()), Layer.provide(endpoint))

Effect.runFork(Layer.launch(program))
