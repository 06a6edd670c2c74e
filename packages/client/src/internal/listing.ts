/**
 * Listings: page after page until there is no cursor (spec: server/utilities/pagination).
 */
import * as HttpRules from "@fairlead/protocol/HttpRules"
import type * as Json from "@fairlead/protocol/Json"
import * as Messages from "@fairlead/protocol/Messages"
import * as Revision from "@fairlead/protocol/Revision"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as McpClientError from "../McpClientError.ts"
import { type Logical, run } from "./exchange.ts"
import { describe } from "./issues.ts"
import { warn } from "./warn.ts"

interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly nextCursor: string | undefined
}

/**
 * All items of a listing. Each page has the timeout of a request; the deadline and the correlation are shared by all.
 * Fails with `MalformedResponse` for a cursor that came before, and with `ListingLimitExceeded`.
 */
const listAll = <Item>(
  logical: Logical,
  method: string,
  decode: (result: Json.Object) => Result.Result<Page<Item>, SchemaIssue.Issue>
): Effect.Effect<ReadonlyArray<Item>, McpClientError.McpClientError> => {
  const { core, correlation } = logical
  const items: Array<Item> = []
  const seen = new Set<string>()
  const exceeded = (what: "pages" | "items", limit: number) =>
    Effect.fail(McpClientError.make(new McpClientError.ListingLimitExceeded({ what, limit }), correlation))

  const page = (cursor: string | undefined) =>
    run(
      logical,
      (exchange) =>
        Effect.flatMap(exchange.send(method, cursor === undefined ? {} : { cursor }, []), ({ result }) => {
          const decoded = decode(result)
          if (Result.isFailure(decoded)) return Effect.fail(exchange.malformed(describe("result", decoded.failure)))
          // An empty string is a cursor like any other.
          const { nextCursor } = decoded.success
          return nextCursor !== undefined && seen.has(nextCursor)
            ? Effect.fail(exchange.malformed("a cursor is repeated"))
            : Effect.succeed(decoded.success)
        })
    )

  const loop = (
    cursor: string | undefined,
    pages: number
  ): Effect.Effect<ReadonlyArray<Item>, McpClientError.McpClientError> =>
    Effect.flatMap(page(cursor), (got) => {
      if (items.length + got.items.length > core.maxItems) return exceeded("items", core.maxItems)
      for (const item of got.items) items.push(item)
      if (got.nextCursor === undefined) return Effect.succeed(items)
      if (pages >= core.maxPages) return exceeded("pages", core.maxPages)
      seen.add(got.nextCursor)
      return loop(got.nextCursor, pages + 1)
    })

  return Effect.suspend(() => loop(undefined, 1))
}

const decodeTools = SchemaParser.decodeUnknownResult(Messages.ListTools.result)

/** All tools. Over a transport with headers, those whose header annotations are not valid are left out. */
export const listTools = (
  logical: Logical
): Effect.Effect<ReadonlyArray<typeof Messages.Tool.Type>, McpClientError.McpClientError> => {
  const tools = listAll(logical, Revision.method.listTools, (result) =>
    Result.map(
      decodeTools(result),
      ({ nextCursor, tools }) => ({ items: tools, nextCursor: nextCursor ?? undefined })
    ))
  return logical.core.transport.hasHeaders
    ? Effect.flatMap(tools, (tools) => withoutInvalidHeaders(logical, tools))
    : tools
}

const withoutInvalidHeaders = (
  { core }: Logical,
  tools: ReadonlyArray<typeof Messages.Tool.Type>
): Effect.Effect<ReadonlyArray<typeof Messages.Tool.Type>> => {
  const kept: Array<typeof Messages.Tool.Type> = []
  const warnings: Array<Effect.Effect<void>> = []
  for (const tool of tools) {
    const plan = HttpRules.plan(tool.inputSchema as Json.Object)
    if (Result.isSuccess(plan)) kept.push(tool)
    else {
      const { path, reason } = plan.failure
      warnings.push(
        warn(core.label, "A tool is left out: its header annotations are not valid", { tool: tool.name, path, reason })
      )
    }
  }
  return warnings.length === 0 ? Effect.succeed(kept) : Effect.as(Effect.all(warnings, { discard: true }), kept)
}
