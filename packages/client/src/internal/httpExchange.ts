/**
 * One POST and its answer (spec: basic/transports/streamable-http), on effect/http's client.
 */
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Timer from "@fairlead/protocol/Timer"
import {
  ConnectFailed,
  ConnectionClosed,
  type Failure,
  HttpStatus,
  type Incoming,
  type Outgoing,
  ResponseTooLarge
} from "@fairlead/protocol/Transport"
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { answerOf, malformed } from "./answers.ts"
import { concat } from "./bytes.ts"
import { makeReader } from "./events.ts"
import { isJsonType, mediaTypeOf } from "./mediaType.ts"

type Response = HttpClientResponse.HttpClientResponse
type BodyPull = Pull.Pull<ReadonlyArray<Uint8Array>, HttpClientError.HttpClientError>

/** How long a stream may take to end by itself after its answer, so that its connection can be used again. */
const lingerMillis = 250

export interface Wire {
  readonly execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<Response, HttpClientError.HttpClientError, Scope.Scope>
  readonly maxResponseBytes: number
  /** Bodies that are read to their end after the answer; interrupted when the transport closes. */
  readonly lingering: Set<Fiber.Fiber<unknown, unknown>>
}

/** Sends a request that is ready to go. Interrupting it closes the response, which the server sees. */
export const exchange = (
  wire: Wire,
  outgoing: Outgoing,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<Incoming, Failure> =>
  Effect.suspend(() => {
    const body = new Body(wire)
    const answer = Effect.suspend(() => {
      outgoing.sent()
      return Effect.matchEffect(body.open(request), {
        onFailure: (error) =>
          // A client that turns statuses into failures still has the response.
          error.reason._tag === "StatusCodeError"
            ? read(wire, outgoing, error.reason.response, body)
            : Effect.fail(connectFailure(error)),
        onSuccess: (response) => read(wire, outgoing, response, body)
      })
    })
    return Effect.onExit(answer, (exit) => body.close(exit))
  })

// What these say happened before the first byte of the request.
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
])
// These happen to open connections too; the system call tells.
const whileConnecting = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "ECONNRESET"])

/** Platforms report one error for everything that goes wrong; only a code that is known says that nothing was sent. */
const connectFailure = (error: HttpClientError.HttpClientError): Failure => {
  const { reason } = error
  const cause = "cause" in reason ? reason.cause : undefined
  for (const candidate of [cause, memberOf(cause, "cause")]) {
    const code = memberOf(candidate, "code")
    if (typeof code !== "string") continue
    if (neverSent.has(code) || (whileConnecting.has(code) && memberOf(candidate, "syscall") === "connect")) {
      return new ConnectFailed({ detail: code })
    }
  }
  return new ConnectionClosed({ evidence: "MaybeSent" })
}

const memberOf = (u: unknown, key: string): unknown =>
  typeof u === "object" && u !== null ? (u as { readonly [key: string]: unknown })[key] : undefined

const read = (
  wire: Wire,
  outgoing: Outgoing,
  response: Response,
  body: Body
): Effect.Effect<Incoming, Failure> => {
  const contentType = response.headers["content-type"]
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === "text/event-stream") return readEvents(wire, outgoing, response, body)
  if (contentType === undefined || isJsonType(mediaType)) return readMessage(wire, outgoing, response, body)
  return Effect.fail(
    isOk(response) ? malformed("the media type is neither JSON nor an event stream") : rejected(response)
  )
}

const isOk = ({ status }: Response): boolean => status >= 200 && status < 300

const rejected = ({ headers, status }: Response): Failure =>
  new HttpStatus({
    status,
    wwwAuthenticate: status === 401 || status === 403 ? headers["www-authenticate"] : undefined,
    retryAfter: headers["retry-after"],
    location: status >= 300 && status < 400 ? headers["location"] : undefined
  })

const incoming = (message: JsonRpc.Response, { headers, status }: Response): Incoming => ({
  response: message,
  status,
  retryAfter: headers["retry-after"]
})

const readMessage = (
  wire: Wire,
  outgoing: Outgoing,
  response: Response,
  body: Body
): Effect.Effect<Incoming, Failure> => {
  const limit = wire.maxResponseBytes
  const tooLarge = Effect.fail(new ResponseTooLarge({ limit }))
  if (Number(response.headers["content-length"]) > limit) return tooLarge
  const chunks: Array<Uint8Array> = []
  let length = 0
  return body.read<Incoming>(
    response,
    (chunk) => {
      length += chunk.length
      if (length > limit) return tooLarge
      chunks.push(chunk)
      return undefined
    },
    () => {
      const text = decodeUtf8(concat(chunks, length))
      const answer = text === undefined ? Result.succeed(undefined) : answerOf(text, outgoing.id)
      if (Result.isFailure(answer)) return Effect.fail(answer.failure)
      if (answer.success !== undefined) return Effect.succeed(incoming(answer.success, response))
      return Effect.fail(isOk(response) ? malformed("the body is not a JSON-RPC message") : rejected(response))
    }
  )
}

const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const readEvents = (
  wire: Wire,
  outgoing: Outgoing,
  response: Response,
  body: Body
): Effect.Effect<Incoming, Failure> => {
  const reader = makeReader(outgoing, wire.maxResponseBytes)
  const settle = (outcome: Result.Result<JsonRpc.Response, Failure>): Effect.Effect<Incoming, Failure> =>
    Result.isFailure(outcome)
      ? Effect.fail(outcome.failure)
      : Effect.succeed(incoming(outcome.success, response))
  const answer = body.read<Incoming>(
    response,
    (chunk) => {
      const outcome = reader.feed(chunk)
      if (outcome === undefined) return undefined
      // The answer is there; the stream need not be over.
      if (Result.isSuccess(outcome)) body.linger()
      return settle(outcome)
    },
    () => {
      const outcome = reader.end()
      if (outcome !== undefined) return settle(outcome)
      return Effect.fail(isOk(response) ? new ConnectionClosed({ evidence: "MaybeSent" }) : rejected(response))
    }
  )
  return Effect.onExit(answer, () =>
    reader.skipped() === 0
      ? Effect.void
      : Effect.logDebug("Events that are no JSON-RPC messages were skipped", { events: reader.skipped() }))
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
    const stop = Timer.after(Context.empty(), lingerMillis, () => fiber.interruptUnsafe())
    fiber.addObserver(() => {
      stop()
      lingering.delete(fiber)
    })
  }
}
