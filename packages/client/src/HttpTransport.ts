/**
 * The portable HTTP transport: one POST a request, answered by JSON or by an event stream, on whatever `HttpClient` of
 * effect/http the program has (spec: basic/transports/streamable-http).
 *
 * | setting | default |
 * | --- | --- |
 * | `headers` | none |
 * | `allowPlaintextHeaders` | false |
 * | `maxResponseBytes` | 1 MiB |
 * | `maxStreamBytes` | 16 MiB |
 * | `allowHost` | every host |
 *
 * What a platform's client does by itself stays: Node's `fetch` gives up when 300 seconds pass without data, which
 * `NodeHttpClient.layerUndici` of @effect/platform-node does not. On Node, `NodeHttpTransport` of @fairlead/node behaves
 * the same and costs less.
 *
 * A 307 or 308 to the same origin is followed, three times at most; every other redirect fails with `HttpStatus`, whose
 * `location` names the target. Requests have no tracing
 * spans of effect/http and no trace headers. Time limits are the client's.
 *
 * @since 0.1.0
 */
import { type Outgoing, Transport } from "@fairlead/protocol/Transport"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as HttpExchange from "./HttpExchange.ts"
import { exchange, type Wire } from "./internal/httpExchange.ts"
import type { Pairs } from "./internal/userHeaders.ts"
import type * as McpClientError from "./McpClientError.ts"

/**
 * Headers to send: pairs of name and value. Names are sent in lower case; equal names are joined with a comma.
 *
 * @category models
 * @since 0.1.0
 */
export type Headers = Pairs

/**
 * The options of {@link layer} and {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<R = never> {
  /**
   * Where the endpoint is: an absolute http or https URL. User, password, query, fragment, spaces, control characters
   * and backslashes are refused with `InvalidConfig`, which does not repeat the value.
   */
  readonly url: string | URL
  /**
   * Headers for every request, such as `authorization`: pairs, or an effect that gives them. The effect runs for each
   * request, within its bounds, with a `Call` that carries nothing; its failure and its defects become
   * `InvalidConfig(headers)` without their details. The names of HTTP and the protocol (`host`, `connection`,
   * `content-*`, `mcp-*`, `x-correlation-id` and the like) and values with CR, LF or NUL are refused. Default: none.
   */
  readonly headers?: Headers | Effect.Effect<Headers, unknown, R> | undefined
  /**
   * Lets `headers` cross plain http to other machines. Without it only loopback is reached that way, and anything else
   * fails with `Refused`: a token sent in the clear is everyone's. Default: false.
   */
  readonly allowPlaintextHeaders?: boolean | undefined
  /**
   * The largest answer in bytes: a JSON body, at every status, or one event of a stream. Exactly as many pass; one more
   * fails the call with `ResponseTooLarge`, while the bytes arrive. At least 1. Default: 1 MiB.
   */
  readonly maxResponseBytes?: number | undefined
  /**
   * How many bytes the event stream of one call may have before its answer; then the call fails with `ResponseTooLarge`.
   * A stream that listens has no such bound. At least 1, or `Infinity`. Default: 16 MiB.
   */
  readonly maxStreamBytes?: number | undefined
  /**
   * Whether a host may be called, for programs whose URLs come from elsewhere: it is asked once, for the host of the URL,
   * and what it refuses or throws at is `Refused`, which is not retryable. Default: every host.
   */
  readonly allowHost?: ((host: string) => boolean) | undefined
}

/**
 * Makes the transport. It sends nothing by itself: that a server cannot be reached shows with the first call.
 *
 * Fails with `InvalidConfig` for a setting that cannot be used, and with `Refused` for a host that is not allowed and for
 * headers that would cross plain http.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: <R = never>(options: Options<R>) => Effect.Effect<
  Transport["Service"],
  McpClientError.McpClientError,
  HttpClient.HttpClient | Scope.Scope | R
> = Effect.fnUntraced(function*<R = never>(options: Options<R>) {
  const { headers, limits, url } = yield* HttpExchange.settings(options)
  const lingering: Wire["lingering"] = new Set()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(lingering))
  const wire: Wire = { execute: yield* executeOf, url, limits, lingering }
  const base = HttpClientRequest.post(url.href)
  const send = (request: Outgoing, own: HttpExchange.CheckedHeaders) =>
    exchange(
      wire,
      request,
      HttpClientRequest.setBody(
        HttpClientRequest.setHeaders(base, { ...own, ...Object.fromEntries(HttpExchange.requestHeaders(request)) }),
        HttpBody.text(request.text, "application/json")
      )
    )
  return Transport.of({
    name: "http",
    hasHeaders: true,
    send: Effect.isEffect(headers)
      ? (request) => Effect.flatMap(headers, (own) => send(request, own))
      : (request) => send(request, headers)
  })
})

/**
 * The transport as a layer.
 *
 * **Example** (A token for each request)
 *
 * ```ts
 * import { HttpTransport, McpClient } from "@fairlead/client"
 * import { Config, Effect, Layer, Redacted } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const authorization = Effect.map(
 *   Config.Redacted("API_TOKEN"),
 *   (token) => [["authorization", `Bearer ${Redacted.value(token)}`]] as const
 * )
 *
 * export const Client = McpClient.layer().pipe(
 *   Layer.provide(HttpTransport.layer({ url: "https://docs.example.com/mcp", headers: authorization })),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  options: Options<R>
): Layer.Layer<Transport, McpClientError.McpClientError, HttpClient.HttpClient | Exclude<R, Scope.Scope>> =>
  Layer.effect(Transport, make(options))

/**
 * The transport as a layer, with options from the program's configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = <R = never>(
  options: Config.Config<Options<R>>
): Layer.Layer<
  Transport,
  McpClientError.McpClientError | Config.ConfigError,
  HttpClient.HttpClient | Exclude<R, Scope.Scope>
> => Layer.unwrap(Effect.map(options, (options) => layer(options)))

/** The program's client with redirects and tracing off: both would send headers where they do not belong. */
const executeOf = Effect.gen(function*() {
  const client = yield* HttpClient.HttpClient
  const requestInit = { ...yield* requestInitOf(client), redirect: "manual" as const }
  const scoped = HttpClient.withScope(client)
  return (request: HttpClientRequest.HttpClientRequest) =>
    Effect.updateContext(scoped.execute(request), (context: Context.Context<Scope.Scope>) =>
      context.pipe(
        Context.add(HttpClient.TracerDisabledWhen, () => true),
        Context.add(FetchHttpClient.RequestInit, requestInit)
      ))
})

/**
 * What was configured for `fetch`, so that only its redirect mode changes. The layer of the client keeps it to itself,
 * so it is read where the client would run a request, which is never made.
 */
const requestInitOf = (client: HttpClient.HttpClient): Effect.Effect<RequestInit | undefined> =>
  Effect.suspend(() => {
    let found: RequestInit | undefined
    const look = Effect.withFiber((fiber) => {
      found = Context.getOrUndefined(fiber.context, FetchHttpClient.RequestInit)
      return Effect.interrupt
    })
    return Effect.as(Effect.exit(client.postprocess(look)), undefined).pipe(Effect.map(() => found))
  })
