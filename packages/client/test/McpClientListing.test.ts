/** Listings: all pages, their limits, and tools that are left out. */
import { assert, describe, expect, it } from "@effect/vitest"
import type * as McpClient from "@fairlead/client/McpClient"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import type { Outgoing } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import { TestClock } from "effect/testing"
import { metaOf, results, scripted, success } from "./support/transport.ts"

const tool = (name: string, inputSchema: Json.Object = { type: "object" }): Json.Object => ({ name, inputSchema })

const cursorOf = (request: Outgoing): Json.Value | undefined => request.params["cursor"]

/** Answers by cursor; the first page has none. */
const paged = (pages: { readonly [cursor: string]: Json.Object }) =>
  results((request) => {
    const cursor = cursorOf(request)
    return pages[cursor === undefined ? "first" : `cursor ${String(cursor)}`]!
  })

const names = (client: McpClient.Client) => Effect.map(client.listTools, (tools) => tools.map(({ name }) => name))

describe("pages", () => {
  it.effect(
    verifies(
      "PAGE-2",
      "client/list_tools",
      "snodo/promise/follow_cursor",
      "client/promise/correlation_one_per_logical_call",
      "client/promise/runtime_tools"
    )("are followed to the end, the empty string is a cursor, one correlation for all"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(paged({
          first: { tools: [tool("a")], nextCursor: "" },
          "cursor ": { tools: [], nextCursor: "p3" },
          "cursor p3": { tools: [tool("b"), tool("with/slash")], nextCursor: null }
        }))
        expect(yield* names(client)).toEqual(["a", "b", "with/slash"])
        expect(requests.map(cursorOf)).toEqual([undefined, "", "p3"])
        expect(new Set(requests.map((request) => metaOf(request)[Call.metaKeys.correlation])).size).toBe(1)
        expect(new Set(requests.map((request) => request.id)).size).toBe(3)
      })
  )

  it.effect("a listed tool is what the server wrote", () =>
    Effect.gen(function*() {
      const listed = {
        name: "a",
        title: "A",
        inputSchema: { type: "object", $defs: { x: { $ref: "https://example.test/never-fetched.json" } } },
        outputSchema: { type: "array" },
        annotations: { readOnlyHint: true, future: 1 },
        icons: [{ src: "https://example.test/a.png" }],
        future: { kept: true },
        _meta: { "com.example/a": 1 }
      }
      const { client } = yield* scripted(results(() => ({ tools: [listed] })))
      expect(yield* client.listTools).toEqual([listed])
    }))

  it.effect.each<readonly [string, { readonly [cursor: string]: Json.Object }, number]>([
    ["the one just sent", { first: { tools: [], nextCursor: "a" }, "cursor a": { tools: [], nextCursor: "a" } }, 2],
    [
      "an earlier one",
      {
        first: { tools: [], nextCursor: "a" },
        "cursor a": { tools: [], nextCursor: "b" },
        "cursor b": { tools: [], nextCursor: "a" }
      },
      3
    ],
    ["an empty one", { first: { tools: [], nextCursor: "" }, "cursor ": { tools: [], nextCursor: "" } }, 2]
  ])(
    verifies("snodo/promise/repeated_cursor")("a cursor that comes again ends the listing: %s"),
    ([_name, pages, sent]) =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(paged(pages))
        const error = yield* Effect.flip(client.listTools)
        assert(error.reason._tag === "MalformedResponse")
        expect(error.reason.detail).toContain("cursor")
        expect(requests.length).toBe(sent)
      })
  )

  const endless = results((request) => ({ tools: [tool("a")], nextCursor: String(Number(cursorOf(request) ?? 0) + 1) }))

  it.effect(
    verifies("snodo/default/max_pages", "client/default/listing_pages", "client/reason/listing_limit_exceeded")(
      "256 pages, then the limit; nothing more is sent"
    ),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(endless)
        const error = yield* Effect.flip(client.listTools)
        assert(error.reason._tag === "ListingLimitExceeded")
        expect({ ...error.reason }).toMatchObject({ what: "pages", limit: 256 })
        expect(error.evidence).toBe("Completed")
        expect(error.correlation).toBe(metaOf(requests[0]!)[Call.metaKeys.correlation])
        expect(requests.length).toBe(256)
      })
  )

  it.effect(
    verifies("client/with_listing_limits", "snodo/option/max_pages")("exactly as many pages as allowed pass"),
    () =>
      Effect.gen(function*() {
        const pages = {
          first: { tools: [tool("a")], nextCursor: "x" },
          "cursor x": { tools: [tool("b")] }
        }
        const two = yield* scripted(paged(pages), { maxPages: 2 })
        expect(yield* names(two.client)).toEqual(["a", "b"])
        const one = yield* scripted(paged(pages), { maxPages: 1 })
        const error = yield* Effect.flip(one.client.listTools)
        assert(error.reason._tag === "ListingLimitExceeded")
        expect(one.requests.length).toBe(1)
      })
  )

  it.effect(
    verifies("client/default/listing_items")("10,000 items pass, one more does not"),
    () =>
      Effect.gen(function*() {
        let count = 10_000
        const { client } = yield* scripted(
          results(() => ({ tools: Array.from({ length: count }, (_, i) => tool(`t${i}`)) }))
        )
        expect((yield* client.listTools).length).toBe(10_000)
        count = 10_001
        const error = yield* Effect.flip(client.listTools)
        assert(error.reason._tag === "ListingLimitExceeded")
        expect(error.reason.what).toBe("items")
        expect(error.reason.limit).toBe(10_000)
      })
  )

  it.effect("each page has the timeout of a request; the deadline bounds them all", () =>
    Effect.gen(function*() {
      const slow = (request: Outgoing) =>
        Effect.as(
          Effect.sleep("20 seconds"),
          success(request, { tools: [], nextCursor: String(Number(cursorOf(request) ?? 0) + 1) })
        )
      const { client, requests } = yield* scripted(slow, { maxPages: 4 })
      const fiber = yield* Effect.forkChild(Effect.flip(client.listTools))
      for (let i = 0; i < 4; i++) yield* TestClock.adjust("20 seconds")
      expect((yield* Fiber.join(fiber)).code).toBe("listing_limit_exceeded")
      expect(requests.length).toBe(4)
      const bounded = yield* Effect.forkChild(Effect.flip(client.listTools.pipe(Call.withDeadline("30 seconds"))))
      yield* TestClock.adjust("20 seconds")
      yield* TestClock.adjust("10 seconds")
      const error = yield* Fiber.join(bounded)
      assert(error.reason._tag === "TimedOut")
      expect(error.reason.bound).toBe("deadline")
      expect(error.reason.millis).toBe(30_000)
    }))

  it.effect.each<readonly [string, Json.Object]>([
    ["no tools", {}],
    ["tools that are no array", { tools: {} }],
    ["a tool without a name", { tools: [{ inputSchema: {} }] }],
    ["a tool without a schema", { tools: [{ name: "a" }] }],
    ["a schema that is no object", { tools: [{ name: "a", inputSchema: true }] }],
    ["a cursor that is no text", { tools: [], nextCursor: 1 }],
    ["input required", { resultType: "input_required", requestState: "x" }]
  ])("an answer with %s breaks the protocol", ([_name, result]) =>
    Effect.gen(function*() {
      const { client } = yield* scripted(results(() => result))
      expect((yield* Effect.flip(client.listTools)).reason._tag).toBe("MalformedResponse")
    }))
})

describe("tools with header annotations", () => {
  const annotated = (properties: Json.Object, more: Json.Object = {}) => ({ type: "object", properties, ...more })
  const bad: ReadonlyArray<readonly [string, Json.Object]> = [
    ["empty", annotated({ a: { type: "string", "x-mcp-header": "" } })],
    ["an object", annotated({ a: { type: "object", "x-mcp-header": "A" } })],
    ["an array", annotated({ a: { type: "array", "x-mcp-header": "A" } })],
    ["null", annotated({ a: { type: "null", "x-mcp-header": "A" } })],
    ["a number", annotated({ a: { type: "number", "x-mcp-header": "A" } })],
    ["twice", annotated({ a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } })],
    ["a space", annotated({ a: { type: "string", "x-mcp-header": "A B" } })],
    ["a colon", annotated({ a: { type: "string", "x-mcp-header": "A:B" } })],
    ["not ASCII", annotated({ a: { type: "string", "x-mcp-header": "Ä" } })],
    ["a tab", annotated({ a: { type: "string", "x-mcp-header": "A\tB" } })],
    ["out of reach", annotated({}, { anyOf: [annotated({ a: { type: "string", "x-mcp-header": "A" } })] })]
  ]

  it.effect(
    verifies("snodo/promise/invalid_annotation_left_out", "HDR-12", "HDR-13", "client/with_label")(
      "are left out over transports with headers, and logged"
    ),
    () =>
      Effect.gen(function*() {
        const messages: Array<unknown> = []
        const logger = Logger.make(({ logLevel, message }) => {
          messages.push([logLevel, message])
        })
        const tools = [
          tool("good", annotated({ a: { type: "string", "x-mcp-header": "A" } })),
          ...bad.map(([name, schema]) => tool(name, schema)),
          tool("plain")
        ]
        const { client } = yield* scripted(results(() => ({ tools })), { hasHeaders: true, label: "docs" })
        const listed = yield* names(client).pipe(Effect.provide(Logger.layer([logger])))
        expect(listed).toEqual(["good", "plain"])
        expect(messages.length).toBe(bad.length)
        for (const [i, [name]] of bad.entries()) {
          expect(messages[i]).toEqual([
            "Warn",
            [expect.stringContaining("left out"), {
              client: "docs",
              tool: name,
              path: expect.any(String),
              reason: expect.any(String)
            }]
          ])
        }
      })
  )

  it.effect(verifies("STDIO-11")("are kept over transports without headers"), () =>
    Effect.gen(function*() {
      const { client } = yield* scripted(results(() => ({ tools: bad.map(([name, schema]) => tool(name, schema)) })))
      expect(yield* names(client)).toEqual(bad.map(([name]) => name))
    }))
})
