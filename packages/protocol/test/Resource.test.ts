import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Resource, UriTemplate } from "@fairlead/protocol"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { published } from "./support/ajv.ts"
import { failure, success } from "./support/results.ts"

const all = {
  name: "page",
  title: "Page",
  description: "A page.",
  mimeType: "text/markdown",
  annotations: { audience: ["user", "assistant"], priority: 0.5, lastModified: "2026-07-28T00:00:00Z" },
  icons: [{ src: "data:image/png;base64,AA==", mimeType: "image/png", sizes: ["16x16", "any"], theme: "dark" }],
  meta: { "com.example/a": 1 }
} as const
const { meta, ...listed } = all

describe("a resource", () => {
  it(verifies("RES-2", "RES-6", "ICON-1")("declares what it was given, as the revision has it"), () => {
    const { declaration, mimeType } = Resource.make("docs://page", { ...all, size: 12 })
    assert.deepStrictEqual(declaration, { uri: "docs://page", ...listed, _meta: meta, size: 12 } as never)
    assert.strictEqual(mimeType, "text/markdown")
    assert.isTrue(published("Resource")(declaration))
    assert.deepStrictEqual(Resource.make("docs://page", { name: "page" }).declaration, {
      uri: "docs://page",
      name: "page"
    })
  })

  it(verifies("RES-7")("has a URI with a scheme of any kind"), () => {
    for (const uri of ["file:///a/b", "https://example.com/a?b=c#d", "git://x", "urn:a:b", "x-y.z+1:a", "a:%20"]) {
      assert.strictEqual(Resource.make(uri, { name: "a" }).uri, uri)
    }
  })

  it.each([
    ["", /URI with a scheme/],
    ["docs", /URI with a scheme/],
    ["docs:", /URI with a scheme/],
    ["/docs", /URI with a scheme/],
    ["1docs://a", /URI with a scheme/],
    ["docs://a b", /URI with a scheme/],
    ["docs://a\n", /URI with a scheme/],
    ["docs://a\u0000", /URI with a scheme/],
    ["docs://{a}", /URI with a scheme/],
    ["docs://<a>", /URI with a scheme/],
    ["docs://a\\b", /URI with a scheme/],
    ["docs://\ud800", /URI with a scheme/]
  ])(verifies("RES-7", "RES-10")("with the URI %j is refused by its name"), (uri, reason) => {
    const error = failure(Resource.makeResult(uri, { name: "a" }))
    assert.match(error.reason, reason)
    assert.strictEqual(error.message, `The resource ${JSON.stringify(uri)} cannot be defined: ${error.reason}`)
    assert.throws(() => Resource.make(uri, { name: "a" }), error.message)
  })

  it.each([-1, 0.5, NaN, Infinity, 2 ** 53])("of the size %s is refused", (size) => {
    assert.match(failure(Resource.makeResult("docs://a", { name: "a", size })).reason, /size/)
    assert.isTrue(Result.isSuccess(Resource.makeResult("docs://a", { name: "a", size: 0 })))
  })

  it.each([
    [{ icons: [{ src: "file:///i.png" }] }, /source of an icon/],
    [{ mimeType: "markdown" }, /the media type is none/],
    [{ meta: { a: [NaN] } }, /_meta\.a\.0 is not JSON/],
    [{ annotations: { priority: 2 } }, /priority/],
    [{ annotations: { lastModified: "now" } }, /ISO 8601/]
  ])(verifies("ICON-1", "RES-6")("with %j is refused, and so is a template"), (options, reason) => {
    assert.throws(() => Resource.make("docs://a", { name: "a", ...options }), reason)
    assert.throws(() => Resource.template("docs://{a}", { name: "a", ...options }), reason)
  })

  it("without a name is refused", () => {
    assert.match(failure(Resource.makeResult("docs://a", { name: "" })).message, /"docs:\/\/a".*the name is empty/)
    assert.match(failure(Resource.templateResult("docs://{a}", { name: "" })).message, /the name is empty/)
  })

  it("is told from everything else", () => {
    const [fixed, template] = [Resource.make("a:b", { name: "a" }), Resource.template("a:{b}", { name: "a" })]
    for (const other of [template, null, undefined, {}, "a:b", []]) assert.isFalse(Resource.isResource(other))
    for (const other of [fixed, null, undefined, {}, "a:b", []]) assert.isFalse(Resource.isTemplate(other))
    assert.isTrue(Resource.isResource(fixed))
    assert.isTrue(Resource.isTemplate(template))
  })
})

describe("a template", () => {
  it(verifies("RES-3", "RES-6", "ICON-1")("declares what it was given, as the revision has it"), () => {
    const { declaration } = Resource.template("docs://{page}", all)
    assert.deepStrictEqual(declaration, { uriTemplate: "docs://{page}", ...listed, _meta: meta } as never)
    assert.isTrue(published("ResourceTemplate")(declaration))
  })

  const params = <S extends Schema.Top>(template: string, params: S) => {
    const defined = Resource.template(template, { name: "a", params })
    const codec = defined.codec as unknown as Schema.Codec<S["Type"], UriTemplate.Values>
    return {
      decode: (uri: string) => {
        const values = UriTemplate.match(defined.uriTemplate, uri)
        return values === undefined ? undefined : Schema.decodeUnknownResult(codec)(values)
      },
      encode: (value: S["Type"]) =>
        UriTemplate.expand(defined.uriTemplate, success(Schema.encodeUnknownResult(codec)(value)) as UriTemplate.Values)
    }
  }

  class Key extends Schema.Class<Key>("Key")({ id: Schema.Int, draft: Schema.optionalKey(Schema.Boolean) }) {}

  const both: ReadonlyArray<readonly [string, Schema.Top, string, unknown]> = [
    ["a:{id}", Schema.Struct({ id: Schema.Int }), "a:-12", { id: -12 }],
    ["a:{id}", Schema.Struct({ id: Schema.FiniteFromString }), "a:0.5", { id: 0.5 }],
    ["a:{id}", Schema.Struct({ id: Schema.BigInt }), "a:9007199254740993", { id: 9007199254740993n }],
    ["a:{id}", Schema.Struct({ id: Schema.Literals(["x", "y"]) }), "a:y", { id: "y" }],
    ["a:{id}", Schema.Struct({ id: Schema.Literals([1, 2]) }), "a:2", { id: 2 }],
    ["a:{id}", Schema.Struct({ id: Schema.Union([Schema.Int, Schema.Boolean]) }), "a:true", { id: true }],
    ["a:{id}", Schema.Struct({ id: Schema.Unknown }), "a:x", { id: "x" }],
    ["a:{on}", Schema.Struct({ on: Schema.Boolean }), "a:false", { on: false }],
    ["a:{at}", Schema.Struct({ at: Schema.Date }), "a:1970-01-01T00%3A00%3A00.000Z", { at: new Date(0) }],
    [
      "a:b{?x,y}",
      Schema.Struct({ x: Schema.optionalKey(Schema.Int), y: Schema.optionalKey(Schema.Boolean) }),
      "a:b",
      {}
    ],
    ["a:b{?x,y}", Schema.Struct({ x: Schema.optional(Schema.Int), y: Schema.optional(Schema.Int) }), "a:b?x=1", {
      x: 1
    }],
    ["a:{/path*}", Schema.Struct({ path: Schema.Array(Schema.String) }), "a:/x/y%20z", { path: ["x", "y z"] }],
    ["a:{/path*}", Schema.Struct({ path: Schema.NonEmptyArray(Schema.Int) }), "a:/1/2", { path: [1, 2] }],
    ["a:{id}{?draft}", Key, "a:7?draft=true", new Key({ id: 7, draft: true })],
    [
      "a:{the-id}".replace("-", "_"),
      Schema.Struct({ id: Schema.Int }).pipe(Schema.encodeKeys({ id: "the_id" })),
      "a:3",
      { id: 3 }
    ]
  ]

  it.each(both)(
    verifies("RES-3", "RES-10")("%s decodes and encodes its parameters by their schema"),
    (template, schema, uri, value) => {
      const { decode, encode } = params(template, schema)
      assert.deepStrictEqual(success(decode(uri)!), value)
      assert.strictEqual(encode(value), uri)
    }
  )

  it.each(
    [
      ["a:{id}", Schema.Struct({ id: Schema.Int }), [
        "a:x",
        "a:1.5",
        "a:0x10",
        "a:1%20",
        "a:%20",
        "a:9007199254740993",
        "a:NaN"
      ]],
      ["a:{id}", Schema.Struct({ id: Schema.Finite }), ["a:NaN", "a:Infinity", "a:1,5"]],
      ["a:{on}", Schema.Struct({ on: Schema.Boolean }), ["a:1", "a:TRUE", "a:yes"]],
      ["a:{id}", Schema.Struct({ id: Schema.Literals(["x"]) }), ["a:X", "a:y"]],
      ["a:b{?x}", Schema.Struct({ x: Schema.Int }), ["a:b"]]
    ] as const
  )(verifies("RES-10")("%s refuses what its schema does not take"), (template, schema, uris) => {
    for (const uri of uris) failure(params(template, schema as Schema.Top).decode(uri)!)
  })

  it(verifies("RES-10")("can have parameters that stay in their folder"), () => {
    const { decode, encode } = params("a:{/path*}", Schema.Struct({ path: Schema.Array(Resource.Segment) }))
    for (const uri of ["a:/x/y.txt", "a:/...", "a:/%20", "a:/x..y", "a:/%252e%252e"]) {
      assert.strictEqual(encode(success(decode(uri)!)), uri)
    }
    for (
      const uri of ["a:/..", "a:/x/../y", "a:/%2e%2E", "a:/.", "a:/x%2Fy", "a:/x%5Cy", "a:/x%00", "a://x", "a:/x/"]
    ) {
      failure(decode(uri)!)
    }
  })

  it("without a schema has a text for each variable", () => {
    const { codec } = Resource.template("a:{x}{?y}", { name: "a" })
    assert.deepStrictEqual(success(Schema.decodeUnknownResult(codec)({ x: "1" })), { x: "1" })
  })

  const refused: ReadonlyArray<readonly [string, string, Schema.Top | undefined, RegExp]> = [
    ["is no template", "docs", undefined, /does not begin with a scheme/],
    ["has what cannot be matched", "a:{x:3}", undefined, /\{x:3\} has a prefix/],
    [
      "has a parameter too many",
      "a:{x}",
      Schema.Struct({ x: Schema.String, y: Schema.String }),
      /parameter y is no variable/
    ],
    ["has a variable too many", "a:{x}{?y}", Schema.Struct({ x: Schema.String }), /variable y has no parameter/],
    ["has parameters that are no struct", "a:{x}", Schema.Array(Schema.String), /not a struct/],
    ["has one text as its parameters", "a:{x}", Schema.String, /not a struct/],
    [
      "has a parameter with a structure",
      "a:{x}",
      Schema.Struct({ x: Schema.Struct({ y: Schema.Int }) }),
      /parameter x cannot be written as a text/
    ],
    [
      "has a list for one segment",
      "a:{x}",
      Schema.Struct({ x: Schema.Array(Schema.String) }),
      /parameter x cannot be written as a text/
    ],
    ["has a text for a list", "a:{/x*}", Schema.Struct({ x: Schema.String }), /variable x is a list/],
    [
      "has a list of lists",
      "a:{/x*}",
      Schema.Struct({ x: Schema.Array(Schema.Array(Schema.String)) }),
      /variable x is a list/
    ],
    ["has a list without a schema", "a:{/x*}", undefined, /variable x is a list/],
    [
      "has a parameter without a codec",
      "a:{x}",
      Schema.Struct({ x: Schema.declare((u): u is RegExp => u instanceof RegExp) }),
      /parameter x is a declaration without a JSON codec/
    ],
    [
      "has params without a codec",
      "a:{x}",
      Schema.declare((u): u is RegExp => u instanceof RegExp),
      /params is a declaration/
    ]
  ]

  it.each(refused)(
    verifies("RES-3")("that %s is refused by its name and the reason"),
    (_, template, schema, reason) => {
      const error = failure(Resource.templateResult(template, { name: "a", params: schema }))
      assert.strictEqual(error.uri, template)
      assert.match(error.reason, reason)
      assert.include(error.message, JSON.stringify(template))
      assert.throws(() => Resource.template(template, { name: "a", params: schema }), error.message)
    }
  )
})

describe("contents", () => {
  it(verifies("RES-4")("have the URI and the media type of what answers a text or bytes"), () => {
    assert.deepStrictEqual(Resource.contentsOf("a:b", "text/plain", "x"), [
      { uri: "a:b", mimeType: "text/plain", text: "x" }
    ])
    assert.deepStrictEqual(Resource.contentsOf("a:b", undefined, ""), [{ uri: "a:b", text: "" }])
    const blob = new Uint8Array([1])
    assert.deepStrictEqual(Resource.contentsOf("a:b", "image/png", blob), [{ uri: "a:b", mimeType: "image/png", blob }])
  })

  it("that say more stay as they are", () => {
    const contents = [{ uri: "a:c", text: "x" }, { uri: "a:d", mimeType: "text/x", blob: new Uint8Array() }]
    assert.strictEqual(Resource.contentsOf("a:b", "text/plain", contents), contents)
  })
})
