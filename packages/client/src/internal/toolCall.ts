/**
 * `tools/call`: the arguments on their way out and the three endings on their way back.
 */
import type * as Content from "@fairlead/protocol/Content"
import * as HttpRules from "@fairlead/protocol/HttpRules"
import * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import type * as Tool from "@fairlead/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { type InputRequest, InputRequired, Succeeded, ToolFailed } from "../CallEnding.ts"
import * as McpClientError from "../McpClientError.ts"
import { decodeContent } from "./content.ts"
import { type Exchange, type Logical, run } from "./exchange.ts"
import { describe } from "./issues.ts"
import { matched } from "./matched.ts"

type Error = McpClientError.McpClientError
type Ending = Succeeded<unknown> | ToolFailed<unknown> | InputRequired

type Decode = (input: unknown) => Effect.Effect<unknown, SchemaIssue.Issue, unknown>

interface Codecs {
  readonly input: Decode
  readonly output: Decode | undefined
  /** Absent where the tool has no typed failure. */
  readonly failure: Decode | undefined
}

const compiled = new WeakMap<Tool.Any, Codecs>()

const codecsOf = (tool: Tool.Any): Codecs => {
  const known = compiled.get(tool)
  if (known !== undefined) return known
  const output: Tool.Direction<Schema.Top> | undefined = tool.codec.output
  const codecs: Codecs = {
    input: SchemaParser.encodeUnknownEffect(tool.codec.input.encode),
    output: output === undefined ? undefined : SchemaParser.decodeUnknownEffect(output.decode),
    failure: tool.failure.ast._tag === "Never" ? undefined : SchemaParser.decodeUnknownEffect(tool.codec.failure.decode)
  }
  compiled.set(tool, codecs)
  return codecs
}

/** Calls a tool. The services that its schemas need are the caller's; `McpClient` states them in its types. */
export const callTool = (
  logical: Logical,
  tool: Tool.Any,
  input: unknown
): Effect.Effect<Ending, Error, unknown> => {
  const codecs = codecsOf(tool)
  return run(logical, (exchange) =>
    matched(codecs.input(input), {
      onFailure: (issue) => invalid(exchange, describe("arguments", issue)),
      onSuccess: (args) => {
        if (!Json.isObject(args)) return invalid(exchange, "the arguments are not an object")
        const headers = tool.headers.length === 0 ? [] : HttpRules.parameterHeaders(tool.headers, args)
        return Effect.flatMap(
          exchange.send(Revision.method.callTool, { name: tool.name, arguments: args }, headers),
          ({ inputRequired, result }) =>
            inputRequired ? decodeInputRequired(exchange, result) : decodeResult(exchange, codecs, result)
        )
      }
    }))
}

const invalid = (exchange: Exchange, detail: string): Effect.Effect<never, Error> =>
  Effect.fail(exchange.fail(new McpClientError.InvalidArguments({ detail })))

const malformed = (exchange: Exchange, detail: string): Effect.Effect<never, Error> =>
  Effect.fail(exchange.malformed(detail))

const decodeResult = (
  exchange: Exchange,
  codecs: Codecs,
  result: Json.Object
): Effect.Effect<Ending, Error, unknown> => {
  const { _meta: meta, isError, structuredContent: structured } = result
  const content = decodeContent(result["content"])
  if (typeof content === "string") return malformed(exchange, content)
  if (isError !== undefined && typeof isError !== "boolean") return malformed(exchange, "`isError` is not a boolean")
  if (meta !== undefined && !Json.isObject(meta)) return malformed(exchange, "`_meta` is not an object")
  if (isError === true) return decodeFailure(codecs, content, structured, meta)
  if (codecs.output === undefined) return Effect.succeed(new Succeeded({ output: content, content, meta: meta ?? {} }))
  if (structured === undefined) return malformed(exchange, "`structuredContent` is missing")
  return matched(codecs.output(structured), {
    onFailure: (issue) => malformed(exchange, describe("structuredContent", issue)),
    onSuccess: (output) => Effect.succeed(new Succeeded({ output, content, meta: meta ?? {} }))
  })
}

const decodeFailure = (
  codecs: Codecs,
  content: ReadonlyArray<Content.Block>,
  structured: Json.Value | undefined,
  meta: Json.Object = {}
): Effect.Effect<Ending, never, unknown> => {
  const untyped = () =>
    Effect.succeed(
      new ToolFailed<unknown>({
        content,
        structured: structured === undefined ? Option.none() : Option.some(structured),
        failure: Option.none(),
        meta
      })
    )
  if (codecs.failure === undefined || structured === undefined) return untyped()
  return matched(codecs.failure(structured), {
    // A failure of another kind: it stays what it is.
    onFailure: untyped,
    onSuccess: (failure) =>
      Effect.succeed(
        new ToolFailed<unknown>({ content, structured: Option.some(structured), failure: Option.some(failure), meta })
      )
  })
}

const decodeInputRequired = (exchange: Exchange, result: Json.Object): Effect.Effect<InputRequired, Error> => {
  const { inputRequests, requestState } = result
  if (requestState !== undefined && typeof requestState !== "string") {
    return malformed(exchange, "`requestState` is not a string")
  }
  if (inputRequests !== undefined && !Json.isObject(inputRequests)) {
    return malformed(exchange, "`inputRequests` is not an object")
  }
  if (inputRequests === undefined && requestState === undefined) {
    return malformed(exchange, "input is required, but neither requests nor a state are there")
  }
  const requests: Record<string, InputRequest> = {}
  for (const [key, request] of Object.entries(inputRequests ?? {})) {
    if (!Json.isObject(request) || typeof request["method"] !== "string") {
      return malformed(exchange, "an input request has no method")
    }
    const params = request["params"] ?? {}
    if (!Json.isObject(params)) return malformed(exchange, "the parameters of an input request are not an object")
    requests[key] = { method: request["method"], params }
  }
  return Effect.succeed(new InputRequired({ requests, requestState: Option.fromUndefinedOr(requestState) }))
}
