/**
 * The requests that every server of a row gets, and the answer that all of them have to give.
 */

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {}
}

const request = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 0, method, params: { ...params, _meta: meta } })

/** The server's name and version, the same at every server. */
export const identity = { name: "bench", version: "1.0.0" }

/** A call of a tool, with 0 as its id. */
export const call = (name: string, args: object): string => request("tools/call", { name, arguments: args })

/** The first page of the tools, with 0 as its id. */
export const listTools: string = request("tools/list", {})

/** Listens for changes of the tools. */
export const listen: string = request("subscriptions/listen", { notifications: { toolsListChanged: true } })

/** The small call of most rows. */
export const echo: string = call("echo", { text: "Hello" })

/** A call that carries a text of so many bytes in. */
export const measure = (bytes: number): string => call("measure", { text: "x".repeat(bytes) })

/** A call that is answered by a text of so many bytes. */
export const fill = (bytes: number): string => call("fill", { bytes })

/** A call that reports progress so many times. */
export const progress = (reports: number): string => {
  const message = JSON.parse(call("progress", { reports })) as { params: { _meta: object } }
  return JSON.stringify({
    ...message,
    params: { ...message.params, _meta: { ...message.params._meta, progressToken: "token" } }
  })
}

/** The text that `fill` answers with. */
export const filling = (bytes: number): string => "x".repeat(bytes)
