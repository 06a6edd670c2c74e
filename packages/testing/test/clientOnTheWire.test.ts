import { describe, expect, it } from "@effect/vitest"
import { HttpTransport, McpClient } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, JsonRpc, Revision, Tool, Transport } from "@fairlead/protocol"
import { InProcess, McpEndpoint, McpServer, WebHandler } from "@fairlead/server"
import { ContractServer, RawPeer, RecordingTransport, Wire } from "@fairlead/testing"
import { Effect, Fiber, Layer } from "effect"
import { FetchHttpClient } from "effect/http"

/** Everything that a client can do with a server of tools. */
const session = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  yield* client.discover
  yield* client.listTools
  yield* client.call(ContractServer.Echo, { text: "è🙂\n" })
  yield* client.call(ContractServer.Progress, { count: 3, label: "x" }).pipe(Call.withProgress(() => Effect.void))
  yield* Effect.exit(client.call(ContractServer.Decline, { why: "x" }))
  yield* Effect.exit(client.call(ContractServer.Die, {}))
  yield* client.call(ContractServer.Inspect, {}).pipe(
    Call.withDeadline("20 seconds"),
    Call.withCorrelation("c"),
    Call.withIdempotencyKey("k"),
    Call.withMeta({ "com.example/extra": [1] })
  )
  const key = crypto.randomUUID()
  const held = yield* Effect.forkChild(client.call(ContractServer.Hold, { key }))
  yield* client.call(ContractServer.Await, { key, event: "started" })
  yield* Fiber.interrupt(held)
  yield* client.call(ContractServer.Await, { key, event: "interrupted" })
})

interface Exchange {
  readonly headers: Headers
  readonly body: Uint8Array
  readonly answer: Promise<Uint8Array | undefined>
}

/** A client over HTTP to a function, and the bytes that pass. */
const tapped = (fetch: (request: Request) => Promise<Response>) => {
  const exchanges: Array<Exchange> = []
  const tap: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const body = new Uint8Array(await request.clone().arrayBuffer())
    const response = await fetch(request)
    const copy = response.clone()
    exchanges.push({
      headers: request.headers,
      body,
      answer: copy.arrayBuffer().then((buffer) => new Uint8Array(buffer), () => undefined)
    })
    return response
  }
  const layer = McpClient.layer().pipe(
    Layer.provideMerge(RecordingTransport.layer(HttpTransport.layer({ url: "http://127.0.0.1/mcp" }))),
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, tap))
  )
  return { exchanges, layer }
}

/** The session over HTTP, as bytes. */
const overHttp = Effect.gen(function*() {
  const handler = yield* WebHandler.make
  const { exchanges, layer } = tapped(handler)
  yield* session.pipe(Effect.provide(layer))
  return exchanges
}).pipe(Effect.provide(ContractServer.layer))

const strictUtf8 = new TextDecoder("utf-8", { fatal: true })

const sentIn = (entries: ReadonlyArray<RecordingTransport.Entry>) => entries.filter((entry) => entry._tag === "Sent")

/** A channel in memory to the raw peer, and everything that a transport over it writes. */
const rawPeer = Layer.effect(
  Transport.Transport,
  Effect.sync(() =>
    Transport.Transport.of({
      name: "memory",
      hasHeaders: false,
      send: (request) =>
        Effect.suspend(() => {
          request.sent()
          const { texts } = RawPeer.script(request.text, "exchange")!
          const answer = JsonRpc.decode(texts.at(-1)!)
          return answer._tag === "Success" && (answer.success._tag === "Success" || answer.success._tag === "Failure")
            ? Effect.succeed({ response: answer.success })
            : Effect.fail(new Transport.MalformedResponse({ detail: "no response" }))
        })
    })
  )
)

describe("what a client puts on the wire", () => {
  it.live(
    verifies("BASE-2@client", "BASE-18@client")(
      "each HTTP body is one JSON-RPC 2.0 request, in UTF-8, that fits the published schema"
    ),
    () =>
      Effect.gen(function*() {
        const exchanges = yield* overHttp
        expect(exchanges.length).toBeGreaterThan(8)
        for (const { body } of exchanges) {
          const text = strictUtf8.decode(body)
          expect(Wire.check(text, { from: "client" })).toEqual([])
          expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", method: expect.any(String) })
        }
      })
  )

  it.live(
    verifies("META-6", "VER-1")(
      "each request names one version, in its metadata and in its header, and the capabilities"
    ),
    () =>
      Effect.gen(function*() {
        for (const { body, headers } of yield* overHttp) {
          const { params } = JSON.parse(strictUtf8.decode(body)) as { readonly params: { readonly _meta: object } }
          expect(params._meta).toMatchObject({
            [Revision.meta.protocolVersion]: Revision.latest.version,
            [Revision.meta.clientCapabilities]: {}
          })
          expect(headers.get("mcp-protocol-version")).toBe(Revision.latest.version)
        }
      })
  )

  it.effect(
    verifies("BASE-3@client", "BASE-12@client", "BASE-13@client", "BASE-17@client")(
      "it sends requests and nothing else: no response, no error, no answer to a notification"
    ),
    () =>
      Effect.gen(function*() {
        const sent: Array<string> = []
        const endpoint = yield* McpEndpoint.McpEndpoint
        const heard = McpEndpoint.McpEndpoint.of({
          ...endpoint,
          connect: (options) => {
            const channel = endpoint.connect(options)
            return {
              ...channel,
              receive: (text) => {
                sent.push(text)
                channel.receive(text)
              }
            }
          }
        })
        yield* session.pipe(
          Effect.provide(McpClient.layer().pipe(Layer.provide(InProcess.layer()))),
          Effect.provideService(McpEndpoint.McpEndpoint, heard)
        )
        const messages = sent.map((text) => JSON.parse(text) as { readonly id?: unknown; readonly method?: string })
        expect(messages.filter((message) => message.method === undefined)).toEqual([])
        expect(messages.filter((message) => message.id === undefined).map(({ method }) => method)).toEqual([
          Revision.notification.cancelled
        ])
        for (const text of sent) expect(Wire.check(text, { from: "client" })).toEqual([])
      }).pipe(Effect.provide(ContractServer.layer))
  )

  it.effect(
    verifies("BASE-4", "BASE-5")("its ids are integers that no other request uses, in flight or not"),
    () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const recording = yield* RecordingTransport.RecordingTransport
        const calls = Effect.replicateEffect(client.call(ContractServer.Echo, { text: "x" }), 50, {
          concurrency: "unbounded"
        })
        yield* calls
        yield* calls
        const ids = sentIn(yield* recording.entries).map(({ text }) =>
          (JSON.parse(text) as { readonly id: unknown }).id
        )
        expect(ids).toHaveLength(100)
        expect(new Set(ids).size).toBe(100)
        for (const id of ids) expect(Number.isSafeInteger(id) && Number(id) > 0).toBe(true)
      }).pipe(
        Effect.provide(McpClient.layer().pipe(Layer.provideMerge(RecordingTransport.layer(InProcess.layer())))),
        Effect.provide(ContractServer.layer)
      )
  )

  it.effect(
    verifies("BASE-8@client", "BASE-9", "BASE-10")(
      "a result of a type that no capability names is refused, one without a type is complete"
    ),
    () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const refused = yield* Effect.flip(client.call(Tool.make("unknown-result-type"), {}))
        expect(refused).toMatchObject({ code: "malformed_response" })
        expect(yield* client.call(Tool.make("no-result-type"), {})).toEqual([{ type: "text", text: "good" }])
      }).pipe(Effect.provide(McpClient.layer().pipe(Layer.provide(rawPeer))))
  )

  it.effect(
    verifies("META-4@client")("values at reserved keys that it does not know are carried and change nothing"),
    () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const result = yield* client.callResult(ContractServer.Say, { text: "x" })
        expect(result).toMatchObject({ _tag: "Succeeded", meta: strange })
      }).pipe(
        Effect.provide(
          McpClient.layer().pipe(Layer.provide(Layer.succeed(Transport.Transport, {
            name: "memory",
            hasHeaders: false,
            send: ({ id }) =>
              Effect.succeed({
                response: {
                  _tag: "Success",
                  id,
                  result: {
                    resultType: "complete",
                    content: [{ type: "text", text: "x", _meta: strange }],
                    _meta: strange
                  }
                }
              })
          })))
        )
      )
  )

  it.live(
    verifies("JS-3@client")("a listed schema that refers to the network is passed on, and nothing is fetched"),
    () =>
      Effect.gen(function*() {
        const { exchanges, layer } = tapped(yield* WebHandler.make)
        const original = globalThis.fetch
        const elsewhere: Array<unknown> = []
        globalThis.fetch = (input) => {
          elsewhere.push(input)
          return Promise.reject(new Error("no network"))
        }
        const tools = yield* Effect.flatMap(McpClient.McpClient, (client) => client.listTools).pipe(
          Effect.provide(layer),
          Effect.ensuring(Effect.sync(() => {
            globalThis.fetch = original
          }))
        )
        expect(tools.map(({ inputSchema }) => inputSchema)).toEqual([document])
        expect(elsewhere).toEqual([])
        expect(exchanges).toHaveLength(1)
      }).pipe(Effect.provide(remote))
  )
})

const document = {
  type: "object",
  $ref: "http://127.0.0.1:1/schema.json",
  properties: { a: { $ref: "https://example.com/a.json" } }
}

const remote = McpServer.tool(Tool.make("remote", { input: Tool.jsonSchema(document) }), () => Effect.succeed([])).pipe(
  McpEndpoint.serve({ name: "remote", version: "1.0.0" })
)

const strange = {
  "io.modelcontextprotocol/unknown": { deep: [null, 1e21] },
  "com.mcp.example/x": 7,
  "tools.modelcontextprotocol.dev/y": "text"
}
