/**
 * The `_meta` of a request: what has to be there, and what is there but malformed (spec: basic, _meta).
 */
import * as Call from "@fairlead/protocol/Call"
import * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Messages from "@fairlead/protocol/Messages"
import * as Revision from "@fairlead/protocol/Revision"
import * as Schema from "effect/Schema"
import { invalidParams, RpcError } from "./reply.ts"

const { codes, meta } = Revision
const isLogLevel = Schema.is(Messages.LogLevel)

/** Older clients open with a handshake; the error names the version they could use instead. */
const legacyHandshake = "initialize"

export const unsupportedVersion = (revision: Revision.Revision, requested: string): RpcError =>
  new RpcError({
    code: codes.unsupportedProtocolVersion,
    message: "The protocol version is not supported",
    data: { supported: [revision.version], requested }
  })

/** The fields that have to be there. */
export const requiredMeta = (revision: Revision.Revision, request: JsonRpc.Request): RpcError | Json.Object => {
  const found = request.params["_meta"]
  const claimsVersion = Json.isObject(found) && typeof found[meta.protocolVersion] === "string"
  if (!claimsVersion && request.method === legacyHandshake) {
    const requested = request.params["protocolVersion"]
    return unsupportedVersion(revision, typeof requested === "string" ? requested : "")
  }
  if (!Json.isObject(found)) return invalidParams("params._meta is missing", { status: 400 })
  if (!claimsVersion) return invalidParams(`params._meta["${meta.protocolVersion}"] must be a string`, { status: 400 })
  if (!Json.isObject(found[meta.clientCapabilities])) {
    return invalidParams(`params._meta["${meta.clientCapabilities}"] must be an object`, { status: 400 })
  }
  return found
}

/** What is wrong with the other fields, if anything. */
export const checkOptionalMeta = (revision: Revision.Revision, found: Json.Object): RpcError | undefined => {
  for (const key in found) {
    if (!revision.metaKeys.has(key) && !Revision.isMetaKey(key)) {
      return invalidParams("params._meta has a key that is not valid", { status: 400 })
    }
  }
  const token = found[meta.progressToken]
  if (token !== undefined && !JsonRpc.isRequestId(token)) {
    return invalidParams("params._meta.progressToken must be a string or an integer")
  }
  const info = found[meta.clientInfo]
  if (info !== undefined && !isImplementation(info)) {
    return invalidParams(`params._meta["${meta.clientInfo}"] needs a name and a version`)
  }
  const level = found[meta.logLevel]
  if (level !== undefined && !isLogLevel(level)) {
    return invalidParams(`params._meta["${meta.logLevel}"] is not a log level`)
  }
  const key = found[Call.metaKeys.idempotencyKey]
  // Dropping a malformed key would turn a retry into new work.
  if (key !== undefined && !Call.isCarriable(key)) {
    return invalidParams(`params._meta["${Call.metaKeys.idempotencyKey}"] must be 1 to 128 visible ASCII characters`)
  }
  return undefined
}

const isImplementation = (info: Json.Value): boolean =>
  Json.isObject(info) && typeof info["name"] === "string" && typeof info["version"] === "string"
