/**
 * Does the work of requests with an idempotency key once: the same caller, tool, key and arguments get the recorded
 * result, a call that comes while the first still runs waits for it, and the same key with other arguments is refused.
 *
 * Only what a tool answered is recorded, failures with `isError` too; a request that was interrupted, failed, asked for
 * input or was turned away by other middleware is not. Requests without a key pass. Calls wait for each other within one
 * process; several processes share the results of a common store.
 *
 * | option | default |
 * | --- | --- |
 * | `timeToLive` | 1 hour |
 * | `layerMemory` `capacity` | 10,000 results, then the oldest go |
 * | `layerMemory` `maxLength` | 64 Mi characters of arguments and results, then the oldest go |
 *
 * @since 0.1.0
 */
import * as Json from "@fairlead/protocol/Json"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { BackingPersistence } from "effect/persistence/Persistence"
import * as Result from "effect/Result"
import { canonical } from "./internal/canonical.ts"
import * as Middleware from "./Middleware.ts"

/**
 * A recorded result.
 *
 * @category models
 * @since 0.1.0
 */
export interface Recorded {
  /** What the arguments were, so that others are noticed. */
  readonly args: string
  readonly result: Json.Object
  readonly meta: Json.Object | undefined
}

/**
 * A store that cannot be read or written.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreError extends Data.TaggedError("StoreError")<{
  readonly cause: unknown
}> {}

/**
 * Keeps recorded results.
 *
 * @category services
 * @since 0.1.0
 */
export class IdempotencyStore extends Context.Service<IdempotencyStore, {
  readonly get: (key: string) => Effect.Effect<Recorded | undefined, StoreError>
  readonly set: (key: string, recorded: Recorded, timeToLive: Duration.Duration) => Effect.Effect<void, StoreError>
}>()("@fairlead/server/Idempotency/IdempotencyStore") {}

/**
 * A store in memory: of this process, and gone with it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options: {
  /** How many results are kept; then the oldest go. Default: 10,000. */
  readonly capacity?: number | undefined
  /**
   * How many characters they have together, with the arguments and written as JSON; then the oldest go, and one that is
   * longer is not kept. Default: 67,108,864 (64 Mi).
   */
  readonly maxLength?: number | undefined
} = {}): Layer.Layer<IdempotencyStore> =>
  Layer.sync(IdempotencyStore, () => {
    const { capacity = 10_000, maxLength = 64 * 1024 * 1024 } = options
    // A map keeps the order in which its keys came.
    const entries = new Map<string, Kept>()
    let length = 0
    const remove = (key: string) => {
      length -= entries.get(key)?.length ?? 0
      entries.delete(key)
    }
    return IdempotencyStore.of({
      get: (key) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const entry = entries.get(key)
          if (entry === undefined || entry.until > now) return entry?.recorded
          remove(key)
          return undefined
        }),
      set: (key, recorded, timeToLive) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          remove(key)
          const own = JSON.stringify(recorded).length
          if (own > maxLength) return
          entries.set(key, { recorded, length: own, until: now + Duration.toMillis(timeToLive) })
          length += own
          for (const [oldest, { until }] of entries) {
            if (entries.size <= capacity && length <= maxLength && until > now) break
            remove(oldest)
          }
        })
    })
  })

interface Kept {
  readonly recorded: Recorded
  readonly length: number
  readonly until: number
}

/**
 * A store on effect/persistence: in Redis, SQL or a key-value store, for several processes.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerPersistence: Layer.Layer<IdempotencyStore, never, BackingPersistence> = Layer.effect(
  IdempotencyStore,
  Effect.gen(function*() {
    const persistence = yield* BackingPersistence
    const store = yield* persistence.make("fairlead-idempotency")
    const failed = (cause: unknown) => new StoreError({ cause })
    return IdempotencyStore.of({
      get: (key) =>
        Effect.flatMap(Effect.mapError(store.get(key), failed), (found) => Effect.mapError(read(found), failed)),
      // As a text: a store that parses what it kept would round numbers that a double cannot hold.
      set: (key, recorded, timeToLive) =>
        Effect.mapError(store.set(key, { recorded: JSON.stringify(recorded) }, timeToLive), failed)
    })
  })
)

/** What a store kept; anything else in its place is no result to trust. */
const read = (found: object | undefined): Effect.Effect<Recorded | undefined, Error> => {
  if (found === undefined) return Effect.undefined
  const text = (found as { readonly recorded?: unknown }).recorded
  const parsed = typeof text === "string" ? Json.parse(text, Infinity) : undefined
  if (parsed !== undefined && Result.isSuccess(parsed) && Json.isObject(parsed.success)) {
    const { args, meta, result } = parsed.success
    if (typeof args === "string" && Json.isObject(result) && (meta === undefined || Json.isObject(meta))) {
      return Effect.succeed({ args, result, meta })
    }
  }
  return Effect.fail(new Error("The stored value is not a recorded result"))
}

/**
 * The middleware. Give the store by a layer around the endpoint.
 *
 * **Example** (Orders that are placed once)
 *
 * ```ts
 * import { Idempotency, McpEndpoint } from "@fairlead/server"
 * import type { McpServer } from "@fairlead/server"
 * import { Layer } from "effect"
 *
 * export const serve = <E>(tools: Layer.Layer<never, E, McpServer.McpServer>) =>
 *   tools.pipe(
 *     McpEndpoint.serve({
 *       name: "shop",
 *       version: "1.0.0",
 *       middleware: [Idempotency.middleware({ timeToLive: "1 day" })]
 *     }),
 *     Layer.provide(Idempotency.layerMemory())
 *   )
 * ```
 *
 * @category middleware
 * @since 0.1.0
 */
export const middleware = (options: {
  /** How long a result is kept. Default: 1 hour. */
  readonly timeToLive?: Duration.Input | undefined
} = {}): Middleware.Middleware<IdempotencyStore> => {
  const timeToLive = Duration.fromInputUnsafe(options.timeToLive ?? "1 hour")
  const running = new Map<string, Running>()

  const attempt: Middleware.Middleware<IdempotencyStore> = (request, next) =>
    Effect.suspend(() => {
      const args = canonical(request.params["arguments"] ?? {})
      const key = JSON.stringify([request.principal ?? null, request.name, request.idempotencyKey])
      const first = running.get(key)
      if (first === undefined) return lead(key, args, request, next)
      if (first.args !== args) return otherArguments(request)
      return Effect.flatMap(
        Deferred.await(first.done),
        // It left the work to the next.
        (recorded) => recorded === undefined ? attempt(request, next) : Effect.succeed(replay(recorded))
      )
    })

  /**
   * The first of its key. It is in `running` before the store is asked: with a store that takes its time, a duplicate
   * that asked before and looked after would find neither the result nor the call.
   */
  const lead = (
    key: string,
    args: string,
    request: Middleware.Request,
    next: Parameters<Middleware.Middleware>[1]
  ) =>
    Effect.uninterruptibleMask((restore) => {
      const done = Deferred.makeUnsafe<Recorded | undefined>()
      running.set(key, { args, done })
      let recorded: Recorded | undefined
      const work = Effect.gen(function*() {
        const store = yield* IdempotencyStore
        const known = yield* Effect.mapError(store.get(key), unavailable)
        if (known !== undefined) {
          if (known.args !== args) return yield* otherArguments(request)
          recorded = known
          return replay(known)
        }
        return yield* Effect.onExit(next, (exit) => {
          if (!Exit.isSuccess(exit) || exit.value.refused === true) return Effect.void
          recorded = { args, result: Middleware.toJson(exit.value), meta: exit.value.meta }
          // Who waits for the work need not wait for the store.
          Deferred.doneUnsafe(done, Effect.succeed(recorded))
          // The work is done: its caller gets the result although nobody will be able to replay it.
          return Effect.ignore(store.set(key, recorded, timeToLive), { log: "Warn" })
        })
      })
      return Effect.ensuring(
        restore(work),
        Effect.sync(() => {
          running.delete(key)
          Deferred.doneUnsafe(done, Effect.succeed(recorded))
        })
      )
    })

  return (request, next) =>
    request.kind === "tool" && request.idempotencyKey !== undefined ? attempt(request, next) : next
}

/** A call under way, and what it recorded if it did. */
interface Running {
  readonly args: string
  readonly done: Deferred.Deferred<Recorded | undefined>
}

const replay = ({ meta, result }: Recorded): Middleware.Answer => Middleware.answer(result, meta)

const otherArguments = (request: Middleware.Request) =>
  Middleware.refuse(request, "The idempotency key was used with other arguments")

/** Without the store nobody knows whether the work was done: better not to do it. */
const unavailable = () => new Middleware.Rejected({ message: "The idempotency store cannot be reached" })
