/**
 * Our client against the servers of others: every operation that both have, on every transport that both speak. The
 * table is printed; a cell without a mark names the limit of the peer, which a test holds it to.
 */
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { afterAll, expect, layer } from "@effect/vitest"
import { McpClient, McpClientError, StdioTransport } from "@fairlead/client"
import { NodeHttpTransport } from "@fairlead/node"
import { Call, type Transport } from "@fairlead/protocol"
import { Wire } from "@fairlead/testing"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { Effect, Fiber, Layer } from "effect"
import * as EffectServer from "effect/ai/McpServer"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import * as Effectful from "./support/effectServer.ts"
import * as Official from "./support/officialServer.ts"
import { fixture, layerFetch, Url } from "./support/servers.ts"

interface Peer {
  readonly name: string
  readonly over: string
  readonly transport: Layer.Layer<Transport.Transport, unknown>
  /** Operations that the peer does not offer, with what it says or does instead. */
  readonly limits?: { readonly [operation: string]: string }
}

const http = (url: Layer.Layer<Url, unknown>) =>
  Layer.unwrap(Effect.map(Url, (url) => NodeHttpTransport.layer({ url }))).pipe(Layer.provide(url))

const stdio = (name: string) => StdioTransport.layer(fixture(name)).pipe(Layer.provide(NodeServices.layer))

const effectUrl = Layer.effect(
  Url,
  Effect.map(HttpServer.HttpServer, ({ address }) => `http://127.0.0.1:${"port" in address ? address.port : 0}/mcp`)
).pipe(
  Layer.provideMerge(
    HttpRouter.serve(EffectServer.layerHttp({ ...Effectful.options, path: "/mcp" }), {
      disableLogger: true,
      disableListenLog: true
    })
  ),
  Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 100 }))
)

const peers: ReadonlyArray<Peer> = [
  { name: "official SDK", over: "HTTP", transport: http(layerFetch(createMcpHandler(Official.makeOfficial()).fetch)) },
  { name: "official SDK", over: "stdio", transport: stdio("officialServer") },
  { name: "effect/ai", over: "HTTP", transport: http(effectUrl) },
  { name: "effect/ai", over: "stdio", transport: stdio("effectServer") }
]

type Operation = (client: McpClient.Client) => Effect.Effect<void, unknown>

const textOf = (content: ReadonlyArray<unknown>) =>
  content.map((block) => typeof block === "object" && block !== null && "text" in block ? block.text : undefined)

const operations: { readonly [name: string]: Operation } = {
  "discover": (client) =>
    Effect.map(client.discover, (discovery) => {
      expect(discovery.hasCapability("tools")).toBe(true)
      expect(discovery.supportedVersions).toContain("2026-07-28")
    }),
  "list tools": (client) =>
    Effect.map(
      client.listTools,
      (tools) =>
        expect(tools.map(({ name }) => name).toSorted()).toEqual(["ask", "count", "greet", "observe", "refuse", "wait"])
    ),
  "call": (client) =>
    Effect.map(
      client.call(Official.Greet, { name: "Ada è🙂" }),
      (output) => expect(output).toEqual({ greeting: "Hello, Ada è🙂!" })
    ),
  "progress": Effect.fnUntraced(function*(client) {
    const reports: Array<Call.Progress> = []
    const content = yield* client.call(Official.Count, { to: 3 }).pipe(
      Call.withProgress((report) => Effect.sync(() => reports.push(report)))
    )
    expect(textOf(content).join()).toContain("counted to 3")
    expect(reports).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3 })))
  }),
  "tool failure": Effect.fnUntraced(function*(client) {
    const refused = yield* client.callResult(Official.Refuse, { why: "no luck" })
    expect(refused).toMatchObject({ _tag: "ToolFailed", content: [{ type: "text", text: "no luck" }] })
  }),
  "input required": Effect.fnUntraced(function*(client) {
    const ending = yield* client.callResult(Official.Ask, {})
    expect(ending).toMatchObject({
      _tag: "InputRequired",
      requests: { name: { method: "elicitation/create", params: { message: "Who are you?" } } }
    })
  }),
  "unknown tool": Effect.fnUntraced(function*(client) {
    const missing = { ...Official.Greet, name: "missing" } as unknown as typeof Official.Greet
    const error = yield* Effect.flip(client.call(missing, { name: "x" }))
    expect(McpClientError.isMcpClientError(error) && error.code).toBe("rpc_error.-32602")
  }),
  "cancel": Effect.fnUntraced(function*(client) {
    const key = crypto.randomUUID()
    const fiber = yield* Effect.forkChild(client.call(Official.Wait, { key }))
    yield* client.call(Official.Observe, { key, event: "started" })
    yield* Fiber.interrupt(fiber)
    yield* client.call(Official.Observe, { key, event: "aborted" })
  }),
  "token": Effect.fnUntraced(function*(client) {
    const key = crypto.randomUUID()
    const token = yield* Call.makeCancellationToken
    const fiber = yield* Effect.forkChild(
      Effect.flip(client.call(Official.Wait, { key }).pipe(Call.withCancellation(token)))
    )
    yield* client.call(Official.Observe, { key, event: "started" })
    yield* token.cancel
    expect(yield* Fiber.join(fiber)).toMatchObject({ code: "cancelled.maybe_sent" })
    yield* client.call(Official.Observe, { key, event: "aborted" })
  })
}

const cells = new Map<string, string>()

for (const peer of peers) {
  // One connection for all, in real time.
  layer(
    McpClient.layer({ capabilities: { elicitation: { form: {} } } }).pipe(Layer.provide(Wire.layer(peer.transport))),
    { excludeTestServices: true }
  )(
    `${peer.name} over ${peer.over}`,
    (it) => {
      for (const [name, operation] of Object.entries(operations)) {
        const limit = peer.limits?.[name]
        it.effect(limit === undefined ? name : `${name}: ${limit}`, () =>
          Effect.gen(function*() {
            const exit = yield* Effect.exit(operation(yield* McpClient.McpClient))
            cells.set(`${peer.name}/${peer.over}/${name}`, exit._tag === "Success" ? "yes" : limit ?? "FAILED")
            if (limit === undefined) return yield* exit
            expect(exit._tag).toBe("Failure")
          }))
      }
    }
  )
}

afterAll(() => {
  const header = ["operation", ...peers.map(({ name, over }) => `${name}, ${over}`)]
  const rows = Object.keys(operations).map((operation) => [
    operation,
    ...peers.map(({ name, over }) => cells.get(`${name}/${over}/${operation}`) ?? "-")
  ])
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map((row) => row[i]!.length)))
  const lines = [header, widths.map((width) => "-".repeat(width)), ...rows].map((row) =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`
  )
  process.stdout.write(`\n${lines.join("\n")}\n`)
})
