/** Lists, reads, prompts, completions and raw requests: what is sent, and what of the answers is kept. */
import { assert, describe, expect, expectTypeOf, it } from "@effect/vitest"
import type * as CallEnding from "@fairlead/client/CallEnding"
import type * as McpClient from "@fairlead/client/McpClient"
import type * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import * as Json from "@fairlead/protocol/Json"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Resource from "@fairlead/protocol/Resource"
import * as Revision from "@fairlead/protocol/Revision"
import type { Outgoing } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { failures, metaOf, results, scripted, silent, success } from "./support/transport.ts"

const Page = Resource.template("book://{title}/pages/{page}{?since}", {
  name: "page",
  params: Schema.Struct({ title: Schema.String, page: Schema.Int, since: Schema.optionalKey(Schema.String) })
})
const Manual = Resource.make("docs://manual", { name: "manual" })
const Review = Prompt.make("review", {
  args: Schema.Struct({ change: Schema.Int, depth: Schema.optionalKey(Schema.Literals(["quick", "thorough"])) })
})
const Hello = Prompt.make("hello")

const sent = (request: Outgoing): Json.Object => {
  const { _meta: _, ...params } = request.params
  return params
}

describe("lists", () => {
  const items = (request: Outgoing): Json.Object => {
    switch (request.method) {
      case "tools/list":
        return { tools: [{ name: "a", inputSchema: { type: "object" } }] }
      case "resources/list":
        return { resources: [{ uri: "docs://a", name: "a", future: 1 }] }
      case "resources/templates/list":
        return { resourceTemplates: [{ uriTemplate: "docs://{a}", name: "a" }] }
      default:
        return { prompts: [{ name: "a", arguments: [{ name: "b", required: true }] }] }
    }
  }

  it.effect(
    verifies(
      "client/list_resources",
      "client/list_resource_templates",
      "client/list_prompts",
      "snodo/list_resources",
      "snodo/list_resource_templates",
      "snodo/list_prompts",
      "snodo/list_tools",
      "PROMPT-6"
    )("of every kind give what the server wrote"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(items))
        expect(yield* client.listResources).toEqual([{ uri: "docs://a", name: "a", future: 1 }])
        expect(yield* client.listResourceTemplates).toEqual([{ uriTemplate: "docs://{a}", name: "a" }])
        expect(yield* client.listPrompts).toEqual([{ name: "a", arguments: [{ name: "b", required: true }] }])
        expect(requests.map(({ method }) => method)).toEqual([
          "resources/list",
          "resources/templates/list",
          "prompts/list"
        ])
      })
  )

  const two = results((request) =>
    request.params["cursor"] === undefined
      ? { prompts: [{ name: "a" }], nextCursor: "", ttlMs: 5, cacheScope: "public", future: true }
      : { prompts: [{ name: "b" }] }
  )

  it.effect(
    verifies(
      "snodo/list_page",
      "snodo/type/page",
      "snodo/page/items",
      "snodo/page/next_cursor",
      "snodo/page/result",
      "PAGE-2",
      "STATE-5@client"
    )("are paged by hand, with the whole result"),
    () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(two)
        const first = yield* client.listPage("prompts")
        expect(first.items).toEqual([{ name: "a" }])
        expect(first.nextCursor).toEqual(Option.some(""))
        expect(first.result).toMatchObject({ ttlMs: 5, cacheScope: "public", future: true })
        const second = yield* client.listPage("prompts", Option.getOrThrow(first.nextCursor))
        expect(second.items).toEqual([{ name: "b" }])
        expect(second.nextCursor).toEqual(Option.none())
      })
  )

  it.effect("are streams that ask for a page when it is needed, each time anew", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(two)
      const stream = client.listStream("prompts")
      expect(yield* Stream.runCollect(Stream.take(stream, 1))).toEqual([{ name: "a" }])
      expect(requests.length).toBe(1)
      expect(yield* Stream.runCollect(stream)).toEqual([{ name: "a" }, { name: "b" }])
      expect(yield* Stream.runCollect(stream)).toEqual([{ name: "a" }, { name: "b" }])
      const correlations = requests.slice(1).map((request) => metaOf(request)[Call.metaKeys.correlation])
      expect(new Set(correlations).size).toBe(2)
    }))

  it.effect("a stream of an endless list ends at the limit", () =>
    Effect.gen(function*() {
      let n = 0
      const { client, requests } = yield* scripted(
        results(() => ({ prompts: [{ name: "a" }], nextCursor: String(++n) })),
        { maxPages: 3 }
      )
      const seen: Array<unknown> = []
      const error = yield* Effect.flip(
        Stream.runForEach(client.listStream("prompts"), (prompt) => Effect.sync(() => seen.push(prompt)))
      )
      expect([error.code, seen.length, requests.length]).toEqual(["listing_limit_exceeded", 3, 3])
    }))

  it.effect(
    verifies("client/list_raw")("of any method are given as exact JSON"),
    () =>
      Effect.gen(function*() {
        const { success: exact } = Json.parse(`{"n":12345678901234567890.50}`) as Result.Success<Json.Object, never>
        const { client, requests } = yield* scripted(results((request) =>
          request.params["cursor"] === undefined ? { things: [exact, null], nextCursor: "x" } : { things: [1] }
        ))
        const things = yield* client.listRaw("com.example/things", "things")
        expect(Json.stringify(things)).toBe(`[{"n":12345678901234567890.50},null,1]`)
        expect(requests.map(({ method }) =>
          method
        )).toEqual(["com.example/things", "com.example/things"])
        const error = yield* Effect.flip(client.listRaw("com.example/things", "others"))
        expect(error.code).toBe("malformed_response")
      })
  )

  it.effect.each(["", "a b", "subscriptions/listen", "tools/call"])(
    "of the method %j are refused",
    (method) =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({ items: [] })))
        const error = yield* Effect.flip(client.listRaw(method, "items"))
        expect([error.code, requests.length]).toEqual(["invalid_arguments", 0])
      })
  )

  it.effect("a page whose items break their schema is malformed, and says where", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted(results(() => ({ resources: [{ uri: 5, name: "a" }] })))
      const error = yield* Effect.flip(client.listResources)
      assert(error.reason._tag === "MalformedResponse")
      expect(error.reason.detail).toContain("resources[0].uri")
    }))
})

describe("reads", () => {
  const contents = results((request) => ({
    contents: [
      { uri: request.params["uri"]!, text: "a" },
      { uri: request.params["uri"]!, blob: "AQID", mimeType: "image/png" }
    ],
    ttlMs: 5,
    cacheScope: "private",
    _meta: { "com.example/a": 1 }
  }))

  it.effect(
    verifies("client/read_resource", "snodo/read_resource", "HDR-5")(
      "by URI, by definition and by template send the URI, and give contents with their bytes"
    ),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(contents)
        const read = yield* client.readResource("docs://a")
        expect(read.contents).toEqual([
          { uri: "docs://a", text: "a" },
          { uri: "docs://a", blob: new Uint8Array([1, 2, 3]), mimeType: "image/png" }
        ])
        expect(read).toMatchObject({ ttlMs: 5, cacheScope: "private", _meta: { "com.example/a": 1 } })
        yield* client.readResource(Manual)
        yield* client.readResource(Page, { title: "a/b c", page: 3 })
        yield* client.readResource(Page, { title: "x", page: 3, since: "é" })
        expect(requests.map(sent)).toEqual([
          { uri: "docs://a" },
          { uri: "docs://manual" },
          { uri: "book://a%2Fb%20c/pages/3" },
          { uri: "book://x/pages/3?since=%C3%A9" }
        ])
        expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(["resources/read"]))
      })
  )

  it.effect("parameters that cannot be encoded are refused before anything is sent", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(contents)
      const error = yield* Effect.flip(client.readResource(Page, { title: "x", page: 1.5 }))
      assert(error._tag === "McpClientError" && error.reason._tag === "InvalidArguments")
      expect(error.reason.detail).toContain("params.page")
      expect(requests).toEqual([])
    }))

  it.effect("contents that are none are malformed", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted(results(() => ({ contents: [{ uri: "a:b", blob: "%%" }] })))
      const error = yield* Effect.flip(client.readResource("a:b"))
      assert(error._tag === "McpClientError")
      expect(error.code).toBe("malformed_response")
      expect(error.message).not.toContain("%%")
    }))
})

describe("prompts", () => {
  const rendered = results(() => ({
    description: "d",
    messages: [{ role: "user", content: { type: "text", text: "hi" } }]
  }))

  it.effect(
    verifies("client/get_prompt", "snodo/get_prompt", "PROMPT-3@client")(
      "by name take texts, by definition what they stand for"
    ),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(rendered)
        const prompt = yield* client.getPrompt("review", { change: "5" })
        expect(prompt.messages).toEqual([{ role: "user", content: { type: "text", text: "hi" } }])
        expect(prompt.description).toBe("d")
        yield* client.getPrompt(Review, { change: 5, depth: "quick" })
        yield* client.getPrompt("hello")
        yield* client.getPrompt(Hello)
        expect(requests.map(sent)).toEqual([
          { name: "review", arguments: { change: "5" } },
          { name: "review", arguments: { change: "5", depth: "quick" } },
          { name: "hello" },
          { name: "hello" }
        ])
      })
  )

  it.effect("arguments that cannot be encoded are refused before anything is sent", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(rendered)
      const typed = yield* Effect.flip(client.getPrompt(Review, { change: 1.5 }))
      const named = yield* Effect.flip(client.getPrompt("review", { change: 5 as unknown as string }))
      for (const error of [typed, named]) {
        assert(error._tag === "McpClientError")
        expect(error.code).toBe("invalid_arguments")
      }
      expect(requests).toEqual([])
    }))

  it("state their arguments and their failures", () => {
    const types = (client: McpClient.Client) => {
      // @ts-expect-error the argument is missing
      client.getPrompt(Review)
      // @ts-expect-error the argument has another type
      client.getPrompt(Review, { change: "5" })
      // @ts-expect-error the parameter is missing
      client.readResource(Page)
      // @ts-expect-error the argument is none of the prompt's
      client.complete(Review, { argument: "other", value: "" })
      return [client.getPrompt(Review, { change: 5 }), client.complete(Page, { argument: "title", value: "" })] as const
    }
    expectTypeOf<ReturnType<typeof types>[0]>().toEqualTypeOf<
      Effect.Effect<
        McpClient.PromptResult,
        McpClientError.McpClientError | CallEnding.InputRequired<McpClient.PromptResult>
      >
    >()
  })
})

describe("completions", () => {
  it.effect(
    verifies("client/complete", "COMP-2")(
      "of prompts and templates name what is completed, with what is known already"
    ),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({
          completion: { values: ["quick"], total: 7, hasMore: true }
        })))
        expect(yield* client.complete(Review, { argument: "depth", value: "q", context: { change: "5" } })).toEqual({
          values: ["quick"],
          total: 7,
          hasMore: true
        })
        yield* client.complete(Page, { argument: "title", value: "" })
        yield* client.complete({ type: "ref/prompt", name: "other" }, { argument: "x", value: "y" })
        expect(requests.map(sent)).toEqual([
          {
            ref: { type: "ref/prompt", name: "review" },
            argument: { name: "depth", value: "q" },
            context: { arguments: { change: "5" } }
          },
          {
            ref: { type: "ref/resource", uri: "book://{title}/pages/{page}{?since}" },
            argument: { name: "title", value: "" }
          },
          { ref: { type: "ref/prompt", name: "other" }, argument: { name: "x", value: "y" } }
        ])
      })
  )
})

describe("raw requests", () => {
  it.effect(
    verifies("client/call_raw", "snodo/request", "snodo/outcome/ok")(
      "of any method give the result as it came, a tool's failure and a request for input too"
    ),
    () =>
      Effect.gen(function*() {
        const answers: ReadonlyArray<Json.Object> = [
          { anything: [1, null] },
          { isError: true, content: [] },
          { resultType: "input_required", requestState: "s" }
        ]
        let n = 0
        const { client, requests } = yield* scripted(results(() => answers[n++]!))
        expect(yield* client.callRaw("com.example/do", undefined, { a: 1 })).toEqual(answers[0])
        expect(yield* client.callRaw("tools/call", "search", { arguments: { a: 1 } })).toEqual(answers[1])
        expect(yield* client.callRaw("resources/read", "docs://a")).toEqual(answers[2])
        expect(requests.map(sent)).toEqual([
          { a: 1 },
          { name: "search", arguments: { a: 1 } },
          { uri: "docs://a" }
        ])
        expect(metaOf(requests[0]!)[Revision.meta.protocolVersion]).toBe(Revision.latest.version)
      })
  )

  it.effect.each<readonly [string, string, string | undefined, Json.Object]>([
    ["a call without its name", "tools/call", undefined, { name: "a" }],
    ["a prompt without its name", "prompts/get", undefined, {}],
    ["a read without its URI", "resources/read", undefined, { uri: "a:b" }],
    ["a name where the method has none", "tools/list", "a", {}],
    ["a name of a method that is not known", "com.example/do", "a", {}],
    ["two names", "tools/call", "a", { name: "b" }],
    ["a stream", "subscriptions/listen", undefined, { notifications: {} }],
    ["metadata", "tools/list", undefined, { _meta: {} }],
    ["an empty method", "", undefined, {}],
    ["a method with a line break", "a\r\nb", undefined, {}],
    ["a method that no header can hold", "méthode", undefined, {}],
    ["a method with a space around it", " a", undefined, {}]
  ])(
    verifies(
      "client/promise/call_raw_name",
      "snodo/promise/listen_refused_in_request",
      "client/reason/invalid_arguments"
    )(
      "%s is refused, and nothing is sent"
    ),
    ([_case, method, name, params]) =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({})))
        const error = yield* Effect.flip(client.callRaw(method, name, params))
        expect([error.code, error.evidence]).toEqual(["invalid_arguments", "NotSent"])
        expect(requests).toEqual([])
      })
  )

  it.effect(
    verifies("snodo/outcome/error", "snodo/error/rpc")("fail like every call"),
    () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(failures({ code: -32601, message: "no", data: { a: 1 } }))
        const error = yield* Effect.flip(client.callRaw("com.example/do", undefined))
        assert(error.reason._tag === "RpcError")
        expect({ ...error.reason }).toMatchObject({ code: -32601, text: "no", data: { a: 1 } })
      })
  )
})

describe("tools known at run time", () => {
  const discovered = (result: Json.Object) =>
    Effect.flatMap(scripted(results(() => result)), ({ client }) => client.callDiscovered("a", {}))

  it.effect(
    verifies("client/call_discovered", "client/promise/discovered_presence", "client/promise/discovered_keeps_content")(
      "tell absent, null and other structured output apart, and keep the content"
    ),
    () =>
      Effect.gen(function*() {
        const content: ReadonlyArray<Json.Value> = [{ type: "text", text: "t" }]
        for (
          const [result, output] of [
            [{ content }, Option.none()],
            [{ content, structuredContent: null }, Option.some(null)],
            [{ content, structuredContent: [1] }, Option.some([1])]
          ] as const
        ) {
          const succeeded = yield* discovered(result)
          assert(succeeded._tag === "Succeeded")
          expect([succeeded.output, succeeded.content]).toEqual([output, content])
          const failed = yield* discovered({ ...result, isError: true })
          assert(failed._tag === "ToolFailed")
          expect([failed.structured, failed.content]).toEqual([output, content])
        }
      })
  )

  it.effect(
    verifies("snodo/call_tool")("are called with the arguments as they are, by name or declaration"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({ content: [] })))
        yield* client.callDiscovered("a", { x: null })
        yield* client.callDiscovered({ name: "b", inputSchema: { type: "object" } }, { x: [1] })
        expect(requests.map(sent)).toEqual([
          { name: "a", arguments: { x: null } },
          { name: "b", arguments: { x: [1] } }
        ])
        const wrong = yield* Effect.flip(client.callDiscovered("a", [] as unknown as Json.Object))
        expect(wrong.code).toBe("invalid_arguments")
      })
  )

  const schema: Json.Object = {
    type: "object",
    properties: { region: { type: "string", "x-mcp-header": "Region" } }
  }

  /** Asks for the header of the argument, and lists the tool on its second page. */
  const strict = (listing: (page: number) => Json.Object | "fails") => {
    let page = 0
    return scripted(
      (request) =>
        Effect.sync(() => {
          request.sent()
          if (request.method === "tools/list") {
            const listed = listing(++page)
            return listed === "fails"
              ? { response: { _tag: "Failure", id: request.id, error: { code: -32603, message: "x" } } }
              : success(request, listed)
          }
          return request.headers.some(([name]) => name === "mcp-param-region")
            ? success(request, { content: [] })
            : { response: { _tag: "Failure", id: request.id, error: { code: -32020, message: "header" } }, status: 400 }
        }),
      { hasHeaders: true }
    )
  }

  const pages = (page: number): Json.Object =>
    page === 1
      ? { tools: [{ name: "b", inputSchema: {} }], nextCursor: "2" }
      : { tools: [{ name: "a", inputSchema: schema }] }

  it.effect(
    verifies("snodo/promise/param_headers_self_heal", "HDR-19", "HDR-18")(
      "that miss the header of an argument are looked up and called once more"
    ),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* strict(pages)
        const ending = yield* client.callDiscovered("a", { region: "eu" })
        expect(ending._tag).toBe("Succeeded")
        expect(requests.map(({ method }) => method)).toEqual(["tools/call", "tools/list", "tools/list", "tools/call"])
        expect(requests[3]!.headers).toContainEqual(["mcp-param-region", "eu"])
        expect(new Set(requests.map(({ id }) => id)).size).toBe(4)
        expect(new Set(requests.map((request) => metaOf(request)[Call.metaKeys.correlation])).size).toBe(1)
      })
  )

  it.effect(verifies("HDR-18")("are looked up within the bounds of the call"), () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(
        (request) =>
          Effect.gen(function*() {
            request.sent()
            if (request.method === "tools/list") return yield* Effect.never
            yield* Effect.sleep("20 seconds")
            return {
              response: { _tag: "Failure", id: request.id, error: { code: -32020, message: "header" } }
            } as const
          }),
        { hasHeaders: true }
      )
      const fiber = yield* Effect.forkChild(Effect.flip(client.callDiscovered("a", { region: "eu" })))
      yield* TestClock.adjust("20 seconds")
      expect(requests.map(({ method }) => method)).toEqual(["tools/call", "tools/list"])
      yield* TestClock.adjust("9999 millis")
      expect(fiber.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust(1)
      expect(yield* Fiber.join(fiber)).toMatchObject({ code: "timed_out.maybe_sent", reason: { millis: 30_000 } })
    }))

  it.effect(
    verifies("snodo/promise/param_headers_by_definition")("given as declarations have their headers at once"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* strict(pages)
        yield* client.callDiscovered({ name: "a", inputSchema: schema }, { region: "eu" })
        expect(requests.map(({ method }) => method)).toEqual(["tools/call"])
      })
  )

  it.effect.each<readonly [string, (page: number) => Json.Object | "fails", number]>([
    ["the listing fails", () => "fails", 2],
    ["the tool is not listed", () => ({ tools: [] }), 2],
    ["the tool has no such header", () => ({ tools: [{ name: "a", inputSchema: {} }] }), 2],
    ["its annotation is not valid", () => ({
      tools: [{ name: "a", inputSchema: { properties: { region: { type: "array", "x-mcp-header": "Region" } } } }]
    }), 2]
  ])("keep the first answer where %s", ([_case, listing, sends]) =>
    Effect.gen(function*() {
      const { client, requests } = yield* strict(listing)
      const error = yield* Effect.flip(client.callDiscovered("a", { region: "eu" }))
      expect([error.code, requests.length]).toEqual(["rpc_error.-32020", sends])
    }))
})

describe("close", () => {
  it.effect(
    verifies("client/close", "client/promise/close_dispatched", "client/promise/close_during_headers", "snodo/close")(
      "ends what is in flight at once, by how far it had come, and every later call"
    ),
    () =>
      Effect.gen(function*() {
        for (const [isSent, code] of [[true, "cancelled.maybe_sent"], [false, "cancelled.not_sent"]] as const) {
          const { answer, reached } = silent({ sent: isSent })
          const scriptedClient = yield* scripted(answer)
          const { client } = scriptedClient
          const fiber = yield* Effect.forkChild(Effect.flip(client.with({ correlation: "c" }).discover))
          yield* reached
          yield* client.close
          yield* client.close
          const error = yield* Fiber.join(fiber)
          expect(error.code).toBe(code)
          expect(scriptedClient.interrupted).toBe(1)
          expect((yield* Effect.flip(client.listTools)).code).toBe("cancelled.not_sent")
          expect(scriptedClient.requests.length).toBe(1)
        }
      })
  )
})
