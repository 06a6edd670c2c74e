/**
 * Effects around requests: they see what is asked, can refuse it, answer in its place, time it and look at what came of
 * it. An endpoint runs the list of its `middleware` option in order, the first one outermost, after the checks of the
 * request and inside its deadline. Around a listen `next` lasts as long as the stream; interrupting it ends the stream
 * with its result.
 *
 * Refusals of a tool are results with `isError`, which a model can read; those of anything else are errors.
 *
 * @since 0.1.0
 */
import * as Content from "@fairlead/protocol/Content"
import * as Json from "@fairlead/protocol/Json"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { RateLimiter } from "effect/persistence/RateLimiter"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import type { ResultParts } from "./internal/entry.ts"
import type { RpcError } from "./internal/reply.ts"
import type { Invocation } from "./Invocation.ts"
import type { Kind } from "./McpServer.ts"

/**
 * A request as middleware sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  /** What is asked for: a handler of this kind, or undefined for lists, discovery and listening. */
  readonly kind: Kind | undefined
  readonly method: string
  /** The name of a tool or prompt, the URI of a resource. */
  readonly name: string | undefined
  /** The parameters as they came. */
  readonly params: Json.Object
  readonly principal: string | undefined
  readonly correlation: string
  readonly idempotencyKey: string | undefined
}

/**
 * What came of a request. Read it with {@link toJson}, make one with {@link answer} or {@link toolError}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer extends ResultParts {
  /** Made by {@link refuse}: the request was turned away and did nothing. */
  readonly refused?: true
}

/**
 * Turns a request away with a JSON-RPC error; the message goes to the client.
 *
 * @category errors
 * @since 0.1.0
 */
export class Rejected extends Data.TaggedError("Rejected")<{
  /**
   * A JSON-RPC code of your own stands outside of -32768 to -32000; one within that the protocol does not have is a
   * defect, and the client gets -32603. Default: -32603.
   */
  readonly code?: number | undefined
  readonly message: string
  readonly data?: Json.Value | undefined
}> {}

/**
 * How a request can fail: with what middleware says, or with what the handler's checks say, which goes on as it is.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure = Rejected | RpcError

/**
 * An effect around a request; `next` runs it.
 *
 * **Example** (Logging how long tools take)
 *
 * ```ts
 * import type { Middleware } from "@fairlead/server"
 * import { Duration, Effect } from "effect"
 *
 * export const timed: Middleware.Middleware = (request, next) =>
 *   Effect.flatMap(Effect.timed(next), ([duration, answer]) =>
 *     Effect.as(Effect.logInfo(`${request.method} took ${Duration.format(duration)}`), answer))
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export type Middleware<R = never> = (
  request: Request,
  next: Effect.Effect<Answer, Failure>
) => Effect.Effect<Answer, Failure, R | Invocation>

/**
 * The services that middleware needs.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Services<M extends Middleware<unknown>> = M extends Middleware<infer R> ? R : never

/**
 * The result object of an answer, without how it ended.
 *
 * @category accessors
 * @since 0.1.0
 */
export const toJson = (answer: Answer): Json.Object => {
  const parsed = Json.parse(`{${answer.members}}`, Infinity)
  return Result.isSuccess(parsed) && Json.isObject(parsed.success) ? parsed.success : {}
}

/**
 * An answer with this result object. What a handler of the method would answer with has to be in it. How a result ended
 * is not for middleware to say, so a `resultType` is left out; `_meta` counts as metadata.
 *
 * @category constructors
 * @since 0.1.0
 */
export const answer = (result: Json.Object, meta?: Json.Object): Answer => {
  const { _meta, resultType: _, ...members } = result
  return {
    members: JSON.stringify(members).slice(1, -1),
    meta: Json.isObject(_meta) ? { ..._meta, ...meta } : meta
  }
}

/**
 * The answer of a tool that failed, in one sentence for the model.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolError = (text: string): Answer =>
  answer({ content: [Content.text(text) as Json.Object], isError: true })

/**
 * Turns a request away: a tool by a result with `isError`, anything else by an error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refuse = (request: Request, message: string): Effect.Effect<Answer, Rejected> =>
  request.kind === "tool"
    ? Effect.succeed({ ...toolError(message), refused: true })
    : Effect.fail(new Rejected({ message }))

/**
 * Runs middleware for some kinds of requests only.
 *
 * @category combinators
 * @since 0.1.0
 */
export const only = <R>(kinds: ReadonlyArray<Kind>, middleware: Middleware<R>): Middleware<R> => (request, next) =>
  request.kind !== undefined && kinds.includes(request.kind) ? middleware(request, next) : next

/**
 * Ends calls of tools that take longer: of all of them, or of each by its name. The handler is interrupted. Default for a
 * tool without a name here: no bound but the deadline of the request.
 *
 * @category middleware
 * @since 0.1.0
 */
export const timeout = (limits: OneDuration | Readonly<Record<string, Duration.Input>>): Middleware => {
  const limitOf = byName(
    isRecord(limits)
      ? Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, Duration.fromInputUnsafe(limit)]))
      : Duration.fromInputUnsafe(limits)
  )
  return (request, next) => {
    const limit = request.kind === "tool" ? limitOf(request.name) : undefined
    return limit === undefined
      ? next
      : Effect.timeoutOrElse(next, {
        duration: limit,
        orElse: () => refuse(request, `The tool took longer than ${Duration.format(limit)}`)
      })
  }
}

/**
 * Bounds how many calls of a tool run at once; more are turned away. A number for each tool, or one by its name.
 *
 * @category middleware
 * @since 0.1.0
 */
export const concurrency = (limits: number | Readonly<Record<string, number>>): Middleware => {
  const semaphores = new Map<string, Semaphore.Semaphore>()
  const limitOf = byName(limits)
  return (request, next) => {
    const { kind, name } = request
    const limit = kind === "tool" ? limitOf(name) : undefined
    if (limit === undefined || name === undefined) return next
    let semaphore = semaphores.get(name)
    if (semaphore === undefined) {
      semaphore = Semaphore.makeUnsafe(limit)
      semaphores.set(name, semaphore)
    }
    return Effect.flatMap(
      semaphore.withPermitsIfAvailable(1)(next),
      (result) => result._tag === "Some" ? Effect.succeed(result.value) : refuse(request, "The tool is busy; try again")
    )
  }
}

/**
 * Bounds how often a caller may ask, through the `RateLimiter` of effect/persistence, which can count for several
 * processes. `key` says who a caller is: by default the principal, and all callers without one together.
 *
 * @category middleware
 * @since 0.1.0
 */
export const rateLimit = (options: {
  /** How many requests within the window. */
  readonly limit: number
  readonly window: Duration.Input
  readonly key?: ((request: Request) => string) | undefined
}): Middleware<RateLimiter> => {
  const keyOf = options.key ?? ((request: Request) => request.principal ?? "")
  const window = Duration.fromInputUnsafe(options.window)
  // Two limits of one caller, a minute's and a day's, must not count in one place.
  const prefix = `fairlead/${options.limit}/${Duration.toMillis(window)}/`
  return (request, next) =>
    Effect.flatMap(RateLimiter, (limiter) =>
      Effect.matchEffect(
        limiter.consume({ key: prefix + keyOf(request), limit: options.limit, window }),
        {
          onSuccess: () => next,
          onFailure: ({ reason }) =>
            reason._tag === "RateLimitExceeded"
              ? refuse(request, `Too many requests; try again in ${Duration.format(reason.retryAfter)}`)
              // A limiter that cannot count must not open the door.
              : Effect.fail(new Rejected({ message: "The request could not be admitted" }))
        }
      ))
}

/** A duration for all tools: in an object, as `Duration.Input` may be one, the keys are names of tools. */
type OneDuration = Duration.Duration | number | bigint | `${number} ${Duration.Unit}` | "Infinity"

const byName =
  <A extends number | Duration.Duration>(limits: A | Readonly<Record<string, A>>) =>
  (name: string | undefined): A | undefined => {
    if (!isRecord(limits)) return limits
    return name !== undefined && Object.hasOwn(limits, name) ? limits[name] : undefined
  }

const isRecord = <A>(limits: A): limits is Extract<A, Readonly<Record<string, unknown>>> =>
  typeof limits === "object" && !Array.isArray(limits) && !Duration.isDuration(limits)
