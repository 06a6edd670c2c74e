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
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { type CallEnding, Succeeded, ToolFailed } from "../CallEnding.ts"
import type { DiscoveredEnding, ListedTool } from "../McpClient.ts"
import * as McpClientError from "../McpClientError.ts"
import { decodeContent } from "./content.ts"
import type { Exchange, Headers, Logical } from "./exchange.ts"
import { ask, type Asked, type Finish } from "./inputRounds.ts"
import { describe } from "./issues.ts"
import { matched } from "./matched.ts"

type Error = McpClientError.McpClientError
type Ending = CallEnding<unknown, unknown>

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
  return ask(
    logical,
    (exchange) =>
      matched(codecs.input(input), {
        onFailure: (issue) => invalid(exchange, describe("arguments", issue)),
        onSuccess: (args) => {
          if (!Json.isObject(args)) return invalid(exchange, "the arguments are not an object")
          return tool.headers.length === 0
            ? Effect.succeed(callOf(tool.name, args, []))
            : withHeaders(logical, exchange, tool.name, args, tool.headers)
        }
      }),
    finishTool(tool)
  )
}

/** A call with the headers of its arguments. What no header can repeat is not sent without it: servers refuse that. */
const withHeaders = (
  { core }: Logical,
  exchange: Exchange,
  name: string,
  args: Json.Object,
  plan: ReadonlyArray<HttpRules.ParameterHeader>
): Effect.Effect<Asked, Error> => {
  const path = core.transport.hasHeaders ? HttpRules.unrepeatable(plan, args) : undefined
  return path === undefined
    ? Effect.succeed(callOf(name, args, HttpRules.parameterHeaders(plan, args)))
    : invalid(exchange, `arguments.${path.join(".")}: no header can repeat it`)
}

const callOf = (name: string, args: Json.Object, headers: Headers): Asked => ({
  method: Revision.method.callTool,
  name,
  params: { name, arguments: args },
  headers
})

export const finishTool = (tool: Tool.Any): Finish<Succeeded<unknown> | ToolFailed<unknown>, unknown> => {
  const codecs = codecsOf(tool)
  return (exchange, result) => decodeResult(exchange, codecs, result)
}

/** Calls a tool by what a server lists of it, or by its name alone. */
export const callDiscovered = (
  logical: Logical,
  tool: ListedTool | string,
  args: Json.Object
): Effect.Effect<DiscoveredEnding, Error> => {
  const name = typeof tool === "string" ? tool : tool.name
  return ask(logical, (exchange) => {
    if (!Json.isObject(args)) return invalid(exchange, "the arguments are not an object")
    const plan = typeof tool === "string" || !logical.core.transport.hasHeaders
      ? Result.succeed([])
      : HttpRules.plan(tool.inputSchema as Json.Object)
    if (Result.isFailure(plan)) return invalid(exchange, "the header annotations of the tool are not valid")
    return withHeaders(logical, exchange, name, args, plan.success)
  }, finishDiscovered)
}

export const finishDiscovered: Finish<Succeeded<Option.Option<Json.Value>> | ToolFailed<never>, never> = (
  exchange,
  result
) => {
  const parts = partsOf(result)
  if (typeof parts === "string") return malformed(exchange, parts)
  const { content, isError, meta } = parts
  const structured = Option.fromUndefinedOr(parts.structured)
  return Effect.succeed(
    isError
      ? new ToolFailed<never>({ content, structured, failure: Option.none(), meta })
      : new Succeeded({ output: structured, content, meta })
  )
}

interface Parts {
  readonly content: ReadonlyArray<Content.Block>
  readonly structured: Json.Value | undefined
  readonly isError: boolean
  readonly meta: Json.Object
}

/** What every result of a tool has, or what is wrong with it. */
const partsOf = (result: Json.Object): Parts | string => {
  const { _meta: meta = {}, isError = false, structuredContent: structured } = result
  const content = decodeContent(result["content"])
  if (typeof content === "string") return content
  if (typeof isError !== "boolean") return "`isError` is not a boolean"
  return Json.isObject(meta) ? { content, structured, isError, meta } : "`_meta` is not an object"
}

const invalid = (exchange: Exchange, detail: string): Effect.Effect<never, Error> =>
  Effect.fail(exchange.fail(new McpClientError.InvalidArguments({ detail })))

const malformed = (exchange: Exchange, detail: string, result?: Json.Object): Effect.Effect<never, Error> =>
  Effect.fail(exchange.malformed(detail, result))

const decodeResult = (
  exchange: Exchange,
  codecs: Codecs,
  result: Json.Object
): Effect.Effect<Succeeded<unknown> | ToolFailed<unknown>, Error, unknown> => {
  const parts = partsOf(result)
  if (typeof parts === "string") return malformed(exchange, parts)
  const { content, isError, meta, structured } = parts
  if (isError) return decodeFailure(codecs, content, structured, meta)
  if (codecs.output === undefined) return Effect.succeed(new Succeeded({ output: content, content, meta }))
  if (structured === undefined) return malformed(exchange, "`structuredContent` is missing", result)
  return matched(codecs.output(structured), {
    onFailure: (issue) => malformed(exchange, describe("structuredContent", issue), result),
    onSuccess: (output) => Effect.succeed(new Succeeded({ output, content, meta }))
  })
}

const decodeFailure = (
  codecs: Codecs,
  content: ReadonlyArray<Content.Block>,
  structured: Json.Value | undefined,
  meta: Json.Object
): Effect.Effect<ToolFailed<unknown>, never, unknown> => {
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
