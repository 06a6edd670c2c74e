/**
 * The floor of listeners: an event stream that is opened, and nothing more.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "../harness/agent.ts"

const server = Http.createServer((request, response) => {
  request.resume()
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write("data: {}\n\n")
  })
})

server.listen(0, "127.0.0.1", () => serve({ port: (server.address() as AddressInfo).port }))
