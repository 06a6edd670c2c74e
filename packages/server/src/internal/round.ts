/**
 * One run of a handler that may ask for input. The revision is stateless: the handler runs again each round, and answers
 * and finished steps come back sealed in the state of the request.
 *
 * An ask without an answer suspends. When nothing more is asked and no step runs, the round is cut: the handler's fiber
 * is interrupted, which no code of the handler can catch, and what was asked goes to the client.
 */
import * as Capabilities from "@fairlead/protocol/Capabilities"
import { capabilitiesOf, type InputRequest } from "@fairlead/protocol/InputRequest"
import type * as Json from "@fairlead/protocol/Json"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"

/** What of earlier rounds comes back. */
export interface RoundState {
  /** How many rounds there were before this one. */
  readonly rounds: number
  readonly answers: Readonly<Record<string, Json.Object>>
  readonly steps: Readonly<Record<string, Json.Value>>
  /** What the handler keeps itself, with `Input.require`. */
  readonly kept: Json.Value | undefined
}

export const noState: RoundState = { rounds: 0, answers: {}, steps: {}, kept: undefined }

/** The most rounds of one request. */
export const maxRounds = 10

export interface RoundHost {
  readonly capabilities: Capabilities.ClientCapabilities
  /** Interrupts the handler. */
  readonly cut: () => void
}

export class Round {
  private readonly host: RoundHost
  private readonly before: RoundState
  private readonly asked = new Map<string, InputRequest>()
  private readonly asTexts = new Map<string, string>()
  private readonly waiting = new Set<(effect: Effect.Effect<never>) => void>()
  private readonly steps = new Map<string, Json.Value>()
  private readonly running = new Map<string, Deferred.Deferred<unknown, unknown>>()
  private lacking: Capabilities.ClientCapabilities | undefined = undefined
  private keptForNext: Json.Value | undefined
  private turn = 0
  /** The round is over: asks and steps end at once. */
  closed = false

  constructor(host: RoundHost, before: RoundState) {
    this.host = host
    this.before = before
    this.keptForNext = before.kept
    for (const [key, value] of Object.entries(before.steps)) this.steps.set(key, value)
  }

  /** The answer to a request, from an earlier round; or the end of this one. */
  ask(key: string, request: InputRequest): Effect.Effect<Json.Object> {
    return Effect.suspend(() => {
      if (this.closed) return Effect.interrupt
      const text = JSON.stringify(request)
      const other = this.asTexts.get(key)
      if (other !== undefined && other !== text) {
        return Effect.die(new Error(`The input ${JSON.stringify(key)} is asked for twice, with different requests`))
      }
      this.asTexts.set(key, text)
      const answer = Object.hasOwn(this.before.answers, key) ? this.before.answers[key] : undefined
      return answer === undefined ? this.wait(key, request) : Effect.succeed(answer)
    })
  }

  /** Asks again although there is an answer: it did not fit. */
  askAgain(key: string, request: InputRequest): Effect.Effect<never> {
    return Effect.suspend(() => this.closed ? Effect.interrupt : this.wait(key, request))
  }

  private wait(key: string, request: InputRequest): Effect.Effect<never> {
    // Interruptible, also where the handler is not: the cut ends it either way.
    return Effect.interruptible(Effect.callback<never>((resume) => {
      const missing = Capabilities.missing(capabilitiesOf(request), this.host.capabilities)
      if (missing !== undefined) this.lacking = merged(this.lacking, missing)
      this.asked.set(key, request)
      this.waiting.add(resume)
      this.scheduleCut()
      return Effect.sync(() => {
        this.waiting.delete(resume)
        // It lost a race, so it is not wanted any more.
        if (!this.closed) this.asked.delete(key)
      })
    }))
  }

  /** Ends the round with these requests and what the handler keeps for the next. */
  require(requests: Readonly<Record<string, InputRequest>>, kept: Json.Value | undefined): Effect.Effect<never> {
    return Effect.suspend(() => {
      if (this.closed) return Effect.interrupt
      this.keptForNext = kept
      return Effect.all(
        Object.keys(requests).length === 0
          ? [this.nothing()]
          : Object.entries(requests).map(([key, request]) => this.wait(key, request)),
        { concurrency: "unbounded" }
      ) as Effect.Effect<never>
    })
  }

  private nothing(): Effect.Effect<never> {
    return Effect.interruptible(Effect.callback<never>((resume) => {
      this.waiting.add(resume)
      this.scheduleCut()
      return Effect.sync(() => {
        this.waiting.delete(resume)
      })
    }))
  }

  /** Runs a step once over all rounds, and once when it is asked for twice at a time. Only successes are kept. */
  step<A, E, R, R2>(
    key: string,
    effect: Effect.Effect<A, E, R>,
    encode: (value: A) => Effect.Effect<Json.Value, never, R2>,
    decode: (value: Json.Value) => Effect.Effect<A, never, R2>
  ): Effect.Effect<A, E, R | R2> {
    return Effect.suspend((): Effect.Effect<A, E, R | R2> => {
      if (this.closed) return Effect.interrupt
      if (this.steps.has(key)) return decode(this.steps.get(key)!)
      const running = this.running.get(key)
      if (running !== undefined) return Deferred.await(running) as Effect.Effect<A, E>
      const done = Deferred.makeUnsafe<unknown, unknown>()
      this.running.set(key, done)
      return Effect.onExit(
        Effect.tap(effect, (value) =>
          Effect.map(encode(value), (encoded) => {
            this.steps.set(key, encoded)
          })),
        (exit: Exit.Exit<A, E>) =>
          Effect.sync(() => {
            this.running.delete(key)
            Deferred.doneUnsafe(done, exit)
            // The cut waited for it.
            if (this.running.size === 0 && this.asked.size > 0) this.scheduleCut()
          })
      )
    })
  }

  /** What the client answered, by key. */
  get responses(): Readonly<Record<string, Json.Object>> {
    return this.before.answers
  }

  get kept(): Json.Value | undefined {
    return this.before.kept
  }

  /** The capabilities that what was asked needs and the client does not have. */
  get missing(): Capabilities.ClientCapabilities | undefined {
    return this.lacking
  }

  get requests(): Readonly<Record<string, InputRequest>> {
    return Object.fromEntries(this.asked)
  }

  /** What goes into the state for the next round. */
  get state(): RoundState {
    return {
      rounds: this.before.rounds + 1,
      answers: this.before.answers,
      steps: Object.fromEntries(this.steps),
      kept: this.keptForNext
    }
  }

  /** Two turns after the latest ask, so that everything asked in parallel is in one round. */
  private scheduleCut(): void {
    const turn = ++this.turn
    setTimeout(() =>
      setTimeout(() => {
        if (turn !== this.turn || this.closed || this.running.size > 0 || this.waiting.size === 0) return
        this.closed = true
        this.host.cut()
        for (const resume of this.waiting) resume(Effect.interrupt)
      }, 0), 0)
  }
}

const merged = (
  a: Capabilities.ClientCapabilities | undefined,
  b: Capabilities.ClientCapabilities
): Capabilities.ClientCapabilities => {
  if (a === undefined) return b
  const result: Record<string, unknown> = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const known = result[key]
    result[key] = typeof known === "object" && known !== null && typeof value === "object" && value !== null
      ? { ...known, ...value }
      : value
  }
  return result
}
