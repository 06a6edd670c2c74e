/**
 * Tool definitions: one value serves the declaration a server lists, the registration of its handler and the typed call
 * of a client. The JSON Schemas, decoders and encoders are made once, with the definition.
 *
 * Not included: handlers (`McpServer.tool`) and calls (`McpClient.call`).
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ClientCapabilities } from "./Capabilities.ts"
import * as Content from "./Content.ts"
import * as HttpRules from "./HttpRules.ts"
import {
  decoderOf,
  definitionName,
  documentOf,
  encoderOf,
  findNotJson,
  findProblem,
  inlined
} from "./internal/jsonCodec.ts"
import * as Json from "./Json.ts"

const TypeId = "~fairlead/protocol/Tool" as const
// A symbol, because an output may hold what a peer sent, in which a string could stand as a key.
const ReplyTypeId: unique symbol = Symbol.for("~fairlead/protocol/Tool/Reply")

/**
 * A tool definition.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tool<
  out Name extends string,
  out Input extends Schema.Top,
  out Output extends Schema.Top | undefined,
  out Failure extends Schema.Top
> {
  readonly [TypeId]: typeof TypeId
  readonly name: Name
  readonly input: Input
  /** Absent for a tool that answers with content alone. */
  readonly output: Output
  readonly failure: Failure
  /** What a server lists: the tool as JSON. */
  readonly declaration: Declaration
  /** The client capabilities without which the tool cannot run. */
  readonly requiredCapabilities: ClientCapabilities | undefined
  /** What of the structured output the text content repeats. */
  readonly textMirror: TextMirror
  /** The HTTP headers that repeat arguments. */
  readonly headers: ReadonlyArray<HttpRules.ParameterHeader>
  readonly codec: Codec<Input, Output, Failure>
}

/**
 * The codecs of a tool, made once: what they decode and encode is what the declaration publishes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Codec<
  out Input extends Schema.Top,
  out Output extends Schema.Top | undefined,
  out Failure extends Schema.Top
> {
  readonly input: Direction<Input>
  readonly output: Output extends Schema.Top ? Direction<Output> : undefined
  readonly failure: Direction<Failure>
}

/**
 * A schema's JSON codec in each direction. Decoding takes a null for an absent optional property; encoding never writes
 * one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Direction<out S extends Schema.Top> {
  readonly decode: Schema.Codec<S["Type"], unknown, S["DecodingServices"], S["EncodingServices"]>
  readonly encode: Schema.Codec<S["Type"], unknown, S["DecodingServices"], S["EncodingServices"]>
}

/**
 * Any tool definition.
 *
 * @category models
 * @since 0.1.0
 */
export type Any = Tool<string, Schema.Top, Schema.Top | undefined, Schema.Top>

/**
 * What the handler of a tool gets.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Input<T extends Any> = T["input"]["Type"]

/**
 * What a caller of a tool gets: the decoded output, or the content blocks of a tool without one.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Output<T extends Any> = T["output"] extends Schema.Top ? T["output"]["Type"]
  : ReadonlyArray<Content.Block>

/**
 * What the handler of a tool answers with: the output, or a {@link Reply} that says more. A tool without an output can
 * answer with a text, which is one block of content.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Answer<T extends Any> =
  | Output<T>
  | Reply<Output<T>>
  | (T["output"] extends Schema.Top ? never : string)

/**
 * The typed failure of a tool.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Failure<T extends Any> = T["failure"]["Type"]

/**
 * The services that the schemas of a tool need to serve a call.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ServerServices<T extends Any> =
  | T["input"]["DecodingServices"]
  | (T["output"] extends Schema.Top ? T["output"]["EncodingServices"] : never)
  | T["failure"]["EncodingServices"]

/**
 * The services that the schemas of a tool need to make a call.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ClientServices<T extends Any> =
  | T["input"]["EncodingServices"]
  | (T["output"] extends Schema.Top ? T["output"]["DecodingServices"] : never)
  | T["failure"]["DecodingServices"]

/**
 * A tool as JSON: what a server lists.
 *
 * @category models
 * @since 0.1.0
 */
export interface Declaration extends Json.Object {
  readonly name: string
  readonly inputSchema: Json.Object
}

/**
 * Hints about what a tool does. They are hints: a client trusts them as far as it trusts the server. An unset hint is
 * left out; `false` is published.
 *
 * @category options
 * @since 0.1.0
 */
export interface Annotations {
  readonly title?: string | undefined
  /** It changes nothing. The spec's default is false. */
  readonly readOnly?: boolean | undefined
  /** It may destroy something. The spec's default is true. */
  readonly destructive?: boolean | undefined
  /** A repeated call with the same arguments changes nothing more. The spec's default is false. */
  readonly idempotent?: boolean | undefined
  /** It reaches beyond the server's own world, such as a web search. The spec's default is true. */
  readonly openWorld?: boolean | undefined
}

/**
 * What the text content of a result repeats of its structured output, for clients and models that read text alone:
 * `json`, all of it (spec: server/tools, Structured Content); `none`; or at most so many characters of it.
 *
 * @category options
 * @since 0.1.0
 */
export type TextMirror = "json" | "none" | { readonly maxLength: number }

/**
 * The options of {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<
  Input extends Schema.Top,
  Output extends Schema.Top | undefined,
  Failure extends Schema.Top
> {
  readonly title?: string | undefined
  /** For the model: what it does, when to use it. */
  readonly description?: string | undefined
  /** The arguments: a schema whose JSON form is an object. Default: no arguments. */
  readonly input?: Input | undefined
  /** The structured output: any schema with a JSON form. Default: none, the handler answers with content blocks. */
  readonly output?: Output | undefined
  /** A failure that the caller gets typed. Default: none. */
  readonly failure?: Failure | undefined
  /** What the text content repeats of the structured output. `Tool.reply` replaces it for one answer. Default: `json`. */
  readonly textMirror?: TextMirror | undefined
  /**
   * Whether the published schemas repeat a shared part wherever it is used, for hosts that drop `$defs` before a model
   * sees them. What contains itself stays a reference, and a schema written by hand stays as it is. Default: false.
   */
  readonly inlineRefs?: boolean | undefined
  readonly annotations?: Annotations | undefined
  readonly icons?: ReadonlyArray<Content.Icon> | undefined
  /** The `_meta` of the declaration. */
  readonly meta?: Json.Object | undefined
  /** The client capabilities without which a call is refused with -32021. Default: none. */
  readonly requiredCapabilities?: ClientCapabilities | undefined
}

/**
 * A definition that cannot be used: which tool, where, and why.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidDefinition extends Data.TaggedError("InvalidDefinition")<{
  readonly tool: string
  /** The part of the definition, such as `input.filter.url`. */
  readonly path: string
  readonly reason: string
}> {
  override get message(): string {
    return `The tool ${JSON.stringify(this.tool)} cannot be defined: ${this.path} is ${this.reason}`
  }
}

/**
 * A failure that a handler reports without a schema for it: content for the model, and structured output if there is
 * some. It becomes a result with `isError`.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolError extends Data.TaggedError("ToolError")<{
  readonly content: ReadonlyArray<Content.Block>
  readonly structured?: Json.Value | undefined
}> {
  override get message(): string {
    return Content.textOf(this.content)
  }
}

/**
 * A {@link ToolError} that says one sentence.
 *
 * @category errors
 * @since 0.1.0
 */
export const error = (text: string): ToolError => new ToolError({ content: [Content.text(text)] })

/**
 * An answer that says more than the output: its own content blocks, or metadata.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reply<out Output> {
  readonly [ReplyTypeId]: typeof ReplyTypeId
  readonly output: Output
  readonly content: ReadonlyArray<Content.Block> | undefined
  readonly meta: Json.Object | undefined
}

/**
 * An output with content blocks of its own in place of its JSON text, or with `_meta` for the result.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reply = <Output>(output: Output, options: {
  readonly content?: ReadonlyArray<Content.Block> | undefined
  readonly meta?: Json.Object | undefined
}): Reply<Output> => ({
  [ReplyTypeId]: ReplyTypeId,
  output,
  content: options.content,
  meta: options.meta
})

/**
 * Whether an answer is a {@link Reply}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isReply = (u: unknown): u is Reply<unknown> => typeof u === "object" && u !== null && ReplyTypeId in u

const documentAnnotation = "~fairlead/protocol/Tool/document"

/**
 * A schema that is published as the JSON Schema given, word for word, as the `input` or the `output` of a tool; inside
 * another schema the document is not looked at. Arguments are decoded with `schema`: by default any object passes, so
 * give one that checks what the document says.
 *
 * **Example** (A hand-written JSON Schema)
 *
 * ```ts
 * import { Tool } from "@fairlead/protocol"
 *
 * const Search = Tool.make("search", {
 *   input: Tool.jsonSchema({
 *     type: "object",
 *     properties: { query: { type: "string", maxLength: 200 } },
 *     required: ["query"],
 *     unevaluatedProperties: false
 *   })
 * })
 * ```
 *
 * @category schemas
 * @since 0.1.0
 */
export const jsonSchema: {
  (document: Json.Object): Schema.Codec<Json.Object>
  <S extends Schema.Top>(document: Json.Object, schema: S): S
} = (document: Json.Object, schema: Schema.Top = anyObject): never =>
  schema.annotate({ [documentAnnotation]: document }) as never

const anyObject = Schema.Record(Schema.String, Schema.Unknown)

/**
 * Asks for an argument to be repeated in the HTTP header `Mcp-Param-<name>`, so that intermediaries can route by it
 * without reading the body. For strings, integers and booleans, never for secrets (spec: streamable-http, Schema
 * Extension).
 *
 * @category schemas
 * @since 0.1.0
 */
export const header = (name: string) => <S extends Schema.Top>(schema: S): S["Rebuild"] =>
  schema.annotate({ [HttpRules.annotation]: name })

const namePattern = /^[A-Za-z0-9_.-]{1,128}$/

/**
 * Defines a tool. A mistake in the definition throws {@link InvalidDefinition}, which names the tool and the reason: a
 * definition stands in source code, and a wrong one cannot be served. Use {@link makeResult} for definitions made from
 * data.
 *
 * The name has 1 to 128 characters of `A-Z a-z 0-9 _ . -`. The input must be an object in JSON. Every part of a schema
 * must have a JSON form; `Schema.instanceOf` alone has none. The JSON Schemas nest at most 64 levels deep.
 *
 * **Example** (A tool with typed input, output and failure)
 *
 * ```ts
 * import { Tool } from "@fairlead/protocol"
 * import { Schema } from "effect"
 *
 * class IndexUnavailable extends Schema.TaggedError<IndexUnavailable>()("IndexUnavailable", {
 *   retryAfterSeconds: Schema.Int
 * }) {}
 *
 * export const Search = Tool.make("search_docs", {
 *   description: "Searches the documentation of the installed packages.",
 *   input: Schema.Struct({ query: Schema.NonEmptyString, limit: Schema.optionalKey(Schema.Int) }),
 *   output: Schema.Struct({ titles: Schema.Array(Schema.String) }),
 *   failure: IndexUnavailable,
 *   annotations: { readOnly: true }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const Name extends string,
  Input extends Schema.Top = Schema.Struct<{}>,
  Output extends Schema.Top | undefined = undefined,
  Failure extends Schema.Top = Schema.Never
>(
  name: Name,
  options: Options<Input, Output, Failure> = {}
): Tool<Name, Input, Output, Failure> => {
  const result = makeResult(name, options)
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

/**
 * Defines a tool, as {@link make}, with a typed failure: for definitions made from data.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeResult = <
  const Name extends string,
  Input extends Schema.Top = Schema.Struct<{}>,
  Output extends Schema.Top | undefined = undefined,
  Failure extends Schema.Top = Schema.Never
>(
  name: Name,
  options: Options<Input, Output, Failure> = {}
): Result.Result<Tool<Name, Input, Output, Failure>, InvalidDefinition> => {
  const input: Schema.Top = options.input ?? Schema.Struct({})
  const output: Schema.Top | undefined = options.output
  const failure: Schema.Top = options.failure ?? Schema.Never

  const fail = (path: string, reason: string) => Result.fail(new InvalidDefinition({ tool: name, path, reason }))

  if (!namePattern.test(name)) return fail("the name", "not 1 to 128 characters of A-Z a-z 0-9 _ . -")
  for (const [part, schema] of [["input", input], ["output", output], ["failure", failure]] as const) {
    const problem = schema === undefined ? undefined : findProblem(schema)
    if (problem !== undefined) return fail([part, ...problem.path].join("."), problem.reason)
  }

  const codec = {
    input: directionOf(input),
    output: output === undefined ? undefined : directionOf(output),
    failure: directionOf(failure)
  }
  const inline = options.inlineRefs ?? false
  const inputSchema = objectDocument(published(input, codec.input, inline))
  if (inputSchema === undefined) return fail("input", "not an object in JSON")
  const outputSchema = output === undefined ? undefined : published(output, codec.output!, inline)
  for (const [part, document] of [["input", inputSchema], ["output", outputSchema]] as const) {
    if (!isKnownDialect(document?.["$schema"])) {
      return fail(`${part}.$schema`, "not JSON Schema 2020-12, the one dialect that is served")
    }
    if (document !== undefined && isDeeper(document, Json.defaultMaxDepth)) {
      return fail(part, `nested deeper than ${Json.defaultMaxDepth} levels`)
    }
  }
  const { textMirror = "json" } = options
  if (typeof textMirror === "object" && (!Number.isInteger(textMirror.maxLength) || textMirror.maxLength < 0)) {
    return fail("textMirror.maxLength", "not a number of characters")
  }
  const plan = HttpRules.plan(inputSchema)
  if (Result.isFailure(plan)) return fail(`input.${plan.failure.path}`, `annotated wrongly: ${plan.failure.reason}`)

  const icons = Content.problemOfIcons(options.icons)
  if (icons !== undefined) return fail("icons", `not usable: ${icons}`)

  const declaration = {
    name,
    ...(options.title === undefined ? {} : { title: options.title }),
    ...(options.description === undefined ? {} : { description: options.description }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(options.annotations === undefined ? {} : { annotations: hints(options.annotations) }),
    ...(options.icons === undefined ? {} : { icons: options.icons as unknown as Json.Value }),
    ...(options.meta === undefined ? {} : { _meta: options.meta })
  }
  const foreign = findNotJson(declaration)
  if (foreign !== undefined) return fail(foreign.join("."), "not JSON")
  const tool: Any = {
    [TypeId]: TypeId,
    name,
    input,
    output,
    failure,
    declaration,
    requiredCapabilities: options.requiredCapabilities,
    textMirror,
    headers: plan.success,
    codec
  }
  return Result.succeed(tool as Tool<Name, Input, Output, Failure>)
}

/**
 * Whether a value is a tool definition.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTool = (u: unknown): u is Any => typeof u === "object" && u !== null && TypeId in u

const directionOf = <S extends Schema.Top>(schema: S): Direction<S> => ({
  decode: decoderOf(schema),
  encode: encoderOf(schema)
})

const published = (schema: Schema.Top, direction: Direction<Schema.Top>, inline: boolean): Json.Object => {
  const document = Schema.resolveAnnotations(schema)?.[documentAnnotation] ??
    schema.ast.annotations?.[documentAnnotation]
  if (Json.isObject(document)) return document
  const derived = documentOf(direction.encode)
  return inline ? inlined(derived) : derived
}

/** The document of an object, with `type` at its root; `undefined` for anything else. */
const objectDocument = (document: Json.Object): Json.Object | undefined => {
  if (document["type"] === "object") return document
  if (document["type"] !== undefined) return undefined
  const alternatives = document["anyOf"] ?? document["oneOf"]
  const isObjects = Array.isArray(alternatives) && alternatives.length > 0 &&
    alternatives.every((alternative: Json.Value) => Json.isObject(alternative) && isObjectSchema(alternative, document))
  return isObjects ? { type: "object", ...document } : undefined
}

const isObjectSchema = (schema: Json.Object, root: Json.Object): boolean => {
  if (schema["type"] === "object") return true
  const ref = schema["$ref"]
  const definitions = root["$defs"]
  const name = definitionName(ref)
  if (name === undefined || !Json.isObject(definitions)) return false
  const target = definitions[name]
  return Json.isObject(target) && target["type"] === "object"
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" && value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1)))

/** A schema that names no dialect is 2020-12 (spec: basic, JSON Schema Usage). */
const isKnownDialect = (dialect: Json.Value | undefined): boolean =>
  dialect === undefined ||
  (typeof dialect === "string" && /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(dialect))

const hints = (annotations: Annotations): Json.Object => ({
  ...(annotations.title === undefined ? {} : { title: annotations.title }),
  ...(annotations.readOnly === undefined ? {} : { readOnlyHint: annotations.readOnly }),
  ...(annotations.destructive === undefined ? {} : { destructiveHint: annotations.destructive }),
  ...(annotations.idempotent === undefined ? {} : { idempotentHint: annotations.idempotent }),
  ...(annotations.openWorld === undefined ? {} : { openWorldHint: annotations.openWorld })
})
