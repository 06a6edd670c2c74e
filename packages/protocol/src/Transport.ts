/**
 * The service a client sends its requests through. HTTP, stdio and in-process transports implement it, and so can you:
 * a transport moves bytes and says truthfully whether they may have left; ids, deadlines, retries and typing are the
 * client's.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Json from "./Json.ts"
import type * as JsonRpc from "./JsonRpc.ts"

/**
 * Whether the server may have received a request.
 *
 * - `NotSent`: nothing reached the server; sending again cannot repeat an effect
 * - `MaybeSent`: the request may have reached the server, which may have acted on it
 * - `Completed`: the server received the request and answered it
 *
 * @category models
 * @since 0.1.0
 */
export type Evidence = "NotSent" | "MaybeSent" | "Completed"

/**
 * A request on its way out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outgoing {
  readonly id: JsonRpc.RequestId
  readonly method: string
  readonly params: Json.Object
  /** The whole message, encoded once. */
  readonly text: string
  /** HTTP headers beside those that the revision derives from the message (`HttpRules.requestHeaders`). */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** To be called just before the first byte can leave. Until then a failure or an interruption is `NotSent`. */
  readonly sent: () => void
  /** Takes a notification that belongs to this request, in the order of arrival, before the answer. */
  readonly notify: (notification: JsonRpc.Notification) => void
}

/**
 * An answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Incoming {
  readonly response: JsonRpc.Response
  /** The HTTP status, on transports that have one. */
  readonly status?: number | undefined
  /** The `retry-after` header, on transports that have one. */
  readonly retryAfter?: string | undefined
}

/**
 * A setting that cannot be used: `field` names it, `detail` says why without repeating its value.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidConfig extends Data.TaggedError("InvalidConfig")<{
  readonly field: string
  readonly detail: string
}> {
  override get message(): string {
    return `The setting ${this.field} cannot be used: ${this.detail}`
  }
}

/**
 * The connection or the child process could not be established; nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConnectFailed extends Data.TaggedError("ConnectFailed")<{
  /** A stable word of the platform, such as `ECONNREFUSED` or `ENOENT`. */
  readonly detail?: string | undefined
}> {
  override get message(): string {
    return this.detail === undefined ? "Could not connect" : `Could not connect (${this.detail})`
  }
}

/**
 * The destination is not allowed: secrets would cross plain HTTP, or a filter refuses the host. Nothing was sent, and
 * trying again cannot help.
 *
 * @category errors
 * @since 0.1.0
 */
export class Refused extends Data.TaggedError("Refused")<{
  readonly detail: string
}> {
  override get message(): string {
    return `The destination is refused: ${this.detail}`
  }
}

/**
 * The connection broke, or the child process ended, before the answer.
 *
 * @category errors
 * @since 0.1.0
 */
export class ConnectionClosed extends Data.TaggedError("ConnectionClosed")<{
  readonly evidence: Evidence
  /** The exit code of a child process. */
  readonly exitCode?: number | undefined
  /** The tail of what a child process wrote to its standard error: for people, never part of the message. */
  readonly stderr?: string | undefined
}> {
  override get message(): string {
    return this.exitCode === undefined
      ? "The connection closed before the answer"
      : `The server process ended with code ${this.exitCode} before the answer`
  }
}

/**
 * The answer, or one event of its stream, is larger than the limit in bytes.
 *
 * @category errors
 * @since 0.1.0
 */
export class ResponseTooLarge extends Data.TaggedError("ResponseTooLarge")<{
  readonly limit: number
}> {
  override get message(): string {
    return `The response is larger than ${this.limit} bytes`
  }
}

/**
 * As many calls as allowed are waiting already; nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyPendingCalls extends Data.TaggedError("TooManyPendingCalls")<{
  readonly limit: number
}> {
  override get message(): string {
    return `More than ${this.limit} calls are waiting`
  }
}

/**
 * The server answered with an HTTP status and no JSON-RPC message.
 *
 * @category errors
 * @since 0.1.0
 */
export class HttpStatus extends Data.TaggedError("HttpStatus")<{
  readonly status: number
  /** What the server says, for people: never part of the message. */
  readonly text?: string | undefined
  /** The `www-authenticate` header of a 401 or 403. */
  readonly wwwAuthenticate?: string | undefined
  /** The `retry-after` header. */
  readonly retryAfter?: string | undefined
  /** Where a redirect that was not followed points to. */
  readonly location?: string | undefined
}> {
  override get message(): string {
    return `The server answered with HTTP status ${this.status}`
  }
}

/**
 * The answer breaks the protocol; `detail` says how and never holds what the peer sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class MalformedResponse extends Data.TaggedError("MalformedResponse")<{
  readonly detail: string
  /**
   * The result as it came, where it is a tool's whose structured output does not have the form of its definition: its
   * content may be of use all the same. Never part of the message.
   */
  readonly result?: Json.Object | undefined
}> {
  override get message(): string {
    return `The response breaks the protocol: ${this.detail}`
  }
}

/**
 * The call was cancelled by a token, or because its client closed.
 *
 * @category errors
 * @since 0.1.0
 */
export class Cancelled extends Data.TaggedError("Cancelled")<{
  readonly evidence: Evidence
}> {
  override get message(): string {
    return "The call was cancelled"
  }
}

/**
 * The bound that ended a call: the time to connect, the timeout of one request, the deadline that its caller set, or the
 * total of a call whose timeout restarts.
 *
 * @category models
 * @since 0.1.0
 */
export type Bound = "connect" | "timeout" | "deadline" | "total"

/**
 * The time ran out: `bound` names what ended the call and `millis` how long it was. A transport knows one bound, the
 * time to connect; nothing was sent then. The others are the client's.
 *
 * @category errors
 * @since 0.1.0
 */
export class TimedOut extends Data.TaggedError("TimedOut")<{
  readonly evidence: Evidence
  readonly bound: Bound
  readonly millis: number
}> {
  override get message(): string {
    return `The ${this.bound} of ${this.millis} ms ran out`
  }
}

/**
 * How sending a request can fail.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure =
  | InvalidConfig
  | ConnectFailed
  | Refused
  | ConnectionClosed
  | ResponseTooLarge
  | TooManyPendingCalls
  | HttpStatus
  | MalformedResponse
  | Cancelled
  | TimedOut

/**
 * The service a client sends through.
 *
 * @category services
 * @since 0.1.0
 */
export class Transport extends Context.Service<Transport, {
  /** `http`, `stdio`, `in-process` or a name of your own, for logs. */
  readonly name: string
  /** Whether requests have HTTP headers: tools whose header annotations are invalid are then left out of listings. */
  readonly hasHeaders: boolean
  /**
   * Sends a request and waits for its answer. Several run at once. Interrupting it cancels the request at the server:
   * by closing its HTTP response, or with `notifications/cancelled` on a shared channel. It holds nothing beyond itself:
   * no fiber that it starts outlives the scope of the transport, and none keeps the `Call` of the request.
   */
  readonly send: (request: Outgoing) => Effect.Effect<Incoming, Failure>
  /**
   * Begins to shut down what the transport alone holds, such as a child process, and returns at once; the release of its
   * scope waits for the rest. A client that is closed by its user runs it. Default: nothing, what is shared stays.
   */
  readonly close?: Effect.Effect<void> | undefined
}>()("@fairlead/protocol/Transport") {}
