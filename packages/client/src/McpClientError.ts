/**
 * The one error of the client. Its `reason` says what happened, its `kind` what sort of trouble that is, and its
 * `evidence` whether the server may have acted on the request.
 *
 * | reason | code | kind | evidence | retryable |
 * | --- | --- | --- | --- | --- |
 * | `InvalidConfig` | `invalid_config` | Configuration | NotSent | no |
 * | `ConnectFailed` | `connect_failed` | Unreachable | NotSent | yes |
 * | `Refused` | `refused` | Unreachable | NotSent | no |
 * | `TimedOut` | `timed_out.<evidence>` | Timeout | its own | NotSent, or MaybeSent and idempotent |
 * | `Cancelled` | `cancelled.<evidence>` | Cancellation | its own | no |
 * | `ConnectionClosed` | `connection_closed.<evidence>` | Unreachable | its own | NotSent, or MaybeSent and idempotent |
 * | `ResponseTooLarge` | `response_too_large` | TooLarge | MaybeSent | no |
 * | `TooManyPendingCalls` | `too_many_pending_calls` | Overloaded | NotSent | yes |
 * | `HttpStatus` | `http_status.<status>` | Rejected | Completed | 429 and 503 |
 * | `RpcError` | `rpc_error.<code>` | Protocol | Completed | with HTTP status 429 or 503 |
 * | `MalformedResponse` | `malformed_response` | Protocol | MaybeSent | no |
 * | `UnsupportedVersion` | `unsupported_version` | Protocol | Completed | no |
 * | `UnsupportedInputRequest` | `unsupported_input_request` | Protocol | Completed | no |
 * | `InvalidArguments` | `invalid_arguments` | InvalidInput | NotSent | no |
 * | `InvalidInputResponses` | `invalid_input_responses` | InvalidInput | NotSent | no |
 * | `ListingLimitExceeded` | `listing_limit_exceeded` | TooLarge | Completed | no |
 *
 * **Example** (Telling a lost call from one that never left)
 *
 * ```ts
 * import { McpClientError } from "@fairlead/client"
 * import { Effect } from "effect"
 *
 * const orElseQueue = <A, E>(call: Effect.Effect<A, E | McpClientError.McpClientError>, queue: Effect.Effect<A>) =>
 *   call.pipe(
 *     Effect.catchIf(
 *       (error) => McpClientError.isMcpClientError(error) && error.evidence === "NotSent",
 *       () => queue
 *     )
 *   )
 * ```
 *
 * @since 0.1.0
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import type * as Transport from "@fairlead/protocol/Transport"
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"

const TypeId = "~fairlead/client/McpClientError" as const

export {
  /**
   * The call was cancelled by a token, or because its client closed.
   *
   * @category reasons
   * @since 0.1.0
   */
  Cancelled,
  /**
   * The connection or the child process could not be established; nothing was sent.
   *
   * @category reasons
   * @since 0.1.0
   */
  ConnectFailed,
  /**
   * The connection broke, or the child process ended, before the answer.
   *
   * @category reasons
   * @since 0.1.0
   */
  ConnectionClosed,
  /**
   * The server answered with an HTTP status and no JSON-RPC message.
   *
   * @category reasons
   * @since 0.1.0
   */
  HttpStatus,
  /**
   * A setting that cannot be used: `field` names it.
   *
   * @category reasons
   * @since 0.1.0
   */
  InvalidConfig,
  /**
   * The answer breaks the protocol, or does not have the form that was agreed on; `detail` says how and where.
   *
   * @category reasons
   * @since 0.1.0
   */
  MalformedResponse,
  /**
   * The destination is not allowed. Nothing was sent, and trying again cannot help.
   *
   * @category reasons
   * @since 0.1.0
   */
  Refused,
  /**
   * The answer, or one event of its stream, is larger than the limit in bytes.
   *
   * @category reasons
   * @since 0.1.0
   */
  ResponseTooLarge,
  /**
   * The time ran out: `bound` names what ended the call and `millis` how long it was.
   *
   * @category reasons
   * @since 0.1.0
   */
  TimedOut,
  /**
   * As many calls as allowed are waiting already; nothing was sent.
   *
   * @category reasons
   * @since 0.1.0
   */
  TooManyPendingCalls
} from "@fairlead/protocol/Transport"

/**
 * The bound that ended a call: the time to connect, the timeout of one request, the deadline that its caller set, or the
 * total of a call whose timeout restarts.
 *
 * @category models
 * @since 0.1.0
 */
export type Bound = Transport.Bound

/**
 * The server answered with a JSON-RPC error (spec: basic, Error Responses).
 *
 * @category reasons
 * @since 0.1.0
 */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly code: number
  /** What the server says, for people: never part of the message. */
  readonly text: string
  readonly data?: Json.Value | undefined
  /** The HTTP status it came with. */
  readonly status?: number | undefined
  /** The `retry-after` header it came with. */
  readonly retryAfter?: string | undefined
}> {
  override get message(): string {
    const name = Object.hasOwn(codeNames, this.code) ? ` (${codeNames[this.code]})` : ""
    return `The server answered with error ${this.code}${name}`
  }
}

/** What the codes of the protocol mean; a code of the server's own has no name here. */
const codeNames: Readonly<Record<number, string>> = {
  [Revision.codes.parseError]: "parse error",
  [Revision.codes.invalidRequest]: "invalid request",
  [Revision.codes.methodNotFound]: "method not found",
  [Revision.codes.invalidParams]: "invalid params",
  [Revision.codes.internalError]: "internal error",
  [Revision.codes.headerMismatch]: "header mismatch",
  [Revision.codes.missingRequiredClientCapability]: "missing required client capability",
  [Revision.codes.unsupportedProtocolVersion]: "unsupported protocol version"
}

/**
 * The server does not speak the revision that this client speaks (spec: basic/versioning).
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnsupportedVersion extends Data.TaggedError("UnsupportedVersion")<{
  /** What the server says it speaks. */
  readonly supported: ReadonlyArray<string>
}> {
  override get message(): string {
    return "The server does not support the protocol version of this client"
  }
}

/**
 * The server asked for input of a kind that this client does not know.
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnsupportedInputRequest extends Data.TaggedError("UnsupportedInputRequest")<{
  readonly method: string
}> {
  override get message(): string {
    return "The server asked for input that this client does not support"
  }
}

/**
 * What the call was given cannot be sent; `detail` says what and where, and never holds a value.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidArguments extends Data.TaggedError("InvalidArguments")<{
  readonly detail: string
}> {
  override get message(): string {
    return `The call cannot be sent: ${this.detail}`
  }
}

/**
 * The responses do not answer the input requests, one for each.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidInputResponses extends Data.TaggedError("InvalidInputResponses")<{
  readonly detail: string
}> {
  override get message(): string {
    return `The responses do not fit the input requests: ${this.detail}`
  }
}

/**
 * A listing has more pages or items than the client takes.
 *
 * @category reasons
 * @since 0.1.0
 */
export class ListingLimitExceeded extends Data.TaggedError("ListingLimitExceeded")<{
  readonly what: "pages" | "items"
  readonly limit: number
}> {
  override get message(): string {
    return `The listing has more than ${this.limit} ${this.what}`
  }
}

/**
 * Everything that can end a call without an answer. It may grow; {@link Kind} does not.
 *
 * @category models
 * @since 0.1.0
 */
export type Reason =
  | Transport.Failure
  | RpcError
  | UnsupportedVersion
  | UnsupportedInputRequest
  | InvalidArguments
  | InvalidInputResponses
  | ListingLimitExceeded

/**
 * What sort of trouble it is. The set is closed: match on it exhaustively.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind =
  | "Configuration"
  | "Unreachable"
  | "Timeout"
  | "Cancellation"
  | "Overloaded"
  | "Rejected"
  | "Protocol"
  | "InvalidInput"
  | "TooLarge"

interface Row<R> {
  readonly kind: Kind
  readonly evidence: Transport.Evidence | ((reason: R) => Transport.Evidence)
  readonly code: string | ((reason: R) => string)
  /** Where the rule of the kind does not hold. */
  readonly isRetryable?: (reason: R) => boolean
}

const own = (reason: { readonly evidence: Transport.Evidence }): Transport.Evidence => reason.evidence

const evidenceCode: Record<Transport.Evidence, string> = {
  NotSent: "not_sent",
  MaybeSent: "maybe_sent",
  Completed: "completed"
}

const never = () => false
const asksToWait = (status: number | undefined): boolean => status === 429 || status === 503

const rows: { readonly [Tag in Reason["_tag"]]: Row<Extract<Reason, { readonly _tag: Tag }>> } = {
  InvalidConfig: { kind: "Configuration", evidence: "NotSent", code: "invalid_config" },
  ConnectFailed: { kind: "Unreachable", evidence: "NotSent", code: "connect_failed" },
  Refused: { kind: "Unreachable", evidence: "NotSent", code: "refused", isRetryable: never },
  TimedOut: { kind: "Timeout", evidence: own, code: (reason) => `timed_out.${evidenceCode[reason.evidence]}` },
  Cancelled: { kind: "Cancellation", evidence: own, code: (reason) => `cancelled.${evidenceCode[reason.evidence]}` },
  ConnectionClosed: {
    kind: "Unreachable",
    evidence: own,
    code: (reason) => `connection_closed.${evidenceCode[reason.evidence]}`
  },
  ResponseTooLarge: { kind: "TooLarge", evidence: "MaybeSent", code: "response_too_large" },
  TooManyPendingCalls: { kind: "Overloaded", evidence: "NotSent", code: "too_many_pending_calls" },
  HttpStatus: {
    kind: "Rejected",
    evidence: "Completed",
    code: (reason) => `http_status.${reason.status}`,
    isRetryable: (reason) => asksToWait(reason.status)
  },
  RpcError: {
    kind: "Protocol",
    evidence: "Completed",
    code: (reason) => `rpc_error.${reason.code}`,
    isRetryable: (reason) => asksToWait(reason.status)
  },
  MalformedResponse: { kind: "Protocol", evidence: "MaybeSent", code: "malformed_response" },
  UnsupportedVersion: { kind: "Protocol", evidence: "Completed", code: "unsupported_version" },
  UnsupportedInputRequest: { kind: "Protocol", evidence: "Completed", code: "unsupported_input_request" },
  InvalidArguments: { kind: "InvalidInput", evidence: "NotSent", code: "invalid_arguments" },
  InvalidInputResponses: { kind: "InvalidInput", evidence: "NotSent", code: "invalid_input_responses" },
  ListingLimitExceeded: { kind: "TooLarge", evidence: "Completed", code: "listing_limit_exceeded" }
}

// The table is typed by tag; looking a row up by a reason's own tag keeps the two together.
const rowOf = (reason: Reason): Row<Reason> => rows[reason._tag] as Row<Reason>

/**
 * A call that ended without an answer, or a client that could not be made.
 *
 * @category errors
 * @since 0.1.0
 */
export class McpClientError extends Data.TaggedError("McpClientError")<{
  readonly reason: Reason
  /** What finds the call in the logs of both ends. An error of no call has a value that no server saw. */
  readonly correlation: string
}> {
  readonly [TypeId] = TypeId

  /** What sort of trouble it is: one of nine, for ever. */
  get kind(): Kind {
    return rowOf(this.reason).kind
  }

  /** Whether the server may have received the request, and so may have acted on it. */
  get evidence(): Transport.Evidence {
    const { evidence } = rowOf(this.reason)
    return typeof evidence === "function" ? evidence(this.reason) : evidence
  }

  /** A stable word for logs, metrics and tests, such as `timed_out.maybe_sent` or `http_status.503`. */
  get code(): string {
    const { code } = rowOf(this.reason)
    return typeof code === "function" ? code(this.reason) : code
  }

  /**
   * One line for logs. It holds nothing that a peer wrote, no argument, command, token or query: those are in the
   * fields of `reason`, for those who want them.
   */
  override get message(): string {
    return this.reason.message
  }

  /**
   * Whether the same call may be sent again. Nothing reached the server, or it is overloaded: yes. The request may have
   * reached it: only when doing it twice is the same as once, which you say with `idempotent`. All else: no.
   */
  isRetryable(options: {
    /** Whether doing it twice is the same as once: a read, or a call with an idempotency key. */
    readonly idempotent: boolean
  }): boolean {
    const { isRetryable, kind } = rowOf(this.reason)
    if (isRetryable !== undefined) return isRetryable(this.reason)
    switch (kind) {
      case "Overloaded":
        return true
      case "Unreachable":
      case "Timeout":
        return this.evidence === "NotSent" || (this.evidence === "MaybeSent" && options.idempotent)
      default:
        return false
    }
  }
}

/**
 * Makes an error, for tests and fakes of your own. Default correlation: a fresh one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (reason: Reason, correlation: string = Call.makeCorrelationUnsafe()): McpClientError =>
  new McpClientError({ reason, correlation })

/**
 * Whether a value is a {@link McpClientError}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isMcpClientError = (u: unknown): u is McpClientError => Predicate.hasProperty(u, TypeId)
