/** What a client promises across its parts: what it takes from a server, what it says to one, and what it leaves alone. */
import { assert, describe, expect, it } from "@effect/vitest"
import type * as CallEnding from "@fairlead/client/CallEnding"
import * as McpClient from "@fairlead/client/McpClient"
import * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import { ConnectFailed, ConnectionClosed, type Outgoing, Transport } from "@fairlead/protocol/Transport"
import * as Invocation from "@fairlead/server/Invocation"
import * as McpEndpoint from "@fairlead/server/McpEndpoint"
import * as McpServer from "@fairlead/server/McpServer"
import * as RequestContext from "@fairlead/server/RequestContext"
import * as TestClient from "@fairlead/testing/TestClient"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import { clientOf, json, peer, result } from "./support/peer.ts"
import { Search } from "./support/tools.ts"
import { failures, hits, metaOf, results, scripted, silent, success } from "./support/transport.ts"

const search = (client: McpClient.Client) => client.call(Search, { query: "a" })

const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }), output: Schema.String })
const echo = McpServer.tool(Echo, ({ text }) => Effect.succeed(text))

describe("extensions", () => {
  const extensions: Readonly<Record<string, Json.Object>> = { "com.example/dialect": { level: 1 } }
  const declaredIn = (request: Outgoing) =>
    (metaOf(request)[Revision.meta.clientCapabilities] as Json.Object)["extensions"]

  it.effect(
    verifies("EXT-3@client", "VER-8@client", "GAP-8@client")(
      "are off unless they are declared, and then said with every request"
    ),
    () =>
      Effect.gen(function*() {
        const plain = yield* scripted(results(() => hits("a")))
        yield* search(plain.client)
        expect(declaredIn(plain.requests[0]!)).toBeUndefined()
        const declaring = yield* scripted(results(() => hits("a")), { capabilities: { extensions } })
        yield* search(declaring.client)
        yield* search(declaring.client)
        expect(declaring.requests.map(declaredIn)).toEqual([extensions, extensions])
      })
  )

  it.effect.each<readonly [string, Readonly<Record<string, Json.Object>>, Readonly<Record<string, Json.Object>>]>([
    ["the client alone", extensions, {}],
    ["the server alone", {}, extensions],
    ["both", extensions, extensions]
  ])(verifies("VER-7@client")("that %s has leave the core as it is"), ([_who, ours, theirs]) =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      expect(yield* client.call(Echo, { text: "a" })).toBe("a")
      expect((yield* client.discover).capabilities.extensions ?? {}).toEqual(theirs)
    }).pipe(Effect.provide(TestClient.layer(
      echo.pipe(McpEndpoint.serve({ name: "extended", version: "1.0.0", extensions: theirs })),
      { client: { capabilities: { extensions: ours } } }
    ))))

  it.effect(
    verifies("VER-7@client")("that a server insists on are a typed refusal, which is not repeated"),
    () =>
      Effect.gen(function*() {
        const data = { requiredCapabilities: { extensions } }
        const { client, requests } = yield* scripted(
          failures({ code: -32021, message: "needed", data }, { status: 400 })
        )
        const error = yield* Effect.flip(search(client).pipe(McpClient.retry({ schedule: Schedule.recurs(3) })))
        assert(error._tag === "McpClientError" && error.reason._tag === "RpcError")
        expect([error.code, error.reason.data, requests.length]).toEqual(["rpc_error.-32021", data, 1])
      })
  )
})

describe("what a server does not offer", () => {
  it.effect(
    verifies("VER-12@client")("is told by discovery, and asking all the same is one request and a typed failure"),
    () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const { hasCapability } = yield* client.discover
        expect(["tools", "prompts", "resources", "completions"].map(hasCapability)).toEqual([true, false, false, false])
        const error = yield* Effect.flip(client.listPrompts.pipe(
          McpClient.retry({ schedule: Schedule.recurs(3), idempotent: true })
        ))
        expect([error.code, error.isRetryable({ idempotent: true })]).toEqual(["rpc_error.-32601", false])
        expect(yield* client.call(Echo, { text: "a" })).toBe("a")
      }).pipe(Effect.provide(TestClient.layer(echo.pipe(McpEndpoint.serve({ name: "tools", version: "1.0.0" })))))
  )

  it.effect(
    verifies("VER-12@client")("is sent once, and listening to it is not opened again"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(failures({ code: -32601, message: "x" }, { status: 404 }))
        const listen = client.listen({ toolsListChanged: true }, { reconnect: true })
        expect((yield* Effect.flip(Effect.scoped(listen))).code).toBe("rpc_error.-32601")
        expect(
          (yield* Effect.flip(client.complete({ type: "ref/prompt", name: "a" }, { argument: "b", value: "" }))).code
        )
          .toBe("rpc_error.-32601")
        yield* TestClock.adjust("1 hour")
        expect(requests.map(({ method }) => method)).toEqual(["subscriptions/listen", "completion/complete"])
      })
  )

  it.effect.each([-32602, -32002])(
    verifies("RES-5@client")("a resource, refused with %i, keeps its URI and is not asked for again"),
    (code) =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(failures({ code, message: "x", data: { uri: "a:b" } }))
        const error = yield* Effect.flip(
          client.readResource("a:b").pipe(McpClient.retry({ schedule: Schedule.recurs(3), idempotent: true }))
        )
        assert(error._tag === "McpClientError" && error.reason._tag === "RpcError")
        expect([error.code, error.evidence, error.reason.data]).toEqual([
          `rpc_error.${code}`,
          "Completed",
          { uri: "a:b" }
        ])
        expect(requests.length).toBe(1)
      })
  )
})

describe("what a server says of itself", () => {
  it.effect(
    verifies("TOOL-13")("decides nothing: annotations make no call safe to repeat"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted((request) =>
          Effect.suspend(() => {
            request.sent()
            return request.method === Revision.method.listTools
              ? Effect.succeed(success(request, {
                tools: [{
                  name: "wipe",
                  inputSchema: { type: "object" },
                  annotations: { readOnlyHint: true, idempotentHint: true, destructiveHint: false }
                }]
              }))
              : Effect.fail(new ConnectionClosed({ evidence: "MaybeSent" }))
          })
        )
        const [tool] = yield* client.listTools
        const call = client.callDiscovered(tool!, {})
        const schedule = Schedule.recurs(2)
        yield* Effect.flip(call.pipe(McpClient.retry({ schedule })))
        expect(requests.length).toBe(2)
        // The caller says so, or nobody.
        yield* Effect.flip(call.pipe(McpClient.retry({ schedule, idempotent: true })))
        expect(requests.length).toBe(5)
      })
  )

  it.effect(
    verifies("GAP-21")("is asked within a timeout that can be set, in one version, and nothing else is tried"),
    () =>
      Effect.gen(function*() {
        for (
          const [timeout, discover] of [
            ["30 seconds", (client: McpClient.Client) => client.discover],
            ["2 seconds", (client: McpClient.Client) => Call.withTimeout(client.discover, "2 seconds")]
          ] as const
        ) {
          const { answer, reached } = silent({ sent: true })
          const { client, requests } = yield* scripted(answer)
          const fiber = yield* Effect.forkChild(Effect.flip(discover(client)))
          yield* reached
          yield* TestClock.adjust(timeout)
          expect((yield* Fiber.join(fiber)).code).toBe("timed_out.maybe_sent")
          expect(requests.map((request) => [request.method, metaOf(request)[Revision.meta.protocolVersion]])).toEqual([
            ["server/discover", Revision.latest.version]
          ])
        }
      })
  )
})

describe("what a client says of itself", () => {
  it(verifies("META-2@client")("has the prefix of a domain name, reversed"), () => {
    for (const key of Object.values(Call.metaKeys)) {
      const [prefix] = key.split("/")
      expect(prefix!.split(".").toReversed().join(".")).toMatch(/^[a-z-]+\.github\.io$/)
    }
  })

  it.effect(verifies("META-2@client")("has no other key of its own than those"), () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => hits("a")), { info: { name: "a", version: "1" } })
      yield* search(client).pipe(
        Call.withCorrelation("c"),
        Call.withIdempotencyKey("k"),
        Call.withDeadline("1 minute"),
        Call.withProgress(() => Effect.void),
        Effect.withSpan("mine")
      )
      const own: ReadonlySet<string> = new Set(Object.values(Call.metaKeys))
      const keys = Object.keys(metaOf(requests[0]!)).filter((key) => key.includes("/") && !own.has(key))
      expect(keys.filter((key) => !key.startsWith("io.modelcontextprotocol/"))).toEqual([])
    }))
})

describe("published schemas", () => {
  /** A tool of 2020-12 without saying so, as a server lists it. */
  const modern: Json.Object = {
    type: "object",
    $defs: { word: { $anchor: "word", type: "string" } },
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      pair: { type: "array", prefixItems: [{ $ref: "#word" }, { type: "integer" }] }
    },
    dependentRequired: { pair: ["region"] },
    unevaluatedProperties: false
  }
  const listing = (tool: Json.Object, result: Json.Object = { content: [] }) =>
    scripted(
      results(({ method }) => method === Revision.method.listTools ? { tools: [{ name: "a", ...tool }] } : result),
      { hasHeaders: true }
    )

  it.effect(
    verifies("JS-1@client")("of 2020-12, without saying so, are kept whole and their tools called"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* listing({ inputSchema: modern })
        const [tool] = yield* client.listTools
        expect(tool!.inputSchema).toEqual(modern)
        const ending = yield* client.callDiscovered(tool!, { region: "eu", pair: ["a", 1] })
        expect(ending._tag).toBe("Succeeded")
        expect(requests[1]!.headers).toContainEqual(["mcp-param-region", "eu"])
        expect(requests[1]!.params["arguments"]).toEqual({ region: "eu", pair: ["a", 1] })
      })
  )

  it(verifies("JS-2@client")("of another dialect make no definition: that is an error before any call"), () => {
    const other = Tool.jsonSchema({ $schema: "http://json-schema.org/draft-07/schema#", type: "object" })
    for (const parts of [{ input: other }, { output: other }]) {
      const made = Tool.makeResult("old", parts)
      assert(made._tag === "Failure")
      expect(made.failure.message).toContain("$schema")
    }
  })

  it.effect(
    verifies("JS-2@client", "JS-4@client")(
      "loosen nothing: an output is decoded by its definition, whatever the server refers to"
    ),
    () =>
      Effect.gen(function*() {
        const outputSchema = { $schema: "urn:other", $ref: "https://example.com/anything.json" }
        const { client } = yield* listing(
          { name: Search.name, inputSchema: { type: "object" }, outputSchema },
          { content: [], structuredContent: { titles: "everything" } }
        )
        yield* client.listTools
        expect(yield* Effect.flip(search(client))).toMatchObject({ code: "malformed_response" })
      })
  )

  it.live(verifies("JS-5@client")("have the depth and the size of messages"), () =>
    Effect.gen(function*() {
      const deep = (depth: number): Json.Object => depth === 0 ? {} : { properties: { a: deep(depth - 1) } }
      const wide = { properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`property_${i}`, {}])) }
      let inputSchema: Json.Object = {}
      const target = yield* peer((request, response) =>
        json(response, result(request, { tools: [{ name: "a", inputSchema }] }))
      )
      const client = yield* clientOf(target.url, { maxResponseBytes: 100_000 })
      for (
        const [schema, code] of [
          [deep(20), undefined],
          [deep(40), "malformed_response"],
          [deep(400), "malformed_response"],
          [wide, "response_too_large"]
        ] as const
      ) {
        inputSchema = schema
        const exit = yield* Effect.exit(client.listTools)
        expect(exit).toMatchObject(
          code === undefined ? { _tag: "Success" } : { cause: { reasons: [{ error: { code } }] } }
        )
      }
    }))
})

describe("completions", () => {
  const Review = Prompt.make("review", { args: Schema.Struct({ code: Schema.String }) })

  it.effect.each<readonly [string, Json.Object]>([
    ["values alone", { values: ["a"] }],
    ["more to come", { values: ["a"], hasMore: true }],
    ["a total beyond them", { values: ["a"], total: 1000, hasMore: true }],
    ["nothing", { values: [] }]
  ])(verifies("COMP-4@client")("with %s are taken as they are"), ([_case, completion]) =>
    Effect.gen(function*() {
      const { client } = yield* scripted(results(() => ({ completion })))
      expect(yield* client.complete(Review, { argument: "code", value: "a" })).toEqual(completion)
    }))

  it.effect(
    verifies("COMP-4@client")("of what is being typed are a stream that can be debounced"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => ({ completion: { values: ["abc"] } })))
        const typed = Stream.make("a", "ab", "abc").pipe(
          Stream.debounce("100 millis"),
          Stream.mapEffect((value) => client.complete(Review, { argument: "code", value }))
        )
        const fiber = yield* Effect.forkChild(Stream.runCollect(typed))
        yield* TestClock.adjust("1 second")
        expect(yield* Fiber.join(fiber)).toEqual([{ values: ["abc"] }])
        expect(requests.map(({ params }) => params["argument"])).toEqual([{ name: "code", value: "abc" }])
      })
  )
})

describe("every operation", () => {
  const continuation = {
    method: "tools/call",
    name: Search.name,
    params: { name: Search.name },
    headers: [],
    requests: {},
    correlation: "c"
  }
  const operations: Readonly<
    Record<
      string,
      (
        client: McpClient.Client
      ) => Effect.Effect<unknown, McpClientError.McpClientError | CallEnding.InputRequired | Error>
    >
  > = {
    discover: (client) => client.discover,
    listTools: (client) => client.listTools,
    listResources: (client) => client.listResources,
    listResourceTemplates: (client) => client.listResourceTemplates,
    listPrompts: (client) => client.listPrompts,
    listStream: (client) => Stream.runDrain(client.listStream("tools")),
    listPage: (client) => client.listPage("prompts"),
    listRaw: (client) => client.listRaw("com.example/list", "items"),
    call: search,
    callResult: (client) => client.callResult(Search, { query: "a" }),
    callDiscovered: (client) => client.callDiscovered("a", {}),
    readResource: (client) => client.readResource("a:b"),
    getPrompt: (client) => client.getPrompt("a"),
    complete: (client) => client.complete({ type: "ref/prompt", name: "a" }, { argument: "b", value: "" }),
    callRaw: (client) => client.callRaw("com.example/x", undefined),
    resume: (client) => client.resume(Search, continuation, {}),
    resumeRaw: (client) => client.resumeRaw(continuation, {}),
    listen: (client) => Effect.scoped(client.listen({ toolsListChanged: true }))
  }

  it.effect("is in the list of this test", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted(results(() => hits()))
      // What closes and what makes handles calls nothing.
      expect(Object.keys(operations).toSorted()).toEqual(
        Object.keys(client).filter((name) => name !== "close" && name !== "with").toSorted()
      )
    }))

  it.effect.each(Object.keys(operations))(
    verifies("client/promise/every_operation_typed_error")("gives its value or the one error: %s"),
    (name) =>
      Effect.gen(function*() {
        const { client } = yield* scripted(() => Effect.fail(new ConnectFailed({ detail: "ECONNREFUSED" })))
        const error = yield* Effect.flip(operations[name]!(client))
        assert(McpClientError.isMcpClientError(error))
        expect([error.code, error.kind, error.evidence]).toEqual(["connect_failed", "Unreachable", "NotSent"])
      })
  )
})

describe("a transport of one's own", () => {
  it.effect(
    verifies("snodo/custom_transport/close")("is closed with its client, at once"),
    () =>
      Effect.gen(function*() {
        let closed = 0
        const client = yield* Effect.provideService(McpClient.make(), Transport, {
          name: "own",
          hasHeaders: false,
          send: () => Effect.never,
          close: Effect.sync(() => void closed++)
        })
        const fiber = yield* Effect.forkChild(Effect.flip(search(client)))
        yield* Effect.yieldNow
        yield* client.close
        expect(yield* Fiber.join(fiber)).toMatchObject({ code: "cancelled.not_sent" })
        expect(closed).toBe(1)
      })
  )

  it.effect(
    verifies("snodo/promise/custom_transport_without_progress")(
      "that brings no progress has none, and its calls are as good"
    ),
    () =>
      Effect.gen(function*() {
        const reports: Array<Call.Progress> = []
        const { client } = yield* scripted(results(() => hits("a")))
        expect(yield* search(client).pipe(Call.withProgress((report) => Effect.sync(() => reports.push(report)))))
          .toEqual({ titles: ["a"] })
        expect(reports).toEqual([])
      })
  )
})

describe("a server in the same process", () => {
  const Work = Tool.make("work")

  it.effect(
    verifies("client/promise/close_in_process")("closing interrupts its handlers, which have their grace to clean up"),
    () =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        const cleaned = yield* Deferred.make<void>()
        const work = McpServer.tool(Work, () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Effect.andThen(Effect.sleep("1 second"), Deferred.succeed(cleaned, undefined)))
          ))
        const context = yield* Layer.build(
          TestClient.layer(
            work.pipe(McpEndpoint.serve({ name: "work", version: "1.0.0", cancellationGrace: "2 seconds" }))
          )
        )
        const client = yield* Effect.provide(McpClient.McpClient, context)
        const fiber = yield* Effect.forkChild(Effect.flip(client.call(Work, {})))
        yield* Deferred.await(started)
        yield* client.close
        // The caller does not wait for it.
        expect(yield* Fiber.join(fiber)).toMatchObject({ code: "cancelled.maybe_sent" })
        expect(yield* Deferred.isDone(cleaned)).toBe(false)
        yield* TestClock.adjust("1 second")
        yield* Deferred.await(cleaned)
      })
  )

  it.effect(
    verifies(
      "client/promise/correlation_reaches_server",
      "client/promise/correlation_shared_with_events",
      "client/promise/correlation_never_authorizes"
    )("verifier, handler, log and error share the correlation, which lets nobody in"),
    () =>
      Effect.gen(function*() {
        const seen: Array<readonly [string, string]> = []
        const logger = Logger.make((options) => {
          const annotations = options.fiber.getRef(References.CurrentLogAnnotations)
          seen.push(["log", String(annotations["correlation"])])
        })
        let allowed = true
        const endpoint = McpServer.tool(Work, () =>
          Effect.flatMap(Invocation.Invocation, ({ correlation }) => {
            seen.push(["handler", correlation])
            return Effect.die(new Error("hunter2"))
          })).pipe(
            McpEndpoint.serve({
              name: "work",
              version: "1.0.0",
              verify: ({ correlation }) => {
                seen.push(["verifier", correlation])
                return allowed
                  ? Effect.succeed({ principal: "ada" })
                  : Effect.fail(new RequestContext.Refused({ status: 401, message: "Who?" }))
              }
            }),
            Layer.provide(Logger.layer([logger]))
          )
        const context = yield* Layer.build(TestClient.layer(endpoint))
        const client = yield* Effect.provide(McpClient.McpClient, context)
        const call = Effect.flip(client.call(Work, {}).pipe(Call.withCorrelation("order-42")))
        expect(yield* call).toMatchObject({ code: "rpc_error.-32603", correlation: "order-42" })
        expect(new Set(seen.map(([where]) => where))).toEqual(new Set(["verifier", "handler", "log"]))
        expect(new Set(seen.map(([_, correlation]) => correlation))).toEqual(new Set(["order-42"]))
        allowed = false
        seen.length = 0
        expect((yield* call)._tag).toBe("McpClientError")
        expect(seen.filter(([where]) => where === "handler")).toEqual([])
      })
  )
})
