/**
 * The content that handlers answer with, checked and as it travels.
 */
import * as Content from "@fairlead/protocol/Content"
import { PromptMessage } from "@fairlead/protocol/Messages"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { InvalidOutput } from "./invalidOutput.ts"
import { describe } from "./issues.ts"
import { matched } from "./matched.ts"

/** Encodes a list, of which each part has to be what the spec asks for beyond its form. */
const encoderOf = <A>(schema: Schema.Codec<A, unknown>, problemOf: (value: A) => string | undefined) => {
  const encode = SchemaParser.encodeUnknownEffect(Schema.Array(schema))
  return (values: ReadonlyArray<A>, what: string): Effect.Effect<string> =>
    matched(encode(values), {
      onSuccess: (encoded) => {
        for (const [at, value] of values.entries()) {
          const problem = problemOf(value)
          if (problem !== undefined) return invalid(what, `${at}: ${problem}`)
        }
        return Effect.succeed(JSON.stringify(encoded))
      },
      onFailure: (issue) => invalid(what, describe(issue).join("; "))
    })
}

const invalid = (what: string, problem: string) => Effect.die(new InvalidOutput(`${what} is not valid: ${problem}`))

const encodeAll = encoderOf(Content.Block, Content.problemOfBlock)

export const encodeBlocks = (blocks: ReadonlyArray<Content.Block>): Effect.Effect<string> =>
  // Text alone has no bytes to encode, and nothing that could be wrong.
  blocks.every(isPlainText) ? Effect.succeed(JSON.stringify(blocks)) : encodeAll(blocks, "The content")

const isPlainText = ({ _meta, annotations, text, type }: Content.Block): boolean =>
  type === "text" && typeof text === "string" && annotations === undefined && _meta === undefined

export const encodeMessages = encoderOf(PromptMessage, ({ content }) => Content.problemOfBlock(content))

export const encodeContents = encoderOf(Content.ResourceContents, Content.problemOfResource)
