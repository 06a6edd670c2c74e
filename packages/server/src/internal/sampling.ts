/**
 * What the protocol asks of the messages of a sampling request (spec: client/sampling, Message Content Constraints).
 */
import * as Json from "@fairlead/protocol/Json"

const kinds = new Set(["text", "image", "audio", "tool_use", "tool_result"])

/** What is wrong with the messages, if anything. */
export const problemOfMessages = (messages: ReadonlyArray<Json.Object>): string | undefined => {
  // The uses of tools that the next message has to answer.
  let open = new Set<Json.Value | undefined>()
  for (const [at, { content, role }] of messages.entries()) {
    if (role !== "user" && role !== "assistant") return `message ${at} has another role than user and assistant`
    const blocks = (Array.isArray(content) ? content : [content]) as ReadonlyArray<Json.Value | undefined>
    if (!blocks.every((block) => Json.isObject(block) && kinds.has(String(block["type"])))) {
      return `message ${at} has a block that is none of ${[...kinds].join(", ")}`
    }
    const all = blocks as ReadonlyArray<Json.Object>
    const ids = (type: string, key: string) => all.filter((block) => block["type"] === type).map((block) => block[key])
    const results = ids("tool_result", "toolUseId")
    if (results.length > 0 && (role !== "user" || results.length < all.length)) {
      return `message ${at} has results of tools beside something else`
    }
    if (results.length !== open.size || !results.every((id) => open.has(id))) {
      return `message ${at} does not answer the uses of tools before it`
    }
    open = new Set(ids("tool_use", "id"))
    if (open.size > 0 && role !== "assistant") return `message ${at} uses tools and is not the assistant's`
  }
  return open.size > 0 ? "the last message uses tools that nothing answers" : undefined
}
