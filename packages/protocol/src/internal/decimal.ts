/**
 * Decimal texts compared as numbers, exactly: no double is involved, so no digit is lost.
 */

/** Whether two decimal texts are the same number, however they are written; false where one is no number. */
export const sameNumber = (a: string, b: string): boolean => {
  const left = normalize(a)
  const right = normalize(b)
  return left !== undefined && right !== undefined && left.digits === right.digits &&
    (left.digits === "" || (left.exponent === right.exponent && left.negative === right.negative))
}

const pattern = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const zero = 0x30

const normalize = (text: string) => {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, sign, integer, fraction = "", exponent = "0"] = match
  const all = `${integer}${fraction}`
  // By hand: a pattern for the last zeros takes quadratic time on a long number.
  let start = 0
  while (all.charCodeAt(start) === zero) start++
  let end = all.length
  while (end > start && all.charCodeAt(end - 1) === zero) end--
  return {
    negative: sign === "-",
    digits: all.slice(start, end),
    exponent: Number(exponent) - fraction.length + (all.length - end)
  }
}
