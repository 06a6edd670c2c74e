/**
 * Serves an endpoint on Node: over HTTP with a listener of its own, or over stdio.
 *
 * | `layerHttp` option | default |
 * | --- | --- |
 * | `host` | 127.0.0.1 |
 * | `port` | 0: a free one, read it from the listener |
 * | `path` | `/mcp` |
 * | `allowUnauthenticated` | false: a host off loopback is refused, unless the endpoint has a verifier |
 * | `tls` | none: http |
 * | `health` | false |
 * | `headTimeout` | 10 seconds, then 408 |
 * | `bodyTimeout` | 30 seconds, then 408 |
 *
 * The two times are looked at once a second. The limits of requests, answers and handlers are options of the endpoint.
 *
 * @since 0.1.0
 */
import { InvalidConfig, McpEndpoint } from "@fairlead/server/McpEndpoint"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { type Bound, listen, type ListenFailure } from "./internal/listener.ts"
import { exitSoon, keepStdout, serveStdio, type StdioFailure, takeStdout } from "./internal/stdio.ts"

/**
 * The options of {@link layerHttp}.
 *
 * @category options
 * @since 0.1.0
 */
export interface HttpOptions {
  /** The interface to bind. Default: 127.0.0.1. */
  readonly host?: string | undefined
  /** The port to bind; 0 picks a free one. Default: 0. */
  readonly port?: number | undefined
  /** The path that is served; other paths are 404. Default: `/mcp`. */
  readonly path?: string | undefined
  /**
   * Allows a host that other machines can reach although nothing here asks who calls. Everybody who reaches it can call
   * every tool. Its host names have to stand in the endpoint's `allowedHosts` too. Default: false.
   */
  readonly allowUnauthenticated?: boolean | undefined
  /** Serves https with a certificate and its key, in PEM files. Default: http. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined
  /** How long the head of a request may take to arrive; then 408. At least 1 millisecond. Default: 10 seconds. */
  readonly headTimeout?: Duration.Input | undefined
  /**
   * How long a request may take to arrive with its body, counted from its first byte; then 408. Not shorter than
   * `headTimeout`. Default: 30 seconds.
   */
  readonly bodyTimeout?: Duration.Input | undefined
  /** Serves `/healthz` (200) and `/readyz` (200, or 503 while it serves nothing new). Default: false. */
  readonly health?: boolean | undefined
}

/**
 * A listener that is bound.
 *
 * @category services
 * @since 0.1.0
 */
export class HttpListener extends Context.Service<HttpListener, {
  readonly host: string
  readonly port: number
  /** The URL that clients connect to. */
  readonly url: string
  /** Fails with `ListenerDied` when the listener ends by itself; an intended stop never does. */
  readonly died: Effect.Effect<never, StartError>
}>()("@fairlead/node/NodeMcpEndpoint/HttpListener") {}

/**
 * The host can be reached from other machines, and nothing asks who calls.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnauthenticatedNonLoopbackBind extends Data.TaggedError("UnauthenticatedNonLoopbackBind")<{
  readonly host: string
}> {
  override get message(): string {
    return `The host ${this.host} can be reached from other machines; protect the endpoint or set allowUnauthenticated`
  }
}

/**
 * The port could not be bound.
 *
 * @category errors
 * @since 0.1.0
 */
export class BindFailed extends Data.TaggedError("BindFailed")<{
  readonly host: string
  readonly port: number
  /** The platform's word for it, such as `EADDRINUSE` or `EACCES`. */
  readonly code: string
}> {
  override get message(): string {
    const reason = this.code === "EADDRINUSE" ? "the port is in use" : this.code
    return `Could not listen on ${this.host}:${this.port}: ${reason}`
  }
}

/**
 * The listener ended by itself.
 *
 * @category errors
 * @since 0.1.0
 */
export class ListenerDied extends Data.TaggedError("ListenerDied")<{
  readonly host: string
  readonly port: number
}> {
  override get message(): string {
    return `The listener on ${this.host}:${this.port} ended`
  }
}

/**
 * Something died while it started: a registration, or the platform. Whatever it was is the `cause`; the message is the
 * same for all.
 *
 * @category errors
 * @since 0.1.0
 */
export class StartFailed extends Data.TaggedError("StartFailed")<{
  readonly cause: unknown
}> {
  override get message(): string {
    return "The server could not start"
  }
}

/**
 * Why a listener does not serve; `reason` says which of the ways it is. Its message is one line.
 *
 * A registration that fails with an error of its own is none of them: that error is in the type of the program, to be
 * caught by its tag.
 *
 * @category errors
 * @since 0.1.0
 */
export class StartError extends Data.TaggedError("StartError")<{
  readonly reason: InvalidConfig | UnauthenticatedNonLoopbackBind | BindFailed | StartFailed | ListenerDied
}> {
  override get message(): string {
    return this.reason.message
  }
}

/**
 * The standard input ended in the middle of a message, or could not be read, or another endpoint of this process serves
 * the standard streams.
 *
 * @category errors
 * @since 0.1.0
 */
export class StdioError extends Data.TaggedError("StdioError")<{
  readonly reason: "unfinished-message" | "read-failed" | "in-use"
}> {
  override get message(): string {
    return stdioMessages[this.reason]
  }
}

const stdioMessages = {
  "unfinished-message": "The standard input ended in the middle of a message",
  "read-failed": "The standard input could not be read",
  "in-use": "The standard streams are served by another endpoint of this process"
}

const startError = (failure: ListenFailure): StartError => {
  switch (failure._tag) {
    case "Bind":
      return new StartError({ reason: new BindFailed(failure) })
    case "Loopback":
      return new StartError({ reason: new UnauthenticatedNonLoopbackBind({ host: failure.host }) })
    case "Config":
      return new StartError({ reason: new InvalidConfig(failure) })
  }
}

const startFailed = (cause: unknown) => Effect.fail(new StartError({ reason: new StartFailed({ cause }) }))

const start = (endpoint: McpEndpoint["Service"], options: HttpOptions, stop: Effect.Effect<void>) =>
  listen(endpoint, options, stop).pipe(Effect.mapError(startError), Effect.catchDefect(startFailed))

const diedOf = ({ died, host, port }: Bound): Effect.Effect<never, StartError> =>
  Effect.andThen(died, Effect.fail(new StartError({ reason: new ListenerDied({ host, port }) })))

/**
 * Listens for HTTP requests until the layer closes. The port opens when the endpoint, with all its registrations, is
 * there. Closing stops in order: no new requests, those under way end or are interrupted after their grace, then the
 * listener closes.
 *
 * Fails with {@link StartError}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (options: HttpOptions = {}): Layer.Layer<HttpListener, StartError, McpEndpoint> =>
  Layer.effect(
    HttpListener,
    Effect.gen(function*() {
      const endpoint = yield* McpEndpoint
      const bound = yield* start(endpoint, options, endpoint.stop)
      return { host: bound.host, port: bound.port, url: bound.url, died: diedOf(bound) }
    })
  )

/**
 * The same with a listener that is started again, by a schedule, when it ends by itself. The handle stays valid: `port`
 * and `url` are those of the current listener. The first start has to succeed; when the schedule ends, `died` fails.
 *
 * Fails with {@link StartError}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerSupervised = (
  options: HttpOptions,
  schedule: Schedule.Schedule<unknown, StartError>
): Layer.Layer<HttpListener, StartError, McpEndpoint> =>
  Layer.effect(
    HttpListener,
    Effect.gen(function*() {
      const endpoint = yield* McpEndpoint
      const first = yield* Deferred.make<void, StartError>()
      const ended = yield* Deferred.make<never, StartError>()
      let current: Bound | undefined

      const once = Effect.scoped(
        Effect.gen(function*() {
          // A dead listener is no reason to stop the endpoint.
          current = yield* start(endpoint, options, Effect.void)
          yield* Deferred.succeed(first, undefined)
          return yield* diedOf(current)
        })
      ).pipe(Effect.tapError((error) => Deferred.fail(first, error)))

      yield* Effect.forkScoped(
        Effect.retry(once, schedule).pipe(Effect.catch((error) => Deferred.fail(ended, error)))
      )
      // Closed before the listener is.
      yield* Effect.addFinalizer(() => endpoint.stop)
      yield* Deferred.await(first)
      return {
        get host() {
          return current!.host
        },
        get port() {
          return current!.port
        },
        get url() {
          return current!.url
        },
        died: Deferred.await(ended)
      }
    })
  )

/** A second signal while the program stops ends it at once. */
const forceOnSecondSignal: Effect.Effect<void, never, Scope.Scope> = Effect.asVoid(Effect.acquireRelease(
  Effect.sync(() => {
    let count = 0
    const onSignal = () => {
      if (++count > 1) process.exit(130)
    }
    process.on("SIGINT", onSignal)
    process.on("SIGTERM", onSignal)
    return onSignal
  }),
  (onSignal) =>
    Effect.sync(() => {
      process.removeListener("SIGINT", onSignal)
      process.removeListener("SIGTERM", onSignal)
    })
))

/**
 * Serves an endpoint over HTTP for as long as the program runs: one effect that never returns, and fails when its listener
 * ends by itself. For `NodeRuntime.runMain`, which interrupts it on SIGINT and SIGTERM and exits with 130 once it has
 * stopped; a second signal ends it at once.
 *
 * Fails with {@link StartError}, also for an option of the endpoint (`InvalidConfig`) and for a registration that dies
 * (`StartFailed`). A registration that fails keeps its own error.
 *
 * **Example** (A server)
 *
 * ```ts no-run
 * import { NodeRuntime } from "@effect/platform-node"
 * import { NodeMcpEndpoint } from "@fairlead/node"
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
 * const endpoint = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`)).pipe(
 *   McpEndpoint.serve({ name: "greeter", version: "1.0.0" }),
 *   NodeMcpEndpoint.launchHttp({ port: 3000 })
 * )
 *
 * NodeRuntime.runMain(endpoint)
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const launchHttp = (options: HttpOptions = {}) =>
<A, E, R>(
  endpoint: Layer.Layer<McpEndpoint | A, E, R>
): Effect.Effect<never, Exclude<E, InvalidConfig> | StartError, R> =>
  Effect.scoped(Effect.andThen(
    forceOnSecondSignal,
    Effect.flatMap(
      Layer.build(layerHttp(options).pipe(Layer.provide(endpoint))).pipe(
        Effect.mapError(asStartError),
        Effect.catchDefect(startFailed)
      ),
      (services) => {
        const { died, url } = Context.get(services, HttpListener)
        return Effect.andThen(Effect.logInfo(`Listening on ${url}`), died)
      }
    )
  ))

const asStartError = <E>(error: E): Exclude<E, InvalidConfig> | StartError =>
  error instanceof InvalidConfig ? new StartError({ reason: error }) : error as Exclude<E, InvalidConfig>

const stdioError = (reason: StdioFailure): StdioError => new StdioError({ reason })

/**
 * Serves an endpoint over the standard input and output until the input ends, or until something is written that nobody
 * reads any more (a pipe says so no sooner): then what runs is interrupted and the effect returns. While it runs, the standard output carries nothing but the protocol: what Effect's loggers, `console`
 * and libraries write there goes to the standard error (spec: basic/transports/stdio). What is written before, as by
 * the layers of the endpoint, is not held back: {@link launchStdio} does that too.
 *
 * Fails with {@link StdioError} when the input ends in the middle of a message or cannot be read, and when the streams
 * are served already: a process has one of each.
 *
 * @category running
 * @since 0.1.0
 */
export const runStdio: Effect.Effect<void, StdioError, McpEndpoint> = Effect.flatMap(
  McpEndpoint,
  (endpoint) =>
    Effect.scoped(
      Effect.mapError(Effect.flatMap(takeStdout, (output) => serveStdio(endpoint, output)), stdioError)
    )
)

/**
 * Serves an endpoint over stdio, with its layer, as the whole of a program: for `NodeRuntime.runMain`. The standard
 * output is the protocol's from before the layer is built until the process ends. When the input has ended and the layer
 * is closed, the process ends, a second later at most, although a timer or a socket may still be open.
 *
 * **Example** (A server over stdio)
 *
 * ```ts no-run
 * import { NodeRuntime } from "@effect/platform-node"
 * import { NodeMcpEndpoint } from "@fairlead/node"
 * import { Content, Tool } from "@fairlead/protocol"
 * import { McpEndpoint, McpServer } from "@fairlead/server"
 * import { Effect } from "effect"
 *
 * const endpoint = McpServer.tool(Tool.make("ping"), () => Effect.succeed([Content.text("pong")])).pipe(
 *   McpEndpoint.serve({ name: "pinger", version: "1.0.0" })
 * )
 *
 * NodeRuntime.runMain(NodeMcpEndpoint.launchStdio(endpoint))
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const launchStdio = <A, E, R>(
  endpoint: Layer.Layer<McpEndpoint | A, E, R>
): Effect.Effect<void, E | StdioError, R> =>
  Effect.flatMap(
    Effect.mapError(keepStdout, stdioError),
    (output) =>
      Effect.flatMap(McpEndpoint, (it) => Effect.mapError(serveStdio(it, output), stdioError)).pipe(
        Effect.provide(endpoint),
        Effect.tap(exitSoon)
      )
  )
