import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Completion } from "@fairlead/protocol"

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const { fromAnswer, maxValues } = Completion

describe("an answer", () => {
  it(verifies("COMP-3")("of up to a hundred values travels as it is"), () => {
    assert.strictEqual(maxValues, 100)
    assert.deepStrictEqual(fromAnswer([]), { values: [] })
    assert.deepStrictEqual(fromAnswer(numbers(100)), { values: numbers(100) })
    assert.deepStrictEqual(fromAnswer({ values: ["a"], total: 7, hasMore: true }), {
      values: ["a"],
      total: 7,
      hasMore: true
    })
    assert.deepStrictEqual(fromAnswer({ values: ["a"], hasMore: false }), { values: ["a"], hasMore: false })
    assert.deepStrictEqual(fromAnswer({ values: ["a"], total: undefined, hasMore: undefined }), { values: ["a"] })
  })

  it(verifies("COMP-3")("of more is cut after the best hundred, and says that there are more and how many"), () => {
    assert.deepStrictEqual(fromAnswer(numbers(101)), { values: numbers(100), total: 101, hasMore: true })
    assert.deepStrictEqual(fromAnswer({ values: numbers(150), total: 900, hasMore: false }), {
      values: numbers(100),
      total: 900,
      hasMore: true
    })
  })

  it("never has a total smaller than what there is", () => {
    assert.deepStrictEqual(fromAnswer({ values: numbers(3), total: 1 }), { values: numbers(3), total: 3 })
    assert.deepStrictEqual(fromAnswer({ values: numbers(120), total: 1 }).total, 120)
  })

  it("is not changed by what is made of it", () => {
    const values = numbers(120)
    fromAnswer(values)
    assert.strictEqual(values.length, 120)
  })

  it("has no total that is no count", () => {
    for (const total of [NaN, Infinity, -1, 1.5]) {
      assert.deepStrictEqual(fromAnswer({ values: ["a"], total }), { values: ["a"] })
    }
    assert.strictEqual(fromAnswer({ values: numbers(101), total: NaN }).total, 101)
  })
})
