/**
 * Fairlead over stdio.
 */
import { NodeMcpEndpoint } from "@fairlead/node"
import * as Effect from "effect/Effect"
import { endpoint } from "./fairleadTools.ts"

Effect.runFork(NodeMcpEndpoint.launchStdio(endpoint))
