import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { HttpTransport, McpClient, McpClientError, StdioTransport } from "@fairlead/client"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Call, Revision, type Transport } from "@fairlead/protocol"
import { ContractServer, Wire } from "@fairlead/testing"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { Effect, Exit, Fiber, Layer } from "effect"
import * as Official from "./support/officialServer.ts"
import { layerOurs } from "./support/ourServer.ts"
import { fixture, layerFetch, Url } from "./support/servers.ts"

const text = (content: unknown) => [{ type: "text", text: content }]

/** What the official client does with our endpoint. */
const useOfficially = async (client: Client) => {
  expect(client.getServerVersion()).toMatchObject({ name: "contract" })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["echo", "progress", "decline", "hold"]))

  const echoed = await client.callTool({ name: "echo", arguments: { text: "è🙂\n" } })
  expect(echoed.isError).toBeUndefined()
  expect(echoed.structuredContent).toEqual({ text: "è🙂\n" })

  // The client forgets who waits for progress when the answer comes in the same chunk, so the answer waits for it.
  const reports: Array<unknown> = []
  const step = crypto.randomUUID()
  await client.callTool({ name: "progress", arguments: { count: 3, label: "step", key: step } }, {
    onprogress: (report) => {
      reports.push(report)
      if (reports.length === 3) void client.callTool({ name: "release", arguments: { key: step } })
    }
  })
  expect(reports).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` })))

  const declined = await client.callTool({ name: "decline", arguments: { why: "not today" } })
  expect(declined.isError).toBe(true)
  expect(declined.structuredContent).toEqual({ _tag: "Declined", why: "not today" })

  const invalid = await client.callTool({ name: "echo", arguments: { text: 1 } })
  expect(invalid.isError).toBe(true)

  await expect(client.callTool({ name: "missing", arguments: {} })).rejects.toMatchObject({ code: -32602 })
  await expect(client.callTool({ name: "die", arguments: {} })).rejects.toMatchObject({ code: -32603 })

  const controller = new AbortController()
  const key = crypto.randomUUID()
  const held = client.callTool({ name: "hold", arguments: { key } }, { signal: controller.signal })
  const rejected = expect(held).rejects.toThrow()
  await client.callTool({ name: "await", arguments: { key, event: "started" } })
  controller.abort()
  await rejected
  await client.callTool({ name: "await", arguments: { key, event: "interrupted" } })
  await client.close()
}

const officialClient = () =>
  new Client({ name: "official", version: "1.0.0" }, {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode: "auto" }
  })

/** What else a server offers, by the official client: reads, prompts, completions, input, log messages, listening. */
const useAllOfIt = async (client: Client) => {
  const answers: Array<unknown> = []
  client.setRequestHandler("elicitation/create", (request) => {
    answers.push(request.params.message)
    return { action: "accept", content: { name: "Ada" } }
  })
  expect((await client.callTool({ name: "ask", arguments: {} })).content).toEqual(text("Hello, Ada!"))
  expect(answers).toEqual(["Who are you?"])

  const logged: Array<unknown> = []
  client.setNotificationHandler("notifications/message", ({ params }) => void logged.push([params.level, params.data]))
  await client.callTool({ name: "tell", arguments: {}, _meta: { [Revision.meta.logLevel]: "info" } })
  expect(logged).toEqual([["warning", "careful"]])

  expect((await client.listResources()).resources).toMatchObject([{ name: "guide", uri: "docs://guide" }])
  expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{
    uriTemplate: "docs://page/{name}"
  }])
  expect((await client.readResource({ uri: "docs://guide" })).contents).toMatchObject([{ text: "the guide" }])
  expect((await client.readResource({ uri: "docs://page/layers" })).contents).toMatchObject([{ text: "page layers" }])
  await expect(client.readResource({ uri: "docs://missing" })).rejects.toMatchObject({ code: -32602 })

  expect((await client.listPrompts()).prompts).toMatchObject([{
    name: "review",
    arguments: [{ name: "code", required: true }]
  }])
  const prompt = await client.getPrompt({ name: "review", arguments: { code: "let x" } })
  expect(prompt.messages).toEqual([{ role: "user", content: text("Review let x")[0] }])

  const page = { type: "ref/resource" as const, uri: "docs://page/{name}" }
  const ofPage = await client.complete({ ref: page, argument: { name: "name", value: "lay" } })
  expect(ofPage.completion.values).toEqual(["layers", "layout"])
  const review = { type: "ref/prompt" as const, name: "review" }
  const ofReview = await client.complete({ ref: review, argument: { name: "code", value: "s" } })
  expect(ofReview.completion.values).toEqual(["server"])

  const heard = Promise.withResolvers<string>()
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => heard.resolve(params.uri))
  const subscription = await client.listen({ resourceSubscriptions: ["docs://guide"] })
  expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: ["docs://guide"] })
  await client.callTool({ name: "touch", arguments: {} })
  expect(await heard.promise).toBe("docs://guide")
  await subscription.close()
  expect(await subscription.closed).toBe("local")
  await client.close()
}

const connected = async (transport: Parameters<Client["connect"]>[0]) => {
  const client = officialClient()
  await client.connect(transport)
  return client
}

describe("the official client", () => {
  it.live("uses an endpoint over HTTP", () =>
    Effect.gen(function*() {
      const { url } = yield* NodeMcpEndpoint.HttpListener
      yield* Effect.promise(async () => {
        const client = officialClient()
        await client.connect(new StreamableHTTPClientTransport(new URL(url)))
        await useOfficially(client)
      })
    }).pipe(Effect.provide(NodeMcpEndpoint.layerHttp().pipe(Layer.provide(ContractServer.layer)))))

  it.live("uses an endpoint over stdio", () =>
    Effect.promise(async () => {
      const client = officialClient()
      await client.connect(new StdioClientTransport(fixture("contractServer")))
      await useOfficially(client)
    }))

  it.live("reads, renders, completes, answers and listens over HTTP", () =>
    Effect.gen(function*() {
      const { url } = yield* NodeMcpEndpoint.HttpListener
      yield* Effect.promise(async () => useAllOfIt(await connected(new StreamableHTTPClientTransport(new URL(url)))))
    }).pipe(Effect.provide(NodeMcpEndpoint.layerHttp().pipe(Layer.provide(layerOurs)))))

  it.live("reads, renders, completes, answers and listens over stdio", () =>
    Effect.promise(async () => useAllOfIt(await connected(new StdioClientTransport(fixture("ourServer"))))))
})

/** What our client does with a server of the official SDK. */
const useOurs = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const discovery = yield* client.discover
  expect(discovery.hasCapability("tools")).toBe(true)
  const tools = yield* client.listTools
  expect(tools.map(({ name }) => name).toSorted()).toEqual(Official.toolNames)

  expect(yield* client.call(Official.Greet, { name: "Ada è🙂" })).toEqual({ greeting: "Hello, Ada è🙂!" })

  const reports: Array<Call.Progress> = []
  const counted = yield* client.call(Official.Count, { to: 3 }).pipe(
    Call.withProgress((report) => Effect.sync(() => reports.push(report)))
  )
  expect(counted).toEqual(text("counted to 3"))
  expect(reports).toMatchObject([1, 2, 3].map((progress) => ({ progress, total: 3 })))

  const refused = yield* client.callResult(Official.Refuse, { why: "no luck" })
  expect(refused).toMatchObject({ _tag: "ToolFailed", content: text("no luck") })

  const unknown = yield* Effect.flip(
    client.call({ ...Official.Greet, name: "missing" } as never, { name: "x" } as never)
  )
  expect(McpClientError.isMcpClientError(unknown) && unknown.code).toBe("rpc_error.-32602")

  const key = crypto.randomUUID()
  const fiber = yield* Effect.forkChild(client.call(Official.Wait, { key }))
  yield* client.call(Official.Observe, { key, event: "started" })
  yield* Fiber.interrupt(fiber)
  yield* client.call(Official.Observe, { key, event: "aborted" })

  const late = crypto.randomUUID()
  const controller = new AbortController()
  const waiting = yield* Effect.forkChild(
    client.call(Official.Wait, { key: late }).pipe(Call.withCancellation(controller.signal))
  )
  yield* client.call(Official.Observe, { key: late, event: "started" })
  controller.abort()
  const exit = yield* Fiber.await(waiting)
  expect(Exit.isFailure(exit) && exit.cause.reasons).toMatchObject([{ error: { code: "cancelled.maybe_sent" } }])
  yield* client.call(Official.Observe, { key: late, event: "aborted" })
})

const clientOver = <E>(transport: Layer.Layer<Transport.Transport, E>) =>
  McpClient.layer().pipe(Layer.provide(Wire.layer(transport)))

describe("a server of the official SDK", () => {
  it.live("is used by our client over HTTP", () =>
    useOurs.pipe(
      Effect.provide(clientOver(
        Layer.unwrap(Effect.map(Url, (url) => HttpTransport.layer({ url }))).pipe(
          Layer.provide(NodeHttpClient.layerUndici),
          Layer.provide(layerFetch(createMcpHandler(Official.makeOfficial()).fetch))
        )
      ))
    ))

  it.live("is used by our client over stdio", () =>
    useOurs.pipe(
      Effect.provide(clientOver(
        StdioTransport.layer(fixture("officialServer")).pipe(Layer.provide(NodeServices.layer))
      ))
    ))
})
