/**
 * The `_meta` of a request (spec: basic, _meta): what the revision asks for, what a call carries, and what the caller
 * adds.
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import type * as Context from "effect/Context"
import type { Logical } from "./exchange.ts"
import { isTraceMember, traceparentOf } from "./trace.ts"

/** The metadata, or what of the call cannot be sent. */
export const makeMeta = (
  { call, core, correlation, isCarried }: Logical,
  id: number,
  remaining: number,
  context: Context.Context<never>
): Json.Object | string => {
  const meta: Record<string, Json.Value> = {}
  const traceparent = traceparentOf(context)
  if (traceparent !== undefined) meta[Revision.meta.traceparent] = traceparent
  if (call.meta !== undefined) {
    const problem = addExtra(meta, call.meta, call.progress !== undefined)
    if (problem !== undefined) return problem
  }
  meta[Revision.meta.protocolVersion] = Revision.latest.version
  meta[Revision.meta.clientCapabilities] = core.capabilities
  meta[Revision.meta.clientInfo] = core.info
  if (call.progress !== undefined) meta[Revision.meta.progressToken] = id
  if (call.log !== undefined) meta[Revision.meta.logLevel] = call.log.level
  if (isCarried) meta[Call.metaKeys.correlation] = correlation
  if (call.idempotencyKey !== undefined) {
    if (!Call.isCarriable(call.idempotencyKey)) {
      return "the idempotency key is not 1 to 128 visible ASCII characters"
    }
    meta[Call.metaKeys.idempotencyKey] = call.idempotencyKey
  }
  // Only a deadline tells how long the caller will wait; the timeout is this client's own patience.
  if (call.deadline !== undefined && remaining !== Infinity) {
    meta[Call.metaKeys.timeoutMillis] = Math.max(0, Math.floor(remaining))
  }
  return meta
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
