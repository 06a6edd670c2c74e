/** What a user of `Call` relies on the compiler for. It is compiled with the tests and never run. */
import { Call } from "@fairlead/protocol"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { expectTypeOf } from "vitest"

interface Service {
  readonly _: unique symbol
}
declare const effect: Effect.Effect<"value", "failure", Service>
declare const token: Call.CancellationToken
declare const signal: AbortSignal
declare const report: (progress: Call.Progress) => Effect.Effect<void>

// Every combinator keeps result, failure and services, in both forms.
expectTypeOf(Call.withDeadline(effect, "2 seconds")).toEqualTypeOf(effect)
expectTypeOf(Call.withTimeout(effect, Duration.infinity)).toEqualTypeOf(effect)
expectTypeOf(Call.withCancellation(effect, token)).toEqualTypeOf(effect)
expectTypeOf(Call.withCancellation(effect, signal)).toEqualTypeOf(effect)
expectTypeOf(Call.withCorrelation(effect, "order-42")).toEqualTypeOf(effect)
expectTypeOf(Call.withIdempotencyKey(effect, "order-42")).toEqualTypeOf(effect)
expectTypeOf(Call.withProgress(effect, report)).toEqualTypeOf(effect)
expectTypeOf(Call.withMeta(effect, { "com.example/a": [1, null] })).toEqualTypeOf(effect)
expectTypeOf(Call.detach(effect)).toEqualTypeOf(effect)
expectTypeOf(
  effect.pipe(
    Call.withDeadline(1000),
    Call.withTimeout({ minutes: 2 }),
    Call.withCancellation(token),
    Call.withCancellation(signal),
    Call.withCorrelation("order-42"),
    Call.withIdempotencyKey("order-42"),
    Call.withProgress(report),
    Call.withMeta({}),
    Call.detach
  )
).toEqualTypeOf(effect)
expectTypeOf(Call.withDeadline(effect, 1)).not.toBeAny()

// The handler of progress gets typed reports, and may give anything.
effect.pipe(Call.withProgress((progress) => {
  expectTypeOf(progress).toEqualTypeOf<Call.Progress>()
  expectTypeOf(progress.total).toEqualTypeOf<number | undefined>()
  return Effect.succeed(progress.message)
}))
// @ts-expect-error a handler that can fail has to say what happens then
effect.pipe(Call.withProgress(() => Effect.fail("no")))
// @ts-expect-error a handler that needs a service has to be given it
effect.pipe(Call.withProgress(() => effect))
// @ts-expect-error a handler is an effect
effect.pipe(Call.withProgress(() => {}))

// Mistakes are told where they are made.
// @ts-expect-error a deadline is a duration
effect.pipe(Call.withDeadline("soon"))
// @ts-expect-error a correlation is a text
effect.pipe(Call.withCorrelation(42))
// @ts-expect-error metadata is JSON
effect.pipe(Call.withMeta({ when: new Date() }))
// @ts-expect-error a controller is not a signal
effect.pipe(Call.withCancellation(new AbortController()))

// Reading the call needs no service.
expectTypeOf(Call.Current).toExtend<Effect.Effect<Call.Call>>()
expectTypeOf(Call.makeCancellationToken).toEqualTypeOf<Effect.Effect<Call.CancellationToken>>()
expectTypeOf(token.cancel).toEqualTypeOf<Effect.Effect<void>>()
expectTypeOf(token.isCancelled).toEqualTypeOf<Effect.Effect<boolean>>()

// What is laid over a call may leave out any member.
expectTypeOf(Call.combine(Call.empty, {})).toEqualTypeOf<Call.Call>()
expectTypeOf<Partial<Call.Call>>().toExtend<Call.Overlay>()
// @ts-expect-error a token cannot be made by hand
const forged: Call.CancellationToken = { cancel: Effect.void, isCancelled: Effect.succeed(false), signal }
void forged

// A guard narrows.
declare const unknownValue: unknown
if (Call.isCarriable(unknownValue)) expectTypeOf(unknownValue).toEqualTypeOf<string>()
if (Call.isCancellationToken(unknownValue)) expectTypeOf(unknownValue).toEqualTypeOf<Call.CancellationToken>()
