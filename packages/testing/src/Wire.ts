/**
 * Checks messages against the published schema of the protocol, so that a test sees what a tolerant peer would let
 * pass. `check` takes one message; `layer` puts the check round a transport, where it costs a test one line.
 *
 * Not included: what the schema cannot say, such as the order of messages or the headers of HTTP.
 *
 * @since 0.1.0
 */
import * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import { Transport } from "@fairlead/protocol/Transport"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { observed } from "./internal/observed.ts"
import {
  definitionOfError,
  definitionOfNotification,
  definitionOfRequest,
  inputRequired,
  validate
} from "./internal/wireValidators.ts"

/**
 * Which end a message comes from, and what it answers.
 *
 * @category options
 * @since 0.1.0
 */
export interface Origin {
  readonly from: "client" | "server"
  /** The method of the request that a response answers. Default: unknown, and only the envelope is checked. */
  readonly method?: string | undefined
}

/**
 * A message that breaks the protocol, with what is wrong. For a defect in a test, where the message may be shown.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidMessage extends Data.TaggedError("InvalidMessage")<{
  readonly from: "client" | "server"
  readonly text: string
  readonly problems: ReadonlyArray<string>
}> {
  override get message(): string {
    return `The ${this.from} sent a message that breaks the protocol:\n${this.problems.join("\n")}\n${this.text}`
  }
}

/**
 * What is wrong with a message: nothing, or one line a problem. The message is its text, as it travels.
 *
 * **Example** (A request without metadata)
 *
 * ```ts
 * import { Wire } from "@fairlead/testing"
 *
 * const problems = Wire.check(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, { from: "client" })
 * console.log(problems) // [ "/params must have required property '_meta'" ]
 * ```
 *
 * @category validation
 * @since 0.1.0
 */
export const check = (text: string, origin: Origin): ReadonlyArray<string> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return ["the message is not JSON"]
  }
  if (!isMembers(value)) return ["the message is not an object"]
  if ("method" in value) return "id" in value ? checkRequest(value, origin) : checkNotification(value, origin)
  return checkResponse(value, origin)
}

/**
 * A transport whose messages are checked, in both directions. A call that sent or got a message that breaks the protocol
 * dies with {@link InvalidMessage}.
 *
 * **Example** (A checked transport)
 *
 * ```ts
 * import { McpClient } from "@fairlead/client"
 * import { InProcess } from "@fairlead/server"
 * import { Wire } from "@fairlead/testing"
 * import { Layer } from "effect"
 *
 * export const Client = McpClient.layer().pipe(Layer.provide(Wire.layer(InProcess.layer())))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(transport: Layer.Layer<Transport, E, R>): Layer.Layer<Transport, E, R> =>
  Layer.effect(Transport, Effect.map(Transport, make)).pipe(Layer.provide(transport))

/**
 * {@link layer} for a transport that is there.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (transport: Transport["Service"]): Transport["Service"] =>
  observed(transport, (request) => {
    let invalid: InvalidMessage | undefined
    const look = (text: string, origin: Origin) => {
      const problems = check(text, origin)
      if (problems.length > 0) invalid ??= new InvalidMessage({ from: origin.from, text, problems })
    }
    look(request.text, { from: "client" })
    const verdict = Effect.suspend(() => invalid === undefined ? Effect.void : Effect.die(invalid))
    return {
      before: verdict,
      notification: (notification) => look(textOf(notification), { from: "server" }),
      answer: (response) => look(textOf(response), { from: "server", method: request.method }),
      after: verdict
    }
  })

/**
 * The text of a message that was decoded already.
 *
 * @category codecs
 * @since 0.1.0
 */
export const textOf = (message: JsonRpc.Message): string => {
  switch (message._tag) {
    case "Request":
      return JsonRpc.encodeRequest(message.id, message.method, message.params)
    case "Notification":
      return JsonRpc.encodeNotification(message.method, message.params)
    case "Success":
      return JsonRpc.encodeResult(message.id, Json.stringify(message.result))
    case "Failure":
      return JsonRpc.encodeError(message.id, message.error)
  }
}

type Members = { readonly [key: string]: unknown }

const isMembers = (u: unknown): u is Members => typeof u === "object" && u !== null && !Array.isArray(u)

const checkRequest = (message: Members, { from }: Origin): ReadonlyArray<string> => {
  if (from === "server") return ["a server sends no requests"]
  const definition = typeof message["method"] === "string" ? definitionOfRequest(message["method"]) : undefined
  return validate(definition?.request ?? "JSONRPCRequest", message)
}

const checkNotification = (message: Members, { from }: Origin): ReadonlyArray<string> => {
  const { method } = message
  if (from === "client" && method !== Revision.notification.cancelled) {
    return typeof method === "string" && definitionOfNotification(method) !== undefined
      ? ["a client does not send this notification"]
      : validate("JSONRPCNotification", message)
  }
  const definition = typeof method === "string" ? definitionOfNotification(method) : undefined
  return validate(definition ?? "JSONRPCNotification", message)
}

const checkResponse = (message: Members, { from, method }: Origin): ReadonlyArray<string> => {
  if (from === "client") return ["a client sends no responses"]
  if ("result" in message && "error" in message) return ["a response has a result or an error, not both"]
  if (!("error" in message)) return checkResult(message, method)
  const { error } = message
  const code = isMembers(error) ? error["code"] : undefined
  return [
    ...validate(
      typeof code === "number" ? definitionOfError(code) ?? "JSONRPCErrorResponse" : "JSONRPCErrorResponse",
      message
    ),
    ...typeof code === "number" ? checkCode(code) : []
  ]
}

const checkResult = (message: Members, method: string | undefined): ReadonlyArray<string> => {
  const problems = validate("JSONRPCResultResponse", message)
  const definition = method === undefined ? undefined : definitionOfRequest(method)
  const { result } = message
  if (problems.length > 0 || definition === undefined || !isMembers(result)) return problems
  if (result["resultType"] !== Revision.resultType.inputRequired) return validate(definition.result, result, "/result")
  return definition.asksForInput
    ? validate(inputRequired, result, "/result")
    : ["/result asks for input, which a request of this kind cannot"]
}

/** The codes of the past, and those that only the protocol may define (spec: basic, Error Codes). */
const checkCode = (code: number): ReadonlyArray<string> => {
  if ((code >= -32019 && code <= -32000) || code === -32042) return [`/error/code ${code} belongs to the past`]
  if (code >= -32099 && code <= -32020 && definitionOfError(code) === undefined) {
    return [`/error/code ${code} is reserved and not defined`]
  }
  return []
}
