/**
 * The headers that a user adds: which are refused, and how they are written.
 */
import * as Result from "effect/Result"

/** Pairs of name and value. */
export type Pairs = Iterable<readonly [name: string, value: string]>

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Visible characters, spaces and tabs: neither CR, LF nor NUL, nor what does not fit a byte.
const value = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

// The protocol and HTTP itself write these.
const reserved = new Set([
  "accept",
  "connection",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-correlation-id"
])

/** The headers with names in lower case, equal names joined; or what is wrong, without a name or a value. */
export const checkHeaders = (pairs: Pairs): Result.Result<Record<string, string>, string> => {
  const headers: Record<string, string> = Object.create(null)
  for (const [rawName, rawValue] of pairs) {
    if (typeof rawName !== "string" || !token.test(rawName)) return Result.fail("a name is not an HTTP token")
    const name = rawName.toLowerCase()
    if (reserved.has(name) || name.startsWith("content-") || name.startsWith("mcp-")) {
      return Result.fail("a name belongs to the protocol")
    }
    if (typeof rawValue !== "string" || !value.test(rawValue)) {
      return Result.fail("a value has characters that a header cannot hold")
    }
    headers[name] = headers[name] === undefined ? rawValue : `${headers[name]}, ${rawValue}`
  }
  return Result.succeed(headers)
}
