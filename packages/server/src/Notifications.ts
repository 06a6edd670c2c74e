/**
 * Changes that listeners hear of, between the processes that serve the same things. Without this service an endpoint
 * tells its own listeners; with a layer of it, every process that has one tells its listeners what any of them publishes.
 *
 * @since 0.1.0
 */
import type * as Json from "@fairlead/protocol/Json"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Kind } from "./McpServer.ts"

/**
 * Something that changed: a list, or a resource. It is plain JSON. `item` is what came or went, as an access policy sees
 * it: an endpoint with a policy says it, and tells those alone who may see that; without it, everybody is told.
 *
 * @category models
 * @since 0.1.0
 */
export type Change =
  | {
    readonly _tag: "ListChanged"
    readonly kind: Kind
    readonly item?: { readonly name: string; readonly declaration: Json.Object } | undefined
  }
  | { readonly _tag: "ResourceUpdated"; readonly uri: string }

/**
 * Carries changes between endpoints.
 *
 * @category services
 * @since 0.1.0
 */
export class Notifications extends Context.Service<Notifications, {
  /** Tells every subscriber, those of this process too. */
  readonly publish: (change: Change) => Effect.Effect<void>
  /** Hears of every change, until the scope closes. */
  readonly subscribe: (listener: (change: Change) => Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
}>()("@fairlead/server/Notifications") {}

/**
 * Carries changes between the endpoints of one process. At most 1,024 wait for a slow subscriber; then publishing waits.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<Notifications> = Layer.effect(
  Notifications,
  Effect.gen(function*() {
    // Every server imports this module, and few have several endpoints in one process.
    const PubSub = yield* Effect.promise(() => import("effect/PubSub"))
    const changes = yield* PubSub.bounded<Change>(1024)
    return Notifications.of({
      publish: (change) => Effect.asVoid(PubSub.publish(changes, change)),
      subscribe: (listener) =>
        Effect.gen(function*() {
          const subscription = yield* PubSub.subscribe(changes)
          const next = Effect.flatMap(PubSub.take(subscription), (change) => guarded(listener(change)))
          yield* Effect.forkScoped(Effect.forever(next))
        })
    })
  })
)

/** A listener that dies misses this change. Were its subscription left without a reader, publishing would wait for ever. */
const guarded = (told: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.catchCause(told, (cause) => Effect.logError("A change could not be told", cause))
