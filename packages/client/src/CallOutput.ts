/**
 * The output of a call or one error: for callers that need the output and want to know, where there is none, whether the
 * call failed, the tool refused, or input is needed. None of it decides to try again.
 *
 * **Example** (The text of any tool's answer)
 *
 * ```ts
 * import { CallOutput, type McpClient } from "@fairlead/client"
 * import { Effect } from "effect"
 *
 * export const ask = (client: McpClient.Client, question: string) =>
 *   client.callDiscovered("ask", { question }).pipe(
 *     Effect.flatMap(CallOutput.requireDiscovered),
 *     Effect.tapError((error) => Effect.logWarning(CallOutput.describe(error), CallOutput.evidence(error)))
 *   )
 * ```
 *
 * @since 0.1.0
 */
import type * as Content from "@fairlead/protocol/Content"
import type * as Json from "@fairlead/protocol/Json"
import type * as Transport from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { CallEnding, InputRequired, ToolFailed } from "./CallEnding.ts"
import type { DiscoveredEnding } from "./McpClient.ts"
import type { McpClientError } from "./McpClientError.ts"

/**
 * Why there is no output: the call failed, the tool refused, or input is needed.
 *
 * @category errors
 * @since 0.1.0
 */
export type Error = McpClientError | ToolFailed | InputRequired

/**
 * What sort of error it is. The set is closed.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "TransportFailure" | "ToolRefusal" | "NeedsInput"

/**
 * The output of a call, or how else it ended.
 *
 * @category accessors
 * @since 0.1.0
 */
export const require = <Output, Failure>(
  ending: CallEnding<Output, Failure>
): Effect.Effect<Output, ToolFailed<Failure> | InputRequired> =>
  ending._tag === "Succeeded" ? Effect.succeed(ending.output) : Effect.fail(ending)

/**
 * The structured output of a discovered tool, null where the tool wrote null; only where it is absent, the text blocks,
 * joined by line breaks, as a JSON string.
 *
 * @category accessors
 * @since 0.1.0
 */
export const requireDiscovered = (
  ending: DiscoveredEnding
): Effect.Effect<Json.Value, ToolFailed<never> | InputRequired> =>
  ending._tag === "Succeeded"
    ? Effect.succeed(Option.getOrElse(ending.output, () => joined(ending.content)))
    : Effect.fail(ending)

const joined = (content: ReadonlyArray<Content.Block>): string =>
  content.flatMap((block) => block.type === "text" ? [block.text] : []).join("\n")

/**
 * What sort of error it is.
 *
 * @category accessors
 * @since 0.1.0
 */
export const kind = (error: Error): Kind => {
  switch (error._tag) {
    case "McpClientError":
      return "TransportFailure"
    case "ToolFailed":
      return "ToolRefusal"
    case "InputRequired":
      return "NeedsInput"
  }
}

/**
 * Whether the server may have acted: it has answered where the tool refused and where input is needed; only a call that
 * failed can leave it open.
 *
 * @category accessors
 * @since 0.1.0
 */
export const evidence = (error: Error): Transport.Evidence =>
  error._tag === "McpClientError" ? error.evidence : "Completed"

/**
 * A line about it: the code and the message of a failed call, the text of a refusal, which the server wrote. Show it or
 * log it, but decide by {@link kind}.
 *
 * @category accessors
 * @since 0.1.0
 */
export const describe = (error: Error): string => {
  if (error._tag === "McpClientError") return `${error.code}: ${error.message}`
  const text = error._tag === "ToolFailed" ? error.text.replaceAll(/\s+/g, " ").trim() : ""
  return text === "" ? error.message : text
}

/**
 * A member of the metadata of the first text block that has it; none while input is needed.
 *
 * @category accessors
 * @since 0.1.0
 */
export const meta = <Output, Failure>(ending: CallEnding<Output, Failure>, key: string): Option.Option<Json.Value> => {
  if (ending._tag === "InputRequired") return Option.none()
  for (const block of ending.content) {
    if (block.type !== "text" || block._meta === undefined || !Object.hasOwn(block._meta, key)) continue
    return Option.some(block._meta[key] as Json.Value)
  }
  return Option.none()
}
