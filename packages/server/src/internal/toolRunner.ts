/**
 * Runs a tool: decodes the arguments, runs the handler, encodes what it answers. Everything that depends on the tool
 * alone is made once.
 */
import type * as Content from "@fairlead/protocol/Content"
import type * as Json from "@fairlead/protocol/Json"
import * as Tool from "@fairlead/protocol/Tool"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { encodeBlocks } from "./content.ts"
import type { ResultParts, Run } from "./entry.ts"
import { InvalidOutput, jsonText } from "./invalidOutput.ts"
import { describe } from "./issues.ts"
import { matched } from "./matched.ts"

type AnyHandler = (input: unknown) => Effect.Effect<unknown, unknown>

const allErrors = { errors: "all" } as const

export const makeRunner = (tool: Tool.Any, handler: AnyHandler): Run<Json.Object> => {
  const decode = SchemaParser.decodeUnknownEffect(tool.codec.input.decode)
  const encode = tool.codec.output === undefined
    ? undefined
    : SchemaParser.encodeUnknownEffect(tool.codec.output.encode)
  const encodeFailure = SchemaParser.encodeUnknownEffect(tool.codec.failure.encode)

  const onAnswer = (answer: unknown): Effect.Effect<ResultParts> => {
    const reply = Tool.isReply(answer) ? answer : undefined
    const output = reply === undefined ? answer : reply.output
    if (encode === undefined) {
      if (typeof output === "string") {
        return Effect.succeed({ members: `"content":${textBlock(output)}`, meta: undefined })
      }
      const blocks = reply?.content ?? output as ReadonlyArray<Content.Block>
      return Effect.map(encodeBlocks(blocks), (content) => ({ members: `"content":${content}`, meta: reply?.meta }))
    }
    return matched(encode(output), {
      onSuccess: (encoded) => {
        const structured = jsonText(encoded, `The output of ${tool.name}`)
        const members = (content: string) => `"content":${content},"structuredContent":${structured}`
        return reply?.content === undefined
          ? Effect.succeed({ members: members(mirrorOf(tool, structured)), meta: reply?.meta })
          : Effect.map(encodeBlocks(reply.content), (content) => ({ members: members(content), meta: reply.meta }))
      },
      onFailure: (issue) =>
        Effect.die(new InvalidOutput(`The output of ${tool.name} breaks its schema: ${describe(issue).join("; ")}`))
    })
  }

  const onFailure = (failure: unknown): Effect.Effect<ResultParts> => {
    if (failure instanceof Tool.ToolError) {
      return Effect.map(encodeBlocks(failure.content), (content) => {
        const structured = failure.structured === undefined
          ? ""
          : `,"structuredContent":${jsonText(failure.structured, `What ${tool.name} failed with`)}`
        return refusal(`"content":${content}${structured}`)
      })
    }
    return matched(encodeFailure(failure), {
      onSuccess: (encoded) => {
        const structured = jsonText(encoded, `What ${tool.name} failed with`)
        const text = failure instanceof Error && failure.message !== "" ? failure.message : structured
        return Effect.succeed(refusal(`"content":${textBlock(text)},"structuredContent":${structured}`))
      },
      onFailure: () => Effect.die(failure)
    })
  }

  const cases = {
    onSuccess: onAnswer,
    onFailure: (cause: Cause.Cause<unknown>): Effect.Effect<ResultParts> => {
      const failure = Cause.findError(cause)
      return Result.isSuccess(failure) ? onFailure(failure.success) : Effect.failCause(failure.failure)
    }
  }

  const invoke = (input: Effect.Effect<unknown>): Effect.Effect<ResultParts> =>
    Effect.matchCauseEffect(Effect.flatMap(input, handler), cases)

  const invalidArguments = (issue: SchemaIssue.Issue): Effect.Effect<ResultParts> => {
    const text = `The arguments of ${tool.name} are not valid.\n${describe(issue).join("\n")}`
    return Effect.succeed(refusal(`"content":${textBlock(text)}`))
  }

  return (args) => {
    const input = decode(args)
    if (Exit.isExit(input) && Exit.isSuccess(input)) return invoke(input as Exit.Exit<unknown>)
    // All errors are looked for where there is one: it takes longer.
    return matched(decode(args, allErrors), {
      onSuccess: (input) => invoke(Effect.succeed(input)),
      onFailure: invalidArguments
    })
  }
}

/** The text content that repeats the structured output. */
const mirrorOf = ({ textMirror }: Tool.Any, structured: string): string => {
  if (textMirror === "json") return textBlock(structured)
  if (textMirror === "none") return "[]"
  const { maxLength } = textMirror
  if (structured.length <= maxLength) return textBlock(structured)
  // Not in the middle of a character that is two code units.
  const isSplit = /[\ud800-\udbff]/.test(structured.charAt(maxLength - 1))
  return textBlock(`${structured.slice(0, isSplit ? maxLength - 1 : maxLength)}…`)
}

const refusal = (members: string): ResultParts => ({ members: `${members},"isError":true`, meta: undefined })

const textBlock = (text: string): string => `[{"type":"text","text":${JSON.stringify(text)}}]`
