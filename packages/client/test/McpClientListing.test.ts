/** Listings: all pages, their limits, and tools that are left out. */
import { assert, describe, expect, it } from "@effect/vitest"
import type * as McpClient from "@fairlead/client/McpClient"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import * as Json from "@fairlead/protocol/Json"
import * as Tool from "@fairlead/protocol/Tool"
import type { Outgoing } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
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

  describe("a cursor that the server refuses half-way", () => {
    /** Gives out new cursors so often, and refuses those of before. */
    const shifting = (shifts: number) => {
      let generation = 0
      return scripted((request) => {
        const cursor = cursorOf(request)
        request.sent()
        if (cursor === undefined) {
          return Effect.succeed(success(request, { tools: [tool(`a${generation}`)], nextCursor: `g${generation}` }))
        }
        if (generation < shifts) generation++
        const isKnown = cursor === `g${generation}`
        return isKnown
          ? Effect.succeed(success(request, { tools: [tool(`b${generation}`)] }))
          : Effect.succeed({
            response: { _tag: "Failure", id: request.id, error: { code: -32602, message: "No such cursor" } }
          })
      })
    }

    it.effect(
      verifies("CACHE-7@client")("has the list read once more, with nothing of before"),
      () =>
        Effect.gen(function*() {
          const { client, requests } = yield* shifting(1)
          expect(yield* names(client)).toEqual(["a1", "b1"])
          expect(requests.map(cursorOf)).toEqual([undefined, "g0", undefined, "g1"])
        })
    )

    it.effect("again is the end of it", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* shifting(2)
        expect(yield* Effect.flip(client.listTools)).toMatchObject({ code: "rpc_error.-32602" })
        expect(requests.length).toBe(4)
      }))

    it.effect("by hand is the caller's, as is a first page that is refused", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* shifting(1)
        expect(yield* Effect.flip(client.listPage("tools", "bogus"))).toMatchObject({ code: "rpc_error.-32602" })
        expect(requests.length).toBe(1)
        const refusing = yield* scripted((request) =>
          Effect.succeed({ response: { _tag: "Failure", id: request.id, error: { code: -32602, message: "No" } } })
        )
        expect(yield* Effect.flip(refusing.client.listTools)).toMatchObject({ code: "rpc_error.-32602" })
        expect(refusing.requests.length).toBe(1)
      }))
  })

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

describe("arguments that no header can repeat", () => {
  const inputSchema = {
    type: "object",
    properties: { at: { type: "object", properties: { n: { type: "integer", "x-mcp-header": "N" } } } }
  }
  const Numbered = Tool.make("numbered", {
    input: Schema.Struct({
      at: Schema.Struct({ n: Schema.Finite.pipe(Schema.check(Schema.isInt())).pipe(Tool.header("N")) })
    })
  })
  const call = (client: McpClient.Client, n: Json.Value) =>
    client.callDiscovered({ name: "numbered", inputSchema }, { at: { n } })

  it.effect.each<readonly [Json.Value]>([[2 ** 53], [new Json.ExactNumber("9007199254740993")], [1.5], [[1]]])(
    verifies("HDR-14", "HDR-15")("are refused before they are sent, where there are headers: %j"),
    ([n]) =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({ content: [] })), { hasHeaders: true })
        const error = yield* Effect.flip(call(client, n))
        assert(error._tag === "McpClientError" && error.reason._tag === "InvalidArguments")
        expect(error.reason.detail).toBe("arguments.at.n: no header can repeat it")
        expect(requests).toEqual([])
        expect((yield* call(client, 2 ** 53 - 1))._tag).toBe("Succeeded")
        expect((yield* call(client, null))._tag).toBe("Succeeded")
        expect(requests.map(({ headers }) => headers.filter(([name]) => name === "mcp-param-n"))).toEqual([
          [["mcp-param-n", "9007199254740991"]],
          []
        ])
        const piped = yield* scripted(results(() => ({ content: [] })))
        expect((yield* call(piped.client, n))._tag).toBe("Succeeded")
      })
  )

  it.effect("are so by a definition too", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => ({ content: [] })), { hasHeaders: true })
      expect(yield* Effect.flip(client.call(Numbered, { at: { n: 2 ** 60 } }))).toMatchObject({
        code: "invalid_arguments"
      })
      expect(requests).toEqual([])
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
