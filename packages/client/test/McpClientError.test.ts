import { describe, expect, it } from "@effect/vitest"
import * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import type { Evidence } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"

const {
  Cancelled,
  ConnectFailed,
  ConnectionClosed,
  HttpStatus,
  InvalidArguments,
  InvalidConfig,
  InvalidInputResponses,
  ListingLimitExceeded,
  MalformedResponse,
  Refused,
  ResponseTooLarge,
  RpcError,
  TimedOut,
  TooManyPendingCalls,
  UnsupportedInputRequest,
  UnsupportedVersion
} = McpClientError

interface Row {
  readonly reason: McpClientError.Reason
  readonly kind: McpClientError.Kind
  readonly evidence: Evidence
  readonly code: string
  /** Retryable when it is not idempotent, and when it is. */
  readonly retryable: readonly [plain: boolean, idempotent: boolean]
}

const row = (
  reason: McpClientError.Reason,
  kind: McpClientError.Kind,
  evidence: Evidence,
  code: string,
  plain = false,
  idempotent = plain
): Row => ({ reason, kind, evidence, code, retryable: [plain, idempotent] })

const timedOut = (evidence: Evidence) => new TimedOut({ evidence, bound: "timeout", millis: 30_000 })
const rpc = (status?: number) => new RpcError({ code: -32602, text: "peer text", status })

const rows: ReadonlyArray<Row> = [
  row(new InvalidConfig({ field: "url", detail: "it has a query" }), "Configuration", "NotSent", "invalid_config"),
  row(new ConnectFailed({ detail: "ECONNREFUSED" }), "Unreachable", "NotSent", "connect_failed", true),
  row(new Refused({ detail: "plain http" }), "Unreachable", "NotSent", "refused"),
  row(timedOut("NotSent"), "Timeout", "NotSent", "timed_out.not_sent", true),
  row(timedOut("MaybeSent"), "Timeout", "MaybeSent", "timed_out.maybe_sent", false, true),
  row(timedOut("Completed"), "Timeout", "Completed", "timed_out.completed"),
  row(new Cancelled({ evidence: "NotSent" }), "Cancellation", "NotSent", "cancelled.not_sent"),
  row(new Cancelled({ evidence: "MaybeSent" }), "Cancellation", "MaybeSent", "cancelled.maybe_sent"),
  row(new Cancelled({ evidence: "Completed" }), "Cancellation", "Completed", "cancelled.completed"),
  row(new ConnectionClosed({ evidence: "NotSent" }), "Unreachable", "NotSent", "connection_closed.not_sent", true),
  row(
    new ConnectionClosed({ evidence: "MaybeSent", exitCode: 3, stderr: "peer text" }),
    "Unreachable",
    "MaybeSent",
    "connection_closed.maybe_sent",
    false,
    true
  ),
  row(new ConnectionClosed({ evidence: "Completed" }), "Unreachable", "Completed", "connection_closed.completed"),
  row(new ResponseTooLarge({ limit: 10 }), "TooLarge", "MaybeSent", "response_too_large"),
  row(new TooManyPendingCalls({ limit: 64 }), "Overloaded", "NotSent", "too_many_pending_calls", true),
  row(new HttpStatus({ status: 404 }), "Rejected", "Completed", "http_status.404"),
  row(
    new HttpStatus({ status: 401, wwwAuthenticate: "peer text" }),
    "Rejected",
    "Completed",
    "http_status.401"
  ),
  row(new HttpStatus({ status: 307, location: "peer text" }), "Rejected", "Completed", "http_status.307"),
  row(new HttpStatus({ status: 429 }), "Rejected", "Completed", "http_status.429", true),
  row(new HttpStatus({ status: 503 }), "Rejected", "Completed", "http_status.503", true),
  row(rpc(), "Protocol", "Completed", "rpc_error.-32602"),
  row(rpc(400), "Protocol", "Completed", "rpc_error.-32602"),
  row(rpc(429), "Protocol", "Completed", "rpc_error.-32602", true),
  row(rpc(503), "Protocol", "Completed", "rpc_error.-32602", true),
  row(new MalformedResponse({ detail: "no id" }), "Protocol", "MaybeSent", "malformed_response"),
  row(new UnsupportedVersion({ supported: ["peer text"] }), "Protocol", "Completed", "unsupported_version"),
  row(
    new UnsupportedInputRequest({ method: "peer text" }),
    "Protocol",
    "Completed",
    "unsupported_input_request"
  ),
  row(new InvalidArguments({ detail: "arguments.query: Missing key" }), "InvalidInput", "NotSent", "invalid_arguments"),
  row(new InvalidInputResponses({ detail: "one is missing" }), "InvalidInput", "NotSent", "invalid_input_responses"),
  row(
    new ListingLimitExceeded({ what: "pages", limit: 256 }),
    "TooLarge",
    "Completed",
    "listing_limit_exceeded"
  )
]

describe("McpClientError", () => {
  it.each(rows.map((r) => [r.code, r] as const))(
    verifies(
      "client/type/reason",
      "client/type/kind",
      "client/kind",
      "client/evidence",
      "client/name",
      "client/is_retryable",
      "client/promise/retryable_not_sent",
      "client/promise/retryable_idempotent",
      "client/promise/retryable_429_503",
      "client/promise/retryable_refused",
      "client/type/error",
      "client/type/evidence",
      "client/kind/invalid_input",
      "snodo/error/transport_kind"
    )("%s: kind, evidence, code and retryability"),
    (code, { evidence, kind, reason, retryable }) => {
      const error = McpClientError.make(reason, "order-42")
      expect({ kind: error.kind, evidence: error.evidence, code: error.code }).toEqual({ kind, evidence, code })
      expect(error.isRetryable({ idempotent: false })).toBe(retryable[0])
      expect(error.isRetryable({ idempotent: true })).toBe(retryable[1])
      expect(error.correlation).toBe("order-42")
      expect(error.reason).toBe(reason)
    }
  )

  it(
    verifies("BASE-15@client", "snodo/error/transport_kind")(
      "a failure that is no server's has words for a code, no number of JSON-RPC"
    ),
    () => {
      for (const { code, reason } of rows.filter(({ reason }) => reason._tag !== "RpcError")) {
        expect(code).toMatch(reason._tag === "HttpStatus" ? /^http_status\.\d{3}$/ : /^[a-z_]+(?:\.[a-z_]+)?$/)
      }
    }
  )

  it("the message of a server's error says what its code means, where the protocol does", () => {
    const message = (code: number) => McpClientError.make(new McpClientError.RpcError({ code, text: "x" })).message
    expect(message(-32021)).toBe("The server answered with error -32021 (missing required client capability)")
    expect(message(-32602)).toBe("The server answered with error -32602 (invalid params)")
    expect(message(1)).toBe("The server answered with error 1")
  })

  it("there is a row for each of the 16 reasons and the 9 kinds", () => {
    expect(new Set(rows.map((r) => r.reason._tag)).size).toBe(16)
    expect(new Set(rows.map((r) => r.kind)).size).toBe(9)
  })

  it.each(rows.map((r) => [r.code, r] as const))(
    verifies("client/describe_error", "BASE-16")("%s: the message is one line without a peer's text"),
    (_code, { reason }) => {
      const { message } = McpClientError.make(reason)
      expect(message).not.toContain("peer text")
      expect(message).not.toContain("\n")
      expect(message.length).toBeGreaterThan(10)
    }
  )

  it(
    verifies("client/new_error", "client/promise/error_before_call_has_fresh_correlation")(
      "an error of no call has a fresh correlation"
    ),
    () => {
      const one = McpClientError.make(new Refused({ detail: "x" }))
      const other = McpClientError.make(new Refused({ detail: "x" }))
      expect(one.correlation).toMatch(/^[0-9a-f]{32}$/)
      expect(one.correlation).not.toBe(other.correlation)
    }
  )

  it("the guard knows its own", () => {
    expect(McpClientError.isMcpClientError(McpClientError.make(timedOut("NotSent")))).toBe(true)
    expect(McpClientError.isMcpClientError(timedOut("NotSent"))).toBe(false)
    expect(McpClientError.isMcpClientError(new Error("x"))).toBe(false)
    expect(McpClientError.isMcpClientError(undefined)).toBe(false)
  })

  it.effect(
    verifies("client/reason", "client/promise/challenge_matchable")("reasons can be caught by their tag"),
    () =>
      Effect.gen(function*() {
        const challenged: Effect.Effect<string, McpClientError.McpClientError> = Effect.fail(
          McpClientError.make(new HttpStatus({ status: 401, wwwAuthenticate: "Bearer realm=\"docs\"" }))
        )
        const challenge = yield* challenged.pipe(
          Effect.catchReason("McpClientError", "HttpStatus", (reason) => Effect.succeed(reason.wwwAuthenticate))
        )
        expect(challenge).toBe("Bearer realm=\"docs\"")
      })
  )
})
