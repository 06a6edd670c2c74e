/**
 * Calling again, as far as that is safe.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { RetryPolicy } from "../McpClient.ts"
import * as McpClientError from "../McpClientError.ts"

export const retrying = <A, E, R, Output, Error, Env>(
  self: Effect.Effect<A, E, R>,
  { idempotent = false, schedule }: RetryPolicy<Output, Error, Env>
): Effect.Effect<A, E | Error, R | Env> =>
  Effect.retry(self, {
    schedule: Schedule.modifyDelay(
      schedule,
      ({ duration, input, now }) => Effect.succeed(Duration.max(duration, Duration.millis(askedFor(input, now))))
    ),
    while: (error: E) => McpClientError.isMcpClientError(error) && error.isRetryable({ idempotent })
  }) as Effect.Effect<A, E | Error, R | Env>

/** How many milliseconds the server asks to wait: seconds, or until a date (RFC 9110, Retry-After). */
const askedFor = (error: unknown, now: number): number => {
  if (!McpClientError.isMcpClientError(error)) return 0
  const { reason } = error
  const value = reason._tag === "HttpStatus" || reason._tag === "RpcError" ? reason.retryAfter : undefined
  if (value === undefined) return 0
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
