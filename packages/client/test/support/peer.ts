/** A raw HTTP peer on a real socket, which answers as the test says. */
import * as HttpTransport from "@fairlead/client/HttpTransport"
import * as McpClient from "@fairlead/client/McpClient"
import { Transport } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as http from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  readonly message: {
    readonly jsonrpc: string
    readonly id: number
    readonly method: string
    readonly params: Record<string, any>
  }
  /** Settles when the client closes the exchange before it is over. */
  readonly closed: Promise<void>
}

export type Script = (request: Received, response: http.ServerResponse) => void

export interface Peer {
  readonly url: string
  readonly received: Array<Received>
  /** How many connections were opened, and how many are open. */
  readonly connections: { opened: number; open: number }
}

export const peer = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const received: Array<Received> = []
      const connections = { opened: 0, open: 0 }
      const server = http.createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk) => chunks.push(chunk))
        request.on("end", () => {
          const text = Buffer.concat(chunks).toString()
          const one: Received = {
            method: request.method!,
            path: request.url!,
            headers: request.headers,
            text,
            message: JSON.parse(text),
            closed: new Promise((resolve) =>
              response.on("close", () => {
                if (!response.writableFinished) resolve()
              })
            )
          }
          received.push(one)
          script(one, response)
        })
      })
      server.on("connection", (socket) => {
        connections.opened++
        connections.open++
        socket.on("close", () => connections.open--)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      return { server, peer: { url: `http://127.0.0.1:${port}/mcp`, received, connections } satisfies Peer }
    }),
    ({ server }) =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise<void>((resolve) => server.close(() => resolve()))
      })
  ).pipe(Effect.map(({ peer }) => peer as Peer))

/** A port where nobody listens. */
export const deadPort = Effect.promise(async () => {
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
})

/** A client of a URL, on an `HttpClient` layer of the test's choice. */
export const clientOf = (
  url: string,
  options: Partial<HttpTransport.Options> & { readonly client?: McpClient.Options } = {},
  httpClient: Layer.Layer<HttpClient.HttpClient> = FetchHttpClient.layer
) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(httpClient)
    const { client, ...transport } = options
    const service = yield* HttpTransport.make({ url, ...transport }).pipe(Effect.provideContext(context))
    return yield* McpClient.make(client).pipe(Effect.provideService(Transport, service))
  })

export const json = (response: http.ServerResponse, body: unknown, status = 200, headers = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

export const hits = (...titles: ReadonlyArray<string>) => ({
  resultType: "complete",
  content: [],
  structuredContent: { titles }
})

export const result = (request: Received, value: unknown = hits("a")) => ({
  jsonrpc: "2.0",
  id: request.message.id,
  result: value
})

export const progress = (request: Received, value: number) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken: request.message.params["_meta"].progressToken, progress: value }
})

export const event = (message: unknown): string => `data: ${JSON.stringify(message)}\n\n`

export const events = (response: http.ServerResponse, status = 200) =>
  response.writeHead(status, { "content-type": "text/event-stream" })
