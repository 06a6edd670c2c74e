/**
 * Reads, prompts, completions and raw requests.
 */
import type * as Completion from "@fairlead/protocol/Completion"
import * as Json from "@fairlead/protocol/Json"
import * as Messages from "@fairlead/protocol/Messages"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Resource from "@fairlead/protocol/Resource"
import * as Revision from "@fairlead/protocol/Revision"
import * as UriTemplate from "@fairlead/protocol/UriTemplate"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import type { CompletionOptions, PromptResult, ReadResult } from "../McpClient.ts"
import * as McpClientError from "../McpClientError.ts"
import { type Exchange, type Logical, run } from "./exchange.ts"
import { ask, type Asked, type Finish } from "./inputRounds.ts"
import { describe } from "./issues.ts"
import { listAll, rawKind } from "./listing.ts"
import { matched } from "./matched.ts"

type Error = McpClientError.McpClientError

const invalid = (exchange: Exchange, detail: string): Effect.Effect<never, Error> =>
  Effect.fail(exchange.fail(new McpClientError.InvalidArguments({ detail })))

const finishWith = <A>(
  decode: (result: Json.Object) => Result.Result<A, SchemaIssue.Issue>
): Finish<A, never> =>
(exchange, result) => {
  const decoded = decode(result)
  return Result.isFailure(decoded)
    ? Effect.fail(exchange.malformed(describe("result", decoded.failure)))
    : Effect.succeed(decoded.success)
}

export const finishRead: Finish<ReadResult, never> = finishWith(
  SchemaParser.decodeUnknownResult(Messages.ReadResource.result)
)
export const finishPrompt: Finish<PromptResult, never> = finishWith(
  SchemaParser.decodeUnknownResult(Messages.GetPrompt.result)
)
const finishCompletion = finishWith(SchemaParser.decodeUnknownResult(Messages.Complete.result))

export const readResource = (
  logical: Logical,
  target: string | Resource.Resource | Resource.AnyTemplate,
  params: unknown
) =>
  ask(logical, (exchange): Effect.Effect<Asked, Error, unknown> => {
    if (typeof target === "string") return Effect.succeed(readOf(target))
    if (Resource.isResource(target)) return Effect.succeed(readOf(target.uri))
    return matched(SchemaParser.encodeUnknownEffect(target.codec)(params), {
      onFailure: (issue) => invalid(exchange, describe("params", issue)),
      onSuccess: (values) =>
        Effect.succeed(readOf(UriTemplate.expand(target.uriTemplate, values as UriTemplate.Values)))
    })
  }, finishRead)

const readOf = (uri: string): Asked => ({
  method: Revision.method.readResource,
  name: uri,
  params: { uri },
  headers: []
})

export const getPrompt = (logical: Logical, target: string | Prompt.Any, args: unknown) =>
  ask(logical, (exchange): Effect.Effect<Asked, Error, unknown> => {
    const asked = (name: string, args: unknown): Effect.Effect<Asked, Error> => {
      if (!Json.isObject(args) || Object.values(args).some((value) => typeof value !== "string")) {
        return invalid(exchange, "the arguments of a prompt are not texts")
      }
      const params = Object.keys(args).length === 0 ? { name } : { name, arguments: args }
      return Effect.succeed({ method: Revision.method.getPrompt, name, params, headers: [] })
    }
    if (typeof target === "string") return asked(target, args ?? {})
    return matched(SchemaParser.encodeUnknownEffect(target.codec)(args ?? {}), {
      onFailure: (issue) => invalid(exchange, describe("arguments", issue)),
      onSuccess: (encoded) => asked(target.name, encoded)
    })
  }, finishPrompt)

export const complete = (
  logical: Logical,
  target: Completion.Reference | Prompt.Any | Resource.AnyTemplate,
  { argument, context, value }: CompletionOptions<string>
): Effect.Effect<Completion.Values<string>, Error> => {
  const params = {
    ref: referenceOf(target) as Json.Object,
    argument: { name: argument, value },
    ...(context === undefined ? {} : { context: { arguments: context as Json.Object } })
  }
  return run(logical, (exchange) =>
    Effect.flatMap(
      exchange.send(Revision.method.complete, params, []),
      ({ result }) => Effect.map(finishCompletion(exchange, result), ({ completion }) => completion)
    ))
}

const referenceOf = (target: Completion.Reference | Prompt.Any | Resource.AnyTemplate): Completion.Reference => {
  if (Prompt.isPrompt(target)) return { type: "ref/prompt", name: target.name }
  if (Resource.isTemplate(target)) return { type: "ref/resource", uri: String(target.declaration["uriTemplate"]) }
  return target
}

/** Any method with any parameters; the result as it came, whatever it says. */
export const callRaw = (
  logical: Logical,
  method: string,
  name: string | undefined,
  params: Json.Object
): Effect.Effect<Json.Object, Error> =>
  run(logical, (exchange) => {
    const known = Revision.latest.methods.get(method)
    const problem = problemOfMethod(method)
    if (problem !== undefined) return invalid(exchange, problem)
    const member = known?.routingName
    if (member === undefined) {
      if (name !== undefined) return invalid(exchange, "requests of this method have no name")
    } else {
      if (name === undefined) return invalid(exchange, "requests of this method need their name")
      if (params[member] !== undefined && params[member] !== name) {
        return invalid(exchange, "the name is not the one in the parameters")
      }
    }
    const all = member === undefined || name === undefined ? params : { ...params, [member]: name }
    if ("_meta" in all) return invalid(exchange, "metadata is given by `Call.withMeta`")
    return Effect.map(exchange.send(method, all, []), ({ result }) => result)
  })

/** All pages of any listing. */
export const listRaw = (
  logical: Logical,
  method: string,
  collection: string
): Effect.Effect<ReadonlyArray<Json.Value>, Error> => {
  const known = Revision.latest.methods.get(method)
  const problem = problemOfMethod(method) ??
    (known?.routingName === undefined ? undefined : "requests of this method need their name")
  return problem === undefined
    ? listAll(logical, rawKind(method, collection))
    : Effect.fail(McpClientError.make(new McpClientError.InvalidArguments({ detail: problem }), logical.correlation))
}

/** Why requests of a method cannot be sent by its name. A header repeats it. */
export const problemOfMethod = (method: string): string | undefined => {
  if (Revision.latest.methods.get(method)?.streams === true) return "a stream is opened by `listen`"
  return /^[\x21-\x7e]+$/.test(method) ? undefined : "the method is not visible ASCII"
}
