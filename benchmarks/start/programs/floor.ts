/**
 * The least that answers: `node:http`.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { ready } from "./ready.ts"

const importedAt = performance.now()
const server = Http.createServer((request, response) => {
  request.resume()
  request.on("end", () => response.end("{}"))
})
server.listen(0, "127.0.0.1", () => ready((server.address() as AddressInfo).port, importedAt))
