/**
 * From a JSON-RPC request to what answers it: the checks that need the body, in the fixed order of the design, and the
 * methods. It knows no socket; it builds no stream.
 */
import * as Call from "@fairlead/protocol/Call"
import * as Capabilities from "@fairlead/protocol/Capabilities"
import * as HttpRules from "@fairlead/protocol/HttpRules"
import * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Messages from "@fairlead/protocol/Messages"
import * as Revision from "@fairlead/protocol/Revision"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type { Catalog } from "./catalog.ts"
import type { Exchange } from "./exchange.ts"
import { invalidParams, methodNotFound, RpcError } from "./reply.ts"

/** What runs to answer a request. */
export interface Work {
  readonly effect: Effect.Effect<string, RpcError>
  readonly context: Context.Context<never>
}

/** Closes the scope of a request with the effect. */
export const closing = <A, E>(scope: Scope.Closeable, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.onExit(effect, (exit) => Scope.closeUnsafe(scope, exit) ?? Effect.void)

/** Looks up an HTTP header by its name in lower case. */
export type HeaderLookup = (name: string) => string | undefined

export interface Dispatcher {
  /**
   * Checks a request and finds what answers it: an error, the text of a result that is there already, or work to do.
   * `headers` is absent on transports without headers.
   */
  readonly prepare: (
    exchange: Exchange,
    request: JsonRpc.Request,
    headers: HeaderLookup | undefined,
    services: Context.Context<never> | undefined
  ) => RpcError | string | Work
}

const { codes, meta, method } = Revision
const isLogLevel = Schema.is(Messages.LogLevel)

export const makeDispatcher = (catalog: Catalog, revision: Revision.Revision): Dispatcher => {
  const unsupportedVersion = (requested: string) =>
    new RpcError({
      code: codes.unsupportedProtocolVersion,
      message: "The protocol version is not supported",
      data: { supported: [revision.version], requested }
    })

  /** Fields of `_meta` that have to be there, and those that are there but malformed. */
  const checkMeta = (request: JsonRpc.Request): RpcError | Json.Object => {
    const found = request.params["_meta"]
    if (!Json.isObject(found)) {
      // Older clients open with a handshake: name the version they could use instead.
      if (request.method === legacyHandshake) return unsupportedVersion(requestedVersion(request))
      return invalidParams("params._meta is missing", { status: 400 })
    }
    if (typeof found[meta.protocolVersion] !== "string") {
      if (request.method === legacyHandshake) return unsupportedVersion(requestedVersion(request))
      return invalidParams(`params._meta["${meta.protocolVersion}"] must be a string`, { status: 400 })
    }
    if (!Json.isObject(found[meta.clientCapabilities])) {
      return invalidParams(`params._meta["${meta.clientCapabilities}"] must be an object`, { status: 400 })
    }
    return found
  }

  const checkOptionalMeta = (found: Json.Object): RpcError | undefined => {
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

  const callTool = (
    exchange: Exchange,
    params: Json.Object,
    headers: HeaderLookup | undefined,
    services: Context.Context<never> | undefined
  ): RpcError | Work => {
    const { name } = params
    if (typeof name !== "string") return invalidParams("params.name must be a string")
    const entry = catalog.tool(name)
    if (entry === undefined) return invalidParams("Unknown tool")
    const { tool } = entry
    if (tool.requiredCapabilities !== undefined) {
      const declared = exchange.meta[meta.clientCapabilities] as Capabilities.ClientCapabilities
      const missing = Capabilities.missing(tool.requiredCapabilities, declared)
      if (missing !== undefined) return missingCapability(missing)
    }
    const args = params["arguments"] ?? {}
    if (!Json.isObject(args)) return invalidParams("params.arguments must be an object")
    if (headers !== undefined && tool.headers.length > 0) {
      const mismatch = HttpRules.checkParameterHeaders(headers, tool.headers, args)
      if (mismatch !== undefined) return headerMismatch(mismatch)
    }
    const scope = Scope.makeUnsafe()
    const base = services === undefined ? entry.context : Context.merge(entry.context, services)
    return {
      effect: closing(
        scope,
        Effect.map(entry.run(args), (result) => `{${result.members},${catalog.resultEnd(result.meta)}`)
      ),
      context: exchange.provide(base, scope)
    }
  }

  const answer: Dispatcher["prepare"] = (exchange, request, headers, services) => {
    const rule = revision.methods.get(request.method)
    if (rule === undefined || (rule.capability !== undefined && !catalog.hasCapability(rule.capability))) {
      return methodNotFound()
    }
    switch (request.method) {
      case method.callTool:
        return callTool(exchange, request.params, headers, services)
      case method.listTools:
        // Everything is on the first page, so no cursor was ever given out.
        return request.params["cursor"] === undefined ? catalog.toolList() : invalidParams("The cursor is not valid")
      case method.discover:
        return catalog.discovery()
      default:
        return methodNotFound()
    }
  }

  return {
    prepare: (exchange, request, headers, services) => {
      exchange.request = request
      const found = checkMeta(request)
      if (found instanceof RpcError) return found
      const version = found[meta.protocolVersion] as string
      if (headers !== undefined) {
        const mismatch = HttpRules.checkVersionHeader(headers, version)
        if (mismatch !== undefined) return headerMismatch(mismatch)
      }
      if (version !== revision.version) return unsupportedVersion(version)
      if (headers !== undefined) {
        const routingName = revision.methods.get(request.method)?.routingName
        const mismatch = HttpRules.checkRoutingHeaders(headers, request.method, request.params, routingName)
        if (mismatch !== undefined) return headerMismatch(mismatch)
      }
      const malformed = checkOptionalMeta(found)
      if (malformed !== undefined) return malformed
      exchange.accept(found)
      return answer(exchange, request, headers, services)
    }
  }
}

const legacyHandshake = "initialize"

const requestedVersion = (request: JsonRpc.Request): string => {
  const requested = request.params["protocolVersion"]
  return typeof requested === "string" ? requested : ""
}

const isImplementation = (info: Json.Value): boolean =>
  Json.isObject(info) && typeof info["name"] === "string" && typeof info["version"] === "string"

const headerMismatch = (message: string) => new RpcError({ code: codes.headerMismatch, message })

const missingCapability = (missing: Capabilities.ClientCapabilities) =>
  new RpcError({
    code: codes.missingRequiredClientCapability,
    message: "The client does not declare a capability that is needed",
    data: { requiredCapabilities: missing as unknown as Json.Value }
  })
