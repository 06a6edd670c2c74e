/**
 * What a server can ask its client for in the middle of a request, and what a client answers: a form or a visit to a URL
 * (elicitation), a sample of a language model, or the roots of the file system (spec: client/elicitation,
 * client/sampling, client/roots).
 *
 * Sampling and roots are deprecated by the revision (SEP-2577) and fully functional.
 *
 * Not included: asking (`Input` of the server) and answering (input handlers of the client).
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type { ClientCapabilities } from "./Capabilities.ts"
import { decoderOf, documentOf, encoderOf, findProblem } from "./internal/jsonCodec.ts"
import { AnyObject, Meta, open } from "./internal/open.ts"
import * as Json from "./Json.ts"
import { inputMethod } from "./Revision.ts"

/**
 * A request as it travels, without an id: it is part of a result.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputRequest {
  readonly method: string
  readonly params: Json.Object
}

/**
 * What a user did with an elicitation; `content` is there for an accepted form.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ElicitResult = open({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: Schema.optionalKey(AnyObject)
})

/**
 * What a language model said.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SamplingResult = open({
  role: Schema.Literals(["user", "assistant"]),
  content: Schema.Unknown,
  model: Schema.String,
  stopReason: Schema.optionalKey(Schema.String)
})

/**
 * A root: a `file:` URI that the client works in.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Root = open({ uri: Schema.String, name: Schema.optionalKey(Schema.String), _meta: Meta })

/**
 * The roots of a client.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RootsResult = open({ roots: Schema.Array(Root) })

/**
 * What to sample a language model with: messages and a bound, and the rest as the protocol has it (spec:
 * client/sampling).
 *
 * @category models
 * @since 0.1.0
 */
export interface Sampling {
  readonly messages: ReadonlyArray<Json.Object>
  readonly maxTokens: number
  readonly systemPrompt?: string | undefined
  readonly temperature?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly modelPreferences?: Json.Object | undefined
  readonly metadata?: Json.Object | undefined
  readonly tools?: ReadonlyArray<Json.Object> | undefined
  readonly toolChoice?: Json.Object | undefined
}

/**
 * A request for a form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const form = (message: string, requestedSchema: Json.Object): InputRequest => ({
  method: inputMethod.elicit,
  params: { mode: "form", message, requestedSchema }
})

/**
 * A request to visit a URL.
 *
 * @category constructors
 * @since 0.1.0
 */
export const url = (message: string, url: string): InputRequest => ({
  method: inputMethod.elicit,
  params: { mode: "url", message, url }
})

/**
 * A request to sample a language model.
 *
 * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
 * @category constructors
 * @since 0.1.0
 */
export const sampling = (options: Sampling): InputRequest => ({
  method: inputMethod.sample,
  params: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Json.Object
})

const messageKinds = new Set(["text", "image", "audio", "tool_use", "tool_result"])

/**
 * Whether it is the content of a message of a sampling: a text, an image, audio, a use of a tool or its result, or several
 * of them (spec: client/sampling, Message Content).
 *
 * @category guards
 * @since 0.1.0
 */
export const isMessageContent = (u: unknown): boolean => {
  const blocks: ReadonlyArray<unknown> = Array.isArray(u) ? u : [u]
  return blocks.length > 0 &&
    blocks.every((block) =>
      Json.isObject(block as Json.Value) && messageKinds.has(String((block as Json.Object)["type"]))
    )
}

/**
 * What is wrong with the messages of a sampling, if anything: their roles and content, results of tools beside something
 * else, or uses of tools that the next message does not answer (spec: client/sampling, Message Content Constraints).
 *
 * @category accessors
 * @since 0.1.0
 */
export const problemOfMessages = (messages: ReadonlyArray<Json.Object>): string | undefined => {
  // The uses of tools that the next message has to answer.
  let open = new Set<Json.Value | undefined>()
  for (const [at, { content, role }] of messages.entries()) {
    if (role !== "user" && role !== "assistant") return `message ${at} has another role than user and assistant`
    if (!isMessageContent(content)) {
      return `message ${at} has no blocks, or one that is none of ${[...messageKinds].join(", ")}`
    }
    const all = (Array.isArray(content) ? content : [content]) as ReadonlyArray<Json.Object>
    const ids = (type: string, key: string) => all.filter((block) => block["type"] === type).map((block) => block[key])
    const results = ids("tool_result", "toolUseId")
    if (results.length > 0 && (role !== "user" || results.length < all.length)) {
      return `message ${at} has results of tools beside something else`
    }
    if (results.length !== open.size || !results.every((id) => open.has(id))) {
      return `message ${at} does not answer the uses of tools before it`
    }
    open = new Set(ids("tool_use", "id"))
    if (open.size > 0 && role !== "assistant") return `message ${at} uses tools and is not the assistant's`
  }
  return open.size > 0 ? "the last message uses tools that nothing answers" : undefined
}

/**
 * A request for the roots.
 *
 * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
 * @category constructors
 * @since 0.1.0
 */
export const roots: InputRequest = { method: inputMethod.listRoots, params: {} }

/**
 * The client capabilities that a request needs.
 *
 * @category accessors
 * @since 0.1.0
 */
export const capabilitiesOf = ({ method, params }: InputRequest): ClientCapabilities => {
  switch (method) {
    case inputMethod.elicit:
      return { elicitation: params["mode"] === "url" ? { url: {} } : { form: {} } }
    case inputMethod.sample:
      return { sampling: params["tools"] === undefined && params["toolChoice"] === undefined ? {} : { tools: {} } }
    default:
      return { roots: {} }
  }
}

/**
 * A form: the schema that is sent and the codec of its answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Form<out S extends Schema.Top> {
  readonly requestedSchema: Json.Object
  readonly codec: Schema.Codec<S["Type"], unknown, S["DecodingServices"], S["EncodingServices"]>
}

/**
 * A schema that no form can express: where, and why.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidForm extends Data.TaggedError("InvalidForm")<{
  readonly path: string
  readonly reason: string
}> {
  override get message(): string {
    return `A form cannot ask for ${this.path}: ${this.reason}`
  }
}

/**
 * Makes a form of a schema. A form is flat: an object of texts, numbers, booleans, and choices of one or several among
 * texts (spec: client/elicitation, Requested Schema).
 *
 * Fails with {@link InvalidForm} for anything else, such as a nested object or a pattern, and for a `Schema.Redacted`:
 * secrets are not asked for in a form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeForm = <S extends Schema.Top>(schema: S): Result.Result<Form<S>, InvalidForm> => {
  const problem = findProblem(schema)
  if (problem !== undefined) {
    return Result.fail(new InvalidForm({ path: problem.path.join("."), reason: problem.reason }))
  }
  const fail = (path: string, reason: string) => Result.fail(new InvalidForm({ path, reason }))
  const secret = findSecret(schema.ast)
  if (secret !== undefined) return fail(secret, "it is a secret, and a form shows what is filled in")
  const document = documentOf(encoderOf(schema))
  if (document["type"] !== "object") return fail("the whole", "it is not an object")
  const properties = document["properties"] ?? {}
  if (!Json.isObject(properties)) return fail("the whole", "it has no properties")
  for (const key of Object.keys(document)) {
    if (!formKeywords.has(key)) return fail("the whole", `it has ${key}`)
  }
  const flat: Record<string, Json.Object> = {}
  for (const [name, property] of Object.entries(properties)) {
    if (!Json.isObject(property)) return fail(name, "it is not a schema")
    const field = withChoices(property)
    const reason = problemOf(field)
    if (reason !== undefined) return fail(name, reason)
    flat[name] = field
  }
  const { required } = document
  return Result.succeed({
    requestedSchema: { type: "object", properties: flat, ...(required === undefined ? {} : { required }) },
    codec: decoderOf(schema)
  })
}

/** The name of a property that is redacted. */
const findSecret = (root: SchemaAST.AST): string | undefined => {
  const seen = new Set<SchemaAST.AST>()
  const visit = (ast: SchemaAST.AST, name: string): string | undefined => {
    if (seen.has(ast)) return undefined
    seen.add(ast)
    if (isRedacted(ast)) return name
    for (const [inner, at] of partsOf(ast)) {
      const found = visit(inner, at ?? name)
      if (found !== undefined) return found
    }
    return undefined
  }
  return visit(root, "the whole")
}

/** Effect names what a declaration stands for. */
const isRedacted = ({ annotations }: SchemaAST.AST): boolean => {
  const representation = annotations?.["representation"]
  return typeof representation === "object" && representation !== null && "id" in representation &&
    representation.id === "effect/schema/Redacted"
}

/** What an AST is made of, with the names of properties. */
const partsOf = (ast: SchemaAST.AST): ReadonlyArray<readonly [part: SchemaAST.AST, name?: string]> => {
  const encoded = (ast.encoding ?? []).map(({ to }) => [to] as const)
  switch (ast._tag) {
    case "Objects":
      return [...encoded, ...ast.propertySignatures.map(({ name, type }) => [type, String(name)] as const)]
    case "Union":
      return [...encoded, ...ast.types.map((type) => [type] as const)]
    case "Declaration":
      return [...encoded, ...ast.typeParameters.map((type) => [type] as const)]
    default:
      return encoded
  }
}

const formKeywords = new Set(["type", "properties", "required", "title", "description"])
const described = ["type", "title", "description", "default"]
const formats = new Set(["email", "uri", "date", "date-time"])
const keywords: Readonly<Record<string, ReadonlySet<string>>> = {
  string: new Set([...described, "minLength", "maxLength", "format", "enum", "enumNames", "oneOf"]),
  number: new Set([...described, "minimum", "maximum"]),
  integer: new Set([...described, "minimum", "maximum"]),
  boolean: new Set(described),
  array: new Set([...described, "items", "minItems", "maxItems"])
}

/** Choices with titles, in the form that the revision has for them: of one among them, or of several. */
const withChoices = (property: Json.Object): Json.Object => {
  const { anyOf, items, ...rest } = property
  if (rest["type"] === "array" && Json.isObject(items)) {
    const choices = titledChoices(items["anyOf"])
    return choices === undefined || Object.keys(items).length > 1 ? property : { ...rest, items: { anyOf: choices } }
  }
  const choices = titledChoices(anyOf)
  return choices === undefined ? property : { type: "string", ...rest, oneOf: choices }
}

/** The members of a union of single texts; one without a title is shown as it is. */
const titledChoices = (members: Json.Value | undefined): ReadonlyArray<Json.Object> | undefined => {
  if (!Array.isArray(members)) return undefined
  const choices: Array<Json.Object> = []
  for (const member of members as ReadonlyArray<Json.Value>) {
    if (!Json.isObject(member) || member["type"] !== "string" || !Array.isArray(member["enum"])) return undefined
    if (Object.keys(member).some((key) => !choiceKeywords.has(key))) return undefined
    const { title } = member
    for (const value of member["enum"] as ReadonlyArray<Json.Value>) {
      choices.push({ const: value, title: typeof title === "string" ? title : value })
    }
  }
  return choices
}

const choiceKeywords = new Set(["type", "enum", "title"])

/** Why a property cannot be part of a form. */
const problemOf = (property: Json.Object): string | undefined => {
  const { format, items, type } = property
  const allowed = typeof type === "string" ? keywords[type] : undefined
  if (allowed === undefined) return "it is none of string, number, integer, boolean and a list of choices"
  const foreign = Object.keys(property).find((key) => !allowed.has(key))
  if (foreign !== undefined) return `it has ${foreign}`
  if (format !== undefined && !formats.has(String(format))) return `it has the format ${String(format)}`
  if (type === "array" && !(Json.isObject(items) && isChoices(items))) {
    return "it is a list of something else than choices"
  }
  return undefined
}

const isChoices = (items: Json.Object): boolean =>
  (items["type"] === "string" && Array.isArray(items["enum"]) && Object.keys(items).length === 2) ||
  (Array.isArray(items["anyOf"]) && items["anyOf"].every((choice) => Json.isObject(choice) && "const" in choice))
