/**
 * What a server tells of a request on its way to the caller's handlers: in order, one at a time, on a fiber of its own
 * that is started when there is something to hand over.
 */
import type * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { warn } from "./warn.ts"

/** How many reports may wait for a slow handler; then the oldest is dropped. */
export const maxWaiting = 1024

export interface Handlers {
  /** Everything that came was handed over. */
  readonly idle: () => void
  /** The handler died. */
  readonly died: (cause: Cause.Cause<never>) => void
}

/** A report on its way: what hands it over. */
export type Report = () => Effect.Effect<unknown>

export class Reports {
  #waiting: Array<Report> = []
  #busy = false
  #fiber: Fiber.Fiber<void> | undefined
  #stopped = false
  #dropped = 0
  #warned = false
  readonly #context: Context.Context<never>
  readonly #on: Handlers
  readonly #label: string | undefined

  constructor(context: Context.Context<never>, label: string | undefined, on: Handlers) {
    this.#context = context
    this.#on = on
    this.#label = label
  }

  get isIdle(): boolean {
    return !this.#busy
  }

  get fiber(): Fiber.Fiber<void> | undefined {
    return this.#fiber
  }

  push(report: Report): void {
    // The rest of a chunk that ended the call on its way.
    if (this.#stopped) return
    if (this.#waiting.length === maxWaiting) {
      this.#waiting.shift()
      this.#dropped++
    }
    this.#waiting.push(report)
    if (!this.#busy) this.#start()
  }

  /** Nothing is handed over any more. */
  stop(): void {
    this.#stopped = true
    this.#waiting = []
    this.#fiber?.interruptUnsafe()
  }

  #start(): void {
    this.#busy = true
    const fiber = this.#fiber = Effect.runForkWith(this.#context)(this.#handOver())
    fiber.addObserver((exit) => {
      this.#busy = false
      this.#fiber = undefined
      if (exit._tag === "Failure") this.#on.died(exit.cause)
      else if (this.#waiting.length > 0) this.#start()
      else this.#on.idle()
    })
  }

  #handOver(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const next = this.#waiting.shift()
      return next === undefined ? this.#warn() : Effect.flatMap(Effect.suspend(next), () => this.#handOver())
    })
  }

  #warn(): Effect.Effect<void> {
    if (this.#dropped === 0 || this.#warned) return Effect.void
    this.#warned = true
    return warn(this.#label, "Progress reports were dropped: they arrive faster than the handler takes them", {
      dropped: this.#dropped,
      maxWaiting
    })
  }
}
