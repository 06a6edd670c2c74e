import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, type Json, Revision, Tool } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { makeGate, serve, type Serving } from "./support/serve.ts"
import { call, headersOf, request } from "./support/wire.ts"

const { codes, meta } = Revision

/** Serves one tool and gives the result of calling it. */
const resultOf = <A, E, R>(layer: Layer.Layer<A, E, R>, name: string, args?: unknown) =>
  Effect.gen(function*() {
    const server = yield* serve(layer)
    return (yield* server.send(call(name, args))).json
  })

const toolNames = (server: Serving) =>
  Effect.map(
    server.send(request("tools/list")),
    ({ json }): ReadonlyArray<string> => json.result.tools.map((tool: { readonly name: string }) => tool.name)
  )

class Fault extends Schema.TaggedError<Fault>()("Fault", { seconds: Schema.Int }) {
  override get message() {
    return `Try again in ${this.seconds} seconds`
  }
}

const Greet = Tool.make("greet", {
  title: "Greeting",
  description: "Greets somebody.",
  input: Schema.Struct({ name: Schema.NonEmptyString, times: Schema.optionalKey(Schema.Int) }),
  output: Schema.Struct({ greeting: Schema.String }),
  failure: Fault,
  annotations: { readOnly: true, destructive: false },
  meta: { "com.example/a": 1 }
})

const greet = McpServer.tool(Greet, ({ name }) => Effect.succeed({ greeting: `Hello, ${name}!` }))

describe("a call", () => {
  it.effect(
    verifies("BASE-6", "BASE-7", "BASE-8@server", "META-14", "TOOL-8")("answers with the output and its text"),
    () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* resultOf(greet, "greet", { name: "Ada" }), {
          jsonrpc: "2.0",
          id: 1,
          result: {
            content: [{ type: "text", text: "{\"greeting\":\"Hello, Ada!\"}" }],
            structuredContent: { greeting: "Hello, Ada!" },
            resultType: "complete",
            _meta: { [meta.serverInfo]: { name: "test", version: "1.2.3" } }
          }
        })
      })
  )

  it.effect("without arguments has the empty object; null is not it", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const Any = Tool.make("any", { input: Schema.Struct({ a: Schema.optionalKey(Schema.Unknown) }) })
      const layer = McpServer.tool(Any, (input) =>
        Effect.sync(() => {
          seen.push(input)
          return []
        }))
      assert.isDefined((yield* resultOf(layer, "any")).result)
      assert.deepStrictEqual(seen, [{}])
    }))

  it.effect.each([[], [1], "text", 1, true])(
    verifies("TOOL-11", "GAP-3")("with the arguments %s, which are no object, gets -32602"),
    (args) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* resultOf(greet, "greet", args)).error.code, codes.invalidParams)
      })
  )

  it.effect(verifies("TOOL-11")("without a name gets -32602"), () =>
    Effect.gen(function*() {
      const server = yield* serve(greet)
      for (const name of [undefined, null, 1, {}]) {
        const answer = yield* server.send(request("tools/call", { name, arguments: {} }))
        assert.strictEqual(answer.json.error.code, codes.invalidParams)
      }
    }))

  it.effect(
    verifies("TOOL-11", "BASE-20", "GAP-5")("of an unknown tool gets -32602, the same bytes for every name"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(greet)
        const texts = new Set<string>()
        const names = [
          "nobody",
          "__proto__",
          "constructor",
          "toString",
          "hasOwnProperty",
          "",
          "Greet",
          "greet ",
          "é",
          "a/b"
        ]
        for (const name of names) {
          for (const args of [undefined, {}, { name: 1 }, []]) {
            const answer = yield* server.send(call(name, args))
            assert.strictEqual(answer.status, 200)
            assert.strictEqual(answer.json.error.code, codes.invalidParams)
            texts.add(answer.text)
          }
        }
        assert.strictEqual(texts.size, 1)
      })
  )

  it.effect(
    verifies("TOOL-12@server", "GAP-3", "BASE-20")(
      "with arguments that break the schema is a result for the model: path and reason, never the value"
    ),
    () =>
      Effect.gen(function*() {
        let calls = 0
        const Deep = Tool.make("deep", {
          input: Schema.Struct({
            secret: Schema.Struct({ tags: Schema.Array(Schema.String) }),
            n: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })),
            kind: Schema.Literals(["a", "b"])
          })
        })
        const layer = McpServer.tool(Deep, () =>
          Effect.sync(() => {
            calls++
            return []
          }))
        const server = yield* serve(layer)
        const args = { secret: { tags: ["ok", { hunter2: "hunter2" }] }, n: 31337, kind: "hunter2" }
        const answer = yield* server.send(call("deep", args))
        const { content, isError, structuredContent } = answer.json.result
        assert.strictEqual(answer.status, 200)
        assert.isTrue(isError)
        assert.isUndefined(structuredContent)
        const [{ text }] = content
        for (const path of ["secret.tags.1: ", "n: ", "kind: "]) assert.include(text, path)
        assert.match(text, /secret\.tags\.1: Expected string/)
        for (const value of ["hunter2", "31337"]) assert.notInclude(answer.text, value)
        assert.strictEqual(calls, 0)
        const missing = yield* server.send(call("deep", {}))
        for (const path of ["secret: ", "n: ", "kind: "]) assert.include(missing.json.result.content[0].text, path)
      })
  )

  it.effect("with keys that are data tells where they stand by *, and keeps the words of its author", () =>
    Effect.gen(function*() {
      const even = Schema.makeFilter((n: number) => n % 2 === 0 ? undefined : `${n} is odd; send an even number`)
      const Scores = Tool.make("scores", {
        input: Schema.Struct({
          scores: Schema.Record(Schema.String, Schema.Struct({ points: Schema.Int })),
          text: Schema.fromJsonString(Schema.Record(Schema.String, Schema.Int)),
          n: Schema.Int.check(even)
        })
      })
      const server = yield* serve(McpServer.tool(Scores, () => Effect.succeed([])))
      const args = { scores: { hunter2: { points: "hunter3" }, hunter4: 1 }, text: "{\"hunter5\":\"hunter6\"}", n: 3 }
      const answer = yield* server.send(call("scores", args))
      assert.notInclude(answer.text, "hunter")
      assert.deepStrictEqual(answer.json.result.content[0].text.split("\n").slice(1), [
        "scores.*.points: Expected number",
        "scores.*: Expected object",
        "text.*: Expected number",
        "n: 3 is odd; send an even number"
      ])
    }))

  it.effect("with many mistakes tells of 32, and how many more there are", () =>
    Effect.gen(function*() {
      const Sum = Tool.make("sum", { input: Schema.Struct({ numbers: Schema.Array(Schema.Int) }) })
      const server = yield* serve(McpServer.tool(Sum, () => Effect.succeed([])))
      const answer = yield* server.send(call("sum", { numbers: Array(50_000).fill("x") }))
      const lines = answer.json.result.content[0].text.split("\n")
      assert.lengthOf(lines, 34)
      assert.deepStrictEqual(lines.slice(-2), ["numbers.31: Expected number", "and 49968 more"])
    }))

  it.effect("leaves unknown members of the arguments alone", () =>
    Effect.gen(function*() {
      const body = yield* resultOf(greet, "greet", { name: "Ada", other: 1, __proto__: null })
      assert.strictEqual(body.result.structuredContent.greeting, "Hello, Ada!")
    }))
})

describe("a failure", () => {
  it.effect(
    verifies("TOOL-12@server")("that the tool declares arrives typed, with its message as text"),
    () =>
      Effect.gen(function*() {
        const layer = McpServer.tool(Greet, () => Effect.fail(new Fault({ seconds: 5 })))
        const { result } = yield* resultOf(layer, "greet", { name: "Ada" })
        assert.isTrue(result.isError)
        assert.deepStrictEqual(result.structuredContent, { _tag: "Fault", seconds: 5 })
        assert.deepStrictEqual(result.content, [{ type: "text", text: "Try again in 5 seconds" }])
        assert.strictEqual(result.resultType, "complete")
      })
  )

  it.effect("without a message of its own has its JSON as text", () =>
    Effect.gen(function*() {
      const Code = Tool.make("code", { failure: Schema.Literals(["a", "b"]) })
      const { result } = yield* resultOf(McpServer.tool(Code, () => Effect.fail("b")), "code")
      assert.deepStrictEqual([result.structuredContent, result.content[0].text], ["b", "\"b\""])
    }))

  it.effect(
    verifies("TOOL-12@server")("made with Tool.error is one sentence for the model"),
    () =>
      Effect.gen(function*() {
        const layer = McpServer.tool(Greet, () => Effect.fail(Tool.error("The printer is out of paper")))
        const { result } = yield* resultOf(layer, "greet", { name: "Ada" })
        assert.isTrue(result.isError)
        assert.deepStrictEqual(result.content, [{ type: "text", text: "The printer is out of paper" }])
        assert.notProperty(result, "structuredContent")
      })
  )

  it.effect("made with ToolError has its blocks and its structured output, null too", () =>
    Effect.gen(function*() {
      for (const structured of [null, 0, { a: [1] }]) {
        const error = new Tool.ToolError({
          content: [Content.text("a"), Content.image(new Uint8Array([1, 2, 255]), "image/png")],
          structured
        })
        const { result } = yield* resultOf(McpServer.tool(Greet, () => Effect.fail(error)), "greet", { name: "Ada" })
        assert.deepStrictEqual(result.structuredContent, structured)
        assert.deepStrictEqual(result.content[1], { type: "image", data: "AQL/", mimeType: "image/png" })
      }
    }))

  const secret = "hunter2"
  const defects: ReadonlyArray<readonly [string, () => Effect.Effect<never>]> = [
    ["dies with an error", () => Effect.die(new Error(secret))],
    ["dies with a text", () => Effect.die(secret)],
    [
      "throws before it gives an effect",
      () => {
        throw new Error(secret)
      }
    ],
    ["fails with what the tool does not declare", () => Effect.fail(new Error(secret)) as never],
    ["throws inside", () => Effect.sync(() => JSON.parse(secret) as never)],
    ["has a finalizer that dies", () => Effect.addFinalizer(() => Effect.die(secret)) as never],
    ["interrupts itself", () => Effect.interrupt]
  ]

  it.effect.each(defects)(
    verifies("TOOL-11", "BASE-12@server", "BASE-20")(
      "of a handler that %s is -32603 with a fixed text; the cause is in the log"
    ),
    ([, handle]) =>
      Effect.gen(function*() {
        const server = yield* serve(McpServer.tool(Greet, handle), { label: "main" })
        const headers = { "x-correlation-id": "c-1" }
        const json = yield* server.send(call("greet", { name: "Ada" }), { headers })
        assert.deepStrictEqual(json.json, { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } })
        assert.strictEqual(json.status, 200)
        const events = yield* server.send(call("greet", { name: "Ada" }), {
          headers: { ...headers, accept: "text/event-stream" }
        })
        assert.deepStrictEqual(events.events, [json.json])
        assert.strictEqual(server.logs.length, 2)
        for (const { annotations, level } of server.logs) {
          assert.strictEqual(level, "Error")
          assert.deepStrictEqual(annotations, { correlation: "c-1", method: "tools/call", endpoint: "main" })
        }
        // The endpoint lives.
        assert.strictEqual((yield* server.send(request("tools/list"))).status, 200)
      })
  )

  it.effect("that is a defect keeps its cause in the log", () =>
    Effect.gen(function*() {
      const server = yield* serve(McpServer.tool(Greet, () => Effect.die(new Error(secret))))
      yield* server.send(call("greet", { name: "Ada" }))
      assert.include(Cause.pretty(server.logs[0]!.cause), secret)
    }))
})

describe("an output", () => {
  const outputs: ReadonlyArray<readonly [string, Schema.Codec<unknown>, unknown]> = [
    ["null", Schema.Null, null],
    ["a number", Schema.Finite, 0],
    ["a text", Schema.String, ""],
    ["a boolean", Schema.Boolean, false],
    ["an array", Schema.Array(Schema.Int), [1, 2]],
    ["an empty array", Schema.Array(Schema.Int), []],
    ["an object", Schema.Struct({ a: Schema.NullOr(Schema.Int) }), { a: null }]
  ]

  it.effect.each(outputs)(
    verifies("TOOL-7@server", "TOOL-8")("can be %s"),
    ([, output, value]) =>
      Effect.gen(function*() {
        const tool = Tool.make("out", { output })
        const { result } = yield* resultOf(McpServer.tool(tool, () => Effect.succeed(value)), "out")
        assert.property(result, "structuredContent")
        assert.deepStrictEqual(result.structuredContent, value)
        assert.deepStrictEqual(JSON.parse(result.content[0].text), value)
      })
  )

  it.effect("is what its codec encodes", () =>
    Effect.gen(function*() {
      const tool = Tool.make("out", {
        output: Schema.Struct({ at: Schema.Date, size: Schema.BigInt, bytes: Schema.Uint8Array })
      })
      const layer = McpServer.tool(tool, () =>
        Effect.succeed({ at: new Date(0), size: 10n ** 30n, bytes: new Uint8Array([1, 2, 3]) }))
      const server = yield* serve(layer)
      const { result } = (yield* server.send(call("out"))).json
      assert.deepStrictEqual(result.structuredContent, {
        at: "1970-01-01T00:00:00.000Z",
        size: "1000000000000000000000000000000",
        bytes: "AQID"
      })
      const { outputSchema } = (yield* server.send(request("tools/list"))).json.result.tools[0]
      assert.isTrue(
        new Ajv2020({ strict: false, validateFormats: false }).validate(outputSchema, result.structuredContent)
      )
    }))

  it.effect(
    verifies("TOOL-7@server", "TOOL-11")("that breaks its schema is -32603; the log says where, not what"),
    () =>
      Effect.gen(function*() {
        const layer = McpServer.tool(Greet, () => Effect.succeed({ greeting: 31337 as never }))
        const server = yield* serve(layer)
        const answer = yield* server.send(call("greet", { name: "Ada" }))
        assert.deepStrictEqual(answer.json.error, { code: codes.internalError, message: "Internal error" })
        const log = Cause.pretty(server.logs[0]!.cause)
        assert.include(log, "The output of greet breaks its schema: greeting: Expected string")
        assert.notInclude(log, "31337")
      })
  )

  it.effect("keeps every digit of big numbers, in and out", () =>
    Effect.gen(function*() {
      const Echo = Tool.make("echo", {
        input: Tool.jsonSchema({ type: "object" }),
        output: Tool.jsonSchema({ type: "object" })
      })
      const server = yield* serve(McpServer.tool(Echo, (input) => Effect.succeed(input)))
      const digits = [
        "9007199254740993",
        "12345678901234567890123456789012345678901234567890",
        "0.1000000000000000055511"
      ]
      for (const number of digits) {
        const body = JSON.stringify(call("echo", { n: "N" })).replace("\"N\"", number)
        const answer = yield* server.send(body, { headers: headersOf(call("echo")) })
        assert.include(answer.text, `"structuredContent":{"n":${number}}`)
      }
    }))
})

describe("content", () => {
  const Draw = Tool.make("draw")

  it.effect(verifies("TOOL-9")("alone is the answer of a tool without an output"), () =>
    Effect.gen(function*() {
      const layer = McpServer.tool(Draw, () =>
        Effect.succeed([
          Content.text("é"),
          Content.image(new Uint8Array([0, 1, 254, 255]), "image/png"),
          Content.audio(new Uint8Array(0), "audio/wav"),
          Content.resourceLink("file:///a", "a")
        ]))
      const { result } = yield* resultOf(layer, "draw")
      assert.deepStrictEqual(result.content, [
        { type: "text", text: "é" },
        { type: "image", data: "AAH+/w==", mimeType: "image/png" },
        { type: "audio", data: "", mimeType: "audio/wav" },
        { type: "resource_link", uri: "file:///a", name: "a" }
      ])
      assert.notProperty(result, "structuredContent")
      assert.notProperty(result, "isError")
    }))

  it.effect("can be a text", () =>
    Effect.gen(function*() {
      const { result } = yield* resultOf(McpServer.tool(Draw, () => Effect.succeed("done")), "draw")
      assert.deepStrictEqual(result.content, [{ type: "text", text: "done" }])
      assert.notProperty(result, "structuredContent")
    }))

  it.effect("of a Reply stands in place of the output's text; metadata is added", () =>
    Effect.gen(function*() {
      const layer = McpServer.tool(Greet, () =>
        Effect.succeed(Tool.reply({ greeting: "Hi" }, {
          content: [Content.text("In words"), Content.image(new Uint8Array([1]), "image/png")],
          meta: { "com.example/cost": 3 }
        })))
      const { result } = yield* resultOf(layer, "greet", { name: "Ada" })
      assert.deepStrictEqual(result.structuredContent, { greeting: "Hi" })
      assert.deepStrictEqual(result.content, [
        { type: "text", text: "In words" },
        { type: "image", data: "AQ==", mimeType: "image/png" }
      ])
      assert.deepStrictEqual(result._meta, {
        "com.example/cost": 3,
        [meta.serverInfo]: { name: "test", version: "1.2.3" }
      })
    }))

  it.effect("of a Reply may be no block at all, and a tool of content can reply with metadata", () =>
    Effect.gen(function*() {
      const empty = McpServer.tool(Greet, () => Effect.succeed(Tool.reply({ greeting: "Hi" }, { content: [] })))
      assert.deepStrictEqual((yield* resultOf(empty, "greet", { name: "Ada" })).result.content, [])
      const withMeta = McpServer.tool(
        Draw,
        () => Effect.succeed(Tool.reply([Content.text("a")], { meta: { "com.example/a": null } }))
      )
      const { result } = yield* resultOf(withMeta, "draw")
      assert.deepStrictEqual(result.content, [{ type: "text", text: "a" }])
      assert.isNull(result._meta["com.example/a"])
    }))

  it.effect("that is not valid is -32603", () =>
    Effect.gen(function*() {
      const layer = McpServer.tool(Draw, () => Effect.succeed([{ type: "image", data: "AQ==" } as never]))
      assert.strictEqual((yield* resultOf(layer, "draw")).error.code, codes.internalError)
    }))
})

describe("tools/list", () => {
  it.effect(
    verifies("TOOL-1", "TOOL-4", "TOOL-6", "CACHE-1", "GAP-7")("gives the declarations as they were made"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(greet)
        const { result } = (yield* server.send(request("tools/list"))).json
        assert.deepStrictEqual(result, {
          tools: [JSON.parse(JSON.stringify(Greet.declaration))],
          ttlMs: 0,
          cacheScope: "private",
          resultType: "complete",
          _meta: { [meta.serverInfo]: { name: "test", version: "1.2.3" } }
        })
        assert.deepInclude(result.tools[0], {
          name: "greet",
          title: "Greeting",
          description: "Greets somebody.",
          annotations: { readOnlyHint: true, destructiveHint: false },
          _meta: { "com.example/a": 1 }
        })
        assert.strictEqual(result.tools[0].inputSchema.type, "object")
      })
  )

  it.effect(
    verifies("TOOL-2", "TOOL-3", "STATE-7")("is in the order of the names, however the layers were built"),
    () =>
      Effect.gen(function*() {
        const names = ["b", "a", "Z", "a.b", "a-b", "a1", "a10", "a2", "_"]
        const layers = names.map((name, i) =>
          McpServer.tool(Tool.make(name), () => Effect.succeed([])).pipe(
            // Layers are built in parallel, some of them later than others.
            Layer.provide(Layer.effectDiscard(Effect.gen(function*() {
              for (let turn = 0; turn < (i * 7) % 5; turn++) yield* Effect.yieldNow
            })))
          )
        )
        const [first, ...rest] = layers
        const server = yield* serve(Layer.mergeAll(first!, ...rest))
        assert.deepStrictEqual(yield* toolNames(server), [...names].sort())
        assert.deepStrictEqual(yield* server.server.names("tool"), [...names].sort())
        // The same for everybody, before and after others have called.
        yield* server.send(call("a"))
        assert.deepStrictEqual(yield* toolNames(server), [...names].sort())
      })
  )

  it.effect(verifies("PAGE-3")("takes no cursor, since it never gave one out"), () =>
    Effect.gen(function*() {
      const server = yield* serve(greet)
      for (const cursor of ["", "bogus", null, 1]) {
        const answer = yield* server.send(request("tools/list", { cursor }))
        assert.strictEqual(answer.json.error.code, codes.invalidParams)
      }
    }))
})

describe("published schemas", () => {
  const Order = Tool.make("order", {
    input: Schema.Struct({
      item: Schema.NonEmptyString,
      count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 })),
      gift: Schema.optionalKey(Schema.Boolean),
      note: Schema.NullOr(Schema.String)
    })
  })

  it.effect(
    verifies("JS-1@server", "JS-2@server", "JS-7@server")(
      "are JSON Schema 2020-12, and say the same as the server does"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(McpServer.tool(Order, () => Effect.succeed([])))
        const { inputSchema } = (yield* server.send(request("tools/list"))).json.result.tools[0]
        const validate = new Ajv2020({ strict: true }).compile(inputSchema)
        assert.notProperty(inputSchema, "$schema")
        const good = { item: "a", count: 1, note: null }
        const cases: ReadonlyArray<Json.Object> = [
          good,
          { ...good, gift: true, note: "x" },
          { ...good, item: "" },
          { ...good, count: 0 },
          { ...good, count: 1.5 },
          { ...good, gift: "yes" },
          { item: "a", count: 1 },
          {}
        ]
        for (const args of cases) {
          const { result } = (yield* server.send(call("order", args))).json
          assert.strictEqual(result.isError !== true, validate(args), JSON.stringify(args))
        }
        assert.isTrue(validate(good))
      })
  )

  it.effect(
    verifies("JS-1@server", "JS-6@server")("written by hand are listed word for word, with every keyword of 2020-12"),
    () =>
      Effect.gen(function*() {
        const document = {
          $schema: "https://json-schema.org/draft/2020-12/schema",
          $id: "urn:example:search",
          type: "object",
          $defs: { word: { $anchor: "word", type: "string", minLength: 1 } },
          properties: { query: { $ref: "#word" }, mode: { const: "fast" } },
          if: { required: ["mode"] },
          then: { required: ["query"] },
          dependentRequired: { mode: ["query"] },
          prefixItems: [],
          unevaluatedProperties: false,
          "x-custom": { a: [1] }
        }
        const tool = Tool.make("search", {
          input: Tool.jsonSchema(document),
          output: Tool.jsonSchema({ anyOf: [true] })
        })
        const server = yield* serve(McpServer.tool(tool, (input) => Effect.succeed(input)))
        const [listed] = (yield* server.send(request("tools/list"))).json.result.tools
        assert.deepStrictEqual(listed.inputSchema, document)
        assert.deepStrictEqual(listed.outputSchema, { anyOf: [true] })
      })
  )

  it("in another dialect are refused with their definition", () => {
    assert.throws(
      () => Tool.make("old", { input: Tool.jsonSchema({ $schema: "urn:other-dialect", type: "object" }) }),
      /"old".*\$schema/
    )
  })

  it(verifies("JS-5@server")("that nest deeper than 64 levels are refused with their definition, in and out"), () => {
    const nested = (depth: number): Json.Object => {
      let schema: Json.Object = { type: "string" }
      for (let i = 0; i < depth; i++) schema = { type: "object", properties: { a: schema } }
      return schema
    }
    for (const depth of [33, 100_000]) {
      const document = Tool.jsonSchema(nested(depth))
      assert.throws(() => Tool.make("deep", { input: document }), /"deep".*input.*deeper than 64 levels/)
      assert.throws(() => Tool.make("deep", { output: document }), /"deep".*output.*deeper than 64 levels/)
    }
    const document = Tool.jsonSchema(nested(30))
    assert.doesNotThrow(() => Tool.make("deep", { input: document, output: document }))
  })

  it.effect(
    verifies("JS-5@server")("of values without end are listed, and arguments are read to the depth of messages"),
    () =>
      Effect.gen(function*() {
        interface Tree {
          readonly children: ReadonlyArray<Tree>
        }
        const Tree: Schema.Codec<Tree> = Schema.Struct({
          children: Schema.Array(Schema.suspend(() => Tree))
        }).annotate({ identifier: "Tree" })
        const tool = Tool.make("tree", { input: Tree, output: Tree })
        const mutual = { $defs: { A: { allOf: [{ $ref: "#/$defs/B" }] }, B: { allOf: [{ $ref: "#/$defs/A" }] } } }
        const circular = Tool.make("circular", {
          input: Tool.jsonSchema({ type: "object", ...mutual, $ref: "#/$defs/A" })
        })
        const server = yield* serve(
          McpServer.handlers([
            McpServer.toolHandler(tool, (tree) => Effect.succeed(tree)),
            McpServer.toolHandler(circular, () => Effect.succeed([]))
          ])
        )
        const { tools } = (yield* server.send(request("tools/list"))).json.result
        assert.deepStrictEqual(tools.map(({ name }: { readonly name: string }) => name), ["circular", "tree"])
        assert.strictEqual(tools[1].inputSchema.type, "object")
        const grown = (depth: number): Json.Object => ({ children: depth === 0 ? [] : [grown(depth - 1)] })
        const answer = yield* server.send(call("tree", grown(20)))
        assert.deepStrictEqual(answer.json.result.structuredContent, grown(20))
        assert.strictEqual((yield* server.send(call("tree", grown(40)))).json.error.code, codes.invalidRequest)
        assert.isUndefined((yield* server.send(call("circular", grown(20)))).json.result.isError)
      })
  )

  it.effect(
    verifies("JS-3@server", "JS-4@server")("with references to the network are not followed, in lists and in calls"),
    () =>
      Effect.gen(function*() {
        let hits = 0
        const bystander = Http.createServer((_, response) => {
          hits++
          response.end("{}")
        })
        yield* Effect.acquireRelease(
          Effect.callback<void>((resume) => void bystander.listen(0, "127.0.0.1", () => resume(Effect.void))),
          () => Effect.callback<void>((resume) => void bystander.close(() => resume(Effect.void)))
        )
        const { port } = bystander.address() as AddressInfo
        const $ref = `http://127.0.0.1:${port}/schema.json`
        const tool = Tool.make("remote", {
          input: Tool.jsonSchema({ type: "object", properties: { a: { $ref } } }),
          output: Tool.jsonSchema({ $ref })
        })
        const server = yield* serve(McpServer.tool(tool, (input) => Effect.succeed(input)))
        yield* server.send(request("tools/list"))
        yield* server.send(call("remote", { a: 1 }))
        assert.strictEqual(hits, 0)
      })
  )
})

describe("registration", () => {
  it.effect("of a taken name dies with DuplicateName before a port opens", () =>
    Effect.gen(function*() {
      const other = McpServer.handlers([McpServer.toolHandler(Greet, () => Effect.succeed({ greeting: "other" }))])
      const exit = yield* Effect.exit(serve(Layer.mergeAll(greet, other)))
      assert.isTrue(Exit.isFailure(exit))
      const defect = Cause.findDefect((exit as Exit.Failure<never, never>).cause)
      assert.include(
        Cause.pretty((exit as Exit.Failure<never, never>).cause),
        "There is a tool named \"greet\" already"
      )
      assert.isDefined(defect)
    }))

  it.effect("of one layer in two places happens once", () =>
    Effect.gen(function*() {
      const server = yield* serve(Layer.mergeAll(greet, greet))
      assert.deepStrictEqual(yield* toolNames(server), ["greet"])
    }))

  it.effect("of many tools is one layer", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 1000 }, (_, i) =>
        McpServer.toolHandler(
          Tool.make(`tool-${i}`, { output: Schema.Int }),
          () => Effect.succeed(i)
        ))
      const server = yield* serve(McpServer.handlers(many))
      // The first page.
      assert.strictEqual((yield* toolNames(server)).length, 100)
      assert.strictEqual((yield* server.send(call("tool-999"))).json.result.structuredContent, 999)
    }))

  it.effect(
    verifies("DISC-3", "TOOL-1", "VER-12@server")("while serving is seen at once, by discovery too"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(Layer.empty)
        const capabilities = Effect.map(server.send(request("server/discover")), ({ json }) => json.result.capabilities)
        assert.deepStrictEqual(yield* capabilities, {})
        const list = yield* server.send(request("tools/list"))
        assert.deepStrictEqual([list.status, list.json.error.code], [404, codes.methodNotFound])
        assert.strictEqual((yield* server.send(call("greet", { name: "Ada" }))).status, 404)

        yield* server.server.register(McpServer.toolHandler(Greet, () => Effect.succeed({ greeting: "live" })))
        assert.deepStrictEqual(yield* capabilities, { tools: { listChanged: true } })
        assert.deepStrictEqual(yield* toolNames(server), ["greet"])
        const answer = yield* server.send(call("greet", { name: "Ada" }))
        assert.strictEqual(answer.json.result.structuredContent.greeting, "live")

        const again = yield* Effect.flip(server.server.register(McpServer.toolHandler(Greet, () => Effect.never)))
        assert.deepStrictEqual([again._tag, again.kind, again.name], ["DuplicateName", "tool", "greet"])

        assert.isTrue(yield* server.server.unregister("tool", "greet"))
        assert.isFalse(yield* server.server.unregister("tool", "greet"))
        // The list is empty now; its method and the capability stay.
        assert.deepStrictEqual(yield* toolNames(server), [])
        assert.deepStrictEqual(yield* capabilities, { tools: { listChanged: true } })
        const gone = yield* server.send(call("greet", { name: "Ada" }))
        assert.deepStrictEqual([gone.status, gone.json.error.code], [200, codes.invalidParams])
      })
  )

  it.effect("ends with its layer; what runs goes on", () =>
    Effect.gen(function*() {
      const server = yield* serve(Layer.empty)
      const gate = makeGate()
      const Slow = Tool.make("slow")
      const scope = yield* Scope.make()
      yield* McpServer.tool(Slow, () => Effect.as(gate.run, [])).pipe(
        Layer.provide(Layer.succeed(McpServer.McpServer, server.server)),
        Layer.buildWithScope(scope)
      )
      const slow = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* toolNames(server), [])
      yield* gate.release
      assert.strictEqual((yield* Fiber.join(slow)).json.result.resultType, "complete")
    }))

  it.effect("takes the services of a handler from the layers around it", () =>
    Effect.gen(function*() {
      class Numbers extends Context.Service<Numbers, { readonly next: Effect.Effect<number> }>()("Numbers") {}
      const Next = Tool.make("next", { output: Schema.Int })
      let count = 0
      const layer = McpServer.tool(Next, () => Effect.flatMap(Numbers, ({ next }) => next)).pipe(
        Layer.provide(Layer.succeed(Numbers, { next: Effect.sync(() => ++count) }))
      )
      const server = yield* serve(layer)
      yield* server.send(call("next"))
      assert.strictEqual((yield* server.send(call("next"))).json.result.structuredContent, 2)
    }))
})
