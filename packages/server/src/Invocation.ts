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
import type * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

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
}>()("@fairlead/server/Invocation") {}

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
