import { describe, expect, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, JsonRpc, Revision, Tool } from "@fairlead/protocol"
import { Input, Invocation, McpEndpoint, McpServer, WebHandler } from "@fairlead/server"
import { ContractServer, TestRequest, Wire } from "@fairlead/testing"
import { Effect, Fiber, Layer, References, Schema } from "effect"

const Sampler = Tool.make("sampler", { requiredCapabilities: { sampling: {} } })

const endpoint = Layer.mergeAll(
  ContractServer.registrations,
  McpServer.tool(Sampler, () => Effect.succeed([]))
).pipe(
  McpEndpoint.serve({ name: "wire", version: "1.0.0" }),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
)

interface Answered {
  readonly status: number
  readonly texts: ReadonlyArray<string>
  readonly messages: ReadonlyArray<{ readonly [key: string]: unknown }>
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true })

/** Posts a request and reads every message of its answer, as bytes. */
const post = (request: TestRequest.TestRequest) =>
  Effect.gen(function*() {
    const handler = yield* WebHandler.make
    return yield* Effect.promise(async (): Promise<Answered> => {
      const response = await handler(request.toWeb())
      const body = strictUtf8.decode(await response.arrayBuffer())
      const texts = response.headers.get("content-type")?.startsWith("text/event-stream") === true
        ? body.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim())
        : body === ""
        ? []
        : [body]
      return {
        status: response.status,
        texts,
        messages: texts.map((text) => JSON.parse(text) as Answered["messages"][0])
      }
    })
  })

const call = (name: string, args: object = {}, overrides: TestRequest.Overrides = {}) =>
  TestRequest.make("tools/call", { name, arguments: args as never }, overrides)

const token = { [Revision.meta.progressToken]: "t" }

/** Requests that are served, and those that are not, with what they are answered by. */
const served = [
  TestRequest.make("server/discover"),
  TestRequest.make("tools/list"),
  call("echo", { text: "è🙂" }),
  call("say", { text: "x" }),
  call("nothing"),
  call("decline", { why: "x" }),
  call("complain", { text: "x" }),
  call("echo", { text: 1 }),
  call("progress", { count: 2, label: "x" }, { meta: token, id: "with progress" })
]

const refused: ReadonlyArray<readonly [code: number, request: TestRequest.TestRequest]> = [
  [-32700, call("echo", {}, { body: "{" })],
  [-32600, call("echo", {}, { body: "5" })],
  [-32601, TestRequest.make("tools/unknown")],
  [-32601, TestRequest.make("resources/list")],
  [-32602, call("missing")],
  [-32602, call("echo", {}, { meta: { [Revision.meta.clientCapabilities]: undefined } })],
  [-32603, call("die", {}, { id: "an id" })],
  [-32020, call("echo", { text: "x" }, { headers: { "mcp-name": "say" } })],
  [-32021, call("sampler")],
  [
    -32022,
    call("echo", { text: "x" }, {
      meta: { [Revision.meta.protocolVersion]: "1999" },
      headers: { "mcp-protocol-version": "1999" }
    })
  ]
]

const methodOf = (request: TestRequest.TestRequest): string =>
  (JSON.parse(request.body) as { readonly method: string }).method

describe("what a server puts on the wire", () => {
  it.live(
    verifies("BASE-2@server", "BASE-6", "BASE-7", "BASE-8@server")(
      "each message is JSON-RPC 2.0 in UTF-8 and fits the schema; a result has the request's id and a core type"
    ),
    () =>
      Effect.gen(function*() {
        for (const request of served) {
          const { messages, texts } = yield* post(request)
          for (const text of texts) expect(Wire.check(text, { from: "server", method: methodOf(request) })).toEqual([])
          expect(messages.at(-1)).toMatchObject({
            jsonrpc: "2.0",
            id: request.id,
            result: { resultType: Revision.resultType.complete }
          })
        }
      }).pipe(Effect.provide(endpoint))
  )

  it.live(
    verifies("BASE-11", "BASE-12@server", "BASE-13@server", "BASE-14")(
      "an error has the request's id where it could be read, and a code that the protocol defines now"
    ),
    () =>
      Effect.gen(function*() {
        for (const [code, request] of refused) {
          const { messages, texts } = yield* post(request)
          expect(texts).toHaveLength(1)
          expect(Wire.check(texts[0]!, { from: "server" })).toEqual([])
          const { error, id } = messages[0] as { readonly error: { readonly code: number }; readonly id?: unknown }
          expect(error).toMatchObject({ code, message: expect.any(String) })
          const isReadable = request.body.startsWith("{\"jsonrpc\"")
          expect(id).toEqual(isReadable ? request.id : undefined)
        }
      }).pipe(Effect.provide(endpoint))
  )

  it.live(
    verifies("BASE-3@server")("in a whole session it sends answers and notifications of its requests, never a request"),
    () =>
      Effect.gen(function*() {
        for (const request of [...served, ...refused.map(([, request]) => request)]) {
          const { messages } = yield* post(request)
          expect(messages.filter((message) => "method" in message && "id" in message)).toEqual([])
          expect(messages.filter((message) => !("method" in message))).toHaveLength(1)
        }
      }).pipe(Effect.provide(endpoint))
  )

  it.live(verifies("BASE-17@server")("a notification gets no answer, whatever it says"), () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const { connect } = yield* McpEndpoint.McpEndpoint
      const channel = connect({
        transport: "memory",
        send: (text) => written.push(text) > 0,
        onDrain: (resume) => resume(),
        services: undefined
      })
      for (const method of ["notifications/cancelled", "notifications/unknown", "tools/call", "server/discover"]) {
        const text = JsonRpc.encodeNotification(method, { requestId: 1, name: "echo", _meta: TestRequest.metaOf() })
        channel.receive(text)
        const { status, texts } = yield* post(TestRequest.make(method, { name: "echo" }, { body: text }))
        expect([status, texts]).toEqual([202, []])
      }
      // A request after them shows that nothing is still to come.
      channel.receive(TestRequest.make("server/discover", {}, { id: "last" }).body)
      expect(written.map((text) => (JSON.parse(text) as { readonly id: unknown }).id)).toEqual(["last"])
    }).pipe(Effect.provide(endpoint)))

  it.live(
    verifies("BASE-18@server")("several messages in one body, or in one line, are refused as a whole"),
    () =>
      Effect.gen(function*() {
        const one = call("echo", { text: "x" })
        const { messages, status } = yield* post(call("echo", {}, { body: `[${one.body},${one.body}]` }))
        expect([status, messages]).toMatchObject([400, [{ error: { code: -32600 } }]])
        const two = yield* post(call("echo", {}, { body: `${one.body}\n${one.body}` }))
        expect([two.status, two.messages]).toMatchObject([400, [{ error: { code: -32700 } }]])
      }).pipe(Effect.provide(endpoint))
  )

  it.live(
    verifies("META-4@server")("values at reserved keys that it does not know are carried and change nothing"),
    () =>
      Effect.gen(function*() {
        const meta = {
          "io.modelcontextprotocol/unknown": { deep: [null, 1e21] },
          "com.mcp.example/x": 7,
          "tools.modelcontextprotocol.dev/y": "text"
        }
        const { messages } = yield* post(call("inspect", {}, { meta }))
        expect(messages[0]).toMatchObject({ result: { structuredContent: { meta } } })
      }).pipe(Effect.provide(endpoint))
  )

  it.live(
    verifies("STATE-1", "META-10")("what one request of a connection declares is not there for the next"),
    () =>
      Effect.gen(function*() {
        const written: Array<{ readonly [key: string]: unknown }> = []
        const { connect } = yield* McpEndpoint.McpEndpoint
        const channel = connect({
          transport: "memory",
          send: (text) => written.push(JSON.parse(text) as (typeof written)[0]) > 0,
          onDrain: (resume) => resume(),
          services: undefined
        })
        const meta = {
          [Revision.meta.clientCapabilities]: { sampling: {} },
          [Revision.meta.clientInfo]: { name: "first", version: "1" }
        }
        channel.receive(call("sampler", {}, { id: 1, meta }).body)
        channel.receive(call("sampler", {}, { id: 2 }).body)
        channel.receive(call("sampler", {}, { id: 3, meta: { [Revision.meta.clientCapabilities]: undefined } }).body)
        channel.receive(call("sampler", {}, { id: 4, meta: { [Revision.meta.protocolVersion]: undefined } }).body)
        expect(written).toMatchObject([
          { id: 1, result: {} },
          { id: 2, error: { code: -32021 } },
          { id: 3, error: { code: -32602 } },
          { id: 4, error: { code: -32602 } }
        ])
      }).pipe(Effect.provide(endpoint))
  )

  it.live(
    verifies("STATE-7")("the list of tools is the same on every connection, before and after other requests"),
    () =>
      Effect.gen(function*() {
        const list = Effect.map(post(TestRequest.make("tools/list")), ({ texts }) => texts[0])
        const first = yield* list
        for (const request of [...served, ...refused.map(([, request]) => request)]) yield* post(request)
        expect(yield* list).toBe(first)
        const written: Array<string> = []
        const { connect } = yield* McpEndpoint.McpEndpoint
        const channel = connect({
          transport: "memory",
          send: (text) => written.push(text) > 0,
          onDrain: (resume) => resume(),
          services: undefined
        })
        channel.receive(TestRequest.make("tools/list").body)
        expect(written).toEqual([first])
      }).pipe(Effect.provide(endpoint))
  )

  const Ask = Tool.make("ask")
  const asking = Layer.mergeAll(
    ContractServer.registrations,
    McpServer.tool(Ask, () =>
      Effect.gen(function*() {
        yield* Invocation.progress({ progress: 1 })
        const { name } = yield* Input.form("name", {
          message: "Who?",
          schema: Schema.Struct({ name: Schema.String })
        })
        return [Content.text(name)]
      }).pipe(Effect.catch(() => Effect.succeed([]))))
  ).pipe(McpEndpoint.serve({ name: "wire", version: "1.0.0" }))

  const canBeAsked = { [Revision.meta.clientCapabilities]: { elicitation: {} } }

  /** Sends a request over HTTP, or over a channel, and gives all messages about it when it has ended. */
  const ways: ReadonlyArray<
    readonly [string, (request: TestRequest.TestRequest) => Effect.Effect<Answered["messages"], never, Served>]
  > = [
    ["HTTP", (request) => Effect.map(post(request), ({ messages }) => messages)],
    ["a channel", (request) =>
      Effect.gen(function*() {
        const { connect } = yield* McpEndpoint.McpEndpoint
        return yield* Effect.callback<Answered["messages"]>((resume) => {
          const messages: Array<Answered["messages"][0]> = []
          const channel = connect({
            transport: "memory",
            send: (text) => {
              messages.push(JSON.parse(text) as Answered["messages"][0])
              if (!("method" in messages.at(-1)!)) resume(Effect.succeed(messages))
              return true
            },
            onDrain: (resume) => resume(),
            services: undefined
          })
          channel.receive(request.body)
          return Effect.sync(() => channel.closeUnsafe())
        })
      })]
  ]
  type Served = McpEndpoint.McpEndpoint

  /** A request and its answer, a round of input, and a stream of changes: everything that a server says in them. */
  const session = (send: (typeof ways)[0][1]) =>
    Effect.gen(function*() {
      const endpoint = yield* McpEndpoint.McpEndpoint
      const found = yield* send(TestRequest.make("server/discover"))
      const first = yield* send(call("ask", {}, { id: 1, meta: { ...canBeAsked, ...token } }))
      const { requestState } = first.at(-1)!["result"] as { readonly requestState: string }
      const params = { name: "ask", arguments: {}, requestState, inputResponses: { name: accepted } }
      const last = yield* send(TestRequest.make("tools/call", params, { id: 2, meta: canBeAsked }))
      const stream = yield* Effect.forkChild(
        send(TestRequest.make("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id: "s" }))
      )
      const server = yield* McpServer.McpServer
      yield* Effect.sleep("20 millis")
      yield* server.register(McpServer.toolHandler(Tool.make("new"), () => Effect.succeed([])))
      yield* endpoint.stop
      return { found, first, last, heard: yield* Fiber.join(stream) }
    })
  const accepted = { action: "accept", content: { name: "Ada" } }

  it.live.each(ways)(
    verifies("BASE-1@server", "PAT-2@server")(
      "each pattern of messages is served: an answer, rounds of input, a stream of changes; over %s"
    ),
    ([, send]) =>
      Effect.gen(function*() {
        const { first, found, heard, last } = yield* session(send)
        expect(found).toMatchObject([{ result: { supportedVersions: [Revision.latest.version] } }])
        expect(first).toMatchObject([
          { method: Revision.notification.progress },
          { id: 1, result: { resultType: Revision.resultType.inputRequired } }
        ])
        expect(last).toMatchObject([{ id: 2, result: { content: [{ text: "Ada" }] } }])
        const ofServer = (message: object) =>
          !("method" in message && message.method === Revision.notification.cancelled)
        expect(heard.filter(ofServer)).toMatchObject([
          { method: Revision.notification.acknowledged },
          { method: Revision.notification.toolsListChanged },
          { id: "s", result: { resultType: Revision.resultType.complete } }
        ])
      }).pipe(Effect.provide(asking))
  )

  it.live.each(ways)(
    verifies("META-5@server")(
      "it writes no metadata key without a prefix, and carries trace context as it came, right or wrong; over %s"
    ),
    ([, send]) =>
      Effect.gen(function*() {
        const trace = {
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          tracestate: "vendor=value",
          baggage: "user=ada"
        }
        const keysIn = (value: unknown): ReadonlyArray<string> =>
          typeof value !== "object" || value === null ? [] : Object.entries(value).flatMap(([key, member]) => [
            ...(key === "_meta" ? Object.keys(member as object) : []),
            ...keysIn(member)
          ])
        for (const meta of [trace, { ...trace, traceparent: "zz", tracestate: "", baggage: "=;" }]) {
          const [answer] = yield* send(call("inspect", {}, { meta }))
          expect(answer).toMatchObject({ result: { structuredContent: { meta } } })
          const { result: { structuredContent: _, ...written } } = answer as { result: Record<string, unknown> }
          expect(keysIn({ ...written, content: [] })).toEqual([Revision.meta.serverInfo])
        }
        const { first, found, heard, last } = yield* session(send)
        const keys = keysIn([found, first, last, heard])
        expect(keys).not.toEqual([])
        expect(keys.filter((key) => !key.includes("/"))).toEqual([])
      }).pipe(Effect.provide(asking))
  )
})
