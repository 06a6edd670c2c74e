import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Prompt } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { published } from "./support/ajv.ts"
import { failure, success } from "./support/results.ts"

const argumentsOf = (args: Schema.Top) => Prompt.make("p", { args }).arguments
const decode = (args: Schema.Top, texts: unknown) =>
  Schema.decodeUnknownResult(Prompt.make("p", { args }).codec as Schema.Codec<unknown>)(texts)
const encode = (args: Schema.Top, value: unknown) =>
  Schema.encodeUnknownResult(Prompt.make("p", { args }).codec as Schema.Codec<unknown>)(value)

const described = { title: "T", description: "D" }

describe("a prompt", () => {
  it(verifies("PROMPT-2", "ICON-1")("declares what it was given, as the revision has it"), () => {
    const icons = [{
      src: "https://example.com/a.svg",
      mimeType: "image/svg+xml",
      sizes: ["any"],
      theme: "light"
    }] as const
    const { arguments: listed, declaration } = Prompt.make("review", {
      title: "Review",
      description: "Asks for a review.",
      args: Schema.Struct({
        change: Schema.String.annotate({ title: "Change", description: "The number." }),
        depth: Schema.optionalKey(Schema.Literals(["quick", "thorough"]))
      }),
      icons,
      meta: { "com.example/a": 1 }
    })
    assert.deepStrictEqual(declaration, {
      name: "review",
      title: "Review",
      description: "Asks for a review.",
      arguments: [
        { name: "change", title: "Change", description: "The number.", required: true },
        { name: "depth", required: false }
      ],
      icons,
      _meta: { "com.example/a": 1 }
    } as never)
    assert.deepStrictEqual(declaration["arguments"], listed as never)
    assert.isTrue(published("Prompt")(declaration))
    assert.deepStrictEqual(Prompt.make("plain").declaration, { name: "plain" })
    assert.deepStrictEqual(Prompt.make("plain", { args: Schema.Struct({}) }).declaration, { name: "plain" })
  })

  it(verifies("ICON-1")("with an icon from elsewhere is refused"), () => {
    assert.throws(() => Prompt.make("a", { icons: [{ src: "ftp://a.test/i.png" }] }), /"a".*source of an icon/)
  })

  it("with something that JSON cannot hold is refused with its path", () => {
    assert.match(
      failure(Prompt.makeResult("a", { meta: { b: [1n as never] } })).message,
      /"a".*_meta\.b\.0 is not JSON/
    )
  })

  it("is told from everything else", () => {
    assert.isTrue(Prompt.isPrompt(Prompt.make("a")))
    for (const other of [null, undefined, {}, "a", [], { name: "a" }]) assert.isFalse(Prompt.isPrompt(other))
  })

  const refused: ReadonlyArray<readonly [string, string, Schema.Top | undefined, RegExp]> = [
    ["has no name", "", undefined, /the name is empty/],
    ["has half of a character in its name", "p\ud800", undefined, /surrogate/],
    [
      "has an argument that every object has",
      "p",
      Schema.Struct({ constructor: Schema.optionalKey(Schema.String) }),
      /argument constructor is optional and named/
    ],
    ["takes a list", "p", Schema.Array(Schema.String), /not a struct/],
    ["takes a text", "p", Schema.String, /not a struct/],
    ["takes any names", "p", Schema.Record(Schema.String, Schema.String), /not a struct/],
    [
      "takes one of several",
      "p",
      Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })]),
      /not a struct/
    ],
    ["has a list", "p", Schema.Struct({ a: Schema.Array(Schema.String) }), /argument a cannot be written as a text/],
    [
      "has a structure",
      "p",
      Schema.Struct({ b: Schema.Struct({ c: Schema.String }) }),
      /argument b cannot be written as a text/
    ],
    ["has an optional structure", "p", Schema.Struct({ b: Schema.optional(Schema.Struct({})) }), /argument b cannot/],
    ["has nothing", "p", Schema.Struct({ n: Schema.Never }), /argument n cannot be written as a text/],
    [
      "has no codec",
      "p",
      Schema.Struct({ x: Schema.declare((u): u is RegExp => u instanceof RegExp) }),
      /argument x is a declaration/
    ],
    ["is no codec", "p", Schema.declare((u): u is RegExp => u instanceof RegExp), /args is a declaration/]
  ]

  it.each(refused)(verifies("PROMPT-2")("that %s is refused by its name and the reason"), (_, name, args, reason) => {
    const error = failure(Prompt.makeResult(name, { args }))
    assert.strictEqual(error.prompt, name)
    assert.match(error.reason, reason)
    assert.strictEqual(error.message, `The prompt ${JSON.stringify(name)} cannot be defined: ${error.reason}`)
    assert.throws(() => Prompt.make(name, { args }), error.message)
  })
})

describe("an argument is listed", () => {
  const fields: ReadonlyArray<readonly [string, Schema.Top]> = [
    ["a text", Schema.String.annotate(described)],
    ["a checked text", Schema.String.check(Schema.isMinLength(1)).annotate(described)],
    ["a text annotated before its check", Schema.String.annotate(described).check(Schema.isMinLength(1))],
    ["a number", Schema.Int.annotate(described)],
    ["a transformed text", Schema.FiniteFromString.annotate(described)],
    ["a trimmed text", Schema.Trim.annotate(described)],
    ["a date", Schema.Date.annotate(described)],
    ["a choice", Schema.Literals(["a", "b"]).annotate(described)],
    ["a brand", Schema.String.pipe(Schema.brand("B")).annotate(described)],
    ["a described key", Schema.Int.annotateKey(described)]
  ]

  it.each(fields)(verifies("PROMPT-2")("with title and description, if it is %s"), (_, field) => {
    for (const make of [(p: Schema.Top) => Schema.Struct({ p }), (p: Schema.Top) => classOf(p)]) {
      assert.deepStrictEqual(argumentsOf(make(field)), [{ name: "p", ...described, required: true }])
      assert.deepStrictEqual(argumentsOf(make(Schema.optionalKey(field))), [
        { name: "p", ...described, required: false }
      ])
      assert.deepStrictEqual(argumentsOf(make(Schema.optional(field))), [{ name: "p", ...described, required: false }])
    }
  })

  const classOf = (p: Schema.Top): Schema.Top => {
    class Args extends Schema.Class<Args>("Args")({ p }) {}
    return Args
  }

  it("under its name on the wire, and not required if it has a default", () => {
    const args = Schema.Struct({
      first: Schema.String.annotate(described),
      second: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("x")))
    }).pipe(Schema.encodeKeys({ first: "the-first" }))
    assert.deepStrictEqual(argumentsOf(args), [
      { name: "the-first", ...described, required: true },
      { name: "second", required: false }
    ])
  })

  it("without what nobody said", () => {
    assert.deepStrictEqual(argumentsOf(Schema.Struct({ a: Schema.NonEmptyString, b: Schema.Int })), [
      { name: "a", required: true },
      { name: "b", required: true }
    ])
  })
})

describe("arguments", () => {
  class Change extends Schema.Class<Change>("Change")({ id: Schema.Int, draft: Schema.optionalKey(Schema.Boolean) }) {}
  const Tags = Schema.String.pipe(Schema.decodeTo(Schema.Array(Schema.String), {
    decode: SchemaGetter.transform((text: string) => text.split(",")),
    encode: SchemaGetter.transform((tags: ReadonlyArray<string>) => tags.join(","))
  }))

  it.each<readonly [string, Schema.Top, Record<string, string>, unknown]>([
    ["texts", Schema.Struct({ a: Schema.String }), { a: "" }, { a: "" }],
    ["numbers", Schema.Struct({ a: Schema.Int, b: Schema.Finite }), { a: "1", b: "-0.5" }, { a: 1, b: -0.5 }],
    ["booleans", Schema.Struct({ a: Schema.Boolean }), { a: "true" }, { a: true }],
    ["choices", Schema.Struct({ a: Schema.Literals(["x", "y"]) }), { a: "y" }, { a: "y" }],
    ["an enum", Schema.Struct({ a: Schema.Enum({ X: "x" }) }), { a: "x" }, { a: "x" }],
    ["dates", Schema.Struct({ a: Schema.Date }), { a: "1970-01-01T00:00:00.000Z" }, { a: new Date(0) }],
    ["what is absent", Schema.Struct({ a: Schema.optionalKey(Schema.Int) }), {}, {}],
    ["lists in a text", Schema.Struct({ a: Tags }), { a: "x,y" }, { a: ["x", "y"] }],
    ["JSON in a text", Schema.Struct({ a: Schema.fromJsonString(Schema.Struct({ b: Schema.Int })) }), {
      a: "{\"b\":1}"
    }, { a: { b: 1 } }],
    ["a class", Change, { id: "7", draft: "false" }, new Change({ id: 7, draft: false })]
  ])(
    verifies("PROMPT-3@server", "PROMPT-7")("that are %s are decoded from text and encoded to it"),
    (_, args, texts, value) => {
      assert.deepStrictEqual(success(decode(args, texts)), value)
      assert.deepStrictEqual(success(encode(args, value)), texts)
    }
  )

  it(verifies("PROMPT-7")("that do not fit are refused"), () => {
    const args = Schema.Struct({ a: Schema.Int })
    for (const texts of [{}, { a: "x" }, { a: "" }, { a: 1 }, { a: null }, { a: ["1"] }]) failure(decode(args, texts))
  })
})

describe("a message", () => {
  it(verifies("PROMPT-3@server")("has a role and one block, which a text is made into"), () => {
    assert.deepStrictEqual(Prompt.user("a"), { role: "user", content: { type: "text", text: "a" } })
    const image = Content.image(new Uint8Array([1]), "image/png")
    assert.deepStrictEqual(Prompt.assistant(image), { role: "assistant", content: image })
  })
})
