/**
 * Assertions of the contract suite. They need no test runner, so that the suite runs in any.
 */
import * as Json from "@fairlead/protocol/Json"

export class ContractViolation extends Error {
  override readonly name = "ContractViolation"
}

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text
}

export const fail = (what: string): never => {
  throw new ContractViolation(what)
}

export const ok = (condition: boolean, what: string): void => {
  if (!condition) fail(what)
}

export const equal = (actual: unknown, expected: unknown, what: string): void => {
  if (!same(actual, expected)) fail(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

export const oneOf = (actual: unknown, expected: ReadonlyArray<unknown>, what: string): void => {
  if (expected.length === 1) return equal(actual, expected[0], what)
  if (!expected.some((one) => same(actual, one))) {
    fail(`${what}: expected one of ${show(expected)}, got ${show(actual)}`)
  }
}

type Members = { readonly [key: string]: unknown }

const same = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (Json.isExactNumber(a) || Json.isExactNumber(b)) {
    return Json.isExactNumber(a) && Json.isExactNumber(b) && a.source === b.source
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same((a as Members)[key], (b as Members)[key]))
}
