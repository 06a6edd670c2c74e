/**
 * Content blocks: what tools answer with and prompts consist of. Binary content is a `Uint8Array` here; base64 exists
 * only on the wire.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AnyObject, Meta, open } from "./internal/open.ts"
import { isMediaType, isUri } from "./internal/uri.ts"

/**
 * An icon: an https or data URI, with what is known of its form (spec: basic, Icons).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Icon = open({
  src: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  sizes: Schema.optionalKey(Schema.Array(Schema.String)),
  theme: Schema.optionalKey(Schema.Literals(["light", "dark"]))
})

/**
 * An icon.
 *
 * @category models
 * @since 0.1.0
 */
export type Icon = typeof Icon.Type

/**
 * Why icons cannot be published, if so: a source that is no http, https or data URI, or a size that is neither "any" nor
 * such as "48x48" (spec: basic, Icons). Definitions and endpoints check theirs; what a peer sends is not checked.
 *
 * @category validation
 * @since 0.1.0
 */
export const problemOfIcons = (icons: ReadonlyArray<Icon> | undefined): string | undefined => {
  for (const { sizes = [], src } of icons ?? []) {
    if (!/^(?:https?:\/\/|data:)/i.test(src) || !URL.canParse(src)) {
      return "the source of an icon is no http, https or data URI"
    }
    if (!sizes.every((size) => /^(?:any|[1-9]\d*x[1-9]\d*)$/.test(size))) {
      return "the size of an icon is neither any nor a width and a height such as 48x48"
    }
  }
  return undefined
}

/**
 * Hints about content: for whom it is, how much it matters (0 to 1) and when it changed (ISO 8601).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Annotations = open({
  audience: Schema.optionalKey(Schema.Array(Schema.Literals(["user", "assistant"]))),
  priority: Schema.optionalKey(Schema.Finite),
  lastModified: Schema.optionalKey(Schema.String)
})

/**
 * Hints about content.
 *
 * @category models
 * @since 0.1.0
 */
export type Annotations = typeof Annotations.Type

/**
 * Why annotations cannot be published, if so: a priority that is not between 0 and 1, or a time of change that is not in
 * ISO 8601 (spec: server/resources, Annotations). Definitions check theirs; what a peer sends is not checked.
 *
 * @category validation
 * @since 0.1.0
 */
export const problemOfAnnotations = (annotations: Annotations | undefined): string | undefined => {
  const { lastModified, priority } = annotations ?? {}
  if (priority !== undefined && !(priority >= 0 && priority <= 1)) return "the priority is not between 0 and 1"
  return lastModified === undefined ||
      (/^\d{4}-\d{2}-\d{2}/.test(lastModified) && !Number.isNaN(Date.parse(lastModified)))
    ? undefined
    : "the time of the last change is not in ISO 8601"
}

const common = { annotations: Schema.optionalKey(Annotations), _meta: Meta }

/**
 * A block of text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Text = open({ type: Schema.Literal("text"), text: Schema.String, ...common })

/**
 * An image.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Image = open({
  type: Schema.Literal("image"),
  data: Schema.Uint8ArrayFromBase64,
  mimeType: Schema.String,
  ...common
})

/**
 * A recording.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Audio = open({
  type: Schema.Literal("audio"),
  data: Schema.Uint8ArrayFromBase64,
  mimeType: Schema.String,
  ...common
})

/**
 * A reference to a resource; it need not be one that the server lists.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceLink = open({
  type: Schema.Literal("resource_link"),
  uri: Schema.String,
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  mimeType: Schema.optionalKey(Schema.String),
  size: Schema.optionalKey(Schema.Int),
  icons: Schema.optionalKey(Schema.Array(Icon)),
  ...common
})

/**
 * The contents of a resource that are text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextResourceContents = open({
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  text: Schema.String,
  _meta: Meta
})

/**
 * The contents of a resource that are bytes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const BlobResourceContents = open({
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  blob: Schema.Uint8ArrayFromBase64,
  _meta: Meta
})

/**
 * The contents of a resource: text or bytes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceContents = Schema.Union([TextResourceContents, BlobResourceContents])

/**
 * The contents of a resource: text or bytes.
 *
 * @category models
 * @since 0.1.0
 */
export type ResourceContents = typeof ResourceContents.Type

/**
 * A resource that travels inside the content.
 *
 * @category schemas
 * @since 0.1.0
 */
export const EmbeddedResource = open({
  type: Schema.Literal("resource"),
  resource: ResourceContents,
  ...common
})

/**
 * One block of content.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Block = Schema.Union([Text, Image, Audio, ResourceLink, EmbeddedResource])

/**
 * One block of content.
 *
 * @category models
 * @since 0.1.0
 */
export type Block = typeof Block.Type

/**
 * Why the contents of a resource cannot be sent, if so: a URI or a media type that is none (spec: server/resources). A
 * server checks what its handlers answer with; what a peer sends is not checked.
 *
 * @category validation
 * @since 0.1.0
 */
export const problemOfResource = ({ mimeType, uri }: ResourceContents): string | undefined =>
  isUri(uri) ? problemOfMediaType(mimeType) : "the URI is none"

/**
 * Why a block cannot be sent, if so: a URI, a media type or a size that is none, or annotations or icons that cannot be
 * published (spec: server/tools, server/prompts). A server checks what its handlers answer with; what a peer sends is not
 * checked.
 *
 * @category validation
 * @since 0.1.0
 */
export const problemOfBlock = (block: Block): string | undefined => {
  const problem = problemOfAnnotations(block.annotations)
  if (problem !== undefined) return problem
  switch (block.type) {
    case "text":
      return undefined
    case "image":
    case "audio":
      return problemOfMediaType(block.mimeType)
    case "resource":
      return problemOfResource(block.resource)
    case "resource_link":
      if (!isUri(block.uri)) return "the URI is none"
      if (block.size !== undefined && !(block.size >= 0)) return "the size is not a number of bytes"
      return problemOfMediaType(block.mimeType) ?? problemOfIcons(block.icons)
  }
}

const problemOfMediaType = (mimeType: string | undefined): string | undefined =>
  mimeType === undefined || isMediaType(mimeType) ? undefined : "the media type is none"

/**
 * What every kind of block can have beside its content.
 *
 * @category options
 * @since 0.1.0
 */
export interface BlockOptions {
  readonly annotations?: Annotations | undefined
  readonly meta?: { readonly [key: string]: unknown } | undefined
}

const withOptions = (options: BlockOptions | undefined) => ({
  ...(options?.annotations === undefined ? {} : { annotations: options.annotations }),
  ...(options?.meta === undefined ? {} : { _meta: options.meta })
})

/**
 * A block of text.
 *
 * **Example** (Answering with text)
 *
 * ```ts
 * import { Content } from "@fairlead/protocol"
 *
 * const block = Content.text("Deployed.", { annotations: { audience: ["user"] } })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (text: string, options?: BlockOptions): typeof Text.Type => ({
  type: "text",
  text,
  ...withOptions(options)
})

/**
 * An image, from its bytes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const image = (data: Uint8Array, mimeType: string, options?: BlockOptions): typeof Image.Type => ({
  type: "image",
  data,
  mimeType,
  ...withOptions(options)
})

/**
 * A recording, from its bytes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const audio = (data: Uint8Array, mimeType: string, options?: BlockOptions): typeof Audio.Type => ({
  type: "audio",
  data,
  mimeType,
  ...withOptions(options)
})

/**
 * A reference to a resource.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resourceLink = (
  uri: string,
  name: string,
  options?: BlockOptions & {
    readonly title?: string | undefined
    readonly description?: string | undefined
    readonly mimeType?: string | undefined
    readonly size?: number | undefined
    readonly icons?: ReadonlyArray<Icon> | undefined
  }
): typeof ResourceLink.Type => ({
  type: "resource_link",
  uri,
  name,
  ...(options?.title === undefined ? {} : { title: options.title }),
  ...(options?.description === undefined ? {} : { description: options.description }),
  ...(options?.mimeType === undefined ? {} : { mimeType: options.mimeType }),
  ...(options?.size === undefined ? {} : { size: options.size }),
  ...(options?.icons === undefined ? {} : { icons: options.icons }),
  ...withOptions(options)
})

/**
 * A resource that travels inside the content.
 *
 * @category constructors
 * @since 0.1.0
 */
export const embeddedResource = (
  resource: ResourceContents,
  options?: BlockOptions
): typeof EmbeddedResource.Type => ({ type: "resource", resource, ...withOptions(options) })

/**
 * The text of the text blocks, one line each; other blocks have none.
 *
 * @category accessors
 * @since 0.1.0
 */
export const textOf = (blocks: ReadonlyArray<Block>): string =>
  blocks.flatMap((block) => block.type === "text" && typeof block.text === "string" ? [block.text] : []).join("\n")

/**
 * An object of any members, such as `_meta`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Metadata = AnyObject
