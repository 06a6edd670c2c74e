/** Servers that tests connect to. */
import { NodeHttpServer } from "@effect/platform-node"
import { HttpApp } from "@fairlead/server"
import { ContractServer } from "@fairlead/testing"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"

/** Where a test server is reached. */
export class Url extends Context.Service<Url, string>()("test/Url") {}

/** What runs a program of the test's own from its sources. */
export const fixture = (name: string) => ({
  command: process.execPath,
  args: ["--conditions=@fairlead/source", fileURLToPath(new URL(`../fixtures/${name}.ts`, import.meta.url))]
})

type Fetch = (request: Request) => Promise<Response>

const answer = async (fetch: Fetch, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  const gone = new AbortController()
  outgoing.on("close", () => gone.abort())
  const chunks: Array<Buffer> = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
    method: incoming.method ?? "GET",
    headers: Object.entries(incoming.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : []
    ),
    body: chunks.length === 0 ? null : Buffer.concat(chunks),
    signal: gone.signal
  })
  const response = await fetch(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) return void outgoing.end()
  const body = response.body.getReader()
  outgoing.on("close", () => void body.cancel().catch(() => {}))
  for (let next = await body.read(); !next.done; next = await body.read()) {
    const { value } = next
    // Written before the next one is read: what stands before a break is on its way when it comes.
    await new Promise<void>((resolve, reject) => {
      outgoing.write(value, (error) => error ? reject(error) : resolve())
    })
  }
  outgoing.end()
}

/** A function from `Request` to `Response` behind `node:http`. A rejection breaks the connection. */
export const layerFetch = (fetch: Fetch): Layer.Layer<Url> =>
  Layer.effect(
    Url,
    Effect.map(
      Effect.acquireRelease(
        Effect.promise(() => {
          const server = createServer((incoming, outgoing) => {
            answer(fetch, incoming, outgoing).catch(() => outgoing.destroy())
          })
          return new Promise<typeof server>((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)))
        }),
        (server) =>
          Effect.promise(() => {
            server.closeAllConnections()
            return new Promise((resolve) => server.close(resolve))
          })
      ),
      (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
    )
  )

/** A port that nothing listens on: it was free a moment ago. */
export const layerNothing: Layer.Layer<Url> = Layer.effect(
  Url,
  Effect.promise(() =>
    new Promise<string>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        server.close(() => resolve(`http://127.0.0.1:${port}/mcp`))
      })
    })
  )
)

/** The contract server as one route among others. */
export const layerRouter: Layer.Layer<Url, unknown> = Layer.effect(
  Url,
  Effect.map(HttpServer.HttpServer, ({ address }) => `http://127.0.0.1:${"port" in address ? address.port : 0}/mcp`)
).pipe(
  Layer.provideMerge(HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true })),
  Layer.provide(ContractServer.layer),
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 100 }))
)
