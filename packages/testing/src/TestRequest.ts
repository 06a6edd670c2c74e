/**
 * Builds the requests that a client of the protocol would send over HTTP, for tests of servers that want to change one
 * thing about them: metadata, both media types and the routing headers are there unless overridden.
 *
 * @since 0.1.0
 */
import * as HttpRules from "@fairlead/protocol/HttpRules"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"

/**
 * What differs from an ordinary request.
 *
 * @category options
 * @since 0.1.0
 */
export interface Overrides {
  /** Default: 1. */
  readonly id?: JsonRpc.RequestId | undefined
  /** Members of `_meta` beside the required ones, or in place of them; `undefined` takes one away. */
  readonly meta?: { readonly [key: string]: Json.Value | undefined } | undefined
  /** Headers beside the usual ones, or in place of them, by name in lower case; `undefined` takes one away. */
  readonly headers?: { readonly [name: string]: string | undefined } | undefined
  /** The whole body, in place of the message. */
  readonly body?: string | undefined
}

/**
 * A request that is ready to be sent.
 *
 * @category models
 * @since 0.1.0
 */
export interface TestRequest {
  readonly id: JsonRpc.RequestId
  readonly headers: { readonly [name: string]: string }
  /** The message, as it travels. */
  readonly body: string
  /** The same as a web request. */
  readonly toWeb: (url?: string | URL) => Request
}

/**
 * Makes a request.
 *
 * **Example** (A request whose header names another tool)
 *
 * ```ts
 * import { TestRequest } from "@fairlead/testing"
 *
 * const { body, headers } = TestRequest.make("tools/call", { name: "search", arguments: {} }, {
 *   headers: { "mcp-name": "delete" }
 * })
 * console.log(headers["mcp-method"], body.length) // "tools/call" 243
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (method: string, params: Json.Object = {}, overrides: Overrides = {}): TestRequest => {
  const id = overrides.id ?? 1
  const full = { ...params, _meta: metaOf(overrides.meta) }
  const headers = present({
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...Object.fromEntries(HttpRules.requestHeaders(method, full)),
    ...overrides.headers
  })
  const body = overrides.body ?? JsonRpc.encodeRequest(id, method, full)
  return {
    id,
    headers,
    body,
    toWeb: (url = "http://127.0.0.1/mcp") => new Request(url, { method: "POST", headers, body })
  }
}

/**
 * The `_meta` that every request has: version, capabilities (none) and a name for the client.
 *
 * @category constructors
 * @since 0.1.0
 */
export const metaOf = (overrides: Overrides["meta"] = {}): Json.Object =>
  present({
    [Revision.meta.protocolVersion]: Revision.latest.version,
    [Revision.meta.clientCapabilities]: {},
    [Revision.meta.clientInfo]: { name: "fairlead-testing", version: "0.0.0" },
    ...overrides
  })

const present = <A>(members: { readonly [key: string]: A | undefined }): { readonly [key: string]: A } =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, A] => entry[1] !== undefined))
