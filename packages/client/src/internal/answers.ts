/**
 * From a decoded message to the answer of one request.
 */
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import { type Failure, MalformedResponse } from "@fairlead/protocol/Transport"
import * as Result from "effect/Result"
import { headOf } from "./messageHead.ts"

/** Whether a response belongs to a request: an error without an id belongs to the request it was sent for. */
export const belongsTo = (response: JsonRpc.Response, id: JsonRpc.RequestId): boolean =>
  response.id === undefined ? response._tag === "Failure" : JsonRpc.idKey(response.id) === JsonRpc.idKey(id)

export const malformed = (detail: string): MalformedResponse => new MalformedResponse({ detail })

/**
 * Decodes a message. One that cannot be read still tells whose it is where it looks like an answer, so that its call ends
 * at once: it nests too deep, or has what is no JSON, such as `NaN`.
 */
export const decode = (text: string): Result.Result<JsonRpc.Message, JsonRpc.Invalid> => {
  const decoded = JsonRpc.decode(text)
  if (Result.isSuccess(decoded) || decoded.failure.id !== undefined) return decoded
  const trimmed = text.trim()
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) return decoded
  const { hasMethod, hasVersion, id } = headOf(trimmed)
  return hasMethod || !hasVersion ? decoded : Result.fail({ id, error: decoded.failure.error })
}

/** The answer in a body that is one message; `undefined` where the body is no message at all. */
export const answerOf = (
  text: string,
  id: JsonRpc.RequestId
): Result.Result<JsonRpc.Response | undefined, Failure> => {
  const decoded = decode(text)
  if (Result.isFailure(decoded)) {
    // With the id of the request it is meant as an answer, and a broken one.
    return decoded.failure.id !== undefined && JsonRpc.idKey(decoded.failure.id) === JsonRpc.idKey(id)
      ? Result.fail(malformed(decoded.failure.error.message))
      : Result.succeed(undefined)
  }
  const message = decoded.success
  if (message._tag !== "Success" && message._tag !== "Failure") {
    return Result.fail(malformed("the body is a request or a notification"))
  }
  return belongsTo(message, id)
    ? Result.succeed(message)
    : Result.fail(malformed("the id is not the id of the request"))
}
