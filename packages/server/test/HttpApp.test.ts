import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, JsonRpc, Tool } from "@fairlead/protocol"
import { HttpApp, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { once } from "node:events"
import * as Http from "node:http"
import * as Net from "node:net"
import { burst, standstill, text, total } from "./support/burst.ts"
import { begin, open, send } from "./support/http.ts"
import { collectLogs, makeGate, turns, until } from "./support/serve.ts"
import { call, headersOf, request, version, withToken } from "./support/wire.ts"

const Slow = Tool.make("slow")
const done = McpServer.tool(Slow, () => Effect.succeed([Content.text("done")]))

const server = () => NodeHttpServer.layer(() => Http.createServer(), { port: 0, host: "127.0.0.1" })

/** The two ways to serve the app: among the routes of a router, and as the whole of a server. */
const routed = HttpRouter.serve(
  Layer.mergeAll(
    HttpApp.route("/deep/mcp"),
    HttpRouter.add("GET", "/", HttpServerResponse.text("Hello")),
    HttpRouter.middleware(
      Effect.map(HttpServerResponse.setHeader("x-user", "kept")),
      { global: true }
    )
  ),
  { disableLogger: true, disableListenLog: true }
)
const bare = HttpServer.serve(HttpApp.app)

const mount = <A, E, R>(
  app: Layer.Layer<never, never, McpEndpoint.McpEndpoint | HttpServer.HttpServer>,
  registrations: Layer.Layer<A, E, R>,
  options: Partial<McpEndpoint.Options> = {}
) =>
  Effect.gen(function*() {
    const { layer, logs } = collectLogs()
    const services = yield* Layer.build(
      app.pipe(
        Layer.provideMerge(server()),
        Layer.provideMerge(McpEndpoint.serve({ name: "test", version: "1.2.3", ...options })(registrations))
      )
    ).pipe(Effect.provide(layer))
    const { address } = Context.get(services, HttpServer.HttpServer)
    const origin = `http://127.0.0.1:${"port" in address ? address.port : 0}`
    return { origin, url: `${origin}/deep/mcp`, logs, endpoint: Context.get(services, McpEndpoint.McpEndpoint) }
  })

describe("in a router", () => {
  it.effect("it stands beside other routes, and the user's middleware counts for it", () =>
    Effect.gen(function*() {
      const { origin, url } = yield* mount(routed, done)
      const answer = yield* send(url, call("slow"))
      assert.strictEqual(answer.json.result.content[0].text, "done")
      assert.strictEqual(answer.headers["x-user"], "kept")
      const page = yield* send(`${origin}/`, "", { method: "GET", path: "/" })
      assert.deepStrictEqual([page.status, page.text], [200, "Hello"])
      assert.strictEqual((yield* send(origin, call("slow"), { path: "/other" })).status, 404)
    }))
})

describe.each([["in a router", routed], ["without a router", bare]] as const)("%s", (_, app) => {
  it.effect(
    verifies("http/promise/mount_or_listen", "http/mist_handler")("every answer is that of the listener"),
    () =>
      Effect.gen(function*() {
        const { url } = yield* mount(app, done, { maxBodyBytes: 1000 })
        const json = yield* send(url, call("slow"))
        assert.deepStrictEqual([json.status, json.headers["content-type"]], [200, "application/json"])
        assert.strictEqual(json.headers["cache-control"], "no-store")
        assert.strictEqual(json.headers["mcp-protocol-version"], version)

        const events = yield* send(url, call("slow"), { headers: { accept: "text/event-stream" } })
        assert.deepStrictEqual([events.status, events.headers["content-type"]], [200, "text/event-stream"])
        assert.strictEqual(events.headers["x-accel-buffering"], "no")
        assert.strictEqual(events.events[0].result.content[0].text, "done")

        const notification = yield* send(url, JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" }))
        assert.deepStrictEqual([notification.status, notification.text], [202, ""])

        const get = yield* send(url, "", { method: "GET" })
        assert.deepStrictEqual([get.status, get.headers.allow], [405, "POST"])
        assert.include(get.headers["content-type"], "text/plain")
        const refusals = [
          [403, call("slow"), { host: "evil.example" }],
          [403, call("slow"), { origin: "null" }],
          [415, call("slow"), { "content-type": "text/plain" }],
          [406, call("slow"), { accept: "text/html" }],
          [413, "x".repeat(1001), {}],
          [413, "x".repeat(1001), { "transfer-encoding": "chunked" }],
          [400, "{", {}],
          [404, request("other"), {}],
          [400, call("slow"), { "mcp-method": "tools/list" }]
        ] as const
        for (const [status, body, headers] of refusals) {
          assert.strictEqual((yield* send(url, body, { headers })).status, status, JSON.stringify(headers))
        }
        const exact = JSON.stringify(call("slow")).padEnd(1000, " ")
        const chunked = { ...headersOf(call("slow")), "transfer-encoding": "chunked" }
        assert.strictEqual((yield* send(url, exact, { headers: chunked })).status, 200)
      })
  )

  it.effect("a body that comes in pieces is read whole", () =>
    Effect.gen(function*() {
      const { url } = yield* mount(app, done)
      const message = call("slow", { text: "é—🙂" })
      const bytes = Buffer.from(JSON.stringify(message))
      const status = yield* Effect.callback<number, Error>((resume) => {
        const request = begin(url, message)
        request.on("error", (error) => resume(Effect.fail(error)))
        request.on("response", (response) => {
          response.resume()
          resume(Effect.succeed(response.statusCode ?? 0))
        })
        const next = (i: number) => {
          if (i >= bytes.length) return void request.end()
          request.write(bytes.subarray(i, i + 7))
          setImmediate(next, i + 7)
        }
        next(0)
      })
      assert.strictEqual(status, 200)
    }))

  it.live.each(
    [
      ["while it arrives", "transfer-encoding: chunked"],
      ["as it says itself", "content-length: 100000000"]
    ] as const
  )(
    "a body beyond the limit, %s, is refused also to a client that still sends",
    ([, length]) =>
      Effect.gen(function*() {
        const { origin } = yield* mount(app, done, { maxBodyBytes: 1000 })
        const socket = yield* Effect.acquireRelease(
          Effect.sync(() => Net.connect(Number(new URL(origin).port), "127.0.0.1")),
          (socket) => Effect.sync(() => socket.destroy())
        )
        socket.on("error", () => {})
        socket.pause()
        const lines = Object.entries(headersOf(call("slow"))).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.write(`POST /deep/mcp HTTP/1.1\r\nhost: localhost\r\n${lines.join("")}${length}\r\n\r\n`)
        const chunk = `${(10_000).toString(16)}\r\n${"x".repeat(10_000)}\r\n`
        for (let i = 0; i < 20; i++) {
          socket.write(chunk)
          yield* Effect.sleep("10 millis")
        }
        let text = ""
        socket.on("data", (chunk) => {
          text += String(chunk)
        })
        socket.resume()
        if (!socket.closed) yield* Effect.promise(() => once(socket, "close"))
        assert.match(text, /^HTTP\/1\.1 413 /)
        assert.isTrue(text.endsWith("\r\n\r\nThe body is larger than 1000 bytes."))
      }),
    20_000
  )

  it.effect(
    verifies("CAN-3", "HTTP-20")("a client that goes away while it waits for JSON interrupts the handler"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(Slow, () => Effect.as(gate.run, []))
        const { logs, url } = yield* mount(app, layer, { maxConcurrentRequests: 1 })
        const answer = yield* Effect.forkChild(send(url, call("slow")))
        yield* gate.started
        yield* Fiber.interrupt(answer)
        assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
        assert.strictEqual((yield* send(url, call("other"))).status, 200)
        assert.deepStrictEqual(logs, [])
      })
  )

  it.effect(
    verifies("CAN-3", "HTTP-20", "http/promise/streaming_mount")(
      "a client that goes away in a stream interrupts the handler"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(
          Slow,
          () => Invocation.progress({ progress: 1 }).pipe(Effect.andThen(gate.run), Effect.as([]))
        )
        const { url } = yield* mount(app, layer, { maxConcurrentRequests: 1 })
        const stream = yield* open(url, call("slow", {}, withToken(1)))
        yield* gate.started
        yield* until(() => stream.text() !== "")
        stream.destroy()
        assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
        assert.strictEqual((yield* send(url, call("other"))).status, 200)
      })
  )

  it.effect("a client that goes away in the middle of its body leaves nothing behind", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = McpServer.tool(Slow, () => Effect.as(gate.run, []))
      const { logs, url } = yield* mount(app, layer, { maxConcurrentRequests: 1 })
      const message = call("slow")
      yield* Effect.callback<void>((resume) => {
        const request = begin(url, message, { headers: { "content-length": "1000" } })
        request.on("error", () => {})
        request.on("close", () => resume(Effect.void))
        request.write(JSON.stringify(message), () => setImmediate(() => request.destroy()))
      })
      yield* turns()
      assert.strictEqual((yield* send(url, call("other"))).status, 200)
      assert.deepStrictEqual([gate.starts(), logs.length], [0, 0])
    }))

  it.effect("the deadline answers 504, while the handler still has its grace", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), []))
      const { url } = yield* mount(app, layer)
      const answer = yield* Effect.forkChild(send(url, call("slow", {}, { id: "a" })))
      yield* gate.started
      yield* TestClock.adjust("30 seconds")
      const { json, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, json.id, json.error.code], [504, "a", JsonRpc.codes.internalError])
      assert.strictEqual(gate.ends(), 0)
      yield* gate.release
    }))

  it.effect(
    verifies("http/promise/streaming_mount")("progress arrives while the handler works, then the answer, then the end"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(Slow, () =>
          Invocation.progress({ progress: 1 }).pipe(
            Effect.andThen(gate.run),
            Effect.andThen(Invocation.progress({ progress: 2 })),
            Effect.as([])
          ))
        const { url } = yield* mount(app, layer)
        const stream = yield* open(url, call("slow", {}, withToken("t")))
        yield* until(() => stream.text().includes("\"progress\":1"))
        assert.strictEqual(gate.ends(), 0)
        yield* gate.release
        yield* until(() => stream.response.complete)
        const events = stream.text().split("\n\n").filter((event) => event !== "")
        assert.strictEqual(events.length, 3)
        assert.include(events[2], "\"result\"")
      })
  )

  it.effect(
    "a client that does not read stops the producer; when it goes, the producer ends",
    () =>
      Effect.gen(function*() {
        const { layer, state } = burst()
        const { url } = yield* mount(app, layer)
        const stream = yield* open(url, call("burst", {}, withToken("t")), { paused: true })
        yield* until(() => state.reported > 0)
        yield* standstill(state)
        assert.isFalse(state.done)
        assert.isBelow(state.reported * text.length, 16 * 1024 * 1024)
        stream.destroy()
        yield* until(() => state.exit !== undefined)
        assert.isTrue(Exit.hasInterrupts(state.exit!))
      }),
    60_000
  )

  it.effect(
    "a client that does not read for too long loses its connection, and the producer ends",
    () =>
      Effect.gen(function*() {
        const { layer, state } = burst()
        const { url } = yield* mount(app, layer, { writeTimeout: "5 seconds", requestTimeout: "1 hour" })
        const stream = yield* open(url, call("burst", {}, withToken("t")), { paused: true })
        let isClosed = false
        stream.response.socket.on("close", () => {
          isClosed = true
        })
        yield* until(() => state.reported > 0)
        yield* standstill(state)
        yield* TestClock.adjust("5 seconds")
        yield* until(() => state.exit !== undefined)
        assert.isTrue(Exit.hasInterrupts(state.exit!))
        // What is left in the buffers has to be read before the end is seen.
        stream.response.resume()
        yield* until(() => isClosed)
        assert.isFalse(stream.response.complete)
      }),
    60_000
  )

  it.effect("a client that reads gets every report of a burst", () =>
    Effect.gen(function*() {
      const { layer, state } = burst()
      const { url } = yield* mount(app, layer)
      const stream = yield* open(url, call("burst", {}, withToken("t")), { paused: true })
      let newest = ""
      let bytes = 0
      stream.response.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        newest = (newest + chunk.toString("latin1")).slice(-500)
      })
      yield* until(() => stream.response.complete)
      assert.isTrue(state.done)
      assert.isAbove(bytes, total * text.length)
      assert.include(newest, "\"result\"")
    }), 60_000)

  it.effect("a stopped endpoint refuses with 503", () =>
    Effect.gen(function*() {
      const { endpoint, url } = yield* mount(app, done)
      yield* endpoint.stop
      const answer = yield* send(url, call("slow"))
      assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [503, "1"])
    }))
})

describe("as a web handler of the router", () => {
  const webOf = <A, E>(
    registrations: Layer.Layer<A, E, McpServer.McpServer>,
    options: Partial<McpEndpoint.Options> = {}
  ) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        HttpRouter.toWebHandler(
          HttpApp.route("/mcp").pipe(
            Layer.provide(McpEndpoint.serve({ name: "test", version: "1.2.3", ...options })(registrations))
          ),
          { disableLogger: true }
        )
      ),
      ({ dispose }) => Effect.promise(dispose)
    )

  const webRequest = (body: string, headers: Record<string, string>, signal?: AbortSignal) =>
    new Request("http://localhost/mcp", {
      method: "POST",
      body,
      headers: { host: "localhost", ...headers },
      ...(signal === undefined ? {} : { signal })
    })

  it.live("it answers, within the limit of the body", () =>
    Effect.gen(function*() {
      const { handler } = yield* webOf(done, { maxBodyBytes: 1000 })
      const headers = headersOf(call("slow"))
      const post = (body: string) =>
        Effect.promise(async () => {
          const response = await handler(webRequest(body, headers))
          return { status: response.status, text: await response.text() }
        })
      const body = JSON.stringify(call("slow"))
      assert.include((yield* post(body)).text, "done")
      assert.strictEqual((yield* post(body.padEnd(1000))).status, 200)
      assert.strictEqual((yield* post(body.padEnd(1001))).status, 413)
    }))

  it.live("a request that aborts interrupts the handler", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { handler } = yield* webOf(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const abort = new AbortController()
      const response = handler(webRequest(JSON.stringify(call("slow")), headersOf(call("slow")), abort.signal))
      yield* gate.started
      abort.abort()
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
      yield* Effect.promise(() => Promise.allSettled([response]))
    }))
})
