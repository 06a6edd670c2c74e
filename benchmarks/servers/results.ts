/**
 * The answers of the floors: what an MCP server answers, made by hand.
 */
import { filling, identity } from "../Requests.ts"
import { extraNames } from "./settings.ts"

const end = { resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": identity } }

const object = (properties: object) => ({ type: "object", properties, required: Object.keys(properties) })
const text = object({ text: { type: "string" } })

const list = JSON.stringify({
  tools: [
    { name: "echo", description: "Gives the text back.", inputSchema: text, outputSchema: text },
    ...extraNames.map((name) => ({
      name,
      description: "Gives the text back.",
      inputSchema: text,
      outputSchema: text
    }))
  ],
  ttlMs: 0,
  cacheScope: "private",
  ...end
})

const discovery = {
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
  ...end
}

const outputOf = (name: string, args: { text?: string; bytes?: number; reports?: number }): object => {
  switch (name) {
    case "measure":
      return { length: args.text!.length }
    case "fill":
      return { text: filling(args.bytes!) }
    case "progress":
      return { reports: args.reports }
    default:
      return { text: args.text }
  }
}

interface Message {
  readonly id: number
  readonly method: string
  readonly params: { readonly name: string; readonly arguments: object }
}

/** The answer to a message that was parsed. */
export const answer = ({ id, method, params }: Message): string => {
  if (method === "tools/list") return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${list}}`
  if (method === "server/discover") return JSON.stringify({ jsonrpc: "2.0", id, result: discovery })
  const output = outputOf(params.name, params.arguments)
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output, ...end }
  })
}

/** A progress notification as the text of its event. */
export const progressEvent = (progress: number): string =>
  `data: ${
    JSON.stringify({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: "token", progress }
    })
  }\n\n`

/** A notification that the tools have changed, as the text of its event. */
export const changedEvent = `data: ${
  JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } }
  })
}\n\n`
