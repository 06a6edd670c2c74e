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
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Hash from "effect/Hash"
import type { InputRound } from "../Invocation.ts"

/** What of earlier rounds comes back. */
export interface RoundState {
  /** How many rounds there were before this one. */
  readonly rounds: number
  /** A hash of what each key asked for. */
  readonly questions: Readonly<Record<string, number>>
  readonly answers: Readonly<Record<string, Json.Object>>
  readonly steps: Readonly<Record<string, Json.Value>>
  /** What the handler keeps itself, with `Input.require`. */
  readonly kept: Json.Value | undefined
}

export const noState: RoundState = { rounds: 0, questions: {}, answers: {}, steps: {}, kept: undefined }

/** The most rounds of one request. */
export const maxRounds = 10

export interface RoundHost {
  readonly capabilities: Capabilities.ClientCapabilities
  /** Interrupts the handler. */
  readonly cut: () => void
}

/** An effect that waits for the next round: with what it asks for, or for the round alone. */
interface Waiting {
  readonly resume: (effect: Effect.Effect<never>) => void
  readonly asks: readonly [key: string, request: InputRequest] | undefined
}

/** The keys of the steps that a fiber is in. */
const CurrentSteps: Context.Reference<ReadonlyArray<string>> = Context.Reference<ReadonlyArray<string>>(
  "@fairlead/server/Input/CurrentSteps",
  { defaultValue: () => [] }
)

/** Within a step the round could not be cut, which waits for the step; and what the step did already is not recorded. */
const outsideOfSteps = <A, E, R>(key: string | undefined, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(CurrentSteps, (steps) => {
    if (steps.length === 0) return effect
    const what = key === undefined ? "A round ends" : `The input ${JSON.stringify(key)} is asked for`
    return Effect.die(new Error(`${what} within the step ${JSON.stringify(steps.at(-1))}`))
  })

const changedQuestion =
  "An input is asked for again: its question is another than in the round before. Take what it shows from a step"

export class Round implements InputRound {
  private readonly host: RoundHost
  private readonly before: RoundState
  private readonly asTexts = new Map<string, string>()
  private readonly waiting = new Set<Waiting>()
  private readonly steps = new Map<string, Json.Value>()
  private readonly running = new Map<string, Deferred.Deferred<unknown, unknown>>()
  /** Which step waits for which: one within it, or one that another fiber runs. */
  private readonly waits = new Set<readonly [step: string, other: string]>()
  private keptForNext: Json.Value | undefined
  private turn = 0
  /** The round is over: asks and steps end at once. */
  closed = false
  /** What the client is asked for: what still waited when the round was cut. */
  requests: Readonly<Record<string, InputRequest>> = {}

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
      const answer = this.answerTo(key, text)
      if (answer !== undefined) return Effect.succeed(answer)
      const waiting = this.wait([key, request])
      return Object.hasOwn(this.before.answers, key)
        ? Effect.andThen(Effect.logWarning(changedQuestion, { input: key }), waiting)
        : waiting
    })
  }

  /** An answer to another question, which the handler asked under this key in an earlier round, is none. */
  private answerTo(key: string, request: string): Json.Object | undefined {
    const { answers, questions } = this.before
    if (!Object.hasOwn(answers, key)) return undefined
    return Object.hasOwn(questions, key) && questions[key] !== Hash.string(request) ? undefined : answers[key]
  }

  /** Asks again although there is an answer: it did not fit. */
  askAgain(key: string, request: InputRequest): Effect.Effect<never> {
    return Effect.suspend(() => this.closed ? Effect.interrupt : this.wait([key, request]))
  }

  private wait(asks: Waiting["asks"]): Effect.Effect<never> {
    // Interruptible, also where the handler is not: the cut ends it either way.
    const suspended = Effect.interruptible(Effect.callback<never>((resume) => {
      const waiting = { resume, asks }
      this.waiting.add(waiting)
      this.scheduleCut()
      // What lost a race is not wanted any more.
      return Effect.sync(() => this.waiting.delete(waiting))
    }))
    return outsideOfSteps(asks?.[0], suspended)
  }

  /** Ends the round with these requests and what the handler keeps for the next. */
  require(requests: Readonly<Record<string, InputRequest>>, kept: Json.Value | undefined): Effect.Effect<never> {
    return Effect.suspend(() => {
      if (this.closed) return Effect.interrupt
      this.keptForNext = kept
      const all = Object.entries(requests)
      return all.length === 0
        ? this.wait(undefined)
        : Effect.all(all.map((asks) => this.wait(asks)), { concurrency: "unbounded" }) as Effect.Effect<never>
    })
  }

  /** Runs a step once over all rounds, and once when it is asked for twice at a time. Only successes are kept. */
  step<A, E, R, R2>(
    key: string,
    effect: Effect.Effect<A, E, R>,
    encode: (value: A) => Effect.Effect<Json.Value, never, R2>,
    decode: (value: Json.Value) => Effect.Effect<A, never, R2>
  ): Effect.Effect<A, E, R | R2> {
    return Effect.flatMap(CurrentSteps, (steps): Effect.Effect<A, E, R | R2> => {
      if (this.closed) return Effect.interrupt
      if (this.steps.has(key)) return decode(this.steps.get(key)!)
      if (steps.includes(key)) return Effect.die(new Error(`The step ${JSON.stringify(key)} waits for itself`))
      const outer = steps.at(-1)
      const running = this.running.get(key)
      if (running === undefined) {
        return this.stepWaits(
          outer,
          key,
          this.runStep(key, Effect.provideService(effect, CurrentSteps, [...steps, key]), encode)
        )
      }
      const other = steps.find((step) => this.isWaitingFor(key, step))
      if (other !== undefined) {
        return Effect.die(
          new Error(`The steps ${JSON.stringify(other)} and ${JSON.stringify(key)} wait for each other`)
        )
      }
      return Effect.catchCause(
        this.stepWaits(outer, key, Deferred.await(running) as Effect.Effect<A, E>),
        // The one that ran it was interrupted, such as by a timeout of its own: that is not for the others.
        (cause) => Cause.hasInterruptsOnly(cause) ? this.step(key, effect, encode, decode) : Effect.failCause(cause)
      )
    })
  }

  /** Keeps in mind that a step waits for another while the effect runs. */
  private stepWaits<A, E, R>(
    step: string | undefined,
    other: string,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> {
    if (step === undefined) return effect
    const edge = [step, other] as const
    this.waits.add(edge)
    return Effect.ensuring(effect, Effect.sync(() => this.waits.delete(edge)))
  }

  private isWaitingFor(step: string, other: string): boolean {
    for (const [waiter, awaited] of this.waits) {
      if (waiter === step && (awaited === other || this.isWaitingFor(awaited, other))) return true
    }
    return false
  }

  private runStep<A, E, R, R2>(
    key: string,
    effect: Effect.Effect<A, E, R>,
    encode: (value: A) => Effect.Effect<Json.Value, never, R2>
  ): Effect.Effect<A, E, R | R2> {
    const done = Deferred.makeUnsafe<unknown, unknown>()
    this.running.set(key, done)
    // What has succeeded is recorded, whoever interrupts then.
    const recorded = Effect.uninterruptibleMask((restore) =>
      Effect.tap(restore(effect), (value) =>
        Effect.map(encode(value), (encoded) => {
          this.steps.set(key, encoded)
        }))
    )
    return Effect.onExit(recorded, (exit: Exit.Exit<A, E>) =>
      Effect.sync(() => {
        this.running.delete(key)
        Deferred.doneUnsafe(done, exit)
        // The cut waited for it.
        if (this.running.size === 0 && this.waiting.size > 0) this.scheduleCut()
      }))
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
    let all: Capabilities.ClientCapabilities | undefined
    for (const request of Object.values(this.requests)) {
      const missing = Capabilities.missing(capabilitiesOf(request), this.host.capabilities)
      if (missing !== undefined) all = merged(all, missing)
    }
    return all
  }

  /** What goes into the state for the next round. */
  get state(): RoundState {
    const { answers, questions, rounds } = this.before
    const asked = Object.entries(this.requests).map(([key, request]) => [key, Hash.string(JSON.stringify(request))])
    return {
      rounds: rounds + 1,
      questions: { ...questions, ...Object.fromEntries(asked) },
      // What is asked for again has no answer.
      answers: Object.fromEntries(Object.entries(answers).filter(([key]) => !Object.hasOwn(this.requests, key))),
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
        this.requests = Object.fromEntries([...this.waiting].flatMap(({ asks }) => asks === undefined ? [] : [asks]))
        this.host.cut()
        // Those that the handler's fiber does not wait for.
        for (const { resume } of this.waiting) resume(Effect.interrupt)
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

const notHere = Effect.die(new Error("Input cannot be asked for here"))

/** What a handler gets that may not ask, such as one that completes arguments. */
export const noRound: InputRound = {
  ask: () => notHere,
  askAgain: () => notHere,
  require: () => notHere,
  step: () => notHere,
  responses: {},
  kept: undefined,
  closed: false
}
