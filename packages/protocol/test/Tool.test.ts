import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Json, Tool } from "@fairlead/protocol"
import * as BigDecimal from "effect/BigDecimal"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { compile, problems, published } from "./support/ajv.ts"
import { failure, success } from "./support/results.ts"

const inputSchema = (input: Schema.Top) => Tool.make("t", { input }).declaration.inputSchema as unknown
const outputSchema = (output: Schema.Top) => Tool.make("t", { output }).declaration["outputSchema"] as unknown
/** The document of a schema as the only property of an input, and whether it is required. */
const property = (schema: Schema.Top): object => {
  const document = inputSchema(Schema.Struct({ p: schema })) as {
    readonly properties: { readonly p: unknown }
    readonly required?: ReadonlyArray<string>
  }
  return { ...document.properties.p as object, ...(document.required === undefined ? { "?": true } : {}) }
}

const decodeWith = (schema: Schema.Top, json: Json.Value) =>
  Schema.decodeUnknownResult(Tool.make("t", { output: schema }).codec.output.decode as Schema.Codec<unknown>)(json)
const encodeWith = (schema: Schema.Top, value: unknown) =>
  Schema.encodeUnknownResult(Tool.make("t", { output: schema }).codec.output.encode as Schema.Codec<unknown>)(value)

interface Tree {
  readonly value: number
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  value: Schema.Finite,
  children: Schema.Array(Schema.suspend(() => Tree))
}).annotate({ identifier: "Tree" })

class Point extends Schema.Class<Point>("Point")({ x: Schema.Int, y: Schema.optionalKey(Schema.Int) }) {}
class Line extends Schema.Class<Line>("Line")({ from: Point, to: Point }) {}
class Same extends Schema.Class<Same>("Same")({ a: Schema.String }) {}
class AlsoSame extends Schema.Class<AlsoSame>("Same")({ b: Schema.Int }) {}
class Folder extends Schema.Class<Folder>("Folder")({
  name: Schema.String,
  folders: Schema.Array(Schema.suspend((): Schema.Codec<Folder, unknown> => Folder as never))
}) {}

/** Classes as tagged plain objects, and without undefined members: to an optional property they mean the same. */
const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null) return value
  const prototype: object | null = Object.getPrototypeOf(value)
  const name = prototype === null || prototype === Object.prototype ? "Object" : value.constructor.name
  if (prototype !== null && !Object.hasOwn(prototype, "constructor")) return value
  if (!["Object", "Point", "Line", "Shape"].includes(name)) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return { class: name, members: Object.fromEntries(members.map(([key, member]) => [key, plain(member)])) }
}

/** The paths of a JSON value and all values inside. */
const pathsOf = (json: unknown): ReadonlyArray<ReadonlyArray<string>> =>
  typeof json !== "object" || json === null
    ? [[]]
    : [[], ...Object.entries(json).flatMap(([key, member]) => pathsOf(member).map((path) => [key, ...path]))]

const nth = <A>(items: ReadonlyArray<A>, n: number): A | undefined => items[Math.abs(n) % items.length]

const edit = (json: any, [key, ...rest]: ReadonlyArray<string>, f: (parent: any, key: string) => void): void =>
  rest.length === 0 ? f(json, key!) : edit(json[key!], rest, f)

const replaceNode = (json: unknown, where: number, by: unknown): unknown => {
  const path = nth(pathsOf(json), where)!
  if (path.length === 0) return by
  const copy = structuredClone(json)
  edit(copy, path, (parent, key) => parent[key] = by)
  return copy
}

const removeMember = (json: unknown, where: number): unknown => {
  const path = nth(pathsOf(json).filter((path) => path.length > 0), where)
  const copy = structuredClone(json)
  if (path !== undefined) {
    edit(copy, path, (parent, key) => Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key])
  }
  return copy
}

describe("Tool", () => {
  describe("refusals", () => {
    const refused = (name: string, options: Tool.Options<any, any, any>) => {
      const error = failure(Tool.makeResult(name, options))
      assert.instanceOf(error, Tool.InvalidDefinition)
      assert.strictEqual(error.tool, name)
      assert.strictEqual(
        error.message,
        `The tool ${JSON.stringify(name)} cannot be defined: ${error.path} is ${error.reason}`
      )
      assert.throws(() => Tool.make(name, options), error.message)
      return [error.path, error.reason]
    }

    it.each(["", " ", "a b", "a/b", "ä", "a\n", "a:b", "x".repeat(129)])(
      verifies("TOOL-5@server")("the name %j is refused"),
      (name) => {
        assert.deepStrictEqual(refused(name, {}), ["the name", "not 1 to 128 characters of A-Z a-z 0-9 _ . -"])
      }
    )

    it.each(["a", "search_docs", "Search.Docs-2", "0", "_", ".", "-", "x".repeat(128)])(
      verifies("TOOL-5@server")("the name %j is taken"),
      (name) => {
        assert.strictEqual(Tool.make(name).declaration.name, name)
      }
    )

    it.each(
      [
        ["a string", Schema.String],
        ["a number", Schema.Int],
        ["an array", Schema.Array(Schema.String)],
        ["a tuple", Schema.Tuple([Schema.String])],
        ["a literal", Schema.Literal("a")],
        ["null", Schema.Null],
        ["an object or null", Schema.NullOr(Schema.Struct({ a: Schema.String }))],
        ["an object or a string", Schema.Union([Schema.Struct({ a: Schema.String }), Schema.String])],
        ["nothing", Schema.Never],
        ["anything", Schema.Unknown],
        ["a date", Schema.Date],
        [
          "a class that is a string in JSON",
          Schema.Struct({ a: Schema.String }).pipe(Schema.encodeTo(Schema.String, {
            decode: SchemaGetter.transform((a: string) => ({ a })),
            encode: SchemaGetter.transform((value: { readonly a: string }) => value.a)
          }))
        ],
        ["a document of a string", Tool.jsonSchema({ type: "string" })],
        ["a document without a type", Tool.jsonSchema({ properties: {} })],
        ["a document of two types", Tool.jsonSchema({ type: ["object", "null"] })]
      ] satisfies ReadonlyArray<[string, Schema.Top]>
    )(verifies("TOOL-6", "JS-7")("%s is no input"), (_title, input) => {
      assert.deepStrictEqual(refused("t", { input }), ["input", "not an object in JSON"])
    })

    const Opaque = Schema.instanceOf(URLSearchParams)
    const reason = "a declaration without a JSON codec (annotate it with toCodecJson)"

    it.each(
      [
        [{ input: Opaque }, "input"],
        [{ input: Schema.Struct({ filter: Schema.Struct({ query: Opaque }) }) }, "input.filter.query"],
        [{ input: Schema.Struct({ list: Schema.Array(Opaque) }) }, "input.list.*"],
        [{ input: Schema.Struct({ pair: Schema.Tuple([Schema.String, Opaque]) }) }, "input.pair.1"],
        [{ input: Schema.Record(Schema.String, Opaque) }, "input.*"],
        [{ input: Schema.Struct({ maybe: Schema.optional(Opaque) }) }, "input.maybe"],
        [{ input: Schema.Struct({ either: Schema.Union([Schema.String, Opaque]) }) }, "input.either"],
        [{ input: Schema.Struct({ option: Schema.Option(Opaque) }) }, "input.option"],
        [
          { input: Schema.Struct({ later: Schema.suspend(() => Schema.Struct({ deep: Opaque })) }) },
          "input.later.deep"
        ],
        [{ output: Opaque }, "output"],
        [{ output: Schema.Array(Schema.Struct({ a: Opaque })) }, "output.*.a"],
        [{ failure: Schema.Struct({ cause: Opaque }) }, "failure.cause"]
      ] satisfies ReadonlyArray<[Tool.Options<any, any, any>, string]>
    )("a part without a JSON form is refused with its path (case %#)", (options, path) => {
      assert.deepStrictEqual(refused("opaque", options), [path, reason])
    })

    it("a property that is a symbol is refused", () => {
      assert.deepStrictEqual(refused("t", { input: Schema.Struct({ [Symbol.for("s")]: Schema.String }) }), [
        "input.Symbol(s)",
        "a property name that is not a string"
      ])
    })

    it("an optional property that every object has already is refused: it would never be absent", () => {
      const reason = "optional and named as something that every object has"
      for (const optional of [Schema.optionalKey(Schema.String), Schema.optional(Schema.Unknown)]) {
        for (const name of ["constructor", "toString", "hasOwnProperty"]) {
          assert.deepStrictEqual(refused("t", { input: Schema.Struct({ in: Schema.Struct({ [name]: optional }) }) }), [
            `input.in.${name}`,
            reason
          ])
        }
      }
      const { codec } = Tool.make("t", { input: Schema.Struct({ constructor: Schema.String }) })
      assert.deepStrictEqual(Schema.decodeUnknownSync(codec.input.decode)({ constructor: "Ferrari" }), {
        constructor: "Ferrari"
      })
      assert.throws(() => Schema.decodeUnknownSync(codec.input.decode)({}), /constructor/)
    })

    it("what JSON cannot hold is refused with its path: it would empty the list it is part of", () => {
      const big = 1n as never
      assert.deepStrictEqual(refused("t", { meta: { a: [{ b: big }] } }), ["_meta.a.0.b", "not JSON"])
      assert.deepStrictEqual(refused("t", { meta: { a: NaN } }), ["_meta.a", "not JSON"])
      assert.deepStrictEqual(refused("t", { input: Tool.jsonSchema({ type: "object", default: { a: big } }) }), [
        "inputSchema.default.a",
        "not JSON"
      ])
      const cyclic: Record<string, unknown> = {}
      cyclic["a"] = cyclic
      assert.match(refused("t", { meta: cyclic as never })[0]!, /^_meta\.a\.a/)
      assert.isDefined(Tool.make("t", { meta: { a: new Json.ExactNumber("12345678901234567890"), b: null } }))
    })

    it("a declaration with a JSON codec passes", () => {
      const Query = Schema.instanceOf(URLSearchParams, {
        toCodecJson: () =>
          Schema.link<URLSearchParams>()(Schema.String, {
            decode: SchemaGetter.transform((text: string) => new URLSearchParams(text)),
            encode: SchemaGetter.transform((query: URLSearchParams) => query.toString())
          })
      })
      assert.deepStrictEqual(property(Query), { type: "string" })
      assert.strictEqual(success(encodeWith(Query, new URLSearchParams("a=1"))), "a=1")
    })

    it(verifies("ICON-1")("an icon from elsewhere is refused"), () => {
      assert.throws(() => Tool.make("a", { icons: [{ src: "javascript:alert(1)" }] }), /"a".*icons.*source/)
      assert.throws(() => Tool.make("a", { icons: [{ src: "data:,", sizes: ["big"] }] }), /"a".*icons.*size/)
    })

    it("a wrong header annotation is refused with its path", () => {
      const header = (name: string, schema: Schema.Top = Schema.String) =>
        schema.pipe(Tool.header(name) as never) as Schema.Top
      const fields = (region: Schema.Top, more: Record<string, Schema.Top> = {}) => ({
        input: Schema.Struct({ region, ...more })
      })
      for (const name of ["My Region", "", "X\r\nEvil: 1", "X\u0000", "Rägion", "a:b"]) {
        assert.deepStrictEqual(refused("t", fields(header(name))), [
          "input.region",
          "annotated wrongly: the header name is not an HTTP token"
        ])
      }
      assert.deepStrictEqual(refused("t", fields(header("Region", Schema.Number))), [
        "input.region",
        "annotated wrongly: only a string, an integer or a boolean can be a header"
      ])
      assert.deepStrictEqual(refused("t", fields(header("Region"), { other: header("region") })), [
        "input.other",
        "annotated wrongly: the header name is used twice"
      ])
      assert.deepStrictEqual(refused("t", fields(Schema.Array(header("Region")))), [
        "input.region.items",
        "annotated wrongly: the annotation is not reachable through `properties` alone"
      ])
    })
  })

  describe("the declaration", () => {
    it(verifies("TOOL-4")("has what the definition says, and nothing else"), () => {
      assert.deepStrictEqual(Tool.make("bare").declaration as unknown, {
        name: "bare",
        inputSchema: { type: "object" }
      })
      const full = Tool.make("full", {
        title: "Full",
        description: "All of it",
        input: Schema.Struct({ a: Schema.String }),
        output: Schema.String,
        failure: Schema.Struct({ why: Schema.String }),
        annotations: { title: "T", readOnly: false, destructive: false, idempotent: true, openWorld: false },
        icons: [{ src: "data:," }],
        meta: { "com.example/a": 1 },
        requiredCapabilities: { sampling: {} }
      })
      assert.deepStrictEqual(full.declaration as unknown, {
        name: "full",
        title: "Full",
        description: "All of it",
        inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        outputSchema: { type: "string" },
        annotations: {
          title: "T",
          readOnlyHint: false,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false
        },
        icons: [{ src: "data:," }],
        _meta: { "com.example/a": 1 }
      })
      assert.deepStrictEqual(full.requiredCapabilities, { sampling: {} })
      assert.deepStrictEqual(
        Tool.make("some", { annotations: { readOnly: true } }).declaration["annotations"] as unknown,
        {
          readOnlyHint: true
        }
      )
    })

    it("is what the revision publishes", () => {
      for (const input of [undefined, Schema.Struct({ a: Schema.String }), Point, Tree, Schema.Union([Point, Line])]) {
        const { declaration } = Tool.make("t", {
          ...(input === undefined ? {} : { input }),
          output: Tree,
          annotations: { readOnly: true }
        })
        assert.strictEqual(problems(published("Tool"), declaration), "")
        assert.strictEqual((declaration.inputSchema as { readonly type: unknown }).type, "object")
      }
    })

    it("a tool is told from other values", () => {
      assert.isTrue(Tool.isTool(Tool.make("t")))
      for (const other of [null, undefined, {}, "t", Tool.make("t").declaration]) assert.isFalse(Tool.isTool(other))
    })
  })

  describe("published documents are lean", () => {
    const Text = Schema.String
    it.each(
      [
        ["a string", Text, { type: "string" }],
        ["a number", Schema.Number, { type: "number" }],
        ["a finite number", Schema.Finite, { type: "number" }],
        ["an integer", Schema.Int, { type: "integer" }],
        ["a boolean", Schema.Boolean, { type: "boolean" }],
        ["null", Schema.Null, { type: "null" }],
        ["anything", Schema.Unknown, {}],
        ["any JSON", Schema.Json, {}],
        ["an optional", Schema.optional(Text), { type: "string", "?": true }],
        ["an optional integer", Schema.optional(Schema.Int), { type: "integer", "?": true }],
        ["an optional key", Schema.optionalKey(Text), { type: "string", "?": true }],
        ["a nullable", Schema.NullOr(Text), { anyOf: [{ type: "string" }, { type: "null" }] }],
        ["an optional nullable", Schema.optional(Schema.NullOr(Text)), {
          anyOf: [{ type: "string" }, { type: "null" }],
          "?": true
        }],
        ["an optional nullable key", Schema.optionalKey(Schema.NullOr(Schema.Int)), {
          anyOf: [{ type: "integer" }, { type: "null" }],
          "?": true
        }],
        ["an optional union", Schema.optional(Schema.Union([Text, Schema.Int])), {
          anyOf: [{ type: "string" }, { type: "integer" }],
          "?": true
        }],
        ["a non-empty string", Schema.NonEmptyString, { type: "string", minLength: 1 }],
        ["a bounded string", Text.check(Schema.isMaxLength(9), Schema.isPattern(/^a/u)), {
          type: "string",
          maxLength: 9,
          pattern: "^a"
        }],
        ["a bounded integer", Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })), {
          type: "integer",
          minimum: 1,
          maximum: 50
        }],
        ["an integer bounded below", Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)), {
          type: "integer",
          minimum: 0
        }],
        ["an optional bounded integer", Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(3))), {
          type: "integer",
          exclusiveMinimum: 3,
          "?": true
        }],
        ["a bounded number", Schema.Number.check(Schema.isLessThan(1)), { type: "number", exclusiveMaximum: 1 }],
        [
          "a number with a written bound of an integer",
          Schema.Number.check(Schema.isLessThanOrEqualTo(Number.MAX_SAFE_INTEGER)),
          {
            type: "number",
            maximum: Number.MAX_SAFE_INTEGER
          }
        ],
        ["a bounded array", Schema.Array(Text).check(Schema.isMinLength(1), Schema.isMaxLength(3)), {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: 3
        }],
        ["a non-empty array", Schema.NonEmptyArray(Schema.Int), {
          type: "array",
          items: { type: "integer" },
          minItems: 1,
          prefixItems: [{ type: "integer" }]
        }],
        ["literals", Schema.Literals(["a", "b"]), { type: "string", enum: ["a", "b"] }],
        ["a literal", Schema.Literal("a"), { type: "string", enum: ["a"] }],
        ["a tuple", Schema.Tuple([Text, Schema.Int]), {
          type: "array",
          prefixItems: [{ type: "string" }, { type: "integer" }],
          minItems: 2,
          maxItems: 2
        }],
        ["a record", Schema.Record(Text, Schema.Int), { type: "object", additionalProperties: { type: "integer" } }],
        ["a record of anything", Schema.Record(Text, Schema.Unknown), { type: "object" }],
        ["an empty struct", Schema.Struct({}), { type: "object" }],
        ["a date", Schema.Date, { type: "string" }],
        ["bytes", Schema.Uint8Array, { type: "string", contentEncoding: "base64", format: "byte" }],
        ["a big integer", Schema.BigInt, { type: "string", pattern: "^-?\\d+$" }],
        [
          "what a description says",
          Text.annotate({
            title: "T",
            description: "D",
            examples: ["e", "f"],
            default: "d",
            format: "email"
          }),
          { type: "string", title: "T", description: "D", examples: ["e", "f"], default: "d", format: "email" }
        ],
        ["a described integer", Schema.Int.annotate({ description: "D" }), { type: "integer", description: "D" }],
        ["an optional of what is described", Schema.optional(Text.annotate({ description: "D" })), {
          type: "string",
          description: "D",
          "?": true
        }],
        ["a described optional", Schema.optional(Text).annotate({ description: "D" }), {
          type: "string",
          description: "D",
          "?": true
        }],
        [
          "a described optional of what is described",
          Schema.optional(Schema.Int.annotate({ description: "I", title: "T" })).annotate({
            description: "D"
          }),
          { type: "integer", title: "T", description: "D", "?": true }
        ],
        ["a described optional nullable", Schema.optional(Schema.NullOr(Text)).annotate({ description: "D" }), {
          anyOf: [{ type: "string" }, { type: "null" }],
          description: "D",
          "?": true
        }],
        ["a described optional key", Schema.optionalKey(Text).annotate({ description: "D" }), {
          type: "string",
          description: "D",
          "?": true
        }],
        ["a header", Text.pipe(Tool.header("Region")), { type: "string", "x-mcp-header": "Region" }],
        ["an optional header", Schema.optional(Text).pipe(Tool.header("Region")), {
          type: "string",
          "x-mcp-header": "Region",
          "?": true
        }],
        ["a header of an optional integer", Schema.optionalKey(Schema.Int.pipe(Tool.header("Count"))), {
          type: "integer",
          "x-mcp-header": "Count",
          "?": true
        }],
        [
          "a default and examples that look like schemas",
          Schema.Struct({ type: Schema.String }).annotate({
            default: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, additionalProperties: true },
            examples: [{ type: "integer", maximum: Number.MAX_SAFE_INTEGER }]
          } as never),
          {
            type: "object",
            properties: { type: { type: "string" } },
            required: ["type"],
            default: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, additionalProperties: true },
            examples: [{ type: "integer", maximum: Number.MAX_SAFE_INTEGER }]
          }
        ],
        [
          "properties named as keywords are",
          Schema.Struct({
            minimum: Schema.Int,
            additionalProperties: Schema.Boolean,
            allOf: Text,
            $ref: Text,
            enum: Schema.optional(Schema.Int)
          }),
          {
            type: "object",
            properties: {
              minimum: { type: "integer" },
              additionalProperties: { type: "boolean" },
              allOf: { type: "string" },
              $ref: { type: "string" },
              enum: { type: "integer" }
            },
            required: ["minimum", "additionalProperties", "allOf", "$ref"]
          }
        ],
        ["a class", Point, {
          type: "object",
          properties: { x: { type: "integer" }, y: { type: "integer" } },
          required: ["x"]
        }]
      ] satisfies ReadonlyArray<[string, Schema.Top, object]>
    )("%s", (_title, schema, document) => {
      assert.deepStrictEqual(property(schema), document)
    })

    it("a definition used once stands where it is used, one used twice is shared", () => {
      const point = { type: "object", properties: { x: { type: "integer" }, y: { type: "integer" } }, required: ["x"] }
      assert.deepStrictEqual(inputSchema(Schema.Struct({ at: Point })), {
        type: "object",
        properties: { at: point },
        required: ["at"]
      })
      assert.deepStrictEqual(inputSchema(Line), {
        type: "object",
        properties: { from: { $ref: "#/$defs/PointEncoded" }, to: { $ref: "#/$defs/PointEncoded" } },
        required: ["from", "to"],
        $defs: { PointEncoded: point }
      })
    })

    it("shared parts are repeated where that is asked for; what contains itself stays a reference", () => {
      const Lines = Schema.Struct({ lines: Schema.Array(Line), from: Point, trees: Schema.Array(Tree), tree: Tree })
      const options = { input: Lines, output: Lines, inlineRefs: true } as const
      const { inputSchema, outputSchema } = Tool.make("lines", options).declaration as Record<string, Json.Object>
      assert.deepStrictEqual(inputSchema, outputSchema)
      const point = { type: "object", properties: { x: { type: "integer" }, y: { type: "integer" } }, required: ["x"] }
      const line = { type: "object", properties: { from: point, to: point }, required: ["from", "to"] }
      const tree = { $ref: "#/$defs/Tree" }
      assert.deepStrictEqual(inputSchema, {
        type: "object",
        properties: {
          lines: { type: "array", items: line },
          from: point,
          trees: { type: "array", items: tree },
          tree
        },
        required: ["lines", "from", "trees", "tree"],
        $defs: {
          Tree: {
            type: "object",
            properties: { value: { type: "number" }, children: { type: "array", items: tree } },
            required: ["value", "children"]
          }
        }
      })
      // By hand is by hand.
      const document = { type: "object", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string" } } }
      const written = Tool.make("written", { input: Tool.jsonSchema(document), inlineRefs: true })
      assert.deepStrictEqual(written.declaration.inputSchema, document)
    })

    it(verifies("TOOL-6")("classes and recursive schemas are objects at the root"), () => {
      assert.deepStrictEqual(inputSchema(Point), {
        type: "object",
        properties: { x: { type: "integer" }, y: { type: "integer" } },
        required: ["x"]
      })
      const tree = {
        type: "object",
        properties: { value: { type: "number" }, children: { type: "array", items: { $ref: "#/$defs/Tree" } } },
        required: ["value", "children"]
      }
      assert.deepStrictEqual(inputSchema(Tree), { ...tree, $defs: { Tree: tree } })
      assert.deepStrictEqual(outputSchema(Schema.Array(Tree)), {
        type: "array",
        items: { $ref: "#/$defs/Tree" },
        $defs: { Tree: tree }
      })
      const folder = {
        type: "object",
        properties: { name: { type: "string" }, folders: { type: "array", items: { $ref: "#/$defs/FolderEncoded" } } },
        required: ["name", "folders"]
      }
      assert.deepStrictEqual(inputSchema(Folder), { ...folder, $defs: { FolderEncoded: folder } })
    })

    it("references reach definitions whose identifier a pointer has to escape", () => {
      for (const identifier of ["my/Tree", "my~Tree", "Bäume", "a b", "a%2Fb", "#", "Tree<T>"]) {
        interface Node {
          readonly nodes: ReadonlyArray<Node>
        }
        const Node: Schema.Codec<Node> = Schema.Struct({ nodes: Schema.Array(Schema.suspend(() => Node)) }).annotate({
          identifier
        })
        const document = inputSchema(Node) as { readonly type: string; readonly $defs: object }
        assert.strictEqual(document.type, "object")
        assert.deepStrictEqual(Object.keys(document.$defs), [identifier])
        const validate = compile(document)
        assert.isTrue(validate({ nodes: [{ nodes: [] }] }), identifier)
        assert.isFalse(validate({ nodes: [{ nodes: [{}] }] }), identifier)
        const union = inputSchema(Schema.Union([Node, Schema.Struct({ list: Schema.Array(Node) })])) as {
          readonly type: string
        }
        assert.strictEqual(union.type, "object")
        assert.isFalse(compile(union)({ nodes: [{}] }), identifier)
      }
    })

    it("a union of objects is an object", () => {
      const document = inputSchema(Schema.Union([
        Schema.TaggedStruct("Circle", { radius: Schema.Number }),
        Schema.TaggedStruct("Square", { side: Schema.optional(Schema.Number) })
      ]))
      assert.deepStrictEqual(document, {
        type: "object",
        anyOf: [
          {
            type: "object",
            properties: { _tag: { type: "string", enum: ["Circle"] }, radius: { type: "number" } },
            required: ["_tag", "radius"]
          },
          {
            type: "object",
            properties: { _tag: { type: "string", enum: ["Square"] }, side: { type: "number" } },
            required: ["_tag"]
          }
        ]
      })
    })

    it("two classes with the same identifier are two definitions", () => {
      const document = inputSchema(Schema.Struct({ a: Same, b: AlsoSame, c: Same, d: AlsoSame })) as {
        readonly properties: Record<string, { readonly $ref: string }>
        readonly $defs: object
      }
      assert.strictEqual(Object.keys(document.$defs).length, 2)
      const validate = compile(document)
      assert.isTrue(validate({ a: { a: "" }, b: { b: 1 }, c: { a: "" }, d: { b: 1 } }))
      assert.isFalse(validate({ a: { b: 1 }, b: { b: 1 }, c: { a: "" }, d: { b: 1 } }))
      assert.isFalse(validate({ a: { a: "" }, b: { a: "" }, c: { a: "" }, d: { b: 1 } }))
    })

    it("nothing is said of members that are not named", () => {
      assert.notInclude(JSON.stringify(inputSchema(Line)), "additionalProperties")
      const closed = Schema.Struct({ a: Schema.String, nested: Schema.Record(Schema.String, Schema.Never) })
      assert.deepStrictEqual((inputSchema(closed) as Json.Object)["properties"] as unknown, {
        a: { type: "string" },
        nested: { type: "object", additionalProperties: false }
      })
    })

    it(verifies("JS-6")("a hand-written document is published word for word"), () => {
      const document = {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          n: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
          r: { type: "string", "x-mcp-header": "Region" }
        },
        allOf: [{ type: "object" }],
        additionalProperties: true,
        $defs: { unused: {} },
        unevaluatedProperties: false
      }
      const Checked = Schema.Struct({ n: Schema.Int, r: Schema.optionalKey(Schema.String) })
      for (
        const input of [
          Tool.jsonSchema(document),
          Tool.jsonSchema(document, Checked),
          Tool.jsonSchema(document, Checked.check(Schema.makeFilter(() => true))),
          Tool.jsonSchema(document, Checked).check(Schema.makeFilter(() => true)),
          Tool.jsonSchema(document, Point)
        ]
      ) {
        const tool = Tool.make("t", { input, output: input })
        assert.strictEqual(tool.declaration.inputSchema, document)
        assert.strictEqual(tool.declaration["outputSchema"], document)
        assert.deepStrictEqual(tool.headers as unknown, [{ header: "mcp-param-region", path: ["r"], type: "string" }])
      }
      const decode = Schema.decodeUnknownExit(
        Tool.make("t", { input: Tool.jsonSchema(document, Checked) }).codec.input.decode
      )
      assert.strictEqual(decode({ n: 1 })._tag, "Success")
      assert.strictEqual(decode({ n: "1" })._tag, "Failure")
    })

    it("a hand-written document without a schema lets any object through unchanged", () => {
      const { codec } = Tool.make("t", { input: Tool.jsonSchema({ type: "object" }) })
      const text = `{"a":[1,{"b":null}],"n":12345678901234567890,"__proto__":{"admin":true}}`
      const value = Schema.decodeUnknownSync(codec.input.decode)(success(Json.parse(text)))
      assert.strictEqual(Json.stringify(value), text)
      assert.strictEqual((value as { readonly admin?: unknown }).admin, undefined)
      assert.strictEqual(Json.stringify(Schema.encodeSync(codec.input.encode)(value)), text)
      for (const other of [null, [], "a", 1]) {
        assert.strictEqual(Schema.decodeUnknownExit(codec.input.decode)(other)._tag, "Failure")
      }
    })
  })

  describe("what is published is what decodes", () => {
    class Shape extends Schema.TaggedClass<Shape>()("Shape", {
      corners: Schema.Array(Point),
      name: Schema.optional(Schema.String)
    }) {}

    const schemas = {
      scalars: Schema.Struct({
        s: Schema.String,
        n: Schema.Number.check(Schema.isFinite()),
        i: Schema.Int,
        b: Schema.Boolean,
        z: Schema.Null
      }),
      optionals: Schema.Struct({
        a: Schema.optional(Schema.String),
        b: Schema.optionalKey(Schema.Int),
        c: Schema.NullOr(Schema.String),
        d: Schema.optional(Schema.NullOr(Schema.Boolean)),
        e: Schema.optionalKey(Schema.NullOr(Schema.Int)),
        g: Schema.optional(Schema.Union([Schema.String, Schema.Int])),
        h: Schema.optional(Schema.Struct({ inner: Schema.optional(Schema.String) }))
      }),
      bounds: Schema.Struct({
        n: Schema.Int.check(Schema.isBetween({ minimum: -5, maximum: 5 })),
        s: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(4)),
        l: Schema.Array(Schema.Int).check(Schema.isMaxLength(2))
      }),
      collections: Schema.Struct({
        tuple: Schema.Tuple([Schema.String, Schema.Int]),
        record: Schema.Record(Schema.String, Schema.Int),
        array: Schema.Array(Schema.NullOr(Schema.String)),
        nonEmpty: Schema.NonEmptyArray(Schema.Boolean)
      }),
      codecs: Schema.Struct({
        date: Schema.Date,
        bytes: Schema.Uint8Array,
        big: Schema.BigInt,
        option: Schema.Option(Schema.Int),
        url: Schema.URL,
        utc: Schema.DateTimeUtc,
        duration: Schema.Duration,
        decimal: Schema.BigDecimal
      }),
      encodings: Schema.Struct({
        number: Schema.NumberFromString.check(Schema.isFinite()),
        date: Schema.DateFromString,
        trimmed: Schema.Trim
      }),
      literals: Schema.Struct({ a: Schema.Literals(["x", "y"]), b: Schema.Literals([1, 2]), c: Schema.Literal(true) }),
      union: Schema.Union([
        Schema.TaggedStruct("A", { a: Schema.optional(Schema.Int) }),
        Schema.TaggedStruct("B", { b: Schema.String })
      ]),
      classes: Schema.Struct({ shape: Shape, line: Line, twice: Shape }),
      recursive: Tree,
      unknown: Schema.Struct({ json: Schema.Json }),
      array: Schema.Array(Schema.String),
      scalar: Schema.Int
    } satisfies Record<string, Schema.Top>
    const withOptionals = new Set(["optionals", "union", "classes"])
    // Their documents say less than they check: a date is a text, and not every text is one.
    const checkedBeyondDocument = new Set(["codecs", "encodings"])
    // Integers that are not safe are left out: that bound is enforced, and not printed.
    const leaf = Schema.Union([
      Schema.Int,
      Schema.String,
      Schema.Boolean,
      Schema.Null,
      Schema.Literals(["x", "A", 0.5])
    ])
    const anyJson = Schema.Union([
      leaf,
      Schema.Array(leaf),
      Schema.Record(Schema.Literals(["a", "b", "x", "y", "_tag"]), Schema.Union([leaf, Schema.Array(leaf)]))
    ])

    for (const [name, schema] of Object.entries(schemas) as ReadonlyArray<[string, Schema.Codec<unknown, unknown>]>) {
      const tool = Tool.make("t", { output: schema })
      const document = tool.declaration["outputSchema"] as object
      const codec = tool.codec.output as Tool.Direction<Schema.Codec<unknown, unknown>>
      const validate = compile(document)
      const decode = Schema.decodeUnknownExit(codec.decode)

      it.prop(
        `${name}: a value is encoded to what the document accepts, and decoded to an equal value`,
        [schema],
        ([value]) => {
          const text = Json.stringify(Schema.encodeSync(codec.encode)(value))
          const json = JSON.parse(text)
          assert.strictEqual(problems(validate, json), "")
          const decoded = Schema.decodeUnknownSync(codec.decode)(json)
          assert.strictEqual(Json.stringify(Schema.encodeSync(codec.encode)(decoded)), text)
          assert.isTrue(Equal.equals(plain(decoded), plain(value)), text)
        }
      )

      it.prop(
        `${name}: what the document refuses for a type or a missing member, the decoder refuses`,
        [schema, Schema.Int, Schema.Int],
        ([value, kind, where]) => {
          const wrong = nth([null, "text", 1.5, true, [], {}, -7], kind)
          const json = JSON.parse(Json.stringify(Schema.encodeSync(codec.encode)(value)))
          // A null in place of an optional property is taken for its absence.
          const isTaken = wrong === null && json !== null && withOptionals.has(name)
          for (const broken of [isTaken ? json : replaceNode(json, where, wrong), removeMember(json, where)]) {
            if (!validate(broken)) assert.strictEqual(decode(broken)._tag, "Failure", JSON.stringify(broken))
          }
        }
      )

      if (checkedBeyondDocument.has(name)) continue
      it.prop(
        `${name}: what the document accepts, the decoder accepts`,
        [schema, anyJson, Schema.Int],
        ([value, other, where]) => {
          const json = JSON.parse(Json.stringify(Schema.encodeSync(codec.encode)(value)))
          for (const changed of [replaceNode(json, where, other), removeMember(json, where), other]) {
            if (validate(changed)) assert.strictEqual(decode(changed)._tag, "Success", JSON.stringify(changed))
          }
        },
        { arbitrary: { runs: 500 } }
      )
    }

    it("a value of a property that is optional may be undefined, and is then left out", () => {
      const schema = Schema.Struct({
        a: Schema.optional(Schema.String),
        b: Schema.optional(Schema.NullOr(Schema.String)),
        c: Schema.optional(Schema.Union([Schema.String, Schema.Int])),
        d: Schema.optional(Schema.Date),
        e: Schema.optional(Schema.String).annotate({ description: "D" })
      })
      const nothing = { a: undefined, b: undefined, c: undefined, d: undefined, e: undefined }
      assert.deepStrictEqual(success(encodeWith(schema, nothing)), {})
      assert.deepStrictEqual(success(encodeWith(schema, {})), {})
      assert.deepStrictEqual(success(encodeWith(schema, { ...nothing, b: null, d: new Date(0), e: "e" })), {
        b: null,
        d: "1970-01-01T00:00:00.000Z",
        e: "e"
      })
      assert.deepStrictEqual(success(encodeWith(Schema.Array(schema), [nothing])), [{}])
    })

    it("a check of an optional as a whole is enforced, and changes neither the document nor the wire", () => {
      const schema = Schema.Struct({
        p: Schema.optional(Schema.String).check(Schema.makeFilter((text) => text !== "no")).annotate({
          description: "D"
        })
      })
      assert.deepStrictEqual(outputSchema(schema), {
        type: "object",
        properties: { p: { type: "string", description: "D" } }
      })
      assert.deepStrictEqual(success(encodeWith(schema, { p: undefined })), {})
      assert.deepStrictEqual(success(encodeWith(schema, { p: "yes" })), { p: "yes" })
      assert.strictEqual(encodeWith(schema, { p: "no" })._tag, "Failure")
      assert.strictEqual(decodeWith(schema, { p: "no" })._tag, "Failure")
      assert.strictEqual(decodeWith(schema, { p: null })._tag, "Success")
    })

    it("a null for an optional property counts as absent, where the author did not write null", () => {
      const schema = Schema.Struct({
        a: Schema.optional(Schema.String),
        b: Schema.optional(Schema.NullOr(Schema.String)),
        e: Schema.optional(Schema.Int).annotate({ description: "D" })
      })
      const decoded = success(decodeWith(schema, { a: null, b: null, e: null })) as Record<string, unknown>
      assert.strictEqual(decoded["a"], undefined)
      assert.strictEqual(decoded["b"], null)
      assert.strictEqual(decoded["e"], undefined)
      assert.strictEqual(
        decodeWith(Schema.Struct({ a: Schema.optionalKey(Schema.String) }), { a: null })._tag,
        "Failure"
      )
      assert.strictEqual(decodeWith(Schema.Struct({ a: Schema.String }), { a: null })._tag, "Failure")
    })

    it("a struct without fields is an object, not just anything", () => {
      for (const other of [null, 1, "a", [], true]) {
        assert.strictEqual(decodeWith(Schema.Struct({}), other)._tag, "Failure")
      }
      assert.strictEqual(decodeWith(Schema.Struct({}), { a: 1 })._tag, "Success")
    })

    it("neither NaN nor an infinity is written or read", () => {
      const schema = Schema.Struct({ n: Schema.Number })
      for (const n of [NaN, Infinity, -Infinity]) assert.strictEqual(encodeWith(schema, { n })._tag, "Failure")
      for (const n of ["NaN", "Infinity", "-Infinity", null]) {
        assert.strictEqual(decodeWith(schema, { n })._tag, "Failure")
      }
    })

    it("a check that the document cannot say is enforced all the same", () => {
      const Even = Schema.Int.check(Schema.makeFilter((n) => n % 2 === 0 ? undefined : "an even number"))
      assert.strictEqual(decodeWith(Schema.Struct({ n: Even }), { n: 3 })._tag, "Failure")
      assert.strictEqual(decodeWith(Schema.Struct({ n: Schema.optional(Even) }), { n: 3 })._tag, "Failure")
      assert.strictEqual(encodeWith(Schema.Struct({ n: Schema.optional(Even) }), { n: 3 })._tag, "Failure")
      assert.strictEqual(decodeWith(Schema.Struct({ n: Schema.Int }), { n: 2 ** 53 })._tag, "Failure")
    })

    it.effect("a schema that needs a service is decoded and encoded with it", () =>
      Effect.gen(function*() {
        const { codec } = Tool.make("t", {
          output: Schema.Struct({ at: Schema.DateTimeUtc, o: Schema.Option(Schema.String), d: Schema.BigDecimal })
        })
        const value = { at: DateTime.makeUnsafe(0), o: Option.some("a"), d: BigDecimal.fromStringUnsafe("1.50") }
        const json = yield* Schema.encodeEffect(codec.output.encode)(value)
        assert.isTrue(Equal.equals(yield* Schema.decodeUnknownEffect(codec.output.decode)(json), value))
      }))
  })

  describe("numbers that a double cannot hold", () => {
    const big = "12345678901234567890"
    const parse = (text: string) => success(Json.parse(text))

    it.each(
      [
        ["a number", Schema.Struct({ a: Schema.Struct({ n: Schema.Number }) }), `{"a":{"n":${big}}}`, `["a"]["n"]`],
        ["a finite number", Schema.Struct({ n: Schema.Finite }), `{"n":1e400}`, `["n"]`],
        ["an integer", Schema.Struct({ n: Schema.Int }), `{"n":9007199254740993}`, `["n"]`],
        ["an optional integer", Schema.Struct({ n: Schema.optional(Schema.Int) }), `{"n":${big}}`, `["n"]`],
        [
          "an integer in a list",
          Schema.Struct({ list: Schema.Array(Schema.Int) }),
          `{"list":[1,${big}]}`,
          `["list"][1]`
        ],
        ["a string", Schema.Struct({ n: Schema.String }), `{"n":${big}}`, `["n"]`],
        ["a struct", Schema.Struct({ n: Schema.Struct({}) }), `{"n":${big}}`, `["n"]`],
        [
          "a struct of optionals",
          Schema.Struct({ n: Schema.Struct({ source: Schema.optional(Schema.String) }) }),
          `{"n":${big}}`,
          `["n"]`
        ],
        ["a record", Schema.Struct({ n: Schema.Record(Schema.String, Schema.Unknown) }), `{"n":${big}}`, `["n"]`]
      ] satisfies ReadonlyArray<[string, Schema.Top, string, string]>
    )("fail where %s is declared, and the path is named", (_title, schema, text, path) => {
      const message = String(failure(decodeWith(schema, parse(text))))
      assert.include(message, path)
      assert.notInclude(message, big)
    })

    it("keep their digits where any JSON is declared", () => {
      const schema = Schema.Struct({
        unknown: Schema.Unknown,
        json: Schema.Json,
        record: Schema.Record(Schema.String, Schema.Unknown),
        optional: Schema.optional(Schema.Unknown),
        list: Schema.Array(Schema.Json)
      })
      const text =
        `{"unknown":{"n":${big}},"json":[${big},1e400],"record":{"n":1.00000000000000000001},"optional":${big},"list":[${big}]}`
      const decoded = success(decodeWith(schema, parse(text)))
      assert.strictEqual(Json.stringify(success(encodeWith(schema, decoded))), text)
    })

    it("what is no JSON is not written where any JSON is declared", () => {
      const schema = Schema.Struct({ any: Schema.Unknown })
      for (const any of [NaN, Infinity, 1n, () => 1, Symbol("s"), { a: [NaN] }]) {
        assert.strictEqual(encodeWith(schema, { any })._tag, "Failure")
      }
      assert.strictEqual(
        Json.stringify(success(encodeWith(schema, { any: { a: undefined, b: 1 } }))),
        `{"any":{"b":1}}`
      )
    })
  })

  describe("answers", () => {
    it("a reply says more than the output", () => {
      const content = [Content.text("shown")]
      const reply = Tool.reply({ a: 1 }, { content, meta: { "com.example/a": 1 } })
      assert.isTrue(Tool.isReply(reply))
      assert.deepStrictEqual(reply.output, { a: 1 })
      assert.strictEqual(reply.content, content)
      assert.deepStrictEqual(reply.meta, { "com.example/a": 1 })
      assert.isTrue(Tool.isReply(Tool.reply(undefined, {})))
    })

    it("no JSON that a handler passes on can be taken for a reply", () => {
      const shape = Object.fromEntries(Object.entries(Tool.reply(1, { content: [], meta: {} })))
      for (const key of [...Object.keys(shape), "~fairlead/protocol/Tool/Reply"]) {
        assert.isFalse(Tool.isReply({ ...JSON.parse(JSON.stringify(shape)), [key]: key }))
      }
      for (const other of [null, undefined, "a", [], {}]) assert.isFalse(Tool.isReply(other))
    })

    it("an error of a tool says its text", () => {
      const error = Tool.error("The index is being built.")
      assert.instanceOf(error, Tool.ToolError)
      assert.strictEqual(error._tag, "ToolError")
      assert.strictEqual(error.message, "The index is being built.")
      assert.deepStrictEqual(error.content, [Content.text("The index is being built.")])
      assert.strictEqual(
        new Tool.ToolError({ content: [Content.text("a"), Content.text("b")], structured: { a: 1 } }).message,
        "a\nb"
      )
    })
  })

  it("headers come from the annotated properties of the input", () => {
    const tool = Tool.make("t", {
      input: Schema.Struct({
        region: Schema.optional(Schema.Literals(["eu", "us"])).pipe(Tool.header("Region")),
        where: Schema.Struct({ dry: Schema.Boolean.pipe(Tool.header("Dry-Run")) }),
        count: Schema.Int.check(Schema.isGreaterThan(0)).pipe(Tool.header("Count")),
        plain: Schema.String
      })
    })
    assert.deepStrictEqual(tool.headers as unknown, [
      { header: "mcp-param-region", path: ["region"], type: "string" },
      { header: "mcp-param-dry-run", path: ["where", "dry"], type: "boolean" },
      { header: "mcp-param-count", path: ["count"], type: "integer" }
    ])
  })

  it("a definition made from data gives its failure as a value", () => {
    assert.isTrue(Result.isSuccess(Tool.makeResult("t")))
    assert.isTrue(Result.isFailure(Tool.makeResult("no name")))
    assert.strictEqual(success(Tool.makeResult("t", { description: "d" })).declaration["description"], "d")
  })
})
