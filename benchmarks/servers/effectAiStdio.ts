/**
 * `effect/ai`'s server over stdio.
 */
import { NodeStdio } from "@effect/platform-node"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { identity } from "../Requests.ts"
import { registrations } from "./effectAiTools.ts"

const program = McpServer.layerStdio({ ...identity, protocols: [McpProtocol.v2026_07_28], registrations }).pipe(
  Layer.provide(NodeStdio.layer)
)

Effect.runFork(Layer.launch(program))
