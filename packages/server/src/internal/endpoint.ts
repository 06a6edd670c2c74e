/**
 * The endpoint: it admits requests to a bounded number of slots, gives each its deadline, and keeps the slot until the
 * request has truly ended. Fronts hand it HTTP requests or the messages of a channel.
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Timer from "@fairlead/protocol/Timer"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type { Channel, ChannelOptions, HttpAdmission, HttpRequest } from "../Front.ts"
import { Principal } from "../Invocation.ts"
import type { Change } from "../Notifications.ts"
import type { Refused, RequestInfo } from "../RequestContext.ts"
import type { Catalog } from "./catalog.ts"
import { makeChannel } from "./channel.ts"
import type { HeaderLookup } from "./dispatcher.ts"
import { closing, type DispatcherOptions, makeDispatcher } from "./dispatcher.ts"
import { Exchange, type Host, type Place } from "./exchange.ts"
import { type ArrivalHost, HttpArrival } from "./httpArrival.ts"
import { bodyTooLarge, checkHead, type HttpPolicy, isRefusal, refuse as refuseHttp } from "./httpChecks.ts"
import { makeHub } from "./hub.ts"
import { makeInputRounds } from "./inputState.ts"
import { makeLists } from "./lists.ts"
import { overstaying, overstays } from "./metrics.ts"
import { accepted, failure, invalidRequest, overloaded, RpcError, stopping, success } from "./reply.ts"
import type { Sealer } from "./sealing.ts"
import type { Sink } from "./sink.ts"

export interface EndpointSettings extends HttpPolicy {
  readonly maxResponseBytes: number
  readonly maxJsonDepth: number
  readonly requestTimeoutMillis: number
  readonly graceMillis: number
  readonly maxConcurrentRequests: number
  readonly label: string | undefined
  readonly contextOf: ((request: RequestInfo) => Effect.Effect<Context.Context<never>, Refused>) | undefined
  readonly access: DispatcherOptions["access"]
  readonly middleware: DispatcherOptions["middleware"]
  readonly pageSize: number
  readonly maxListeners: number
  readonly keepAliveMillis: number
  readonly maxListenMillis: number
  readonly logs: boolean
  readonly correlationOf: ((request: Omit<RequestInfo, "correlation">) => string | undefined) | undefined
  readonly writeTimeoutMillis: number
  readonly maxArrivingRequests: number
}

export interface Endpoint {
  readonly http: (request: HttpRequest) => HttpAdmission
  readonly connect: (options: ChannelOptions) => Channel
  /** Whether new requests are served: it is not stopping, and most slots are not held by handlers that should be over. */
  readonly isReady: () => boolean
  /** Tells the listeners of this endpoint. */
  readonly publish: (change: Change) => void
  readonly stop: Effect.Effect<void>
}

/** A request on its way in. */
export interface Arrival {
  readonly sink: Sink
  readonly info: Omit<RequestInfo, "correlation">
  /** The id of the request where a channel knows it already. */
  readonly id: JsonRpc.RequestId | undefined
  /** The correlation that the client gave, if it is one. */
  readonly correlation: Json.Value | undefined
  /** Absent on transports without headers. */
  readonly header: HeaderLookup | undefined
  /** Services that the front gives its requests, in place of the endpoint's context function. */
  readonly services: Context.Context<never> | undefined
  /** Who asks, as the front says; it wins over the context function. */
  readonly principal?: string | undefined
  /** Hears of the exchange before it runs: it may end, or be cancelled, while it is started. */
  readonly admitted?: ((exchange: Exchange) => void) | undefined
  /** The message, read when its turn has come. */
  read(): Result.Result<JsonRpc.Message, JsonRpc.Invalid>
}

const tooManyArriving = refuseHttp(503, "Too many requests are being sent.", {
  "retry-after": "1",
  connection: "close"
})

/** The time that stopping may take beyond the grace of the handlers. */
const stopMillis = 5000

/** Services with the principal that a front gives. */
const withPrincipal = <S extends Context.Context<never> | undefined>(
  services: S,
  principal: string | undefined
): S | Context.Context<never> =>
  principal === undefined ? services : Context.merge(services ?? Context.empty(), Context.make(Principal, principal))

export const makeEndpoint = (
  catalog: Catalog,
  settings: EndpointSettings,
  sealer: Sealer,
  context: Context.Context<never>
): Endpoint => {
  const hub = makeHub(context, settings.keepAliveMillis)
  const { info, showInfo } = catalog.identity
  const ownMeta = showInfo ? { [Revision.meta.serverInfo]: info as unknown as Json.Value } : undefined
  const dispatcher = makeDispatcher({
    catalog,
    revision: Revision.latest,
    lists: makeLists(catalog, sealer, settings.pageSize),
    rounds: makeInputRounds(sealer, ownMeta === undefined ? "" : `,"_meta":${JSON.stringify(ownMeta)}`),
    access: settings.access,
    middleware: settings.middleware,
    context
  })
  const attributes = settings.label === undefined ? {} : { endpoint: settings.label }
  const overstaysMetric = Metric.withAttributes(overstays, attributes)
  const overstayingMetric = Metric.withAttributes(overstaying, attributes)
  const running = new Set<Place>()
  const idleListeners = new Set<() => void>()
  const instance = Call.makeCorrelationUnsafe().slice(0, 8)
  let isStopping = false
  let overstayed = 0
  let hasStopped = false
  let invocations = 0

  const log = (message: string, exchange: Exchange, cause?: Cause.Cause<unknown>) => {
    write(cause === undefined ? Effect.logWarning(message) : Effect.logError(message, cause), exchange)
  }

  const write = (entry: Effect.Effect<void>, exchange: Exchange, more: Readonly<Record<string, string>> = {}) => {
    Effect.runForkWith(context)(Effect.annotateLogs(entry, {
      correlation: exchange.correlation,
      method: exchange.request?.method ?? "unknown",
      ...attributes,
      ...more
    }))
  }

  const host: Host = {
    context,
    graceMillis: settings.graceMillis,
    maxResponseBytes: settings.maxResponseBytes,
    hub,
    maxListeners: settings.maxListeners,
    maxListenMillis: settings.maxListenMillis,
    isStopping: () => isStopping,
    logs: settings.logs,
    listenResult: (id) => `{${catalog.resultEnd({ [Revision.meta.subscriptionId]: id })}`,
    nextInvocationId: () => `${instance}-${++invocations}`,
    ended: ({ place }) => {
      running.delete(place)
      place.exchange = undefined
      if (running.size === 0) { for (const listener of idleListeners) listener() }
    },
    overstays: (count) => {
      overstayed += count
      if (count === 1) overstaysMetric.updateUnsafe(1, context)
      overstayingMetric.modifyUnsafe(count, context)
    },
    log
  }

  /** Gives a request its slot, or answers that there is none. */
  const serve = (arrival: Arrival): Exchange | undefined => {
    if (isStopping || running.size >= settings.maxConcurrentRequests) {
      arrival.sink.answer(failure(arrival.id, isStopping ? stopping() : overloaded()))
      return undefined
    }
    const deadline = Timer.now(context) + settings.requestTimeoutMillis
    const exchange = new Exchange(host, arrival.sink, arrival.correlation, deadline)
    exchange.ownId = arrival.id
    arrival.admitted?.(exchange)
    running.add(exchange.place)
    if (settings.correlationOf !== undefined && arrival.info.transport === "http") {
      try {
        exchange.correlate(settings.correlationOf(arrival.info))
      } catch (defect) {
        exchange.die(defect)
        return exchange
      }
    }
    if (settings.contextOf === undefined || arrival.services !== undefined) {
      serveNow(exchange, arrival, withPrincipal(arrival.services, arrival.principal))
    } else {
      serveInContext(exchange, arrival, settings.contextOf)
    }
    return exchange
  }

  const serveNow = (exchange: Exchange, arrival: Arrival, services: Context.Context<never> | undefined): void => {
    const message = arrival.read()
    if (Result.isFailure(message)) return exchange.finish(failure(message.failure.id, message.failure.error))
    if (message.success._tag === "Notification") return exchange.finish(accepted)
    if (message.success._tag !== "Request") return exchange.finish(failure(undefined, invalidRequest(notARequest)))
    const prepared = dispatcher.prepare({ exchange, request: message.success, headers: arrival.header, services })
    if (prepared instanceof RpcError) return exchange.finish(failure(exchange.id, prepared))
    if (typeof prepared === "string") return exchange.finish(success(exchange.id!, prepared))
    if (prepared._tag === "Listen") return exchange.listen(prepared)
    exchange.run(prepared.effect, prepared.context)
  }

  /** Who asks is found out before the message is looked at. */
  const serveInContext = (
    exchange: Exchange,
    arrival: Arrival,
    contextOf: NonNullable<EndpointSettings["contextOf"]>
  ): void => {
    const { header, info } = arrival
    const request: RequestInfo = { ...info, correlation: exchange.correlation }
    const work = Effect.flatMap(
      Effect.catch(Effect.suspend(() => contextOf(request)), refuse),
      (given): Effect.Effect<string, RpcError> => {
        const services = withPrincipal(given, arrival.principal)
        const message = arrival.read()
        if (Result.isFailure(message)) {
          exchange.ownId = message.failure.id
          return Effect.fail(new RpcError(message.failure.error))
        }
        if (message.success._tag === "Notification") return Effect.succeed(noAnswer)
        if (message.success._tag !== "Request") return Effect.fail(invalidRequest(notARequest))
        const prepared = dispatcher.prepare({ exchange, request: message.success, headers: header, services })
        if (prepared instanceof RpcError) return Effect.fail(prepared)
        if (typeof prepared === "string") return Effect.succeed(prepared)
        if (prepared._tag === "Listen") return Effect.as(exchange.listenInFiber(prepared), noAnswer)
        return Effect.provideContext(prepared.effect, prepared.context)
      }
    )
    const scope = Scope.makeUnsafe()
    exchange.run(closing(scope, work), exchange.provideOwn(context, scope))
  }

  const arrivals: ArrivalHost = {
    maxBodyBytes: settings.maxBodyBytes,
    maxJsonDepth: settings.maxJsonDepth,
    tooLarge: bodyTooLarge(settings.maxBodyBytes),
    writeWait: (f) => Timer.after(context, settings.writeTimeoutMillis, f),
    serve,
    arriving: 0
  }

  const http = (request: HttpRequest): HttpAdmission => {
    const head = checkHead(settings, request)
    if (isRefusal(head)) return { _tag: "Refuse", ...head }
    if (arrivals.arriving >= settings.maxArrivingRequests) return { _tag: "Refuse", ...tooManyArriving }
    return new HttpArrival(arrivals, request, head)
  }

  const connect = (options: ChannelOptions): Channel =>
    makeChannel(options, {
      serve,
      maxJsonDepth: settings.maxJsonDepth,
      maxMessageBytes: settings.maxBodyBytes,
      cancelled: (exchange, reason) =>
        write(
          Effect.logDebug("A request was cancelled by its client"),
          exchange,
          reason === undefined ? {} : { reason }
        )
    })

  /**
   * Waits until nothing runs, or the time is over. Not a race of effects: in a finalizer both sides would be
   * uninterruptible, so that it waits for the slower one, or, made interruptible, end at once in a fiber that is
   * interrupted, as the main fiber of a program is by a signal.
   */
  const awaitIdle = (millis: number) =>
    Effect.callback<void>((resume) => {
      let stopTimer = () => {}
      const done = () => {
        idleListeners.delete(done)
        stopTimer()
        resume(Effect.void)
      }
      if (running.size === 0) return done()
      idleListeners.add(done)
      stopTimer = Timer.after(context, millis, done)
      return Effect.sync(() => {
        idleListeners.delete(done)
        stopTimer()
      })
    })

  const stop = Effect.gen(function*() {
    // The front and the endpoint's layer both stop it: what outlasted the first wait gets no second one.
    if (hasStopped) return
    isStopping = true
    // Listeners have nothing to finish.
    for (const { exchange } of running) if (exchange?.isListening === true) exchange.interrupt("stop")
    yield* awaitIdle(settings.graceMillis)
    for (const { exchange } of running) exchange?.interrupt("stop")
    yield* awaitIdle(stopMillis)
    hasStopped = true
  })

  const isReady = () => !isStopping && overstayed * 2 <= settings.maxConcurrentRequests

  return { http, connect, isReady, publish: hub.publish, stop }
}

/** The result text of what has no answer: no request stands behind it, or its stream has ended already. */
const noAnswer = ""
const notARequest = "Only requests and notifications are served here"

/** A refusal as the answer it is; one that HTTP cannot carry is a defect of the context function. */
const refuse = ({ headers = {}, message, status }: Refused): Effect.Effect<never, RpcError> => {
  const valid = Number.isInteger(status) && status >= 400 && status < 600 &&
    Object.entries(headers).every(([name, value]) => headerName.test(name) && headerValue.test(value))
  if (!valid) return Effect.die(new Error("The context function refused with a status or a header that HTTP has not"))
  return Effect.fail(
    new RpcError({
      code: Revision.codes.internalError,
      message,
      // Over HTTP the status line says it.
      data: { status },
      status,
      plainHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    })
  )
}

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/
