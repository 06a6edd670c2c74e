/**
 * Trying again with waits that grow: doubled each time up to a cap, half of each at random.
 */
import { InvalidConfig } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Reconnect } from "../Subscription.ts"
import { durationOf, isCount } from "./settings.ts"

export interface Backoff {
  readonly base: number
  readonly cap: number
  readonly attempts: number
}

/** The setting with its defaults; `undefined` where it is off. */
export const backoffOf = (field: string, setting: boolean | Reconnect = false): Backoff | undefined | InvalidConfig => {
  if (setting === false) return undefined
  const given: Reconnect = setting === true ? {} : setting
  const base = durationOf(given.base, 500)
  const cap = durationOf(given.cap, 30_000)
  const attempts = given.attempts ?? 10
  if (base === undefined || cap === undefined || cap === Infinity) {
    return new InvalidConfig({ field, detail: "a wait is not a finite duration of more than 0 milliseconds" })
  }
  return isCount(attempts)
    ? { base, cap, attempts }
    : new InvalidConfig({ field, detail: "`attempts` is not an integer of 1 or more" })
}

/** The milliseconds to wait after so many attempts that failed. */
export const delayOf = ({ base, cap }: Backoff, failed: number): Effect.Effect<number> =>
  Effect.map(Random.next, (random) => Math.min(cap, base * 2 ** failed) * (1 + random) / 2)
