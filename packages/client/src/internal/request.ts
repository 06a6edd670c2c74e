/**
 * What one request sends and how its answer is taken: metadata and correlation on the way out, the checks that every
 * result gets on the way back.
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Messages from "@fairlead/protocol/Messages"
import * as Revision from "@fairlead/protocol/Revision"
import * as Timer from "@fairlead/protocol/Timer"
import type * as Transport from "@fairlead/protocol/Transport"
import { Cancelled, MalformedResponse } from "@fairlead/protocol/Transport"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as McpClientError from "../McpClientError.ts"
import { Bounds } from "./bounds.ts"
import type { Cache } from "./cache.ts"
import type { Answer, Bounded, Exchange, Headers, Logical, Notify } from "./exchange.ts"
import type { Reports } from "./reports.ts"
import { encodeRequest, makeMeta } from "./requestMeta.ts"

type Error = McpClientError.McpClientError

/** The results of rounds of input are never kept (spec: server/utilities/caching). */
const isCacheable = (method: string, params: Json.Object): boolean =>
  Revision.latest.methods.get(method)?.cacheable === true && !("inputResponses" in params) &&
  !("requestState" in params)

// One counter for the whole process: several clients may share a channel.
let lastId = 0

export class State implements Exchange {
  evidence: Transport.Evidence
  reports: Reports | undefined
  readonly bounds: Bounds
  readonly #logical: Logical
  /** What is known of the call where this request was not sent. */
  readonly #before: Transport.Evidence
  /** Takes the answer out of the cache. */
  #unkeep: (() => void) | undefined

  constructor(logical: Logical, start: number, bounded: Bounded | undefined) {
    const { call, core, since } = logical
    this.#logical = logical
    this.#before = this.evidence = bounded?.evidence ?? "NotSent"
    this.bounds = new Bounds(call, since, start, bounded?.timeout ?? call.timeout ?? core.timeout)
  }

  fail(reason: McpClientError.Reason): Error {
    return McpClientError.make(reason, this.#logical.correlation)
  }

  malformed(detail: string, result?: Json.Object): Error {
    // It would be as useless the next time.
    this.#unkeep?.()
    return this.fail(new MalformedResponse(result === undefined ? { detail } : { detail, result }))
  }

  cancelled(): Error {
    return this.fail(new Cancelled({ evidence: this.evidence }))
  }

  timedOut(): Error {
    const { bound, length: millis } = this.bounds
    return this.fail(new McpClientError.TimedOut({ evidence: this.evidence, bound, millis }))
  }

  lift(): void {
    this.bounds.lift()
  }

  send(method: string, params: Json.Object, headers: Headers, notify?: Notify): Effect.Effect<Answer, Error> {
    const { call, core } = this.#logical
    return core.cache === undefined || call.meta !== undefined || !isCacheable(method, params)
      ? this.#sendTwice(method, params, headers, notify)
      : this.#cached(core.cache, method, params, headers)
  }

  #cached(cache: Cache, method: string, params: Json.Object, headers: Headers): Effect.Effect<Answer, Error> {
    const of = (whose: string | undefined) =>
      Effect.withFiber<Answer, Error>(({ context }) => {
        this.#unkeep = () => cache.drop(method, params, whose)
        const kept = cache.get(method, params, whose, Timer.now(context))
        if (kept !== undefined) {
          this.evidence = "Completed"
          return Effect.succeed({ result: kept, inputRequired: false })
        }
        const { epoch } = cache
        return Effect.map(this.#sendTwice(method, params, headers, undefined), (answer) => {
          // What has changed meanwhile may not be in it.
          if (!answer.inputRequired && epoch === cache.epoch) {
            cache.set(method, params, whose, Timer.now(context), answer.result)
          }
          return answer
        })
      })
    return cache.context === undefined ? of(undefined) : Effect.flatMap(cache.context, of)
  }

  #sendTwice(
    method: string,
    params: Json.Object,
    headers: Headers,
    notify: Notify | undefined
  ): Effect.Effect<Answer, Error> {
    // A server that names our version among its own gets the request a second time (spec: basic/versioning).
    return this.#sendOnce(
      method,
      params,
      headers,
      notify,
      () => this.#sendOnce(method, params, headers, notify, undefined)
    )
  }

  #sendOnce(
    method: string,
    params: Json.Object,
    headers: Headers,
    notify: Notify | undefined,
    again: (() => Effect.Effect<Answer, Error>) | undefined
  ): Effect.Effect<Answer, Error> {
    return Effect.withFiber((fiber) => {
      const id = ++lastId
      const { core, correlation, isCarried } = this.#logical
      const { context } = fiber
      // What listens goes on for as long as its caller has said, whatever the timeout of opening it.
      const end = Revision.latest.methods.get(method)?.streams === true ? this.bounds.deadline : this.bounds.latest
      const meta = makeMeta(this.#logical, id, end, context)
      if (typeof meta === "string") return Effect.fail(this.fail(new McpClientError.InvalidArguments({ detail: meta })))
      this.evidence = this.#before
      const outgoing: Transport.Outgoing = {
        id,
        method,
        params: { ...params, _meta: meta.members },
        text: encodeRequest(id, method, params, meta),
        headers: isCarried ? [[Call.correlationHeader, correlation], ...headers] : headers,
        sent: () => {
          if (this.evidence === this.#before) this.evidence = "MaybeSent"
        },
        notify: (notification) => this.#notified(id, notification, context, notify)
      }
      return Effect.matchEffect(core.transport.send(outgoing), {
        onFailure: (reason) => Effect.fail(this.#failed(reason, context)),
        onSuccess: (incoming) =>
          again !== undefined && namesOurVersion(incoming.response)
            ? again()
            : this.#check(id, method, incoming, context)
      })
    })
  }

  #notified(
    id: number,
    notification: JsonRpc.Notification,
    context: Context.Context<never>,
    notify: Notify | undefined
  ): void {
    const { method, params } = notification
    const { log, progress } = this.#logical.call
    if (method === Revision.notification.progress) {
      // Reports for other tokens are not ours (spec: basic/patterns/progress).
      if (progress === undefined || params[Revision.meta.progressToken] !== id) return
      this.bounds.restart(Timer.now(context))
      const report = progressOf(params)
      if (report !== undefined) this.reports?.push(() => progress(report))
    } else if (method === Revision.notification.message) {
      const message = log === undefined ? undefined : logMessageOf(params)
      if (log !== undefined && message !== undefined) this.reports?.push(() => log.handler(message))
    } else notify?.(notification, id)
  }

  /**
   * What the server or the transport says. The server has the end of the call too and can be the first to notice it: the
   * time has run out either way. Timers can fire a millisecond early.
   */
  #failed(reason: McpClientError.Reason, context: Context.Context<never>): Error {
    const isServers = reason._tag === "RpcError"
      ? reason.code === Revision.codes.internalError
      : reason._tag === "HttpStatus" && reason.status === 504
    if (!isServers || this.bounds.end - Timer.now(context) > 1) return this.fail(reason)
    this.evidence = "MaybeSent"
    return this.timedOut()
  }

  #check(
    id: number,
    method: string,
    incoming: Transport.Incoming,
    context: Context.Context<never>
  ): Effect.Effect<Answer, Error> {
    const { response } = incoming
    this.evidence = "Completed"
    if (response._tag === "Failure") {
      // An error without an id belongs to the request that it answers (spec: basic, Error Responses).
      return Effect.fail(
        response.id === undefined || response.id === id
          ? this.#failed(reasonOf(response.error, incoming), context)
          : this.malformed("the id is not the id of the request")
      )
    }
    if (response.id !== id) return Effect.fail(this.malformed("the id is not the id of the request"))
    const { result } = response
    const resultType = result["resultType"]
    // An absent one is what servers of older revisions send (spec: basic, resultType).
    if (resultType === undefined || resultType === Revision.resultType.complete) {
      return Effect.succeed({ result, inputRequired: false })
    }
    if (resultType !== Revision.resultType.inputRequired) {
      return Effect.fail(this.malformed("the `resultType` is not known"))
    }
    return Revision.latest.methods.get(method)?.asksForInput === true
      ? Effect.succeed({ result, inputRequired: true })
      : Effect.fail(this.malformed("a request of this kind cannot require input"))
  }
}

const namesOurVersion = (response: JsonRpc.Response): boolean =>
  response._tag === "Failure" && response.error.code === Revision.codes.unsupportedProtocolVersion &&
  supportedBy(response.error.data)?.includes(Revision.latest.version) === true

/** The versions that an error with -32022 names. */
const supportedBy = (data: Json.Value | undefined): ReadonlyArray<string> | undefined => {
  const supported = typeof data === "object" && data !== null && "supported" in data ? data.supported : undefined
  return Array.isArray(supported) && supported.every((version) => typeof version === "string") ? supported : undefined
}

const reasonOf = (error: JsonRpc.ErrorObject, incoming: Transport.Incoming): McpClientError.Reason => {
  if (error.code === Revision.codes.unsupportedProtocolVersion) {
    const supported = supportedBy(error.data)
    if (supported !== undefined && !supported.includes(Revision.latest.version)) {
      return new McpClientError.UnsupportedVersion({ supported })
    }
  }
  return new McpClientError.RpcError({
    code: error.code,
    text: error.message,
    data: error.data,
    status: incoming.status,
    retryAfter: incoming.retryAfter
  })
}

/** Malformed reports are ignored. */
const progressOf = ({ message, progress, total }: Json.Object): Call.Progress | undefined =>
  typeof progress === "number"
    ? {
      progress,
      total: typeof total === "number" ? total : undefined,
      message: typeof message === "string" ? message : undefined
    }
    : undefined

const logMessageOf = ({ data, level, logger }: Json.Object): Call.LogMessage | undefined =>
  isLogLevel(level) && data !== undefined
    ? { level, data, logger: typeof logger === "string" ? logger : undefined }
    : undefined

const logLevels: ReadonlySet<unknown> = new Set(Messages.LogLevel.literals)
const isLogLevel = (value: Json.Value | undefined): value is Messages.LogLevel => logLevels.has(value)
