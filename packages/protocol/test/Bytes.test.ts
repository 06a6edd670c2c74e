import { assert, describe, it } from "@effect/vitest"
import * as Bytes from "@fairlead/protocol/Bytes"
import * as fc from "fast-check"

describe("isLongerThan", () => {
  it("counts the bytes of UTF-8", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 20 }), fc.nat(70), (text, limit) => {
      assert.strictEqual(Bytes.isLongerThan(text, limit), new TextEncoder().encode(text).length > limit)
    }))
  })

  it("has its bound between one byte and the next", () => {
    for (const [text, bytes] of [["abc", 3], ["é", 2], ["€€", 6], ["😀", 4], ["\ud800", 3]] as const) {
      assert.deepStrictEqual([Bytes.isLongerThan(text, bytes), Bytes.isLongerThan(text, bytes - 1)], [false, true])
    }
  })
})

describe("concat", () => {
  it("joins chunks in their order", () => {
    const chunks = [Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)]
    assert.deepStrictEqual(Bytes.concat(chunks, 3), Uint8Array.of(1, 2, 3))
    assert.deepStrictEqual(Bytes.concat([], 0), new Uint8Array(0))
  })

  it("gives a single chunk back as it is", () => {
    const chunk = Uint8Array.of(1)
    assert.strictEqual(Bytes.concat([chunk], 1), chunk)
  })
})
