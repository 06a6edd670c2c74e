/**
 * The three endings of a tool call that the server answered: it succeeded, the tool failed, or the server needs input
 * first. `McpClient.callResult` gives them as values; `McpClient.call` fails with the last two.
 *
 * @since 0.1.0
 */
import * as Content from "@fairlead/protocol/Content"
import type * as Json from "@fairlead/protocol/Json"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Continuation } from "./Continuation.ts"
import type { InputResponses } from "./McpClient.ts"
import type { McpClientError } from "./McpClientError.ts"

/**
 * The tool succeeded.
 *
 * @category models
 * @since 0.1.0
 */
export class Succeeded<out Output> extends Data.TaggedClass("Succeeded")<{
  readonly output: unknown
  readonly content: ReadonlyArray<Content.Block>
  readonly meta: Json.Object
}> {
  /** The decoded output; for a tool without one, its content. */
  declare readonly output: Output
  /** The content blocks, as a model would read them. */
  declare readonly content: ReadonlyArray<Content.Block>
  /** The `_meta` of the result; empty where there is none. */
  declare readonly meta: Json.Object
}

/**
 * The tool says that it failed: a result with `isError` (spec: server/tools, Error Handling). It is an error of its own
 * beside `McpClientError`, because the call did arrive and was answered.
 *
 * @category models
 * @since 0.1.0
 */
export class ToolFailed<out Failure = unknown> extends Data.TaggedError("ToolFailed")<{
  readonly content: ReadonlyArray<Content.Block>
  readonly structured: Option.Option<Json.Value>
  readonly failure: Option.Option<unknown>
  readonly meta: Json.Object
}> {
  /** What the tool says about it, for a model or a person. */
  declare readonly content: ReadonlyArray<Content.Block>
  /** The structured output as it came: none where it is absent, null where the tool wrote null. */
  declare readonly structured: Option.Option<Json.Value>
  /** The typed failure, where the tool has one and the structured output is it. */
  declare readonly failure: Option.Option<Failure>
  /** The `_meta` of the result; empty where there is none. */
  declare readonly meta: Json.Object

  /** One line for logs, without what the server wrote; that is in {@link ToolFailed.text}. */
  override get message(): string {
    return "The tool reported a failure"
  }

  /** The text blocks of the content, one line each. */
  get text(): string {
    return Content.textOf(this.content)
  }
}

/**
 * One thing that the server asks of the client.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRequest {
  readonly method: string
  readonly params: Json.Object
}

/**
 * The server needs input before it can answer (spec: basic/patterns/mrtr). The call has not failed; it is not over: it
 * goes on with `resume` here, and with `McpClient.resume` and the continuation in another process.
 *
 * **Example** (Going on in the same process)
 *
 * ```ts
 * import { InputHandlers, type McpClient } from "@fairlead/client"
 * import { Tool } from "@fairlead/protocol"
 * import { Effect } from "effect"
 *
 * const Deploy = Tool.make("deploy")
 *
 * export const deploy = (client: McpClient.Client) =>
 *   client.call(Deploy, {}).pipe(
 *     Effect.catchTag("InputRequired", (paused) =>
 *       paused.resume({ confirm: InputHandlers.accept({ sure: true }) }))
 *   )
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export class InputRequired<out Answer = unknown> extends Data.TaggedError("InputRequired")<{
  /** What is asked, by the server's keys. It can be empty: then the state alone is to be sent again. */
  readonly requests: { readonly [key: string]: InputRequest }
  /** To be sent back as it is with the responses. */
  readonly requestState: Option.Option<string>
  /** What `McpClient.resume` goes on with, here or in another process. */
  readonly continuation: Continuation
  readonly resume: (responses: InputResponses) => Effect.Effect<unknown, unknown>
}> {
  /**
   * Goes on with the call by the client that made it: exactly one object for each request, or it fails with
   * `InvalidInputResponses`. It gives what the call would have given, and fails with `InputRequired` when the server asks
   * again. It keeps the services and the correlation of the call; deadline, progress and all else are of whoever runs it.
   */
  declare readonly resume: (
    responses: InputResponses
  ) => Effect.Effect<Answer, McpClientError | InputRequired<Answer>>

  override get message(): string {
    return "The server requires input"
  }
}

/**
 * How a tool call that was answered has ended.
 *
 * @category models
 * @since 0.1.0
 */
export type CallEnding<Output, Failure = never> =
  | Succeeded<Output>
  | ToolFailed<Failure>
  | InputRequired<Succeeded<Output> | ToolFailed<Failure>>
