/**
 * What a handler knows of the request it serves, and what it can tell the client while it runs.
 *
 * Everything here came over the wire or was made for this request: correlation, idempotency key and client info are the
 * client's word and authorize nothing.
 *
 * **Example** (Reporting progress)
 *
 * ```ts
 * import { Content, Tool } from "@fairlead/protocol"
 * import { Invocation, McpServer } from "@fairlead/server"
 * import { Effect } from "effect"
 *
 * const Reindex = Tool.make("reindex", { description: "Builds the index again." })
 *
 * export const layer = McpServer.tool(Reindex, () =>
 *   Effect.gen(function*() {
 *     for (let done = 1; done <= 3; done++) {
 *       yield* Invocation.progress({ progress: done, total: 3 })
 *     }
 *     return [Content.text("Done.")]
 *   }))
 * ```
 *
 * @since 0.1.0
 */
import type * as Call from "@fairlead/protocol/Call"
import type * as Capabilities from "@fairlead/protocol/Capabilities"
import type { InputRequest } from "@fairlead/protocol/InputRequest"
import type * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import type * as Messages from "@fairlead/protocol/Messages"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { deprecated } from "./internal/deprecated.ts"
import { fromEffect } from "./internal/logging.ts"

/**
 * The request a handler serves. `R` of a handler may have it; registration takes it out again, so outside a handler a
 * program that needs it does not compile.
 *
 * @category services
 * @since 0.1.0
 */
export class Invocation extends Context.Service<Invocation, {
  /** The id the client gave the request: unique only among its own requests under way. */
  readonly requestId: JsonRpc.RequestId
  /** An id of this run, unique in the process and new on each retry. */
  readonly invocationId: string
  readonly method: string
  /** The correlation that finds this request in the logs of both ends; never absent. */
  readonly correlation: string
  /** The client's promise that requests with the same key are the same request. */
  readonly idempotencyKey: string | undefined
  readonly clientInfo: Capabilities.Implementation | undefined
  /** What the client declared on this request, and on no other. */
  readonly clientCapabilities: Capabilities.ClientCapabilities
  /** The whole `_meta` of the request. */
  readonly meta: Json.Object
  /** Who asks, as the endpoint's context function says (`Invocation.Principal`). */
  readonly principal: string | undefined
  /** How long the request may still take. */
  readonly remaining: Effect.Effect<Duration.Duration>
  /** Completes when nobody waits for the answer any more: the client has gone or the deadline has passed. */
  readonly cancelled: Effect.Effect<void>
  /** The same, as the signal that other libraries take. */
  readonly signal: AbortSignal
  /** See {@link progress}. */
  readonly progress: (progress: Call.Progress) => Effect.Effect<void>
  /** See {@link log}. */
  readonly log: (level: Messages.LogLevel, data: Json.Value, logger?: string) => Effect.Effect<void>
  /** What `Input` is made of. */
  readonly input: InputRound
}>()("@fairlead/server/Invocation") {}

/**
 * One run of a handler that asks for input: what `Input` is made of.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRound {
  /** The client's answer, as it came, or the end of the round. */
  readonly ask: (key: string, request: InputRequest) => Effect.Effect<Json.Object>
  /** Asks again: the answer that is there does not fit. */
  readonly askAgain: (key: string, request: InputRequest) => Effect.Effect<never>
  /** Ends the round with these requests and what is kept for the next. */
  readonly require: (
    requests: Readonly<Record<string, InputRequest>>,
    kept: Json.Value | undefined
  ) => Effect.Effect<never>
  /** Runs an effect once over all rounds. */
  readonly step: <A, E, R, R2>(
    key: string,
    effect: Effect.Effect<A, E, R>,
    encode: (value: A) => Effect.Effect<Json.Value, never, R2>,
    decode: (value: Json.Value) => Effect.Effect<A, never, R2>
  ) => Effect.Effect<A, E, R | R2>
  readonly responses: Readonly<Record<string, Json.Object>>
  readonly kept: Json.Value | undefined
  /** Whether the round has ended, and what still runs of the handler is not seen. */
  readonly closed: boolean
}

/**
 * Who asks: a name that the endpoint's context function gives the request, such as the subject of a verified token.
 *
 * @category references
 * @since 0.1.0
 */
export const Principal: Context.Reference<string | undefined> = Context.Reference<string | undefined>(
  "@fairlead/server/Invocation/Principal",
  { defaultValue: () => undefined }
)

/**
 * Tells the client how far the request has come. Without a progress token from the client it does nothing. `progress`
 * has to grow: a report that does not is left out, as is one after the answer (spec: basic/patterns/progress). Waits
 * while the client does not read.
 *
 * @category combinators
 * @since 0.1.0
 */
export const progress = (progress: Call.Progress): Effect.Effect<void, never, Invocation> =>
  Effect.flatMap(Invocation, (invocation) => invocation.progress(progress))

/**
 * Sends a log message to the client, if its request asked for messages of this level and the endpoint has `logging` on.
 * Prefer your own logs.
 *
 * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
 * @category combinators
 * @since 0.1.0
 */
export const log = (
  level: Messages.LogLevel,
  data: Json.Value,
  logger?: string
): Effect.Effect<void, never, Invocation> =>
  Effect.flatMap(
    Invocation,
    (invocation) => Effect.andThen(deprecated("Invocation.log"), invocation.log(level, data, logger))
  )

/**
 * Sends what handlers log with Effect to the clients that ask for it, beside the loggers that are there: the text of
 * the message, without cause and annotations. While a client does not read, its messages are left out.
 *
 * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
 * @category layers
 * @since 0.1.0
 */
export const layerLogger: Layer.Layer<never> = Layer.unwrap(Effect.andThen(
  deprecated("Invocation.layerLogger"),
  Effect.promise(async () => {
    // Every server imports this module, and few need the loggers and all that they import.
    const Formatter = await import("effect/Formatter")
    const Logger = await import("effect/Logger")
    const logger = Logger.make(({ fiber, logLevel, message }) => {
      const invocation = Context.getOrUndefined(fiber.context, Invocation)
      if (invocation === undefined) return
      const parts = Array.isArray(message) ? message : [message]
      const text = parts.map((part) => typeof part === "string" ? part : Formatter.format(part)).join(" ")
      if (waiting.has(invocation)) return
      waiting.add(invocation)
      Effect.runFork(
        Effect.ensuring(invocation.log(fromEffect(logLevel), text), Effect.sync(() => waiting.delete(invocation)))
      )
    })
    return Logger.layer([logger], { mergeWithExisting: true })
  })
))

/** Requests whose client does not read: a logger cannot wait for it, so what is logged meanwhile is left out. */
const waiting = new WeakSet<Invocation["Service"]>()
