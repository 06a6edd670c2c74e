/**
 * The floor of listeners: an event stream that is opened and written to, and nothing more.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "../harness/agent.ts"
import { changedEvent } from "./results.ts"

const listeners = new Set<Http.ServerResponse>()

const server = Http.createServer((request, response) => {
  request.resume()
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write("data: {}\n\n")
    listeners.add(response)
    response.on("close", () => listeners.delete(response))
  })
})

const tell = () => {
  for (const response of listeners) response.write(changedEvent)
}

server.listen(0, "127.0.0.1", () => serve({ port: (server.address() as AddressInfo).port, tell }))
