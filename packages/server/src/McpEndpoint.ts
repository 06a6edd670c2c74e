/**
 * Serves what is registered. `serve` makes the endpoint: it has no socket of its own; the fronts around it bring the
 * requests in: `HttpApp` (an Effect HTTP app), `WebHandler` (`Request` to `Response`), `InProcess`, and in
 * `@fairlead/node` the HTTP listener and stdio.
 *
 * | option | default | at the limit |
 * | --- | --- | --- |
 * | `maxBodyBytes` | 1 MiB | 413 |
 * | `maxResponseBytes` | 1 MiB | -32603 that names the limit |
 * | `maxJsonDepth` | 64 levels | -32600 |
 * | `requestTimeout` | 30 seconds | 504 with -32603, the handler is interrupted |
 * | `cancellationGrace` | 5 seconds | the overstay is logged; the slot stays taken |
 * | `maxConcurrentRequests` | 1,024 | 503 with `retry-after: 1` |
 * | `allowedHosts` | the loopback names | 403 |
 * | `allowedOrigins` | http on the loopback names, any port | 403 |
 *
 * Not included yet: authorization, CORS, `subscriptions/listen`.
 *
 * @since 0.1.0
 */
import type * as Content from "@fairlead/protocol/Content"
import * as Json from "@fairlead/protocol/Json"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Channel, ChannelOptions, HttpAdmission, HttpRequest } from "./Front.ts"
import { makeCatalog } from "./internal/catalog.ts"
import { makeEndpoint } from "./internal/endpoint.ts"
import { hostName, loopbackHosts } from "./internal/httpChecks.ts"
import { makeServer } from "./internal/server.ts"
import { McpServer } from "./McpServer.ts"
import type { Refused, RequestInfo } from "./RequestContext.ts"

/**
 * The endpoint: what fronts bring requests to.
 *
 * @category services
 * @since 0.1.0
 */
export class McpEndpoint extends Context.Service<McpEndpoint, {
  /** Takes an HTTP request by its head; the body is read only if it is admitted. For fronts. */
  readonly http: (request: HttpRequest) => HttpAdmission
  /** Opens a channel of messages, as stdio is one. For fronts. */
  readonly connect: (options: ChannelOptions) => Channel
  /**
   * Stops: new requests are refused with 503, those under way get the cancellation grace to end and are interrupted
   * then. Takes at most the grace and 5 seconds.
   */
  readonly stop: Effect.Effect<void>
}>()("@fairlead/server/McpEndpoint") {}

/**
 * The options of {@link serve}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options<RC = never, RX = never> {
  /** The name of the server, for clients to show. */
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly websiteUrl?: string | undefined
  readonly icons?: ReadonlyArray<Content.Icon> | undefined
  /** Guidance for the model: when to use this server. Default: none. */
  readonly instructions?: string | undefined
  /** Whether results carry name and version in their metadata. Default: true. */
  readonly serverInfo?: boolean | undefined
  /**
   * Gives each request the services that differ from request to request, such as a tenant. What it gives is taken out of
   * what the handlers require. It runs in the request's fiber and scope, within its deadline, before the message is
   * read. Failing with `Refused` turns the request away.
   */
  readonly context?: ((request: RequestInfo) => Effect.Effect<Context.Context<RC>, Refused, RX>) | undefined
  /** The largest request body, in bytes. Default: 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** The largest answer, in bytes. Default: 1 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** The deepest nesting of arrays and objects in a request. Default: 64. */
  readonly maxJsonDepth?: number | undefined
  /** How long a request may take, from its admission to its answer. Default: 30 seconds. */
  readonly requestTimeout?: Duration.Input | undefined
  /** How long a handler may go on after it was interrupted before that is logged. Default: 5 seconds. */
  readonly cancellationGrace?: Duration.Input | undefined
  /** How many requests run at once. Default: 1,024. */
  readonly maxConcurrentRequests?: number | undefined
  /**
   * The host names that the `Host` header may have, without port, beside the loopback names. Default: none. Needed when
   * the endpoint is reached under a name of its own.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /** The `Origin` values of browsers that may call, such as `https://app.example.com`. Default: http on loopback. */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /** A name for this endpoint in logs. */
  readonly label?: string | undefined
}

/**
 * An option that cannot be used: the layer fails with it before anything is served.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{
  /** The option, such as `maxBodyBytes`. */
  readonly field: string
  readonly reason: string
}> {
  override get message(): string {
    return `The option ${this.field} cannot be used: ${this.reason}`
  }
}

/**
 * Serves what is registered. The result has the endpoint and the server's catalog; give it to a front.
 *
 * Fails with `InvalidConfig` for an option that cannot be used.
 *
 * **Example** (Serving a tool)
 *
 * ```ts
 * import { Tool } from "@fairlead/protocol"
 * import { McpEndpoint, McpServer } from "@fairlead/server"
 * import { Effect, Schema } from "effect"
 *
 * const Greet = Tool.make("greet", {
 *   description: "Greets somebody.",
 *   input: Schema.Struct({ name: Schema.NonEmptyString }),
 *   output: Schema.String
 * })
 *
 * export const endpoint = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`)).pipe(
 *   McpEndpoint.serve({ name: "greeter", version: "1.0.0" })
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const serve = <RC = never, RX = never>(options: Options<RC, RX>) =>
<A, E, R>(
  registrations: Layer.Layer<A, E, R>
): Layer.Layer<
  McpEndpoint | McpServer | A,
  E | InvalidConfig,
  Exclude<RX, Scope.Scope> | Exclude<R, McpServer | RC>
> =>
  registrations.pipe(
    Layer.provideMerge(layerCore(options))
  ) as Layer.Layer<
    McpEndpoint | McpServer | A,
    E | InvalidConfig,
    Exclude<RX, Scope.Scope> | Exclude<R, McpServer | RC>
  >

const layerCore = <RC, RX>(options: Options<RC, RX>) =>
  Layer.effectContext(Effect.gen(function*() {
    const settings = yield* settingsOf(options)
    const catalog = makeCatalog({
      info: {
        name: options.name,
        version: options.version,
        ...(options.title === undefined ? {} : { title: options.title }),
        ...(options.description === undefined ? {} : { description: options.description }),
        ...(options.websiteUrl === undefined ? {} : { websiteUrl: options.websiteUrl }),
        ...(options.icons === undefined ? {} : { icons: options.icons })
      },
      instructions: options.instructions,
      showInfo: options.serverInfo ?? true
    })
    const services = yield* Effect.context<RX>()
    const contextOf = options.context
    const endpoint = makeEndpoint(
      catalog,
      {
        ...settings,
        contextOf: contextOf === undefined
          ? undefined
          // It runs in the context below, to which each request adds its own scope and call.
          : (request) => contextOf(request) as Effect.Effect<never, Refused>
      },
      services as Context.Context<never>
    )
    yield* Effect.addFinalizer(() => endpoint.stop)
    return Context.make(McpEndpoint, endpoint).pipe(Context.add(McpServer, makeServer(catalog)))
  }))

const settingsOf = Effect.fnUntraced(function*<RC, RX>(options: Options<RC, RX>) {
  const number = (field: string, value: number | undefined, fallback: number) =>
    value === undefined
      ? Effect.succeed(fallback)
      : Number.isInteger(value) && value > 0
      ? Effect.succeed(value)
      : Effect.fail(new InvalidConfig({ field, reason: "it must be a whole number above 0" }))
  const millis = (field: string, value: Duration.Input | undefined, fallback: number, least: number) => {
    const duration = value === undefined ? fallback : Duration.toMillis(value)
    return duration >= least
      ? Effect.succeed(duration)
      : Effect.fail(new InvalidConfig({ field, reason: `it must be at least ${least} milliseconds` }))
  }
  for (const field of ["name", "version"] as const) {
    if (options[field] === "") yield* new InvalidConfig({ field, reason: "it is empty" })
  }
  for (const host of options.allowedHosts ?? []) {
    if (hostName(host) === undefined) {
      yield* new InvalidConfig({ field: "allowedHosts", reason: "a value is not a host name" })
    }
  }
  for (const origin of options.allowedOrigins ?? []) {
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/i.test(origin)) {
      yield* new InvalidConfig({ field: "allowedOrigins", reason: "a value is not an origin" })
    }
  }
  return {
    maxBodyBytes: yield* number("maxBodyBytes", options.maxBodyBytes, 1024 * 1024),
    maxResponseBytes: yield* number("maxResponseBytes", options.maxResponseBytes, 1024 * 1024),
    maxJsonDepth: yield* number("maxJsonDepth", options.maxJsonDepth, Json.defaultMaxDepth),
    maxConcurrentRequests: yield* number("maxConcurrentRequests", options.maxConcurrentRequests, 1024),
    requestTimeoutMillis: yield* millis("requestTimeout", options.requestTimeout, 30_000, 1),
    graceMillis: yield* millis("cancellationGrace", options.cancellationGrace, 5_000, 0),
    hosts: new Set([...loopbackHosts, ...(options.allowedHosts ?? []).map((host) => hostName(host)!)]),
    origins: options.allowedOrigins === undefined
      ? undefined
      : new Set(options.allowedOrigins.map((origin) => origin.toLowerCase())),
    label: options.label
  }
})
