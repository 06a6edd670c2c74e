import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { problems, published } from "./support/ajv.ts"
import { withoutEach, withUnknownMembers } from "./support/openObjects.ts"
import { blocks } from "./support/samples.ts"

const decode = Schema.decodeUnknownSync(Content.Block)
const encode = Schema.encodeSync(Content.Block)
const validate = published("ContentBlock")
const options = { annotations: { audience: ["user"], priority: 1 }, meta: { "com.example/a": 1 } } as const

describe("Content", () => {
  it.each(blocks.map((block) => [block] as const))("%j is decoded and encoded to the same JSON", (block) => {
    assert.strictEqual(problems(validate, block), "")
    assert.deepStrictEqual(encode(decode(block)) as object, block)
    const open = withUnknownMembers(block)
    assert.deepStrictEqual(encode(decode(open)) as unknown, open)
    for (const [key, rest] of withoutEach(block)) {
      assert.strictEqual(Schema.decodeUnknownExit(Content.Block)(rest)._tag === "Success", validate(rest), key)
    }
  })

  it("a block of a kind that does not exist is refused", () => {
    for (const block of [{ type: "video", data: "" }, { type: "tool_use" }, {}, null, "text"]) {
      assert.throws(() => decode(block))
    }
  })

  it.prop("bytes come back from their base64", [Schema.Uint8Array], ([data]) => {
    for (const block of [Content.image(data, "image/png"), Content.audio(data, "audio/wav")]) {
      const encoded = encode(block)
      assert.strictEqual(problems(validate, encoded), "")
      assert.strictEqual((encoded as { readonly data: string }).data, Buffer.from(data).toString("base64"))
      assert.deepStrictEqual(decode(encoded), block)
    }
    const resource = Content.embeddedResource({ uri: "file:///a", blob: data })
    assert.deepStrictEqual(decode(encode(resource)), resource)
  })

  it("base64 that is none is refused", () => {
    for (const data of ["a", "====", "a b=", "é", "AAEC/w==="]) {
      assert.throws(() => decode({ type: "image", data, mimeType: "image/png" }))
    }
  })

  describe("constructors", () => {
    it("text", () => {
      assert.deepStrictEqual(Content.text("a") as unknown, { type: "text", text: "a" })
      assert.deepStrictEqual(Content.text("a", options) as unknown, {
        type: "text",
        text: "a",
        annotations: options.annotations,
        _meta: options.meta
      })
    })

    it("resource links", () => {
      assert.deepStrictEqual(Content.resourceLink("file:///a", "a") as unknown, {
        type: "resource_link",
        uri: "file:///a",
        name: "a"
      })
      const more = { title: "A", description: "d", mimeType: "text/plain", size: 0, icons: [{ src: "data:," }] }
      assert.deepStrictEqual(Content.resourceLink("file:///a", "a", { ...more, ...options }) as unknown, {
        type: "resource_link",
        uri: "file:///a",
        name: "a",
        ...more,
        annotations: options.annotations,
        _meta: options.meta
      })
    })

    it("every block they make is what the revision publishes", () => {
      const data = Uint8Array.of(0, 255)
      for (
        const block of [
          Content.text("a", options),
          Content.image(data, "image/png", options),
          Content.audio(data, "audio/wav", options),
          Content.resourceLink("file:///a", "a", options),
          Content.embeddedResource({ uri: "file:///a", text: "a" }, options),
          Content.embeddedResource({ uri: "file:///a", blob: data }, options)
        ]
      ) {
        assert.strictEqual(problems(validate, encode(block)), "")
        assert.deepStrictEqual(decode(encode(block)), block)
      }
    })
  })

  it("the text of blocks is that of the text blocks, one line each", () => {
    assert.strictEqual(Content.textOf([]), "")
    assert.strictEqual(
      Content.textOf([
        Content.text("a"),
        Content.resourceLink("file:///b", "b"),
        Content.text(""),
        Content.text("c\nd")
      ]),
      "a\n\nc\nd"
    )
  })

  it(verifies("ICON-1")("an icon has a source, and optionally media type, sizes and theme"), () => {
    const decodeIcon = Schema.decodeUnknownSync(Content.Icon)
    for (
      const icon of [{ src: "data:," }, {
        src: "https://a.test/i",
        mimeType: "image/png",
        sizes: ["any", "48x48"],
        theme: "light",
        more: 1
      }]
    ) {
      assert.strictEqual(problems(published("Icon"), icon), "")
      assert.deepStrictEqual(decodeIcon(icon) as unknown, icon)
    }
    for (const icon of [{}, { src: 1 }, { src: "a", theme: "blue" }, { src: "a", sizes: "any" }]) {
      assert.notStrictEqual(problems(published("Icon"), icon), "")
      assert.throws(() => decodeIcon(icon))
    }
  })

  it(verifies("ICON-1")("icons are published with a source of http, https or data, and with sizes"), () => {
    const published: ReadonlyArray<Content.Icon> = [
      { src: "https://a.test/i.png", sizes: ["any", "48x48"] },
      { src: "http://a.test/i.png", sizes: [] },
      { src: "HTTPS://a.test/" },
      { src: "data:image/png;base64,AA==" }
    ]
    assert.isUndefined(Content.problemOfIcons(published))
    assert.isUndefined(Content.problemOfIcons(undefined))
    for (
      const src of [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ws://a.test",
        "/i.png",
        "i.png",
        "",
        "https://",
        " data:,"
      ]
    ) {
      assert.match(Content.problemOfIcons([...published, { src }])!, /source/, src)
    }
    for (const size of ["48", "48X48", "0x48", "48x", "large", ""]) {
      assert.match(Content.problemOfIcons([{ src: "data:,", sizes: ["any", size] }])!, /size/, size)
    }
  })

  it(verifies("RES-6")("annotations are published with a priority from 0 to 1 and a time in ISO 8601"), () => {
    for (
      const annotations of [
        undefined,
        {},
        { priority: 0 },
        { priority: 1, lastModified: "2026-07-28T12:00:00Z" },
        { priority: 0.5, lastModified: "2026-07-28" }
      ]
    ) assert.isUndefined(Content.problemOfAnnotations(annotations))
    for (const priority of [-0.1, 1.1, NaN, Infinity]) {
      assert.match(Content.problemOfAnnotations({ priority })!, /priority/, String(priority))
    }
    for (const lastModified of ["", "yesterday", "28.07.2026", "2026-13-40", "1785240000000"]) {
      assert.match(Content.problemOfAnnotations({ lastModified })!, /ISO 8601/, lastModified)
    }
  })

  it(verifies("PROMPT-4", "RES-10")("a block is sent with URIs and media types that are some"), () => {
    for (const block of blocks) assert.isUndefined(Content.problemOfBlock(decode(block)), JSON.stringify(block))
    const bytes = new Uint8Array(1)
    const types = [
      "text/plain",
      "image/svg+xml",
      "text/plain; charset=utf-8",
      "inode/directory",
      "application/vnd.a.b-c+json"
    ]
    for (const type of types) assert.isUndefined(Content.problemOfBlock(Content.image(bytes, type)), type)
    for (const type of ["", "text", "text/", "/plain", "a b/c", "text/plain charset=utf-8", "text/pl\u00e4in"]) {
      assert.match(Content.problemOfBlock(Content.audio(bytes, type))!, /media type/, type)
    }
    for (const uri of ["", "a", "a b:c", "//a", "a:", "a:\ud800", "a:\n"]) {
      assert.match(Content.problemOfBlock(Content.resourceLink(uri, "a"))!, /URI/, uri)
      assert.match(Content.problemOfBlock(Content.embeddedResource({ uri, text: "" }))!, /URI/, uri)
    }
    assert.match(Content.problemOfBlock(Content.resourceLink("a:b", "a", { size: -1 }))!, /size/)
    assert.match(Content.problemOfBlock(Content.text("a", { annotations: { priority: 2 } }))!, /priority/)
  })

  it("annotations have an audience of users and assistants", () => {
    const decodeAnnotations = Schema.decodeUnknownSync(Content.Annotations)
    assert.deepStrictEqual(decodeAnnotations({ audience: [], priority: 0, other: true }) as unknown, {
      audience: [],
      priority: 0,
      other: true
    })
    for (
      const annotations of [{ audience: ["system"] }, { audience: "user" }, { priority: "1" }, { lastModified: 0 }]
    ) {
      assert.throws(() => decodeAnnotations(annotations))
    }
  })

  it("metadata is any object", () => {
    assert.deepStrictEqual(Schema.decodeUnknownSync(Content.Metadata)({ a: [null] }), { a: [null] })
    for (const metadata of [null, [], "a", 1]) assert.throws(() => Schema.decodeUnknownSync(Content.Metadata)(metadata))
  })
})
