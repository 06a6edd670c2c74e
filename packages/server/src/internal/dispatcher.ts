/**
 * From a JSON-RPC request to what answers it: the checks that need the body, in the fixed order of the design, and the
 * methods. It knows no socket; it builds no stream.
 */
import * as Call from "@fairlead/protocol/Call"
import * as Capabilities from "@fairlead/protocol/Capabilities"
import * as HttpRules from "@fairlead/protocol/HttpRules"
import * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { Principal } from "../Invocation.ts"
import type { AccessPolicy, AccessRequest } from "../McpEndpoint.ts"
import type * as Middleware from "../Middleware.ts"
import { type View, viewOf } from "./access.ts"
import type { Catalog } from "./catalog.ts"
import type { Completer, Entry, Kind, ResultParts } from "./entry.ts"
import type { Exchange } from "./exchange.ts"
import type { Listen as Listening } from "./exchange.ts"
import { readFilter } from "./hub.ts"
import type { InputRounds } from "./inputState.ts"
import { InvalidOutput } from "./invalidOutput.ts"
import type { Lists } from "./lists.ts"
import { headerMismatch, invalidParams, methodNotFound, missingCapability, RpcError } from "./reply.ts"
import { checkOptionalMeta, requiredMeta, unsupportedVersion } from "./requestMeta.ts"
import { unknownResource } from "./resourceRunner.ts"

/** What runs to answer a request. */
export interface Work {
  readonly _tag: "Work"
  readonly effect: Effect.Effect<string, RpcError>
  readonly context: Context.Context<never>
}

/** A stream that stays open. */
export interface Listen extends Listening {
  readonly _tag: "Listen"
}

/** Closes the scope of a request with the effect. */
export const closing = <A, E>(scope: Scope.Closeable, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.onExitPrimitive(effect, (exit) => Scope.closeUnsafe(scope, exit))

/** Looks up an HTTP header by its name in lower case. */
export type HeaderLookup = (name: string) => string | undefined

/** A request on its way through the checks. */
interface Incoming {
  readonly exchange: Exchange
  readonly request: JsonRpc.Request
  /** Absent on transports without headers. */
  readonly headers: HeaderLookup | undefined
  /** What the context function gave, or the front. */
  readonly services: Context.Context<never> | undefined
}

export type Prepared = RpcError | string | Work | Listen

export interface Dispatcher {
  /**
   * Checks a request and finds what answers it: an error, the text of a result that is there already, work to do, or a
   * stream to open.
   */
  readonly prepare: (incoming: Incoming) => Prepared
}

export interface DispatcherOptions {
  readonly catalog: Catalog
  readonly revision: Revision.Revision
  readonly lists: Lists
  readonly rounds: InputRounds
  readonly access: ((request: AccessRequest<never>) => AccessPolicy) | undefined
  /** Effects around every request, the first one outermost. */
  readonly middleware: ReadonlyArray<Middleware.Middleware>
  /** The context of what needs no services of a handler. */
  readonly context: Context.Context<never>
}

const { meta, method } = Revision

const unknown = { tool: "Unknown tool", prompt: "Unknown prompt" } as const

export const makeDispatcher = (options: DispatcherOptions): Dispatcher => {
  const { access, catalog, lists, middleware, revision, rounds } = options

  /** What the caller may see and use; everything where there is no policy. */
  const viewFor = ({ exchange, services }: Incoming): View | undefined =>
    access === undefined ? undefined : viewOf(access({
      services: services ?? Context.empty(),
      principal: services === undefined ? undefined : Context.get(services, Principal),
      correlation: exchange.correlation
    }))

  /** The middleware around a request; without any, the request itself. */
  const around = (
    { exchange, request, services }: Incoming,
    kind: Kind | undefined,
    name: string | undefined,
    effect: Effect.Effect<ResultParts, RpcError>
  ): Effect.Effect<ResultParts, RpcError> => {
    if (middleware.length === 0) return effect
    const seen: Middleware.Request = {
      kind,
      method: request.method,
      name,
      params: request.params,
      principal: services === undefined ? undefined : Context.get(services, Principal),
      correlation: exchange.correlation,
      idempotencyKey: exchange.meta[Call.metaKeys.idempotencyKey] as string | undefined
    }
    const wrapped = middleware.reduceRight<Effect.Effect<ResultParts, Middleware.Failure>>(
      (next, layer) => Effect.suspend(() => layer(seen, next) as Effect.Effect<ResultParts, Middleware.Failure>),
      effect
    )
    return Effect.catch(wrapped, failed)
  }

  const merged = new WeakMap<Context.Context<never>, Context.Context<never>>()

  /** The services of a handler and those of middleware: a handler may be registered where the latter are not. */
  const withEndpoint = (context: Context.Context<never>): Context.Context<never> => {
    if (context === options.context) return context
    let known = merged.get(context)
    if (known === undefined) {
      known = Context.merge(options.context, context)
      merged.set(context, known)
    }
    return known
  }

  /** Work with the services of a handler. */
  const work = (
    { exchange, services }: Incoming,
    entry: Pick<Entry, "context">,
    effect: Effect.Effect<string, RpcError>
  ): Work => {
    const scope = Scope.makeUnsafe()
    const own = middleware.length === 0 ? entry.context : withEndpoint(entry.context)
    const base = services === undefined ? own : Context.merge(own, services)
    return { _tag: "Work", effect: closing(scope, effect), context: exchange.provide(base, scope) }
  }

  const finished = ({ members, meta }: ResultParts): string => {
    if (typeof members !== "string") throw new InvalidOutput("Middleware answered with something that is no answer")
    return `{${members}${members === "" ? "" : ","}${catalog.resultEnd(meta)}`
  }

  /** Work that may ask the client for input. */
  const asking = (incoming: Incoming, entry: Entry, run: Effect.Effect<ResultParts, RpcError>): RpcError | Work => {
    const { exchange, request, services } = incoming
    const principal = services === undefined ? undefined : Context.get(services, Principal)
    const { inputResponses, requestState } = request.params
    const name = String(request.params[Revision.latest.methods.get(request.method)?.routingName ?? ""])
    const result = Effect.map(around(incoming, entry.kind, name, run), finished)
    if (inputResponses === undefined && requestState === undefined) {
      exchange.mayAsk(undefined, (round) => rounds.finish(request, principal, round))
      return work(incoming, entry, result)
    }
    const state = rounds.begin(request, principal)
    if (state instanceof RpcError) return state
    const start = (state: Parameters<typeof exchange.mayAsk>[0]) => {
      exchange.mayAsk(state, (round) => rounds.finish(request, principal, round))
      return result
    }
    return work(incoming, entry, Effect.isEffect(state) ? Effect.flatMap(state, start) : start(state))
  }

  const callTool = (incoming: Incoming): RpcError | Work => {
    const { exchange, headers, request: { params } } = incoming
    const { name } = params
    if (typeof name !== "string") return invalidParams("params.name must be a string")
    const entry = catalog.tool(name)
    if (entry === undefined || viewFor(incoming)?.uses(entry) === false) return invalidParams(unknown.tool)
    const { tool } = entry
    if (tool.requiredCapabilities !== undefined) {
      const missing = Capabilities.missing(tool.requiredCapabilities, exchange.capabilities)
      if (missing !== undefined) return missingCapability(missing)
    }
    const args = params["arguments"] ?? {}
    if (!Json.isObject(args)) return invalidParams("params.arguments must be an object")
    if (headers !== undefined && tool.headers.length > 0) {
      const mismatch = HttpRules.checkParameterHeaders(headers, tool.headers, args)
      if (mismatch !== undefined) return headerMismatch(mismatch)
    }
    return asking(incoming, entry, entry.run(args))
  }

  const readResource = (incoming: Incoming): RpcError | Work => {
    const { uri } = incoming.request.params
    if (typeof uri !== "string") return invalidParams("params.uri must be a string")
    const view = viewFor(incoming)
    const fixed = catalog.resource(uri)
    if (fixed !== undefined) {
      return view?.uses(fixed) === false ? unknownResource(uri) : asking(incoming, fixed, fixed.run(uri))
    }
    const found = firstTemplate(uri)
    // The most specific one decides: what is hidden does not become visible through another one.
    return found === undefined || view?.uses(found.entry) === false
      ? unknownResource(uri)
      : asking(incoming, found.entry, found.entry.run({ uri, values: found.values }))
  }

  const getPrompt = (incoming: Incoming): RpcError | Work => {
    const { name } = incoming.request.params
    if (typeof name !== "string") return invalidParams("params.name must be a string")
    const entry = catalog.prompt(name)
    if (entry === undefined || viewFor(incoming)?.uses(entry) === false) return invalidParams(unknown.prompt)
    const args = incoming.request.params["arguments"] ?? {}
    return Json.isObject(args)
      ? asking(incoming, entry, entry.run(args))
      : invalidParams("params.arguments must be an object of strings")
  }

  const complete = (incoming: Incoming): RpcError | Work => {
    const { argument, context, ref } = incoming.request.params
    if (!Json.isObject(ref)) return invalidParams("params.ref must be an object")
    if (!Json.isObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string") {
      return invalidParams("params.argument needs a name and a value")
    }
    const entry = ref["type"] === "ref/prompt" && typeof ref["name"] === "string"
      ? catalog.prompt(ref["name"])
      : ref["type"] === "ref/resource" && typeof ref["uri"] === "string"
      ? catalog.templateNamed(ref["uri"]) ?? firstTemplate(ref["uri"])?.entry
      : undefined
    if (entry === undefined || viewFor(incoming)?.uses(entry) === false) {
      return invalidParams("params.ref names nothing that is completed")
    }
    const known = context === undefined ? {} : Json.isObject(context) ? context["arguments"] ?? {} : undefined
    if (!Json.isObject(known) || Object.values(known).some((value) => typeof value !== "string")) {
      return invalidParams("params.context.arguments must be an object of strings")
    }
    const completer = entry.completers.get(argument["name"]) ?? nothing
    const asked = { value: argument["value"], context: known as Readonly<Record<string, string>> }
    const run = around(incoming, entry.kind, entry.name, Effect.suspend(() => completer(asked)))
    return work(incoming, entry, Effect.map(run, finished))
  }

  const firstTemplate = (uri: string) => {
    for (const found of catalog.templates(uri)) return found
    return undefined
  }

  const list = (incoming: Incoming, kind: Kind): RpcError | string | Work => {
    const page = lists.page(kind, incoming.request.params["cursor"], viewFor(incoming))
    return page instanceof RpcError ? page : whole(incoming, page)
  }

  /** A result that is a text already, or soon; middleware sees its members. */
  const whole = (incoming: Incoming, text: string | Effect.Effect<string, RpcError>): string | Work => {
    if (middleware.length === 0) {
      return typeof text === "string" ? text : { _tag: "Work", effect: text, context: options.context }
    }
    const end = `,${catalog.resultEnd(undefined)}`
    const parts = (text: string): ResultParts => ({ members: text.slice(1, -end.length), meta: undefined })
    const run = typeof text === "string" ? Effect.succeed(parts(text)) : Effect.map(text, parts)
    return work(
      incoming,
      { context: options.context },
      Effect.map(around(incoming, undefined, undefined, run), finished)
    )
  }

  const listen = (incoming: Incoming): RpcError | Listen | Work => {
    const { exchange, request } = incoming
    if (!catalog.identity.listens) return methodNotFound()
    const filter = readFilter(request.params["notifications"], catalog.hasCapability)
    if (filter instanceof RpcError) return filter
    const refused = exchange.canListen()
    if (refused !== undefined) return refused
    const listening = { filter, hears: hearsFor(incoming) }
    if (middleware.length === 0) return { _tag: "Listen", ...listening }
    const run = Effect.as(exchange.listenInFiber(listening), noParts)
    return work(
      incoming,
      { context: options.context },
      Effect.map(around(incoming, undefined, undefined, run), finished)
    )
  }

  /**
   * Of a resource that a caller may not use it hears nothing, whenever that is registered; nor of what comes and goes
   * without being seen by it.
   */
  const hearsFor = (incoming: Incoming): Listen["hears"] => {
    const view = viewFor(incoming)
    if (view === undefined) return undefined
    return (change) => {
      try {
        if (change._tag === "ListChanged") {
          return change.item === undefined || view.sees({ kind: change.kind, ...change.item })
        }
        const entry = catalog.resource(change.uri) ?? firstTemplate(change.uri)?.entry
        return entry === undefined || view.uses(entry)
      } catch {
        // A policy that throws must not reach whoever tells of the change.
        return false
      }
    }
  }

  const answer = (incoming: Incoming): Prepared => {
    const { request } = incoming
    const rule = revision.methods.get(request.method)
    if (rule === undefined || (rule.capability !== undefined && !catalog.hasCapability(rule.capability))) {
      return methodNotFound()
    }
    switch (request.method) {
      case method.callTool:
        return callTool(incoming)
      case method.listTools:
        return list(incoming, "tool")
      case method.discover:
        return whole(incoming, catalog.discovery())
      case method.readResource:
        return readResource(incoming)
      case method.listResources:
        return list(incoming, "resource")
      case method.listResourceTemplates:
        return list(incoming, "resourceTemplate")
      case method.getPrompt:
        return getPrompt(incoming)
      case method.listPrompts:
        return list(incoming, "prompt")
      case method.complete:
        return complete(incoming)
      case method.listen:
        return listen(incoming)
      default:
        return methodNotFound()
    }
  }

  return {
    prepare: (incoming) => {
      const { exchange, headers, request } = incoming
      exchange.request = request
      const found = requiredMeta(revision, request)
      if (found instanceof RpcError) return found
      const version = found[meta.protocolVersion] as string
      if (headers !== undefined) {
        const mismatch = HttpRules.checkVersionHeader(headers, version)
        if (mismatch !== undefined) return headerMismatch(mismatch)
      }
      if (version !== revision.version) return unsupportedVersion(revision, version)
      if (headers !== undefined) {
        const routingName = revision.methods.get(request.method)?.routingName
        const mismatch = HttpRules.checkRoutingHeaders(headers, request.method, request.params, routingName)
        if (mismatch !== undefined) return headerMismatch(mismatch)
      }
      const malformed = checkOptionalMeta(revision, found)
      if (malformed !== undefined) return malformed
      exchange.accept(found)
      try {
        return answer(incoming)
      } catch (defect) {
        // A policy threw. It ends as a handler that dies: masked, and in the log.
        return { _tag: "Work", effect: Effect.die(defect), context: options.context }
      }
    }
  }
}

/** What a request failed with, as its client hears of it: of anything but a rejection nothing. */
const failed = (failure: Middleware.Failure): Effect.Effect<never, RpcError> => {
  if (failure instanceof RpcError) return Effect.fail(failure)
  if (failure._tag !== "Rejected") return Effect.die(failure)
  const { code = Revision.codes.internalError, data, message } = failure
  return isErrorCode(code)
    ? Effect.fail(new RpcError({ code, message, data }))
    : Effect.die(new InvalidOutput(`Middleware rejected a request with the code ${code}, which is reserved or none`))
}

const specified: ReadonlySet<number> = new Set(Object.values(Revision.codes))

/** One of the spec, or outside of what JSON-RPC keeps for itself (spec: basic, Error Codes). */
const isErrorCode = (code: number): boolean =>
  Number.isSafeInteger(code) && (specified.has(code) || code < -32768 || code > -32000)

/** The result of a stream: it has told its client already. */
const noParts: ResultParts = { members: "", meta: undefined }

/** Nothing is offered for an argument that nobody completes. */
const nothing: Completer = () => Effect.succeed({ members: "\"completion\":{\"values\":[]}", meta: undefined })
