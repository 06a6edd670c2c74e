import { assert, describe, expect, it } from "@effect/vitest"
import * as McpClient from "@fairlead/client/McpClient"
import type * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import { HttpStatus, Transport } from "@fairlead/protocol/Transport"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import manifest from "../package.json" with { type: "json" }
import { Greet, IndexUnavailable, Route, Search } from "./support/tools.ts"
import { failures, hits, metaOf, results, scripted, success } from "./support/transport.ts"

const key = Revision.meta

const failureOf = Effect.flip

describe("McpClient", () => {
  describe("what a request carries", () => {
    it.effect(
      verifies(
        "snodo/promise/revision_only",
        "snodo/option/protocol",
        "snodo/custom_transport/request",
        "snodo/custom_transport/connect",
        "META-6",
        "META-7",
        "META-12",
        "BASE-2",
        "BASE-4",
        "VER-1",
        "client/default/input_methods",
        "snodo/connect/custom",
        "TR-3"
      )(
        "version, capabilities and the client's name, on every request"
      ),
      () =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(results((request) =>
            request.method === "server/discover"
              ? { supportedVersions: [Revision.latest.version], capabilities: {} }
              : request.method === "tools/list"
              ? { tools: [] }
              : hits()
          ))
          yield* client.discover
          yield* client.listTools
          yield* client.call(Search, { query: "Layer" })
          expect(requests.map((request) => request.method)).toEqual(["server/discover", "tools/list", "tools/call"])
          for (const request of requests) {
            const meta = metaOf(request)
            expect(meta[key.protocolVersion]).toBe(Revision.latest.version)
            expect(meta[key.clientCapabilities]).toEqual({})
            expect(meta[key.clientInfo]).toEqual({ name: "fairlead", version: manifest.version })
            expect(meta).not.toHaveProperty(key.progressToken)
            expect(meta).not.toHaveProperty(Call.metaKeys.timeoutMillis)
            expect(meta).not.toHaveProperty(Call.metaKeys.idempotencyKey)
            const parsed = JSON.parse(request.text)
            expect(parsed).toEqual({ jsonrpc: "2.0", id: request.id, method: request.method, params: request.params })
            expect(request.text).not.toContain("\n")
          }
        })
    )

    it.effect(
      verifies("META-13", "META-15", "BASE-21", "snodo/option/client_info", "snodo/option/client_capabilities")(
        "name and capabilities are the client's options"
      ),
      () =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(results(() => hits()), {
            info: { name: "editor", version: "2.1", title: "Editor", extra: true },
            capabilities: { elicitation: { form: {} }, extensions: { "com.example/x": { level: 2 } } }
          })
          yield* client.call(Search, { query: "a" })
          expect(metaOf(requests[0]!)[key.clientInfo]).toEqual({
            name: "editor",
            version: "2.1",
            title: "Editor",
            extra: true
          })
          expect(metaOf(requests[0]!)[key.clientCapabilities]).toEqual({
            elicitation: { form: {} },
            extensions: { "com.example/x": { level: 2 } }
          })
        })
    )

    it.effect(
      verifies("BASE-4", "BASE-5", "snodo/promise/request_ids")("ids are fresh positive integers, also across clients"),
      () =>
        Effect.gen(function*() {
          const one = yield* scripted(results(() => hits()))
          const other = yield* scripted(results(() => hits()))
          yield* Effect.all(
            [one, other, one, other].map(({ client }) => client.call(Search, { query: "a" })),
            { concurrency: "unbounded" }
          )
          const ids = [...one.requests, ...other.requests].map((request) => request.id)
          expect(ids.every((id) => Number.isSafeInteger(id) && (id as number) > 0)).toBe(true)
          expect(new Set(ids).size).toBe(4)
        })
    )

    it.effect("the arguments are encoded by the tool's codec, and repeated in its headers", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({
          content: [],
          structuredContent: { at: "2020-01-02T00:00:00.000Z" }
        })))
        const output = yield* client.call(Route, { region: "eu-west", since: new Date(0) })
        expect(output.at).toEqual(new Date("2020-01-02"))
        expect(requests[0]!.params["name"]).toBe("route")
        expect(requests[0]!.params["arguments"]).toEqual({ region: "eu-west", since: "1970-01-01T00:00:00.000Z" })
        expect(requests[0]!.headers).toContainEqual(["mcp-param-region", "eu-west"])
      }))

    it.effect(
      verifies(
        "client/promise/correlation_in_meta",
        "client/promise/correlation_header",
        "client/promise/correlation_minted",
        "client/error_correlation",
        "TOOL-16@client"
      )("the correlation is the call's or minted, in both carriers, and in the error"),
      () =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(failures({ code: -32603, message: "no" }))
          const given = yield* failureOf(client.call(Search, { query: "a" }).pipe(Call.withCorrelation("order-42")))
          assert(given._tag === "McpClientError")
          expect(given.correlation).toBe("order-42")
          expect(metaOf(requests[0]!)[Call.metaKeys.correlation]).toBe("order-42")
          expect(requests[0]!.headers).toContainEqual([Call.correlationHeader, "order-42"])

          const minted = yield* failureOf(client.call(Search, { query: "a" }))
          assert(minted._tag === "McpClientError")
          expect(minted.correlation).toMatch(/^[0-9a-f]{32}$/)
          expect(metaOf(requests[1]!)[Call.metaKeys.correlation]).toBe(minted.correlation)
          expect(requests[1]!.headers).toContainEqual([Call.correlationHeader, minted.correlation])
        })
    )

    it.effect.each(["bestellung-zwölf", "", "a b", "x".repeat(129), "a\r\nb"])(
      verifies("client/promise/correlation_visible_ascii")("the correlation %j stays local"),
      (correlation) =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(failures({ code: -32603, message: "no" }))
          const error = yield* failureOf(client.call(Search, { query: "a" }).pipe(Call.withCorrelation(correlation)))
          assert(error._tag === "McpClientError")
          expect(error.correlation).toBe(correlation)
          expect(metaOf(requests[0]!)).not.toHaveProperty(Call.metaKeys.correlation)
          expect(requests[0]!.headers).toEqual([])
        })
    )

    it.effect(
      verifies("client/with_idempotency_key")("the idempotency key travels in the metadata"),
      () =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(results(() => hits()))
          yield* client.call(Search, { query: "a" }).pipe(Call.withIdempotencyKey("order-42"))
          expect(metaOf(requests[0]!)["io.github.gleam-dream/idempotency-key"]).toBe("order-42")
        })
    )

    it.effect.each(["", "a b", "ü", "x".repeat(129), "a\n"])(
      verifies("client/promise/idempotency_key_form")("the idempotency key %j is refused and nothing is sent"),
      (idempotencyKey) =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(results(() => hits()))
          const error = yield* failureOf(
            client.call(Search, { query: "a" }).pipe(Call.withIdempotencyKey(idempotencyKey))
          )
          assert(error._tag === "McpClientError" && error.reason._tag === "InvalidArguments")
          expect(error.evidence).toBe("NotSent")
          expect(requests).toEqual([])
        })
    )

    it.effect(
      verifies("META-5@client")("metadata of the caller's goes along, and never replaces what the protocol says"),
      () =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(results(() => hits()))
          yield* client.call(Search, { query: "a" }).pipe(
            Call.withMeta({ "com.example/tenant": { id: 7 }, plain: true, [Call.metaKeys.correlation]: "mine" }),
            Call.withCorrelation("order-42")
          )
          const meta = metaOf(requests[0]!)
          expect(meta["com.example/tenant"]).toEqual({ id: 7 })
          expect(meta["plain"]).toBe(true)
          expect(meta[Call.metaKeys.correlation]).toBe("order-42")
        })
    )

    it.effect.each<readonly [string, Json.Object]>([
      ["a reserved key", { [key.protocolVersion]: "1" }],
      ["another reserved prefix", { "dev.mcp/x": 1 }],
      ["a malformed trace parent", { traceparent: "00-" }],
      ["a trace state that is no text", { tracestate: 1 }],
      ["a malformed key", { "a b/c": 1 }],
      ["an empty key", { "": 1 }],
      ["a progress token that is none", { progressToken: 1.5 }],
      ["a null progress token", { progressToken: null }]
    ])(
      verifies("META-1", "META-3", "META-4", "META-5@client")("metadata with %s is refused and nothing is sent"),
      ([_name, meta]) =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(results(() => hits()))
          const error = yield* failureOf(client.call(Search, { query: "a" }).pipe(Call.withMeta(meta)))
          assert(error._tag === "McpClientError" && error.reason._tag === "InvalidArguments")
          expect(requests).toEqual([])
        })
    )

    it.effect(
      verifies("snodo/promise/progress_token_conflict", "snodo/request_option/meta")(
        "a progress token of the caller's travels alone, but not beside a handler"
      ),
      () =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(results(() => hits()))
          const withToken = client.call(Search, { query: "a" }).pipe(Call.withMeta({ progressToken: "mine" }))
          yield* withToken
          expect(metaOf(requests[0]!)["progressToken"]).toBe("mine")
          const error = yield* failureOf(withToken.pipe(Call.withProgress(() => Effect.void)))
          assert(error._tag === "McpClientError" && error.reason._tag === "InvalidArguments")
          expect(requests.length).toBe(1)
        })
    )

    it.effect("a tool that takes nothing is called without arguments, or with none", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({ content: [] })))
        const Tide = Tool.make("tide", { input: Schema.Struct({ at: Schema.optionalKey(Schema.String) }) })
        yield* client.call(Tide)
        yield* client.callResult(Tide, {})
        expect(requests.map(({ params }) => params["arguments"])).toEqual([{}, {}])
      }))

    it.effect("arguments that their schema does not encode name the path and not the value; nothing is sent", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => hits()))
        const error = yield* failureOf(client.call(Search, { query: "", limit: 1 }))
        assert(error._tag === "McpClientError" && error.reason._tag === "InvalidArguments")
        expect(error.message).toContain("arguments.query")
        const secret = yield* failureOf(client.call(Search, { query: "a", limit: "s3cret" as never }))
        expect(secret.message).toContain("arguments.limit")
        expect(secret.message).not.toContain("s3cret")
        expect(requests).toEqual([])
      }))
  })

  describe("how a call ends", () => {
    it.effect(
      verifies("client/call", "client/result/succeeded", "client/type/tool_result", "output/require")(
        "succeeded: the decoded output, its content and its metadata"
      ),
      () =>
        Effect.gen(function*() {
          const { client } = yield* scripted(results(() => ({ ...hits("a", "b"), _meta: { "com.example/took": 3 } })))
          expect(yield* client.call(Search, { query: "a" })).toEqual({ titles: ["a", "b"] })
          const ending = yield* client.callResult(Search, { query: "a" })
          assert(ending._tag === "Succeeded")
          expect(ending.output.titles).toEqual(["a", "b"])
          expect(ending.content).toEqual([{ type: "text", text: "{\"titles\":[\"a\",\"b\"]}" }])
          expect(ending.meta).toEqual({ "com.example/took": 3 })
        })
    )

    it.effect("a tool without output gives its content", () =>
      Effect.gen(function*() {
        const content = [
          { type: "text", text: "Hello" },
          { type: "image", data: "AQID", mimeType: "image/png", annotations: { audience: ["user"] } },
          { type: "resource_link", uri: "npm://effect/readme", name: "readme", future: 1 }
        ]
        const { client } = yield* scripted(results(() => ({ content })))
        const blocks = yield* client.call(Greet, { name: "Ada" })
        expect(blocks).toEqual([
          { type: "text", text: "Hello" },
          {
            type: "image",
            data: new Uint8Array([1, 2, 3]),
            mimeType: "image/png",
            annotations: { audience: ["user"] }
          },
          { type: "resource_link", uri: "npm://effect/readme", name: "readme", future: 1 }
        ])
      }))

    it.effect(
      verifies("client/result/tool_failed", "client/promise/tool_failure_is_no_error", "TOOL-12@client")(
        "failed: content and structured output are kept, also by call"
      ),
      () =>
        Effect.gen(function*() {
          const { client } = yield* scripted(results(() => ({
            isError: true,
            content: [{ type: "text", text: "first" }, { type: "text", text: "second" }],
            structuredContent: { why: 1 },
            _meta: { "com.example/x": 1 }
          })))
          const ending = yield* client.callResult(Search, { query: "a" })
          assert(ending._tag === "ToolFailed")
          expect(ending.text).toBe("first\nsecond")
          expect(ending.structured).toEqual(Option.some({ why: 1 }))
          expect(ending.failure).toEqual(Option.none())
          expect(ending.meta).toEqual({ "com.example/x": 1 })
          const error = yield* failureOf(client.call(Search, { query: "a" }))
          assert(error._tag === "ToolFailed")
          expect(error.structured).toEqual(Option.some({ why: 1 }))
          expect(error.message).not.toContain("first")
        })
    )

    it.effect("failed: absent and null structured output are told apart", () =>
      Effect.gen(function*() {
        let structured: Json.Object = {}
        const { client } = yield* scripted(results(() => ({ isError: true, content: [], ...structured })))
        const absent = yield* client.callResult(Search, { query: "a" })
        structured = { structuredContent: null }
        const explicit = yield* client.callResult(Search, { query: "a" })
        assert(absent._tag === "ToolFailed" && explicit._tag === "ToolFailed")
        expect(absent.structured).toEqual(Option.none())
        expect(explicit.structured).toEqual(Option.some(null))
      }))

    it.effect("failed as the tool says it can: the typed failure is the error of call", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(results(() => ({
          isError: true,
          content: [{ type: "text", text: "later" }],
          structuredContent: { _tag: "IndexUnavailable", retryAfterSeconds: 5 }
        })))
        const error = yield* failureOf(client.call(Search, { query: "a" }))
        assert(error._tag === "IndexUnavailable")
        expect(error).toBeInstanceOf(IndexUnavailable)
        expect(error.retryAfterSeconds).toBe(5)
        const ending = yield* client.callResult(Search, { query: "a" })
        assert(ending._tag === "ToolFailed")
        expect(Option.getOrThrow(ending.failure)).toBeInstanceOf(IndexUnavailable)
        expect(ending.text).toBe("later")
        const caught = yield* client.call(Search, { query: "a" }).pipe(
          Effect.catchTag("IndexUnavailable", ({ retryAfterSeconds }) => Effect.succeed(retryAfterSeconds))
        )
        expect(caught).toBe(5)
      }))

    it.effect(
      verifies("client/result/input_required")("input required: the requests and the state"),
      () =>
        Effect.gen(function*() {
          const requests = { confirm: { method: "elicitation/create", params: { message: "Sure?" } } }
          const { client } = yield* scripted(
            results(() => ({
              resultType: "input_required",
              inputRequests: requests,
              requestState: "opaque"
            })),
            { inputMethods: ["form"] }
          )
          const ending = yield* client.callResult(Search, { query: "a" })
          assert(ending._tag === "InputRequired")
          expect(ending.requests).toEqual(requests)
          expect(ending.requestState).toEqual(Option.some("opaque"))
          const error = yield* failureOf(client.call(Search, { query: "a" }))
          expect(error._tag).toBe("InputRequired")
        })
    )

    it.effect("input required with a state alone", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(results(() => ({ resultType: "input_required", requestState: "s" })))
        const ending = yield* client.callResult(Search, { query: "a" })
        assert(ending._tag === "InputRequired")
        expect(ending.requests).toEqual({})
      }))

    it.effect(
      verifies("BASE-10", "BASE-21", "GAP-2")("an absent result type is complete, members not known are ignored"),
      () =>
        Effect.gen(function*() {
          const { client } = yield* scripted(results(() => ({
            content: [],
            structuredContent: { titles: [], more: 1 },
            ttlMs: 5,
            "com.example": {}
          })))
          expect(yield* client.call(Search, { query: "a" })).toEqual({ titles: [] })
        })
    )

    it.effect(
      verifies("client/reason/rpc_error", "BASE-12@client", "BASE-13@client")(
        "an error of the server keeps code, text, data and status"
      ),
      () =>
        Effect.gen(function*() {
          const { client } = yield* scripted(
            failures({ code: -32004, message: "peer text", data: { a: 1 } }, { status: 429, retryAfter: "7" })
          )
          const error = yield* failureOf(client.call(Search, { query: "a" }))
          assert(error._tag === "McpClientError" && error.reason._tag === "RpcError")
          expect({ ...error.reason }).toEqual({
            _tag: "RpcError",
            code: -32004,
            text: "peer text",
            data: { a: 1 },
            status: 429,
            retryAfter: "7"
          })
          expect(error.evidence).toBe("Completed")
          expect(error.isRetryable({ idempotent: false })).toBe(true)
          expect(error.message).not.toContain("peer text")
        })
    )

    it.effect("a failure of the transport keeps its reason", () =>
      Effect.gen(function*() {
        const reason = new HttpStatus({ status: 503, retryAfter: "1" })
        const { client } = yield* scripted(() => Effect.fail(reason))
        const error = yield* failureOf(client.call(Search, { query: "a" }))
        assert(error._tag === "McpClientError")
        expect(error.reason).toBe(reason)
      }))

    it.effect("a defect of the transport is a defect of the call", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(() => Effect.die("broken"))
        const exit = yield* Effect.exit(client.call(Search, { query: "a" }))
        expect(exit).toEqual(Exit.die("broken"))
        const throwing = yield* scripted(() => {
          throw new Error("thrown")
        })
        const thrown = yield* Effect.exit(throwing.client.call(Search, { query: "a" }))
        assert(Exit.isFailure(thrown))
        expect(thrown.cause.reasons[0]!._tag).toBe("Die")
      }))
  })

  describe("answers that break the protocol", () => {
    const secret = "s3cret-value"
    const rows: ReadonlyArray<readonly [string, Json.Object]> = [
      ["a result type that is not known", { resultType: secret, content: [] }],
      ["a null result type", { resultType: null, content: [] }],
      ["a result type that is no text", { resultType: 1, content: [] }],
      ["no content", { structuredContent: { titles: [] } }],
      ["content that is no array", { content: secret }],
      ["a block that is no object", { content: [secret] }],
      ["a null block", { content: [null] }],
      ["a block of an unknown type", { content: [{ type: secret }] }],
      ["a text block without text", { content: [{ type: "text" }] }],
      ["an image that is not base64", { content: [{ type: "image", data: "!!" + secret, mimeType: "image/png" }] }],
      ["no structured output where the tool has one", { content: [] }],
      ["structured output of another form", { content: [], structuredContent: { titles: [secret, 5] } }],
      ["a null structured output", { content: [], structuredContent: null }],
      ["an `isError` that is no boolean", { ...hits(), isError: secret }],
      ["metadata that is no object", { ...hits(), _meta: secret }],
      ["input required without anything", { resultType: "input_required" }],
      ["input requests that are no object", { resultType: "input_required", inputRequests: [secret] }],
      ["an input request without a method", { resultType: "input_required", inputRequests: { a: { params: {} } } }],
      ["an input request that is no object", { resultType: "input_required", inputRequests: { a: secret } }],
      ["input parameters that are no object", {
        resultType: "input_required",
        inputRequests: { a: { method: "m", params: [] } }
      }],
      ["a state that is no text", { resultType: "input_required", requestState: 5 }]
    ]

    it.effect.each(rows)(
      verifies("BASE-8@client", "BASE-9", "client/reason/malformed_response", "TOOL-7@client", "TOOL-16@client")("%s"),
      ([_name, result]) =>
        Effect.gen(function*() {
          const { client } = yield* scripted(results(() => result))
          const error = yield* failureOf(client.callResult(Search, { query: "a" }))
          assert(error.reason._tag === "MalformedResponse")
          expect(error.evidence).toBe("MaybeSent")
          expect(error.message).not.toContain(secret)
          expect(error.message.length).toBeLessThan(200)
        })
    )

    it.effect("the path is named, but not a key that is data", () =>
      Effect.gen(function*() {
        const Counts = Tool.make("counts", {
          output: Schema.Struct({ hits: Schema.Array(Schema.Record(Schema.String, Schema.Finite)) })
        })
        const { client } = yield* scripted(results(() => ({
          content: [],
          structuredContent: { hits: [{}, { "a secret key!": "x" }] }
        })))
        const error = yield* failureOf(client.call(Counts, {}))
        assert(error._tag === "McpClientError" && error.reason._tag === "MalformedResponse")
        expect(error.reason.detail).toBe("structuredContent.hits[1][*]: Expected number")
      }))

    it.effect("structured output of another form leaves the rest of the result to be used", () =>
      Effect.gen(function*() {
        for (const structured of [{}, { structuredContent: { titles: secret } }]) {
          const result = { content: [{ type: "text", text: "Three titles." }], ...structured }
          const { client } = yield* scripted(results(() => result))
          const error = yield* failureOf(client.call(Search, { query: "a" }))
          assert(error._tag === "McpClientError" && error.reason._tag === "MalformedResponse")
          expect(error.reason.result).toEqual(result)
          expect(error.message).not.toContain(secret)
        }
      }))

    it.effect.each([999_999, "1", "other"])("the id of another request: %j", (id) =>
      Effect.gen(function*() {
        const success = yield* scripted(() => Effect.succeed({ response: { _tag: "Success", id, result: hits() } }))
        const failure = yield* scripted(() =>
          Effect.succeed({ response: { _tag: "Failure", id, error: { code: 1, message: "x" } } })
        )
        for (const { client } of [success, failure]) {
          const error = yield* failureOf(client.callResult(Search, { query: "a" }))
          expect(error.reason._tag).toBe("MalformedResponse")
        }
      }))

    it.effect("an error without an id belongs to the request that it answers", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(() =>
          Effect.succeed({ response: { _tag: "Failure", id: undefined, error: { code: -32700, message: "x" } } })
        )
        const error = yield* failureOf(client.callResult(Search, { query: "a" }))
        expect(error.code).toBe("rpc_error.-32700")
      }))

    it.effect("a number that a double cannot hold is not changed: the typed field fails", () =>
      Effect.gen(function*() {
        const Count = Tool.make("count", { output: Schema.Struct({ n: Schema.Finite }) })
        const Raw = Tool.make("raw", { output: Schema.Struct({ n: Schema.Unknown }) })
        const big = Result.getOrThrow(Json.parse("{\"n\":9007199254740993}"))
        const { client } = yield* scripted(results(() => ({ content: [], structuredContent: big })))
        const error = yield* failureOf(client.call(Count, {}))
        assert(error._tag === "McpClientError" && error.reason._tag === "MalformedResponse")
        expect(error.reason.detail).toContain("structuredContent.n")
        expect(Json.stringify(yield* client.call(Raw, {}))).toBe("{\"n\":9007199254740993}")
      }))
  })

  describe("discover", () => {
    const discovery = {
      resultType: "complete",
      supportedVersions: ["1999-01-01", Revision.latest.version],
      capabilities: { tools: { listChanged: true }, completions: {} },
      instructions: "Ask.",
      ttlMs: 1000,
      cacheScope: "public",
      _meta: { [key.serverInfo]: { name: "docs", version: "1.2" } }
    }

    it.effect(
      verifies(
        "VER-4@client",
        "DISC-4",
        "DISC-5",
        "client/discover",
        "client/type/discovery",
        "client/has_capability",
        "client/discovery/server_info",
        "client/discovery/supported_versions",
        "client/discovery/capabilities",
        "client/discovery/instructions",
        "client/type/server_info",
        "snodo/discover"
      )("gives versions, capabilities, instructions and the server's name"),
      () =>
        Effect.gen(function*() {
          const { client } = yield* scripted(results(() => discovery))
          const found = yield* client.discover
          expect(found.supportedVersions).toEqual(discovery.supportedVersions)
          expect(found.capabilities).toEqual(discovery.capabilities)
          expect(found.instructions).toEqual(Option.some("Ask."))
          expect(found.serverInfo).toEqual(Option.some({ name: "docs", version: "1.2" }))
          expect(found.hasCapability("tools")).toBe(true)
          expect(found.hasCapability("completions")).toBe(true)
          expect(found.hasCapability("prompts")).toBe(false)
          expect(found.hasCapability("toString")).toBe(false)
        })
    )

    it.effect("what a server does not say is none", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(results(() => ({
          supportedVersions: [Revision.latest.version],
          capabilities: {}
        })))
        const found = yield* client.discover
        expect(found.instructions).toEqual(Option.none())
        expect(found.serverInfo).toEqual(Option.none())
      }))

    it.effect(
      verifies("client/promise/discover_unsupported", "client/reason/unsupported_version")(
        "fails when the server does not speak our version"
      ),
      () =>
        Effect.gen(function*() {
          const { client } = yield* scripted(results(() => ({ ...discovery, supportedVersions: ["1999-01-01"] })))
          const error = yield* failureOf(client.discover)
          assert(error.reason._tag === "UnsupportedVersion")
          expect(error.reason.supported).toEqual(["1999-01-01"])
          expect(error.evidence).toBe("Completed")
        })
    )

    it.effect("an answer of another form names the path", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(results(() => ({ supportedVersions: [5], capabilities: {} })))
        const error = yield* failureOf(client.discover)
        assert(error.reason._tag === "MalformedResponse")
        expect(error.reason.detail).toContain("result.supportedVersions[0]")
      }))

    it.effect("an answer that cannot be used is not kept", () =>
      Effect.gen(function*() {
        const answers: Array<Json.Object> = [{ ...discovery, capabilities: 5 }, discovery]
        const { client, requests } = yield* scripted(results(() => answers.shift()!), { cache: true })
        expect((yield* failureOf(client.discover)).code).toBe("malformed_response")
        expect((yield* client.discover).supportedVersions).toEqual(discovery.supportedVersions)
        yield* client.discover
        expect(requests.length).toBe(2)
      }))

    it.effect("discovery cannot require input", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(results(() => ({ ...discovery, resultType: "input_required" })))
        expect((yield* failureOf(client.discover)).reason._tag).toBe("MalformedResponse")
      }))
  })

  describe("a version that the server refuses", () => {
    const refusal = (supported: Json.Value) => ({ code: -32022, message: "no", data: { supported, requested: "x" } })

    it.effect(
      verifies("VER-3")("is sent a second time when the server names it, with a fresh id"),
      () =>
        Effect.gen(function*() {
          let first = true
          const { client, requests } = yield* scripted((request) => {
            if (!first) return results(() => hits("a"))(request)
            first = false
            return failures(refusal([Revision.latest.version]), { status: 400 })(request)
          })
          expect(yield* client.call(Search, { query: "a" })).toEqual({ titles: ["a"] })
          expect(requests.length).toBe(2)
          expect(requests[0]!.id).not.toBe(requests[1]!.id)
        })
    )

    it.effect("but only once", () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(failures(refusal([Revision.latest.version])))
        const error = yield* failureOf(client.callResult(Search, { query: "a" }))
        expect(error.code).toBe("rpc_error.-32022")
        expect(requests.length).toBe(2)
      }))

    it.effect(verifies("VER-3")("is an error when the server names others"), () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(failures(refusal(["1999-01-01"])))
        const error = yield* failureOf(client.callResult(Search, { query: "a" }))
        assert(error.reason._tag === "UnsupportedVersion")
        expect(error.reason.supported).toEqual(["1999-01-01"])
        expect(requests.length).toBe(1)
      }))

    it.effect.each<readonly [string, Json.Value]>([["text", "x"], ["numbers", [1]], ["nothing", null]])(
      "with %s in place of versions it is the server's error",
      ([_name, supported]) =>
        Effect.gen(function*() {
          const { client, requests } = yield* scripted(failures(refusal(supported)))
          expect((yield* failureOf(client.callResult(Search, { query: "a" }))).code).toBe("rpc_error.-32022")
          expect(requests.length).toBe(1)
        })
    )
  })

  describe("settings", () => {
    const rows: ReadonlyArray<readonly [string, McpClient.Options]> = [
      ["timeout", { timeout: 0 }],
      ["timeout", { timeout: "-1 seconds" }],
      ["timeout", { timeout: "soon" as never }],
      ["timeout", { timeout: NaN }],
      ["maxPages", { maxPages: 0 }],
      ["maxPages", { maxPages: 1.5 }],
      ["maxItems", { maxItems: -1 }],
      ["maxItems", { maxItems: Infinity }],
      ["info", { info: { name: "x" } as never }],
      ["capabilities", { capabilities: { roots: true } as never }]
    ]
    it.effect.each(rows)(
      verifies(
        "client/type/config_field",
        "client/config_field/request_timeout",
        "client/config_field/listing_limits",
        "client/reason/invalid_config",
        "client/type/config"
      )("%s is refused: %j"),
      ([field, options]) =>
        Effect.gen(function*() {
          const error = yield* failureOf(
            McpClient.make(options).pipe(
              Effect.provideService(Transport, { name: "x", hasHeaders: false, send: () => Effect.never })
            )
          )
          assert(error.reason._tag === "InvalidConfig")
          expect(error.reason.field).toBe(field)
          expect(error.kind).toBe("Configuration")
          expect(error.evidence).toBe("NotSent")
        })
    )

    it.effect("an infinite timeout is one", () =>
      Effect.gen(function*() {
        const { client } = yield* scripted(results(() => hits("a")), { timeout: Duration.infinity })
        expect(yield* client.call(Search, { query: "a" })).toEqual({ titles: ["a"] })
      }))
  })

  describe("layers", () => {
    const answering = (title: string) =>
      Layer.succeed(Transport, {
        name: "x",
        hasHeaders: false,
        // What they call themselves is no help.
        send: (request) => Effect.sync(() => success(request, { ...hits(title), _meta: { [key.serverInfo]: info } }))
      })
    const info = { name: "same", version: "1.0.0" }

    it.effect(verifies("client/connect")("gives the service"), () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        expect(yield* client.call(Search, { query: "a" })).toEqual({ titles: ["one"] })
      }).pipe(Effect.provide(McpClient.layer().pipe(Layer.provide(answering("one"))))))

    it.effect(verifies("TOOL-5@client")("several servers live under tags of the user's own"), () => {
      class Docs extends Context.Service<Docs, McpClient.Client>()("test/Docs") {}
      class Deploys extends Context.Service<Deploys, McpClient.Client>()("test/Deploys") {}
      return Effect.gen(function*() {
        const [docs, deploys] = yield* Effect.all([Docs, Deploys])
        expect(yield* docs.call(Search, { query: "a" })).toEqual({ titles: ["docs"] })
        expect(yield* deploys.call(Search, { query: "a" })).toEqual({ titles: ["deploys"] })
      }).pipe(Effect.provide(Layer.merge(
        McpClient.layerFor(Docs).pipe(Layer.provide(answering("docs"))),
        McpClient.layerFor(Deploys, { timeout: "1 minute" }).pipe(Layer.provide(answering("deploys")))
      )))
    })

    it.effect("a bad setting fails the layer", () =>
      Effect.gen(function*() {
        const error: McpClientError.McpClientError = yield* failureOf(
          Effect.provide(McpClient.McpClient, McpClient.layer({ maxPages: 0 }).pipe(Layer.provide(answering("x"))))
        )
        expect(error.code).toBe("invalid_config")
      }))
  })
})
