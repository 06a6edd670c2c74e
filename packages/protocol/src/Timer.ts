/**
 * One-shot timers on a `Clock`, cheap enough for one a request: on the live clock a plain timer, on any other (such as
 * `TestClock`) a sleeping fiber.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

const liveClock = Context.get(Context.empty(), Clock.Clock)
// Longer delays would fire at once.
const longestDelay = 2 ** 31 - 1

/**
 * The time of the context's `Clock`, in milliseconds.
 *
 * @category accessors
 * @since 0.1.0
 */
export const now = (context: Context.Context<never>): number =>
  Context.get(context, Clock.Clock).currentTimeMillisUnsafe()

/**
 * Runs `f` after `millis` milliseconds of the context's `Clock`; the result stops the timer. An infinite delay sets no
 * timer, and a delay of more than about 24 days is cut to that.
 *
 * @category constructors
 * @since 0.1.0
 */
export const after = (context: Context.Context<never>, millis: number, f: () => void): () => void => {
  if (millis === Infinity) return stopNothing
  const delay = Math.min(Math.max(millis, 0), longestDelay)
  const clock = Context.get(context, Clock.Clock)
  if (clock === liveClock) {
    const timer = setTimeout(f, delay)
    return () => clearTimeout(timer)
  }
  const fiber = Effect.runForkWith(context)(
    Effect.flatMap(clock.sleep(Duration.millis(delay)), () => Effect.sync(f))
  )
  return () => fiber.interruptUnsafe()
}

const stopNothing = () => {}
