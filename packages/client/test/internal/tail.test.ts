import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Tail } from "../../src/internal/tail.ts"

describe("the tail of a text", () => {
  it("is its last bytes, however they come", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ max: 127, maxLength: 30 })),
        fc.integer({ min: 1, max: 40 }),
        (chunks, max) => {
          const tail = new Tail(max)
          for (const chunk of chunks) tail.push(chunk)
          const all = Buffer.concat(chunks)
          expect(tail.text).toBe(all.subarray(Math.max(0, all.length - max)).toString())
        }
      )
    )
  })

  it("begins with a whole character", () => {
    const tail = new Tail(4)
    tail.push(Buffer.from("ab🌍🌍"))
    expect(tail.text).toBe("🌍")
    tail.push(Buffer.from("c"))
    expect(tail.text).toBe("c")
  })

  it("is empty at first", () => {
    expect(new Tail(4).text).toBe("")
  })
})
