/**
 * What a call carries. `Call` is one immutable record that follows the fiber: deadline, timeout, cancellation,
 * correlation, idempotency key, progress and extra metadata. Each has a combinator that works on one call or on a whole
 * program with any number of clients inside.
 *
 * | carries | combinator | default | of an outer and an inner one |
 * | --- | --- | --- | --- |
 * | deadline | `withDeadline` | none | the earlier counts |
 * | timeout a request | `withTimeout` | the client's (30 seconds) | the inner counts |
 * | cancellation | `withCancellation` | none | either ends the call |
 * | correlation | `withCorrelation` | minted for each call | the inner counts |
 * | idempotency key | `withIdempotencyKey` | none | the inner counts |
 * | progress | `withProgress` | none | the inner counts |
 * | log messages | `withLogLevel` | none | the inner counts |
 * | `_meta` | `withMeta` | none | merged, the inner counts |
 *
 * At the borders: a fiber that outlives a call starts with `Call.empty` (`Call.detach`), and a handler has only what
 * the wire carried. Deadline, cancellation and correlation follow into a handler's own calls to other servers;
 * idempotency key, progress, log messages, timeout and metadata do not.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import type * as Json from "./Json.ts"
import type { LogLevel } from "./Messages.ts"

/**
 * What a call carries.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  /** When all of it has to be over: milliseconds of the fiber's `Clock`. */
  readonly deadline: number | undefined
  /** How long one request may take, in milliseconds; `Infinity` for no bound but the deadline. */
  readonly timeout: number | undefined
  /** Each of them ends the call. */
  readonly cancellation: ReadonlyArray<CancellationToken>
  /** What finds the call in the logs of both ends. It never authorizes anything. */
  readonly correlation: string | undefined
  /** The promise that a request with the same key is the same request. */
  readonly idempotencyKey: string | undefined
  /** Hears of the progress of the call. */
  readonly progress: ((progress: Progress) => Effect.Effect<unknown>) | undefined
  /**
   * Where progress restarts the timeout of a request: how long the request may take in all, in milliseconds. Without it
   * progress restarts nothing.
   */
  readonly maxTotal: number | undefined
  /** Hears of the log messages of the call. */
  readonly log: LogListener | undefined
  /** Further members of the request's `_meta`. */
  readonly meta: Json.Object | undefined
}

/**
 * A progress report: `progress` grows with each one, `total` is what it will reach if the server knows.
 *
 * @category models
 * @since 0.1.0
 */
export interface Progress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/**
 * A log message of a request. Deprecated by the revision (SEP-2577), fully functional.
 *
 * @category models
 * @since 0.1.0
 */
export interface LogMessage {
  readonly level: LogLevel
  readonly logger?: string | undefined
  /** Any JSON, such as a text or an object. */
  readonly data: Json.Value
}

/**
 * Who hears of log messages, and from which level on.
 *
 * @category models
 * @since 0.1.0
 */
export interface LogListener {
  readonly level: LogLevel
  readonly handler: (message: LogMessage) => Effect.Effect<unknown>
}

/**
 * The options of {@link withProgress}.
 *
 * @category options
 * @since 0.1.0
 */
export interface ProgressOptions {
  /** Whether each report restarts the timeout of the request. A deadline stays where it is. Default: false. */
  readonly resetTimeout?: boolean | undefined
  /**
   * How long a request whose timeout restarts may take in all. It never ends a request earlier than its first timeout
   * would. Default: 10 minutes.
   */
  readonly maxTotal?: Duration.Input | undefined
}

/**
 * The call that carries nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: Call = {
  deadline: undefined,
  timeout: undefined,
  cancellation: [],
  correlation: undefined,
  idempotencyKey: undefined,
  progress: undefined,
  maxTotal: undefined,
  log: undefined,
  meta: undefined
}

/**
 * What the calls of the current fiber carry.
 *
 * @category references
 * @since 0.1.0
 */
export const Current: Context.Reference<Call> = Context.Reference<Call>("@fairlead/protocol/Call/Current", {
  defaultValue: () => empty
})

const modify = (
  f: (call: Call, clock: Clock.Clock) => Call
): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> =>
(self) =>
  Effect.withFiber((fiber) => Effect.provideService(self, Current, f(fiber.getRef(Current), fiber.getRef(Clock.Clock))))

/**
 * Runs an effect with a call that carries nothing. For fibers that outlive the call that happens to start them: a
 * connection opened by the first call, a cache, a background refresh.
 *
 * @category combinators
 * @since 0.1.0
 */
export const detach = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(self, Current, empty)

/**
 * The calls inside end within a duration from now, all together: a shared budget. Of two deadlines the earlier counts. A
 * call that it ends fails with `TimedOut` and is cancelled at the server.
 *
 * **Example** (A budget for two calls)
 *
 * ```ts
 * import { Call } from "@fairlead/protocol"
 * import { Effect } from "effect"
 *
 * const both = (first: Effect.Effect<void>, second: Effect.Effect<void>) =>
 *   first.pipe(Effect.andThen(second), Call.withDeadline("2 seconds"))
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const withDeadline: {
  (duration: Duration.Input): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, duration: Duration.Input): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, duration: Duration.Input): Effect.Effect<A, E, R> =>
    modify((call, clock) => combine(call, { deadline: clock.currentTimeMillisUnsafe() + Duration.toMillis(duration) }))(
      self
    )
)

/**
 * How long each request inside may take, in place of the client's 30 seconds. `Duration.infinity` lifts the bound; a
 * deadline still counts.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withTimeout: {
  (duration: Duration.Input): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, duration: Duration.Input): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, duration: Duration.Input): Effect.Effect<A, E, R> =>
    modify((call) => combine(call, { timeout: Duration.toMillis(duration) }))(self)
)

/**
 * The calls inside end when the token is cancelled or the signal aborts: they fail with `Cancelled` and are cancelled at
 * the server.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withCancellation: {
  (token: CancellationToken | AbortSignal): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, token: CancellationToken | AbortSignal): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, token: CancellationToken | AbortSignal): Effect.Effect<A, E, R> =>
    modify((call) => combine(call, { cancellation: token }))(self)
)

/**
 * The correlation of the calls inside: what finds them in the logs of both ends. Only 1 to 128 visible ASCII characters
 * travel; any other value stays local and the server mints its own.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withCorrelation: {
  (correlation: string): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, correlation: string): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, correlation: string): Effect.Effect<A, E, R> =>
    modify((call) => combine(call, { correlation }))(self)
)

/**
 * The idempotency key of the calls inside. Sending the same key again is the promise that the request is the same one,
 * so that a server can answer a retry without doing the work twice. Use one key for one logical request: 1 to 128
 * visible ASCII characters, else the call fails with `InvalidArguments` before anything is sent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withIdempotencyKey: {
  (key: string): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, key: string): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, key: string): Effect.Effect<A, E, R> =>
    modify((call) => combine(call, { idempotencyKey: key }))(self)
)

/**
 * Hears of the progress of the calls inside: the handler runs for each report, in order, before the call returns; a queue
 * gets each report.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withProgress: {
  (
    handler: ((progress: Progress) => Effect.Effect<unknown>) | Queue.Enqueue<Progress>,
    options?: ProgressOptions
  ): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    handler: ((progress: Progress) => Effect.Effect<unknown>) | Queue.Enqueue<Progress>,
    options?: ProgressOptions
  ): Effect.Effect<A, E, R>
} = dual(
  (args) => Effect.isEffect(args[0]),
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    handler: ((progress: Progress) => Effect.Effect<unknown>) | Queue.Enqueue<Progress>,
    options: ProgressOptions = {}
  ): Effect.Effect<A, E, R> =>
    modify((call) => ({
      ...call,
      progress: typeof handler === "function" ? handler : (progress) => Queue.offer(handler, progress),
      maxTotal: options.resetTimeout === true ? Duration.toMillis(options.maxTotal ?? tenMinutes) : undefined
    }))(self)
)

const tenMinutes = Duration.minutes(10)

/**
 * Asks for the log messages of the calls inside, from a level on: the handler runs for each message, in order, before the
 * call returns.
 *
 * On stdio and in process nothing says which call a message belongs to: of several that ask for messages at the same
 * time, each hears all.
 *
 * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
 * @category combinators
 * @since 0.1.0
 */
export const withLogLevel: {
  (
    level: LogLevel,
    handler: (message: LogMessage) => Effect.Effect<unknown>
  ): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    level: LogLevel,
    handler: (message: LogMessage) => Effect.Effect<unknown>
  ): Effect.Effect<A, E, R>
} = dual(
  3,
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    level: LogLevel,
    handler: (message: LogMessage) => Effect.Effect<unknown>
  ): Effect.Effect<A, E, R> => modify((call) => combine(call, { log: { level, handler } }))(self)
)

/**
 * Further members of `_meta` for the requests inside. Keys have the form `prefix/name`; reserved ones fail the call with
 * `InvalidArguments` before anything is sent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withMeta: {
  (meta: Json.Object): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, meta: Json.Object): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, meta: Json.Object): Effect.Effect<A, E, R> =>
    modify((call) => combine(call, { meta }))(self)
)

/**
 * What can be laid over a call: the members of {@link Call}, each optional. `deadline` is an instant of the `Clock`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Overlay {
  readonly deadline?: number | undefined
  readonly timeout?: number | undefined
  readonly cancellation?: CancellationToken | AbortSignal | ReadonlyArray<CancellationToken> | undefined
  readonly correlation?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly progress?: ((progress: Progress) => Effect.Effect<unknown>) | undefined
  readonly maxTotal?: number | undefined
  readonly log?: LogListener | undefined
  readonly meta?: Json.Object | undefined
}

/**
 * A call with more laid over it: the earlier deadline, every token, the metadata of both; for the rest what is laid over
 * counts where it says something.
 *
 * @category combinators
 * @since 0.1.0
 */
export const combine = (self: Call, over: Overlay): Call => ({
  deadline: self.deadline === undefined || (over.deadline !== undefined && over.deadline < self.deadline)
    ? over.deadline
    : self.deadline,
  timeout: over.timeout ?? self.timeout,
  cancellation: over.cancellation === undefined ? self.cancellation : [
    ...self.cancellation,
    ...tokensOf(over.cancellation)
  ],
  correlation: over.correlation ?? self.correlation,
  idempotencyKey: over.idempotencyKey ?? self.idempotencyKey,
  progress: over.progress ?? self.progress,
  // It belongs to the handler beside it.
  maxTotal: over.progress === undefined ? over.maxTotal ?? self.maxTotal : over.maxTotal,
  log: over.log ?? self.log,
  meta: self.meta === undefined || over.meta === undefined ? over.meta ?? self.meta : { ...self.meta, ...over.meta }
})

/**
 * The keys of `_meta` that carry a call to the other side, on every transport.
 *
 * @category constants
 * @since 0.1.0
 */
export const metaKeys = {
  correlation: "io.github.gleam-dream/correlation",
  idempotencyKey: "io.github.gleam-dream/idempotency-key",
  timeoutMillis: "io.github.fairlead/timeout-ms"
} as const

/**
 * The HTTP header that carries the correlation.
 *
 * @category constants
 * @since 0.1.0
 */
export const correlationHeader = "x-correlation-id"

const carriable = /^[\x21-\x7e]{1,128}$/

/**
 * Whether a correlation or an idempotency key can travel: 1 to 128 visible ASCII characters.
 *
 * @category guards
 * @since 0.1.0
 */
export const isCarriable = (u: unknown): u is string => typeof u === "string" && carriable.test(u)

/**
 * The whole milliseconds that the other side has left by `_meta`, or `undefined`: a malformed value changes nothing.
 *
 * @category accessors
 * @since 0.1.0
 */
export const timeoutFromMeta = (meta: Json.Object): number | undefined => {
  const value = meta[metaKeys.timeoutMillis]
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

const randomPool = new Uint8Array(4096)
let randomOffset = randomPool.length

/**
 * A fresh correlation: 128 random bits as 32 hexadecimal digits.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeCorrelationUnsafe = (): string => {
  if (randomOffset === randomPool.length) {
    crypto.getRandomValues(randomPool)
    randomOffset = 0
  }
  let text = ""
  for (const end = randomOffset + 16; randomOffset < end; randomOffset++) text += hexDigits[randomPool[randomOffset]!]!
  return text
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const CancellationTokenTypeId = "~fairlead/protocol/Call/CancellationToken" as const

/**
 * Ends calls from outside their fiber.
 *
 * @category models
 * @since 0.1.0
 */
export interface CancellationToken {
  readonly [CancellationTokenTypeId]: typeof CancellationTokenTypeId
  /** Ends the calls that carry the token, now and later. */
  readonly cancel: Effect.Effect<void>
  readonly isCancelled: Effect.Effect<boolean>
  /** The same, as the signal that other libraries take. */
  readonly signal: AbortSignal
}

/**
 * Makes a token.
 *
 * **Example** (Cancelling from another fiber)
 *
 * ```ts
 * import { Call } from "@fairlead/protocol"
 * import { Effect } from "effect"
 *
 * const program = (call: Effect.Effect<string>) =>
 *   Effect.gen(function*() {
 *     const token = yield* Call.makeCancellationToken
 *     const fiber = yield* Effect.forkChild(call.pipe(Call.withCancellation(token)))
 *     yield* token.cancel
 *     return fiber
 *   })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeCancellationToken: Effect.Effect<CancellationToken> = Effect.sync(() => {
  const controller = new AbortController()
  return fromSignal(controller.signal, () => controller.abort())
})

/**
 * A token that follows an `AbortSignal`; cancelling the token itself does not abort the signal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const cancellationTokenFromSignal = (signal: AbortSignal): CancellationToken => {
  const controller = new AbortController()
  return fromSignal(AbortSignal.any([signal, controller.signal]), () => controller.abort())
}

const fromSignal = (signal: AbortSignal, cancel: () => void): CancellationToken => ({
  [CancellationTokenTypeId]: CancellationTokenTypeId,
  cancel: Effect.sync(cancel),
  isCancelled: Effect.sync(() => signal.aborted),
  signal
})

/**
 * Whether a value is a {@link CancellationToken}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isCancellationToken = (u: unknown): u is CancellationToken =>
  Predicate.hasProperty(u, CancellationTokenTypeId)

const tokensOf = (
  input: CancellationToken | AbortSignal | ReadonlyArray<CancellationToken>
): ReadonlyArray<CancellationToken> => {
  if (Array.isArray(input)) return input
  const one = input as CancellationToken | AbortSignal
  return [isCancellationToken(one) ? one : cancellationTokenFromSignal(one)]
}
