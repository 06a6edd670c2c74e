/**
 * The HTTP transport for Node, on undici's dispatcher: it behaves as `HttpTransport` does, at a fraction of the cost, and
 * has what only Node can give: a pool of connections of its own, a private certificate authority, a bound on connecting,
 * a say in the addresses that are dialled (spec: basic/transports/streamable-http).
 *
 * | setting | default |
 * | --- | --- |
 * | `headers` | none |
 * | `allowPlaintextHeaders` | false |
 * | `maxResponseBytes` | 1 MiB |
 * | `maxStreamBytes` | 16 MiB |
 * | `allowHost` | every host |
 * | `connectTimeout` | 10 seconds |
 * | `maxConnections` | 256 |
 * | `idleTimeout` | 4 seconds |
 * | `caFile` | what Node trusts |
 * | `allowAddress` | every address |
 *
 * A request counts as sent when the dispatcher starts to write it: a call that ends while it waits for a connection is
 * `NotSent`. An event stream whose answer has come is left a moment to end by itself, so that its connection is used
 * again.
 *
 * A 307 or 308 to the same origin is followed, three times at most; every other redirect fails with `HttpStatus`, whose
 * `location` names the target. Requests are HTTP/1.1, one at a time on a connection. The time limits of a call are the
 * client's; undici's own are off.
 *
 * @since 0.1.0
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as Undici from "@effect/platform-node/Undici"
import * as HttpExchange from "@fairlead/client/HttpExchange"
import type * as HttpTransport from "@fairlead/client/HttpTransport"
import type * as McpClientError from "@fairlead/client/McpClientError"
import { Transport } from "@fairlead/protocol/Transport"
import type * as Config from "effect/Config"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { exchange, type Wire } from "./internal/httpExchange.ts"
import { acquirePool } from "./internal/pool.ts"

/**
 * The options of {@link layer} and {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<R = never> extends HttpTransport.Options<R> {
  /**
   * How long one attempt to connect may take, with the TLS handshake; then the calls that wait for it fail with
   * `TimedOut` of the bound `connect`, and nothing was sent. Default: 10 seconds.
   */
  readonly connectTimeout?: Duration.Input | undefined
  /**
   * How many connections are open at once. Further calls wait for one, within their own bounds. At least 1. Default: 256.
   */
  readonly maxConnections?: number | undefined
  /** How long a connection without a call stays open; a server that announces less is followed. Default: 4 seconds. */
  readonly idleTimeout?: Duration.Input | undefined
  /**
   * A file with the certificates, in PEM, of the authorities that are trusted in place of those that Node trusts. It is
   * read once, when the transport is made, and is for https only; a file that cannot be used is `InvalidConfig(caFile)`.
   * Default: what Node trusts.
   */
  readonly caFile?: string | undefined
  /**
   * Whether an IP address may be dialled: it is asked for each address that the name resolves to, and only those that
   * pass are tried. Where none is left the call fails with `Refused`, which is not retryable. Default: every address.
   */
  readonly allowAddress?: ((address: string) => boolean) | undefined
}

/**
 * Makes the transport with connections of its own, which close with the scope. It connects to nothing by itself: that a
 * server cannot be reached shows with the first call.
 *
 * Fails with `InvalidConfig` for a setting that cannot be used, and with `Refused` for a host that is not allowed and for
 * headers that would cross plain http.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: <R = never>(
  options: Options<R>
) => Effect.Effect<Transport["Service"], McpClientError.McpClientError, Scope.Scope | R> = Effect.fnUntraced(
  function*<R = never>(options: Options<R>) {
    const settings = yield* HttpExchange.settings(options)
    const { connectMillis, dispatcher } = yield* acquirePool(options, settings.url)
    return yield* over(settings, dispatcher, connectMillis)
  }
)

/**
 * The transport as a layer.
 *
 * **Example** (A server with a certificate of the company's)
 *
 * ```ts
 * import { McpClient } from "@fairlead/client"
 * import { NodeHttpTransport } from "@fairlead/node"
 * import { Layer } from "effect"
 *
 * export const Client = McpClient.layer().pipe(
 *   Layer.provide(NodeHttpTransport.layer({
 *     url: "https://docs.intern.example/mcp",
 *     caFile: "/etc/ssl/company.pem",
 *     maxConnections: 32
 *   }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  options: Options<R>
): Layer.Layer<Transport, McpClientError.McpClientError, Exclude<R, Scope.Scope>> =>
  Layer.effect(Transport, make(options))

/**
 * The transport as a layer, with options from the program's configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = <R = never>(
  options: Config.Config<Options<R>>
): Layer.Layer<Transport, McpClientError.McpClientError | Config.ConfigError, Exclude<R, Scope.Scope>> =>
  Layer.unwrap(Effect.map(options, (options) => layer(options)))

/**
 * The transport on the program's own dispatcher, for what undici can do beyond {@link Options}: proxies, sockets of a
 * path, client certificates. The dispatcher is not closed with the layer.
 *
 * What the dispatcher does by itself stays: one that repeats requests or follows redirects takes from the errors what
 * they say about whether the server may have acted.
 *
 * **Example** (A socket of a path)
 *
 * ```ts
 * import { NodeHttpClient } from "@effect/platform-node"
 * import { McpClient } from "@fairlead/client"
 * import { NodeHttpTransport } from "@fairlead/node"
 * import { Layer } from "effect"
 *
 * export const Client = McpClient.layer().pipe(
 *   Layer.provide(NodeHttpTransport.layerDispatcher({ url: "http://localhost/mcp" })),
 *   Layer.provide(NodeHttpClient.layerDispatcherOptions({ connect: { socketPath: "/run/docs.sock" } }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerDispatcher = <R = never>(
  options: HttpTransport.Options<R>
): Layer.Layer<
  Transport,
  McpClientError.McpClientError,
  NodeHttpClient.Dispatcher | Exclude<R, Scope.Scope>
> =>
  Layer.effect(
    Transport,
    Effect.gen(function*() {
      return yield* over(yield* HttpExchange.settings(options), yield* NodeHttpClient.Dispatcher, undefined)
    })
  )

const over = Effect.fnUntraced(function*(
  { headers, limits, url }: HttpExchange.Settings,
  dispatcher: Undici.Dispatcher,
  connectMillis: number | undefined
) {
  const wire: Wire = {
    dispatcher,
    url,
    limits,
    connectMillis,
    open: new Set(),
    closed: false
  }
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      wire.closed = true
      for (const { exchange } of wire.open) exchange?.abort()
    })
  )
  return Transport.of({
    name: "http",
    hasHeaders: true,
    send: Effect.isEffect(headers)
      ? (request) => Effect.flatMap(headers, (own) => exchange(wire, request, own))
      : (request) => exchange(wire, request, headers)
  })
})
