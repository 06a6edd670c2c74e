/**
 * Revision 2026-07-28 as data: its methods, notifications, `_meta` keys and codes.
 */
import type * as Definition from "../Definition.ts"

/** `_meta` keys (spec: basic, _meta). */
export const meta = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  progressToken: "progressToken",
  traceparent: "traceparent",
  tracestate: "tracestate",
  baggage: "baggage"
} as const

/** Error codes that the revision adds to those of JSON-RPC (spec: basic, Error Codes). */
export const codes = {
  headerMismatch: -32020,
  missingRequiredClientCapability: -32021,
  unsupportedProtocolVersion: -32022
} as const

/**
 * The HTTP status of an error that is answered before a stream is open. What the spec leaves open is 200: the request
 * was served, its answer is an error.
 */
export const httpStatus: ReadonlyMap<number, number> = new Map([
  [-32700, 400],
  [-32600, 400],
  [-32601, 404],
  [codes.headerMismatch, 400],
  [codes.missingRequiredClientCapability, 400],
  [codes.unsupportedProtocolVersion, 400]
])

/** The ways a result can end, without extensions (spec: basic, resultType). */
export const resultType = { complete: "complete", inputRequired: "input_required" } as const

/** Notification methods. */
export const notification = {
  cancelled: "notifications/cancelled",
  progress: "notifications/progress",
  message: "notifications/message",
  acknowledged: "notifications/subscriptions/acknowledged",
  toolsListChanged: "notifications/tools/list_changed",
  promptsListChanged: "notifications/prompts/list_changed",
  resourcesListChanged: "notifications/resources/list_changed",
  resourceUpdated: "notifications/resources/updated"
} as const

/** What a server can ask for inside a result; never JSON-RPC requests of their own (spec: basic/patterns/mrtr). */
export const inputMethod = {
  elicit: "elicitation/create",
  sample: "sampling/createMessage",
  listRoots: "roots/list"
} as const

/** Request methods. */
export const method = {
  discover: "server/discover",
  listTools: "tools/list",
  callTool: "tools/call",
  listResources: "resources/list",
  listResourceTemplates: "resources/templates/list",
  readResource: "resources/read",
  listPrompts: "prompts/list",
  getPrompt: "prompts/get",
  complete: "completion/complete",
  listen: "subscriptions/listen"
} as const

export const definition: Definition.Revision = {
  version: "2026-07-28",
  methods: new Map<string, Definition.Method>([
    [method.discover, { cacheable: true }],
    [method.listTools, { cacheable: true, items: "tools", capability: "tools" }],
    [method.callTool, { routingName: "name", asksForInput: true, capability: "tools" }],
    [method.listResources, { cacheable: true, items: "resources", capability: "resources" }],
    [method.listResourceTemplates, { cacheable: true, items: "resourceTemplates", capability: "resources" }],
    [method.readResource, { routingName: "uri", cacheable: true, asksForInput: true, capability: "resources" }],
    [method.listPrompts, { cacheable: true, items: "prompts", capability: "prompts" }],
    [method.getPrompt, { routingName: "name", asksForInput: true, capability: "prompts" }],
    [method.complete, { capability: "completions" }],
    [method.listen, { streams: true }]
  ]),
  notifications: new Map<string, Definition.Notification>([
    [notification.cancelled, { from: "both" }],
    [notification.progress, { from: "server" }],
    [notification.message, { from: "server" }],
    [notification.acknowledged, { from: "server" }],
    [notification.toolsListChanged, { from: "server", filter: "toolsListChanged" }],
    [notification.promptsListChanged, { from: "server", filter: "promptsListChanged" }],
    [notification.resourcesListChanged, { from: "server", filter: "resourcesListChanged" }],
    [notification.resourceUpdated, { from: "server", filter: "resourceSubscriptions" }]
  ]),
  resultTypes: new Set(Object.values(resultType)),
  listenFilters: new Set([
    "toolsListChanged",
    "promptsListChanged",
    "resourcesListChanged",
    "resourceSubscriptions"
  ]),
  metaKeys: new Set(Object.values(meta))
}
