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
 * | `cancellationGrace` | 5 seconds | the overstay is logged and counted; the slot stays taken |
 * | `maxConcurrentRequests` | 1,024 | 503 with `retry-after: 1` |
 * | `maxArrivingRequests` | 1,024 | 503 with `retry-after: 1` |
 * | `writeTimeout` | 30 seconds | the connection ends, the handler is interrupted |
 * | `allowedHosts` | the loopback names and the bind host | 403 |
 * | `allowedOrigins` | http on the loopback names and the bind host, any port | 403 |
 * | `pageSize` | 100 items | |
 * | `listen.maxListeners` | 64 | 503 with `retry-after: 1` |
 * | `listen.keepAlive` | 15 seconds | |
 * | `listen.maxLifetime` | none | the stream ends with its final result |
 *
 * Browsers of allowed origins get the headers of CORS. Not included yet: authorization beyond the `verify` function.
 *
 * @since 0.1.0
 */
import * as Content from "@fairlead/protocol/Content"
import * as Json from "@fairlead/protocol/Json"
import type { CacheHint } from "@fairlead/protocol/Resource"
import * as Revision from "@fairlead/protocol/Revision"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Channel, ChannelOptions, HttpAdmission, HttpRequest } from "./Front.ts"
import { makeCatalog } from "./internal/catalog.ts"
import { makeEndpoint } from "./internal/endpoint.ts"
import { hostName, loopbackHosts } from "./internal/httpChecks.ts"
import * as Metrics from "./internal/metrics.ts"
import { keyBytes, makeSealer } from "./internal/sealing.ts"
import { makeServer } from "./internal/server.ts"
import { Principal } from "./Invocation.ts"
import { type Kind, McpServer, type Provided } from "./McpServer.ts"
import type { Middleware, Services as MiddlewareServices } from "./Middleware.ts"
import { type Change, Notifications } from "./Notifications.ts"
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
   * Tells the clients that listen to a resource that it changed. Changes of lists are told by themselves. With a
   * `Notifications` service, those of other processes hear of it too.
   */
  readonly resourceUpdated: (uri: string) => Effect.Effect<void>
  /**
   * Whether it serves new requests: it is not stopping, and at most half of its slots are held by handlers that go on
   * after their grace.
   */
  readonly isReady: Effect.Effect<boolean>
  /** Whether a verifier says who asks. */
  readonly verifies: boolean
  /** Whether `allowedHosts` names hosts beside loopback. For fronts that bind every interface. */
  readonly namesHosts: boolean
  /**
   * Whether what goes through clients is sealed with a key of this process alone: another replica, or the next process,
   * cannot open it.
   */
  readonly sealsAlone: boolean
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
export interface Options<
  RC = never,
  RX = never,
  M extends ReadonlyArray<Middleware<unknown>> = ReadonlyArray<Middleware>
> {
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
  readonly context?:
    | ((request: RequestInfo, grant: Grant | undefined) => Effect.Effect<Context.Context<RC>, Refused, RX>)
    | undefined
  /**
   * Says who asks, before anything else is looked at: gives a grant or turns the request away, such as with 401. It runs
   * in the request's fiber and scope, within its deadline. Its principal is the request's. Default: nobody is asked.
   */
  readonly verify?: ((request: RequestInfo) => Effect.Effect<Grant, Refused, RX>) | undefined
  /**
   * Makes the correlation of an HTTP request, such as from a header of a proxy: 1 to 128 visible ASCII characters.
   * Anything else is as if there were none: then the client's `x-correlation-id` counts, else a fresh one. It runs in the
   * slot of the request, before `verify`; when it throws, the request is answered with 500, and the log has the cause.
   */
  readonly correlation?: ((request: Omit<RequestInfo, "correlation">) => string | undefined) | undefined
  /**
   * The largest request body, and the largest line of stdio, in bytes; a larger body gets 413, also while it arrives, a
   * larger line an error. At least 1. Default: 1 MiB.
   */
  readonly maxBodyBytes?: number | undefined
  /**
   * The largest answer, and the largest single event, in bytes. A larger answer becomes -32603 with a text that names the
   * limit, a larger event is left out and logged. At least 1. Default: 1 MiB.
   */
  readonly maxResponseBytes?: number | undefined
  /**
   * The deepest nesting of arrays and objects in a request, counted before a value is built; beyond it -32600. At least 1.
   * Default: 64.
   */
  readonly maxJsonDepth?: number | undefined
  /**
   * How long a request may take, from its slot over `verify`, `context` and the handler to its answer; then 504 with
   * -32603. A client can shorten it. A stream of notifications has no deadline once it is open. At least 1 millisecond;
   * `"Infinity"` lifts it. Default: 30 seconds.
   */
  readonly requestTimeout?: Duration.Input | undefined
  /**
   * How long a handler may go on after it was interrupted before that is logged and counted ({@link overstays}). It keeps
   * its slot until it has ended. 0: reported at once. Default: 5 seconds.
   */
  readonly cancellationGrace?: Duration.Input | undefined
  /**
   * How long a client may not read while there is something to write; then its connection ends and its handler is
   * interrupted. At least 1 millisecond. Default: 30 seconds.
   */
  readonly writeTimeout?: Duration.Input | undefined
  /** How many requests may be sending their bodies at once; beyond it 503. Default: 1,024. */
  readonly maxArrivingRequests?: number | undefined
  /**
   * How many requests run at once, streams of notifications and handlers that overstay included; beyond it 503 with
   * `retry-after: 1`. At least 1. Default: 1,024.
   */
  readonly maxConcurrentRequests?: number | undefined
  /**
   * The host names that the `Host` header may have, on any port, beside the loopback names and the host that a listener is
   * bound to; others get 403. Default: none. Needed when the endpoint is reached under a name of its own.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * The `Origin` values of browsers that may call, such as `https://app.example.com`. Default: over http those of the
   * loopback names and of the host that a listener is bound to, on any port. A request without `Origin` may call.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /** A name for this endpoint in logs and metrics, as `endpoint`. Default: none. */
  readonly label?: string | undefined
  /**
   * Who may see and use what: a function from a request to a policy. What a caller may not see or use is to it as if it
   * did not exist; a listener asks the policy of its own request, also later. Lists that depend on the caller cannot be
   * `public`. Default: everybody may use everything.
   */
  readonly access?: ((request: AccessRequest<RC>) => AccessPolicy) | undefined
  /** Effects around every request, the first one outermost. Default: none. */
  readonly middleware?: M | undefined
  /** How many items a page of a list has. Default: 100. */
  readonly pageSize?: number | undefined
  /** How long clients may keep lists and discovery. Default: private and stale at once. */
  readonly cache?: Readonly<Partial<Record<Kind | "discovery", CacheHint>>> | undefined
  /** How clients listen for changes; `false` for no listening at all. */
  readonly listen?: ListenOptions | false | undefined
  /**
   * The keys that seal what goes through clients between rounds of input and pages of lists: 32 bytes each. The first
   * seals, all open: to change a key, put the new one first and drop the old one 10 minutes later. Every replica needs the
   * same. Default: one random key of this process, so what it sealed is lost when it ends.
   */
  readonly stateKeys?: ReadonlyArray<Redacted.Redacted<Uint8Array>> | undefined
  /**
   * Whether handlers can send log messages to clients that ask for them (`Invocation.log`). Default: false.
   *
   * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
   */
  readonly logging?: boolean | undefined
  /** Extensions to advertise: settings by identifier. Default: none. */
  readonly extensions?: Readonly<Record<string, Json.Object>> | undefined
}

/**
 * What a verifier grants: who asks, and whatever the context function and the handlers want to know of it.
 *
 * @category access
 * @since 0.1.0
 */
export interface Grant {
  readonly principal: string
  readonly [key: string]: unknown
}

/**
 * How clients listen for changes.
 *
 * @category options
 * @since 0.1.0
 */
export interface ListenOptions {
  /** How many clients listen at once; beyond it 503. Default: 64. */
  readonly maxListeners?: number | undefined
  /** How often an idle event stream says that it is open. Default: 15 seconds. */
  readonly keepAlive?: Duration.Input | undefined
  /**
   * How long a client may listen at a stretch, for platforms that count the time of a request; then its stream ends with
   * the final result, and it may listen again. Default: as long as it likes.
   */
  readonly maxLifetime?: Duration.Input | undefined
}

/**
 * A request as an access policy sees it.
 *
 * @category access
 * @since 0.1.0
 */
export interface AccessRequest<in out RC> {
  /** What the context function gave. */
  readonly services: Context.Context<RC>
  readonly principal: string | undefined
  /** For logs; it never authorizes. */
  readonly correlation: string
}

/**
 * Something a server offers, as an access policy sees it. `name` is a URI for a resource and the text of a template.
 *
 * @category access
 * @since 0.1.0
 */
export interface AccessItem {
  readonly kind: Kind
  readonly name: string
  readonly declaration: Json.Object
}

/**
 * What one caller may see, and of that use. Absent: everything.
 *
 * @category access
 * @since 0.1.0
 */
export interface AccessPolicy {
  readonly visible?: ((item: AccessItem) => boolean) | undefined
  readonly callable?: ((item: AccessItem) => boolean) | undefined
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
export const serve = <
  RC = never,
  RX = never,
  const M extends ReadonlyArray<Middleware<unknown>> = ReadonlyArray<Middleware>
>(options: Options<RC, RX, M>) =>
<A, E, R>(
  registrations: Layer.Layer<A, E, R>
): Layer.Layer<
  McpEndpoint | McpServer | A,
  E | InvalidConfig,
  | Exclude<RX, Scope.Scope>
  | Exclude<MiddlewareServices<M[number]>, Provided | RC>
  | Exclude<R, McpServer | McpEndpoint | RC>
> =>
  registrations.pipe(
    Layer.provideMerge(layerCore(options))
  ) as Layer.Layer<
    McpEndpoint | McpServer | A,
    E | InvalidConfig,
    | Exclude<RX, Scope.Scope>
    | Exclude<MiddlewareServices<M[number]>, Provided | RC>
    | Exclude<R, McpServer | McpEndpoint | RC>
  >

/** The verifier and the context function as one, if there is one. */
const contextFunction = <RC, RX, M extends ReadonlyArray<Middleware<unknown>>>(
  { context, verify }: Options<RC, RX, M>
):
  | ((request: RequestInfo) => Effect.Effect<Context.Context<RC>, Refused, RX>)
  | undefined =>
{
  if (verify === undefined) {
    return context === undefined ? undefined : (request) => context(request, undefined)
  }
  return (request) =>
    Effect.flatMap(verify(request), (grant) =>
      Effect.map(
        context === undefined ? Effect.succeed(Context.empty() as Context.Context<RC>) : context(request, grant),
        (services) => Context.add(services, Principal, grant.principal) as Context.Context<RC>
      ))
}

/**
 * Checks options as `serve` would, serving nothing.
 *
 * Fails with `InvalidConfig`.
 *
 * @category validation
 * @since 0.1.0
 */
export const validate = <RC = never, RX = never, const M extends ReadonlyArray<Middleware<unknown>> = []>(
  options: Options<RC, RX, M>
): Effect.Effect<void, InvalidConfig> => Effect.asVoid(settingsOf(options))

/**
 * Stops an endpoint that is mounted in a server of yours before that server closes: otherwise the server would first wait
 * for its open streams, and cut them off without their final result. Give it the layer that serves; the endpoint's layer
 * goes around both.
 *
 * **Example** (Mounted beside other routes)
 *
 * ```ts
 * import { HttpApp, McpEndpoint } from "@fairlead/server"
 * import { Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 * import type { HttpServer } from "effect/http"
 *
 * export const served = <E, R>(
 *   endpoint: Layer.Layer<McpEndpoint.McpEndpoint, E, R>,
 *   server: Layer.Layer<HttpServer.HttpServer>
 * ) =>
 *   McpEndpoint.drainFirst(HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true })).pipe(
 *     Layer.provide(endpoint),
 *     Layer.provide(server)
 *   )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const drainFirst = <A, E, R>(server: Layer.Layer<A, E, R>): Layer.Layer<A, E, R | McpEndpoint> =>
  // Built after the server, so it closes before it.
  Layer.effectDiscard(
    Effect.flatMap(McpEndpoint, (endpoint) => Effect.addFinalizer(() => endpoint.stop))
  ).pipe(Layer.provideMerge(server))

/**
 * How many requests went on after their cancellation grace, as a metric: `fairlead_server_overstays`, with the label of
 * the endpoint as the attribute `endpoint`. Each counts once. What counts is logged as a warning too.
 *
 * @category metrics
 * @since 0.1.0
 */
export const overstays: Metric.Counter<number> = Metrics.overstays

/**
 * How many requests go on after their cancellation grace right now, each holding its slot: the metric
 * `fairlead_server_overstaying`, with the label of the endpoint as the attribute `endpoint`. Beyond half of
 * `maxConcurrentRequests` the endpoint is not ready.
 *
 * @category metrics
 * @since 0.1.0
 */
export const overstaying: Metric.Gauge<number> = Metrics.overstaying

const layerCore = <RC, RX, M extends ReadonlyArray<Middleware<unknown>>>(options: Options<RC, RX, M>) =>
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
      showInfo: options.serverInfo ?? true,
      listens: options.listen !== false,
      logs: options.logging ?? false,
      extensions: options.extensions ?? {},
      cache: options.cache ?? {}
    })
    const services = yield* Effect.context<RX | MiddlewareServices<M[number]>>()
    const contextOf = contextFunction(options)
    const endpoint = makeEndpoint(
      catalog,
      {
        ...settings,
        contextOf: contextOf === undefined
          ? undefined
          // It runs in the context below, to which each request adds its own scope and call.
          : contextOf as unknown as (request: RequestInfo) => Effect.Effect<Context.Context<never>, Refused>
      },
      yield* makeSealer(options.stateKeys ?? []),
      services as Context.Context<never>
    )
    yield* Effect.addFinalizer(() => endpoint.stop)

    // Changes go through the service where there is one: the other processes hear of them, and so do we.
    const shared = Context.getOrUndefined(services as Context.Context<never>, Notifications)
    const tell = (change: Change): Effect.Effect<void> =>
      shared === undefined ? Effect.sync(() => endpoint.publish(change)) : shared.publish(change)
    if (shared !== undefined) yield* shared.subscribe((change) => Effect.sync(() => endpoint.publish(change)))
    const runTell = Effect.runForkWith(services as Context.Context<never>)
    catalog.onChange(({ declaration, kind, name }) => {
      const item = options.access === undefined ? {} : { item: { name, declaration } }
      const change: Change = { _tag: "ListChanged", kind, ...item }
      if (shared === undefined) endpoint.publish(change)
      else runTell(shared.publish(change))
    })
    const service: McpEndpoint["Service"] = {
      http: endpoint.http,
      connect: endpoint.connect,
      isReady: Effect.sync(endpoint.isReady),
      verifies: options.verify !== undefined,
      namesHosts: (options.allowedHosts ?? []).length > 0,
      sealsAlone: options.stateKeys === undefined || options.stateKeys.length === 0,
      resourceUpdated: (uri) => tell({ _tag: "ResourceUpdated", uri }),
      stop: endpoint.stop
    }
    return Context.make(McpEndpoint, service).pipe(Context.add(McpServer, makeServer(catalog)))
  }))

const settingsOf = Effect.fnUntraced(function*<RC, RX, M extends ReadonlyArray<Middleware<unknown>>>(
  options: Options<RC, RX, M>
) {
  const number = (field: string, value: number | undefined, fallback: number) =>
    value === undefined
      ? Effect.succeed(fallback)
      : Number.isInteger(value) && value > 0
      ? Effect.succeed(value)
      : Effect.fail(new InvalidConfig({ field, reason: "it must be a whole number above 0" }))
  const millis = (field: string, value: Duration.Input | undefined, fallback: number, least: number) => {
    const duration = value === undefined
      ? fallback
      : Option.getOrElse(Option.map(Duration.fromInput(value), Duration.toMillis), () => Number.NaN)
    return duration >= least
      ? Effect.succeed(duration)
      : Effect.fail(new InvalidConfig({ field, reason: `it must be at least ${least} milliseconds` }))
  }
  for (const field of ["name", "version"] as const) {
    if (options[field] === "") yield* new InvalidConfig({ field, reason: "it is empty" })
  }
  const icons = Content.problemOfIcons(options.icons)
  if (icons !== undefined) yield* new InvalidConfig({ field: "icons", reason: icons })
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
  for (const key of options.stateKeys ?? []) {
    if (Redacted.value(key).length !== keyBytes) {
      yield* new InvalidConfig({ field: "stateKeys", reason: `a key has not ${keyBytes} bytes` })
    }
  }
  for (const id of Object.keys(options.extensions ?? {})) {
    if (!Revision.isExtensionId(id)) {
      yield* new InvalidConfig({ field: "extensions", reason: "an identifier has no prefix and name" })
    }
  }
  const publicList = Object.entries(options.cache ?? {}).find(([kind, hint]) =>
    kind !== "discovery" && hint?.scope === "public"
  )
  if (options.access !== undefined && publicList !== undefined) {
    yield* new InvalidConfig({
      field: `cache.${publicList[0]}`,
      reason: "a list that depends on the caller is not public"
    })
  }
  const listen = options.listen === false ? {} : options.listen ?? {}
  return {
    // The services it asks for are those that the context function gives.
    access: options.access as ((request: AccessRequest<never>) => AccessPolicy) | undefined,
    middleware: (options.middleware ?? []) as unknown as ReadonlyArray<Middleware>,
    correlationOf: options.correlation,
    writeTimeoutMillis: yield* millis("writeTimeout", options.writeTimeout, 30_000, 1),
    maxArrivingRequests: yield* number("maxArrivingRequests", options.maxArrivingRequests, 1024),
    pageSize: yield* number("pageSize", options.pageSize, 100),
    maxListeners: yield* number("listen.maxListeners", listen.maxListeners, 64),
    keepAliveMillis: yield* millis("listen.keepAlive", listen.keepAlive, 15_000, 1),
    maxListenMillis: yield* millis("listen.maxLifetime", listen.maxLifetime, Infinity, 1),
    logs: options.logging ?? false,
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
