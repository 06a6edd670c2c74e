/**
 * The floor: `node:http`, `JSON.parse` and `JSON.stringify`, no checks.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "../harness/agent.ts"
import { answer, progressEvent } from "./results.ts"

const server = Http.createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    const message = JSON.parse(bytes.toString())
    if (message.params.name === "progress") return streamProgress(message, response)
    const text = answer(message)
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
    response.end(text)
  })
})

/** Reports as they are made, joined into one write. */
const streamProgress = (message: Parameters<typeof answer>[0], response: Http.ServerResponse): void => {
  const { reports } = message.params.arguments as { readonly reports: number }
  let events = ""
  for (let i = 1; i <= reports; i++) events += progressEvent(i)
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(events)
  response.end(`data: ${answer(message)}\n\n`)
}

server.listen(0, "127.0.0.1", () => serve({ port: (server.address() as AddressInfo).port }))
