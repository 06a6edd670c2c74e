/**
 * What each driver does with its call: makes one, whose output has to be what was sent, and serves loops of it.
 */
import * as Effect from "effect/Effect"
import { serve } from "../harness/agent.ts"
import { ofEffects, ofPromises } from "../harness/Loop.ts"
import { check } from "./settings.ts"

/** Calls that are promises. */
export const servePromises = async <A>(call: () => Promise<A>, output: (answer: A) => unknown): Promise<void> => {
  check(output(await call()))
  serve({ run: (order) => ofPromises(order, call) })
}

/** Calls that are effects; it never ends, so that what they need stays open. */
export const serveEffects = <A, E>(
  call: Effect.Effect<A, E>,
  output: (answer: A) => unknown
): Effect.Effect<never, E> =>
  Effect.flatMap(call, (answer) => {
    check(output(answer))
    serve({ run: (order) => Effect.runPromise(ofEffects(order, call)) })
    return Effect.never
  })
