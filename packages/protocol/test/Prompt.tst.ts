/** What a user of `Prompt` relies on the compiler for. It is compiled with the tests and never run. */
import { type Content, Prompt } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { expectTypeOf } from "vitest"

const Review = Prompt.make("review", {
  args: Schema.Struct({
    change: Schema.Int,
    depth: Schema.optionalKey(Schema.Literals(["quick", "thorough"]))
  })
})
const Plain = Prompt.make("plain")

// The name is a literal, and the arguments are those of the schema, on the decoded side.
expectTypeOf(Review.name).toEqualTypeOf<"review">()
expectTypeOf<Prompt.Args<typeof Review>>().toEqualTypeOf<{
  readonly change: number
  readonly depth?: "quick" | "thorough"
}>()
expectTypeOf<Prompt.Args<typeof Plain>>().toEqualTypeOf<{}>()
expectTypeOf(Prompt.make("a" as string).name).toEqualTypeOf<string>()

// Any prompt is one of `Any`.
const prompts: ReadonlyArray<Prompt.Any> = [Review, Plain]
expectTypeOf(prompts).toEqualTypeOf<ReadonlyArray<Prompt.Any>>()

// A message has one block, and an answer is a text, messages, or messages with a description.
expectTypeOf(Prompt.user).parameter(0).toEqualTypeOf<string | Content.Block>()
export const answers: ReadonlyArray<Prompt.Answer> = [
  "a",
  [Prompt.user("a"), Prompt.assistant("b")],
  { messages: [], description: "c" }
]
// @ts-expect-error: one block, not several
export const several: Prompt.Message = { role: "user", content: [] }
// @ts-expect-error: there is no system in a prompt
export const system: Prompt.Message = { role: "system", content: { type: "text", text: "a" } }
