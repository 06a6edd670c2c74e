/**
 * The `_meta` of a request (spec: basic, _meta): what the revision asks for, what a call carries, and what the caller
 * adds.
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Timer from "@fairlead/protocol/Timer"
import type * as Context from "effect/Context"
import type { Logical } from "./exchange.ts"
import { isTraceMember, traceparentOf } from "./trace.ts"

/** Metadata, and the text of its members. */
export interface Meta {
  readonly members: Json.Object
  readonly text: string
}

/** What of the metadata is the same for all requests of a client: written once. */
export const fixedMeta = (capabilities: Json.Object, info: Json.Object): Meta => {
  const members = {
    [Revision.meta.protocolVersion]: Revision.latest.version,
    [Revision.meta.clientCapabilities]: capabilities,
    [Revision.meta.clientInfo]: info
  }
  return { members, text: membersOf(JSON.stringify(members)) }
}

/** The metadata, or what of the call cannot be sent. */
export const makeMeta = (
  { call, core: { meta: fixed }, correlation, isCarried }: Logical,
  id: number,
  end: number,
  context: Context.Context<never>
): Meta | string => {
  const own = ownMeta(call, id, end, context)
  if (typeof own === "string") return own
  if (own === undefined) {
    return isCarried
      ? {
        members: { ...fixed.members, [Call.metaKeys.correlation]: correlation },
        text: `${fixed.text},"${Call.metaKeys.correlation}":${JSON.stringify(correlation)}`
      }
      : fixed
  }
  if (isCarried) own[Call.metaKeys.correlation] = correlation
  const ownText = membersOf(JSON.stringify(own))
  return {
    members: { ...fixed.members, ...own },
    text: ownText === "" ? fixed.text : `${fixed.text},${ownText}`
  }
}

/** The text of a request with the text of its metadata. */
export const encodeRequest = (id: number, method: string, params: Json.Object, { members, text }: Meta): string => {
  // A continuation from elsewhere may have had some of its own.
  if ("_meta" in params) return JsonRpc.encodeRequest(id, method, { ...params, _meta: members })
  const own = membersOf(JSON.stringify(params))
  const all = `${own === "" ? "" : `${own},`}"_meta":{${text}}`
  return `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":{${all}}}`
}

/** An object's text without its braces. */
const membersOf = (text: string): string => text.slice(1, -1)

/** What a call adds beside its correlation; most add nothing. */
const ownMeta = (
  call: Call.Call,
  id: number,
  end: number,
  context: Context.Context<never>
): Record<string, Json.Value> | string | undefined => {
  let own: Record<string, Json.Value> | undefined
  const set = (key: string, value: Json.Value) => {
    own ??= {}
    own[key] = value
  }
  const traceparent = traceparentOf(context)
  if (traceparent !== undefined) set(Revision.meta.traceparent, traceparent)
  if (call.meta !== undefined) {
    own ??= {}
    const problem = addExtra(own, call.meta, call.progress !== undefined)
    if (problem !== undefined) return problem
  }
  if (call.progress !== undefined) set(Revision.meta.progressToken, id)
  if (call.log !== undefined) set(Revision.meta.logLevel, call.log.level)
  if (call.idempotencyKey !== undefined) {
    if (!Call.isCarriable(call.idempotencyKey)) {
      return "the idempotency key is not 1 to 128 visible ASCII characters"
    }
    set(Call.metaKeys.idempotencyKey, call.idempotencyKey)
  }
  // Only a deadline tells how long the caller will wait; the timeout is this client's own patience.
  if (call.deadline !== undefined && end !== Infinity) {
    set(Call.metaKeys.timeoutMillis, Math.max(0, Math.floor(end - Timer.now(context))))
  }
  return own
}

const addExtra = (meta: Record<string, Json.Value>, extra: Json.Object, hasProgress: boolean): string | undefined => {
  for (const [key, value] of Object.entries(extra)) {
    if (key === Revision.meta.progressToken) {
      if (hasProgress) return "`progressToken` in the metadata beside a progress handler"
      if (!JsonRpc.isRequestId(value)) return "`progressToken` in the metadata is not a string or an integer"
    } else if (traceKeys.has(key)) {
      if (!isTraceMember(key, value)) return "a member of the trace context in the metadata is malformed"
    } else if (!Revision.isMetaKey(key)) {
      return "a key of the metadata is not an optional prefix with a slash and a name"
    } else if (Revision.isReservedMetaKey(key)) {
      return "a key of the metadata is reserved"
    }
    meta[key] = value
  }
  return undefined
}

/** What a program that has its own trace context may give; it counts over the current span. */
const traceKeys: ReadonlySet<string> = new Set([
  Revision.meta.traceparent,
  Revision.meta.tracestate,
  Revision.meta.baggage
])
