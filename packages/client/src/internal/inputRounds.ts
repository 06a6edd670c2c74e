/**
 * Requests that a server may answer by asking for input (spec: basic/patterns/mrtr): sent, paused, continued. Tool
 * calls, prompts and reads all go through here.
 */
import * as Call from "@fairlead/protocol/Call"
import * as Capabilities from "@fairlead/protocol/Capabilities"
import * as HttpRules from "@fairlead/protocol/HttpRules"
import * as InputRequests from "@fairlead/protocol/InputRequest"
import * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { type InputRequest, InputRequired } from "../CallEnding.ts"
import type { Continuation } from "../Continuation.ts"
import * as McpClientError from "../McpClientError.ts"
import { ToolsListChanged } from "../Subscription.ts"
import { type Bounded, type Exchange, type Headers, type Logical, run } from "./exchange.ts"
import { problemOfContent } from "./formAnswer.ts"
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

/** Where a pause is no ending of its own, it is a failure. */
export const paused = <A, E, R>(
  self: Effect.Effect<A | InputRequired<A>, E, R>
): Effect.Effect<A, E | InputRequired<A>, R> =>
  Effect.flatMap(
    self,
    (ending): Effect.Effect<A, InputRequired<A>> =>
      ending instanceof InputRequired ? Effect.fail(ending) : Effect.succeed(ending)
  )

/** Sends what `prepare` makes, and answers for the caller as far as handlers are there. */
export const ask = <A, R>(
  logical: Logical,
  prepare: (exchange: Exchange) => Effect.Effect<Asked, Error, R>,
  finish: Finish<A, R>
): Effect.Effect<A | InputRequired<A>, Error, R> => {
  const first = run(
    logical,
    (exchange) => Effect.flatMap(prepare(exchange), (asked) => send(logical, exchange, asked, noMore, finish))
  )
  return logical.core.handlers === undefined
    ? first
    : Effect.flatMap(first, (ending) => answered(logical, ending, finish, logical.core.maxInputRounds))
}

/** All rounds of a call share its correlation. */
const withCorrelation = (logical: Logical, { correlation }: Continuation): Logical => ({
  ...logical,
  call: { ...logical.call, correlation },
  correlation,
  isCarried: Call.isCarriable(correlation)
})

/** Continues with the caller's responses. */
export const resume = <A, R>(
  other: Logical,
  continuation: Continuation,
  responses: Responses,
  finish: Finish<A, R>
): Effect.Effect<A | InputRequired<A>, Error, R> => {
  const logical = withCorrelation(other, continuation)
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
  finish: Finish<A, R>,
  bounded?: Bounded
): Effect.Effect<A | InputRequired<A>, Error, R> => {
  const more = {
    ...(Object.keys(requests).length === 0 ? {} : { inputResponses: responses }),
    ...(state === undefined ? {} : { requestState: state })
  }
  return run(
    logical,
    (exchange) => send(logical, exchange, { method, name, params: params as Json.Object, headers }, more, finish),
    bounded
  )
}

const answered = <A, R>(
  logical: Logical,
  ending: A | InputRequired<A>,
  finish: Finish<A, R>,
  rounds: number
): Effect.Effect<A | InputRequired<A>, Error, R> => {
  if (!(ending instanceof InputRequired) || rounds === 0 || !canAnswer(logical.core.handlers, ending)) {
    return Effect.succeed(ending)
  }
  return Effect.flatMap(
    makeResponses(logical, ending),
    (responses) =>
      Effect.flatMap(
        // To the caller it is one call, and the server has had it.
        again(logical, ending.continuation, responses, finish, { evidence: "Completed" }),
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
): Effect.Effect<A | InputRequired<A>, Error, R> => {
  const params = more === noMore ? asked.params : { ...asked.params, ...more }
  const take = (headers: Headers) =>
    Effect.flatMap(
      exchange.send(asked.method, params, headers),
      ({ inputRequired, result }): Effect.Effect<A | InputRequired<A>, Error, R> =>
        inputRequired
          ? decodeRequired(logical, exchange, { ...asked, headers }, result, finish)
          : finish(exchange, result)
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
    const response = responses[key]
    if (!Json.isObject(response)) return "a response is not an object"
    if (!fitsForm(requests[key]!, response)) return "a response does not fit its form"
  }
  return Object.keys(responses).some((key) => !Object.hasOwn(requests, key))
    ? "a response answers no request"
    : undefined
}

/** Whether what was accepted of a form has its form (spec: client/elicitation). The problem could repeat the server. */
const fitsForm = ({ method, params }: Continuation["requests"][string], { action, content }: Json.Object): boolean => {
  const { requestedSchema } = params
  return method !== Revision.inputMethod.elicit || action !== "accept" ||
    !Json.isObject(requestedSchema as Json.Value) ||
    problemOfContent(requestedSchema as Json.Object, Json.isObject(content) ? content : {}) === undefined
}

const decodeRequired = <A, R>(
  { core, correlation, start }: Logical,
  exchange: Exchange,
  { headers, method, name, params }: Asked,
  result: Json.Object,
  finish: Finish<A, R>
): Effect.Effect<InputRequired<A>, Error, R> => {
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
  return Effect.map(Effect.context<R>(), (context) =>
    new InputRequired<A>({
      requests,
      requestState: Option.fromUndefinedOr(requestState),
      continuation,
      resume: (responses) =>
        Effect.updateContext(
          paused(start((logical) => resume(logical, continuation, responses, finish))),
          (own: Context.Context<never>) => Context.merge(context, own)
        )
    }))
}

const inputMethods: ReadonlySet<string> = new Set(Object.values(Revision.inputMethod))

/** Whether the client declares what a request needs (spec: basic/patterns/mrtr). */
const isAdvertised = (declared: Json.Object, request: InputRequest): boolean =>
  inputMethods.has(request.method) &&
  Capabilities.missing(InputRequests.capabilitiesOf(request), declared as Capabilities.ClientCapabilities) === undefined
