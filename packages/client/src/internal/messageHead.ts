/**
 * What a text says of itself that cannot be read as a message, because it is too long, too deep or no JSON: found by a
 * scan that knows strings and nesting, so that an `id` inside a result is not taken for the message's.
 */
import * as JsonRpc from "@fairlead/protocol/JsonRpc"

export interface Head {
  readonly id: JsonRpc.RequestId | undefined
  /** Whether the message names a method: it is a notification or a request, no answer. */
  readonly hasMethod: boolean
  /** Whether it names the version of JSON-RPC, as every message does. */
  readonly hasVersion: boolean
}

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a
const numberToken = /-?\d+(?=\s*[,}])/y

export const headOf = (text: string): Head => {
  let depth = 0
  let id: JsonRpc.RequestId | undefined
  let hasMethod = false
  let hasVersion = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x7b || c === 0x5b) depth++
    else if (c === 0x7d || c === 0x5d) depth--
    else if (c === quote) {
      const end = endOfString(text, i)
      // The head ends inside this string.
      if (end === undefined) break
      const start = i
      i = end
      if (depth !== 1) continue
      const at = skipSpace(text, end + 1)
      if (text.charCodeAt(at) !== colon) continue
      i = at
      const key = text.slice(start, end + 1)
      if (key === "\"method\"") hasMethod = true
      else if (key === "\"jsonrpc\"") hasVersion = true
      else if (key === "\"id\"") id = idAt(text, skipSpace(text, at + 1)) ?? id
    }
  }
  return { id, hasMethod, hasVersion }
}

/** The index of the quote that ends the string which begins there. By hand: patterns fail on strings of megabytes. */
const endOfString = (text: string, start: number): number | undefined => {
  for (let end = text.indexOf("\"", start + 1); end !== -1; end = text.indexOf("\"", end + 1)) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return end
  }
  return undefined
}

const skipSpace = (text: string, at: number): number => {
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

const idAt = (text: string, at: number): JsonRpc.RequestId | undefined => {
  if (text.charCodeAt(at) === quote) {
    const end = endOfString(text, at)
    return end === undefined ? undefined : idOf(text.slice(at, end + 1))
  }
  numberToken.lastIndex = at
  const token = numberToken.exec(text)?.[0]
  return token === undefined ? undefined : idOf(token)
}

const idOf = (token: string): JsonRpc.RequestId | undefined => {
  try {
    const value: unknown = JSON.parse(token)
    return JsonRpc.isRequestId(value) ? value : undefined
  } catch {
    return undefined
  }
}
