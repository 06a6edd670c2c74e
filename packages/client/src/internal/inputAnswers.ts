/**
 * Answers to what a server asks for: which handler, what it is given, and whether what it gives can be sent.
 */
import * as Call from "@fairlead/protocol/Call"
import * as InputRequests from "@fairlead/protocol/InputRequest"
import * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type { InputRequest, InputRequired } from "../CallEnding.ts"
import * as InputHandlers from "../InputHandlers.ts"
import * as McpClientError from "../McpClientError.ts"
import { type Exchange, followed, type Logical, run } from "./exchange.ts"
import { problemOfContent } from "./formAnswer.ts"
import type { Responses } from "./inputRounds.ts"
import { describe } from "./issues.ts"
import { warn } from "./warn.ts"

type Error = McpClientError.McpClientError

/** The handlers that a client was made with. */
export interface Handlers {
  readonly form: InputHandlers.Form["Service"] | undefined
  readonly url: InputHandlers.Url["Service"] | undefined
  readonly sampling: InputHandlers.Sampling["Service"] | undefined
  readonly roots: InputHandlers.Roots["Service"] | undefined
}

/** The handlers beside a client, if there are any. */
export const handlersBeside: Effect.Effect<Handlers | undefined> = Effect.gen(function*() {
  const handlers: Handlers = {
    form: Option.getOrUndefined(yield* Effect.serviceOption(InputHandlers.Form)),
    url: Option.getOrUndefined(yield* Effect.serviceOption(InputHandlers.Url)),
    sampling: Option.getOrUndefined(yield* Effect.serviceOption(InputHandlers.Sampling)),
    roots: Option.getOrUndefined(yield* Effect.serviceOption(InputHandlers.Roots))
  }
  return Object.values(handlers).every((handler) => handler === undefined) ? undefined : handlers
})

const methodOf = ({ method, params }: InputRequest): InputHandlers.InputMethod | undefined => {
  switch (method) {
    case Revision.inputMethod.elicit:
      // Without a mode it is a form (spec: client/elicitation).
      return params["mode"] === "url" ? "url" : "form"
    case Revision.inputMethod.sample:
      return "sampling"
    case Revision.inputMethod.listRoots:
      return "roots"
    default:
      return undefined
  }
}

/** Whether there is a handler for everything that is asked. */
export const canAnswer = (handlers: Handlers | undefined, { requests }: InputRequired): handlers is Handlers =>
  handlers !== undefined && Object.values(requests).every((request) => {
    const method = methodOf(request)
    return method !== undefined && handlers[method] !== undefined
  })

/** How long a round waits that asks for nothing: the server needs a moment, or another of its instances. */
const statePause = 250

/** Checks all requests, runs their handlers by key, and checks what they give. */
export const makeResponses = (logical: Logical, { requests }: InputRequired): Effect.Effect<Responses, Error> =>
  // Nothing is on its way meanwhile: only the deadline, the tokens and the client's end cut it.
  run(
    logical,
    (exchange) => {
      const keys = Object.keys(requests).sort()
      if (keys.length === 0) return Effect.as(Effect.sleep(statePause), {})
      const answers: Array<readonly [key: string, answer: Effect.Effect<Json.Object, Error>]> = []
      for (const key of keys) {
        const answer = answerOf(logical, exchange, key, requests[key]!)
        if (typeof answer === "string") return Effect.fail(exchange.malformed(answer))
        answers.push([key, answer])
      }
      const all = Effect.forEach(answers, ([key, answer]) => Effect.map(answer, (response) => [key, response] as const))
      return Effect.map(
        Effect.provideService(all, Call.Current, followed(logical)),
        Object.fromEntries
      ) as Effect.Effect<
        Responses,
        Error
      >
    },
    { timeout: Infinity, evidence: "Completed" }
  )

/** The answer to one request, or what is wrong with the request. */
const answerOf = (
  { core }: Logical,
  exchange: Exchange,
  key: string,
  request: InputRequest
): Effect.Effect<Json.Object, Error> | string => {
  const { params } = request
  const handlers = core.handlers!
  const { message, requestedSchema, url } = params
  switch (methodOf(request)) {
    case "form": {
      if (typeof message !== "string") return "a form has no message"
      if (!Json.isObject(requestedSchema)) return "a form has no schema"
      return elicited(core.label, key, () => handlers.form!({ key, message, requestedSchema, params }), requestedSchema)
    }
    case "url": {
      if (typeof message !== "string") return "a request to visit a URL has no message"
      if (typeof url !== "string" || !URL.canParse(url)) return "a request to visit a URL has no URL"
      return elicited(core.label, key, () => handlers.url!({ key, message, url: new URL(url), params }))
    }
    case "sampling": {
      const { messages } = params
      if (!Array.isArray(messages) || !messages.every(Json.isObject)) return "a sampling has no messages"
      if (InputRequests.problemOfMessages(messages) !== undefined) return "the messages of a sampling are not valid"
      if (typeof params["maxTokens"] !== "number") return "a sampling has no `maxTokens`"
      const sampling = { ...params, key, params } as unknown as InputHandlers.SamplingRequest
      return answered(core.label, exchange, key, "sampling", samplingResult, () => handlers.sampling!(sampling))
    }
    default:
      return answered(
        core.label,
        exchange,
        key,
        "roots",
        rootsResult,
        () => Effect.map(handlers.roots!, (roots) => ({ roots }))
      )
  }
}

const decoder = (schema: Schema.Codec<unknown, unknown>) => SchemaParser.decodeUnknownResult(schema)
const elicitResult = decoder(InputRequests.ElicitResult)
const samplingResult = decoder(InputRequests.SamplingResult)
const rootsResult = decoder(InputRequests.RootsResult)

/** What fails or cannot be sent is a question that was dismissed. */
const elicited = (
  label: string | undefined,
  key: string,
  handle: () => Effect.Effect<InputHandlers.Elicited, unknown>,
  /** Of a form: a visit to a URL has no content. */
  schema?: Json.Object
): Effect.Effect<Json.Object> =>
  Effect.matchCauseEffect(Effect.suspend(handle), {
    onSuccess: (given) => {
      const answer = schema === undefined ? { action: given.action } : withoutAbsent(given)
      const decoded = elicitResult(answer)
      if (Result.isFailure(decoded)) return dismissed(label, key, describe("answer", decoded.failure))
      const { action, content } = answer
      const problem = schema === undefined || action !== "accept"
        ? undefined
        : problemOfContent(schema, Json.isObject(content) ? content : {})
      return problem === undefined ? Effect.succeed(answer) : dismissed(label, key, problem)
    },
    onFailure: (cause) => Cause.hasInterruptsOnly(cause) ? Effect.interrupt : dismissed(label, key, Cause.pretty(cause))
  })

const dismissed = (label: string | undefined, key: string, detail: string): Effect.Effect<Json.Object> =>
  Effect.as(warn(label, "An input handler failed: the question is dismissed", { key, detail }), { action: "cancel" })

/** What fails or cannot be sent ends the call: the protocol has no answer for it. */
const answered = (
  label: string | undefined,
  exchange: Exchange,
  key: string,
  method: InputHandlers.InputMethod,
  decode: ReturnType<typeof decoder>,
  handle: () => Effect.Effect<object, unknown>
): Effect.Effect<Json.Object, Error> => {
  const refused = (detail: string) =>
    Effect.andThen(
      warn(label, "An input handler failed: the call ends", { key, detail }),
      Effect.fail(exchange.fail(
        new McpClientError.InvalidInputResponses({ detail: `the ${method} handler gave no answer that can be sent` })
      ))
    )
  return Effect.matchCauseEffect(Effect.suspend(handle), {
    onSuccess: (given) => {
      const answer = withoutAbsent(given)
      const decoded = decode(answer)
      if (Result.isFailure(decoded)) return refused(describe("answer", decoded.failure))
      if (method === "roots" && !areFiles(answer["roots"])) return refused("a root is no file: URI")
      return method === "sampling" && !InputRequests.isMessageContent(answer["content"])
        ? refused("the content is no message's")
        : Effect.succeed(answer)
    },
    onFailure: (cause) => Cause.hasInterruptsOnly(cause) ? Effect.interrupt : refused(Cause.pretty(cause))
  })
}

/** Plain JSON: what is `undefined` is not there. */
const withoutAbsent = (given: object): Json.Object => {
  const json = Json.parse(Json.stringify(given), Infinity)
  return Result.isSuccess(json) && Json.isObject(json.success) ? json.success : {}
}

const areFiles = (roots: Json.Value | undefined): boolean =>
  Array.isArray(roots) &&
  roots.every((root) => Json.isObject(root) && typeof root["uri"] === "string" && root["uri"].startsWith("file://"))
