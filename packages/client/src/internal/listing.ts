/**
 * Listings: page after page until there is no cursor (spec: server/utilities/pagination).
 */
import * as HttpRules from "@fairlead/protocol/HttpRules"
import type * as Json from "@fairlead/protocol/Json"
import * as Messages from "@fairlead/protocol/Messages"
import * as Revision from "@fairlead/protocol/Revision"
import { MalformedResponse } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import type { Listed, ListKind, Page } from "../McpClient.ts"
import * as McpClientError from "../McpClientError.ts"
import { type Exchange, type Logical, run } from "./exchange.ts"
import { describe } from "./issues.ts"
import { warn } from "./warn.ts"

type Error = McpClientError.McpClientError

/** What is listed how. */
export interface Kind<Item> {
  readonly method: string
  readonly itemsOf: (result: Json.Object) => Result.Result<ReadonlyArray<Item>, SchemaIssue.Issue | string>
  /** Whether header annotations decide what is kept. */
  readonly hasHeaders: boolean
}

const tools = SchemaParser.decodeUnknownResult(Messages.ListTools.result)
const resources = SchemaParser.decodeUnknownResult(Messages.ListResources.result)
const resourceTemplates = SchemaParser.decodeUnknownResult(Messages.ListResourceTemplates.result)
const prompts = SchemaParser.decodeUnknownResult(Messages.ListPrompts.result)

export const kinds: { readonly [K in ListKind]: Kind<Listed[K]> } = {
  tools: {
    method: Revision.method.listTools,
    itemsOf: (result) => Result.map(tools(result), ({ tools }) => tools),
    hasHeaders: true
  },
  resources: {
    method: Revision.method.listResources,
    itemsOf: (result) => Result.map(resources(result), ({ resources }) => resources),
    hasHeaders: false
  },
  resourceTemplates: {
    method: Revision.method.listResourceTemplates,
    itemsOf: (result) => Result.map(resourceTemplates(result), ({ resourceTemplates }) => resourceTemplates),
    hasHeaders: false
  },
  prompts: {
    method: Revision.method.listPrompts,
    itemsOf: (result) => Result.map(prompts(result), ({ prompts }) => prompts),
    hasHeaders: false
  }
}

/** Any method whose result has a list of items and perhaps a cursor. */
export const rawKind = (method: string, collection: string): Kind<Json.Value> => ({
  method,
  itemsOf: (result) => {
    const items = result[collection]
    return Array.isArray(items) ? Result.succeed(items) : Result.fail("the collection is not an array")
  },
  hasHeaders: false
})

/** One page, with all its items. */
export const fetchPage = <Item>(
  exchange: Exchange,
  kind: Kind<Item>,
  cursor: string | undefined
): Effect.Effect<Page<Item>, Error> =>
  Effect.flatMap(exchange.send(kind.method, cursor === undefined ? {} : { cursor }, []), ({ result }) => {
    const items = kind.itemsOf(result)
    if (Result.isFailure(items)) {
      const issue = items.failure
      return Effect.fail(exchange.malformed(typeof issue === "string" ? issue : describe("result", issue)))
    }
    const nextCursor = result["nextCursor"] ?? undefined
    return nextCursor === undefined || typeof nextCursor === "string"
      ? Effect.succeed({ items: items.success, nextCursor: Option.fromUndefinedOr(nextCursor), result })
      : Effect.fail(exchange.malformed("`nextCursor` is not a string"))
  })

/**
 * Gives page after page, then `undefined`. Fails with `MalformedResponse` for a cursor that came before, and with
 * `ListingLimitExceeded`.
 */
export const pager = <Item>(
  { core, correlation }: Logical,
  fetch: (cursor: string | undefined) => Effect.Effect<Page<Item>, Error>
): Effect.Effect<Page<Item> | undefined, Error> => {
  const seen = new Set<string>()
  let cursor: string | undefined
  let items = 0
  let pages = 0
  let isOver = false
  const fail = (reason: McpClientError.Reason) => Effect.fail(McpClientError.make(reason, correlation))
  return Effect.suspend(() => {
    if (isOver) return Effect.succeed(undefined)
    if (pages === core.maxPages) {
      return fail(new McpClientError.ListingLimitExceeded({ what: "pages", limit: core.maxPages }))
    }
    return Effect.flatMap(fetch(cursor), (page) => {
      pages++
      items += page.items.length
      if (items > core.maxItems) {
        return fail(new McpClientError.ListingLimitExceeded({ what: "items", limit: core.maxItems }))
      }
      // An empty string is a cursor like any other.
      cursor = Option.getOrUndefined(page.nextCursor)
      isOver = cursor === undefined
      if (cursor !== undefined) {
        if (seen.has(cursor)) return fail(new MalformedResponse({ detail: "a cursor is repeated" }))
        seen.add(cursor)
      }
      return Effect.succeed(page)
    })
  })
}

/** One page, without the tools that cannot be called over this transport. Each page has the timeout of a request. */
export const listPage = <Item>(
  logical: Logical,
  kind: Kind<Item>,
  cursor: string | undefined
): Effect.Effect<Page<Item>, Error> => {
  const sent = run(logical, (exchange) => fetchPage(exchange, kind, cursor))
  const { cache } = logical.core
  const page = cache === undefined || cursor === undefined ? sent : Effect.tapError(
    sent,
    (error) => Effect.sync(() => isInvalidCursor(error) && cache.dropPages(kind.method))
  )
  return kind.hasHeaders && logical.core.transport.hasHeaders
    ? Effect.flatMap(page, (page) => withoutInvalidHeaders(logical, page))
    : page
}

/** A cursor of a page that was kept may have become invalid since (spec: server/utilities/caching). */
const isInvalidCursor = ({ reason }: Error): boolean =>
  reason._tag === "RpcError" && reason.code === Revision.codes.invalidParams

/** All items; once again from the start where a cursor of the list itself is not taken any more. */
export const listAll = <Item>(logical: Logical, kind: Kind<Item>): Effect.Effect<ReadonlyArray<Item>, Error> =>
  Effect.suspend(() => {
    let hasBegun = false
    const attempt = listOnce(logical, kind, () => {
      hasBegun = true
    })
    return Effect.catch(
      attempt,
      (error) => hasBegun && isInvalidCursor(error) ? listOnce(logical, kind, constVoid) : Effect.fail(error)
    )
  })

const listOnce = <Item>(
  logical: Logical,
  kind: Kind<Item>,
  begun: () => void
): Effect.Effect<ReadonlyArray<Item>, Error> => {
  const items: Array<Item> = []
  const pages = pager(logical, (cursor) => listPage(logical, kind, cursor))
  const loop: Effect.Effect<ReadonlyArray<Item>, Error> = Effect.flatMap(pages, (page) => {
    if (page === undefined) return Effect.succeed(items)
    begun()
    for (const item of page.items) items.push(item)
    return loop
  })
  return loop
}

/** All items, a page at a time as they are taken. */
export const streamAll = <Item>(logical: Logical, kind: Kind<Item>): Stream.Stream<Item, Error> => {
  const pages = pager(logical, (cursor) => listPage(logical, kind, cursor))
  return Stream.paginate(
    undefined,
    () => Effect.map(pages, (page) => [page?.items ?? [], page === undefined ? Option.none() : Option.some(undefined)])
  )
}

const withoutInvalidHeaders = <Item>({ core }: Logical, page: Page<Item>): Effect.Effect<Page<Item>> => {
  const kept: Array<Item> = []
  const warnings: Array<Effect.Effect<void>> = []
  for (const item of page.items) {
    const { inputSchema, name } = item as unknown as Listed["tools"]
    const plan = HttpRules.plan(inputSchema as Json.Object)
    if (Result.isSuccess(plan)) kept.push(item)
    else {
      const { path, reason } = plan.failure
      warnings.push(
        warn(core.label, "A tool is left out: its header annotations are not valid", { tool: name, path, reason })
      )
    }
  }
  return warnings.length === 0
    ? Effect.succeed(page)
    : Effect.as(Effect.all(warnings, { discard: true }), { ...page, items: kept })
}
