import { assert, describe, it } from "@effect/vitest"
import { Slots } from "@fairlead/protocol/Slots"

describe("Slots", () => {
  it("hold what was put in, and the last of a key", () => {
    const slots = new Slots<number>()
    slots.set("a", 1)
    slots.set("b", 2)
    slots.set("a", 3)
    assert.deepStrictEqual([slots.get("a"), slots.get("b"), slots.get("c")], [3, 2, undefined])
    assert.deepStrictEqual([slots.has("a"), slots.has("c"), slots.size], [true, false, 2])
    assert.deepStrictEqual(slots.values(), [3, 2])
  })

  it("tell whether there was what is taken out", () => {
    const slots = new Slots<number>()
    slots.set("a", 1)
    assert.isTrue(slots.delete("a"))
    assert.isFalse(slots.delete("a"))
    assert.deepStrictEqual([slots.has("a"), slots.size, slots.values()], [false, 0, []])
  })

  it("give all at once and are empty then", () => {
    const slots = new Slots<number>()
    slots.set("a", 1)
    slots.set("b", 2)
    assert.deepStrictEqual(slots.takeAll(), [1, 2])
    assert.deepStrictEqual([slots.size, slots.takeAll()], [0, []])
  })
})
