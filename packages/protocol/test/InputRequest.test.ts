import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { InputRequest } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { published } from "./support/ajv.ts"
import { failure, success } from "./support/results.ts"

const formOf = (schema: Schema.Top) => success(InputRequest.makeForm(schema))
/** The property that a schema is in a form. */
const property = (schema: Schema.Top): object => {
  const { requestedSchema } = formOf(Schema.Struct({ p: schema }))
  const isRequired = (requestedSchema["required"] as ReadonlyArray<string> | undefined)?.includes("p") === true
  return { ...(requestedSchema["properties"] as { readonly p: object }).p, ...(isRequired ? {} : { "?": true }) }
}
const refusal = (schema: Schema.Top) => failure(InputRequest.makeForm(Schema.Struct({ p: schema })))
const decode = (schema: Schema.Top, json: unknown) =>
  Schema.decodeUnknownResult(formOf(schema).codec as Schema.Codec<unknown>)(json)

const titled = (values: Readonly<Record<string, string>>) =>
  Schema.Union(Object.entries(values).map(([value, title]) => Schema.Literal(value).annotate({ title })))

describe("a form", () => {
  const kinds: ReadonlyArray<readonly [string, Schema.Top, object]> = [
    ["a text", Schema.String, { type: "string" }],
    [
      "a described text",
      Schema.String.annotate({ title: "T", description: "D", default: "x" }),
      { type: "string", title: "T", description: "D", default: "x" }
    ],
    ["a text that is not empty", Schema.NonEmptyString, { type: "string", minLength: 1 }],
    ["a bounded text", Schema.String.check(Schema.isMaxLength(9)), { type: "string", maxLength: 9 }],
    ["an email", Schema.String.annotate({ format: "email" }), { type: "string", format: "email" }],
    ["a URI", Schema.String.annotate({ format: "uri" }), { type: "string", format: "uri" }],
    ["a day", Schema.String.annotate({ format: "date" }), { type: "string", format: "date" }],
    ["a time", Schema.String.annotate({ format: "date-time" }), { type: "string", format: "date-time" }],
    ["a date as text", Schema.Date, { type: "string" }],
    ["a number", Schema.Finite, { type: "number" }],
    [
      "a bounded number",
      Schema.Finite.check(Schema.isBetween({ minimum: 0.5, maximum: 2 })),
      { type: "number", minimum: 0.5, maximum: 2 }
    ],
    ["an integer", Schema.Int.annotate({ default: 3 }), { type: "integer", default: 3 }],
    [
      "a bounded integer",
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })),
      { type: "integer", minimum: 1, maximum: 9 }
    ],
    ["a boolean", Schema.Boolean.annotate({ default: true }), { type: "boolean", default: true }],
    ["a choice", Schema.Literals(["a", "b"]), { type: "string", enum: ["a", "b"] }],
    ["the only choice", Schema.Literal("a"), { type: "string", enum: ["a"] }],
    [
      "a choice with titles",
      titled({ a: "A", b: "B" }).annotate({ title: "T", default: "a" }),
      { type: "string", title: "T", default: "a", oneOf: [{ const: "a", title: "A" }, { const: "b", title: "B" }] }
    ],
    [
      "a choice where some have titles",
      Schema.Union([Schema.Literal("a").annotate({ title: "A" }), Schema.Literal("b")]),
      { type: "string", oneOf: [{ const: "a", title: "A" }, { const: "b", title: "b" }] }
    ],
    [
      "several choices",
      Schema.Array(Schema.Literals(["a", "b"])).annotate({ default: ["a"] }),
      { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["a"] }
    ],
    [
      "a bounded number of choices",
      Schema.Array(Schema.Literals(["a", "b"])).check(Schema.isMinLength(1), Schema.isMaxLength(2)),
      { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 2 }
    ],
    [
      "several choices with titles",
      Schema.Array(titled({ a: "A", b: "B" })),
      { type: "array", items: { anyOf: [{ const: "a", title: "A" }, { const: "b", title: "B" }] } }
    ]
  ]

  it.each(kinds)(verifies("ELI-4", "JS-7@server")("asks for %s, required or not"), (_, schema, expected) => {
    assert.deepStrictEqual(property(schema), expected)
    assert.deepStrictEqual(property(Schema.optionalKey(schema)), { ...expected, "?": true })
    assert.deepStrictEqual(property(Schema.optional(schema)), { ...expected, "?": true })
    const { method, params } = InputRequest.form("Say.", formOf(Schema.Struct({ p: schema })).requestedSchema)
    assert.isTrue(published("ElicitRequest")({ method, params }), JSON.stringify(published("ElicitRequest").errors))
  })

  it("asks for the names of an enum", () => {
    assert.deepStrictEqual(property(Schema.Enum({ Up: "u", Down: "d" })), {
      type: "string",
      oneOf: [{ const: "u", title: "Up" }, { const: "d", title: "Down" }]
    })
  })

  it("can be a class, and have no field", () => {
    class Confirm extends Schema.Class<Confirm>("Confirm")({ sure: Schema.Boolean }) {}
    assert.deepStrictEqual(formOf(Confirm).requestedSchema, {
      type: "object",
      properties: { sure: { type: "boolean" } },
      required: ["sure"]
    })
    assert.deepStrictEqual(formOf(Schema.Struct({})).requestedSchema, { type: "object", properties: {} })
  })

  const fields: ReadonlyArray<readonly [string, Schema.Top, RegExp]> = [
    ["an object", Schema.Struct({ a: Schema.String }), /none of string, number, integer, boolean/],
    ["null", Schema.Null, /none of/],
    ["a text or null", Schema.NullOr(Schema.String), /none of/],
    ["anything", Schema.Unknown, /none of/],
    ["a text or a number", Schema.Union([Schema.String, Schema.Int]), /none of/],
    ["a pattern", Schema.String.check(Schema.isPattern(/^a$/u)), /it has pattern/],
    ["a UUID", Schema.String.check(Schema.isUUID()), /it has/],
    ["a format of its own", Schema.String.annotate({ format: "phone" }), /it has the format phone/],
    ["a bound that is excluded", Schema.Finite.check(Schema.isGreaterThan(1)), /it has exclusiveMinimum/],
    ["a multiple", Schema.Int.check(Schema.isMultipleOf(2)), /it has multipleOf/],
    ["choices of numbers", Schema.Literals([1, 2]), /it has enum/],
    ["a list of texts", Schema.Array(Schema.String), /list of something else than choices/],
    ["a list of objects", Schema.Array(Schema.Struct({})), /list of something else than choices/],
    ["a tuple", Schema.Tuple([Schema.Literal("a")]), /it has prefixItems|list of something else/],
    ["a set of choices", Schema.UniqueArray(Schema.Literals(["a"])), /it has uniqueItems/],
    ["examples", Schema.String.annotate({ examples: ["a"] }), /it has examples/],
    ["a declaration", Schema.declare((u): u is RegExp => u instanceof RegExp), /without a JSON codec/]
  ]

  it.each(fields)(verifies("ELI-4")("with %s is refused by the name of the field"), (_, schema, reason) => {
    const error = refusal(schema)
    assert.strictEqual(error.path, "p")
    assert.match(error.reason, reason)
    assert.strictEqual(error.message, `A form cannot ask for p: ${error.reason}`)
  })

  it.each<readonly [string, Schema.Top]>([
    ["a text", Schema.String],
    ["a list", Schema.Array(Schema.Literals(["a"]))],
    ["any names", Schema.Record(Schema.String, Schema.String)],
    ["one of several objects", Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })])]
  ])(verifies("ELI-4")("that is %s is refused as a whole"), (_, schema) => {
    assert.strictEqual(failure(InputRequest.makeForm(schema)).path, "the whole")
  })

  it(verifies("ELI-7@server")("decodes its answers by the schema it was made of"), () => {
    const schema = Schema.Struct({
      name: Schema.NonEmptyString,
      size: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 })),
      at: Schema.optional(Schema.Date),
      tags: Schema.optionalKey(Schema.Array(Schema.Literals(["a", "b"]))),
      kind: Schema.optionalKey(titled({ a: "A" }))
    })
    assert.deepStrictEqual(
      success(decode(schema, { name: "x", size: 2, at: "1970-01-01T00:00:00.000Z", tags: ["b"], kind: "a" })),
      { name: "x", size: 2, at: new Date(0), tags: ["b"], kind: "a" }
    )
    assert.deepStrictEqual(success(decode(schema, { name: "x", size: 2, other: 1 })), { name: "x", size: 2 })
    for (
      const answer of [
        {},
        { name: "", size: 2 },
        { name: "x", size: 10 },
        { name: "x", size: "2" },
        { name: "x", size: 2, tags: ["c"] },
        { name: "x", size: 2, kind: "A" },
        null,
        [],
        "x"
      ]
    ) failure(decode(schema, answer))
  })
})

describe("a request", () => {
  it(verifies("ELI-3@server")("for a form or a URL has its mode and a message, and no id"), () => {
    const form = InputRequest.form("Say.", { type: "object", properties: {} })
    assert.deepStrictEqual(form, {
      method: "elicitation/create",
      params: { mode: "form", message: "Say.", requestedSchema: { type: "object", properties: {} } }
    })
    const url = InputRequest.url("Go.", "https://example.com/a")
    assert.deepStrictEqual(url, {
      method: "elicitation/create",
      params: { mode: "url", message: "Go.", url: "https://example.com/a" }
    })
    for (const request of [form, url]) assert.isTrue(published("ElicitRequest")(request))
  })

  it("for a sample has what it was given, and for roots nothing", () => {
    const messages = [{ role: "user", content: { type: "text", text: "a" } }]
    const sample = InputRequest.sampling({ messages, maxTokens: 9, systemPrompt: undefined, temperature: 0 })
    assert.deepStrictEqual(sample, {
      method: "sampling/createMessage",
      params: { messages, maxTokens: 9, temperature: 0 }
    })
    assert.isTrue(published("CreateMessageRequest")(sample))
    assert.deepStrictEqual(InputRequest.roots, { method: "roots/list", params: {} })
    assert.isTrue(published("ListRootsRequest")(InputRequest.roots))
  })

  it(verifies("ELI-2", "META-11")("needs the capability of its kind and its mode"), () => {
    const messages = [{}]
    const needed = [
      InputRequest.form("", {}),
      InputRequest.url("", "a:b"),
      InputRequest.sampling({ messages, maxTokens: 1 }),
      InputRequest.sampling({ messages, maxTokens: 1, tools: [{}] }),
      InputRequest.sampling({ messages, maxTokens: 1, toolChoice: { mode: "none" } }),
      InputRequest.roots
    ].map(InputRequest.capabilitiesOf)
    assert.deepStrictEqual(needed, [
      { elicitation: { form: {} } },
      { elicitation: { url: {} } },
      { sampling: {} },
      { sampling: { tools: {} } },
      { sampling: { tools: {} } },
      { roots: {} }
    ])
  })
})

describe("an answer", () => {
  const fits = (schema: Schema.Top, value: unknown) =>
    Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)(value)

  it("keeps members that are not named", () => {
    const elicited = { action: "accept", content: { a: 1.5, b: ["x"] }, "x-more": true }
    assert.deepStrictEqual(success(fits(InputRequest.ElicitResult, elicited)), elicited)
    const sampled = { role: "assistant", content: { type: "text", text: "a" }, model: "m", other: null }
    assert.deepStrictEqual(success(fits(InputRequest.SamplingResult, sampled)), sampled)
    const roots = { roots: [{ uri: "file:///a", name: "a", other: 1 }] }
    assert.deepStrictEqual(success(fits(InputRequest.RootsResult, roots)), roots)
  })

  it("of another form is refused", () => {
    for (
      const value of [
        {},
        { action: "ok" },
        { action: "accept", content: [] },
        { action: "accept", content: null },
        null
      ]
    ) {
      failure(fits(InputRequest.ElicitResult, value))
    }
    for (const value of [{ role: "system", content: "", model: "m" }, { role: "user", content: "" }, []]) {
      failure(fits(InputRequest.SamplingResult, value))
    }
    for (const value of [{}, { roots: {} }, { roots: [{}] }]) failure(fits(InputRequest.RootsResult, value))
  })
})

describe("the messages of a sampling", () => {
  const text = { type: "text", text: "Hi" }

  it("have content of the five kinds, one block or several", () => {
    const kinds = ["text", "image", "audio", "tool_use", "tool_result"].map((type) => ({ type }))
    assert.isTrue(kinds.every(InputRequest.isMessageContent))
    assert.isTrue(InputRequest.isMessageContent(kinds))
    for (const content of [undefined, null, "Hi", [], [text, null], { type: "resource_link" }]) {
      assert.isFalse(InputRequest.isMessageContent(content))
    }
  })

  it("answer each use of a tool with the next message", () => {
    const use = { role: "assistant", content: { type: "tool_use", id: "1" } }
    const result = { role: "user", content: [{ type: "tool_result", toolUseId: "1" }] }
    assert.isUndefined(InputRequest.problemOfMessages([{ role: "user", content: text }, use, result]))
    assert.strictEqual(InputRequest.problemOfMessages([use]), "the last message uses tools that nothing answers")
    assert.strictEqual(
      InputRequest.problemOfMessages([result]),
      "message 0 does not answer the uses of tools before it"
    )
  })
})
