/**
 * Runs gets of prompts: decodes the arguments, runs the handler, encodes the messages.
 */
import type * as Json from "@fairlead/protocol/Json"
import { PromptMessage } from "@fairlead/protocol/Messages"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type { ResultParts, Run } from "./entry.ts"
import { describe } from "./issues.ts"
import { matched } from "./matched.ts"
import { invalidParams, type RpcError } from "./reply.ts"
import { InvalidOutput } from "./toolRunner.ts"

type GetEffect = Effect.Effect<Prompt.Answer, Prompt.PromptError>

const encodeMessages = SchemaParser.encodeUnknownEffect(Schema.Array(PromptMessage))

export const makePromptRunner = (prompt: Prompt.Any, handle: (args: unknown) => GetEffect): Run<Json.Object> => {
  const decode = SchemaParser.decodeUnknownEffect(prompt.codec, { errors: "all" })

  const onAnswer = (answer: Prompt.Answer): Effect.Effect<ResultParts, RpcError> => {
    const { description, messages } = typeof answer === "string"
      ? { description: undefined, messages: [Prompt.user(answer)] }
      : "messages" in answer
      ? answer
      : { description: undefined, messages: answer }
    return matched(encodeMessages(messages), {
      onSuccess: (encoded) =>
        Effect.succeed({
          members: `${description === undefined ? "" : `"description":${JSON.stringify(description)},`}"messages":${
            JSON.stringify(encoded)
          }`,
          meta: undefined
        }),
      onFailure: (issue) =>
        Effect.die(new InvalidOutput(`The messages of ${prompt.name} are not valid: ${describe(issue).join("; ")}`))
    })
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
