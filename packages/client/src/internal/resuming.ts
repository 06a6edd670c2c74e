/**
 * Going on with calls that wait for input, by their definitions or without.
 */
import type * as Json from "@fairlead/protocol/Json"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Resource from "@fairlead/protocol/Resource"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import * as UriTemplate from "@fairlead/protocol/UriTemplate"
import * as Effect from "effect/Effect"
import type { InputRequired } from "../CallEnding.ts"
import type { Continuation } from "../Continuation.ts"
import type { ListedTool } from "../McpClient.ts"
import * as McpClientError from "../McpClientError.ts"
import type { Logical } from "./exchange.ts"
import { type Finish, paused, type Responses, resume } from "./inputRounds.ts"
import { finishPrompt, finishRead } from "./operations.ts"
import { finishDiscovered, finishTool } from "./toolCall.ts"

type Error = McpClientError.McpClientError

const { method } = Revision

const resumeAs = <A, R>(
  logical: Logical,
  continuation: Continuation,
  responses: Responses,
  isSame: boolean,
  finish: Finish<A, R>
): Effect.Effect<A | InputRequired<A>, Error, R> => {
  const asksForInput = Revision.latest.methods.get(continuation.method)?.asksForInput === true
  if (isSame && asksForInput) return resume(logical, continuation, responses, finish)
  const reason = new McpClientError.InvalidArguments({ detail: "the continuation is of another call" })
  return Effect.fail(McpClientError.make(reason, continuation.correlation))
}

export const resumeRaw = (logical: Logical, continuation: Continuation, responses: Responses) =>
  resumeAs<Json.Object, never>(
    logical,
    continuation,
    responses,
    true,
    (_exchange, result) => Effect.succeed(result)
  )

/** A pause is an ending of a tool's call, and a failure of all else. */
export const resumeDefined = (
  logical: Logical,
  definition: Tool.Any | Prompt.Any | Resource.Resource | Resource.AnyTemplate | ListedTool | string,
  continuation: Continuation,
  responses: Responses
): Effect.Effect<unknown, Error | InputRequired, unknown> => {
  const is = (of: string, name: string) => continuation.method === of && continuation.name === name
  if (typeof definition === "string") {
    return resumeAs(logical, continuation, responses, is(method.callTool, definition), finishDiscovered)
  }
  if (Tool.isTool(definition)) {
    return resumeAs(logical, continuation, responses, is(method.callTool, definition.name), finishTool(definition))
  }
  if (Prompt.isPrompt(definition)) {
    return paused(
      resumeAs(logical, continuation, responses, is(method.getPrompt, definition.name), finishPrompt)
    )
  }
  if (Resource.isResource(definition)) {
    return paused(resumeAs(logical, continuation, responses, is(method.readResource, definition.uri), finishRead))
  }
  if (Resource.isTemplate(definition)) {
    const isSame = continuation.method === method.readResource &&
      UriTemplate.match(definition.uriTemplate, continuation.name) !== undefined
    return paused(resumeAs(logical, continuation, responses, isSame, finishRead))
  }
  return resumeAs(logical, continuation, responses, is(method.callTool, definition.name), finishDiscovered)
}
