/**
 * Messages as a client writes them, by hand: the tests of the server must not depend on the client.
 */
import { HttpRules, type Json, type JsonRpc, Revision } from "@fairlead/protocol"

export const { version } = Revision.latest

export interface Message extends Json.Object {
  readonly method: string
  readonly params: Json.Object
}

/** The required metadata, with more. `undefined` removes a key. */
export const metaOf = (extra: Record<string, unknown> = {}): Json.Object =>
  present({
    [Revision.meta.protocolVersion]: version,
    [Revision.meta.clientCapabilities]: {},
    ...extra
  })

export const present = (members: Record<string, unknown>): Json.Object =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Json.Object

export const request = (
  method: string,
  params: Record<string, unknown> = {},
  options: { readonly id?: JsonRpc.RequestId; readonly meta?: Record<string, unknown> } = {}
): Message => ({
  jsonrpc: "2.0",
  id: options.id ?? 1,
  method,
  params: present({ ...params, _meta: metaOf(options.meta) })
})

export const call = (
  name: string,
  args?: unknown,
  options?: { readonly id?: JsonRpc.RequestId; readonly meta?: Record<string, unknown> }
): Message => request("tools/call", { name, arguments: args }, options)

/** What a client asks for that takes its progress reports with the token. */
export const withToken = (token: unknown): { readonly meta: Record<string, unknown> } => ({
  meta: { [Revision.meta.progressToken]: token }
})

/** The headers that repeat a message. */
export const headersOf = (message: Json.Object): Record<string, string> => {
  const params = message["params"] as Json.Object | undefined
  const meta = params?.["_meta"] as Json.Object | undefined
  const method = String(message["method"] ?? "")
  return {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...Object.fromEntries(HttpRules.requestHeaders(method, params ?? {})),
    [HttpRules.headerNames.protocolVersion]: String(meta?.[Revision.meta.protocolVersion] ?? version)
  }
}
