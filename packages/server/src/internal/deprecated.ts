/**
 * Says once in the log of a process that a program uses what the revision deprecates (spec: community, Feature
 * Lifecycle).
 */
import * as Effect from "effect/Effect"

const told = new Set<string>()

export const deprecated = (feature: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (told.has(feature)) return Effect.void
    told.add(feature)
    return Effect.logWarning(
      `${feature} is deprecated by the protocol (SEP-2577). It works, and may be removed from July 2027 on`
    )
  })
