/**
 * `Effect.matchEffect` that goes on at once with what is there already, as most decoding and encoding is.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

export const matched = <A, E, B, E2>(self: Effect.Effect<A, E, unknown>, cases: {
  readonly onSuccess: (value: A) => Effect.Effect<B, E2>
  readonly onFailure: (error: E) => Effect.Effect<B, E2>
}): Effect.Effect<B, E2> =>
  Exit.isExit(self) && Exit.isSuccess(self)
    ? cases.onSuccess(self.value as A)
    // The services that a schema needs are in the context that the work runs in.
    : Effect.matchEffect(self as Effect.Effect<A, E>, cases)
