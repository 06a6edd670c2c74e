/**
 * The id of a message whose line was too long to be read: found in its kept head, by a scan that knows strings and
 * nesting, so that an `id` inside a result is not taken for the message's.
 */
import * as JsonRpc from "@fairlead/protocol/JsonRpc"

export interface Head {
  readonly id: JsonRpc.RequestId | undefined
  /** Whether the message names a method: it is a notification or a request, no answer. */
  readonly hasMethod: boolean
}

const stringToken = /"(?:[^"\\]|\\.)*"/y
const keyColon = /\s*:\s*/y
const idToken = /-?\d+(?=\s*[,}])|"(?:[^"\\]|\\.)*"/y

export const headOf = (text: string): Head => {
  let depth = 0
  let id: JsonRpc.RequestId | undefined
  let hasMethod = false
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (c === "{" || c === "[") depth++
    else if (c === "}" || c === "]") depth--
    else if (c === "\"") {
      const token = match(stringToken, text, i)
      // The head ends inside this string.
      if (token === undefined) break
      i += token.length - 1
      if (depth !== 1) continue
      const colon = match(keyColon, text, i + 1)
      if (colon === undefined) continue
      i += colon.length
      if (token === "\"method\"") hasMethod = true
      else if (token === "\"id\"") {
        const value = match(idToken, text, i + 1)
        if (value !== undefined) id = idOf(value)
      }
    }
  }
  return { id, hasMethod }
}

const match = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

const idOf = (token: string): JsonRpc.RequestId | undefined => {
  try {
    const value: unknown = JSON.parse(token)
    return JsonRpc.isRequestId(value) ? value : undefined
  } catch {
    return undefined
  }
}
