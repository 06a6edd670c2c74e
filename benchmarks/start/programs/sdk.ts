/**
 * A small server of the official SDK.
 */
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { z } from "zod"
import { ready } from "./ready.ts"

const importedAt = performance.now()
const text = z.object({ text: z.string() })
const makeServer = () => {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  server.registerTool(
    "echo",
    { description: "Gives the text back.", inputSchema: text, outputSchema: text },
    ({ text }) => ({ content: [{ type: "text", text: JSON.stringify({ text }) }], structuredContent: { text } })
  )
  return server
}
const listener = toNodeHandler(createMcpHandler(makeServer, { legacy: "reject" }))
const server = Http.createServer((request, response) => void listener(request as never, response))
server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port, importedAt))
