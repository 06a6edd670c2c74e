/**
 * Runs gets of prompts: decodes the arguments, runs the handler, encodes the messages.
 */
import type * as Json from "@fairlead/protocol/Json"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Effect from "effect/Effect"
import * as SchemaParser from "effect/SchemaParser"
import { encodeMessages } from "./content.ts"
import type { ResultParts, Run } from "./entry.ts"
import { describe } from "./issues.ts"
import { matched } from "./matched.ts"
import { invalidParams, type RpcError } from "./reply.ts"

type GetEffect = Effect.Effect<Prompt.Answer, Prompt.PromptError>

export const makePromptRunner = (prompt: Prompt.Any, handle: (args: unknown) => GetEffect): Run<Json.Object> => {
  const decode = SchemaParser.decodeUnknownEffect(prompt.codec, { errors: "all" })

  const onAnswer = (answer: Prompt.Answer): Effect.Effect<ResultParts, RpcError> => {
    const { description, messages } = typeof answer === "string"
      ? { description: undefined, messages: [Prompt.user(answer)] }
      : "messages" in answer
      ? answer
      : { description: undefined, messages: answer }
    const described = description === undefined ? "" : `"description":${JSON.stringify(description)},`
    return Effect.map(
      encodeMessages(messages, `The prompt ${prompt.name}`),
      (messages) => ({ members: `${described}"messages":${messages}`, meta: undefined })
    )
  }

  return (args) => {
    const lacking = prompt.arguments.find(({ name, required }) => required && !Object.hasOwn(args, name))
    if (lacking !== undefined) return Effect.fail(invalidParams(`The argument ${lacking.name} is missing`))
    if (Object.values(args).some((value) => typeof value !== "string")) {
      return Effect.fail(invalidParams("params.arguments must be an object of strings"))
    }
    return matched(decode(args), {
      onSuccess: (decoded) =>
        Effect.matchEffect(Effect.suspend(() => handle(decoded)), {
          onSuccess: onAnswer,
          // What else a handler fails with may hold anything.
          onFailure: (error: unknown) =>
            error instanceof Prompt.PromptError ? Effect.fail(invalidParams(error.message)) : Effect.die(error)
        }),
      onFailure: (issue) => Effect.fail(invalidParams(`The arguments are not valid. ${describe(issue).join("; ")}`))
    })
  }
}
