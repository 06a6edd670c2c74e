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
import * as McpClientError from "../McpClientError.ts"
import type { Core } from "./core.ts"
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

/** The correlation of a logical call: its own, or a fresh one. */
export const correlationOf = (call: Call.Call): string => call.correlation ?? Call.makeCorrelationUnsafe()

/**
 * Runs a body that sends a request. Everything in it, from encoding the arguments to decoding the answer, counts against
 * the bounds of the call; it runs with the caller's services and with a `Call` that carries nothing.
 */
export const run = <A, E, R>(
  core: Core,
  call: Call.Call,
  correlation: string,
  body: (exchange: Exchange) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | Error, R> =>
  Effect.withFiber<A, E | Error, R>((caller) => {
    const context = caller.context
    const start = Timer.now(context)
    const timeout = call.timeout ?? core.timeout
    const deadline = call.deadline ?? Infinity
    const end = Math.min(start + timeout, deadline)
    const state = new State(core, call, correlation, start, end, deadline < start + timeout ? "deadline" : "timeout")
    if (core.closed || call.cancellation.some((token) => token.signal.aborted)) return Effect.fail(state.cancelled())
    if (end <= start) return Effect.fail(state.timedOut())
    return Effect.callback<A, E | Error, R>((resume) => {
      let done = false
      let answer: Exit.Exit<A, E | Error> | undefined
      let stopTimer: (() => void) | undefined
      let running: Fiber.Fiber<A, E | Error> | undefined

      const settle = (exit: Exit.Exit<A, E | Error>) => {
        if (done) return
        done = true
        release()
        resume(exit)
      }
      const release = () => {
        stopTimer?.()
        core.live.delete(close)
        for (const token of call.cancellation) token.signal.removeEventListener("abort", cancel)
      }
      // The caller is answered at once; the transport cancels at the server meanwhile.
      const cut = (exit: Exit.Exit<A, E | Error>) => {
        if (done) return
        done = true
        release()
        state.progress?.stop()
        running?.interruptUnsafe()
        resume(exit)
      }
      const cancel = () => cut(Exit.fail(state.cancelled()))
      const close = cancel

      if (call.progress !== undefined) {
        const follows = { ...Call.empty, deadline: call.deadline, cancellation: call.cancellation, correlation }
        state.progress = new Progress(call.progress, Context.add(context, Call.Current, follows), {
          idle: () => answer !== undefined && settle(answer),
          died: (cause) => cut(Exit.failCause(cause))
        })
      }

      const fiber = running = Effect.runForkWith(Context.add(context as Context.Context<R>, Call.Current, Call.empty))(
        body(state)
      )
      fiber.addObserver((exit) => {
        // An interruption that is not ours comes from the transport: its scope has closed.
        answer = Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? Exit.fail(state.cancelled()) : exit
        if (state.progress === undefined || state.progress.isIdle) settle(answer)
      })
      if (done) return fiber.interruptUnsafe()
      stopTimer = Timer.after(context, end - start, () => cut(Exit.fail(state.timedOut())))
      core.live.add(close)
      for (const token of call.cancellation) {
        if (token.signal.aborted) return cancel()
        token.signal.addEventListener("abort", cancel)
      }
      return Effect.suspend(() => {
        done = true
        release()
        const handing = state.progress?.fiber
        return handing === undefined ? Fiber.interrupt(fiber) : Fiber.interruptAll([handing, fiber])
      })
    })
  })

class State implements Exchange {
  evidence: Transport.Evidence = "NotSent"
  progress: Progress | undefined
  readonly #core: Core
  readonly #call: Call.Call
  readonly #correlation: string
  readonly #start: number
  readonly #end: number
  readonly #bound: McpClientError.Bound

  constructor(
    core: Core,
    call: Call.Call,
    correlation: string,
    start: number,
    end: number,
    bound: McpClientError.Bound
  ) {
    this.#core = core
    this.#call = call
    this.#correlation = correlation
    this.#start = start
    this.#end = end
    this.#bound = bound
  }

  fail(reason: McpClientError.Reason): Error {
    return McpClientError.make(reason, this.#correlation)
  }

  malformed(detail: string): Error {
    return this.fail(new MalformedResponse({ detail }))
  }

  cancelled(): Error {
    return this.fail(new Cancelled({ evidence: this.evidence }))
  }

  timedOut(): Error {
    const millis = Math.max(0, this.#end - this.#start)
    return this.fail(new McpClientError.TimedOut({ evidence: this.evidence, bound: this.#bound, millis }))
  }

  send(
    method: string,
    params: Json.Object,
    headers: ReadonlyArray<readonly [name: string, value: string]>
  ): Effect.Effect<Answer, Error> {
    return Effect.matchEffect(this.#sendOnce(method, params, headers), {
      // A server that names our version among its own gets the request a second time (spec: basic/versioning).
      onFailure: (error) =>
        namesOurVersion(error.reason) ? this.#sendOnce(method, params, headers) : Effect.fail(error),
      onSuccess: Effect.succeed
    })
  }

  #sendOnce(
    method: string,
    params: Json.Object,
    headers: ReadonlyArray<readonly [name: string, value: string]>
  ): Effect.Effect<Answer, Error> {
    return Effect.withFiber((fiber) => {
      const id = ++lastId
      const meta = makeMeta(
        this.#core,
        this.#call,
        this.#correlation,
        id,
        this.#end - Timer.now(fiber.context)
      )
      if (typeof meta === "string") return Effect.fail(this.fail(new McpClientError.InvalidArguments({ detail: meta })))
      this.evidence = "NotSent"
      const all = { ...params, _meta: meta }
      const outgoing: Transport.Outgoing = {
        id,
        method,
        params: all,
        text: JsonRpc.encodeRequest(id, method, all),
        headers: Call.isCarriable(this.#correlation)
          ? [[Call.correlationHeader, this.#correlation], ...headers]
          : headers,
        sent: () => {
          if (this.evidence === "NotSent") this.evidence = "MaybeSent"
        },
        notify: (notification) => this.#notified(id, notification)
      }
      return Effect.matchEffect(this.#core.transport.send(outgoing), {
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
