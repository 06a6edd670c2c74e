/**
 * Requests that a server may answer by asking for input (spec: basic/patterns/mrtr): sent, paused, continued. Tool
 * calls, prompts and reads all go through here.
 */
import * as Capabilities from "@fairlead/protocol/Capabilities"
import * as HttpRules from "@fairlead/protocol/HttpRules"
import * as InputRequests from "@fairlead/protocol/InputRequest"
import * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type InputRequest, InputRequired } from "../CallEnding.ts"
import type { Continuation } from "../Continuation.ts"
import * as McpClientError from "../McpClientError.ts"
import { ToolsListChanged } from "../Subscription.ts"
import { type Exchange, type Headers, type Logical, run } from "./exchange.ts"
import { canAnswer, makeResponses } from "./inputAnswers.ts"
import { fetchPage, kinds, pager } from "./listing.ts"

type Error = McpClientError.McpClientError

/** The responses to what was asked, by its keys. */
export type Responses = { readonly [key: string]: Json.Object }

/** A request as it is first sent, and again with each round. */
export interface Asked {
  readonly method: string
  readonly name: string
  readonly params: Json.Object
  readonly headers: Headers
}

/** Makes of a complete result what the caller gets. */
export type Finish<A, R> = (exchange: Exchange, result: Json.Object) => Effect.Effect<A, Error, R>

/** Sends what `prepare` makes, and answers for the caller as far as handlers are there. */
export const ask = <A, R>(
  logical: Logical,
  prepare: (exchange: Exchange) => Effect.Effect<Asked, Error, R>,
  finish: Finish<A, R>
): Effect.Effect<A | InputRequired, Error, R> => {
  const first = run(
    logical,
    (exchange) => Effect.flatMap(prepare(exchange), (asked) => send(logical, exchange, asked, noMore, finish))
  )
  return logical.core.handlers === undefined
    ? first
    : Effect.flatMap(first, (ending) => answered(logical, ending, finish, logical.core.maxInputRounds))
}

/** Continues with the caller's responses. */
export const resume = <A, R>(
  logical: Logical,
  continuation: Continuation,
  responses: Responses,
  finish: Finish<A, R>
): Effect.Effect<A | InputRequired, Error, R> => {
  const problem = mismatch(continuation, responses)
  if (problem !== undefined) {
    const reason = new McpClientError.InvalidInputResponses({ detail: problem })
    return Effect.fail(McpClientError.make(reason, logical.correlation))
  }
  return Effect.flatMap(
    again(logical, continuation, responses, finish),
    (ending) => answered(logical, ending, finish, logical.core.maxInputRounds)
  )
}

const noMore: Json.Object = {}

/** One more round: the same request with the responses and the latest state, and nothing of earlier rounds. */
const again = <A, R>(
  logical: Logical,
  { headers, method, name, params, requests, state }: Continuation,
  responses: Responses,
  finish: Finish<A, R>
): Effect.Effect<A | InputRequired, Error, R> => {
  const more = {
    ...(Object.keys(requests).length === 0 ? {} : { inputResponses: responses }),
    ...(state === undefined ? {} : { requestState: state })
  }
  return run(
    logical,
    (exchange) => send(logical, exchange, { method, name, params: params as Json.Object, headers }, more, finish)
  )
}

const answered = <A, R>(
  logical: Logical,
  ending: A | InputRequired,
  finish: Finish<A, R>,
  rounds: number
): Effect.Effect<A | InputRequired, Error, R> => {
  if (!(ending instanceof InputRequired) || rounds === 0 || !canAnswer(logical.core.handlers, ending)) {
    return Effect.succeed(ending)
  }
  return Effect.flatMap(
    makeResponses(logical, ending),
    (responses) =>
      Effect.flatMap(
        again(logical, ending.continuation, responses, finish),
        (next) => answered(logical, next, finish, rounds - 1)
      )
  )
}

const send = <A, R>(
  logical: Logical,
  exchange: Exchange,
  asked: Asked,
  more: Json.Object,
  finish: Finish<A, R>
): Effect.Effect<A | InputRequired, Error, R> => {
  const params = more === noMore ? asked.params : { ...asked.params, ...more }
  const take = (headers: Headers) =>
    Effect.flatMap(
      exchange.send(asked.method, params, headers),
      ({ inputRequired, result }): Effect.Effect<A | InputRequired, Error, R> =>
        inputRequired ? decodeRequired(logical, exchange, { ...asked, headers }, result) : finish(exchange, result)
    )
  const sent = take(asked.headers)
  if (asked.method !== Revision.method.callTool || !logical.core.transport.hasHeaders) return sent
  return Effect.catch(sent, (error) =>
    isHeaderMismatch(error.reason)
      ? Effect.flatMap(
        headersByListing(logical, exchange, asked),
        (headers) => headers === undefined ? Effect.fail(error) : take(headers)
      )
      : Effect.fail(error))
}

const isHeaderMismatch = (reason: McpClientError.Reason): boolean =>
  reason._tag === "RpcError" && reason.code === Revision.codes.headerMismatch

/**
 * The parameter headers that the server's own declaration of a tool asks for, where they differ from what was sent
 * (spec: streamable-http, Schema Extension). All of it happens within the budget of the call.
 */
const headersByListing = (
  logical: Logical,
  exchange: Exchange,
  { headers, name, params }: Asked
): Effect.Effect<Headers | undefined> => {
  // What is kept of the list has led here.
  logical.core.cache?.invalidate(new ToolsListChanged())
  const pages = pager(logical, (cursor) => fetchPage(exchange, kinds.tools, cursor))
  const find: Effect.Effect<Headers | undefined, Error> = Effect.flatMap(pages, (page) => {
    if (page === undefined) return Effect.succeed(undefined)
    const tool = page.items.find((tool) => tool.name === name)
    if (tool === undefined) return find
    const plan = HttpRules.plan(tool.inputSchema as Json.Object)
    const args = params["arguments"]
    if (Result.isFailure(plan) || !Json.isObject(args)) return Effect.succeed(undefined)
    const listed = HttpRules.parameterHeaders(plan.success, args)
    return Effect.succeed(isSame(listed, headers) ? undefined : listed)
  })
  // What cannot be listed leaves the first answer as it is.
  return Effect.catch(find, () => Effect.succeed(undefined))
}

const isSame = (a: Headers, b: Headers): boolean =>
  a.length === b.length && a.every(([name, value]) => b.some((other) => other[0] === name && other[1] === value))

/** Why the responses do not answer the requests: exactly one object for each key. */
const mismatch = ({ requests }: Continuation, responses: Responses): string | undefined => {
  for (const key of Object.keys(requests)) {
    if (!Object.hasOwn(responses, key)) return "a request has no response"
    if (!Json.isObject(responses[key])) return "a response is not an object"
  }
  return Object.keys(responses).some((key) => !Object.hasOwn(requests, key))
    ? "a response answers no request"
    : undefined
}

const decodeRequired = (
  { core, correlation }: Logical,
  exchange: Exchange,
  { headers, method, name, params }: Asked,
  result: Json.Object
): Effect.Effect<InputRequired, Error> => {
  const { inputRequests, requestState } = result
  const malformed = (detail: string) => Effect.fail(exchange.malformed(detail))
  if (requestState !== undefined && typeof requestState !== "string") {
    return malformed("`requestState` is not a string")
  }
  if (inputRequests !== undefined && !Json.isObject(inputRequests)) {
    return malformed("`inputRequests` is not an object")
  }
  if (inputRequests === undefined && requestState === undefined) {
    return malformed("input is required, but neither requests nor a state are there")
  }
  const requests: Record<string, InputRequest> = {}
  for (const [key, request] of Object.entries(inputRequests ?? {})) {
    if (!Json.isObject(request) || typeof request["method"] !== "string") {
      return malformed("an input request has no method")
    }
    const params = request["params"] ?? {}
    if (!Json.isObject(params)) return malformed("the parameters of an input request are not an object")
    // Not by assignment: a key can be `__proto__`.
    Object.defineProperty(requests, key, {
      value: { method: request["method"], params },
      enumerable: true,
      configurable: true,
      writable: true
    })
  }
  const foreign = Object.values(requests).find((request) => !isAdvertised(core.capabilities, request))
  if (foreign !== undefined) {
    return Effect.fail(exchange.fail(new McpClientError.UnsupportedInputRequest({ method: foreign.method })))
  }
  const continuation: Continuation = {
    method,
    name,
    params,
    headers,
    requests,
    ...(requestState === undefined ? {} : { state: requestState }),
    correlation
  }
  return Effect.succeed(
    new InputRequired({ requests, requestState: Option.fromUndefinedOr(requestState), continuation })
  )
}

const inputMethods: ReadonlySet<string> = new Set(Object.values(Revision.inputMethod))

/** Whether the client declares what a request needs (spec: basic/patterns/mrtr). */
const isAdvertised = (declared: Json.Object, request: InputRequest): boolean =>
  inputMethods.has(request.method) &&
  Capabilities.missing(InputRequests.capabilitiesOf(request), declared as Capabilities.ClientCapabilities) === undefined
