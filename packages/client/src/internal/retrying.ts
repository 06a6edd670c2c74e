/**
 * Calling again, as far as that is safe.
 */
import * as Call from "@fairlead/protocol/Call"
import { Cancelled } from "@fairlead/protocol/Transport"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type { RetryPolicy } from "../McpClient.ts"
import * as McpClientError from "../McpClientError.ts"

export const retrying = <A, E, R, Output, Error, Env>(
  self: Effect.Effect<A, E, R>,
  { idempotent = false, schedule }: RetryPolicy<Output, Error, Env>
): Effect.Effect<A, E | Error, R | Env> =>
  Effect.withFiber((fiber) => {
    const { cancellation, deadline = Infinity } = fiber.getRef(Call.Current)
    const bounded = Schedule.modifyDelay(
      schedule,
      ({ duration, input, now }): Effect.Effect<Duration.Duration, unknown> => {
        if (!McpClientError.isMcpClientError(input) || !input.isRetryable({ idempotent })) return Effect.fail(input)
        const delay = Duration.max(duration, Duration.millis(askedFor(input, now)))
        // Nothing can come of an attempt after the deadline: the last one says why there is no answer.
        if (now + Duration.toMillis(delay) >= deadline) return Effect.fail(input)
        return cancellation.length === 0 ? Effect.succeed(delay) : waited(delay, cancellation, input)
      }
    )
    return Effect.retry(self, bounded) as Effect.Effect<A, E | Error, R | Env>
  })

/** The wait itself, which a token ends; what the last attempt knows of the server stays true. */
const waited = (
  delay: Duration.Duration,
  tokens: ReadonlyArray<Call.CancellationToken>,
  { correlation, evidence }: McpClientError.McpClientError
): Effect.Effect<Duration.Duration, McpClientError.McpClientError> => {
  const signal = AbortSignal.any(tokens.map(({ signal }) => signal))
  const cancelled = Effect.callback<never, McpClientError.McpClientError>((resume) => {
    const end = () => resume(Effect.fail(McpClientError.make(new Cancelled({ evidence }), correlation)))
    if (signal.aborted) return end()
    signal.addEventListener("abort", end)
    return Effect.sync(() => signal.removeEventListener("abort", end))
  })
  return Effect.raceFirst(Effect.as(Effect.sleep(delay), Duration.zero), cancelled)
}

/** Longer than any schedule waits. */
const mostSeconds = 2 ** 31

/** How many milliseconds the server asks to wait: seconds, or until a date (RFC 9110, Retry-After). */
const askedFor = ({ reason }: McpClientError.McpClientError, now: number): number => {
  const value = reason._tag === "HttpStatus" || reason._tag === "RpcError" ? reason.retryAfter : undefined
  if (value === undefined) return 0
  if (/^\d+$/.test(value.trim())) return Math.min(Number(value), mostSeconds) * 1000
  // A date has names in it; other numbers would pass for years.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : NaN
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
