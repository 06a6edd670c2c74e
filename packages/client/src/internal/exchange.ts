/**
 * One request under its bounds: a fiber of its own runs it, and the deadline, a token or the client's end cut it with an
 * error that says how far it had come.
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Timer from "@fairlead/protocol/Timer"
import type * as Transport from "@fairlead/protocol/Transport"
import { Cancelled, MalformedResponse } from "@fairlead/protocol/Transport"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import * as McpClientError from "../McpClientError.ts"
import type { Core, Live } from "./core.ts"
import { Progress } from "./progress.ts"
import { makeMeta } from "./requestMeta.ts"

type Error = McpClientError.McpClientError

/** A result that passed the checks that every result gets. */
export interface Answer {
  readonly result: Json.Object
  readonly inputRequired: boolean
}

/** One request: what its body sends with, and fails with. */
export interface Exchange {
  readonly send: (
    method: string,
    params: Json.Object,
    headers: ReadonlyArray<readonly [name: string, value: string]>
  ) => Effect.Effect<Answer, Error>
  readonly fail: (reason: McpClientError.Reason) => Error
  readonly malformed: (detail: string) => Error
}

// One counter for the whole process: several clients may share a channel.
let lastId = 0

/** What the user sees as one call: a request, or all the pages of a listing. */
export interface Logical {
  readonly core: Core
  readonly call: Call.Call
  /** The call's, or a fresh one. */
  readonly correlation: string
  /** Whether the correlation can travel. */
  readonly isCarried: boolean
  /** When it began, by its fiber's clock. */
  readonly since: number
}

export const begin = (core: Core, call: Call.Call, context: Context.Context<never>): Logical => ({
  core,
  call,
  correlation: call.correlation ?? Call.makeCorrelationUnsafe(),
  isCarried: call.correlation === undefined || Call.isCarriable(call.correlation),
  since: Timer.now(context)
})

/**
 * Runs a body that sends a request. Everything in it, from encoding the arguments to decoding the answer, counts against
 * the bounds of the call; it runs with the caller's services and with a `Call` that carries nothing.
 */
export const run = <A, E, R>(
  logical: Logical,
  body: (exchange: Exchange) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | Error, R> =>
  Effect.withFiber<A, E | Error, R>((caller) => {
    const context = caller.context
    const state = new State(logical, Timer.now(context))
    if (isCancelled(logical)) return Effect.fail(state.cancelled())
    if (state.millis <= 0) return Effect.fail(state.timedOut())
    return Effect.callback<A, E | Error, R>((resume) => {
      const running = new Running<A, E | Error>(logical, state, context, (exit) => resume(exit))
      running.start(body(state) as Effect.Effect<A, E>)
      return running.isDone ? undefined : running.interrupt
    })
  })

const isCancelled = ({ call, core }: Logical): boolean =>
  core.closed || call.cancellation.some((token) => token.signal.aborted)

/** The fiber of one request, the fiber that hands over its progress, and all that can end them. */
class Running<A, E> {
  isDone = false
  readonly #logical: Logical
  readonly #state: State
  readonly #context: Context.Context<never>
  readonly #resume: (exit: Exit.Exit<A, E | Error>) => void
  #fiber: Fiber.Fiber<A, E> | undefined
  #answer: Exit.Exit<A, E | Error> | undefined
  #stopTimer: () => void = constVoid
  readonly #live: Live = { end: undefined }

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
    const { call, core, correlation } = this.#logical
    const { cancellation, deadline, progress } = call
    if (progress !== undefined) {
      const follows = { ...Call.empty, deadline, cancellation, correlation }
      this.#state.progress = new Progress(progress, Context.add(this.#context, Call.Current, follows), core.label, {
        idle: () => this.#answer !== undefined && this.#settle(this.#answer),
        died: (cause) => this.#cut(Exit.failCause(cause))
      })
    }
    this.#fiber = Effect.runForkWith(Context.add(this.#context, Call.Current, Call.empty))(body)
    // A progress handler can have died while the fiber started.
    if (this.isDone) return this.#fiber.interruptUnsafe()
    this.#fiber.addObserver((exit) => {
      // An interruption that is not ours comes from the transport: its scope has closed.
      const isForeign = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)
      this.#answer = isForeign ? Exit.fail(this.#state.cancelled()) : exit
      if (this.#state.progress?.isIdle !== false) this.#settle(this.#answer)
    })
    if (this.isDone) return
    this.#stopTimer = Timer.after(this.#context, this.#state.millis, () => this.#cut(Exit.fail(this.#state.timedOut())))
    this.#live.end = this.#cancel
    core.live.add(this.#live)
    for (const { signal } of cancellation) signal.addEventListener("abort", this.#cancel)
    // What happened while the fiber started has told nobody.
    if (isCancelled(this.#logical)) this.#cancel()
  }

  /** Ends both fibers and waits for them. */
  readonly interrupt: Effect.Effect<void> = Effect.suspend(() => {
    this.#release()
    const fibers = [this.#state.progress?.fiber, this.#fiber].filter((fiber) => fiber !== undefined)
    return Fiber.interruptAll(fibers)
  })

  readonly #cancel = (): void => this.#cut(Exit.fail(this.#state.cancelled()))

  /** The caller is answered at once; the transport cancels at the server meanwhile. */
  #cut(exit: Exit.Exit<A, E | Error>): void {
    if (this.isDone) return
    this.#release()
    this.#state.progress?.stop()
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
    const { call, core } = this.#logical
    core.live.delete(this.#live)
    this.#live.end = undefined
    for (const { signal } of call.cancellation) signal.removeEventListener("abort", this.#cancel)
  }
}

class State implements Exchange {
  evidence: Transport.Evidence = "NotSent"
  progress: Progress | undefined
  /** How long the request may take. */
  readonly millis: number
  readonly #logical: Logical
  readonly #end: number
  readonly #byDeadline: boolean

  constructor(logical: Logical, start: number) {
    const { call, core } = logical
    const timeout = start + (call.timeout ?? core.timeout)
    const deadline = call.deadline ?? Infinity
    this.#logical = logical
    this.#byDeadline = deadline < timeout
    this.#end = Math.min(deadline, timeout)
    this.millis = this.#end - start
  }

  fail(reason: McpClientError.Reason): Error {
    return McpClientError.make(reason, this.#logical.correlation)
  }

  malformed(detail: string): Error {
    return this.fail(new MalformedResponse({ detail }))
  }

  cancelled(): Error {
    return this.fail(new Cancelled({ evidence: this.evidence }))
  }

  timedOut(): Error {
    const { evidence } = this
    // A deadline is as long as the whole call had of it.
    return this.fail(
      this.#byDeadline
        ? new McpClientError.TimedOut({
          evidence,
          bound: "deadline",
          millis: Math.max(0, this.#end - this.#logical.since)
        })
        : new McpClientError.TimedOut({ evidence, bound: "timeout", millis: this.millis })
    )
  }

  send(
    method: string,
    params: Json.Object,
    headers: ReadonlyArray<readonly [name: string, value: string]>
  ): Effect.Effect<Answer, Error> {
    // A server that names our version among its own gets the request a second time (spec: basic/versioning).
    return Effect.catch(
      this.#sendOnce(method, params, headers),
      (error) => namesOurVersion(error.reason) ? this.#sendOnce(method, params, headers) : Effect.fail(error)
    )
  }

  #sendOnce(
    method: string,
    params: Json.Object,
    headers: ReadonlyArray<readonly [name: string, value: string]>
  ): Effect.Effect<Answer, Error> {
    return Effect.withFiber((fiber) => {
      const id = ++lastId
      const { core, correlation, isCarried } = this.#logical
      const meta = makeMeta(this.#logical, id, this.#end - Timer.now(fiber.context))
      if (typeof meta === "string") return Effect.fail(this.fail(new McpClientError.InvalidArguments({ detail: meta })))
      this.evidence = "NotSent"
      const all = { ...params, _meta: meta }
      const outgoing: Transport.Outgoing = {
        id,
        method,
        params: all,
        text: JsonRpc.encodeRequest(id, method, all),
        headers: isCarried ? [[Call.correlationHeader, correlation], ...headers] : headers,
        sent: () => {
          if (this.evidence === "NotSent") this.evidence = "MaybeSent"
        },
        notify: (notification) => this.#notified(id, notification)
      }
      return Effect.matchEffect(core.transport.send(outgoing), {
        onFailure: (reason) => Effect.fail(this.fail(reason)),
        onSuccess: (incoming) => this.#check(id, method, incoming)
      })
    })
  }

  #notified(id: number, { method, params }: JsonRpc.Notification): void {
    // Reports for other tokens are not ours (spec: basic/patterns/progress).
    if (method === Revision.notification.progress && params[Revision.meta.progressToken] === id) {
      this.progress?.push(params)
    }
  }

  #check(id: number, method: string, incoming: Transport.Incoming): Effect.Effect<Answer, Error> {
    const { response } = incoming
    this.evidence = "Completed"
    if (response._tag === "Failure") {
      // An error without an id belongs to the request that it answers (spec: basic, Error Responses).
      return Effect.fail(
        response.id === undefined || response.id === id
          ? this.fail(reasonOf(response.error, incoming))
          : this.malformed("the id is not the id of the request")
      )
    }
    if (response.id !== id) return Effect.fail(this.malformed("the id is not the id of the request"))
    const { result } = response
    const resultType = result["resultType"]
    // An absent one is what servers of older revisions send (spec: basic, resultType).
    if (resultType === undefined || resultType === Revision.resultType.complete) {
      return Effect.succeed({ result, inputRequired: false })
    }
    if (resultType !== Revision.resultType.inputRequired) {
      return Effect.fail(this.malformed("the `resultType` is not known"))
    }
    return Revision.latest.methods.get(method)?.asksForInput === true
      ? Effect.succeed({ result, inputRequired: true })
      : Effect.fail(this.malformed("a request of this kind cannot require input"))
  }
}

const namesOurVersion = (reason: McpClientError.Reason): boolean =>
  reason._tag === "RpcError" && reason.code === Revision.codes.unsupportedProtocolVersion &&
  supportedBy(reason.data)?.includes(Revision.latest.version) === true

/** The versions that an error with -32022 names. */
const supportedBy = (data: Json.Value | undefined): ReadonlyArray<string> | undefined => {
  const supported = typeof data === "object" && data !== null && "supported" in data ? data.supported : undefined
  return Array.isArray(supported) && supported.every((version) => typeof version === "string") ? supported : undefined
}

const reasonOf = (error: JsonRpc.ErrorObject, incoming: Transport.Incoming): McpClientError.Reason => {
  if (error.code === Revision.codes.unsupportedProtocolVersion) {
    const supported = supportedBy(error.data)
    if (supported !== undefined && !supported.includes(Revision.latest.version)) {
      return new McpClientError.UnsupportedVersion({ supported })
    }
  }
  return new McpClientError.RpcError({
    code: error.code,
    text: error.message,
    data: error.data,
    status: incoming.status,
    retryAfter: incoming.retryAfter
  })
}
