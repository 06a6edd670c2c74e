/**
 * Web handlers, called in process: a `Request` in, the text of a `Response` out.
 */
import { WebHandler } from "@fairlead/server"
import { createMcpHandler } from "@modelcontextprotocol/server"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as HttpRouter from "effect/http/HttpRouter"
import { requestBytes } from "../load/requestBytes.ts"
import { echo, identity } from "../Requests.ts"
import { registrations } from "../servers/effectAiTools.ts"
import { endpoint } from "../servers/fairleadTools.ts"
import { answer } from "../servers/results.ts"
import { makeServer } from "../servers/sdkTools.ts"
import { servePromises } from "./calls.ts"
import { peer, unknown } from "./settings.ts"

type Handler = (request: Request) => Promise<Response>

const floor: Handler = async (request) =>
  new Response(answer(JSON.parse(await request.text())), { headers: { "content-type": "application/json" } })

const handlerOf = (): Handler => {
  switch (peer) {
    case "floor":
      return floor
    case "fairlead":
      return WebHandler.fromLayer(endpoint).handler
    case "sdk":
      return createMcpHandler(makeServer, { legacy: "reject" }).fetch
    case "effect/ai":
      return HttpRouter.toWebHandler(
        McpServer.layerHttpRequestScoped({
          ...identity,
          path: "/mcp",
          protocols: [McpProtocol.v2026_07_28],
          registrations
        }),
        { disableLogger: true }
      ).handler as Handler
    default:
      return unknown()
  }
}

const handler = handlerOf()
const [head, body] = requestBytes(echo, 1, 80).toString().split("\r\n\r\n")
const headers = Object.fromEntries(
  head!.split("\r\n").slice(1).map((line) => line.split(": ")).filter(([name]) => name !== "host")
) as Record<string, string>

const call = async () => {
  const response = await handler(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: body! }))
  return response.text()
}

await servePromises(call, (text) => JSON.parse(text).result.structuredContent)
