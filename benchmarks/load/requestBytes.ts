/**
 * The bytes of a request, with the headers that the revision asks for.
 */

/** The head and the body of a POST of a message, whose id is replaced. */
export const requestBytes = (message: string, id: number, port: number): Buffer => {
  const body = Buffer.from(withId(message, id))
  const { method, params } = JSON.parse(message) as { method: string; params: { name?: string } }
  const head = [
    "POST /mcp HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "mcp-protocol-version: 2026-07-28",
    `mcp-method: ${method}`,
    ...(params.name === undefined ? [] : [`mcp-name: ${params.name}`]),
    `content-length: ${body.length}`
  ]
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body])
}

/** The message with another id. */
export const withId = (message: string, id: number): string => message.replace("\"id\":0,", `"id":${id},`)
