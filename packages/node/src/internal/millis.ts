/**
 * Durations as the timers of Node take them.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

// Longer timers would fire at once.
const longestMillis = 2 ** 31 - 1

/** What is wrong with a duration that {@link millisOf} does not take. */
export const notADuration = "it is not a duration from 1 millisecond to 24 days"

/** A duration in whole milliseconds; undefined when no timer can wait that long, or that short. */
export const millisOf = (input: Duration.Input): number | undefined => {
  const millis = Option.getOrUndefined(Option.map(Duration.fromInput(input), Duration.toMillis))
  return millis !== undefined && millis >= 1 && millis <= longestMillis ? Math.floor(millis) : undefined
}
