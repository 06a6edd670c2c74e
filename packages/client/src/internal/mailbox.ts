/**
 * Notifications on their way to the readers of a subscription: bounded, each different one once.
 */
import * as Timer from "@fairlead/protocol/Timer"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { McpClientError } from "../McpClientError.ts"
import { Missed, type Notification } from "../Subscription.ts"

type Ending = Effect.Effect<never, McpClientError | Cause.Done>

export class Mailbox {
  readonly #size: number
  /** In the order of their first arrival. */
  readonly #waiting = new Map<string, Notification>()
  #readers = new Set<() => void>()
  #ending: Ending | undefined

  constructor(size: number) {
    this.#size = size
  }

  push(notification: Notification): void {
    if (this.#ending !== undefined) return
    const key = notification._tag === "ResourceUpdated" ? `uri ${notification.uri}` : notification._tag
    if (this.#waiting.has(key)) return
    if (this.#waiting.size >= this.#size) {
      this.#waiting.clear()
      this.#waiting.set("Missed", new Missed())
    } else this.#waiting.set(key, notification)
    this.#wake()
  }

  /** The first ending counts. */
  end(ending: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.#wake()
  }

  next(wait: Duration.Input): Effect.Effect<Option.Option<Notification>, McpClientError | Cause.Done> {
    return Effect.withFiber((fiber) => {
      const { context } = fiber
      const until = Timer.now(context) + Duration.toMillis(wait)
      const loop: Effect.Effect<Option.Option<Notification>, McpClientError | Cause.Done> = Effect.suspend(() => {
        const [first] = this.#waiting
        if (first !== undefined) {
          this.#waiting.delete(first[0])
          return Effect.succeed(Option.some(first[1]))
        }
        if (this.#ending !== undefined) return this.#ending
        const left = until - Timer.now(context)
        return left > 0 ? Effect.andThen(this.#woken(context, left), loop) : Effect.succeed(Option.none())
      })
      return loop
    })
  }

  readonly stream: Stream.Stream<Notification, McpClientError> = Stream.fromPull(
    Effect.succeed(Effect.flatMap(
      Effect.suspend(() => this.next(Duration.infinity)),
      (next) => Option.isSome(next) ? Effect.succeed([next.value] as const) : Cause.done()
    ))
  )

  /** A reader takes for itself once it runs: one that is interrupted before that has taken nothing. */
  #woken(context: Context.Context<never>, millis: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      // What came since the last look has woken nobody.
      if (this.#waiting.size > 0 || this.#ending !== undefined) return resume(Effect.void)
      const stop = Timer.after(context, millis, () => wake())
      const leave = () => {
        stop()
        this.#readers.delete(wake)
      }
      const wake = () => {
        leave()
        resume(Effect.void)
      }
      this.#readers.add(wake)
      return Effect.sync(leave)
    })
  }

  #wake(): void {
    const readers = this.#readers
    // A reader that finds nothing waits again.
    this.#readers = new Set()
    for (const wake of readers) wake()
  }
}
