/**
 * Fairlead's client over a transport.
 */
import { McpClient } from "@fairlead/client"
import type { Transport } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Echo } from "../servers/fairleadEcho.ts"
import { serveEffects } from "./calls.ts"
import { args } from "./settings.ts"

/** Serves loops of its calls. */
export const serveFairlead = <E>(transport: Layer.Layer<Transport.Transport, E>) =>
  Effect.flatMap(
    McpClient.McpClient,
    (client) => serveEffects(Effect.suspend(() => client.call(Echo, args)), (output) => output)
  ).pipe(Effect.provide(McpClient.layer().pipe(Layer.provide(transport))))
