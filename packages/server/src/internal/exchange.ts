/**
 * The record of one request: its slot, its timer, its fiber and whether it was answered. It stands outside the fiber, so
 * that a client can be answered while its handler still has its grace, and the slot is free when the fiber has ended.
 */
import { isLongerThan } from "@fairlead/protocol/Bytes"
import * as Call from "@fairlead/protocol/Call"
import type * as Capabilities from "@fairlead/protocol/Capabilities"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Messages from "@fairlead/protocol/Messages"
import * as Revision from "@fairlead/protocol/Revision"
import * as Timer from "@fairlead/protocol/Timer"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import { CurrentLogAnnotations } from "effect/References"
import * as Scope from "effect/Scope"
import { type InputRound, Invocation, Principal } from "../Invocation.ts"
import type { Hub, Listener, Listening } from "./hub.ts"
import { InterruptedBy, type InterruptReason } from "./interruption.ts"
import {
  accepted,
  deadlineExceeded,
  failure,
  internalError,
  notAStream,
  type Reply,
  responseTooLarge,
  type RpcError,
  stopped,
  stopping,
  success,
  tooManyListeners
} from "./reply.ts"
import { noRound, noState, Round, type RoundState } from "./round.ts"
import type { Sink } from "./sink.ts"

/** What an exchange needs of its endpoint. */
export interface Host {
  /** The context that requests start from: the clock and the loggers of the endpoint. */
  readonly context: Context.Context<never>
  readonly graceMillis: number
  readonly maxResponseBytes: number
  readonly hub: Hub
  readonly maxListeners: number
  readonly maxListenMillis: number
  readonly isStopping: () => boolean
  /** Whether handlers may send log messages. */
  readonly logs: boolean
  readonly nextInvocationId: () => string
  /** The result that ends a stream of notifications. */
  readonly listenResult: (id: JsonRpc.RequestId) => string
  /** The exchange has truly ended: its fiber is over. */
  readonly ended: (exchange: Exchange) => void
  /** A request goes on after its grace (1), or has ended after all (-1). */
  readonly overstays: (count: 1 | -1) => void
  /** Writes to the endpoint's log. */
  readonly log: (message: string, exchange: Exchange, cause?: Cause.Cause<unknown>) => void
}

export type Service = Invocation["Service"]

/** The place of a request among those that run. It is emptied when the request is over, as slots are (`Slots`). */
export interface Place {
  exchange: Exchange | undefined
}

export class Exchange {
  readonly host: Host
  readonly sink: Sink
  readonly place: Place = { exchange: this }
  deadline: number
  request: JsonRpc.Request | undefined = undefined
  meta: Json.Object = {}
  /** The id, where it is known before the request is: on channels, and of a message that is no request. */
  ownId: JsonRpc.RequestId | undefined = undefined

  private fiber: Fiber.Fiber<string, RpcError> | undefined = undefined
  private stopDeadline: (() => void) | undefined = undefined
  private stopGrace: (() => void) | undefined = undefined
  private answered = false
  private over = false
  private interrupted: InterruptReason | undefined = undefined
  private knownCorrelation: string | undefined
  private abort: AbortController | undefined = undefined
  private lastProgress = -Infinity
  private readonly since: number
  private listener: Listener | undefined = undefined
  private onListenEnd: (() => void) | undefined = undefined
  private stopLifetime: (() => void) | undefined = undefined
  private rounds: Rounds | undefined = undefined
  private madeRound: Round | undefined = undefined
  /** The fiber that makes the result of a round that asks for input. */
  private finishing: Fiber.Fiber<string, RpcError> | undefined = undefined
  private handlerOver = false
  private overstayed = false

  constructor(host: Host, sink: Sink, correlation: Json.Value | undefined, deadline: number) {
    this.host = host
    this.sink = sink
    this.knownCorrelation = Call.isCarriable(correlation) ? correlation : undefined
    this.deadline = deadline
    this.since = host.hub.changes()
  }

  get correlation(): string {
    return this.knownCorrelation ??= Call.makeCorrelationUnsafe()
  }

  /** Takes another correlation than the client's, if it is one. */
  correlate(correlation: unknown): void {
    if (Call.isCarriable(correlation)) this.knownCorrelation = correlation
  }

  /** Takes the metadata of the request. The client's time left can only shorten the deadline. */
  accept(meta: Json.Object): void {
    this.meta = meta
    const left = Call.timeoutFromMeta(meta)
    if (left === undefined) return
    const deadline = Timer.now(this.host.context) + left
    if (deadline >= this.deadline) return
    this.deadline = deadline
    // A context function that had to wait has set the timer already.
    if (this.stopDeadline !== undefined) this.armDeadline()
  }

  get capabilities(): Capabilities.ClientCapabilities {
    return this.meta[Revision.meta.clientCapabilities] as Capabilities.ClientCapabilities
  }

  get id(): JsonRpc.RequestId | undefined {
    return this.request?.id ?? this.ownId
  }

  /** Runs the request in a root fiber of its own; the effect gives the text of the result. */
  run(effect: Effect.Effect<string, RpcError>, context: Context.Context<never>): void {
    const fiber = Effect.runForkWith(context)(effect)
    this.fiber = fiber
    fiber.addObserver((exit) => this.onExit(exit))
    // Most requests are over by now: no timer for them.
    if (fiber.pollUnsafe() !== undefined) return
    this.armDeadline()
    // What the handler sent at once may have made the client cancel.
    if (this.interrupted !== undefined) this.endFiber(fiber, this.interrupted)
  }

  private armDeadline(): void {
    this.stopDeadline?.()
    this.stopDeadline = Timer.after(
      this.host.context,
      this.deadline - Timer.now(this.host.context),
      () => this.onDeadline()
    )
  }

  /** What had to run before the request did died. */
  die(defect: unknown): void {
    try {
      this.onFailure(Cause.die(defect))
    } finally {
      this.end()
    }
  }

  /** Answers without running anything, and ends. */
  finish(reply: Reply): void {
    try {
      this.answer(reply)
    } finally {
      this.end()
    }
  }

  /** Gives the slot back; also when the front could not write the answer. */
  private end(): void {
    if (this.over) return
    // Middleware may have left it to a fiber that goes on.
    if (this.listener !== undefined) {
      this.onListenEnd = undefined
      return this.endListening(undefined)
    }
    this.over = true
    this.stopDeadline?.()
    this.host.ended(this)
  }

  get isListening(): boolean {
    return this.listener !== undefined
  }

  /** Why there can be no stream, if there can be none. */
  canListen(): RpcError | undefined {
    if (!this.sink.streams) return notAStream()
    // What came before the endpoint began to stop may have waited for its context.
    if (this.host.isStopping()) return stopping()
    return this.host.hub.size() >= this.host.maxListeners ? tooManyListeners() : undefined
  }

  /** The same in the fiber of the request, whose scope stays open with the stream. */
  listenInFiber(listen: Listen): Effect.Effect<void, RpcError> {
    return Effect.callback<void, RpcError>((resume) => {
      // Also where middleware runs a stream twice.
      if (this.answered || this.listener !== undefined) return resume(Effect.void)
      // Others may have come while this one waited.
      const refused = this.canListen()
      if (refused !== undefined) return resume(Effect.fail(refused))
      this.deadline = Infinity
      this.stopDeadline?.()
      this.onListenEnd = () => resume(Effect.void)
      this.listen(listen)
      // Middleware may end a stream: its client hears that it is over.
      return Effect.sync(() => this.endListening(undefined))
    })
  }

  /** Opens a stream of notifications; it has no deadline. One that can tell of nothing ends at once. */
  listen({ filter, hears }: Listen): void {
    const listener = this.host.hub.listen({
      id: this.request!.id,
      filter,
      sink: this.sink,
      since: this.since,
      hears
    })
    this.listener = listener
    this.stopLifetime = Timer.after(
      this.host.context,
      this.host.maxListenMillis,
      () => this.endListening("lifetime")
    )
    // Opening it may have made the client go away.
    if (this.interrupted !== undefined) this.endListening(this.interrupted)
    else if (Object.keys(filter).length === 0) this.endListening(undefined)
  }

  private endListening(reason: InterruptReason | "lifetime" | undefined): void {
    const { listener } = this
    if (listener === undefined || this.over) return
    listener.close()
    this.stopLifetime?.()
    if (reason === undefined || reason === "stop" || reason === "lifetime") {
      // Both ways to end a stream, where others share it: the one page of the spec asks for this, another for that.
      if (reason !== undefined && this.sink.isShared) {
        this.sink.event(
          JsonRpc.encodeNotification(Revision.notification.cancelled, {
            requestId: listener.id,
            reason: reason === "stop" ? "The server is stopping" : "The stream has lasted as long as it may"
          })
        )
      }
      this.answer(success(listener.id, this.host.listenResult(listener.id)))
    }
    this.answered = true
    this.listener = undefined
    if (this.onListenEnd === undefined) return this.end()
    // With a fiber, the request ends when that has ended.
    this.onListenEnd()
    this.startGrace()
  }

  /** Lets the handler ask for input; `finish` makes the result that asks. */
  mayAsk(state: RoundState | undefined, finish: Rounds["finish"]): void {
    this.rounds = { state: state ?? noState, finish }
  }

  /** This run of the handler, for what it asks. */
  get round(): InputRound {
    if (this.rounds === undefined) return noRound
    if (this.madeRound === undefined) {
      this.madeRound = new Round({
        capabilities: this.capabilities,
        cut: () => this.interruptFiber("input")
      }, this.rounds.state)
    }
    return this.madeRound
  }

  /** The handler of a round has ended, or its grace has: the client is asked. */
  private finishRound(): void {
    const { madeRound, rounds } = this
    // The client may have gone, or its deadline may have passed, while the handler came to its end.
    if (this.answered || this.finishing !== undefined || madeRound === undefined || rounds === undefined) return
    this.finishing = Effect.runForkWith(this.host.context)(rounds.finish(madeRound))
    this.finishing.addObserver((exit) => {
      try {
        if (Exit.isSuccess(exit)) this.answer(success(this.request!.id, exit.value))
        else this.onFailure(exit.cause)
      } finally {
        if (this.handlerOver) this.end()
      }
    })
  }

  /** Ends without an answer: a client that has gone is told nothing. */
  interrupt(reason: Exclude<InterruptReason, "deadline" | "input">): void {
    if (this.listener !== undefined) return this.endListening(reason)
    // What never reached a handler did nothing, and may be sent again.
    if (reason === "stop") this.answer(failure(this.id, this.request === undefined ? stopping() : stopped()))
    this.answered = true
    this.interruptFiber(reason)
  }

  private answer(reply: Reply): void {
    if (this.answered) return
    this.answered = true
    const limit = this.host.maxResponseBytes
    this.sink.answer(isLongerThan(reply.text, limit) ? failure(this.id, responseTooLarge(limit)) : reply)
  }

  private onDeadline(): void {
    // First the answer: interrupting runs finalizers and observers before it returns.
    this.answer(failure(this.id, deadlineExceeded()))
    this.interruptFiber("deadline")
  }

  private interruptFiber(reason: InterruptReason): void {
    if (this.over || this.interrupted !== undefined) return
    this.interrupted = reason
    this.abort?.abort()
    if (this.fiber !== undefined) this.endFiber(this.fiber, reason)
  }

  private endFiber(fiber: Fiber.Fiber<string, RpcError>, reason: InterruptReason): void {
    fiber.interruptUnsafe(undefined, Context.make(InterruptedBy, reason))
    this.startGrace()
  }

  /** What goes on after its grace is reported, once. A round of input is over then. */
  private startGrace(): void {
    if (this.fiber?.pollUnsafe() !== undefined || this.stopGrace !== undefined) return
    this.stopGrace = Timer.after(this.host.context, this.host.graceMillis, () => {
      this.host.log(
        this.onListenEnd === undefined
          ? "A handler goes on after its cancellation grace"
          : "A stream of notifications has ended, and what its request acquired is still held",
        this
      )
      this.overstayed = true
      this.host.overstays(1)
      if (this.interrupted === "input") this.finishRound()
    })
  }

  private onExit(exit: Exit.Exit<string, RpcError>): void {
    this.stopGrace?.()
    if (this.overstayed) this.host.overstays(-1)
    if (this.interrupted === "input" && !(Exit.isFailure(exit) && Cause.hasDies(exit.cause))) {
      return this.onRoundExit()
    }
    this.stopDeadline?.()
    try {
      if (Exit.isFailure(exit)) this.onFailure(exit.cause)
      else this.answer(this.request === undefined ? accepted : success(this.request.id, exit.value))
    } finally {
      this.end()
    }
  }

  /** What an uninterruptible handler still gave is not looked at: the round was over. */
  private onRoundExit(): void {
    this.handlerOver = true
    this.finishRound()
    // While the result is made, making it gives the slot back.
    if (this.finishing === undefined || this.finishing.pollUnsafe() !== undefined) this.end()
  }

  private onFailure(cause: Cause.Cause<RpcError>): void {
    const known = Cause.findErrorOption(cause)
    if (known._tag === "Some" && !Cause.hasDies(cause)) {
      const reply = this.failureOf(known.value)
      if (reply !== undefined) return this.answer(reply)
    } else if (this.interrupted === undefined || Cause.hasDies(cause)) this.host.log("A handler died", this, cause)
    this.answer(failure(this.id, internalError(this.request === undefined ? 500 : undefined)))
  }

  /** The answer of an error; its data is the program's, and may be nothing that JSON can hold. */
  private failureOf(error: RpcError): Reply | undefined {
    try {
      return failure(this.id, error)
    } catch (defect) {
      this.host.log("An error cannot be sent", this, Cause.die(defect))
      return undefined
    }
  }

  /** What the handler's fiber has beside its own services: this invocation, a fresh call and a scope of its own. */
  provide(base: Context.Context<never>, scope: Scope.Scope): Context.Context<never> {
    const own = this.provideOwn(base, scope)
    return Context.add(own, Invocation, new ExchangeInvocation(this, base)) as Context.Context<never>
  }

  /**
   * A fresh call, and a scope that closes with the request: a captured context has those of whoever built its layer.
   */
  provideOwn(base: Context.Context<never>, scope: Scope.Scope): Context.Context<never> {
    // Made for every request, though few log: an object with a getter takes four times as long as a correlation.
    const annotations = { ...Context.get(base, CurrentLogAnnotations), correlation: this.correlation }
    return Context.add(
      Context.add(Context.add(base, Call.Current, new HandlerCall(this)), Scope.Scope, scope),
      CurrentLogAnnotations,
      annotations
    ) as Context.Context<never>
  }

  get signal(): AbortSignal {
    if (this.abort === undefined) {
      this.abort = new AbortController()
      if (this.interrupted !== undefined) this.abort.abort()
    }
    return this.abort.signal
  }

  get remaining(): number {
    return Math.max(0, this.deadline - Timer.now(this.host.context))
  }

  /** Whether there may be messages about the request itself: not after its answer, and never on a listen stream. */
  private get mayTell(): boolean {
    return !this.answered && this.request?.method !== Revision.method.listen
  }

  progress(report: Call.Progress): Effect.Effect<void> {
    return Effect.suspend(() => {
      const token = this.meta[Revision.meta.progressToken]
      const { progress, total } = report
      if (token === undefined || !this.mayTell || !(progress > this.lastProgress && progress < Infinity)) {
        return Effect.void
      }
      this.lastProgress = progress
      return this.emit(JsonRpc.encodeNotification(Revision.notification.progress, {
        progressToken: token,
        progress,
        // JSON has no other numbers.
        ...(total === undefined || !Number.isFinite(total) ? {} : { total }),
        ...(report.message === undefined ? {} : { message: report.message })
      }))
    })
  }

  /** A log message, if the request asked for its level. */
  log(level: Messages.LogLevel, data: Json.Value, logger: string | undefined): Effect.Effect<void> {
    return Effect.suspend(() => {
      const wanted = this.meta[Revision.meta.logLevel]
      if (!this.host.logs || wanted === undefined || !this.mayTell) return Effect.void
      if (levels.indexOf(level) < levels.indexOf(wanted as Messages.LogLevel)) return Effect.void
      return this.emit(JsonRpc.encodeNotification(Revision.notification.message, {
        level,
        ...(logger === undefined ? {} : { logger }),
        data
      }))
    })
  }

  private emit(message: string): Effect.Effect<void> {
    if (isLongerThan(message, this.host.maxResponseBytes)) {
      return Effect.sync(() => this.host.log("A notification beyond the response limit was left out", this))
    }
    if (this.sink.event(message)) return Effect.void
    return Effect.callback<void>((resume) => this.sink.onDrain(() => resume(Effect.void)))
  }
}

/** Least severe first. */
const levels: ReadonlyArray<Messages.LogLevel> = Messages.LogLevel.literals

/** What a stream tells of. */
export type Listen = Pick<Listening, "filter" | "hears">

/** How a request that may ask for input goes from round to round. */
interface Rounds {
  readonly state: RoundState
  readonly finish: (round: Round) => Effect.Effect<string, RpcError>
}

/** The call that a handler's own calls to other servers start from: deadline, cancellation and correlation follow. */
class HandlerCall implements Call.Call {
  private readonly exchange: Exchange
  private tokens: ReadonlyArray<Call.CancellationToken> | undefined = undefined

  readonly timeout = undefined
  readonly idempotencyKey = undefined
  readonly progress = undefined
  readonly maxTotal = undefined
  readonly log = undefined
  readonly meta = undefined

  constructor(exchange: Exchange) {
    this.exchange = exchange
  }

  get deadline() {
    return this.exchange.deadline === Infinity ? undefined : this.exchange.deadline
  }

  get correlation() {
    return this.exchange.correlation
  }

  get cancellation() {
    return this.tokens ??= [Call.cancellationTokenFromSignal(this.exchange.signal)]
  }
}

/** What a handler sees of its exchange. */
class ExchangeInvocation implements Service {
  private readonly exchange: Exchange
  private readonly context: Context.Context<never>
  private madeId: string | undefined = undefined

  constructor(exchange: Exchange, context: Context.Context<never>) {
    this.exchange = exchange
    this.context = context
  }

  get requestId() {
    return this.exchange.request!.id
  }

  get invocationId() {
    return this.madeId ??= this.exchange.host.nextInvocationId()
  }

  get method() {
    return this.exchange.request!.method
  }

  get correlation() {
    return this.exchange.correlation
  }

  get idempotencyKey() {
    return this.exchange.meta[Call.metaKeys.idempotencyKey] as string | undefined
  }

  get clientInfo() {
    return this.exchange.meta[Revision.meta.clientInfo] as Capabilities.Implementation | undefined
  }

  get clientCapabilities() {
    return this.exchange.capabilities
  }

  get meta() {
    return this.exchange.meta
  }

  get principal() {
    return Context.get(this.context, Principal)
  }

  get remaining() {
    return Effect.sync(() => Duration.millis(this.exchange.remaining))
  }

  get signal() {
    return this.exchange.signal
  }

  get cancelled() {
    return Effect.callback<void>((resume) => {
      const { signal } = this.exchange
      if (signal.aborted) return resume(Effect.void)
      const onAbort = () => resume(Effect.void)
      signal.addEventListener("abort", onAbort, { once: true })
      return Effect.sync(() => signal.removeEventListener("abort", onAbort))
    })
  }

  progress(report: Call.Progress) {
    return this.exchange.progress(report)
  }

  log(level: Messages.LogLevel, data: Json.Value, logger?: string) {
    return this.exchange.log(level, data, logger)
  }

  get input(): InputRound {
    return this.exchange.round
  }
}
