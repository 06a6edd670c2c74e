/**
 * Our client against the servers of others: every operation that both have, on every transport that both speak. The
 * table is printed; a cell without a mark names the limit of the peer, which a test holds it to.
 */
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { afterAll, assert, expect, layer } from "@effect/vitest"
import { CallOutput, InputHandlers, McpClient, McpClientError, StdioTransport, Subscription } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeHttpTransport } from "@fairlead/node"
import { Call, type Transport } from "@fairlead/protocol"
import { Wire } from "@fairlead/testing"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { Context, Effect, Exit, Fiber, Layer, Option, Scope } from "effect"
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

/** Over HTTP the handler holds the listeners, and each request has a server of its own. */
const official: ReturnType<typeof createMcpHandler> = createMcpHandler(
  Official.makeOfficial((_, uri) => official.notify.resourceUpdated(uri))
)

const peers: ReadonlyArray<Peer> = [
  { name: "official SDK", over: "HTTP", transport: http(layerFetch(official.fetch)) },
  { name: "official SDK", over: "stdio", transport: stdio("officialServer") },
  { name: "effect/ai", over: "HTTP", transport: http(effectUrl) },
  { name: "effect/ai", over: "stdio", transport: stdio("effectServer") }
]

/** A client that answers by itself, beside the one that leaves it to the caller. */
class Answering extends Context.Service<Answering, McpClient.Client>()("test/Answering") {}

const answers = InputHandlers.form(({ message }) =>
  Effect.sync(() => {
    expect(message).toBe("Who are you?")
    return InputHandlers.accept({ name: "Grace" })
  })
)

type Operation = (client: McpClient.Client) => Effect.Effect<void, unknown, Answering>

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
      (tools) => expect(tools.map(({ name }) => name).toSorted()).toEqual(Official.toolNames)
    ),
  "page by hand": Effect.fnUntraced(function*(client) {
    const names: Array<string> = []
    let cursor = Option.some<string | undefined>(undefined)
    while (Option.isSome(cursor)) {
      const page: McpClient.Page<McpClient.ListedTool> = yield* client.listPage("tools", cursor.value)
      names.push(...page.items.map(({ name }) => name))
      cursor = page.nextCursor
    }
    expect(names.toSorted()).toEqual(Official.toolNames)
  }),
  "call": (client) =>
    Effect.map(
      client.call(Official.Greet, { name: "Ada è🙂" }),
      (output) => expect(output).toEqual({ greeting: "Hello, Ada è🙂!" })
    ),
  "call a listed tool": Effect.fnUntraced(function*(client) {
    const greet = (yield* client.listTools).find(({ name }) => name === "greet")!
    const ending = yield* client.callDiscovered(greet, { name: "Ada" })
    expect(yield* CallOutput.requireDiscovered(ending)).toEqual({ greeting: "Hello, Ada!" })
  }),
  "call by name": Effect.fnUntraced(function*(client) {
    const ending = yield* client.callDiscovered("greet", { name: "Ada" })
    expect(yield* CallOutput.requireDiscovered(ending)).toEqual({ greeting: "Hello, Ada!" })
  }),
  "raw request": Effect.fnUntraced(function*(client) {
    const result = yield* client.callRaw("tools/call", "greet", { arguments: { name: "Ada" } })
    expect(result).toMatchObject({ resultType: "complete", structuredContent: { greeting: "Hello, Ada!" } })
  }),
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
  "resume": Effect.fnUntraced(function*(client) {
    const paused = yield* Effect.flip(client.call(Official.Ask, {}))
    assert(paused._tag === "InputRequired")
    const ending = yield* client.resume(Official.Ask, paused.continuation, {
      name: { action: "accept", content: { name: "Ada" } }
    })
    assert(ending._tag === "Succeeded")
    expect(textOf(ending.content)).toEqual(["Hello, Ada!"])
  }),
  "answer by handlers": Effect.fnUntraced(function*() {
    const content = yield* Effect.flatMap(Answering, (client) => client.call(Official.Ask, {}))
    expect(textOf(content)).toEqual(["Hello, Grace!"])
  }),
  "log messages": Effect.fnUntraced(function*(client) {
    const heard: Array<Call.LogMessage> = []
    yield* client.call(Official.Tell, {}).pipe(
      Call.withLogLevel("info", (message) => Effect.sync(() => heard.push(message)))
    )
    expect(heard).toMatchObject([{ level: "warning", data: "careful" }])
  }),
  "list resources": (client) =>
    Effect.map(
      client.listResources,
      (resources) => expect(resources.map(({ name, uri }) => [name, uri])).toEqual([["guide", "docs://guide"]])
    ),
  "list templates": (client) =>
    Effect.map(
      client.listResourceTemplates,
      (templates) => expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(["docs://page/{name}"])
    ),
  "read a resource": (client) =>
    Effect.map(
      client.readResource(Official.Guide),
      ({ contents }) => expect(contents).toMatchObject([{ uri: "docs://guide", text: "the guide" }])
    ),
  "read by template": (client) =>
    Effect.map(
      client.readResource(Official.Page, { name: "layers" }),
      ({ contents }) => expect(contents).toMatchObject([{ uri: "docs://page/layers", text: "page layers" }])
    ),
  "unknown resource": Effect.fnUntraced(function*(client) {
    const error = yield* Effect.flip(client.readResource("docs://missing"))
    expect(error).toMatchObject({ code: "rpc_error.-32602" })
  }),
  "list prompts": (client) =>
    Effect.map(
      client.listPrompts,
      (prompts) => expect(prompts).toMatchObject([{ name: "review", arguments: [{ name: "code", required: true }] }])
    ),
  "get a prompt": (client) =>
    Effect.map(
      client.getPrompt(Official.Review, { code: "let x" }),
      ({ messages }) =>
        expect(messages).toMatchObject([{ role: "user", content: { type: "text", text: "Review let x" } }])
    ),
  "complete a parameter": (client) =>
    Effect.map(
      client.complete(Official.Page, { argument: "name", value: "lay" }),
      ({ values }) => expect(values).toEqual(["layers", "layout"])
    ),
  "complete an argument": (client) =>
    Effect.map(
      client.complete(Official.Review, { argument: "code", value: "s" }),
      ({ values }) => expect(values).toEqual(["server"])
    ),
  "listen": (client) =>
    Effect.scoped(Effect.gen(function*() {
      const subscription = yield* client.listen({ resourceSubscriptions: ["docs://guide"] })
      expect(subscription.confirmed).toEqual({ resourceSubscriptions: ["docs://guide"] })
      yield* client.call(Official.Touch, {})
      expect(yield* subscription.next("10 seconds")).toEqual(
        Option.some(new Subscription.ResourceUpdated({ uri: "docs://guide" }))
      )
    })),
  "stop listening": (client) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Scope.provide(client.listen({ resourceSubscriptions: ["docs://guide"] }), scope)
      yield* Scope.close(scope, Exit.void)
      // The connection is as good as before.
      yield* client.call(Official.Touch, {})
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

/** The message patterns, each with a server of somebody else's. */
const shown: Readonly<Record<string, ReadonlyArray<string>>> = {
  call: ["BASE-1@client"],
  progress: ["BASE-1@client"],
  cancel: ["BASE-1@client"],
  resume: ["BASE-1@client"],
  listen: ["BASE-1@client"]
}

const titleOf = (name: string) => shown[name] === undefined ? name : verifies(...shown[name])(name)

const cells = new Map<string, string>()

for (const peer of peers) {
  // One connection for all, in real time.
  layer(
    Layer.merge(
      McpClient.layer({ inputMethods: ["form"] }),
      McpClient.layerFor(Answering).pipe(Layer.provide(answers))
    ).pipe(Layer.provide(Wire.layer(peer.transport))),
    { excludeTestServices: true }
  )(
    `${peer.name} over ${peer.over}`,
    (it) => {
      for (const [name, operation] of Object.entries(operations)) {
        const limit = peer.limits?.[name]
        it.effect(limit === undefined ? titleOf(name) : `${name}: ${limit}`, () =>
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
