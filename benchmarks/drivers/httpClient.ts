/**
 * Clients over HTTP, against a server that is faster than any of them.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { HttpTransport } from "@fairlead/client"
import { NodeHttpTransport } from "@fairlead/node"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import * as AiMcpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import type * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { Pool } from "undici"
import { requestBytes } from "../load/requestBytes.ts"
import { echo, identity } from "../Requests.ts"
import { serveEffects, servePromises } from "./calls.ts"
import { serveFairlead } from "./fairleadClient.ts"
import { args, peer, unknown, url } from "./settings.ts"

/** Undici's pool, `JSON.parse` and `JSON.stringify`. */
const floor = async () => {
  const { origin, pathname: path, port } = new URL(url)
  const pool = new Pool(origin, { connections: 64 })
  const headers = requestBytes(echo, 1, Number(port)).toString().split("\r\n\r\n")[0]!.split("\r\n").slice(1)
    .flatMap((line) => line.split(": ")).filter((_, i, all) => !["content-length"].includes(all[i - (i % 2)]!))
  const message = JSON.parse(echo)
  let lastId = 0
  const call = () =>
    new Promise<{ result: { structuredContent: unknown } }>((resolve, reject) => {
      const body = JSON.stringify({ ...message, id: ++lastId })
      let text = ""
      pool.dispatch({ path, method: "POST", headers, body }, {
        onRequestStart: () => {},
        onResponseStart: () => {},
        onResponseData: (_, chunk) => {
          text += chunk.toString()
        },
        onResponseEnd: () => resolve(JSON.parse(text)),
        onResponseError: (_, error) => reject(error)
      })
    })
  await servePromises(call, ({ result }) => result.structuredContent)
}

/** What `fetch` costs by itself. */
const bareFetch = async () => {
  const [head] = requestBytes(echo, 1, 80).toString().split("\r\n\r\n")
  const headers = Object.fromEntries(
    head!.split("\r\n").slice(1).map((line) => line.split(": ")).filter(([name]) =>
      name !== "host" && name !== "content-length"
    )
  ) as Record<string, string>
  const message = JSON.parse(echo)
  let lastId = 0
  const call = async () => {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...message, id: ++lastId })
    })
    return JSON.parse(await response.text()) as { result: { structuredContent: unknown } }
  }
  await servePromises(call, ({ result }) => result.structuredContent)
}

const sdk = async () => {
  const client = new Client(identity, { versionNegotiation: { mode: "auto" } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  const call = () => client.callTool({ name: "echo", arguments: args })
  await servePromises(call, ({ structuredContent }) => structuredContent)
}

/** The tool as the server lists it: the client does not call what it has not seen. */
const tool = {
  name: "echo",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
} as unknown as McpSchema.Tool

const effectAi = (httpClient: Layer.Layer<HttpClient>) =>
  Effect.gen(function*() {
    const client = yield* AiMcpClient.McpClient
    const call = Effect.suspend(() => client.callTool({ tool, arguments: args }))
    return yield* serveEffects(call, ({ structuredContent }) => structuredContent)
  }).pipe(
    Effect.provide(
      AiMcpClient.layerHttp({ ...identity, url, protocol: McpProtocol.v2026_07_28 }).pipe(Layer.provide(httpClient))
    )
  )

switch (peer) {
  case "floor":
    await floor()
    break
  case "fairlead":
    Effect.runFork(serveFairlead(HttpTransport.layer({ url }).pipe(Layer.provide(NodeHttpClient.layerUndici))))
    break
  case "fairlead/fetch":
    Effect.runFork(serveFairlead(HttpTransport.layer({ url }).pipe(Layer.provide(FetchHttpClient.layer))))
    break
  case "fairlead/node":
    Effect.runFork(serveFairlead(NodeHttpTransport.layer({ url })))
    break
  case "fetch":
    await bareFetch()
    break
  case "sdk":
    await sdk()
    break
  case "effect/ai":
    Effect.runFork(effectAi(NodeHttpClient.layerUndici))
    break
  default:
    unknown()
}
