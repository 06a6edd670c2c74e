import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Frames } from "@fairlead/protocol"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

type Event = readonly ["frame", string] | readonly ["oversize", string] | readonly ["malformed"]

const bytes = (text: string) => new TextEncoder().encode(text)

const recorder = (maxBytes?: number) => {
  const events: Array<Event> = []
  const splitter = Frames.makeSplitter({
    frame: (text) => events.push(["frame", text]),
    oversize: (head) => events.push(["oversize", head]),
    malformed: () => events.push(["malformed"])
  }, maxBytes)
  return { events, splitter }
}

const split = (chunks: Iterable<Uint8Array>, maxBytes?: number) => {
  const { events, splitter } = recorder(maxBytes)
  for (const chunk of chunks) {
    const copy = chunk.slice()
    splitter.feed(copy)
    // The owner of a chunk may use its memory again.
    copy.fill(0x21)
  }
  return { events, rest: splitter.end() }
}

/** How much of an oversized line is known when it is told of depends on the chunks. */
const withoutHeads = (events: ReadonlyArray<Event>) =>
  events.map(([kind, text]) => kind === "oversize" ? [kind] : [kind, text])

const oneByOne = (input: Uint8Array) => Array.from(input, (byte) => Uint8Array.of(byte))

const concat = (...parts: ReadonlyArray<Uint8Array>) => Uint8Array.from(parts.flatMap((part) => [...part]))

const line = Schema.Literals([
  "",
  " ",
  "a",
  "{\"a\":1}",
  "— 🙂 é",
  "\ufeff",
  "\r",
  "a\rb",
  "0123456789",
  "0123456789a",
  "0123456789\r",
  "x".repeat(40)
])
const input = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.all([Arbitrary.schema(line), Arbitrary.schema(Schema.Literals(["\n", "\r\n", "\n\n", ""]))]),
    { maxLength: 12 }
  ),
  (lines) => lines.flat().join("")
)

describe("Frames", () => {
  it.prop(
    "any chunking gives the same frames",
    [input, Arbitrary.array(Arbitrary.schema(Schema.Literals([0, 1, 2, 3, 5, 8, 20])), { maxLength: 60 })],
    ([text, sizes]) => {
      const whole = bytes(text)
      const chunks: Array<Uint8Array> = []
      let offset = 0
      for (const size of sizes) {
        chunks.push(whole.subarray(offset, offset + size))
        offset += size
      }
      chunks.push(whole.subarray(offset))
      for (const limit of [undefined, 10, 11]) {
        const expected = withoutHeads(split([whole], limit).events)
        assert.deepStrictEqual(withoutHeads(split(chunks, limit).events), expected)
        assert.deepStrictEqual(withoutHeads(split(oneByOne(whole), limit).events), expected)
      }
      assert.strictEqual(split(chunks).rest, split([whole]).rest)
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "frames are the lines of the text, without their ends and without the empty ones",
    [Arbitrary.array(Arbitrary.schema(Schema.String))],
    ([lines]) => {
      const clean = lines.map((text) => text.replaceAll(/[\r\n\ufeff]/g, " ").toWellFormed())
      const { events, rest } = split([bytes(clean.map((text) => `${text}\r\n`).join(""))])
      assert.deepStrictEqual(events, clean.filter((text) => text !== "").map((text) => ["frame", text] as const))
      assert.strictEqual(rest, 0)
    }
  )

  it(verifies("STDIO-2")("characters of two to four bytes survive every cut"), () => {
    const text = "é — 🙂 世界"
    const whole = bytes(`${text}\n`)
    for (let cut = 0; cut <= whole.length; cut++) {
      assert.deepStrictEqual(split([whole.subarray(0, cut), whole.subarray(cut)]).events, [["frame", text]])
    }
    assert.deepStrictEqual(split(oneByOne(whole)).events, [["frame", text]])
  })

  it("one carriage return before the line feed belongs to the line end", () => {
    assert.deepStrictEqual(split([bytes("a\r\nb\r\r\n\r\nc\rd\n\r\r\n")]).events, [
      ["frame", "a"],
      ["frame", "b\r"],
      ["frame", "c\rd"],
      ["frame", "\r"]
    ])
  })

  it("a byte order mark is skipped before the first line alone", () => {
    assert.deepStrictEqual(split(oneByOne(bytes("\ufeffa\n\ufeffb\n"))).events, [["frame", "a"], ["frame", "\ufeffb"]])
    assert.deepStrictEqual(split([bytes("\n\ufeffa\n")]).events, [["frame", "\ufeffa"]])
    assert.deepStrictEqual(split([bytes("\ufeff\n\ufeff\n")]).events, [["frame", "\ufeff"]])
    assert.deepStrictEqual(split([bytes("\ufeff\ufeffa\n")]).events, [["frame", "\ufeffa"]])
  })

  it("a line that is not UTF-8 is told of, and the next one is read", () => {
    for (const broken of [[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
      const whole = concat(bytes("{\"a\":\""), Uint8Array.from(broken), bytes("\"}\nnext\n"))
      for (const chunks of [[whole], oneByOne(whole)]) {
        assert.deepStrictEqual(split(chunks).events, [["malformed"], ["frame", "next"]])
      }
    }
  })

  describe("the limit", () => {
    const shapes = [["in one chunk", (b: Uint8Array) => [b]], ["byte by byte", oneByOne]] as const

    it.each(shapes)("a line of exactly the limit passes, one byte more does not, %s", (_title, chunks) => {
      for (const end of ["\n", "\r\n"]) {
        const at = "x".repeat(10)
        assert.deepStrictEqual(split(chunks(bytes(`${at}${end}${at}${end}`)), 10).events, [["frame", at], [
          "frame",
          at
        ]])
        const { events } = split(chunks(bytes(`${at}x${end}next${end}`)), 10)
        assert.deepStrictEqual(withoutHeads(events), [["oversize"], ["frame", "next"]])
        assert.strictEqual(events[0]![1]!.trimEnd(), `${at}x`)
      }
      assert.deepStrictEqual(split(chunks(bytes(`${"x".repeat(9)}\r\r\n`)), 10).events, [[
        "frame",
        `${"x".repeat(9)}\r`
      ]])
      assert.deepStrictEqual(split(chunks(bytes("é".repeat(5) + "\n")), 10).events, [["frame", "ééééé"]])
      assert.deepStrictEqual(split(chunks(bytes("é".repeat(5) + "x\n")), 10).events, [["oversize", "éééééx"]])
    })

    it("an oversized line is told of once, as soon as it is certain, and the rest of it is skipped", () => {
      const { events, splitter } = recorder(10)
      splitter.feed(bytes("x".repeat(11)))
      assert.deepStrictEqual(events, [])
      splitter.feed(bytes("x"))
      assert.deepStrictEqual(events, [["oversize", "x".repeat(12)]])
      splitter.feed(bytes("y".repeat(1000)))
      splitter.feed(bytes("y\nnext\n"))
      splitter.feed(bytes(`${"z".repeat(5000)}\n`))
      splitter.feed(bytes("last\n"))
      assert.deepStrictEqual(events, [
        ["oversize", "x".repeat(12)],
        ["frame", "next"],
        ["oversize", "z".repeat(4096)],
        ["frame", "last"]
      ])
    })

    it("an oversized first line is followed by ordinary ones, and its head may end inside a character", () => {
      const { events } = split([bytes(`${"🙂".repeat(2000)}\n\ufeffa\n`)], 100)
      assert.deepStrictEqual(events[1], ["frame", "\ufeffa"])
      assert.strictEqual(events[0]![1]!.slice(0, 4), "🙂🙂")
      assert.isAtMost(bytes(events[0]![1]!).length, 4096)
      const odd = split([bytes(`x${"🙂".repeat(2000)}\n`)], 100).events[0]![1]!
      assert.isTrue(odd.endsWith("\ufffd"))
    })

    it("lines beside an oversized one in the same chunk are read", () => {
      assert.deepStrictEqual(split([bytes(`a\n${"x".repeat(20)}\nb\n${"y".repeat(20)}\nc`)], 10), {
        events: [["frame", "a"], ["oversize", "x".repeat(20)], ["frame", "b"], ["oversize", "y".repeat(20)]],
        rest: 1
      })
    })

    it("no more than the limit is held, however long a line is", () => {
      const { events, splitter } = recorder(1000)
      const chunk = bytes("x".repeat(300))
      for (let i = 0; i < 1000; i++) splitter.feed(chunk)
      assert.strictEqual(events.length, 1)
      assert.strictEqual(splitter.end(), 0)
    })

    it("tiny chunks cost no more memory than their bytes", () => {
      const { splitter } = recorder(1024 * 1024)
      const chunk = Uint8Array.of(0x78)
      const before = process.memoryUsage()
      for (let i = 0; i < 1_000_000; i++) splitter.feed(chunk)
      const after = process.memoryUsage()
      assert.isBelow(after.arrayBuffers - before.arrayBuffers, 16 * 1024 * 1024)
      assert.strictEqual(splitter.end(), 1_000_000)
    })

    it("a long line in many chunks comes back whole, again and again", () => {
      const text = Array.from({ length: 20_000 }, (_, i) => i.toString(36)).join(" ")
      const whole = bytes(`${text}\nshort\n${text}\n`)
      const chunks = Array.from(
        { length: Math.ceil(whole.length / 700) },
        (_, i) => whole.subarray(i * 700, i * 700 + 700)
      )
      assert.deepStrictEqual(split(chunks).events, [["frame", text], ["frame", "short"], ["frame", text]])
    })

    it("the default lets a message of megabytes through", () => {
      assert.strictEqual(Frames.defaultMaxBytes, 16 * 1024 * 1024)
      const text = "x".repeat(Frames.defaultMaxBytes)
      assert.deepStrictEqual(split([bytes(`${text}\n`)]).events.map(([kind, value]) => [kind, value?.length]), [[
        "frame",
        text.length
      ]])
    })
  })

  it("a header of another framing is known, whatever its case", () => {
    const headers = [
      "Content-Length: 52",
      "content-type: application/vscode-jsonrpc; charset=utf-8",
      "CONTENT-LENGTH :1"
    ]
    for (const header of headers) assert.isTrue(Frames.isLspHeader(header))
    for (const line of ["{}", "", " Content-Length: 5", "Content-Lengths: 5", "x Content-Length: 5"]) {
      assert.isFalse(Frames.isLspHeader(line))
    }
  })

  it("the end tells how many bytes of a line are lost", () => {
    assert.strictEqual(split([]).rest, 0)
    assert.strictEqual(split([bytes("a\n")]).rest, 0)
    assert.strictEqual(split([bytes("a\nbé")]).rest, 3)
    assert.deepStrictEqual(split([bytes("a\n{\"b\"")]).events, [["frame", "a"]])
    const { splitter } = recorder()
    splitter.feed(bytes("abc"))
    assert.strictEqual(splitter.end(), 3)
    assert.strictEqual(splitter.end(), 0)
  })

  it.prop(verifies("STDIO-2")("a frame is one line that ends with one line feed"), [Schema.Json], ([value]) => {
    const frame = Frames.encode(JSON.stringify(value))
    assert.strictEqual(frame.at(-1), 0x0a)
    assert.strictEqual(frame.indexOf(0x0a), frame.length - 1)
    assert.isFalse(frame.includes(0x0d))
    assert.deepStrictEqual(split(oneByOne(frame)).events, [["frame", JSON.stringify(value)]])
  })
})
