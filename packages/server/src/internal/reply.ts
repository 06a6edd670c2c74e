/**
 * The answers of the dispatcher: a result or an error, as the text that travels and the HTTP status it travels with.
 */
import type * as Capabilities from "@fairlead/protocol/Capabilities"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Data from "effect/Data"

/** A whole answer. */
export interface Reply {
  /** The HTTP status while it is open; transports without one ignore it. */
  readonly status: number
  /** The JSON-RPC message. */
  readonly text: string
  /** What HTTP says instead where the request was refused as a whole: a short text. */
  readonly plain?: { readonly body: string; readonly headers: Readonly<Record<string, string>> } | undefined
}

/** A request that cannot be served, as the error its client gets. */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly code: number
  readonly message: string
  readonly data?: Json.Value | undefined
  /** Where the status differs from what the code has by itself. */
  readonly status?: number | undefined
  /** Headers of an HTTP answer that is a short text instead of a message. */
  readonly plainHeaders?: Readonly<Record<string, string>> | undefined
}> {}

/** The answer to a request that was served; `result` is the text of the result object. */
export const success = (id: JsonRpc.RequestId, result: string): Reply => ({
  status: 200,
  text: JsonRpc.encodeResult(id, result)
})

/** The answer to a request that was not. Before the id is known, an overload or a timeout is a short text. */
export const failure = (id: JsonRpc.RequestId | undefined, error: RpcError | JsonRpc.ErrorObject): Reply => {
  const { code, data, message } = error
  const own = error instanceof RpcError ? error : undefined
  const status = own?.status ?? Revision.httpStatusOf(code)
  const plainHeaders = own?.plainHeaders ?? (id === undefined && status >= 500 ? {} : undefined)
  return {
    status,
    text: JsonRpc.encodeError(id, data === undefined ? { code, message } : { code, message, data }),
    plain: plainHeaders === undefined ? undefined : { body: `${message}.`, headers: plainHeaders }
  }
}

/** What an accepted notification gets over HTTP. */
export const accepted: Reply = { status: 202, text: "" }

export const invalidRequest = (message: string): RpcError =>
  new RpcError({ code: Revision.codes.invalidRequest, message })

export const invalidParams = (message: string, options?: {
  readonly data?: Json.Value
  readonly status?: number
}): RpcError => new RpcError({ code: Revision.codes.invalidParams, message, ...options })

export const headerMismatch = (message: string): RpcError =>
  new RpcError({ code: Revision.codes.headerMismatch, message })

/** All that is missing, in one answer. */
export const missingCapability = (missing: Capabilities.ClientCapabilities): RpcError =>
  new RpcError({
    code: Revision.codes.missingRequiredClientCapability,
    message: "The client does not declare a capability that is needed",
    data: { requiredCapabilities: missing as unknown as Json.Value }
  })

/** A stream is asked for where there can be none. */
export const notAStream = (): RpcError =>
  new RpcError({
    code: Revision.codes.invalidRequest,
    message: "Listening needs a client that accepts text/event-stream",
    status: 406,
    plainHeaders: {}
  })

export const tooManyListeners = (): RpcError =>
  new RpcError({
    code: Revision.codes.internalError,
    message: "Too many clients are listening",
    status: 503,
    plainHeaders: { "retry-after": "1" }
  })

export const methodNotFound = (): RpcError =>
  new RpcError({ code: Revision.codes.methodNotFound, message: "Method not found" })

/** Nothing of the cause: it is in the server's log, under the same correlation. */
export const internalError = (status?: number): RpcError =>
  new RpcError({ code: Revision.codes.internalError, message: "Internal error", status })

export const deadlineExceeded = (): RpcError =>
  new RpcError({ code: Revision.codes.internalError, message: "The request took longer than allowed", status: 504 })

export const stopping = (): RpcError =>
  new RpcError({
    code: Revision.codes.internalError,
    message: "The server is stopping",
    status: 503,
    plainHeaders: { "retry-after": "1" }
  })

/** A request that ran already: it may have acted, so nothing here asks to send it again. */
export const stopped = (): RpcError =>
  new RpcError({
    code: Revision.codes.internalError,
    message: "The server stopped before the answer",
    status: 500
  })

export const overloaded = (): RpcError =>
  new RpcError({
    code: Revision.codes.internalError,
    message: "Too many requests are running",
    status: 503,
    plainHeaders: { "retry-after": "1" }
  })

export const responseTooLarge = (limit: number): RpcError =>
  new RpcError({
    code: Revision.codes.internalError,
    message: `The response is larger than the limit of ${limit} bytes`
  })
