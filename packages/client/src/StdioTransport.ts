/**
 * The stdio transport: the server is a child process, requests go to its standard input and answers come from its
 * standard output, any number at once (spec: basic/transports/stdio). It runs on the `ChildProcessSpawner` of
 * effect/process.
 *
 * | setting | default |
 * | --- | --- |
 * | `args` | none |
 * | `env` | nothing beyond a safe part of this process's |
 * | `extendEnv` | false |
 * | `cwd` | that of this process |
 * | `maxPendingCalls` | 64 |
 * | `maxLineBytes` | 16 MiB |
 * | `maxResponseBytes` | 1 MiB |
 * | `closeWait` | 2 seconds |
 * | `stderr` | kept for errors alone |
 * | `restart` | off |
 *
 * The command and its arguments never go through a shell and never appear in an error or a log.
 *
 * @since 0.1.0
 */
import * as Call from "@fairlead/protocol/Call"
import * as Frames from "@fairlead/protocol/Frames"
import { Cancelled, ConnectFailed, ConnectionClosed, InvalidConfig, Transport } from "@fairlead/protocol/Transport"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type * as PlatformError from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Backoff, backoffOf, delayOf } from "./internal/backoff.ts"
import { safeEnvironment } from "./internal/childEnvironment.ts"
import { durationOf, isCount } from "./internal/settings.ts"
import { Channel, type Limits } from "./internal/stdioChannel.ts"
import { Tail } from "./internal/tail.ts"
import * as McpClientError from "./McpClientError.ts"
import type { Reconnect } from "./Subscription.ts"

/**
 * The options of {@link layer} and {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /** The program: a path, or a name that is looked up in `PATH`. Never a shell. */
  readonly command: string
  /** The arguments, as the program gets them. Default: none. */
  readonly args?: ReadonlyArray<string | Redacted.Redacted<string>> | undefined
  /**
   * Environment variables, over the safe ones of this process: HOME, LANG, LC_*, LOGNAME, PATH, SHELL, TERM, TMPDIR,
   * USER and what Windows needs. `undefined` takes one away. Default: none.
   */
  readonly env?: { readonly [name: string]: string | Redacted.Redacted<string> | undefined } | undefined
  /** Gives the child the whole environment of this process, secrets included. Default: false. */
  readonly extendEnv?: boolean | undefined
  /** The working directory. Default: that of this process. */
  readonly cwd?: string | undefined
  /**
   * How many calls may wait for an answer; one more fails with `TooManyPendingCalls`. As many listen streams may be open
   * beside them. At least 1. Default: 64.
   */
  readonly maxPendingCalls?: number | undefined
  /**
   * The longest line in bytes that is held. A longer one fails its call with `ResponseTooLarge`, and the next line is
   * read as usual. At least 1. Default: 16 MiB.
   */
  readonly maxLineBytes?: number | undefined
  /**
   * The largest answer in bytes; a larger one fails its call with `ResponseTooLarge`. Exactly as many pass. At least 1.
   * Default: 1 MiB.
   */
  readonly maxResponseBytes?: number | undefined
  /**
   * How long the child may take to end, first after the end of its standard input, then after SIGTERM; then it is
   * killed with its process group. In real time. Default: 2 seconds.
   */
  readonly closeWait?: Duration.Input | undefined
  /**
   * What hears what the server writes to its standard error, as it arrives: a handler, or a queue, whose stream is
   * `Stream.fromQueue`; a queue that is full holds the server up. The last 16 KiB are kept either way and given with
   * `ConnectionClosed`. Default: nothing hears it.
   */
  readonly stderr?: ((text: string) => Effect.Effect<unknown>) | Queue.Enqueue<string> | undefined
  /**
   * Starts the server again when it ends by itself, after a wait that grows (`Subscription.Reconnect`, in real time). The
   * calls that waited have failed, and so do those that come before it runs again, as not sent; listen streams have to be
   * opened anew. Default: off.
   */
  readonly restart?: boolean | Reconnect | undefined
}

/**
 * Starts the server and makes the transport. The child ends with the scope: its standard input ends, then comes SIGTERM,
 * then SIGKILL.
 *
 * Fails with `InvalidConfig` for a setting that cannot be used, and with `ConnectFailed` when the program cannot be
 * started. A child that ends by itself fails its waiting calls with `ConnectionClosed(MaybeSent)`, and later ones with
 * `ConnectionClosed(NotSent)`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options: Options) => Effect.Effect<
  Transport["Service"],
  McpClientError.McpClientError,
  ChildProcessSpawner | Scope.Scope
> = Effect.fnUntraced(function*(options: Options) {
  const settings = settingsOf(options)
  if (Result.isFailure(settings)) return yield* McpClientError.make(settings.failure)
  const spawner = yield* ChildProcessSpawner
  const start: Start = (restore) =>
    Effect.provideService(session(options, settings.success, restore), ChildProcessSpawner, spawner)
  return yield* supervised(start, settings.success.restart)
})

/** A scope of its own holds each child, so nothing may interrupt between its start and the finalizer that ends it. */
const supervised = (
  start: Start,
  restart: Backoff | undefined
): Effect.Effect<Transport["Service"], McpClientError.McpClientError, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      let current = yield* start(restore)
      let stopped = false
      let stopping: Fiber.Fiber<void> | undefined

      const again = Effect.uninterruptibleMask((restore) =>
        Effect.map(Effect.exit(start(restore)), (next) => {
          if (Exit.isSuccess(next)) current = next.value
        })
      )
      const supervise = (backoff: Backoff) =>
        Effect.gen(function*() {
          for (let failed = 0;;) {
            const since = Date.now()
            yield* Fiber.await(current.over)
            yield* Scope.close(current.scope, Exit.void)
            const attempt = Date.now() - since >= backoff.cap ? 0 : failed
            if (attempt >= backoff.attempts) return
            yield* Effect.logWarning("The server process ended; it is started again", { attempt: attempt + 1 })
            yield* Effect.sleep(yield* delayOf(backoff, attempt))
            yield* again
            failed = attempt + 1
          }
        })
      const supervisor = restart === undefined ? undefined : yield* fork(supervise(restart))

      const context = Context.add(yield* Effect.context(), Call.Current, Call.empty)
      /** Returns at once; the shutdown goes on, and the scope waits for it. */
      const close = Effect.sync(() => {
        if (stopped) return
        stopped = true
        const { channel, scope } = current
        channel.end((evidence) => new Cancelled({ evidence }))
        stopping = Effect.runForkWith(context)(
          Effect.andThen(
            supervisor === undefined ? Effect.void : Fiber.interrupt(supervisor),
            Effect.suspend(() =>
              Effect.andThen(
                Scope.close(scope, Exit.void),
                current.scope === scope ? Effect.void : Scope.close(current.scope, Exit.void)
              )
            )
          )
        )
      })
      yield* Effect.addFinalizer(() =>
        Effect.andThen(
          close,
          Effect.suspend(() => stopping === undefined ? Effect.void : Effect.asVoid(Fiber.await(stopping)))
        )
      )
      return Transport.of({ name: "stdio", hasHeaders: false, send: (request) => current.channel.send(request), close })
    })
  )

/** Lets a part of what nothing interrupts be interrupted. */
type Restore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Starts a child; only where nothing interrupts what comes after it. */
type Start = (restore: Restore) => Effect.Effect<Session, McpClientError.McpClientError>

/** One child, from its start to its end. */
interface Session {
  readonly channel: Channel
  /** Ends when nothing more can come of the child. */
  readonly over: Fiber.Fiber<unknown>
  readonly scope: Scope.Closeable
}

const session = (
  options: Options,
  settings: Settings,
  restore: Restore
): Effect.Effect<Session, McpClientError.McpClientError, ChildProcessSpawner> =>
  Effect.suspend(() => {
    const scope = Scope.makeUnsafe()
    return restore(openSession(options, settings)).pipe(
      Scope.provide(scope),
      Effect.map((opened) => ({ ...opened, scope })),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

const openSession = Effect.fnUntraced(function*(options: Options, { closeWait, command, limits }: Settings) {
  const spawner = yield* ChildProcessSpawner
  const child = yield* Effect.mapError(spawner.spawn(command), spawnFailure)
  const channel = new Channel(
    limits,
    Effect.runForkWith(Context.add(yield* Effect.context(), Call.Current, Call.empty))
  )
  const tail = new Tail(stderrBytes)

  const read = yield* fork(
    Stream.runForEachArray(child.stdout, (chunks) => Effect.sync(() => chunks.forEach((chunk) => channel.feed(chunk))))
  )
  const errors = yield* fork(Stream.runForEachArray(child.stderr, keep(tail, options.stderr)))
  const written = yield* fork(Stream.run(channel.output, child.stdin))
  const exited = Effect.match(child.exitCode, { onFailure: () => undefined, onSuccess: Number })

  // Answers that were written before the end still count, so the output is read to its end, or for a moment.
  const ending = Effect.raceAllFirst([
    Fiber.await(read),
    Effect.andThen(exited, Effect.sleep(drainTime)),
    Effect.andThen(Fiber.await(written), Effect.sleep(drainTime))
  ])
  const over = yield* fork(Effect.andThen(
    ending,
    Effect.suspend(() => {
      let exitCode: number | undefined
      const known = Effect.map(exited, (code) => {
        exitCode = code
      })
      const last = Effect.all([known, Fiber.await(errors)], { concurrency: "unbounded", discard: true })
      return Effect.map(Effect.raceFirst(last, Effect.sleep(drainTime)), () => {
        const stderr = tail.text
        channel.end((evidence) => new ConnectionClosed({ evidence, exitCode, stderr }))
      })
    })
  ))

  // Registered last, so that it runs while the child is still read.
  yield* Effect.addFinalizer(() =>
    inRealTime(Effect.suspend(() => {
      channel.end((evidence) => new Cancelled({ evidence }))
      const ended = Effect.raceFirst(Effect.as(exited, true), Effect.as(Effect.sleep(closeWait), false))
      return Effect.flatMap(
        Effect.interruptible(ended),
        (hasExited) =>
          hasExited ? Effect.void : Effect.ignore(child.kill({ killSignal: "SIGTERM", forceKillAfter: closeWait }))
      )
    }))
  )
  return { channel, over }
})

/**
 * The transport as a layer; the child starts when the layer is built.
 *
 * **Example** (A server as a child process)
 *
 * ```ts
 * import { McpClient, StdioTransport } from "@fairlead/client"
 * import { NodeServices } from "@effect/platform-node"
 * import { Layer } from "effect"
 *
 * export const Client = McpClient.layer().pipe(
 *   Layer.provide(StdioTransport.layer({ command: "docs-server", args: ["--stdio"] })),
 *   Layer.provide(NodeServices.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<Transport, McpClientError.McpClientError, ChildProcessSpawner> => Layer.effect(Transport, make(options))

/**
 * The transport as a layer, with options from the program's configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Config<Options>
): Layer.Layer<Transport, McpClientError.McpClientError | Config.ConfigError, ChildProcessSpawner> =>
  Layer.unwrap(Effect.map(options, (options) => layer(options)))

const stderrBytes = 16 * 1024
/** How long output may still come from a child that has ended. */
const drainTime = Duration.millis(500)
const liveClock = Context.get(Context.empty(), Clock.Clock)

/** Processes live in real time, whatever the clock of the program. */
const inRealTime = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.provideService(self, Clock.Clock, liveClock)

/** A fiber that lives as long as the transport, and carries no call. */
const fork = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.forkScoped(inRealTime(Call.detach(self)))

/** Keeps the end of the standard error, and tells the user's handler, whose failure must not stop the reading. */
const keep = (tail: Tail, listener: Options["stderr"]) => {
  const decoder = new TextDecoder()
  const hear = listener === undefined || typeof listener === "function"
    ? listener
    : (text: string) => Queue.offer(listener, text)
  return (chunks: ReadonlyArray<Uint8Array>): Effect.Effect<unknown> => {
    for (const chunk of chunks) tail.push(chunk)
    if (hear === undefined) return Effect.void
    const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("")
    return Effect.catchCause(
      Effect.suspend(() => hear(text)),
      (cause) => Effect.logWarning("What hears a server's standard error failed", cause)
    )
  }
}

/** The platform's error holds the whole command line; only its kind is kept. */
const spawnFailure = ({ reason }: PlatformError.PlatformError): McpClientError.McpClientError =>
  McpClientError.make(
    reason._tag === "BadArgument"
      ? new InvalidConfig({ field: "command", detail: "the platform does not accept it" })
      : new ConnectFailed({ detail: reason._tag })
  )

interface Settings {
  readonly command: ChildProcess.Command
  readonly limits: Limits
  readonly closeWait: Duration.Duration
  readonly restart: Backoff | undefined
}

const settingsOf = (options: Options): Result.Result<Settings, InvalidConfig> => {
  const invalid = (field: string, detail: string) => Result.fail(new InvalidConfig({ field, detail }))
  if (options.command === "" || options.command.includes("\0")) return invalid("command", "it is empty or has a NUL")
  const args = options.args ?? []
  if (args.some((arg) => plain(arg).includes("\0"))) return invalid("args", "one of them has a NUL")
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (name === "" || /[=\0]/.test(name)) return invalid("env", "a name is empty or has a = or a NUL")
    if (value !== undefined && plain(value).includes("\0")) return invalid("env", "a value has a NUL")
  }
  if (options.cwd?.includes("\0") === true) return invalid("cwd", "it has a NUL")
  const limits: Limits = {
    maxPendingCalls: options.maxPendingCalls ?? 64,
    maxLineBytes: options.maxLineBytes ?? Frames.defaultMaxBytes,
    maxResponseBytes: options.maxResponseBytes ?? 1024 * 1024
  }
  for (const [field, value] of Object.entries(limits)) {
    if (!isCount(value)) return invalid(field, "it is not an integer of 1 or more")
  }
  const closeWait = durationOf(options.closeWait, 2000)
  if (closeWait === undefined || closeWait === Infinity) {
    return invalid("closeWait", "it is not a finite duration of more than 0 milliseconds")
  }
  const restart = backoffOf("restart", options.restart)
  if (restart instanceof InvalidConfig) return Result.fail(restart)
  return Result.succeed({
    command: commandOf(options, args, closeWait),
    limits,
    closeWait: Duration.millis(closeWait),
    restart
  })
}

const plain = (value: string | Redacted.Redacted<string>): string =>
  typeof value === "string" ? value : Redacted.value(value)

const redacted = (value: string | Redacted.Redacted<string>): Redacted.Redacted<string> =>
  typeof value === "string" ? Redacted.make(value) : value

const commandOf = (
  options: Options,
  args: ReadonlyArray<string | Redacted.Redacted<string>>,
  closeWait: number
): ChildProcess.Command =>
  ChildProcess.make(options.command, args.map(redacted), {
    env: options.extendEnv === true ? { ...options.env } : { ...safeEnvironment(), ...options.env },
    extendEnv: options.extendEnv === true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    forceKillAfter: closeWait
  })
