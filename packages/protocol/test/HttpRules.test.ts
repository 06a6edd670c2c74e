import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { HttpRules, Json, Revision } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { wellFormed } from "./support/arbitraries.ts"
import { failure, success } from "./support/results.ts"

const headersOf = (headers: Record<string, string>) => (name: string): string | undefined =>
  Object.hasOwn(headers, name) ? headers[name] : undefined

const safe = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/

describe("HttpRules", () => {
  describe("header values", () => {
    it.prop(
      verifies("HDR-6", "HDR-16")("any text comes back from its header value, which is visible ASCII"),
      [wellFormed],
      ([text]) => {
        const header = HttpRules.encodeValue(text)
        assert.match(header, safe)
        assert.strictEqual(success(HttpRules.decodeValue(header)), text)
        assert.strictEqual(success(HttpRules.decodeValue(` \t${header}\t `)), text)
      },
      { arbitrary: { runs: 1000 } }
    )

    it.prop("a lone surrogate becomes the replacement character", [Schema.String], ([text]) => {
      const header = HttpRules.encodeValue(text)
      assert.match(header, safe)
      assert.strictEqual(success(HttpRules.decodeValue(header)), text.toWellFormed())
    })

    it.each([
      ["", ""],
      ["us-west1", "us-west1"],
      ["Hello World", "Hello World"],
      ["a  b", "a  b"],
      ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
      [" padded ", "=?base64?IHBhZGRlZCA=?="],
      ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
      ["a\tb", "=?base64?YQli?="],
      ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
      ["=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="],
      ["=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="],
      ["=?base64?abc", "=?base64?abc"],
      ["abc?=", "abc?="],
      ["=?BASE64?YWJj?=", "=?BASE64?YWJj?="],
      ["café", "=?base64?Y2Fmw6k=?="],
      ["X\r\nEvil: 1", "=?base64?WA0KRXZpbDogMQ==?="]
    ])(verifies("HDR-16")("%j is sent as %j"), (value, header) => {
      assert.strictEqual(HttpRules.encodeValue(value), header)
      assert.strictEqual(success(HttpRules.decodeValue(header)), value)
    })

    it.each([
      ["=?base64??=", ""],
      ["  foo  ", "foo"],
      ["\tfoo\t", "foo"],
      ["a\tb", "a\tb"],
      ["=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
      ["SGVsbG8=?=", "SGVsbG8=?="],
      ["=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="],
      ["=?Base64?SGVsbG8=?=", "=?Base64?SGVsbG8=?="],
      ["=?utf-8?SGVsbG8=?=", "=?utf-8?SGVsbG8=?="],
      [" =?base64?77u/YQ==?= ", "\ufeffa"],
      ["=?base64?Pj4/Pz8+?=", ">>???>"]
    ])("%j is read as %j", (header, value) => {
      assert.strictEqual(success(HttpRules.decodeValue(header)), value)
    })

    it.each([
      ["=?base64?=", "is an incomplete base64 value"],
      ["=?base64?SGVsbG8?=", "is not valid base64"],
      ["=?base64?SGVsbG8==?=", "is not valid base64"],
      ["=?base64?SGVs=bG8=?=", "is not valid base64"],
      ["=?base64?S?=", "is not valid base64"],
      ["=?base64?====?=", "is not valid base64"],
      ["=?base64?SGVs!!!!?=", "is not valid base64"],
      ["=?base64?SGVs bG8=?=", "is not valid base64"],
      ["=?base64?-_-_?=", "is not valid base64"],
      ["=?base64?gICA?=", "is not UTF-8"],
      ["=?base64?7aCA?=", "is not UTF-8"],
      ["caf\u00c3\u00a9", "has characters outside visible ASCII"],
      ["\u00a0foo", "has characters outside visible ASCII"],
      ["a\u007fb", "has characters outside visible ASCII"],
      ["a\nb", "has characters outside visible ASCII"],
      ["a\u0000b", "has characters outside visible ASCII"]
    ])("%j is refused: it %s", (header, reason) => {
      assert.strictEqual(failure(HttpRules.decodeValue(header)), reason)
    })

    it.prop("no header value throws", [Schema.String], ([text]) => {
      HttpRules.decodeValue(text)
      HttpRules.decodeValue(`=?base64?${text}?=`)
    })

    it("a value of a million spaces is read in linear time", () => {
      const value = `a${" ".repeat(1_000_000)}b`
      assert.strictEqual(success(HttpRules.decodeValue(value)), value)
    })
  })

  describe("plans", () => {
    const property = (schema: Json.Object) => ({ type: "object", properties: { region: schema } })

    it(
      verifies("HDR-12", "GAP-15")("strings, integers and booleans that properties alone lead to have headers"),
      () => {
        const plan = success(HttpRules.plan({
          type: "object",
          properties: {
            region: { type: "string", "x-mcp-header": "Region" },
            count: { type: "integer", "x-mcp-header": "X-Count" },
            where: {
              type: "object",
              properties: {
                deep: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "!#$%&'*+-.^_`|~9a" } } }
              }
            },
            default: { type: "string", "x-mcp-header": "D" },
            properties: { type: "object", properties: { items: { type: "string", "x-mcp-header": "I" } } },
            "x-mcp-header": { type: "string" },
            plain: { type: "number" }
          }
        }))
        assert.deepStrictEqual(plan as unknown, [
          { header: "mcp-param-region", path: ["region"], type: "string" },
          { header: "mcp-param-x-count", path: ["count"], type: "integer" },
          { header: "mcp-param-!#$%&'*+-.^_`|~9a", path: ["where", "deep", "dry"], type: "boolean" },
          { header: "mcp-param-d", path: ["default"], type: "string" },
          { header: "mcp-param-i", path: ["properties", "items"], type: "string" }
        ])
      }
    )

    it.each(
      [
        ["an empty name", ""],
        ["an object as name", {}],
        ["an array as name", ["Region"]],
        ["null as name", null],
        ["a number as name", 5],
        ["a space", "My Region"],
        ["a colon", "Region:"],
        ["non-ASCII", "Région"],
        ["a tab", "Reg\tion"],
        ["a line break", "X\r\nEvil: 1"],
        ["a slash", "a/b"],
        ["a quote", "\"a\""]
      ] satisfies ReadonlyArray<[string, Json.Value]>
    )(verifies("HDR-12")("%s is refused"), (_title, name) => {
      assert.deepStrictEqual(failure(HttpRules.plan(property({ type: "string", "x-mcp-header": name }))), {
        path: "region",
        reason: "the header name is not an HTTP token"
      })
    })

    it.each(
      ["number", "object", "array", "null", ["string", "null"], ["string"], undefined] satisfies ReadonlyArray<
        Json.Value | undefined
      >
    )(verifies("HDR-12", "GAP-14")("an annotation on the type %j is refused"), (type) => {
      const schema = { ...(type === undefined ? {} : { type }), "x-mcp-header": "Region" }
      assert.deepStrictEqual(failure(HttpRules.plan(property(schema))), {
        path: "region",
        reason: "only a string, an integer or a boolean can be a header"
      })
    })

    it.each([["Region", "Region"], ["Region", "REGION"]])(
      verifies("HDR-12")("the names %s and %s are the same"),
      (a, b) => {
        const twice = {
          type: "object",
          properties: {
            a: { type: "string", "x-mcp-header": a },
            b: { type: "object", properties: { c: { type: "string", "x-mcp-header": b } } }
          }
        }
        assert.deepStrictEqual(failure(HttpRules.plan(twice)), { path: "b.c", reason: "the header name is used twice" })
      }
    )

    const annotated = { type: "string", "x-mcp-header": "Region" }

    it.each(
      [
        ["the root", annotated, "the root"],
        ["items", property({ type: "array", items: annotated }), "region.items"],
        ["properties of items", property({ type: "array", items: property(annotated) }), "region.items.region"],
        ["prefixItems", property({ type: "array", prefixItems: [annotated] }), "region.prefixItems"],
        ["contains", property({ type: "array", contains: annotated }), "region.contains"],
        ["oneOf", { type: "object", oneOf: [property(annotated)] }, "oneOf.region"],
        ["anyOf", property({ anyOf: [annotated, { type: "null" }] }), "region.anyOf"],
        ["allOf", property({ allOf: [annotated] }), "region.allOf"],
        ["not", property({ not: annotated }), "region.not"],
        ["if", { type: "object", if: property(annotated) }, "if.region"],
        ["then", { type: "object", then: property(annotated) }, "then.region"],
        ["else", { type: "object", else: property(annotated) }, "else.region"],
        [
          "$defs",
          { type: "object", $defs: { R: annotated }, properties: { region: { $ref: "#/$defs/R" } } },
          "$defs.R"
        ],
        ["definitions", { type: "object", definitions: { R: annotated } }, "definitions.R"],
        ["additionalProperties", { type: "object", additionalProperties: annotated }, "additionalProperties"],
        ["patternProperties", { type: "object", patternProperties: { "^a": annotated } }, "patternProperties.^a"],
        [
          "dependentSchemas",
          { type: "object", dependentSchemas: { a: property(annotated) } },
          "dependentSchemas.a.region"
        ],
        ["propertyNames", { type: "object", propertyNames: annotated }, "propertyNames"],
        ["an unknown keyword", { type: "object", vendor: { deep: annotated } }, "vendor.deep"]
      ] satisfies ReadonlyArray<[string, Json.Object, string]>
    )(verifies("HDR-12")("an annotation under %s is refused"), (_title, schema, path) => {
      assert.deepStrictEqual(failure(HttpRules.plan(schema)), {
        path,
        reason: "the annotation is not reachable through `properties` alone"
      })
    })

    it("data that looks like an annotation is none", () => {
      const data = { "x-mcp-header": "No header" }
      const plan = HttpRules.plan({
        type: "object",
        default: { region: data },
        examples: [data],
        dependentRequired: { "x-mcp-header": ["region"] },
        required: ["x-mcp-header"],
        properties: { region: { type: "object", default: data, enum: [data], const: data, examples: [[data]] } }
      })
      assert.deepStrictEqual(success(plan), [])
    })

    it("a schema without annotations has no headers, whatever stands in it", () => {
      for (
        const schema of [{}, { type: "object" }, { properties: null }, { properties: [1] }, {
          properties: { a: true, b: 1 }
        }]
      ) {
        assert.deepStrictEqual(success(HttpRules.plan(schema)), [])
      }
    })

    it("a schema that nests without end is refused", () => {
      let schema: Json.Object = annotated
      for (let i = 0; i < 100_000; i++) schema = { not: schema }
      assert.include(failure(HttpRules.plan(schema)).reason, "nests deeper")
    })

    it.prop("no schema throws", [Schema.Json], ([value]) => {
      HttpRules.plan(property({ properties: value as Json.Value }))
      HttpRules.plan({ $defs: value as Json.Value, properties: value as Json.Value, items: value as Json.Value })
    })
  })

  describe("parameter headers", () => {
    const plan = success(HttpRules.plan({
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
        dry: { type: "boolean", "x-mcp-header": "Dry" },
        where: { type: "object", properties: { zone: { type: "string", "x-mcp-header": "Zone" } } },
        ["__proto__"]: { type: "object", properties: { name: { type: "string", "x-mcp-header": "Proto" } } },
        valueOf: { type: "string", "x-mcp-header": "Value" },
        constructor: { type: "object", properties: { name: { type: "string", "x-mcp-header": "Constructor" } } }
      }
    }))
    const sent = (args: Json.Object) => Object.fromEntries(HttpRules.parameterHeaders(plan, args))
    const check = (headers: Record<string, string>, args: Json.Object) =>
      HttpRules.checkParameterHeaders(headersOf(headers), plan, args)

    it(verifies("HDR-14", "HDR-15")("each argument that is there becomes a header"), () => {
      assert.deepStrictEqual(sent({ region: "eu west", count: 42, dry: false, where: { zone: "ä" }, other: "x" }), {
        "mcp-param-region": "eu west",
        "mcp-param-count": "42",
        "mcp-param-dry": "false",
        "mcp-param-zone": "=?base64?w6Q=?="
      })
      assert.deepStrictEqual(sent({ region: "", count: -7, dry: true }), {
        "mcp-param-region": "",
        "mcp-param-count": "-7",
        "mcp-param-dry": "true"
      })
      assert.deepStrictEqual(sent({ count: -0 }), { "mcp-param-count": "0" })
      assert.deepStrictEqual(sent({ count: Number.MAX_SAFE_INTEGER }), { "mcp-param-count": "9007199254740991" })
    })

    it(verifies("HDR-14")("absent and null arguments have none, nor has what an object inherits"), () => {
      assert.deepStrictEqual(sent({}), {})
      assert.deepStrictEqual(sent({ region: null, count: null, dry: null, where: null }), {})
      assert.deepStrictEqual(sent({ where: "text" }), {})
      assert.deepStrictEqual(sent({ where: [] }), {})
      assert.deepStrictEqual(sent({ where: { zone: null } }), {})
      const own = JSON.parse("{\"__proto__\":{\"name\":\"p\"},\"constructor\":{\"name\":\"c\"}}") as Json.Object
      assert.deepStrictEqual(sent(own), { "mcp-param-proto": "p", "mcp-param-constructor": "c" })
    })

    it("what no header can repeat has none", () => {
      for (const count of [1.5, 2 ** 53, new Json.ExactNumber("9007199254740993"), [1], {}]) {
        assert.deepStrictEqual(sent({ count }), {})
        assert.deepStrictEqual(HttpRules.unrepeatable(plan, { region: "eu", count }), ["count"])
      }
      assert.deepStrictEqual(HttpRules.unrepeatable(plan, { where: { zone: ["a"] } }), ["where", "zone"])
      for (const args of [{}, { count: null, dry: true, region: "", where: "text" }, { count: -42 }]) {
        assert.isUndefined(HttpRules.unrepeatable(plan, args))
      }
    })

    it.prop(
      "the headers of any arguments pass the check of the same arguments",
      [Schema.Struct({
        region: wellFormedSchema(),
        count: Schema.Int,
        dry: Schema.NullOr(Schema.Boolean),
        zone: Schema.optionalKey(Schema.String)
      })],
      ([{ zone, ...args }]) => {
        const all = { ...args, where: zone === undefined ? null : { zone: zone.toWellFormed() } }
        assert.strictEqual(check(sent(all), all), undefined)
      }
    )

    it.each(
      [
        [{ "mcp-param-count": "42.0" }, { count: 42 }],
        [{ "mcp-param-count": "4.2e1" }, { count: 42 }],
        [{ "mcp-param-count": "1e2" }, { count: 100 }],
        [{ "mcp-param-count": "-0" }, { count: 0 }],
        [{ "mcp-param-count": "0.0" }, { count: -0 }],
        [{ "mcp-param-count": " 42\t" }, { count: 42 }],
        [{ "mcp-param-count": "=?base64?NDI=?=" }, { count: 42 }],
        [{ "mcp-param-region": "=?base64??=" }, { region: "" }],
        [{ "mcp-param-region": "" }, { region: "" }],
        [{ "mcp-param-region": "=?base64?ZXU=?=" }, { region: "eu" }],
        [{ "mcp-param-other": "unknown" }, {}],
        [{}, { region: null }]
      ] satisfies ReadonlyArray<[Record<string, string>, Json.Object]>
    )("the headers %j pass for %j", (headers, args) => {
      assert.strictEqual(check(headers, args), undefined)
    })

    it.each(
      [
        [{}, { region: "eu" }, "The mcp-param-region header is missing"],
        [{}, { region: ["eu"] }, "The mcp-param-region header is missing"],
        [{}, { count: 1.5 }, "The mcp-param-count header is missing"],
        [{}, { count: new Json.ExactNumber("9007199254740993") }, "The mcp-param-count header is missing"],
        [{ "mcp-param-region": "us" }, { region: "eu" }, "The mcp-param-region header differs from its argument"],
        [{ "mcp-param-region": "EU" }, { region: "eu" }, "The mcp-param-region header differs from its argument"],
        [{ "mcp-param-region": "eu" }, {}, "The mcp-param-region header has no argument to repeat"],
        [{ "mcp-param-region": "eu" }, { region: null }, "The mcp-param-region header has no argument to repeat"],
        [{ "mcp-param-region": "eu" }, { region: ["us"] }, "The mcp-param-region header differs from its argument"],
        [{ "mcp-param-count": "1" }, { count: 1.5 }, "The mcp-param-count header differs from its argument"],
        [
          { "mcp-param-count": "9007199254740993" },
          { count: new Json.ExactNumber("9007199254740993") },
          "The mcp-param-count header differs from its argument"
        ],
        [{ "mcp-param-count": "-42" }, { count: 42 }, "The mcp-param-count header differs from its argument"],
        [{ "mcp-param-value": "Object" }, {}, "The mcp-param-value header has no argument to repeat"],
        [{ "mcp-param-count": "43" }, { count: 42 }, "The mcp-param-count header differs from its argument"],
        [
          { "mcp-param-count": "42.00000000000000000001" },
          { count: 42 },
          "The mcp-param-count header differs from its argument"
        ],
        [{ "mcp-param-count": "0x2a" }, { count: 42 }, "The mcp-param-count header differs from its argument"],
        [{ "mcp-param-count": "" }, { count: 0 }, "The mcp-param-count header differs from its argument"],
        [{ "mcp-param-region": "42.0" }, { region: "42" }, "The mcp-param-region header differs from its argument"],
        [{ "mcp-param-dry": "True" }, { dry: true }, "The mcp-param-dry header differs from its argument"],
        [{ "mcp-param-dry": "1" }, { dry: true }, "The mcp-param-dry header differs from its argument"],
        [{ "mcp-param-region": "=?base64?ZXU?=" }, { region: "eu" }, "The mcp-param-region header is not valid base64"],
        [
          { "mcp-param-region": "=?BASE64?ZXU=?=" },
          { region: "eu" },
          "The mcp-param-region header differs from its argument"
        ],
        [
          { "mcp-param-region": "é" },
          { region: "é" },
          "The mcp-param-region header has characters outside visible ASCII"
        ],
        [{ "mcp-param-zone": "a" }, { where: { zone: "b" } }, "The mcp-param-zone header differs from its argument"],
        [{ "mcp-param-constructor": "Object" }, {}, "The mcp-param-constructor header has no argument to repeat"]
      ] satisfies ReadonlyArray<[Record<string, string>, Json.Object, string]>
    )("the headers %j are refused for %j", (headers, args, problem) => {
      assert.strictEqual(check(headers, args), problem)
    })
  })

  describe("request headers", () => {
    it.each(
      [
        ["tools/call", { name: "search" }, "search"],
        ["prompts/get", { name: "päng" }, "=?base64?cMOkbmc=?="],
        ["resources/read", { uri: "note://测试" }, "=?base64?bm90ZTovL+a1i+ivlQ==?="],
        ["tools/list", { name: "no" }, undefined],
        ["server/discover", {}, undefined],
        ["com.example/unknown", { name: "no" }, undefined],
        ["tools/call", { name: 5 }, undefined],
        ["tools/call", {}, undefined]
      ] satisfies ReadonlyArray<[string, Json.Object, string | undefined]>
    )(verifies("HDR-5")("%s with %j names %j"), (method, params, name) => {
      assert.deepStrictEqual(HttpRules.requestHeaders(method, params), [
        ["mcp-protocol-version", Revision.latest.version],
        ["mcp-method", method],
        ...(name === undefined ? [] : [["mcp-name", name] as const])
      ])
    })

    it(verifies("GAP-18@client")("a notification has the same, and no name"), () => {
      const { cancelled } = Revision.notification
      assert.deepStrictEqual(HttpRules.requestHeaders(cancelled, { requestId: 1, reason: "x" }), [
        ["mcp-protocol-version", Revision.latest.version],
        ["mcp-method", cancelled]
      ])
    })

    const version = Revision.latest.version

    it.each([
      [{ "mcp-protocol-version": version }, undefined],
      [{ "mcp-protocol-version": ` ${version}\t` }, undefined],
      [{}, "The MCP-Protocol-Version header is missing"],
      [
        { "mcp-protocol-version": "" },
        "The MCP-Protocol-Version header differs from io.modelcontextprotocol/protocolVersion"
      ],
      [
        { "mcp-protocol-version": "1999-01-01" },
        "The MCP-Protocol-Version header differs from io.modelcontextprotocol/protocolVersion"
      ],
      [
        { "mcp-protocol-version": `${version}\u00a0` },
        "The MCP-Protocol-Version header differs from io.modelcontextprotocol/protocolVersion"
      ]
    ] as ReadonlyArray<[Record<string, string>, string | undefined]>)(
      "the version header of %j: %s",
      (headers, problem) => {
        assert.strictEqual(HttpRules.checkVersionHeader(headersOf(headers), version), problem)
      }
    )

    const routing = (headers: Record<string, string>, method: string, params: Json.Object, routingName?: string) =>
      HttpRules.checkRoutingHeaders(headersOf(headers), method, params, routingName)

    it(verifies("HDR-7")("the method is compared with its case, without outer spaces"), () => {
      assert.strictEqual(routing({ "mcp-method": "tools/list" }, "tools/list", {}), undefined)
      assert.strictEqual(routing({ "mcp-method": " tools/list " }, "tools/list", {}), undefined)
      assert.strictEqual(routing({}, "tools/list", {}), "The Mcp-Method header is missing")
      for (const other of ["TOOLS/LIST", "tools/call", "", "tools/list\u00a0"]) {
        assert.strictEqual(
          routing({ "mcp-method": other }, "tools/list", {}),
          "The Mcp-Method header differs from the body's method"
        )
      }
    })

    const named = (header: string | undefined, name: Json.Value | undefined) =>
      routing(
        { "mcp-method": "tools/call", ...(header === undefined ? {} : { "mcp-name": header }) },
        "tools/call",
        name === undefined ? {} : { name },
        "name"
      )

    it(verifies("HDR-9")("the name is decoded before it is compared"), () => {
      assert.strictEqual(named("search", "search"), undefined)
      assert.strictEqual(named("  search  ", "search"), undefined)
      assert.strictEqual(named("=?base64?c2VhcmNo?=", "search"), undefined)
      assert.strictEqual(named("=?base64?5rWL6K+V?=", "测试"), undefined)
      assert.strictEqual(named("=?base64?PT9iYXNlNjQ/YWJjPz0=?=", "=?base64?abc?="), undefined)
      assert.strictEqual(named("=?base64?abc", "=?base64?abc"), undefined)
    })

    it.each([
      [undefined, "search", "The Mcp-Name header is missing"],
      ["other", "search", "The Mcp-Name header differs from params.name"],
      ["Search", "search", "The Mcp-Name header differs from params.name"],
      ["=?base64?YWJjZA==?=", "=?base64?YWJjZA==?=", "The Mcp-Name header differs from params.name"],
      ["=?base64?=", "=?base64?=", "The Mcp-Name header is an incomplete base64 value"],
      ["=?base64?c2VhcmN?=", "search", "The Mcp-Name header is not valid base64"],
      ["测试", "测试", "The Mcp-Name header has characters outside visible ASCII"],
      ["\u00e6", "\u00e6", "The Mcp-Name header has characters outside visible ASCII"]
    ] as ReadonlyArray<[string | undefined, string, string]>)(
      "the name header %j for %j: %s",
      (header, name, problem) => {
        assert.strictEqual(named(header, name), problem)
      }
    )

    it("a body without its name is refused for its parameters, not for its headers", () => {
      assert.strictEqual(named("search", undefined), undefined)
      assert.strictEqual(named(undefined, 5), undefined)
    })

    it.prop("the headers of any request pass the checks", [
      wellFormed,
      Schema.Literals(["tools/call", "resources/read", "tools/list"])
    ], ([name, method]) => {
      const params = { name, uri: name }
      const header = headersOf(Object.fromEntries(HttpRules.requestHeaders(method, params)))
      assert.strictEqual(HttpRules.checkVersionHeader(header, version), undefined)
      assert.strictEqual(
        HttpRules.checkRoutingHeaders(header, method, params, Revision.latest.methods.get(method)?.routingName),
        undefined
      )
    })
  })
})

function wellFormedSchema() {
  return Schema.String.check(Schema.makeFilter((text) => text.isWellFormed()))
}
