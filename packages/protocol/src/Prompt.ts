/**
 * Prompt definitions: one value serves the declaration a server lists, the registration of its handler and the typed get
 * of a client. Arguments are text on the wire; a schema decodes them.
 *
 * Not included: handlers (`McpServer.prompt`) and gets (`McpClient.getPrompt`).
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as Content from "./Content.ts"
import { findNotJson, findProblem } from "./internal/jsonCodec.ts"
import { type TextFields, textFieldsOf } from "./internal/textFields.ts"
import type * as Json from "./Json.ts"
import type { PromptMessage } from "./Messages.ts"

const TypeId = "~fairlead/protocol/Prompt" as const

/**
 * A prompt definition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Prompt<out Name extends string, out Args extends Schema.Top> {
  readonly [TypeId]: typeof TypeId
  readonly name: Name
  readonly args: Args
  /** What a server lists: the prompt as JSON. */
  readonly declaration: Json.Object
  /** The arguments as they are listed. */
  readonly arguments: ReadonlyArray<Argument>
  /** Between the arguments, which are text, and what the handler gets. */
  readonly codec: Schema.Codec<Args["Type"], unknown, Args["DecodingServices"], Args["EncodingServices"]>
}

/**
 * Any prompt definition.
 *
 * @category models
 * @since 0.1.0
 */
export type Any = Prompt<string, Schema.Top>

/**
 * What the handler of a prompt gets.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Args<P extends Any> = P["args"]["Type"]

/**
 * An argument as a server lists it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Argument {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly required: boolean
}

/**
 * A message of a prompt: a role and one block of content.
 *
 * @category models
 * @since 0.1.0
 */
export type Message = typeof PromptMessage.Type

/**
 * What a handler answers with: a text, which is one message of the user, messages, or messages with a description.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer = string | ReadonlyArray<Message> | {
  readonly description?: string | undefined
  readonly messages: ReadonlyArray<Message>
}

/**
 * The options of {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<Args extends Schema.Top> {
  readonly title?: string | undefined
  readonly description?: string | undefined
  /**
   * The arguments: a struct whose fields are decoded from text. `title` and `description` annotations of a field are
   * listed; an optional field is an argument that is not required. Default: none.
   */
  readonly args?: Args | undefined
  readonly icons?: ReadonlyArray<Content.Icon> | undefined
  /** The `_meta` of the declaration. */
  readonly meta?: Json.Object | undefined
}

/**
 * A definition that cannot be used: which prompt, and why.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidDefinition extends Data.TaggedError("InvalidDefinition")<{
  readonly prompt: string
  readonly reason: string
}> {
  override get message(): string {
    return `The prompt ${JSON.stringify(this.prompt)} cannot be defined: ${this.reason}`
  }
}

/**
 * What a handler fails with when it cannot make a prompt of these arguments: the client gets -32602 with the message, so
 * put nothing secret in it.
 *
 * @category errors
 * @since 0.1.0
 */
export class PromptError extends Data.TaggedError("PromptError")<{
  readonly message: string
}> {}

/**
 * Defines a prompt. A mistake in the definition throws {@link InvalidDefinition}; {@link makeResult} gives it as a value.
 *
 * **Example** (A prompt with typed arguments)
 *
 * ```ts
 * import { Prompt } from "@fairlead/protocol"
 * import { Schema } from "effect"
 *
 * export const Review = Prompt.make("review", {
 *   description: "Asks for a review of a change.",
 *   args: Schema.Struct({
 *     change: Schema.String.annotate({ description: "The number of the change." }),
 *     depth: Schema.optionalKey(Schema.Literals(["quick", "thorough"]))
 *   })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Name extends string, Args extends Schema.Top = Schema.Struct<{}>>(
  name: Name,
  options: Options<Args> = {}
): Prompt<Name, Args> => {
  const result = makeResult(name, options)
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

/**
 * Defines a prompt, with a typed failure: for definitions made from data.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeResult = <const Name extends string, Args extends Schema.Top = Schema.Struct<{}>>(
  name: Name,
  options: Options<Args> = {}
): Result.Result<Prompt<Name, Args>, InvalidDefinition> => {
  const fail = (reason: string) => Result.fail(new InvalidDefinition({ prompt: name, reason }))
  if (name === "") return fail("the name is empty")
  // In UTF-8, a header among others, it would be another name.
  if (!name.isWellFormed()) return fail("the name has half of a surrogate pair")
  const args: Schema.Top = options.args ?? Schema.Struct({})
  const problem = findProblem(args)
  if (problem !== undefined) {
    return fail(`${problem.path.length === 0 ? "args" : `the argument ${problem.path.join(".")}`} is ${problem.reason}`)
  }
  const struct = textFieldsOf(args)
  if (struct === undefined || struct.rest !== undefined) return fail("its arguments are not a struct")
  const structured = struct.fields.find(({ isText }) => !isText)
  if (structured !== undefined) return fail(`the argument ${structured.name} cannot be written as a text`)
  const icons = Content.problemOfIcons(options.icons)
  if (icons !== undefined) return fail(icons)
  const listed = argumentsOf(struct)
  const declaration = {
    name,
    ...(options.title === undefined ? {} : { title: options.title }),
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(listed.length === 0 ? {} : { arguments: listed as unknown as Json.Value }),
    ...(options.icons === undefined ? {} : { icons: options.icons as unknown as Json.Value }),
    ...(options.meta === undefined ? {} : { _meta: options.meta })
  }
  const foreign = findNotJson(declaration)
  if (foreign !== undefined) return fail(`${foreign.join(".")} is not JSON`)
  const prompt: Any = {
    [TypeId]: TypeId,
    name,
    args,
    arguments: listed,
    declaration,
    codec: Schema.toCodecStringTree(args) as Any["codec"]
  }
  return Result.succeed(prompt as Prompt<Name, Args>)
}

/**
 * Whether a value is a prompt definition.
 *
 * @category guards
 * @since 0.1.0
 */
export const isPrompt = (u: unknown): u is Any => typeof u === "object" && u !== null && TypeId in u

/**
 * A message of the user: a text, or a block of content.
 *
 * @category constructors
 * @since 0.1.0
 */
export const user = (content: string | Content.Block): Message => ({ role: "user", content: blockOf(content) })

/**
 * A message of the assistant: a text, or a block of content.
 *
 * @category constructors
 * @since 0.1.0
 */
export const assistant = (content: string | Content.Block): Message => ({
  role: "assistant",
  content: blockOf(content)
})

const blockOf = (content: string | Content.Block): Content.Block =>
  typeof content === "string" ? Content.text(content) : content

const argumentsOf = ({ fields }: TextFields): ReadonlyArray<Argument> =>
  fields.map(({ encoded, isOptional, name, own }) => {
    const title = annotation(own, "title") ?? annotation(encoded, "title")
    const description = annotation(own, "description") ?? annotation(encoded, "description")
    return {
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      required: !isOptional
    }
  })

/** An annotation of a type: on the key, on its last check, on itself, or on what an optional field has when it is there. */
const annotation = (ast: SchemaAST.AST, key: "title" | "description"): string | undefined => {
  const found = ast.context?.annotations?.[key] ?? ast.checks?.at(-1)?.annotations?.[key] ?? ast.annotations?.[key]
  if (typeof found === "string") return found
  if (ast._tag !== "Union") return undefined
  const members = ast.types.filter((type) => type._tag !== "Undefined")
  return members.length === 1 && ast.types.length > 1 ? annotation(members[0]!, key) : undefined
}
