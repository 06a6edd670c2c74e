/**
 * The official SDK's server with the tools that every server of the benchmark has. The schemas are made once; the server
 * is made anew wherever the SDK asks for one.
 */
import { McpServer } from "@modelcontextprotocol/server"
import { z } from "zod"
import { filling, identity } from "../Requests.ts"
import { extraNames } from "./settings.ts"

const text = z.object({ text: z.string() })
const length = z.object({ length: z.number() })
const bytes = z.object({ bytes: z.number() })
const reports = z.object({ reports: z.number() })

const result = <Output extends Record<string, unknown>>(output: Output) => ({
  content: [{ type: "text" as const, text: JSON.stringify(output) }],
  structuredContent: output
})

const echo = { description: "Gives the text back.", inputSchema: text, outputSchema: text }

export const makeServer = (): McpServer => {
  const server = new McpServer(identity)
  server.registerTool("echo", echo, ({ text }) => result({ text }))
  server.registerTool(
    "measure",
    { description: "Gives the length of a text.", inputSchema: text, outputSchema: length },
    ({ text }) => result({ length: text.length })
  )
  server.registerTool(
    "fill",
    { description: "Gives a text of a length.", inputSchema: bytes, outputSchema: text },
    ({ bytes }) => result({ text: filling(bytes) })
  )
  server.registerTool(
    "progress",
    { description: "Reports progress.", inputSchema: reports, outputSchema: reports },
    async ({ reports }, context) => {
      for (let progress = 1; progress <= reports; progress++) {
        await context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: "token", progress }
        })
      }
      return result({ reports })
    }
  )
  for (const name of extraNames) server.registerTool(name, echo, ({ text }) => result({ text }))
  return server
}
