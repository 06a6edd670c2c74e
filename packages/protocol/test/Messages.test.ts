import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Json, Messages, Revision } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { problems, published } from "./support/ajv.ts"
import { withoutEach, withUnknownMembers } from "./support/openObjects.ts"
import { success } from "./support/results.ts"
import { samples } from "./support/samples.ts"

type Name = keyof typeof samples
type Message = Schema.Codec<any, any>

const requests: ReadonlyArray<readonly [method: string, definition: Name, schema: Message]> = [
  [Revision.method.discover, "DiscoverRequest", Messages.Discover.params],
  [Revision.method.listTools, "ListToolsRequest", Messages.ListTools.params],
  [Revision.method.callTool, "CallToolRequest", Messages.CallTool.params],
  [Revision.method.listResources, "ListResourcesRequest", Messages.ListResources.params],
  [Revision.method.listResourceTemplates, "ListResourceTemplatesRequest", Messages.ListResourceTemplates.params],
  [Revision.method.readResource, "ReadResourceRequest", Messages.ReadResource.params],
  [Revision.method.listPrompts, "ListPromptsRequest", Messages.ListPrompts.params],
  [Revision.method.getPrompt, "GetPromptRequest", Messages.GetPrompt.params],
  [Revision.method.complete, "CompleteRequest", Messages.Complete.params],
  [Revision.method.listen, "SubscriptionsListenRequest", Messages.Listen.params]
]

const results: ReadonlyArray<readonly [definition: Name, schema: Message, lenient: ReadonlyArray<string>]> = [
  ["DiscoverResult", Messages.Discover.result, ["resultType", "ttlMs", "cacheScope"]],
  ["ListToolsResult", Messages.ListTools.result, ["resultType", "ttlMs", "cacheScope"]],
  ["CallToolResult", Messages.CallTool.result, ["resultType"]],
  ["ListResourcesResult", Messages.ListResources.result, ["resultType", "ttlMs", "cacheScope"]],
  ["ListResourceTemplatesResult", Messages.ListResourceTemplates.result, ["resultType", "ttlMs", "cacheScope"]],
  ["ReadResourceResult", Messages.ReadResource.result, ["resultType", "ttlMs", "cacheScope"]],
  ["ListPromptsResult", Messages.ListPrompts.result, ["resultType", "ttlMs", "cacheScope"]],
  ["GetPromptResult", Messages.GetPrompt.result, ["resultType"]],
  ["CompleteResult", Messages.Complete.result, ["resultType"]],
  ["SubscriptionsListenResult", Messages.Listen.result, ["resultType", "_meta"]],
  ["InputRequiredResult", Messages.InputRequiredResult, []]
]

const envelope = (method: string, params: unknown) => ({ jsonrpc: "2.0", id: 1, method, params })

type Path = ReadonlyArray<string | number>

/** Where objects of the protocol stand in a value, each with the value in which something else stands there. */
const withoutObject = (value: unknown, by: Json.Value, path: Path = []): ReadonlyArray<readonly [Path, unknown]> => {
  if (typeof value !== "object" || value === null || isFreeForm(path)) return []
  if (Array.isArray(value)) {
    return value.flatMap((item, i) =>
      withoutObject(item, by, [...path, i]).map(([at, one]) => [at, value.with(i, one)] as const)
    )
  }
  return [
    [path, by],
    ...Object.entries(value).flatMap(([key, member]) =>
      withoutObject(member, by, [...path, key]).map(([at, one]) => [at, { ...value, [key]: one }] as const)
    )
  ]
}

// What stands inside of these may be any JSON.
const freeForm = new Set<unknown>(["arguments", "inputResponses", "inputSchema", "outputSchema", "params"])
const isFreeForm = (path: Path): boolean =>
  path.slice(0, -1).some((key) => freeForm.has(key)) ||
  path.some((key) => key === "structuredContent" || String(key).startsWith("com.example/") || key === "a.b/c")

const reencoded = (schema: Message, value: unknown): unknown =>
  JSON.parse(Json.stringify(Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(value))))

describe("Messages", () => {
  it("there is a schema for each method", () => {
    assert.deepStrictEqual(
      requests.map(([method]) => method),
      [...Revision.latest.methods.keys()].sort((a, b) =>
        requests.findIndex(([method]) => method === a) - requests.findIndex(([method]) => method === b)
      )
    )
  })

  describe.each(requests)("%s: parameters", (method, definition, schema) => {
    const validate = published(definition)

    it("what the revision publishes is decoded and encoded to the same JSON", () => {
      for (const sample of samples[definition]) {
        assert.strictEqual(problems(validate, envelope(method, sample)), "")
        assert.deepStrictEqual(reencoded(schema, sample) as object, sample)
      }
    })

    it(verifies("BASE-21")("unknown members survive in every object"), () => {
      for (const sample of samples[definition]) {
        const open = withUnknownMembers(sample)
        assert.strictEqual(problems(validate, envelope(method, open)), "")
        assert.deepStrictEqual(reencoded(schema, open), open)
      }
    })

    it("what the revision requires is required", () => {
      for (const sample of samples[definition]) {
        for (const [key, rest] of withoutEach(sample)) {
          const required = !validate(envelope(method, rest))
          assert.strictEqual(Schema.decodeUnknownExit(schema)(rest)._tag, required ? "Failure" : "Success", key)
        }
      }
    })

    it("the required metadata is required", () => {
      const sample: { readonly [key: string]: unknown } = samples[definition][0]
      for (const key of [Revision.meta.protocolVersion, Revision.meta.clientCapabilities]) {
        const { [key]: _, ...meta } = sample["_meta"] as Record<string, unknown>
        assert.throws(() => Schema.decodeUnknownSync(schema)({ ...sample, _meta: meta }), key)
      }
    })
  })

  describe.each(results)("%s", (definition, schema, lenient) => {
    const validate = published(definition)

    it("what the revision publishes is decoded and encoded to the same JSON", () => {
      for (const sample of samples[definition]) {
        assert.strictEqual(problems(validate, sample), "")
        assert.deepStrictEqual(reencoded(schema, sample) as object, sample)
      }
    })

    it(verifies("BASE-21")("unknown members survive in every object"), () => {
      for (const sample of samples[definition]) {
        const open = withUnknownMembers(sample)
        assert.strictEqual(problems(validate, open), "")
        assert.deepStrictEqual(reencoded(schema, open), open)
      }
    })

    it("what the revision requires is required, but for what servers of older revisions leave out", () => {
      for (const sample of samples[definition]) {
        for (const [key, rest] of withoutEach(sample)) {
          const required = !validate(rest) && !lenient.includes(key)
          assert.strictEqual(Schema.decodeUnknownExit(schema)(rest)._tag, required ? "Failure" : "Success", key)
        }
      }
    })
  })

  it("a number that a double cannot hold is no object: it fails with its path, wherever an object is wanted", () => {
    const number = success(Json.parse("1e400"))
    const all = [...requests.map(([, name, schema]) => [name, schema] as const), ...results]
    for (const [name, schema] of all) {
      const places = samples[name].flatMap((sample) => withoutObject(sample, number))
      assert.isNotEmpty(places)
      for (const [path, broken] of places) {
        const exit = Schema.decodeUnknownExit(schema)(broken)
        const at = path.map((key) => `[${JSON.stringify(key)}]`).join("")
        assert.strictEqual(exit._tag, "Failure", `${name} ${at}`)
        assert.include(String(exit), at)
        assert.notInclude(String(exit), "1e400")
      }
    }
  })

  it(verifies("JS-6")("the schemas of a listed tool are kept as they came"), () => {
    const full = samples.ListToolsResult[1] as unknown as { readonly tools: ReadonlyArray<Json.Object> }
    const decoded = Schema.decodeUnknownSync(Messages.ListTools.result)(full)
    assert.strictEqual(JSON.stringify(decoded.tools[1]!.inputSchema), JSON.stringify(full.tools[1]!["inputSchema"]))
    assert.strictEqual(
      JSON.stringify(decoded.tools[1]!["outputSchema"]),
      JSON.stringify(full.tools[1]!["outputSchema"])
    )
  })

  it("numbers that a double cannot hold pass through arguments, structured content and metadata", () => {
    const number = "12345678901234567890.5"
    const call =
      `{"name":"a","arguments":{"n":${number}},"_meta":{"io.modelcontextprotocol/protocolVersion":"v","io.modelcontextprotocol/clientCapabilities":{},"a.b/n":${number}}}`
    const params = success(Json.parse(call))
    assert.include(
      Json.stringify(
        Schema.encodeSync(Messages.CallTool.params)(Schema.decodeUnknownSync(Messages.CallTool.params)(params))
      ),
      `"arguments":{"n":${number}}`
    )
    const result = success(Json.parse(`{"content":[],"structuredContent":[${number}]}`))
    const decoded = Schema.decodeUnknownSync(Messages.CallTool.result)(result)
    assert.strictEqual(Json.stringify(decoded.structuredContent), `[${number}]`)
  })

  it("structured content that is null is not the same as none", () => {
    const decode = Schema.decodeUnknownSync(Messages.CallTool.result)
    assert.isTrue("structuredContent" in decode({ content: [], structuredContent: null }))
    assert.isFalse("structuredContent" in decode({ content: [] }))
  })

  it("a page that says null for no next page is accepted", () => {
    assert.strictEqual(
      Schema.decodeUnknownSync(Messages.ListTools.result)({ tools: [], nextCursor: null }).nextCursor,
      null
    )
  })

  describe("request ids and progress tokens", () => {
    const decode = Schema.decodeUnknownSync(Messages.RequestId)

    it("are strings or integers of any size, kept as they are", () => {
      const big = new Json.ExactNumber("9007199254740993")
      for (const id of ["", "a", "1", 0, 1, -1, Number.MAX_SAFE_INTEGER, big]) {
        assert.strictEqual(decode(id), id)
        assert.strictEqual(Schema.encodeSync(Messages.RequestId)(decode(id)), id)
      }
    })

    it("are nothing else", () => {
      for (
        const id of [
          null,
          undefined,
          1.5,
          NaN,
          Infinity,
          true,
          {},
          [],
          new Json.ExactNumber("1e400"),
          new Json.ExactNumber("9007199254740993.5")
        ]
      ) {
        assert.throws(() => decode(id))
      }
    })
  })

  it("there are eight levels of log messages, and no others", () => {
    const levels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
    for (const level of levels) assert.strictEqual(Schema.decodeUnknownSync(Messages.LogLevel)(level), level)
    for (const level of ["", "DEBUG", "trace", "warn", 1]) {
      assert.throws(() => Schema.decodeUnknownSync(Messages.LogLevel)(level))
    }
  })
})
