/**
 * Does the work of requests with an idempotency key once: the same caller, tool, key and arguments get the recorded
 * result, a call that comes while the first still runs waits for it, and the same key with other arguments is refused.
 *
 * Only what a tool answered is recorded, failures with `isError` too; a request that was interrupted, failed or asked for
 * input is not. Requests without a key pass.
 *
 * | option | default |
 * | --- | --- |
 * | `timeToLive` | 1 hour |
 * | `layerMemory` `capacity` | 10,000 results, then the oldest go |
 *
 * @since 0.1.0
 */
import type * as Json from "@fairlead/protocol/Json"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { BackingPersistence } from "effect/persistence/Persistence"
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
} = {}): Layer.Layer<IdempotencyStore> =>
  Layer.sync(IdempotencyStore, () => {
    const capacity = options.capacity ?? 10_000
    // A map keeps the order in which its keys came.
    const entries = new Map<string, { readonly recorded: Recorded; readonly until: number }>()
    return IdempotencyStore.of({
      get: (key) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const entry = entries.get(key)
          if (entry === undefined || entry.until > now) return entry?.recorded
          entries.delete(key)
          return undefined
        }),
      set: (key, recorded, timeToLive) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          entries.delete(key)
          entries.set(key, { recorded, until: now + Duration.toMillis(timeToLive) })
          for (const oldest of entries.keys()) {
            if (entries.size <= capacity) break
            entries.delete(oldest)
          }
        })
    })
  })

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
      get: (key) => Effect.mapError(Effect.map(store.get(key), (found) => found as Recorded | undefined), failed),
      set: (key, recorded, timeToLive) => Effect.mapError(store.set(key, recorded, timeToLive), failed)
    })
  })
)

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
  const running = new Map<string, { readonly args: string; readonly done: Deferred.Deferred<void> }>()

  const attempt: Middleware.Middleware<IdempotencyStore> = (request, next) =>
    Effect.gen(function*() {
      const store = yield* IdempotencyStore
      const args = canonical(request.params["arguments"] ?? {})
      const key = JSON.stringify([request.principal ?? null, request.name, request.idempotencyKey])
      const known = yield* Effect.mapError(store.get(key), unavailable)
      if (known !== undefined) {
        return known.args === args ? Middleware.answer(known.result, known.meta) : yield* otherArguments(request)
      }
      const first = running.get(key)
      if (first !== undefined) {
        if (first.args !== args) return yield* otherArguments(request)
        yield* Deferred.await(first.done)
        // It recorded its result, or left the work to the next.
        return yield* attempt(request, next)
      }
      const done = Deferred.makeUnsafe<void>()
      running.set(key, { args, done })
      return yield* Effect.onExit(next, (exit) =>
        Effect.ensuring(
          Exit.isSuccess(exit)
            ? Effect.ignore(
              store.set(key, { args, result: Middleware.toJson(exit.value), meta: exit.value.meta }, timeToLive)
            )
            : Effect.void,
          Effect.sync(() => {
            running.delete(key)
            Deferred.doneUnsafe(done, Effect.void)
          })
        ))
    })

  return (request, next) =>
    request.kind === "tool" && request.idempotencyKey !== undefined ? attempt(request, next) : next
}

const otherArguments = (request: Middleware.Request) =>
  Middleware.refuse(request, "The idempotency key was used with other arguments")

/** Without the store nobody knows whether the work was done: better not to do it. */
const unavailable = () => new Middleware.Rejected({ message: "The idempotency store cannot be reached" })
