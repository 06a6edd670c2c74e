/**
 * Something that is done to a server again and again.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"

export interface Worker {
  /** It has a scope of its own each time. */
  readonly step: Effect.Effect<unknown, unknown, Scope.Scope>
  /** How many do it at once. */
  readonly count: number
}

/** Does one of several things. */
export const oneOf = <R>(
  steps: ReadonlyArray<Effect.Effect<unknown, unknown, R>>
): Effect.Effect<unknown, unknown, R> => Effect.flatten(Random.choice(steps) as Effect.Effect<(typeof steps)[number]>)

/** Waits for a moment, or not at all. */
export const moment: Effect.Effect<void> = Effect.flatMap(Random.nextIntBetween(0, 20), Effect.sleep)
