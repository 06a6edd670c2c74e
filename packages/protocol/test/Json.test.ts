import { assert, describe, it } from "@effect/vitest"
import { Json } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { almostJson, decimalText } from "./support/arbitraries.ts"
import { failure, success } from "./support/results.ts"

/** An oracle of its own: a decimal as a coefficient and a power of ten, by integer arithmetic alone. */
const rational = (text: string) => {
  const [mantissa, exponent = "0"] = text.toLowerCase().split("e") as [string, string?]
  const [integer, fraction = ""] = mantissa.split(".") as [string, string?]
  let coefficient = BigInt(`${integer}${fraction}`.replace("-", ""))
  let power = Number(exponent) - fraction.length
  while (coefficient !== 0n && coefficient % 10n === 0n) {
    coefficient /= 10n
    power++
  }
  if (coefficient === 0n) return "0"
  return `${text.startsWith("-") ? "-" : ""}${coefficient}e${power}`
}

const roundTrip = (text: string) => Json.stringify(success(Json.parse(text)))

const parsesNatively = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe("Json", () => {
  describe("numbers", () => {
    it.prop("any number is written as the number that was read", [decimalText], ([text]) => {
      const value = success(Json.parse(text))
      const written = Json.stringify(value)
      assert.strictEqual(rational(written), rational(text))
      if (typeof value === "number") assert.isTrue(Number.isFinite(value))
      else assert.strictEqual(written, text)
    }, { arbitrary: { runs: 1000 } })

    it.prop(
      "numbers keep their digits inside arrays and objects, beside any key and any string",
      [decimalText, decimalText, Schema.String, Schema.String, Schema.Json],
      ([first, second, key, string, neighbour]) => {
        const name = JSON.stringify(`k${key}`)
        const text = ` { ${name} :[${first},${JSON.stringify(string)}, [${second}]],"n":${JSON.stringify(neighbour)}}`
        const value = success(Json.parse(text, 1000)) as Json.Object
        const array = value[`k${key}`] as ReadonlyArray<Json.Value>
        assert.strictEqual(rational(Json.stringify(array[0])), rational(first))
        assert.strictEqual(array[1], string)
        assert.strictEqual(rational(Json.stringify(array[2]).slice(1, -1)), rational(second))
        assert.deepStrictEqual(value["n"] as unknown, JSON.parse(JSON.stringify(neighbour)))
      }
    )

    it.prop("what JSON.stringify writes is read as plain values", [Schema.Json], ([value]) => {
      const text = JSON.stringify(value)
      assert.deepStrictEqual(success(Json.parse(text, 1000)) as unknown, JSON.parse(text))
      assert.strictEqual(roundTrip(text), text)
    })

    it.each([
      ["0", 0],
      ["-0", -0],
      ["1.0", 1],
      ["0.1", 0.1],
      ["1e22", 1e22],
      ["1E+2", 100],
      ["0e999999999999999999999", 0],
      ["0.10000000000000000000000", 0.1],
      ["1.7976931348623157e308", Number.MAX_VALUE],
      ["5e-324", 5e-324],
      ["9007199254740991", Number.MAX_SAFE_INTEGER],
      ["9007199254740992", 2 ** 53],
      ["100000000000000000000", 1e20]
    ])("%s is a plain number", (text, expected) => {
      assert.strictEqual(success(Json.parse(text)) as unknown, expected)
      assert.isArray(success(Json.parse(`[${text}]`, 1)))
    })

    it.each([
      "9007199254740993",
      "-9007199254740993",
      "12345678901234567890",
      "12345678901234567890123456789012345678901234567890",
      "0.1000000000000000055511151231257827021181583404541015625",
      "1.00000000000000000001",
      "1e400",
      "-1E+400",
      "1e-400",
      "123456789012345678e-3"
    ])("%s is kept exactly, alone and as a member", (text) => {
      const value = success(Json.parse(text))
      assert.isTrue(Json.isExactNumber(value))
      assert.strictEqual(String(value), text)
      assert.strictEqual((value as Json.ExactNumber).approximate, Number(text))
      assert.strictEqual(roundTrip(`{"a":[1,${text}],"b":${text},"c":2}`), `{"a":[1,${text}],"b":${text},"c":2}`)
    })

    it("digits in strings and keys are no numbers", () => {
      const text = `{"12345678901234567890":"12345678901234567890","a\\"1e400":"\\\\\\"1e400","b":1e400}`
      assert.strictEqual(roundTrip(text), text)
      const value = success(Json.parse(text)) as Json.Object
      assert.deepStrictEqual(Object.keys(value).filter((key) => Json.isExactNumber(value[key])), ["b"])
    })

    it("a member named __proto__ is a member, and of equal names the last counts", () => {
      const value = success(Json.parse(`{"__proto__":{"big":1e400},"a":1e400,"a":2}`)) as Json.Object
      assert.deepStrictEqual(Object.keys(value), ["__proto__", "a"])
      assert.strictEqual(value["a"], 2)
      assert.strictEqual((value as { readonly big?: unknown }).big, undefined)
      assert.strictEqual(Json.stringify(value), `{"__proto__":{"big":1e400},"a":2}`)
    })

    it("a number of a million digits is read in linear time", () => {
      const text = `1${"0".repeat(1_000_000)}1`
      assert.strictEqual(roundTrip(text), text)
      assert.isTrue(Json.isExactNumber(success(Json.parse(`0.${"0".repeat(1_000_000)}1`))))
    })

    it("an exact number is made from a JSON number alone", () => {
      assert.strictEqual(new Json.ExactNumber("-1.5e3").source, "-1.5e3")
      for (const source of ["", "01", "1.", ".5", "+1", "1e", "NaN", "Infinity", "1 ", "0x10", "1n"]) {
        assert.throws(() => new Json.ExactNumber(source), RangeError)
      }
    })

    it("no text can pass an object for an exact number", () => {
      for (const key of Object.keys(new Json.ExactNumber("1")).concat("~fairlead/protocol/Json/ExactNumber")) {
        const value = success(Json.parse(JSON.stringify({ [key]: key, source: "1" })))
        assert.isFalse(Json.isExactNumber(value))
        assert.isTrue(Json.isObject(value))
      }
    })
  })

  describe("depth", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
    const objects = (depth: number) => "{\"a\":".repeat(depth) + "1" + "}".repeat(depth)

    it("a text at the limit is read, one level more is refused", () => {
      assert.strictEqual(Json.defaultMaxDepth, 64)
      success(Json.parse(nested(64)))
      success(Json.parse(objects(64)))
      for (const text of [nested(65), objects(65)]) {
        const error = failure(Json.parse(text))
        assert.strictEqual(error.reason, "depth")
        assert.strictEqual(error.message, "The JSON nests deeper than 64 levels")
      }
      success(Json.parse(nested(3), 3))
      assert.strictEqual(failure(Json.parse(nested(4), 3)).reason, "depth")
      success(Json.parse("1", 0))
      assert.strictEqual(failure(Json.parse("[]", 0)).reason, "depth")
    })

    it("siblings do not add up", () => {
      success(Json.parse(`[${Array.from({ length: 1000 }, () => "[{}]").join(",")}]`, 3))
    })

    it("brackets in strings and keys are not counted, whatever is escaped before them", () => {
      const brackets = "[{".repeat(100)
      for (const before of ["", "\\\"", "\\\\", "\\\\\\\"", "\\u0022", "é🙂"]) {
        success(Json.parse(`{"${before}${brackets}":"${brackets}${before}"}`, 1))
        assert.strictEqual(failure(Json.parse(`{"${before}":[{}]}`, 2)).reason, "depth")
      }
    })

    it("a text of brackets is refused without being built", () => {
      assert.strictEqual(failure(Json.parse("[".repeat(1_000_000))).reason, "depth")
      assert.strictEqual(failure(Json.parse("[".repeat(100_000), Infinity)).reason, "malformed")
    })
  })

  describe("any text", () => {
    it.prop("what JSON.parse accepts is accepted, all else is malformed, nothing throws", [almostJson], ([text]) => {
      const result = Json.parse(text, 1000)
      assert.strictEqual(result._tag === "Success", parsesNatively(text))
      if (result._tag === "Failure") assert.strictEqual(result.failure.reason, "malformed")
    }, { arbitrary: { runs: 1000 } })

    it.prop("no string throws", [Schema.String], ([text]) => {
      Json.parse(text)
      Json.parse(`"${text}`)
      Json.parse(`{"a":12345678901234567890,${text}`)
    })

    it("the message holds no part of the text", () => {
      for (const text of ["", "{", "secret", "[secret]", "{\"secret\":1e999", "\ufeff{}", "NaN", "'a'", "1e999x"]) {
        const error = failure(Json.parse(text))
        assert.strictEqual(error.reason, "malformed")
        assert.strictEqual(error.message, "The text is not valid JSON")
      }
    })
  })

  it("undefined members are left out, and undefined alone is null", () => {
    assert.strictEqual(Json.stringify({ a: undefined, b: [undefined], c: null }), `{"b":[null],"c":null}`)
    assert.strictEqual(Json.stringify(undefined), "null")
  })

  it("an object is neither null nor an array nor an exact number", () => {
    assert.isTrue(Json.isObject({}))
    for (const other of [null, [], new Json.ExactNumber("1"), "a", 1, true, undefined]) {
      assert.isFalse(Json.isObject(other))
    }
  })
})
