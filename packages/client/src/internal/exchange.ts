/**
 * One request under its bounds: a fiber of its own runs it, and the deadline, a token or the client's end cut it with an
 * error that says how far it had come.
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Timer from "@fairlead/protocol/Timer"
import type * as Transport from "@fairlead/protocol/Transport"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import type * as McpClientError from "../McpClientError.ts"
import type { Core, Live } from "./core.ts"
import { Reports } from "./reports.ts"
import { State } from "./request.ts"

type Error = McpClientError.McpClientError

/** A result that passed the checks that every result gets. */
export interface Answer {
  readonly result: Json.Object
  readonly inputRequired: boolean
}

/** Pairs of name and value. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>

export type Notify = (notification: JsonRpc.Notification, id: JsonRpc.RequestId) => void

/** One request: what its body sends with, and fails with. */
export interface Exchange {
  /** What is known by now of the request that was sent last. */
  readonly evidence: Transport.Evidence
  readonly send: (
    method: string,
    params: Json.Object,
    headers: Headers,
    /** Takes the notifications that are neither progress nor log messages. */
    notify?: Notify
  ) => Effect.Effect<Answer, Error>
  readonly fail: (reason: McpClientError.Reason) => Error
  /** `result` is what can be used all the same. */
  readonly malformed: (detail: string, result?: Json.Object) => Error
  /** The timeout counts no more, only the deadline. */
  readonly lift: () => void
}

/** What the user sees as one call: a request, its rounds of input, or all the pages of a listing. */
export interface Logical {
  readonly core: Core
  readonly call: Call.Call
  /** The call's, or a fresh one. */
  readonly correlation: string
  /** Whether the correlation can travel. */
  readonly isCarried: boolean
  /** When it began, by its fiber's clock. */
  readonly since: number
  /** Begins another over the same handle. */
  readonly start: Start
}

/** Begins what the user sees as one call, with the `Call` of its fiber. */
export type Start = <A, E, R>(f: (logical: Logical) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

export const begin = (core: Core, call: Call.Call, context: Context.Context<never>, start: Start): Logical => ({
  core,
  call,
  correlation: call.correlation ?? Call.makeCorrelationUnsafe(),
  isCarried: call.correlation === undefined || Call.isCarriable(call.correlation),
  since: Timer.now(context),
  start
})

/** What of a call follows into the handlers of its caller. */
export const followed = ({ call, correlation }: Logical): Call.Call => ({
  ...Call.empty,
  deadline: call.deadline,
  cancellation: call.cancellation,
  correlation
})

/** In place of a request's own. */
export interface Bounded {
  readonly timeout?: number | undefined
  /** What is known of the call before this request is sent. Default: nothing was sent. */
  readonly evidence: Transport.Evidence
}

/**
 * Runs a body that sends a request. Everything in it, from encoding the arguments to decoding the answer, counts against
 * the bounds of the call; it runs with the caller's services and with a `Call` that carries nothing.
 */
export const run = <A, E, R>(
  logical: Logical,
  body: (exchange: Exchange) => Effect.Effect<A, E, R>,
  bounded?: Bounded
): Effect.Effect<A, E | Error, R> =>
  Effect.withFiber<A, E | Error, R>((caller) => {
    const context = caller.context
    const now = Timer.now(context)
    const state = new State(logical, now, bounded)
    if (isCancelled(logical)) return Effect.fail(state.cancelled())
    if (state.bounds.end <= now) return Effect.fail(state.timedOut())
    return Effect.callback<A, E | Error, R>((resume) => {
      const running = new Running<A, E | Error>(logical, state, context, (exit) => resume(exit))
      running.start(body(state) as Effect.Effect<A, E>)
      return running.isDone ? undefined : running.interrupt()
    })
  })

const isCancelled = ({ call, core }: Logical): boolean =>
  core.closed || call.cancellation.some((token) => token.signal.aborted)

/** The fiber of one request, the fiber that hands over its reports, and all that can end them. */
class Running<A, E> {
  isDone = false
  readonly #logical: Logical
  readonly #state: State
  readonly #context: Context.Context<never>
  readonly #resume: (exit: Exit.Exit<A, E | Error>) => void
  #fiber: Fiber.Fiber<A, E> | undefined
  #answer: Exit.Exit<A, E | Error> | undefined
  #stopTimer: () => void = constVoid
  #live: Live | undefined
  #cancelled: (() => void) | undefined

  constructor(
    logical: Logical,
    state: State,
    context: Context.Context<never>,
    resume: (exit: Exit.Exit<A, E | Error>) => void
  ) {
    this.#logical = logical
    this.#state = state
    this.#context = context
    this.#resume = resume
  }

  /** The services of the body are the caller's: they are in the context, though its type does not say so. */
  start(body: Effect.Effect<A, E>): void {
    const { call, core } = this.#logical
    const { cancellation, log, progress } = call
    if (progress !== undefined || log !== undefined) {
      const context = Context.add(this.#context, Call.Current, followed(this.#logical))
      this.#state.reports = new Reports(context, core.label, {
        idle: () => this.#answer !== undefined && this.#settle(this.#answer),
        died: (cause) => this.#cut(Exit.failCause(cause))
      })
    }
    this.#fiber = Effect.runForkWith(Context.add(this.#context, Call.Current, Call.empty))(body)
    // A handler can have died while the fiber started.
    if (this.isDone) return this.#fiber.interruptUnsafe()
    this.#fiber.addObserver((exit) => {
      // An interruption that is not ours comes from the transport: its scope has closed.
      const isForeign = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
      this.#answer = isForeign ? Exit.fail(this.#state.cancelled()) : exit
      if (this.#state.reports?.isIdle !== false) this.#settle(this.#answer)
    })
    if (this.isDone) return
    this.#startTimer()
    const cancel = () => this.#cut(Exit.fail(this.#state.cancelled()))
    this.#cancelled = cancel
    this.#live = { end: cancel }
    core.live.add(this.#live)
    for (const { signal } of cancellation) signal.addEventListener("abort", cancel)
    // What happened while the fiber started has told nobody.
    if (isCancelled(this.#logical)) cancel()
  }

  /** Ends both fibers and waits for them. */
  interrupt(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#release()
      const { reports } = this.#state
      const fibers = [reports?.fiber, this.#fiber].filter((fiber) => fiber !== undefined)
      reports?.stop()
      return Fiber.interruptAll(fibers)
    })
  }

  /** The end can have moved while the timer ran; then it runs on. */
  #startTimer(): void {
    const millis = this.#state.bounds.end - Timer.now(this.#context)
    this.#stopTimer = Timer.after(this.#context, millis, () => {
      if (this.isDone) return
      if (this.#state.bounds.end > Timer.now(this.#context)) this.#startTimer()
      else this.#cut(Exit.fail(this.#state.timedOut()))
    })
  }

  /** The caller is answered at once; the transport cancels at the server meanwhile. */
  #cut(exit: Exit.Exit<A, E | Error>): void {
    if (this.isDone) return
    this.#release()
    this.#state.reports?.stop()
    this.#fiber?.interruptUnsafe()
    this.#resume(exit)
  }

  #settle(exit: Exit.Exit<A, E | Error>): void {
    if (this.isDone) return
    this.#release()
    this.#resume(exit)
  }

  #release(): void {
    this.isDone = true
    this.#stopTimer()
    const cancel = this.#cancelled
    // It was over while it started.
    if (this.#live === undefined || cancel === undefined) return
    const { call, core } = this.#logical
    core.live.delete(this.#live)
    this.#live.end = undefined
    for (const { signal } of call.cancellation) signal.removeEventListener("abort", cancel)
  }
}
