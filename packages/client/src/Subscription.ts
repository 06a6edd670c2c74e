/**
 * What `McpClient.listen` opens: a stream of what changes at a server (spec: basic/patterns/subscriptions). The same
 * change waits once, however often it came; when more different ones wait than the buffer holds, they become one
 * {@link Missed}.
 *
 * | setting | default |
 * | --- | --- |
 * | `bufferSize` | 1,024 different notifications |
 * | `reconnect` | off |
 * | `reconnect.base` | 500 milliseconds before the first attempt, doubled for each |
 * | `reconnect.cap` | 30 seconds |
 * | `reconnect.attempts` | 10 in a row |
 *
 * **Example** (Following the tools of a server)
 *
 * ```ts
 * import type { McpClient } from "@fairlead/client"
 * import { Effect, Stream } from "effect"
 *
 * export const follow = (client: McpClient.Client) =>
 *   Effect.scoped(Effect.gen(function*() {
 *     const subscription = yield* client.listen({ toolsListChanged: true }, { reconnect: true })
 *     yield* Stream.runForEach(subscription.stream, ({ _tag }) => Effect.log(_tag))
 *   }))
 * ```
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { McpClientError } from "./McpClientError.ts"

/**
 * What to hear of.
 *
 * @category options
 * @since 0.1.0
 */
export interface Filter {
  readonly toolsListChanged?: boolean | undefined
  readonly promptsListChanged?: boolean | undefined
  readonly resourcesListChanged?: boolean | undefined
  /** The URIs of resources; a server may tell of resources below them as well. */
  readonly resourceSubscriptions?: ReadonlyArray<string> | undefined
}

/**
 * How a stream that was lost is opened again.
 *
 * @category options
 * @since 0.1.0
 */
export interface Reconnect {
  /** The wait before the first attempt; it doubles with each, and half of it is random. Default: 500 milliseconds. */
  readonly base?: Duration.Input | undefined
  /** The longest wait. Default: 30 seconds. */
  readonly cap?: Duration.Input | undefined
  /**
   * How many attempts may fail in a row. One that held for less than `cap` counts as failed. At least 1. Default: 10.
   */
  readonly attempts?: number | undefined
}

/**
 * The options of `McpClient.listen`.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /** How many different notifications wait for a reader. At least 1. Default: 1,024. */
  readonly bufferSize?: number | undefined
  /**
   * Opens the stream again when it is lost, and tells of the gap with {@link Missed}. A stream that the server ended, or
   * that the deadline or a token ended, stays ended. Default: off.
   */
  readonly reconnect?: boolean | Reconnect | undefined
}

/**
 * The list of tools has changed.
 *
 * @category models
 * @since 0.1.0
 */
export class ToolsListChanged extends Data.TaggedClass("ToolsListChanged")<{}> {}

/**
 * The list of prompts has changed.
 *
 * @category models
 * @since 0.1.0
 */
export class PromptsListChanged extends Data.TaggedClass("PromptsListChanged")<{}> {}

/**
 * The list of resources, or that of resource templates, has changed.
 *
 * @category models
 * @since 0.1.0
 */
export class ResourcesListChanged extends Data.TaggedClass("ResourcesListChanged")<{}> {}

/**
 * A resource has changed.
 *
 * @category models
 * @since 0.1.0
 */
export class ResourceUpdated extends Data.TaggedClass("ResourceUpdated")<{ readonly uri: string }> {}

/**
 * Anything may have changed: the stream was lost and opened again, or more changes waited than the buffer holds. Read
 * again what you keep.
 *
 * @category models
 * @since 0.1.0
 */
export class Missed extends Data.TaggedClass("Missed")<{}> {}

/**
 * What a subscription tells.
 *
 * @category models
 * @since 0.1.0
 */
export type Notification =
  | ToolsListChanged
  | PromptsListChanged
  | ResourcesListChanged
  | ResourceUpdated
  | Missed

/**
 * An open stream. Any fiber can read it; each notification goes to one reader.
 *
 * How it ends shows after all notifications: when the server ended it the stream is done; when it was lost, cancelled, or
 * its deadline passed, it fails with `ConnectionClosed`, `Cancelled` or `TimedOut`. Then nothing is held any more.
 *
 * @category models
 * @since 0.1.0
 */
export interface Subscription {
  /** What of the filter the server honours; compare it with what was asked. After a reconnect it can be another. */
  readonly confirmed: Filter
  readonly stream: Stream.Stream<Notification, McpClientError>
  /**
   * The next notification, or none when the wait ran out; nothing is lost by that, and the stream stays open. Fails with
   * `Cause.Done` when the server ended the stream.
   */
  readonly next: (wait: Duration.Input) => Effect.Effect<Option.Option<Notification>, McpClientError | Cause.Done>
}
