import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Timer } from "@fairlead/protocol"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"

const month = 31 * 24 * 60 * 60 * 1000

describe("Timer", () => {
  describe("on a test clock", () => {
    it.effect("fires once, when its time has come", () =>
      Effect.gen(function*() {
        const context = yield* Effect.context<never>()
        let fired = 0
        Timer.after(context, 1000, () => fired++)
        yield* TestClock.adjust(999)
        assert.strictEqual(fired, 0)
        yield* TestClock.adjust(1)
        assert.strictEqual(fired, 1)
        yield* TestClock.adjust(10_000)
        assert.strictEqual(fired, 1)
      }))

    it.effect("a stopped timer never fires, and stopping again does nothing", () =>
      Effect.gen(function*() {
        const context = yield* Effect.context<never>()
        let fired = 0
        const stop = Timer.after(context, 1000, () => fired++)
        yield* TestClock.adjust(500)
        stop()
        stop()
        yield* TestClock.adjust(10_000)
        assert.strictEqual(fired, 0)
        const late = Timer.after(context, 10, () => fired++)
        yield* TestClock.adjust(10)
        late()
        assert.strictEqual(fired, 1)
      }))

    it.effect("a time that is past fires at once, an infinite one never, a very long one after 24 days", () =>
      Effect.gen(function*() {
        const context = yield* Effect.context<never>()
        const fired: Array<string> = []
        Timer.after(context, -5, () => fired.push("past"))
        Timer.after(context, -Infinity, () => fired.push("long past"))
        Timer.after(context, Infinity, () => fired.push("never"))
        Timer.after(context, 2 * month, () => fired.push("long"))
        yield* TestClock.adjust(0)
        assert.deepStrictEqual(fired, ["past", "long past"])
        yield* TestClock.adjust(month)
        assert.deepStrictEqual(fired, ["past", "long past", "long"])
        yield* TestClock.adjust(1000 * month)
        assert.deepStrictEqual(fired, ["past", "long past", "long"])
      }))

    it.effect("now is the time of the clock", () =>
      Effect.gen(function*() {
        const context = yield* Effect.context<never>()
        const start = Timer.now(context)
        yield* TestClock.adjust(1234)
        assert.strictEqual(Timer.now(context), start + 1234)
      }))
  })

  describe("on the live clock", () => {
    const context = Context.empty()

    beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
    afterEach(() => void vi.useRealTimers())

    it("fires once, as one timer of the platform", () => {
      let fired = 0
      Timer.after(context, 1000, () => fired++)
      assert.strictEqual(vi.getTimerCount(), 1)
      vi.advanceTimersByTime(999)
      assert.strictEqual(fired, 0)
      vi.advanceTimersByTime(1)
      vi.advanceTimersByTime(10_000)
      assert.strictEqual(fired, 1)
    })

    it("a stopped timer is gone", () => {
      const stop = Timer.after(context, 1000, () => assert.fail("fired"))
      stop()
      stop()
      assert.strictEqual(vi.getTimerCount(), 0)
      vi.advanceTimersByTime(10_000)
    })

    it("delays that a platform timer cannot hold are clamped", () => {
      const fired: Array<string> = []
      Timer.after(context, -5, () => fired.push("past"))
      Timer.after(context, Infinity, () => fired.push("never"))
      Timer.after(context, 2 ** 31, () => fired.push("long"))
      assert.strictEqual(vi.getTimerCount(), 2)
      vi.advanceTimersByTime(1)
      assert.deepStrictEqual(fired, ["past"])
      vi.advanceTimersByTime(2 ** 31 - 2)
      assert.deepStrictEqual(fired, ["past", "long"])
      assert.strictEqual(vi.getTimerCount(), 0)
    })

    it("now is the time of day", () => {
      assert.strictEqual(Timer.now(context), 1_000_000)
    })
  })
})
