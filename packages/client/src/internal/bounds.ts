/**
 * When a request has to be over, and what says so.
 */
import type * as Call from "@fairlead/protocol/Call"
import type { Bound } from "@fairlead/protocol/Transport"

export class Bounds {
  /** The instant. */
  end: number
  bound: Bound
  /** How long the request has by its own bound; a deadline is as long as the whole call had of it. */
  length: number
  readonly #start: number
  readonly #timeout: number
  readonly #deadline: number
  readonly #since: number
  readonly #maxTotal: number | undefined

  constructor(call: Call.Call, since: number, start: number, timeout: number) {
    this.#start = start
    this.#timeout = timeout
    this.#deadline = call.deadline ?? Infinity
    this.#since = since
    this.#maxTotal = call.maxTotal
    this.end = start + timeout
    this.bound = "timeout"
    this.length = timeout
    this.#capByDeadline()
  }

  /** Progress restarts the timeout, where the call says so; it never ends a request earlier. */
  restart(now: number): void {
    if (this.#maxTotal === undefined) return
    const again = now + this.#timeout
    const total = this.#start + this.#maxTotal
    const end = Math.min(again, total)
    if (end <= this.end) return
    this.end = end
    if (total < again) {
      this.bound = "total"
      this.length = this.#maxTotal
    }
    this.#capByDeadline()
  }

  /** The last instant that it could be. */
  get latest(): number {
    return Math.min(this.#deadline, Math.max(this.end, this.#start + (this.#maxTotal ?? 0)))
  }

  /** The instant that the caller has set, if any. */
  get deadline(): number {
    return this.#deadline
  }

  /** Only the deadline counts from now on. */
  lift(): void {
    this.end = Infinity
    this.#capByDeadline()
  }

  #capByDeadline(): void {
    if (this.#deadline >= this.end) return
    this.end = this.#deadline
    this.bound = "deadline"
    this.length = Math.max(0, this.#deadline - this.#since)
  }
}
