/**
 * Cache hints as they travel (spec: server/utilities/caching).
 */
import type { CacheHint } from "@fairlead/protocol/Resource"
import * as Duration from "effect/Duration"

/** The two members of a result. What is not said is private and stale at once. */
export const cacheMembers = (hint: CacheHint | undefined): string => {
  const millis = hint?.ttl === undefined ? 0 : Duration.toMillis(hint.ttl)
  const ttl = Math.max(0, Math.min(Math.floor(millis), Number.MAX_SAFE_INTEGER))
  return `"ttlMs":${ttl},"cacheScope":${JSON.stringify(hint?.scope ?? "private")}`
}
