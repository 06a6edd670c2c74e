import { assert, describe, it } from "@effect/vitest"
import { Call } from "@fairlead/protocol"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { identity, pipe } from "effect/Function"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { getEventListeners } from "node:events"

const current = Effect.withFiber((fiber) => Effect.succeed(fiber.getRef(Call.Current)))

describe("Call", () => {
  describe("combinators", () => {
    it.effect("a fiber without any carries nothing", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* current, Call.empty)
      }))

    it.effect("a deadline is an instant, fixed when its effect starts", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(1000)
        const deadlines = Call.withDeadline(
          Effect.gen(function*() {
            const first = (yield* current).deadline
            yield* TestClock.adjust("3 seconds")
            return [first, (yield* current).deadline]
          }),
          "5 seconds"
        )
        assert.deepStrictEqual(yield* deadlines, [6000, 6000])
        assert.deepStrictEqual(yield* deadlines, [9000, 9000])
      }))

    it.effect("of two deadlines the earlier counts, whichever is inside", () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(0)
        const deadline = Effect.map(current, (call) => call.deadline)
        assert.strictEqual(yield* deadline.pipe(Call.withDeadline("9 seconds"), Call.withDeadline("2 seconds")), 2000)
        assert.strictEqual(yield* deadline.pipe(Call.withDeadline("2 seconds"), Call.withDeadline("9 seconds")), 2000)
        assert.strictEqual(
          yield* deadline.pipe(Call.withDeadline(Duration.infinity), Call.withDeadline("9 seconds")),
          9000
        )
        assert.strictEqual(yield* deadline.pipe(Call.withDeadline(0), Call.withDeadline("9 seconds")), 0)
      }))

    it.effect("of two timeouts, correlations, keys and progress handlers the inner counts", () =>
      Effect.gen(function*() {
        const outer = () => Effect.void
        const inner = () => Effect.void
        const nested = current.pipe(
          Call.withTimeout("1 minute"),
          Call.withCorrelation("inner"),
          Call.withIdempotencyKey("inner-key"),
          Call.withProgress(inner),
          Call.withTimeout("1 second"),
          Call.withCorrelation("outer"),
          Call.withIdempotencyKey("outer-key"),
          Call.withProgress(outer)
        )
        const call = yield* nested
        assert.strictEqual(call.timeout, 60_000)
        assert.strictEqual(call.correlation, "inner")
        assert.strictEqual(call.idempotencyKey, "inner-key")
        assert.strictEqual(call.progress, inner)
        const infinite = yield* current.pipe(Call.withTimeout(Duration.infinity), Call.withTimeout("1 second"))
        assert.strictEqual(infinite.timeout, Infinity)
      }))

    it.effect("metadata is merged, and of equal keys the inner counts", () =>
      Effect.gen(function*() {
        const call = yield* current.pipe(
          Call.withMeta({ "a.b/x": 1, "a.b/y": 1 }),
          Call.withMeta({ "a.b/y": 2, "a.b/z": 2 })
        )
        assert.deepStrictEqual(call.meta, { "a.b/x": 1, "a.b/y": 1, "a.b/z": 2 })
      }))

    it.effect("every combinator takes its effect first or last", () =>
      Effect.gen(function*() {
        const token = yield* Call.makeCancellationToken
        const handler = () => Effect.void
        const first = yield* pipe(
          current,
          (self) => Call.withDeadline(self, 10),
          (self) => Call.withTimeout(self, 20),
          (self) => Call.withCancellation(self, token),
          (self) => Call.withCorrelation(self, "c"),
          (self) => Call.withIdempotencyKey(self, "k"),
          (self) => Call.withProgress(self, handler),
          (self) => Call.withLogLevel(self, "info", handler),
          (self) => Call.withMeta(self, { m: 1 })
        )
        const last = yield* current.pipe(
          Call.withDeadline(10),
          Call.withTimeout(20),
          Call.withCancellation(token),
          Call.withCorrelation("c"),
          Call.withIdempotencyKey("k"),
          Call.withProgress(handler),
          Call.withLogLevel("info", handler),
          Call.withMeta({ m: 1 })
        )
        assert.deepStrictEqual(first, last)
        assert.deepStrictEqual(first, {
          deadline: 10,
          timeout: 20,
          cancellation: [token],
          correlation: "c",
          idempotencyKey: "k",
          progress: handler,
          maxTotal: undefined,
          log: { level: "info", handler },
          meta: { m: 1 }
        })
      }))

    it.effect("progress restarts the timeout only where it is asked to, within 10 minutes unless said otherwise", () =>
      Effect.gen(function*() {
        const handler = () => Effect.void
        const maxTotal = Effect.map(current, (call) => call.maxTotal)
        const set = (options?: Call.ProgressOptions) => Call.withProgress(maxTotal, handler, options)
        assert.strictEqual(yield* set(), undefined)
        assert.strictEqual(yield* set({ maxTotal: 5 }), undefined)
        assert.strictEqual(yield* set({ resetTimeout: true }), 600_000)
        assert.strictEqual(yield* set({ resetTimeout: true, maxTotal: "1 minute" }), 60_000)
        assert.strictEqual(
          yield* set().pipe(Call.withProgress(handler, { resetTimeout: true })),
          undefined,
          "it belongs to the inner handler"
        )
      }))

    it.effect("progress goes to a queue as well", () =>
      Effect.gen(function*() {
        const queue = yield* Queue.unbounded<Call.Progress>()
        const { progress } = yield* current.pipe(Call.withProgress(queue))
        yield* progress!({ progress: 1 })
        yield* progress!({ progress: 2, total: 2 })
        assert.deepStrictEqual(yield* Queue.takeAll(queue), [{ progress: 1 }, { progress: 2, total: 2 }])
      }))

    it.effect("what is set inside ends with its effect", () =>
      Effect.gen(function*() {
        yield* Effect.void.pipe(Call.withCorrelation("a"))
        yield* Effect.fail("no").pipe(Call.withCorrelation("a"), Effect.ignore)
        assert.deepStrictEqual(yield* current, Call.empty)
      }))
  })

  describe("fibers", () => {
    const correlation = Effect.map(current, (call) => call.correlation)

    it.effect("a call follows forks, parallel work and streams", () =>
      Effect.gen(function*() {
        const seen = yield* Effect.gen(function*() {
          const child = yield* Effect.forkChild(correlation)
          const detached = yield* Effect.forkDetach(correlation)
          const scoped = yield* Effect.forkScoped(correlation)
          const streamed = yield* Stream.make(1, 2).pipe(
            Stream.mapEffect(() => correlation, { concurrency: 2 }),
            Stream.runCollect
          )
          return [
            yield* Fiber.join(child),
            yield* Fiber.join(detached),
            yield* Fiber.join(scoped),
            ...(yield* Effect.all([correlation, correlation], { concurrency: "unbounded" })),
            ...streamed
          ]
        }).pipe(Call.withCorrelation("order-42"))
        assert.deepStrictEqual(seen, Array.from({ length: 7 }, () => "order-42"))
      }))

    it.effect("what a child sets is not seen by its parent or its siblings", () =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        const [a, b, parent] = yield* Effect.gen(function*() {
          const first = yield* Effect.forkChild(
            Effect.andThen(Deferred.await(started), correlation).pipe(Call.withCorrelation("first"))
          )
          const second = yield* Effect.forkChild(correlation.pipe(Call.withCorrelation("second")))
          const own = yield* correlation
          yield* Deferred.succeed(started, undefined)
          return [yield* Fiber.join(first), yield* Fiber.join(second), own]
        }).pipe(Call.withCorrelation("parent"))
        assert.deepStrictEqual([a, b, parent], ["first", "second", "parent"])
      }))

    it.effect("a detached effect carries nothing, and so do the fibers it starts", () =>
      Effect.gen(function*() {
        const inside = Effect.flatMap(Effect.forkDetach(current), Fiber.join)
        const both = yield* Effect.all([inside.pipe(Call.detach), inside]).pipe(
          Call.withCorrelation("a"),
          Call.withDeadline("1 second")
        )
        assert.deepStrictEqual(both[0], Call.empty)
        assert.strictEqual(both[1].correlation, "a")
      }))
  })

  describe("combine", () => {
    it("nothing laid over changes nothing", () => {
      const call = { ...Call.empty, deadline: 1, timeout: 2, correlation: "c", idempotencyKey: "k", meta: { m: 1 } }
      assert.deepStrictEqual(Call.combine(call, {}), call)
      assert.deepStrictEqual(Call.combine(call, { deadline: undefined, timeout: undefined, meta: undefined }), call)
      assert.deepStrictEqual(Call.combine(Call.empty, call), call)
    })

    it.prop(
      "the deadline is the earlier one, in either order",
      [Schema.UndefinedOr(Schema.Int), Schema.UndefinedOr(Schema.Int)],
      ([a, b]) => {
        const expected = a === undefined ? b : b === undefined ? a : Math.min(a, b)
        assert.strictEqual(Call.combine({ ...Call.empty, deadline: a }, { deadline: b }).deadline, expected)
      }
    )

    it.effect("every token counts, and the records themselves do not change", () =>
      Effect.gen(function*() {
        const [a, b, c] = yield* Effect.all([
          Call.makeCancellationToken,
          Call.makeCancellationToken,
          Call.makeCancellationToken
        ])
        const one = Call.combine(Call.empty, { cancellation: a })
        const three = Call.combine(one, { cancellation: [b, c] })
        assert.deepStrictEqual(one.cancellation, [a])
        assert.deepStrictEqual(three.cancellation, [a, b, c])
        assert.deepStrictEqual(Call.empty.cancellation, [])
      }))
  })

  describe("cancellation", () => {
    it.effect("a token is cancelled once and stays so", () =>
      Effect.gen(function*() {
        const token = yield* Call.makeCancellationToken
        let heard = 0
        token.signal.addEventListener("abort", () => heard++)
        assert.isFalse(yield* token.isCancelled)
        yield* token.cancel
        yield* token.cancel
        assert.isTrue(yield* token.isCancelled)
        assert.isTrue(token.signal.aborted)
        assert.strictEqual(heard, 1)
      }))

    it.effect("both tokens of nested calls are carried, and each ends alone", () =>
      Effect.gen(function*() {
        const outer = yield* Call.makeCancellationToken
        const inner = yield* Call.makeCancellationToken
        const tokens = yield* current.pipe(
          Effect.map((call) => call.cancellation),
          Call.withCancellation(inner),
          Call.withCancellation(outer)
        )
        assert.deepStrictEqual(tokens, [outer, inner])
        yield* outer.cancel
        assert.isFalse(yield* inner.isCancelled)
      }))

    it.effect("a token follows a signal, before and after it aborted, and never aborts it", () =>
      Effect.gen(function*() {
        const controller = new AbortController()
        const follower = Call.cancellationTokenFromSignal(controller.signal)
        const other = Call.cancellationTokenFromSignal(controller.signal)
        yield* other.cancel
        assert.isTrue(yield* other.isCancelled)
        assert.isTrue(other.signal.aborted)
        assert.isFalse(controller.signal.aborted)
        assert.isFalse(yield* follower.isCancelled)
        let heard = 0
        follower.signal.addEventListener("abort", () => heard++)
        controller.abort()
        assert.isTrue(yield* follower.isCancelled)
        assert.strictEqual(heard, 1)
        assert.isTrue(yield* Call.cancellationTokenFromSignal(controller.signal).isCancelled)
      }))

    it.effect("a signal can be given in place of a token", () =>
      Effect.gen(function*() {
        const controller = new AbortController()
        const [token] = yield* current.pipe(
          Effect.map((call) => call.cancellation),
          Call.withCancellation(controller.signal)
        )
        assert.isTrue(Call.isCancellationToken(token))
        assert.isFalse(yield* token!.isCancelled)
        controller.abort()
        assert.isTrue(yield* token!.isCancelled)
      }))

    it.effect("calls leave no listener on a signal that outlives them", () =>
      Effect.gen(function*() {
        const controller = new AbortController()
        for (let i = 0; i < 1000; i++) {
          const [token] = yield* current.pipe(
            Effect.map((call) => call.cancellation),
            Call.withCancellation(controller.signal)
          )
          const heard = () => {}
          token!.signal.addEventListener("abort", heard)
          token!.signal.removeEventListener("abort", heard)
        }
        assert.strictEqual(getEventListeners(controller.signal, "abort").length, 0)
      }))

    it("only tokens are tokens", () => {
      assert.isTrue(Call.isCancellationToken(Effect.runSync(Call.makeCancellationToken)))
      for (const other of [new AbortController().signal, {}, null, undefined, "token"]) {
        assert.isFalse(Call.isCancellationToken(other))
      }
    })
  })

  describe("what travels", () => {
    it.each(
      [
        ["a", true],
        ["order-42", true],
        ["!~", true],
        ["x".repeat(128), true],
        ["", false],
        ["x".repeat(129), false],
        ["a b", false],
        ["a\n", false],
        ["\ta", false],
        ["é", false],
        ["a\u007f", false],
        [5, false],
        [null, false],
        [undefined, false],
        [["a"], false]
      ] as const
    )("%j can travel: %s", (value, expected) => {
      assert.strictEqual(Call.isCarriable(value), expected)
    })

    it.each(
      [
        [0, 0],
        [1, 1],
        [2500, 2500],
        [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
        [-1, undefined],
        [1.5, undefined],
        [NaN, undefined],
        [Infinity, undefined],
        [2 ** 53, undefined],
        ["2500", undefined],
        [null, undefined],
        [true, undefined],
        [[2500], undefined],
        [{}, undefined]
      ] as const
    )("a remaining time of %j is read as %s", (value, expected) => {
      assert.strictEqual(Call.timeoutFromMeta({ [Call.metaKeys.timeoutMillis]: value }), expected)
    })

    it("an absent remaining time is none", () => {
      assert.strictEqual(Call.timeoutFromMeta({}), undefined)
    })

    it("the keys are the ones that both ends know", () => {
      assert.deepStrictEqual(Call.metaKeys, {
        correlation: "io.github.gleam-dream/correlation",
        idempotencyKey: "io.github.gleam-dream/idempotency-key",
        timeoutMillis: "io.github.fairlead/timeout-ms"
      })
      assert.strictEqual(Call.correlationHeader, "x-correlation-id")
    })

    it("a fresh correlation is 32 hexadecimal digits, and no two are the same", () => {
      const many = Array.from({ length: 2000 }, Call.makeCorrelationUnsafe)
      for (const correlation of many) {
        assert.match(correlation, /^[0-9a-f]{32}$/)
        assert.isTrue(Call.isCarriable(correlation))
      }
      assert.strictEqual(new Set(many).size, many.length)
      // Every digit occurs in every place.
      for (let place = 0; place < 32; place++) {
        assert.strictEqual(new Set(many.map((correlation) => correlation[place])).size, 16)
      }
    })
  })

  it.effect("a combinator does not touch the result, the failure or the services of its effect", () =>
    Effect.gen(function*() {
      const all = <A, E, R>(self: Effect.Effect<A, E, R>) =>
        self.pipe(
          Call.withDeadline(1),
          Call.withTimeout(1),
          Call.withCorrelation("a"),
          Call.withMeta({}),
          Call.detach,
          identity
        )
      assert.strictEqual(yield* all(Effect.succeed(1)), 1)
      assert.strictEqual(yield* Effect.flip(all(Effect.fail("no"))), "no")
    }))
})
