/**
 * An endpoint with a listener for one test, and ways to watch it.
 */
import { NodeMcpEndpoint } from "@fairlead/node"
import { McpEndpoint, McpServer, type Middleware } from "@fairlead/server"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import type { Answer, Body, SendOptions } from "./http.ts"
import { send } from "./http.ts"

export interface LogEntry {
  readonly level: string
  readonly text: string
  readonly cause: Cause.Cause<unknown>
  readonly annotations: Readonly<Record<string, unknown>>
}

export interface Options<
  RC = never,
  RX = never,
  M extends ReadonlyArray<Middleware.Middleware<unknown>> = ReadonlyArray<Middleware.Middleware>
> extends Partial<McpEndpoint.Options<RC, RX, M>> {
  readonly http?: NodeMcpEndpoint.HttpOptions
}

export interface Serving {
  readonly url: string
  readonly port: number
  readonly endpoint: McpEndpoint.McpEndpoint["Service"]
  readonly server: McpServer.McpServer["Service"]
  readonly logs: ReadonlyArray<LogEntry>
  readonly send: (body: Body, options?: SendOptions) => Effect.Effect<Answer, Error>
  /** Closes the listener and the endpoint before the test ends. */
  readonly close: Effect.Effect<void>
}

export const collectLogs = () => {
  const logs: Array<LogEntry> = []
  const layer = Logger.layer([
    Logger.make((options) => {
      logs.push({
        level: options.logLevel,
        text: (Array.isArray(options.message) ? options.message : [options.message]).map(String).join(" "),
        cause: options.cause,
        annotations: options.fiber.getRef(References.CurrentLogAnnotations)
      })
    })
  ])
  return { logs, layer }
}

/** The endpoint of registrations, with its catalog; closed with the scope. */
export const endpointOf = <
  A,
  E,
  R,
  RC = never,
  RX = never,
  M extends ReadonlyArray<Middleware.Middleware<unknown>> = ReadonlyArray<Middleware.Middleware>
>(
  registrations: Layer.Layer<A, E, R>,
  options: Partial<McpEndpoint.Options<RC, RX, M>> = {}
) =>
  Layer.build(
    McpEndpoint.serve<RC, RX, M>({ name: "test", version: "1.2.3", ...options })(registrations)
  )

/** Serves registrations on a port of the loopback interface until the scope closes. */
export const serve = <
  A,
  E,
  R,
  RC = never,
  RX = never,
  M extends ReadonlyArray<Middleware.Middleware<unknown>> = ReadonlyArray<Middleware.Middleware>
>(
  registrations: Layer.Layer<A, E, R>,
  options: Options<RC, RX, M> = {}
) =>
  Effect.gen(function*() {
    const { logs, layer } = collectLogs()
    const { http, ...endpoint } = options
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const services = yield* NodeMcpEndpoint.layerHttp(http).pipe(
      Layer.provideMerge(McpEndpoint.serve<RC, RX, M>({ name: "test", version: "1.2.3", ...endpoint })(registrations)),
      Layer.buildWithScope(scope),
      Effect.provide(layer)
    )
    const { port, url } = Context.get(services, NodeMcpEndpoint.HttpListener)
    const serving: Serving = {
      url,
      port,
      endpoint: Context.get(services, McpEndpoint.McpEndpoint),
      server: Context.get(services, McpServer.McpServer),
      logs,
      send: (body, sendOptions) => send(url, body, sendOptions),
      close: Scope.close(scope, Exit.void)
    }
    return serving
  })

/** Waits, for real turns of the event loop, until something holds. */
export const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.promise(async (signal) => {
    // Each turn has to pass before the next look.
    // oxlint-disable-next-line no-await-in-loop
    while (!condition() && !signal.aborted) await new Promise((resolve) => setImmediate(resolve))
  })

/** Some real turns of the event loop: for what must not happen. */
export const turns = (count = 20): Effect.Effect<void> => {
  let left = count
  return until(() => left-- <= 0)
}

/** A handler that waits to be released, and tells how it went. */
export interface Gate {
  readonly run: Effect.Effect<void>
  readonly started: Effect.Effect<void>
  readonly release: Effect.Effect<void>
  /** How the handler ended. */
  readonly ended: Effect.Effect<Exit.Exit<void>>
  readonly starts: () => number
  readonly ends: () => number
}

export const makeGate = (): Gate => {
  let starts = 0
  let ends = 0
  const started = Deferred.makeUnsafe<void>()
  const released = Deferred.makeUnsafe<void>()
  const ended = Deferred.makeUnsafe<Exit.Exit<void>>()
  return {
    run: Effect.suspend(() => {
      starts++
      Deferred.doneUnsafe(started, Effect.void)
      return Effect.onExit(Deferred.await(released), (exit) =>
        Effect.sync(() => {
          ends++
          Deferred.doneUnsafe(ended, Effect.succeed(exit))
        }))
    }),
    started: Deferred.await(started),
    release: Effect.asVoid(Deferred.succeed(released, undefined)),
    ended: Deferred.await(ended),
    starts: () => starts,
    ends: () => ends
  }
}
