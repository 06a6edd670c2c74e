/** Sample values of the revision's definitions: the smallest legal one and one with every member. */
import { Revision } from "@fairlead/protocol"

type Json = { readonly [key: string]: unknown }

const version = Revision.latest.version
const icons = [{ src: "https://a.test/i.png", mimeType: "image/png", sizes: ["48x48", "any"], theme: "dark" }, {
  src: "data:,"
}]
const implementation = {
  name: "harbour",
  version: "1.0.0",
  title: "Harbour",
  description: "A harbour",
  websiteUrl: "https://a.test",
  icons
}
const annotations = { audience: ["user", "assistant"], priority: 0.5, lastModified: "2026-01-01T00:00:00Z" }
const extra = { annotations, _meta: { "com.example/a": { b: [1] } } }

const requestMeta = {
  [Revision.meta.protocolVersion]: version,
  [Revision.meta.clientCapabilities]: {}
}
const fullRequestMeta = {
  [Revision.meta.protocolVersion]: version,
  [Revision.meta.clientCapabilities]: {
    elicitation: { form: {}, url: {} },
    sampling: { context: {}, tools: {} },
    roots: {},
    experimental: { a: { b: 1 } },
    extensions: { "com.example/a": { c: 2 } }
  },
  [Revision.meta.clientInfo]: implementation,
  [Revision.meta.logLevel]: "warning",
  [Revision.meta.progressToken]: 0,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
}
const resultMeta = { [Revision.meta.serverInfo]: implementation, "com.example/a": true }
const cache = { ttlMs: 60_000, cacheScope: "private" }

const params = (minimal: Json, more: Json = {}) =>
  [
    { ...minimal, _meta: requestMeta },
    { ...minimal, ...more, _meta: fullRequestMeta }
  ] as const
const result = (minimal: Json, more: Json = {}) =>
  [
    { resultType: "complete", ...minimal },
    { resultType: "complete", ...minimal, ...more, _meta: resultMeta }
  ] as const

const tool = { name: "search", inputSchema: { type: "object" } }
const fullTool = {
  ...tool,
  title: "Search",
  description: "Searches",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $anchor: "root",
    type: "object",
    properties: { q: { $ref: "#/$defs/q" } },
    $defs: { q: { type: "string" } },
    if: { required: ["q"] },
    then: { minProperties: 1 },
    allOf: [{ maxProperties: 5 }],
    additionalProperties: false
  },
  outputSchema: { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
  annotations: {
    title: "Search",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false
  },
  icons,
  _meta: { "com.example/a": 1 }
}
const resource = { uri: "file:///a", name: "a" }
const fullResource = { ...resource, title: "A", description: "An a", mimeType: "text/plain", size: 3, icons, ...extra }
const template = { uriTemplate: "file:///{path}", name: "a" }
const fullTemplate = { ...template, title: "A", description: "An a", mimeType: "text/plain", icons, ...extra }
const prompt = { name: "greet" }
const fullPrompt = {
  ...prompt,
  title: "Greet",
  description: "Greets",
  arguments: [{ name: "who" }, { name: "how", title: "How", description: "Warmly?", required: true }],
  icons,
  _meta: {}
}
const textContents = { uri: "file:///a", mimeType: "text/plain", text: "a", _meta: { "a.b/c": 1 } }
const blobContents = { uri: "file:///b", mimeType: "image/png", blob: "AAEC/w==", _meta: {} }

/** Every kind of content block, smallest and full. */
export const blocks: ReadonlyArray<Json> = [
  { type: "text", text: "" },
  { type: "text", text: "hello", ...extra },
  { type: "image", data: "AAEC/w==", mimeType: "image/png" },
  { type: "image", data: "", mimeType: "image/png", ...extra },
  { type: "audio", data: "AAEC/w==", mimeType: "audio/wav" },
  { type: "audio", data: "/w==", mimeType: "audio/wav", ...extra },
  { type: "resource_link", uri: "file:///a", name: "a" },
  { type: "resource_link", ...fullResource },
  { type: "resource", resource: { uri: "file:///a", text: "a" } },
  { type: "resource", resource: textContents, ...extra },
  { type: "resource", resource: blobContents, ...extra }
]

/** Samples by the name of the definition. */
export const samples = {
  DiscoverRequest: params({}),
  ListToolsRequest: params({}, { cursor: "next" }),
  ListResourcesRequest: params({}, { cursor: "" }),
  ListResourceTemplatesRequest: params({}, { cursor: "next" }),
  ListPromptsRequest: params({}, { cursor: "next" }),
  CallToolRequest: params({ name: "search" }, {
    arguments: { q: "a", deep: { list: [1, null] } },
    inputResponses: { confirm: { action: "accept", content: { ok: true } } },
    requestState: ""
  }),
  ReadResourceRequest: params({ uri: "file:///a" }, {
    inputResponses: { a: { action: "decline" } },
    requestState: "s"
  }),
  GetPromptRequest: params({ name: "greet" }, { arguments: { who: "you" }, inputResponses: {}, requestState: "s" }),
  CompleteRequest: params(
    { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "" } },
    {
      ref: { type: "ref/resource", uri: "file:///{path}" },
      argument: { name: "path", value: "a" },
      context: { arguments: { other: "b" } }
    }
  ),
  SubscriptionsListenRequest: params({ notifications: {} }, {
    notifications: {
      toolsListChanged: true,
      promptsListChanged: false,
      resourcesListChanged: true,
      resourceSubscriptions: ["file:///a"]
    }
  }),

  DiscoverResult: result({ supportedVersions: [version], capabilities: {}, ...cache }, {
    instructions: "Search first.",
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: false },
      prompts: { listChanged: false },
      completions: {},
      logging: {},
      experimental: { a: {} },
      extensions: { "com.example/a": {} }
    }
  }),
  ListToolsResult: result({ tools: [], ...cache }, { tools: [tool, fullTool], nextCursor: "next" }),
  ListResourcesResult: result({ resources: [], ...cache }, { resources: [resource, fullResource], nextCursor: "next" }),
  ListResourceTemplatesResult: result({ resourceTemplates: [], ...cache }, {
    resourceTemplates: [template, fullTemplate],
    nextCursor: "next"
  }),
  ListPromptsResult: result({ prompts: [], ...cache }, { prompts: [prompt, fullPrompt], nextCursor: "next" }),
  CallToolResult: [
    ...result({ content: [] }, { content: blocks, structuredContent: { a: [1] }, isError: true }),
    ...[null, 0, false, "", [], {}].map((structuredContent) => ({
      resultType: "complete",
      content: [],
      structuredContent
    }))
  ],
  ReadResourceResult: result({ contents: [], ...cache }, { contents: [textContents, blobContents] }),
  GetPromptResult: result({ messages: [] }, {
    description: "A greeting",
    messages: blocks.map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }))
  }),
  CompleteResult: result({ completion: { values: [] } }, { completion: { values: ["a"], total: 7, hasMore: true } }),
  SubscriptionsListenResult: [
    { resultType: "complete", _meta: { [Revision.meta.subscriptionId]: 0 } },
    { resultType: "complete", _meta: { [Revision.meta.subscriptionId]: "a", ...resultMeta } }
  ],
  InputRequiredResult: [
    { resultType: "input_required", requestState: "" },
    {
      resultType: "input_required",
      inputRequests: {
        confirm: {
          method: "elicitation/create",
          params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } }
        },
        roots: { method: "roots/list" }
      },
      requestState: "s",
      _meta: resultMeta
    }
  ],

  CancelledNotification: [{ requestId: 0 }, { requestId: "a", reason: "no longer", _meta: {} }],
  ProgressNotification: [
    { progressToken: "a", progress: 0 },
    { progressToken: 0, progress: 0.5, total: 1.5, message: "half", _meta: {} }
  ],
  LoggingMessageNotification: [
    { level: "debug", data: null },
    { level: "emergency", logger: "db", data: { a: [1] }, _meta: {} }
  ],
  SubscriptionsAcknowledgedNotification: [
    { notifications: {}, _meta: { [Revision.meta.subscriptionId]: 0 } },
    {
      notifications: { toolsListChanged: true, resourceSubscriptions: [] },
      _meta: { [Revision.meta.subscriptionId]: "a" }
    }
  ],
  ToolListChangedNotification: [{}, { _meta: { [Revision.meta.subscriptionId]: "" } }],
  PromptListChangedNotification: [{}, { _meta: { [Revision.meta.subscriptionId]: 1 } }],
  ResourceListChangedNotification: [{}, { _meta: {} }],
  ResourceUpdatedNotification: [{ uri: "file:///a" }, {
    uri: "file:///b",
    _meta: { [Revision.meta.subscriptionId]: 1 }
  }]
} as const satisfies Record<string, ReadonlyArray<Json>>
