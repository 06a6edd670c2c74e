/**
 * The official SDK over HTTP: `createMcpHandler` behind its adapter for Node, the form that its documentation names for
 * this revision. What can be left out is: older revisions (`legacy: "reject"`).
 */
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler } from "@modelcontextprotocol/server"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { serve } from "../harness/agent.ts"
import { makeServer } from "./sdkTools.ts"
import { limit } from "./settings.ts"

const handler = createMcpHandler(makeServer, { legacy: "reject", maxRequestBodySize: limit })
const listener = toNodeHandler(handler, { maxRequestBodySize: limit })
// The adapter's type for what Node passes does not allow for members that are there and undefined.
const server = Http.createServer((request, response) => void listener(request as never, response))
server.listen(
  0,
  "127.0.0.1",
  () => serve({ port: (server.address() as AddressInfo).port, tell: () => handler.notify.toolsChanged() })
)
