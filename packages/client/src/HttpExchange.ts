/**
 * What every HTTP transport of the client shares, whatever moves its bytes: the settings that they have in common, the
 * headers of a request, and how an answer is read. It knows no socket: bytes are pushed in, and the end of the call comes
 * out as soon as it is there (spec: basic/transports/streamable-http). `HttpTransport` and `NodeHttpTransport` are made
 * of it; it is for those who write a transport of their own.
 *
 * @since 0.1.0
 */
import { concat } from "@fairlead/protocol/Bytes"
import * as Call from "@fairlead/protocol/Call"
import * as HttpRules from "@fairlead/protocol/HttpRules"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import {
  ConnectFailed,
  ConnectionClosed,
  type Failure,
  HttpStatus,
  type Incoming,
  InvalidConfig,
  type Outgoing,
  Refused,
  ResponseTooLarge
} from "@fairlead/protocol/Transport"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as HttpTransport from "./HttpTransport.ts"
import { answerOf, malformed } from "./internal/answers.ts"
import { isLoopback, parseUrl } from "./internal/endpointUrl.ts"
import { makeReader } from "./internal/events.ts"
import { isJsonType, mediaTypeOf } from "./internal/mediaType.ts"
import { isCount } from "./internal/settings.ts"
import { checkHeaders } from "./internal/userHeaders.ts"
import * as McpClientError from "./McpClientError.ts"

/**
 * How long a body may take to end by itself once nothing is expected of it, in milliseconds: 250. Aborting it at once
 * would cost its connection, waiting for longer would hold it.
 *
 * @category constants
 * @since 0.1.0
 */
export const lingerMillis = 250

/**
 * The user's headers of one request: names in lower case, equal names joined, everything checked.
 *
 * @category models
 * @since 0.1.0
 */
export type CheckedHeaders = Readonly<Record<string, string>>

/**
 * How much is read of one answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  readonly maxResponseBytes: number
  readonly maxStreamBytes: number
}

/**
 * The settings that all HTTP transports have, checked.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  readonly url: URL
  readonly limits: Limits
  /** The same for every request, or to be computed for each. */
  readonly headers: CheckedHeaders | Effect.Effect<CheckedHeaders, InvalidConfig>
}

/**
 * Checks the settings. Fails with `InvalidConfig` for one that cannot be used, and with `Refused` for a host that is not
 * allowed and for headers that would cross plain http to another machine.
 *
 * @category settings
 * @since 0.1.0
 */
export const settings: <R = never>(
  options: HttpTransport.Options<R>
) => Effect.Effect<Settings, McpClientError.McpClientError, R> = Effect.fnUntraced(
  function*<R = never>(options: HttpTransport.Options<R>) {
    const url = parseUrl(String(options.url))
    if (Result.isFailure(url)) return yield* invalid("url", url.failure)
    const { allowHost, maxResponseBytes = 1024 * 1024, maxStreamBytes = 16 * 1024 * 1024 } = options
    if (!isCount(maxResponseBytes)) return yield* invalid("maxResponseBytes", "it is not an integer of 1 or more")
    if (maxStreamBytes !== Infinity && !isCount(maxStreamBytes)) {
      return yield* invalid("maxStreamBytes", "it is neither an integer of 1 or more nor Infinity")
    }
    if (allowHost !== undefined && !holds(allowHost, url.success.hostname)) {
      return yield* McpClientError.make(new Refused({ detail: "the host is not allowed" }))
    }
    const headers = yield* checkedHeaders(options)
    const hasHeaders = Effect.isEffect(headers) || Object.keys(headers).length > 0
    if (
      hasHeaders && url.success.protocol === "http:" && !isLoopback(url.success) &&
      options.allowPlaintextHeaders !== true
    ) {
      return yield* McpClientError.make(new Refused({ detail: "headers would cross plain http to another machine" }))
    }
    return { url: url.success, limits: { maxResponseBytes, maxStreamBytes }, headers }
  }
)

/** A filter that throws lets nothing pass. */
const holds = (filter: (value: string) => boolean, value: string): boolean => {
  try {
    return filter(value)
  } catch {
    return false
  }
}

const invalid = (field: string, detail: string) =>
  Effect.fail(McpClientError.make(new InvalidConfig({ field, detail })))

/** Pairs that never change are checked once, others for each request. */
const checkedHeaders = Effect.fnUntraced(function*<R>({ headers = [] }: HttpTransport.Options<R>) {
  if (!Effect.isEffect(headers)) {
    const checked = checkLazily(headers)
    return Result.isSuccess(checked) ? checked.success : yield* invalid("headers", checked.failure)
  }
  const computed = Effect.provideContext(headers, yield* Effect.context<R>()) as Effect.Effect<
    HttpTransport.Headers,
    unknown
  >
  return Effect.matchCauseEffect(Call.detach(computed), {
    onFailure: (cause): Effect.Effect<CheckedHeaders, InvalidConfig> =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.fail(new InvalidConfig({ field: "headers", detail: "they could not be computed" })),
    onSuccess: (pairs) => {
      const checked = checkLazily(pairs)
      return Result.isSuccess(checked)
        ? Effect.succeed(checked.success)
        : Effect.fail(new InvalidConfig({ field: "headers", detail: checked.failure }))
    }
  })
})

/** Pairs that are computed as they are taken can fail only then. */
const checkLazily = (pairs: HttpTransport.Headers): Result.Result<CheckedHeaders, string> => {
  try {
    return checkHeaders(pairs)
  } catch {
    return Result.fail("they could not be computed")
  }
}

/**
 * The headers of a request beside the user's: the media types, what the revision asks for, and what the client adds. No
 * name of theirs is one that {@link settings} lets a user set.
 *
 * @category requests
 * @since 0.1.0
 */
export const requestHeaders = (outgoing: Outgoing): ReadonlyArray<readonly [name: string, value: string]> => [
  ["accept", "application/json, text/event-stream"],
  ["content-type", "application/json"],
  ...HttpRules.requestHeaders(outgoing.method, outgoing.params),
  ...outgoing.headers
]

/**
 * The head of an answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Head {
  readonly status: number
  /** A header by its name in lower case. */
  readonly header: (name: string) => string | undefined
  /** Whether the body has a content encoding that was not undone; then it is not read. Default: false. */
  readonly isEncoded?: boolean | undefined
}

/**
 * How a call has ended.
 *
 * @category models
 * @since 0.1.0
 */
export type Outcome = Result.Result<Incoming, Failure>

/**
 * Reads the body of one answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reader {
  /**
   * Takes the next bytes, and gives the end of the call once it is there. The body need not be over by then: after a
   * success it should have {@link lingerMillis} to end. The bytes are kept; they must not change afterwards.
   */
  readonly feed: (bytes: Uint8Array) => Outcome | undefined
  /** The body has ended: what that makes of the call. */
  readonly end: () => Outcome
  /** How many events of a stream were skipped because they are no messages. */
  readonly skipped: () => number
}

/**
 * A reader for the answer that has this head, or the end of the call where the head alone decides: a declared length
 * above the limit, a media type that is neither JSON nor an event stream, a body that is encoded. Notifications go to the request as they come.
 *
 * @category answers
 * @since 0.1.0
 */
export const reader = (outgoing: Outgoing, head: Head, limits: Limits): Result.Result<Reader, Failure> => {
  const { maxResponseBytes } = limits
  if (head.isEncoded === true) {
    return Result.fail(
      isOk(head) ? malformed("the body has a content encoding that was not asked for") : rejected(head)
    )
  }
  const contentType = head.header("content-type")
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === "text/event-stream") return Result.succeed(eventReader(outgoing, head, limits))
  if (contentType !== undefined && !isJsonType(mediaType)) {
    const length = Number(head.header("content-length"))
    if (!isOk(head) && mediaType === "text/plain" && length > 0 && length <= maxTextBytes) {
      return Result.succeed(textReader(head, length))
    }
    return Result.fail(
      isOk(head) ? malformed("the media type is neither JSON nor an event stream") : rejected(head)
    )
  }
  return Number(head.header("content-length")) > maxResponseBytes
    ? Result.fail(new ResponseTooLarge({ limit: maxResponseBytes }))
    : Result.succeed(messageReader(outgoing, head, maxResponseBytes))
}

/**
 * How many redirects of one request are followed.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxRedirects = 3

/**
 * Where a request has to be sent again: a 307 or 308 to the same origin, without user and password. Anything else is
 * not to be followed, since it would take headers where they were not meant to go or turn the request into another.
 *
 * @category answers
 * @since 0.1.0
 */
export const redirect = ({ header, status }: Head, from: URL): URL | undefined => {
  const location = status === 307 || status === 308 ? header("location") : undefined
  if (location === undefined || !URL.canParse(location, from.href)) return undefined
  const target = new URL(location, from)
  return target.origin === from.origin && target.username === "" && target.password === "" ? target : undefined
}

const isOk = ({ status }: Head): boolean => status >= 200 && status < 300

/** The longest text of a refusal that is read: one sentence says why. */
const maxTextBytes = 1024

const rejected = ({ header, status }: Head, text?: string): Failure =>
  new HttpStatus({
    status,
    text,
    wwwAuthenticate: status === 401 || status === 403 ? header("www-authenticate") : undefined,
    retryAfter: header("retry-after"),
    location: status >= 300 && status < 400 ? header("location") : undefined
  })

const incoming = (response: JsonRpc.Response, { header, status }: Head): Incoming => ({
  response,
  status,
  retryAfter: header("retry-after")
})

const messageReader = (outgoing: Outgoing, head: Head, limit: number): Reader => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  return {
    feed: (bytes) => {
      length += bytes.length
      if (length > limit) return Result.fail(new ResponseTooLarge({ limit }))
      chunks.push(bytes)
      return undefined
    },
    end: () => {
      const text = decodeUtf8(concat(chunks, length))
      const answer = text === undefined ? Result.succeed(undefined) : answerOf(text, outgoing.id)
      if (Result.isFailure(answer)) return Result.fail(answer.failure)
      if (answer.success !== undefined) return Result.succeed(incoming(answer.success, head))
      return Result.fail(isOk(head) ? malformed("the body is not a JSON-RPC message") : rejected(head))
    },
    skipped: () => 0
  }
}

/** A refusal with a short text. */
const textReader = (head: Head, length: number): Reader => {
  const chunks: Array<Uint8Array> = []
  let received = 0
  const end = (): Outcome =>
    Result.fail(rejected(head, received > length ? undefined : decodeUtf8(concat(chunks, received))))
  return {
    feed: (bytes) => {
      received += bytes.length
      chunks.push(bytes)
      return received < length ? undefined : end()
    },
    end,
    skipped: () => 0
  }
}

// Without `stream` it keeps nothing from one text to the next.
const utf8 = new TextDecoder("utf-8", { fatal: true })

const decodeUtf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const eventReader = (outgoing: Outgoing, head: Head, { maxResponseBytes, maxStreamBytes }: Limits): Reader => {
  const events = makeReader(outgoing, maxResponseBytes)
  // What listens is meant to go on.
  const limit = outgoing.method === Revision.method.listen ? Infinity : maxStreamBytes
  let length = 0
  const settle = (outcome: Result.Result<JsonRpc.Response, Failure>): Outcome =>
    Result.isFailure(outcome) ? Result.fail(outcome.failure) : Result.succeed(incoming(outcome.success, head))
  return {
    feed: (bytes) => {
      const outcome = events.feed(bytes)
      if (outcome !== undefined) return settle(outcome)
      length += bytes.length
      return length > limit ? Result.fail(new ResponseTooLarge({ limit })) : undefined
    },
    end: () => {
      const outcome = events.end()
      if (outcome !== undefined) return settle(outcome)
      return Result.fail(isOk(head) ? new ConnectionClosed({ evidence: "MaybeSent" }) : rejected(head))
    },
    skipped: events.skipped
  }
}

/**
 * Says in the debug log how many events were skipped, if any.
 *
 * @category answers
 * @since 0.1.0
 */
export const logSkipped = (events: number): Effect.Effect<void> =>
  events === 0 ? Effect.void : Effect.logDebug("Events that are no JSON-RPC messages were skipped", { events })

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

/**
 * What an error of the platform says of a request: `ConnectFailed` where its code, or that of its cause, is known to
 * come before the first byte, else `ConnectionClosed` with `MaybeSent`.
 *
 * @category answers
 * @since 0.1.0
 */
export const lost = (error: unknown): Failure => {
  for (const candidate of [error, memberOf(error, "cause")]) {
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
