/**
 * A minimal client of the official SDK.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"

export const echo = async (url: string, text: string): Promise<string> => {
  const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const { structuredContent } = await client.callTool({ name: "echo", arguments: { text } })
  await client.close()
  return (structuredContent as { text: string }).text
}
