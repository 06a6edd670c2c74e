/**
 * Closed loops of calls: as many in flight as asked for, each followed by the next, until the time is over.
 */
import * as Effect from "effect/Effect"
import type { Order, Outcome } from "./Message.ts"
import { percentile } from "./Stats.ts"

/** Times calls until an order is filled. */
class Clock {
  readonly #order: Order
  readonly #start = performance.now()
  readonly #end: number
  #latencies = new Float64Array(1024)
  #begun = 0
  #done = 0

  constructor(order: Order) {
    this.#order = order
    this.#end = this.#start + order.millis
  }

  /** Whether one more call is to be made. */
  next(): boolean {
    const { calls } = this.#order
    if (calls === undefined ? performance.now() >= this.#end : this.#begun >= calls) return false
    this.#begun++
    return true
  }

  took(millis: number): void {
    if (this.#done === this.#latencies.length) {
      const grown = new Float64Array(this.#done * 2)
      grown.set(this.#latencies)
      this.#latencies = grown
    }
    this.#latencies[this.#done++] = millis * 1000
  }

  outcome(): Outcome {
    const seconds = (performance.now() - this.#start) / 1000
    const latencies = this.#latencies.subarray(0, this.#done)
    return {
      calls: this.#done,
      seconds,
      p50Micros: percentile(latencies, 0.5),
      p99Micros: percentile(latencies, 0.99)
    }
  }
}

/** Calls that are promises. */
export const ofPromises = async (order: Order, call: () => Promise<unknown>): Promise<Outcome> => {
  const clock = new Clock(order)
  const worker = async () => {
    while (clock.next()) {
      const start = performance.now()
      await call()
      clock.took(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: order.concurrency }, worker))
  return clock.outcome()
}

/** Calls that are effects; each chain of calls is one fiber. */
export const ofEffects = <E, R>(order: Order, call: Effect.Effect<unknown, E, R>): Effect.Effect<Outcome, E, R> =>
  Effect.suspend(() => {
    const clock = new Clock(order)
    const worker = Effect.whileLoop({
      while: () => clock.next(),
      body: () => {
        const start = performance.now()
        return Effect.map(call, () => clock.took(performance.now() - start))
      },
      step: () => {}
    })
    return Effect.map(
      Effect.all(Array.from({ length: order.concurrency }, () => worker), {
        concurrency: "unbounded",
        discard: true
      }),
      () => clock.outcome()
    )
  })
