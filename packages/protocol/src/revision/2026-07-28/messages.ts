import * as Schema from "effect/Schema"
import { ClientCapabilities, Implementation, ServerCapabilities } from "../../Capabilities.ts"
import { Annotations, Block, Icon, ResourceContents } from "../../Content.ts"
import { AnyObject, mapOf, Meta, open } from "../../internal/open.ts"
import { type ExactNumber, isExactNumber } from "../../Json.ts"
import { isRequestId } from "../../JsonRpc.ts"
import { meta } from "./definition.ts"

const Icons = Schema.optionalKey(Schema.Array(Icon))
const Text = Schema.optionalKey(Schema.String)
const StringMap = mapOf(Schema.String)

/**
 * A request id or progress token: a string or an integer, of any size.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RequestId = Schema.Union([
  Schema.String,
  Schema.Int,
  Schema.declare<ExactNumber>((u): u is ExactNumber => isExactNumber(u) && isRequestId(u), { expected: "an integer" })
])

/**
 * The levels of log messages, least severe first. Deprecated by the revision (SEP-2577), fully functional.
 *
 * @category schemas
 * @since 0.1.0
 */
export const LogLevel = Schema.Literals([
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
])

/**
 * A level of log messages.
 *
 * @category models
 * @since 0.1.0
 */
export type LogLevel = typeof LogLevel.Type

/**
 * The `_meta` of a request.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RequestMeta = open({
  [meta.protocolVersion]: Schema.String,
  [meta.clientCapabilities]: ClientCapabilities,
  [meta.clientInfo]: Schema.optionalKey(Implementation),
  [meta.logLevel]: Schema.optionalKey(LogLevel),
  [meta.progressToken]: Schema.optionalKey(RequestId)
})

/**
 * The `_meta` of a result.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResultMeta = open({ [meta.serverInfo]: Schema.optionalKey(Implementation) })

const params = <Fields extends Schema.Struct.Fields>(fields: Fields) => open({ ...fields, _meta: RequestMeta })

// An absent `resultType` is `complete`, and absent cache fields mean "do not cache": servers of older revisions leave
// them out.
const result = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  open({ ...fields, resultType: Schema.optionalKey(Schema.String), _meta: Schema.optionalKey(ResultMeta) })

const cacheable = {
  ttlMs: Schema.optionalKey(Schema.Int),
  cacheScope: Schema.optionalKey(Schema.Literals(["public", "private"]))
}

const Cursor = Schema.optionalKey(Schema.String)
const listParams = params({ cursor: Cursor })
const list = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  result({ ...fields, ...cacheable, nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String)) })

const retry = {
  inputResponses: Schema.optionalKey(AnyObject),
  requestState: Text
}

/**
 * A tool as a server lists it. The schemas are kept as they came.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tool = open({
  name: Schema.String,
  title: Text,
  description: Text,
  inputSchema: AnyObject,
  outputSchema: Schema.optionalKey(AnyObject),
  annotations: Schema.optionalKey(open({
    title: Text,
    readOnlyHint: Schema.optionalKey(Schema.Boolean),
    destructiveHint: Schema.optionalKey(Schema.Boolean),
    idempotentHint: Schema.optionalKey(Schema.Boolean),
    openWorldHint: Schema.optionalKey(Schema.Boolean)
  })),
  icons: Icons,
  _meta: Meta
})

/**
 * A resource as a server lists it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Resource = open({
  uri: Schema.String,
  name: Schema.String,
  title: Text,
  description: Text,
  mimeType: Text,
  size: Schema.optionalKey(Schema.Int),
  annotations: Schema.optionalKey(Annotations),
  icons: Icons,
  _meta: Meta
})

/**
 * A resource template as a server lists it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceTemplate = open({
  uriTemplate: Schema.String,
  name: Schema.String,
  title: Text,
  description: Text,
  mimeType: Text,
  annotations: Schema.optionalKey(Annotations),
  icons: Icons,
  _meta: Meta
})

/**
 * A prompt as a server lists it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Prompt = open({
  name: Schema.String,
  title: Text,
  description: Text,
  arguments: Schema.optionalKey(Schema.Array(open({
    name: Schema.String,
    title: Text,
    description: Text,
    required: Schema.optionalKey(Schema.Boolean)
  }))),
  icons: Icons,
  _meta: Meta
})

/**
 * A message of a prompt.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptMessage = open({ role: Schema.Literals(["user", "assistant"]), content: Block })

/**
 * What a listener asks to hear of.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SubscriptionFilter = open({
  toolsListChanged: Schema.optionalKey(Schema.Boolean),
  promptsListChanged: Schema.optionalKey(Schema.Boolean),
  resourcesListChanged: Schema.optionalKey(Schema.Boolean),
  resourceSubscriptions: Schema.optionalKey(Schema.Array(Schema.String))
})

/**
 * The result that asks for input: at least one of its two members is there (spec: basic/patterns/mrtr).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequiredResult = open({
  resultType: Schema.Literal("input_required"),
  inputRequests: Schema.optionalKey(
    mapOf(open({ method: Schema.String, params: Schema.optionalKey(AnyObject) }))
  ),
  requestState: Text,
  _meta: Schema.optionalKey(ResultMeta)
})

/**
 * `server/discover`.
 *
 * @category methods
 * @since 0.1.0
 */
export const Discover = {
  params: params({}),
  result: result({
    supportedVersions: Schema.Array(Schema.String),
    capabilities: ServerCapabilities,
    instructions: Text,
    ...cacheable
  })
}

/**
 * `tools/list`.
 *
 * @category methods
 * @since 0.1.0
 */
export const ListTools = { params: listParams, result: list({ tools: Schema.Array(Tool) }) }

/**
 * `tools/call`.
 *
 * @category methods
 * @since 0.1.0
 */
export const CallTool = {
  params: params({ name: Schema.String, arguments: Schema.optionalKey(AnyObject), ...retry }),
  result: result({
    content: Schema.Array(Block),
    structuredContent: Schema.optionalKey(Schema.Unknown),
    isError: Schema.optionalKey(Schema.Boolean)
  })
}

/**
 * `resources/list`.
 *
 * @category methods
 * @since 0.1.0
 */
export const ListResources = { params: listParams, result: list({ resources: Schema.Array(Resource) }) }

/**
 * `resources/templates/list`.
 *
 * @category methods
 * @since 0.1.0
 */
export const ListResourceTemplates = {
  params: listParams,
  result: list({ resourceTemplates: Schema.Array(ResourceTemplate) })
}

/**
 * `resources/read`.
 *
 * @category methods
 * @since 0.1.0
 */
export const ReadResource = {
  params: params({ uri: Schema.String, ...retry }),
  result: result({ contents: Schema.Array(ResourceContents), ...cacheable })
}

/**
 * `prompts/list`.
 *
 * @category methods
 * @since 0.1.0
 */
export const ListPrompts = { params: listParams, result: list({ prompts: Schema.Array(Prompt) }) }

/**
 * `prompts/get`.
 *
 * @category methods
 * @since 0.1.0
 */
export const GetPrompt = {
  params: params({ name: Schema.String, arguments: Schema.optionalKey(StringMap), ...retry }),
  result: result({ description: Text, messages: Schema.Array(PromptMessage) })
}

/**
 * `completion/complete`.
 *
 * @category methods
 * @since 0.1.0
 */
export const Complete = {
  params: params({
    ref: Schema.Union([
      open({ type: Schema.Literal("ref/prompt"), name: Schema.String, title: Text }),
      open({ type: Schema.Literal("ref/resource"), uri: Schema.String })
    ]),
    argument: open({ name: Schema.String, value: Schema.String }),
    context: Schema.optionalKey(open({ arguments: Schema.optionalKey(StringMap) }))
  }),
  result: result({
    completion: open({
      values: Schema.Array(Schema.String),
      total: Schema.optionalKey(Schema.Int),
      hasMore: Schema.optionalKey(Schema.Boolean)
    })
  })
}

/**
 * `subscriptions/listen`.
 *
 * @category methods
 * @since 0.1.0
 */
export const Listen = { params: params({ notifications: SubscriptionFilter }), result: result({}) }
