/**
 * `Effect.matchEffect` that goes on at once with what is there already, as most encoding and decoding is.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

export const matched = <A, E, R, B, E2, R2>(self: Effect.Effect<A, E, R>, cases: {
  readonly onSuccess: (value: A) => Effect.Effect<B, E2, R2>
  readonly onFailure: (error: E) => Effect.Effect<B, E2, R2>
}): Effect.Effect<B, E2, R | R2> =>
  Exit.isExit(self) && Exit.isSuccess(self) ? cases.onSuccess(self.value as A) : Effect.matchEffect(self, cases)
