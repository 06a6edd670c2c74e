/**
 * Resource definitions: one value serves the declaration a server lists, the registration of its handler and the typed
 * read of a client. A resource has one URI; a template has many, whose parameters a schema decodes.
 *
 * Not included: handlers (`McpServer.resource`) and reads (`McpClient.readResource`).
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Content from "./Content.ts"
import { findNotJson, findProblem } from "./internal/jsonCodec.ts"
import { textFieldsOf } from "./internal/textFields.ts"
import { isMediaType, isUri } from "./internal/uri.ts"
import type * as Json from "./Json.ts"
import * as UriTemplate from "./UriTemplate.ts"

const TypeId = "~fairlead/protocol/Resource" as const
const TemplateTypeId = "~fairlead/protocol/Resource/Template" as const

/**
 * A resource with one URI.
 *
 * @category models
 * @since 0.1.0
 */
export interface Resource {
  readonly [TypeId]: typeof TypeId
  readonly uri: string
  /** What a server lists: the resource as JSON. */
  readonly declaration: Json.Object
  readonly mimeType: string | undefined
  readonly cache: CacheHint | undefined
}

/**
 * Resources whose URIs a template describes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Template<out Params extends Schema.Top> {
  readonly [TemplateTypeId]: typeof TemplateTypeId
  readonly uriTemplate: UriTemplate.UriTemplate
  readonly params: Params
  /** What a server lists: the template as JSON. */
  readonly declaration: Json.Object
  readonly mimeType: string | undefined
  readonly cache: CacheHint | undefined
  /** Between the values of the variables, which are text, and the parameters. */
  readonly codec: Schema.Codec<Params["Type"], unknown, Params["DecodingServices"], Params["EncodingServices"]>
}

/**
 * Any resource template.
 *
 * @category models
 * @since 0.1.0
 */
export type AnyTemplate = Template<Schema.Top>

/**
 * What the handler of a template gets.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Params<T extends AnyTemplate> = T["params"]["Type"]

/**
 * A parameter that names something in a folder and cannot leave it: not empty, not `.` or `..`, without `/`, `\` and
 * NUL. A variable such as `{name}` alone is no such promise: percent-encoded, a slash can be part of its value.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Segment: Schema.String = Schema.String.check(
  Schema.makeFilter(
    (text) => !(text === "" || text === "." || text === ".." || forbidden.test(text)),
    { expected: "one segment of a path" }
  )
)

// oxlint-disable-next-line no-control-regex
const forbidden = /[/\\\u0000]/

/**
 * What a handler answers with: a text, bytes, or contents that say more, such as several at once.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer = string | Uint8Array | ReadonlyArray<Content.ResourceContents>

/**
 * How long a client may keep an answer, and whether it may share it between users (spec: server/utilities/caching).
 *
 * @category models
 * @since 0.1.0
 */
export interface CacheHint {
  /** How long it stays fresh. Default: 0, it is stale at once. */
  readonly ttl?: Duration.Input | undefined
  /** `public` answers may be shared between users, `private` ones not. Default: `private`. */
  readonly scope?: "public" | "private" | undefined
}

/**
 * The options that resources and templates share.
 *
 * @category options
 * @since 0.1.0
 */
export interface CommonOptions {
  /** The name, for programs. */
  readonly name: string
  /** The name that people see. */
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** The media type; of a template only if all its resources have it. */
  readonly mimeType?: string | undefined
  readonly annotations?: Content.Annotations | undefined
  readonly icons?: ReadonlyArray<Content.Icon> | undefined
  /** The `_meta` of the declaration. */
  readonly meta?: Json.Object | undefined
  /** Default: private and stale at once. */
  readonly cache?: CacheHint | undefined
}

/**
 * The options of {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options extends CommonOptions {
  /** The size in bytes, if it is known. */
  readonly size?: number | undefined
}

/**
 * The options of {@link template}.
 *
 * @category options
 * @since 0.1.0
 */
export interface TemplateOptions<Params extends Schema.Top> extends CommonOptions {
  /**
   * The parameters: a struct with one field for each variable, decoded from text. Variables of a query may be absent, so
   * their fields are optional. Default: a text for each variable.
   */
  readonly params?: Params | undefined
}

/**
 * A definition that cannot be used: which URI, and why.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidDefinition extends Data.TaggedError("InvalidDefinition")<{
  readonly uri: string
  readonly reason: string
}> {
  override get message(): string {
    return `The resource ${JSON.stringify(this.uri)} cannot be defined: ${this.reason}`
  }
}

/**
 * What a handler fails with when there is nothing at the URI: the client gets -32602 with the URI, as for a URI that no
 * resource has (spec: server/resources, Error Handling).
 *
 * @category errors
 * @since 0.1.0
 */
export class NotFound extends Data.TaggedError("NotFound")<{}> {
  override get message(): string {
    return "There is no such resource"
  }
}

/**
 * Defines a resource. A mistake in the definition throws {@link InvalidDefinition}; {@link makeResult} gives it as a
 * value.
 *
 * **Example** (A resource)
 *
 * ```ts
 * import { Resource } from "@fairlead/protocol"
 *
 * export const Manual = Resource.make("docs://manual", {
 *   name: "manual",
 *   mimeType: "text/markdown",
 *   cache: { ttl: "10 minutes", scope: "public" }
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (uri: string, options: Options): Resource => orThrow(makeResult(uri, options))

/**
 * Defines a resource, with a typed failure: for definitions made from data.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeResult = (uri: string, options: Options): Result.Result<Resource, InvalidDefinition> => {
  if (!isUri(uri)) return Result.fail(new InvalidDefinition({ uri, reason: "it is not a URI with a scheme" }))
  const problem = problemOf(options)
  if (problem !== undefined) return Result.fail(new InvalidDefinition({ uri, reason: problem }))
  const { size } = options
  if (size !== undefined && (!Number.isSafeInteger(size) || size < 0)) {
    return Result.fail(new InvalidDefinition({ uri, reason: "the size is not a number of bytes" }))
  }
  return Result.succeed({
    [TypeId]: TypeId,
    uri,
    declaration: { uri, ...declared(options), ...(size === undefined ? {} : { size }) },
    mimeType: options.mimeType,
    cache: options.cache
  })
}

/**
 * Defines resources by a URI template (RFC 6570, see `UriTemplate` for what can be matched). The parameters are decoded
 * from the text of the URI by a schema. A mistake in the definition throws {@link InvalidDefinition}. Where a parameter
 * becomes part of a path, give it {@link Segment}.
 *
 * **Example** (A template with typed parameters)
 *
 * ```ts
 * import { Resource } from "@fairlead/protocol"
 * import { Schema } from "effect"
 *
 * export const Page = Resource.template("book://{title}/pages/{page}", {
 *   name: "page",
 *   params: Schema.Struct({ title: Schema.String, page: Schema.Int })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const template = <Params extends Schema.Top = Schema.$Record<Schema.String, Schema.String>>(
  uriTemplate: string,
  options: TemplateOptions<Params>
): Template<Params> => orThrow(templateResult(uriTemplate, options))

/**
 * Defines resources by a template, with a typed failure: for definitions made from data.
 *
 * @category constructors
 * @since 0.1.0
 */
export const templateResult = <Params extends Schema.Top = Schema.$Record<Schema.String, Schema.String>>(
  uriTemplate: string,
  options: TemplateOptions<Params>
): Result.Result<Template<Params>, InvalidDefinition> => {
  const fail = (reason: string) => Result.fail(new InvalidDefinition({ uri: uriTemplate, reason }))
  const parsed = UriTemplate.make(uriTemplate)
  if (Result.isFailure(parsed)) return fail(parsed.failure.reason)
  const params: Schema.Top = options.params ?? Schema.Record(Schema.String, Schema.String)
  const problem = findProblem(params)
  if (problem !== undefined) {
    return fail(
      `${problem.path.length === 0 ? "params" : `the parameter ${problem.path.join(".")}`} is ${problem.reason}`
    )
  }
  const mistake = problemOf(options) ?? variableMismatch(params, parsed.success)
  if (mistake !== undefined) return fail(mistake)
  const result: AnyTemplate = {
    [TemplateTypeId]: TemplateTypeId,
    uriTemplate: parsed.success,
    params,
    declaration: { uriTemplate, ...declared(options) },
    mimeType: options.mimeType,
    cache: options.cache,
    codec: Schema.toCodecStringTree(params) as AnyTemplate["codec"]
  }
  return Result.succeed(result as Template<Params>)
}

/**
 * Whether a value is a resource definition.
 *
 * @category guards
 * @since 0.1.0
 */
export const isResource = (u: unknown): u is Resource => typeof u === "object" && u !== null && TypeId in u

/**
 * Whether a value is a resource template.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTemplate = (u: unknown): u is AnyTemplate => typeof u === "object" && u !== null && TemplateTypeId in u

/**
 * The contents that an answer stands for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const contentsOf = (
  uri: string,
  mimeType: string | undefined,
  answer: Answer
): ReadonlyArray<Content.ResourceContents> => {
  const own = mimeType === undefined ? { uri } : { uri, mimeType }
  if (typeof answer === "string") return [{ ...own, text: answer }]
  return answer instanceof Uint8Array ? [{ ...own, blob: answer }] : answer
}

const orThrow = <A>(result: Result.Result<A, InvalidDefinition>): A => {
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

const problemOf = (options: CommonOptions): string | undefined => {
  const { annotations, icons, mimeType, name } = options
  if (name === "") return "the name is empty"
  if (mimeType !== undefined && !isMediaType(mimeType)) return "the media type is none"
  const foreign = findNotJson(declared(options))
  if (foreign !== undefined) return `${foreign.join(".")} is not JSON`
  return Content.problemOfIcons(icons) ?? Content.problemOfAnnotations(annotations)
}

const declared = (options: CommonOptions): Json.Object => ({
  name: options.name,
  ...(options.title === undefined ? {} : { title: options.title }),
  ...(options.description === undefined ? {} : { description: options.description }),
  ...(options.mimeType === undefined ? {} : { mimeType: options.mimeType }),
  ...(options.annotations === undefined ? {} : { annotations: options.annotations as Json.Value }),
  ...(options.icons === undefined ? {} : { icons: options.icons as unknown as Json.Value }),
  ...(options.meta === undefined ? {} : { _meta: options.meta })
})

/** Each field of a struct is a variable, and each variable a field that takes what the variable has. */
const variableMismatch = (params: Schema.Top, template: UriTemplate.UriTemplate): string | undefined => {
  const struct = textFieldsOf(params)
  if (struct === undefined) return "its parameters are not a struct"
  const extra = struct.fields.find(({ name }) => !template.variables.includes(name))
  if (extra !== undefined) return `the parameter ${extra.name} is no variable of the template`
  const variables = template.parts.flatMap((part) => part._tag === "Expression" ? part.variables : [])
  for (const { explode, name } of variables) {
    const field = struct.fields.find((field) => field.name === name) ?? struct.rest
    if (field === undefined) return `the variable ${name} has no parameter`
    if (explode && !field.isList) return `the variable ${name} is a list, and its parameter is no list of texts`
    if (!explode && !field.isText) return `the parameter ${name} cannot be written as a text`
  }
  return undefined
}
