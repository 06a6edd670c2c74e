/**
 * The HTTP listener: a `node:http` server whose requests go to an endpoint.
 */
import type { McpEndpoint } from "@fairlead/server/McpEndpoint"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Fs from "node:fs"
import * as Http from "node:http"
import type * as Https from "node:https"
import type { AddressInfo } from "node:net"
import type { HttpOptions } from "../NodeMcpEndpoint.ts"
import { type Expected, onConnect, onRequest, type Site } from "./httpRequest.ts"
import { millisOf, notADuration } from "./millis.ts"
import { Refusals } from "./refusals.ts"

export type ListenFailure =
  | { readonly _tag: "Config"; readonly field: string; readonly reason: string }
  | { readonly _tag: "Loopback"; readonly host: string }
  | { readonly _tag: "Bind"; readonly host: string; readonly port: number; readonly code: string }

/** How often connections are looked at for the two timeouts of their arrival. */
const checkMillis = 1000
/** How long answers may take to leave once the endpoint has stopped. */
const flushTimeout = 1000

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)

/** A listener that is bound. */
export interface Bound {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Completes when the listener ends by itself. */
  readonly died: Effect.Effect<void>
}

/** A response under way. It is emptied when it is over: a set may hold what was in it for a while. */
interface Answering {
  response: Http.ServerResponse | undefined
}

const configFailure = (field: string, reason: string) => Effect.fail<ListenFailure>({ _tag: "Config", field, reason })

/** What of the options cannot be used, if anything. */
const check = (endpoint: McpEndpoint["Service"], options: HttpOptions): Effect.Effect<void, ListenFailure> => {
  const { host = "127.0.0.1", path = "/mcp", port = 0 } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return configFailure("port", "it is not a port number")
  if (!/^\/[^?#\s]*$/.test(path)) return configFailure("path", "it is not an absolute path")
  if (isLoopback(host)) return Effect.void
  if (options.allowUnauthenticated !== true && !endpoint.verifies) {
    return Effect.fail<ListenFailure>({ _tag: "Loopback", host })
  }
  if ((host === "0.0.0.0" || host === "::") && !endpoint.namesHosts) {
    return configFailure("host", "the endpoint's allowedHosts must name the hosts it is reached under")
  }
  return endpoint.sealsAlone
    ? Effect.logWarning(
      "Input rounds and pages of lists are sealed with a key of this process; give the endpoint stateKeys to share them"
    )
    : Effect.void
}

const readTls = ({ tls }: HttpOptions): Effect.Effect<Https.ServerOptions | undefined, ListenFailure> =>
  tls === undefined
    ? Effect.succeed(undefined)
    : Effect.catch(
      Effect.try({
        try: () => ({ cert: Fs.readFileSync(tls.certFile), key: Fs.readFileSync(tls.keyFile) }),
        catch: () => undefined
      }),
      () => configFailure("tls", "a file cannot be read")
    )

/** How long requests may take to arrive, as Node takes it. */
interface Arrival {
  readonly headersTimeout: number
  readonly requestTimeout: number
  readonly connectionsCheckingInterval: number
}

const readArrival = ({ headTimeout = 10_000, bodyTimeout = 30_000 }: HttpOptions): Effect.Effect<
  Arrival,
  ListenFailure
> => {
  const headersTimeout = millisOf(headTimeout)
  if (headersTimeout === undefined) return configFailure("headTimeout", notADuration)
  const requestTimeout = millisOf(bodyTimeout)
  if (requestTimeout === undefined) return configFailure("bodyTimeout", notADuration)
  return requestTimeout < headersTimeout
    ? configFailure("bodyTimeout", "it is shorter than headTimeout")
    : Effect.succeed({
      headersTimeout,
      requestTimeout,
      connectionsCheckingInterval: Math.min(checkMillis, headersTimeout)
    })
}

const createServer = (
  tls: Https.ServerOptions | undefined,
  arrival: Arrival
): Effect.Effect<Http.Server, ListenFailure> => {
  // A missing Host is refused here, with a text and without losing it.
  const options = { ...arrival, requireHostHeader: false }
  return tls === undefined
    ? Effect.succeed(Http.createServer(options))
    : Effect.catch(
      Effect.try({
        // Loaded where it is used: it makes the start slower.
        try: () => process.getBuiltinModule("node:https").createServer({ ...tls, ...options }),
        catch: () => undefined
      }),
      () => configFailure("tls", "the certificate or the key is not valid")
    )
}

/**
 * Binds a listener for as long as the scope is open. `stop` runs before it closes: the endpoint's stop, for an intended
 * end.
 */
export const listen = Effect.fnUntraced(function*(
  endpoint: McpEndpoint["Service"],
  options: HttpOptions,
  stop: Effect.Effect<void>
): Effect.fn.Return<Bound, ListenFailure, Scope.Scope> {
  yield* check(endpoint, options)
  const { host = "127.0.0.1", path = "/mcp", port = 0 } = options
  const site: Site = {
    endpoint,
    path,
    ownHost: host.includes(":") ? `[${host.toLowerCase()}]` : host.toLowerCase(),
    health: options.health ?? false
  }
  const tls = yield* readTls(options)
  const server = yield* createServer(tls, yield* readArrival(options))
  const answering = new Set<Answering>()
  const refusals = new Refusals()
  const serveRequest = (expected?: Expected) => (request: Http.IncomingMessage, response: Http.ServerResponse) => {
    const place: Answering = { response }
    answering.add(place)
    response.on("close", () => {
      answering.delete(place)
      place.response = undefined
    })
    onRequest(site, request, response, expected)
  }
  server.on("request", serveRequest())
  server.on("checkContinue", serveRequest("continue"))
  server.on("checkExpectation", serveRequest("unknown"))
  server.on("connect", onConnect(site, refusals))
  server.on("clientError", (error, socket) => {
    const isAnswered = [...answering].some(({ response }) => response?.socket === socket && response.headersSent)
    refusals.onError(error, socket, isAnswered)
  })

  const died = Deferred.makeUnsafe<void>()
  let isIntended = false
  yield* Effect.acquireRelease(
    Effect.callback<void, ListenFailure>((resume) => {
      const onError = (error: NodeJS.ErrnoException) =>
        resume(Effect.fail({ _tag: "Bind", host, port, code: error.code ?? "unknown" }))
      server.once("error", onError)
      server.listen({ host, port }, () => {
        server.removeListener("error", onError)
        resume(Effect.void)
      })
    }),
    () =>
      Effect.flatMap(stop, () => {
        isIntended = true
        return close(server, answering, refusals)
      })
  )

  const onDeath = () => {
    if (!isIntended) Deferred.doneUnsafe(died, Effect.void)
  }
  server.on("error", onDeath)
  server.on("close", onDeath)

  const address = server.address() as AddressInfo
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address
  return {
    host: address.address,
    port: address.port,
    url: `${tls === undefined ? "http" : "https"}://${name}:${address.port}${path}`,
    died: Deferred.await(died)
  }
})

/**
 * The endpoint has stopped by now: every request has its answer or is beyond its grace. Answers that are still on their
 * way to a slow client get a moment; idle connections do not.
 */
const close = (server: Http.Server, answering: ReadonlySet<Answering>, refusals: Refusals) =>
  Effect.callback<void>((resume) => {
    const leaving = new Set(
      [...answering].flatMap(({ response }) => response?.writableEnded === true ? [response] : [])
    )
    const end = () => {
      clearTimeout(timer)
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
      refusals.close()
    }
    // Not before: Node takes a connection for idle as soon as its answer is written, and cuts what has not left.
    const timer = setTimeout(end, flushTimeout)
    if (leaving.size === 0) return end()
    for (const response of leaving) {
      response.on("close", () => {
        leaving.delete(response)
        if (leaving.size === 0) end()
      })
    }
  })
