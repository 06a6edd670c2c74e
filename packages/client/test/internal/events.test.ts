import { describe, expect, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import type { Outgoing } from "@fairlead/protocol/Transport"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { makeReader, type Outcome } from "../../src/internal/events.ts"

const request = (notify: (notification: JsonRpc.Notification) => void): Outgoing => ({
  id: 7,
  method: "tools/call",
  params: {},
  text: "",
  headers: [],
  sent: () => {},
  notify
})

/** Everything a reader gives for chunks of bytes. */
const readAll = (chunks: ReadonlyArray<Uint8Array>, limit = 10_000) => {
  const heard: Array<unknown> = []
  const reader = makeReader(request((notification) => heard.push(notification.params)), limit)
  let outcome: Outcome | undefined
  for (const chunk of chunks) outcome ??= reader.feed(chunk)
  outcome ??= reader.end()
  return { heard, outcome, skipped: reader.skipped() }
}

const note = (value: unknown) => JSON.stringify({ jsonrpc: "2.0", method: "n", params: { value } })
const answer = (value: unknown) => JSON.stringify({ jsonrpc: "2.0", id: 7, result: { value } })

const cut = (bytes: Uint8Array, points: ReadonlyArray<number>) => {
  const sorted = [...new Set(points.map((point) => point % (bytes.length + 1)))].sort((a, b) => a - b)
  const chunks: Array<Uint8Array> = []
  let start = 0
  for (const point of [...sorted, bytes.length]) {
    chunks.push(bytes.subarray(start, point))
    start = point
  }
  return chunks
}

describe("answers that cannot be read", () => {
  const deep = `${"[".repeat(70)}${"]".repeat(70)}`
  it.each<readonly [string, string]>([
    ["no JSON", "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":NaN}}"],
    ["too deep", `{"jsonrpc":"2.0","result":{"id":1,"x":${deep}},"id":7}`]
  ])("end the call at once: %s", (_name, text) => {
    const { outcome } = readAll([new TextEncoder().encode(`data: ${text}\n\ndata: ${answer(1)}\n\n`)])
    expect(outcome !== undefined && Result.isFailure(outcome) && outcome.failure._tag).toBe("MalformedResponse")
  })

  it.each<readonly [string, string]>([
    ["of another request", "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{\"x\":NaN}}"],
    ["a call", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":{\"x\":NaN}}"],
    ["of no protocol", "{\"id\":7,\"x\":NaN}"],
    ["a text with one in it", "sent {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"]
  ])("are skipped where they are no answer: %s", (_name, text) => {
    const { outcome, skipped } = readAll([new TextEncoder().encode(`data: ${text}\n\ndata: ${answer(1)}\n\n`)])
    expect(outcome !== undefined && Result.isSuccess(outcome)).toBe(true)
    expect(skipped).toBe(1)
  })
})

describe("event streams", () => {
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r")
  const noise = fc.constantFrom(
    "",
    ": comment",
    ":",
    "id: 3",
    "retry: 100",
    "unknown: x",
    "event: message"
  )
  const stream = fc.record({
    bom: fc.boolean(),
    values: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 6 }),
    ends: fc.infiniteStream(lineEnd),
    noises: fc.infiniteStream(noise),
    spaces: fc.infiniteStream(fc.constantFrom("", " ")),
    last: fc.string({ unit: "grapheme" }),
    points: fc.array(fc.nat(), { maxLength: 30 })
  })

  it(verifies("HTTP-18", "HTTP-17")("are read the same however they are cut, and with any line ends"), () => {
    fc.assert(
      fc.property(stream, ({ bom, ends, last, noises, points, spaces, values }) => {
        const next = <A>(stream: fc.Stream<A>): A => stream.next().value as A
        let text = bom ? "\ufeff" : ""
        const line = (content: string) => {
          const end = next(ends)
          // After a CR, an LF would belong to the same line end.
          text += content + (content === "" && text.endsWith("\r") && end === "\n" ? "\r" : end)
        }
        for (const data of [...values.map(note), answer(last)]) {
          const extra = next(noises)
          // An empty line would end an event; before the data there is none.
          if (extra !== "") line(extra)
          line(`data:${next(spaces)}${data}`)
          line("")
        }
        const { heard, outcome, skipped } = readAll(cut(new TextEncoder().encode(text), points))
        expect(heard).toEqual(values.map((value) => ({ value })))
        expect(outcome).toEqual(Result.succeed({ _tag: "Success", id: 7, result: { value: last } }))
        expect(skipped).toBe(0)
      }),
      { numRuns: 500 }
    )
  })

  it("an answer in several data lines is one", () => {
    const text = `data: {"jsonrpc":"2.0",\ndata: "id":7,\ndata:"result":{"value":1}}\n\n`
    expect(readAll([new TextEncoder().encode(text)]).outcome).toEqual(
      Result.succeed({ _tag: "Success", id: 7, result: { value: 1 } })
    )
  })

  it("the limit is for an event and is the same however it is cut", () => {
    const small = `data: ${note("x")}\n\n`
    const data = answer("y".repeat(500))
    const all = new TextEncoder().encode(small.repeat(40) + `data: ${data}\n\n`)
    fc.assert(fc.property(fc.array(fc.nat(), { maxLength: 60 }), (points) => {
      const exact = readAll(cut(all, points), data.length)
      expect(Result.isSuccess(exact.outcome!)).toBe(true)
      expect(exact.heard.length).toBe(40)
      const over = readAll(cut(all, points), data.length - 1)
      expect(Result.isFailure(over.outcome!) && over.outcome.failure._tag).toBe("ResponseTooLarge")
      expect(over.heard.length).toBe(40)
    }))
  })

  it("any bytes are read without a throw", () => {
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 10 }), (chunks) => {
      readAll(chunks, 50)
    }))
  })

  it("nothing is heard after the answer", () => {
    const text = `data: ${answer(1)}\n\ndata: ${note(1)}\n\ndata: ${answer(2)}\n\n`
    const { heard, outcome } = readAll([new TextEncoder().encode(text)])
    expect(heard).toEqual([])
    expect(outcome).toEqual(Result.succeed({ _tag: "Success", id: 7, result: { value: 1 } }))
  })
})
