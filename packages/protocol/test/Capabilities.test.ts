import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Capabilities } from "@fairlead/protocol"
import * as Schema from "effect/Schema"

type Client = Capabilities.ClientCapabilities

const table: ReadonlyArray<readonly [required: Client, declared: Client, missing: Client | undefined]> = [
  [{}, {}, undefined],
  [{}, { sampling: {} }, undefined],
  [{ sampling: {} }, {}, { sampling: {} }],
  [{ sampling: {} }, { sampling: {} }, undefined],
  [{ sampling: {} }, { sampling: { tools: {} } }, undefined],
  [{ sampling: { tools: {} } }, { sampling: {} }, { sampling: { tools: {} } }],
  [{ sampling: { tools: {} } }, {}, { sampling: { tools: {} } }],
  [{ sampling: { tools: {}, context: {} } }, { sampling: { tools: {} } }, { sampling: { context: {} } }],
  [{ roots: {} }, { roots: {} }, undefined],
  [{ roots: {} }, { sampling: {} }, { roots: {} }],
  [{ roots: {} }, { roots: null } as never, { roots: {} }],
  [{ roots: {} }, { roots: true } as never, { roots: {} }],
  [{ roots: {} }, { roots: [] } as never, { roots: {} }],
  [{ elicitation: { form: {} } }, { elicitation: {} }, undefined],
  [{ elicitation: { form: {} } }, { elicitation: { form: {} } }, undefined],
  [{ elicitation: { form: {} } }, { elicitation: { url: {} } }, { elicitation: { form: {} } }],
  [{ elicitation: { form: {} } }, {}, { elicitation: { form: {} } }],
  [{ elicitation: { url: {} } }, { elicitation: {} }, { elicitation: { url: {} } }],
  [{ elicitation: { url: {} } }, { elicitation: { form: {}, url: {} } }, undefined],
  [{ elicitation: { form: {}, url: {} } }, { elicitation: {} }, { elicitation: { url: {} } }],
  [{ elicitation: {} }, { elicitation: {} }, undefined],
  [{ elicitation: {} }, {}, { elicitation: {} }],
  [
    { extensions: { "com.example/a": {} } },
    { extensions: { "com.example/b": {} } },
    { extensions: { "com.example/a": {} } }
  ],
  [{ extensions: { "com.example/a": {} } }, { extensions: { "com.example/a": { depth: 1 } } }, undefined],
  [{ extensions: { "com.example/a": {} } }, {}, { extensions: { "com.example/a": {} } }],
  [
    { roots: {}, sampling: {}, elicitation: { url: {} } },
    { sampling: {} },
    { roots: {}, elicitation: { url: {} } }
  ],
  [{ experimental: { a: { on: true } } }, { experimental: { a: {} } }, { experimental: { a: { on: true } } }],
  [{ experimental: { a: { on: true } } }, { experimental: { a: { on: true } } }, undefined],
  [{ extensions: { constructor: {} } }, { extensions: {} }, { extensions: { constructor: {} } }],
  [{ extensions: { ["__proto__"]: {} } }, { extensions: {} }, { extensions: { ["__proto__"]: {} } }]
]

describe("Capabilities", () => {
  it.each(table)("of %j with %j declared, missing is %j", (required, declared, missing) => {
    assert.deepStrictEqual(Capabilities.missing(required, declared), missing)
  })

  it.prop("nothing is missing of what is declared", [Capabilities.ClientCapabilities], ([capabilities]) => {
    assert.strictEqual(Capabilities.missing(capabilities, capabilities), undefined)
  })

  it("the declared record does not change", () => {
    const declared = Object.freeze({ elicitation: Object.freeze({}) })
    assert.strictEqual(Capabilities.missing({ elicitation: { form: {} } }, declared), undefined)
    assert.deepStrictEqual(declared, { elicitation: {} })
  })

  it(verifies("META-12a", "BASE-21")("capabilities that the revision does not define are kept"), () => {
    const client = {
      roots: { listChanged: true },
      tasks: { cancel: {} },
      sampling: { other: 1 },
      elicitation: { form: {}, voice: {} }
    }
    assert.deepStrictEqual(Schema.decodeUnknownSync(Capabilities.ClientCapabilities)(client) as unknown, client)
    const server = { tools: { listChanged: true, more: 1 }, tasks: {}, extensions: { "com.example/a": { b: 1 } } }
    assert.deepStrictEqual(Schema.decodeUnknownSync(Capabilities.ServerCapabilities)(server) as unknown, server)
  })

  it(verifies("VER-6")("an extension is advertised under its identifier with an object of settings"), () => {
    for (const schema of [Capabilities.ClientCapabilities, Capabilities.ServerCapabilities]) {
      const decode = Schema.decodeUnknownSync(schema)
      assert.deepStrictEqual(decode({ extensions: { "com.example/a": {} } }).extensions, { "com.example/a": {} })
      for (const settings of [true, null, "on", 1, []]) {
        assert.throws(() => decode({ extensions: { "com.example/a": settings } }))
      }
    }
  })

  it("software has a name and a version", () => {
    const decode = Schema.decodeUnknownSync(Capabilities.Implementation)
    const full = {
      name: "n",
      version: "1",
      title: "t",
      description: "d",
      websiteUrl: "https://a.test",
      icons: [{ src: "data:," }],
      other: 1
    }
    assert.deepStrictEqual(decode(full) as unknown, full)
    for (const broken of [{}, { name: "n" }, { version: "1" }, { name: 1, version: "1" }, "n"]) {
      assert.throws(() => decode(broken))
    }
  })
})
