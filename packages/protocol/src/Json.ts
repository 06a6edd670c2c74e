/**
 * JSON values that keep every number as it was written. `JSON.parse` rounds what a double cannot hold; here such a
 * number becomes an {@link ExactNumber}, and writing it gives the same digits again.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { sameNumber } from "./internal/decimal.ts"

// A symbol, because a string could stand as a key in what a peer sends.
const ExactNumberTypeId: unique symbol = Symbol.for("~fairlead/protocol/Json/ExactNumber")

/**
 * A JSON value.
 *
 * @category models
 * @since 0.1.0
 */
export type Value = null | boolean | number | string | ExactNumber | ReadonlyArray<Value> | Object

/**
 * A JSON object.
 *
 * @category models
 * @since 0.1.0
 */
export interface Object {
  readonly [key: string]: Value
}

/**
 * A number that a double cannot hold, kept as the text it was written in: integers beyond 2^53, decimals of more than
 * about 15 digits, exponents out of range. Only such numbers are kept this way; all others are plain numbers. The
 * constructor throws a `RangeError` for a text that is no JSON number.
 *
 * @category models
 * @since 0.1.0
 */
export class ExactNumber {
  readonly [ExactNumberTypeId]: typeof ExactNumberTypeId = ExactNumberTypeId
  /** The number as it stands in the JSON text. */
  readonly source: string

  constructor(source: string) {
    if (!numberPattern.test(source)) {
      throw new RangeError("ExactNumber: the source is not a JSON number")
    }
    this.source = source
  }

  /** The nearest double: what a parser that rounds would have given. */
  get approximate(): number {
    return Number(this.source)
  }

  /** Writes the same digits that were read. */
  toJSON(): unknown {
    return rawJson(this.source)
  }

  toString(): string {
    return this.source
  }
}

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

// `JSON.rawJSON` and the third argument of a reviver are newer than the `lib` of TypeScript.
const { rawJSON: rawJson, parse: parseWithSource } = JSON as unknown as {
  readonly rawJSON: (text: string) => unknown
  readonly parse: (
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown
  ) => Value
}

/**
 * Whether a value is an {@link ExactNumber}.
 *
 * @category guards
 * @since 0.1.0
 */
export const isExactNumber = (u: unknown): u is ExactNumber => Predicate.hasProperty(u, ExactNumberTypeId)

/**
 * Whether a value is a JSON object: neither null, nor an array, nor a number kept exactly.
 *
 * @category guards
 * @since 0.1.0
 */
export const isObject = (u: unknown): u is Object => {
  if (typeof u !== "object" || u === null) return false
  // What `JSON.parse` made needs no look at its members.
  return Object.getPrototypeOf(u) === Object.prototype || (!Array.isArray(u) && !isExactNumber(u))
}

/**
 * Why a text is not accepted: `malformed` (it is not JSON) or `depth` (it nests deeper than the limit allows). The
 * message names the limit and never holds a part of the text.
 *
 * @category errors
 * @since 0.1.0
 */
export class JsonError extends Data.TaggedError("JsonError")<{
  readonly reason: "malformed" | "depth"
  readonly message: string
}> {}

/**
 * The deepest nesting of arrays and objects that {@link parse} accepts unless told otherwise: 64.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultMaxDepth = 64

const malformed = new JsonError({ reason: "malformed", message: "The text is not valid JSON" })

/**
 * Parses a JSON text. The depth is checked before any value is built, so that a text of brackets costs no memory. A
 * number that a double cannot hold becomes an {@link ExactNumber}.
 *
 * Fails with `JsonError` (`malformed` or `depth`).
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string, maxDepth: number = defaultMaxDepth): Result.Result<Value, JsonError> => {
  const scanned = scan(text, maxDepth)
  if (scanned === tooDeep) {
    return Result.fail(new JsonError({ reason: "depth", message: `The JSON nests deeper than ${maxDepth} levels` }))
  }
  try {
    return Result.succeed(scanned === plain ? JSON.parse(text) as Value : parseWithSource(text, keepExact))
  } catch {
    return Result.fail(malformed)
  }
}

/**
 * Writes a JSON text. Numbers that were kept exactly are written with the digits they were read with; `undefined`
 * members are left out, as `JSON.stringify` does.
 *
 * @category writing
 * @since 0.1.0
 */
export const stringify = (value: unknown): string => JSON.stringify(value) ?? "null"

const tooDeep = -1
const plain = 0
const needsCare = 1

const quote = 0x22
const backslash = 0x5c

/**
 * One pass over the text, strings skipped: is it nested too deep, and is there a number token long enough that a
 * double might not hold it? (15 significant digits always fit.)
 */
const scan = (text: string, maxDepth: number): number => {
  const length = text.length
  let depth = 0
  let result = plain
  for (let i = 0; i < length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      i = endOfString(text, i + 1)
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > maxDepth) return tooDeep
    } else if (c === 0x7d || c === 0x5d) {
      depth--
    } else if (c >= 0x30 && c <= 0x39) {
      const start = i
      let exponent = false
      for (i++; i < length; i++) {
        const n = text.charCodeAt(i)
        if (n === 0x65 || n === 0x45) exponent = true
        else if (!((n >= 0x30 && n <= 0x39) || n === 0x2e || n === 0x2b || n === 0x2d)) break
      }
      if (exponent || i - start > 15) result = needsCare
      i--
    }
  }
  return result
}

/** The index of the quote that ends a string; the text's length where there is none. */
const endOfString = (text: string, from: number): number => {
  for (let end = text.indexOf("\"", from);; end = text.indexOf("\"", end + 1)) {
    if (end === -1) return text.length
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end
  }
}

function keepExact(this: unknown, _key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context.source === undefined) return value
  const written = String(value)
  return written === context.source || sameNumber(context.source, written) ? value : new ExactNumber(context.source)
}
