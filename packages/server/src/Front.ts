/**
 * Between an endpoint and what brings its requests in. A front knows sockets or pipes and nothing of the protocol; the
 * endpoint knows the protocol and no socket. Both push: bytes in, calls on a responder out.
 *
 * You need this module only to write a front of your own.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"

/**
 * The head of an HTTP request.
 *
 * @category fronts
 * @since 0.1.0
 */
export interface HttpRequest {
  readonly method: string
  readonly url: string
  readonly header: (name: string) => string | undefined
  /** The host name that the front itself is bound to; it is allowed beside those of the endpoint. */
  readonly ownHost?: string | undefined
  /** Whether the front can stream; without, requests that need a stream are refused. Default: true. */
  readonly canStream?: boolean | undefined
}

/**
 * What becomes of an HTTP request: it is refused as it is, or its body is read and served.
 *
 * @category fronts
 * @since 0.1.0
 */
export type HttpAdmission = HttpRefusal | HttpRead

/**
 * A whole answer, a short text.
 *
 * @category fronts
 * @since 0.1.0
 */
export interface HttpRefusal {
  readonly _tag: "Refuse"
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/**
 * The request is admitted: read its body up to `maxBodyBytes` and serve it; answer a larger one with `tooLarge`.
 *
 * @category fronts
 * @since 0.1.0
 */
export interface HttpRead {
  readonly _tag: "Read"
  readonly maxBodyBytes: number
  readonly tooLarge: Omit<HttpRefusal, "_tag">
  serve(body: Uint8Array, responder: HttpResponder): HttpExchange
  /** The body will not be served: it was too large, or its client has gone. To be called where `serve` is not. */
  abandon(): void
}

/**
 * A request under way.
 *
 * @category fronts
 * @since 0.1.0
 */
export interface HttpExchange {
  /** The client has gone: the handler is interrupted and nothing more is written. After the answer it does nothing. */
  disconnect(): void
}

/**
 * How a front writes an HTTP answer: `respond` once, or `open`, `write` any number of times, and `end`.
 *
 * @category fronts
 * @since 0.1.0
 */
export interface HttpResponder {
  /** A whole answer. */
  respond(status: number, headers: Readonly<Record<string, string>>, body: string): void
  /** Begins a stream of events. */
  open(status: number, headers: Readonly<Record<string, string>>): void
  /** Writes to the stream; `false` when the client does not read: wait for `onDrain`. */
  write(chunk: string): boolean
  /** Calls back once when the client reads again. */
  onDrain(resume: () => void): void
  /** Writes the end of the stream and ends it. */
  end(chunk: string): void
  /** Breaks the stream off: its client does not read. */
  abort(): void
}

/**
 * How a front writes to a channel, and what its requests carry.
 *
 * @category fronts
 * @since 0.1.0
 */
export interface ChannelOptions {
  /** `stdio`, `in-process`, or a name of your own. */
  readonly transport: string
  /** Writes a message; `false` when the peer does not read: wait for `onDrain`. */
  readonly send: (message: string) => boolean
  /** Calls back once when the peer reads again. */
  readonly onDrain: (resume: () => void) => void
  /** Services for every request of this channel, in place of the endpoint's context function. */
  readonly services: Context.Context<never> | undefined
  /** Who its requests are from, whatever the context function says (`Invocation.Principal`). Default: it says. */
  readonly principal?: string | undefined
  /** How many of its requests run at once; more are answered with an error. Default: as many as the endpoint runs. */
  readonly maxRequests?: number | undefined
}

/**
 * A channel of messages.
 *
 * @category fronts
 * @since 0.1.0
 */
export interface Channel {
  /** The largest message that a front should hand over, in bytes: the endpoint's `maxBodyBytes`. */
  readonly maxMessageBytes: number
  /** Takes a message from the peer. */
  readonly receive: (message: string) => void
  /** Answers something that was no message at all, such as a line beyond the limit. */
  readonly reject: (reason: string) => void
  /** The peer has gone: its requests are interrupted and nothing more is written. */
  readonly closeUnsafe: () => void
}
