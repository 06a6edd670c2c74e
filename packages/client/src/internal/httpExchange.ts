/**
 * One POST and its answer (spec: basic/transports/streamable-http), on effect/http's client.
 */
import * as Timer from "@fairlead/protocol/Timer"
import { ConnectionClosed, type Failure, type Incoming, type Outgoing } from "@fairlead/protocol/Transport"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as HttpExchange from "../HttpExchange.ts"

type Response = HttpClientResponse.HttpClientResponse
type BodyPull = Pull.Pull<ReadonlyArray<Uint8Array>, HttpClientError.HttpClientError>

export interface Wire {
  readonly execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<Response, HttpClientError.HttpClientError, Scope.Scope>
  readonly url: URL
  readonly limits: HttpExchange.Limits
  /** Bodies that are read to their end after the answer; interrupted when the transport closes. */
  readonly lingering: Set<Fiber.Fiber<unknown, unknown>>
}

/** Sends a request that is ready to go. Interrupting it closes the response, which the server sees. */
export const exchange = (
  wire: Wire,
  outgoing: Outgoing,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<Incoming, Failure> => hop(wire, outgoing, request, wire.url, 0)

/** One request of at most four: the first, and three after redirects. */
const hop = (
  wire: Wire,
  outgoing: Outgoing,
  request: HttpClientRequest.HttpClientRequest,
  url: URL,
  redirects: number
): Effect.Effect<Incoming, Failure> =>
  Effect.suspend(() => {
    const body = new Body(wire)
    const onResponse = (response: Response): Effect.Effect<Incoming, Failure> => {
      const { headers, status } = response
      const head: HttpExchange.Head = { status, header: (name) => headers[name] }
      const target = redirects < HttpExchange.maxRedirects ? HttpExchange.redirect(head, url) : undefined
      if (target === undefined) return read(wire, outgoing, head, response, body)
      const next = hop(wire, outgoing, HttpClientRequest.setUrl(request, target), target, redirects + 1)
      return Effect.andThen(body.close(Exit.void), next)
    }
    const answer = Effect.suspend(() => {
      if (redirects === 0) outgoing.sent()
      return Effect.matchEffect(body.open(request), {
        onFailure: ({ reason }) =>
          // A client that turns statuses into failures still has the response.
          reason._tag === "StatusCodeError"
            ? onResponse(reason.response)
            // After a redirect a server has had the request.
            : Effect.fail(HttpExchange.lost(redirects === 0 && "cause" in reason ? reason.cause : undefined)),
        onSuccess: onResponse
      })
    })
    return Effect.onExit(answer, (exit) => body.close(exit))
  })

const read = (
  wire: Wire,
  outgoing: Outgoing,
  head: HttpExchange.Head,
  response: Response,
  body: Body
): Effect.Effect<Incoming, Failure> => {
  const made = HttpExchange.reader(outgoing, head, wire.limits)
  if (Result.isFailure(made)) return Effect.fail(made.failure)
  const reader = made.success
  const answer = body.read<Incoming>(
    response,
    (chunk) => {
      const outcome = reader.feed(chunk)
      if (outcome === undefined) return undefined
      // The answer is there; the stream need not be over.
      if (Result.isSuccess(outcome)) body.linger()
      return Effect.fromResult(outcome)
    },
    () => Effect.fromResult(reader.end())
  )
  return Effect.onExit(answer, () => HttpExchange.logSkipped(reader.skipped()))
}

/** The body of one response, and what keeps its connection. */
class Body {
  readonly #wire: Wire
  /** Closing it aborts the request. */
  readonly #request = Scope.makeUnsafe()
  readonly #stream = Scope.makeUnsafe()
  #pull: BodyPull | undefined
  #ended = false
  #lingers = false

  constructor(wire: Wire) {
    this.#wire = wire
  }

  open(request: HttpClientRequest.HttpClientRequest): Effect.Effect<Response, HttpClientError.HttpClientError> {
    return Effect.provideService(this.#wire.execute(request), Scope.Scope, this.#request)
  }

  /** Reads until `onChunk` gives an end, or to the end of the body. */
  read<A>(
    response: Response,
    onChunk: (chunk: Uint8Array) => Effect.Effect<A, Failure> | undefined,
    onEnd: () => Effect.Effect<A, Failure>
  ): Effect.Effect<A, Failure> {
    const end = () => {
      this.#ended = true
      return onEnd()
    }
    return Effect.flatMap(Effect.provideService(Stream.toPull(response.stream), Scope.Scope, this.#stream), (pull) => {
      this.#pull = pull
      const loop: Effect.Effect<A, Failure> = Pull.matchEffect(pull, {
        onSuccess: (chunks) => {
          for (const chunk of chunks) {
            const result = onChunk(chunk)
            if (result !== undefined) return result
          }
          return loop
        },
        onFailure: (cause) => {
          const failure = cause.reasons.find((reason) => reason._tag === "Fail")
          if (failure === undefined) return Effect.failCause(cause as Cause.Cause<never>)
          return failure.error.reason._tag === "EmptyBodyError"
            ? end()
            : Effect.fail(new ConnectionClosed({ evidence: "MaybeSent" }))
        },
        onDone: end
      })
      return loop
    })
  }

  /**
   * Gives the connection back: a body that was read to its end leaves it open, any other is aborted, and a lingering one
   * has a moment to end.
   */
  close(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> {
    if (this.#lingers) return Effect.void
    const stream = Scope.close(this.#stream, exit)
    return this.#ended ? stream : Effect.andThen(stream, Scope.close(this.#request, exit))
  }

  /** Lets the body end by itself for a moment: aborting it at once would cost the connection. */
  linger(): void {
    const pull = this.#pull
    if (pull === undefined) return
    this.#lingers = true
    const drain: Effect.Effect<void> = Pull.matchEffect(pull, {
      onSuccess: () => drain,
      onFailure: () => Effect.void,
      onDone: () => {
        this.#ended = true
        return Effect.void
      }
    })
    const fiber = Effect.runFork(Effect.onExit(drain, (exit) => {
      this.#lingers = false
      return this.close(exit)
    }))
    const { lingering } = this.#wire
    lingering.add(fiber)
    // Sockets live in real time, whatever the clock of the program.
    const stop = Timer.after(Context.empty(), HttpExchange.lingerMillis, () => fiber.interruptUnsafe())
    fiber.addObserver(() => {
      stop()
      lingering.delete(fiber)
    })
  }
}
