import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, JsonRpc, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer, WebHandler } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { burst, standstill } from "./support/burst.ts"
import { eventsOf } from "./support/http.ts"
import { endpointOf, makeGate, turns } from "./support/serve.ts"
import { call, headersOf, type Message, request, version, withToken } from "./support/wire.ts"

const Slow = Tool.make("slow")
const done = McpServer.tool(Slow, () => Effect.succeed([Content.text("done")]))

const make = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Partial<McpEndpoint.Options> = {}) =>
  Effect.gen(function*() {
    const services = yield* endpointOf(registrations, options)
    const handler = yield* Effect.provide(WebHandler.make, services)
    return { handler, endpoint: Context.get(services, McpEndpoint.McpEndpoint) }
  })

const requestOf = (message: Message | string, options: {
  readonly headers?: Record<string, string | undefined>
  readonly signal?: AbortSignal
  readonly method?: string
  readonly url?: string
  readonly body?: BodyInit | null
} = {}) => {
  const headers = new Headers({ ...(typeof message === "string" ? headersOf({}) : headersOf(message)) })
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }
  const body = options.body === undefined
    ? typeof message === "string" ? message : JSON.stringify(message)
    : options.body
  return new Request(options.url ?? "http://localhost/mcp", {
    method: options.method ?? "POST",
    headers,
    ...(options.method === "GET" ? {} : { body }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    duplex: "half"
  } as RequestInit)
}

const send = (handler: WebHandler.WebHandler, request: Request) =>
  Effect.promise(async () => {
    const response = await handler(request)
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      get json() {
        return JSON.parse(text)
      }
    }
  })

describe("the web handler", () => {
  it.effect(verifies("http/handler")("answers as the listener does"), () =>
    Effect.gen(function*() {
      const { handler } = yield* make(done, { maxBodyBytes: 1000 })
      const json = yield* send(handler, requestOf(call("slow")))
      assert.strictEqual(json.json.result.content[0].text, "done")
      assert.deepStrictEqual(
        ["content-type", "cache-control", "mcp-protocol-version"].map((name) => json.headers.get(name)),
        ["application/json", "no-store", version]
      )
      const events = yield* send(handler, requestOf(call("slow"), { headers: { accept: "text/event-stream" } }))
      assert.strictEqual(events.headers.get("x-accel-buffering"), "no")
      assert.lengthOf(eventsOf(events.text), 1)
      const notification = yield* send(handler, requestOf(JSON.stringify({ jsonrpc: "2.0", method: "n" })))
      assert.deepStrictEqual([notification.status, notification.text], [202, ""])
      const get = yield* send(handler, requestOf("", { method: "GET" }))
      assert.deepStrictEqual([get.status, get.headers.get("allow")], [405, "POST"])
      const refusals = [
        [403, call("slow"), { headers: { host: "evil.example" } }],
        [403, call("slow"), { url: "http://evil.example/mcp" }],
        [403, call("slow"), { headers: { origin: "null" } }],
        [415, call("slow"), { headers: { "content-type": "text/plain" } }],
        [406, call("slow"), { headers: { accept: "text/html" } }],
        [413, "x".repeat(1001), {}],
        [413, call("slow"), { headers: { "content-length": "1001" } }],
        [400, "{", {}],
        [400, "", { body: null }],
        [404, request("other"), {}]
      ] as const
      for (const [status, message, options] of refusals) {
        assert.strictEqual((yield* send(handler, requestOf(message, options))).status, status, JSON.stringify(options))
      }
    }))

  it.effect("takes the host from the URL where no header says it", () =>
    Effect.gen(function*() {
      const { handler } = yield* make(done, { allowedHosts: ["mcp.example"] })
      const answer = yield* send(handler, requestOf(call("slow"), { url: "https://mcp.example:8443/any/path" }))
      assert.strictEqual(answer.status, 200)
    }))

  it.effect("reads a body that streams in pieces, to the limit", () =>
    Effect.gen(function*() {
      const { handler } = yield* make(done, { maxBodyBytes: 1000 })
      const streaming = (size: number) => {
        const bytes = Buffer.from(JSON.stringify(call("slow")).padEnd(size))
        return new ReadableStream<Uint8Array>({
          start: (controller) => {
            for (let i = 0; i < bytes.length; i += 7) controller.enqueue(bytes.subarray(i, i + 7))
            controller.close()
          }
        })
      }
      const post = (size: number) => send(handler, requestOf(call("slow"), { body: streaming(size) }))
      assert.strictEqual((yield* post(1000)).status, 200)
      assert.strictEqual((yield* post(1001)).status, 413)
    }))

  it.effect("does not reject when the body was read before, or breaks", () =>
    Effect.gen(function*() {
      const { handler } = yield* make(done)
      const used = requestOf(call("slow"))
      yield* Effect.promise(() => used.text())
      assert.strictEqual((yield* send(handler, used)).status, 400)
      const locked = requestOf(call("slow"))
      locked.body!.getReader()
      assert.strictEqual((yield* send(handler, locked)).status, 400)
      const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("broken")) })
      assert.strictEqual((yield* send(handler, requestOf(call("slow"), { body: broken }))).status, 400)
    }))

  it.effect("stops reading a body when the request aborts", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { handler } = yield* make(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const abort = new AbortController()
      let cancelled = false
      const never = new ReadableStream<Uint8Array>({
        cancel: () => {
          cancelled = true
        }
      })
      const answer = yield* Effect.forkChild(
        send(handler, requestOf(call("slow"), { body: never, signal: abort.signal }))
      )
      yield* turns()
      abort.abort()
      assert.strictEqual((yield* Fiber.join(answer)).status, 400)
      assert.isTrue(cancelled)
      assert.strictEqual(gate.starts(), 0)
    }))

  it.effect(
    verifies("CAN-3", "HTTP-20")("a request that aborts while it waits for JSON interrupts the handler"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(Slow, () => Effect.as(gate.run, []))
        const { handler } = yield* make(layer, { maxConcurrentRequests: 1 })
        const abort = new AbortController()
        const answer = handler(requestOf(call("slow"), { signal: abort.signal }))
        yield* gate.started
        abort.abort()
        assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
        yield* Effect.promise(() => answer)
        assert.strictEqual((yield* send(handler, requestOf(call("other")))).status, 200)
      })
  )

  it.effect("a request that has aborted already starts no work that goes on", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { handler } = yield* make(McpServer.tool(Slow, () => Effect.as(gate.run, [])), { maxConcurrentRequests: 1 })
      const answer = yield* send(handler, requestOf(call("slow"), { signal: AbortSignal.abort() }))
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(gate.starts(), gate.ends())
      assert.strictEqual((yield* send(handler, requestOf(call("other")))).status, 200)
    }))

  const endings: ReadonlyArray<
    readonly [
      string,
      (parts: {
        readonly abort: AbortController
        readonly reader: ReadableStreamDefaultReader<Uint8Array>
      }) => Promise<unknown> | void
    ]
  > = [
    ["aborts", ({ abort }) => abort.abort()],
    ["cancels the body of its answer", ({ reader }) => reader.cancel()]
  ]

  it.effect.each(endings)(
    verifies("CAN-3", "HTTP-20")("a client that %s in a stream interrupts the handler"),
    ([, end]) =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(
          Slow,
          () => Invocation.progress({ progress: 1 }).pipe(Effect.andThen(gate.run), Effect.as([]))
        )
        const { handler } = yield* make(layer, { maxConcurrentRequests: 1 })
        const abort = new AbortController()
        const response = yield* Effect.promise(() =>
          handler(requestOf(call("slow", {}, withToken(1)), { signal: abort.signal }))
        )
        const reader = response.body!.getReader()
        const { value } = yield* Effect.promise(() => reader.read())
        assert.include(Buffer.from(value!).toString(), "\"progress\":1")
        yield* gate.started
        const rest = reader.read().then(({ done }) => done, () => true)
        yield* Effect.promise(async () => end({ abort, reader }))
        assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
        // Whoever reads on waits for nothing.
        assert.isTrue(yield* Effect.promise(() => rest))
        assert.strictEqual((yield* send(handler, requestOf(call("other")))).status, 200)
      })
  )

  it.effect("the deadline answers 504", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { handler } = yield* make(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const answer = yield* Effect.forkChild(send(handler, requestOf(call("slow", {}, { id: "a" }))))
      yield* gate.started
      yield* TestClock.adjust("30 seconds")
      const { json, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, json.id, json.error.code], [504, "a", JsonRpc.codes.internalError])
    }))

  it.effect("a body that nobody reads stops the producer; reading on gives the rest", () =>
    Effect.gen(function*() {
      const { layer, state } = burst()
      const { handler } = yield* make(layer)
      const response = yield* Effect.promise(() => handler(requestOf(call("burst", {}, withToken("t")))))
      yield* standstill(state)
      assert.isBelow(state.reported, 10_000)
      assert.isFalse(state.done)
      const text = yield* Effect.promise(() => response.text())
      assert.isTrue(state.done)
      assert.include(text.slice(-500), "\"result\"")
    }), 60_000)

  it.effect("a body that nobody reads for too long breaks, and its producer ends", () =>
    Effect.gen(function*() {
      const { layer, state } = burst()
      const { handler } = yield* make(layer, { writeTimeout: "5 seconds", requestTimeout: "1 hour" })
      const response = yield* Effect.promise(() => handler(requestOf(call("burst", {}, withToken("t")))))
      yield* standstill(state)
      yield* TestClock.adjust("5 seconds")
      yield* standstill(state)
      assert.isTrue(state.exit !== undefined && Exit.hasInterrupts(state.exit))
      yield* Effect.promise(() =>
        response.text().then(
          () => assert.fail("it ended as if it were whole"),
          () => {}
        )
      )
    }), 60_000)
})

describe("fromLayer", () => {
  const layerOf = (gate = makeGate()) => {
    const log: Array<string> = []
    const registrations = McpServer.tool(Slow, () => Effect.as(gate.run, [Content.text("done")]))
    const layer = Layer.effectDiscard(
      Effect.acquireRelease(
        Effect.sync(() => log.push("open")),
        () => Effect.sync(() => log.push("closed"))
      )
    ).pipe(Layer.provideMerge(
      McpEndpoint.serve({ name: "test", version: "1", cancellationGrace: 0 })(registrations)
    ))
    return { gate, layer, log }
  }

  it.live("builds the layer with the first request, once", () =>
    Effect.gen(function*() {
      const { gate, layer, log } = layerOf()
      const { dispose, handler } = WebHandler.fromLayer(layer)
      assert.deepStrictEqual(log, [])
      yield* gate.release
      const answers = yield* Effect.all([1, 2].map(() => send(handler, requestOf(call("slow")))), { concurrency: 2 })
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200])
      assert.deepStrictEqual(log, ["open"])
      yield* Effect.promise(dispose)
      assert.deepStrictEqual(log, ["open", "closed"])
    }))

  it.live("dispose interrupts what runs", () =>
    Effect.gen(function*() {
      const { gate, layer } = layerOf()
      const { dispose, handler } = WebHandler.fromLayer(layer)
      const answer = handler(requestOf(call("slow")))
      yield* gate.started
      yield* Effect.promise(dispose)
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
      assert.strictEqual((yield* Effect.promise(() => answer)).status, 500)
    }))

  it.live("rejects when the layer cannot be built", () =>
    Effect.gen(function*() {
      const { handler } = WebHandler.fromLayer(McpEndpoint.serve({ name: "", version: "1" })(Layer.empty))
      const error = yield* Effect.flip(Effect.tryPromise({
        try: () => handler(requestOf(call("slow"))),
        catch: (error) => error
      }))
      assert.instanceOf(error, McpEndpoint.InvalidConfig)
    }))
})
