/**
 * What the soak has seen: how often each thing was done, and what must not have happened.
 */
import * as Effect from "effect/Effect"

export interface Log {
  /** Counts something that was done. */
  readonly did: (what: string) => Effect.Effect<void>
  /** Notes something that must not happen. */
  readonly wrong: (what: string) => Effect.Effect<void>
  readonly counts: ReadonlyMap<string, number>
  readonly faults: ReadonlyArray<string>
}

/** How many faults are kept; a broken server makes thousands. */
const maxFaults = 20

export const make = (): Log => {
  const counts = new Map<string, number>()
  const faults: Array<string> = []
  return {
    did: (what) => Effect.sync(() => void counts.set(what, (counts.get(what) ?? 0) + 1)),
    wrong: (what) =>
      Effect.sync(() => {
        if (faults.length < maxFaults) faults.push(what)
      }),
    counts,
    faults
  }
}
