/**
 * The JSON-RPC 2.0 envelope as MCP uses it: single requests, notifications and responses, decoded from a text once and
 * encoded to a text once. There are no batches (spec: basic, Messages).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Json from "./Json.ts"

/**
 * A request id: a string or an integer. It keeps its JSON type and value: `1` and `"1"` are different ids, and an
 * integer beyond 2^53 is an `ExactNumber`.
 *
 * @category models
 * @since 0.1.0
 */
export type RequestId = string | number | Json.ExactNumber

/**
 * A request: it is answered by exactly one {@link Response} with the same id.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly _tag: "Request"
  readonly id: RequestId
  readonly method: string
  /** Absent parameters are the empty object. */
  readonly params: Json.Object
}

/**
 * A notification: it has no id and is never answered.
 *
 * @category models
 * @since 0.1.0
 */
export interface Notification {
  readonly _tag: "Notification"
  readonly method: string
  readonly params: Json.Object
}

/**
 * The answer to a request that could be served.
 *
 * @category models
 * @since 0.1.0
 */
export interface Success {
  readonly _tag: "Success"
  readonly id: RequestId
  readonly result: Json.Object
}

/**
 * The answer to a request that could not be served. The id is absent when the request's could not be read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure {
  readonly _tag: "Failure"
  readonly id: RequestId | undefined
  readonly error: ErrorObject
}

/**
 * What a {@link Failure} says.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: Json.Value | undefined
}

/**
 * An answer to a request.
 *
 * @category models
 * @since 0.1.0
 */
export type Response = Success | Failure

/**
 * One JSON-RPC message.
 *
 * @category models
 * @since 0.1.0
 */
export type Message = Request | Notification | Response

/**
 * The codes of JSON-RPC 2.0. Those that a revision of MCP adds are in `Revision.codes`.
 *
 * @category constants
 * @since 0.1.0
 */
export const codes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603
} as const

/**
 * A text that is not one JSON-RPC message: what to answer, and the id if it could be read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Invalid {
  readonly id: RequestId | undefined
  readonly error: ErrorObject
}

/**
 * Whether a value is a legal request id: a string or an integer, never null, a fraction or anything else.
 *
 * @category guards
 * @since 0.1.0
 */
export const isRequestId = (u: unknown): u is RequestId =>
  typeof u === "string" || Number.isInteger(u) || (Json.isExactNumber(u) && /^-?\d+$/.test(u.source))

/**
 * A key for maps that keeps `1` and `"1"` apart.
 *
 * @category models
 * @since 0.1.0
 */
export const idKey = (id: RequestId): string => typeof id === "string" ? `"${id}` : String(id)

/**
 * Decodes one message from a text.
 *
 * Fails with {@link Invalid}: -32700 when the text is not JSON, -32600 when it nests deeper than `maxDepth` (64) or is
 * not a single message; the id is kept where it can be read.
 *
 * @category codecs
 * @since 0.1.0
 */
export const decode = (text: string, maxDepth: number = Json.defaultMaxDepth): Result.Result<Message, Invalid> => {
  const parsed = Json.parse(text, maxDepth)
  if (Result.isSuccess(parsed)) return fromJson(parsed.success)
  const { message, reason } = parsed.failure
  return invalid(undefined, reason === "depth" ? codes.invalidRequest : codes.parseError, message)
}

/**
 * Reads one message from a value that was parsed already.
 *
 * Fails with {@link Invalid} (-32600).
 *
 * @category codecs
 * @since 0.1.0
 */
export const fromJson = (value: Json.Value): Result.Result<Message, Invalid> => {
  if (!Json.isObject(value)) {
    return invalid(
      undefined,
      codes.invalidRequest,
      Array.isArray(value) ? "Batches are not supported: send one message" : "A message is a JSON object"
    )
  }
  const id = isRequestId(value["id"]) ? value["id"] : undefined
  if (value["jsonrpc"] !== "2.0") return invalid(id, codes.invalidRequest, "`jsonrpc` must be \"2.0\"")
  if ("method" in value) return fromCall(value, id)
  if ("result" in value || "error" in value) return fromResponse(value, id)
  return invalid(id, codes.invalidRequest, "A message has a `method`, a `result` or an `error`")
}

const fromCall = (value: Json.Object, id: RequestId | undefined): Result.Result<Message, Invalid> => {
  const { method, params } = value
  if (typeof method !== "string") return invalid(id, codes.invalidRequest, "`method` must be a string")
  if (params !== undefined && !Json.isObject(params)) {
    return invalid(id, codes.invalidRequest, "`params` must be an object")
  }
  if (id !== undefined) return Result.succeed({ _tag: "Request", id, method, params: params ?? {} })
  return "id" in value
    ? invalid(undefined, codes.invalidRequest, "`id` must be a string or an integer")
    : Result.succeed({ _tag: "Notification", method, params: params ?? {} })
}

const fromResponse = (value: Json.Object, id: RequestId | undefined): Result.Result<Message, Invalid> => {
  const { error, result } = value
  if (error === undefined) {
    if (id === undefined) return invalid(undefined, codes.invalidRequest, "A result needs the id of its request")
    if (!Json.isObject(result)) return invalid(id, codes.invalidRequest, "`result` must be an object")
    return Result.succeed({ _tag: "Success", id, result })
  }
  if (result !== undefined) {
    return invalid(id, codes.invalidRequest, "A response has a `result` or an `error`, not both")
  }
  if (!isErrorObject(error)) {
    return invalid(id, codes.invalidRequest, "`error` needs an integer `code` and a string `message`")
  }
  // A null id is what servers send that write every member; it means the same as an absent one.
  if (id === undefined && value["id"] !== undefined && value["id"] !== null) {
    return invalid(undefined, codes.invalidRequest, "`id` must be a string or an integer")
  }
  return Result.succeed({
    _tag: "Failure",
    id,
    error: error["data"] === undefined
      ? { code: error.code, message: error.message }
      : { code: error.code, message: error.message, data: error["data"] }
  })
}

const isErrorObject = (u: Json.Value): u is Json.Object & { readonly code: number; readonly message: string } =>
  Json.isObject(u) && Number.isInteger(u["code"]) && typeof u["message"] === "string"

const invalid = (id: RequestId | undefined, code: number, message: string): Result.Result<never, Invalid> =>
  Result.fail({ id, error: { code, message } })

/**
 * Encodes a request.
 *
 * @category codecs
 * @since 0.1.0
 */
export const encodeRequest = (id: RequestId, method: string, params: Json.Object): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`

/**
 * Encodes a notification.
 *
 * @category codecs
 * @since 0.1.0
 */
export const encodeNotification = (method: string, params: Json.Object): string =>
  `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`

/**
 * Encodes a successful response from the text of its result, so that a result is serialized once.
 *
 * @category codecs
 * @since 0.1.0
 */
export const encodeResult = (id: RequestId, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

/**
 * Encodes an error response. An id that could not be read is left out (spec: BaseProtocol, Error Responses).
 *
 * @category codecs
 * @since 0.1.0
 */
export const encodeError = (id: RequestId | undefined, error: ErrorObject): string =>
  id === undefined
    ? `{"jsonrpc":"2.0","error":${JSON.stringify(error)}}`
    : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${JSON.stringify(error)}}`
