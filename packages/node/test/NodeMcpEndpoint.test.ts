import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, type Json, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import { TestRequest } from "@fairlead/testing"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Http from "node:http"
import * as Net from "node:net"
import { run } from "./support/child.ts"

const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }), output: Schema.String })
const echo = McpServer.tool(Echo, ({ text }) => Effect.succeed(text))

const serve = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  http: NodeMcpEndpoint.HttpOptions = {},
  options: Partial<McpEndpoint.Options> = {}
) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const endpoint = McpEndpoint.serve({ name: "test", version: "1", ...options })(registrations)
    const services = yield* Layer.buildWithScope(Layer.provide(NodeMcpEndpoint.layerHttp(http), endpoint), scope)
    return { ...Context.get(services, NodeMcpEndpoint.HttpListener), close: Scope.close(scope, Exit.void) }
  })

interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Http.IncomingHttpHeaders
}

interface SendOptions {
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly agent?: Http.Agent
  readonly method?: string
}

const post = (url: string, { body, headers }: TestRequest.TestRequest, options: SendOptions = {}) =>
  Effect.callback<Answer, Error>((resume) => {
    const target = new URL(url)
    const request = Http.request({
      host: target.hostname.replace(/^\[|\]$/g, ""),
      port: target.port,
      path: options.path ?? target.pathname,
      method: options.method ?? "POST",
      headers: { ...headers, ...options.headers },
      agent: options.agent ?? false
    })
    request.on("error", (error) => resume(Effect.fail(error)))
    request.on("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        text += chunk
      })
      response.on("error", (error) => resume(Effect.fail(error)))
      response.on(
        "end",
        () => resume(Effect.succeed({ status: response.statusCode ?? 0, text, headers: response.headers }))
      )
    })
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

const call = (name: string, args: Json.Object = {}, overrides?: TestRequest.Overrides) =>
  TestRequest.make("tools/call", { name, arguments: args }, overrides)

/** A connection that is written to by hand. */
const connect = (url: string) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly socket: Net.Socket
      readonly text: () => string
      readonly until: (condition: (text: string) => boolean) => Effect.Effect<void>
      readonly ended: Effect.Effect<void>
    }, Error>((resume) => {
      const target = new URL(url)
      const socket = Net.connect(Number(target.port), target.hostname)
      let text = ""
      let over = false
      const listeners = new Set<() => void>()
      const changed = () => {
        for (const listener of listeners) listener()
      }
      const until = (condition: () => boolean) =>
        Effect.callback<void>((resumeUntil) => {
          const look = () => {
            if (!condition()) return
            listeners.delete(look)
            resumeUntil(Effect.void)
          }
          listeners.add(look)
          look()
        })
      socket.setEncoding("utf8")
      socket.on("data", (chunk: string) => {
        text += chunk
        changed()
      })
      socket.on("close", () => {
        over = true
        changed()
      })
      socket.on("error", (error) => resume(Effect.fail(error)))
      socket.on("connect", () =>
        resume(Effect.succeed({
          socket,
          text: () => text,
          until: (condition) => until(() => condition(text)),
          ended: until(() => over)
        })))
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  )

const rawOf = (
  { body, headers }: TestRequest.TestRequest,
  more: Record<string, string> = {},
  path = "/mcp"
): string => {
  const all = { host: "localhost", ...headers, "content-length": String(Buffer.byteLength(body)), ...more }
  return `POST ${path} HTTP/1.1\r\n${
    Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n${body}`
}

const turns = (count = 20) =>
  Effect.promise(async () => {
    // Each turn has to pass before the next.
    // oxlint-disable-next-line no-await-in-loop
    for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
  })

const freePort = Effect.callback<number>((resume) => {
  const server = Net.createServer()
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as Net.AddressInfo
    server.close(() => resume(Effect.succeed(port)))
  })
})

/** A tool that waits to be released. */
const gated = () => {
  const released = Deferred.makeUnsafe<void>()
  const exits: Array<Exit.Exit<unknown, unknown>> = []
  const state = { started: 0 }
  const layer = McpServer.tool(Tool.make("slow"), () =>
    Effect.suspend(() => {
      state.started++
      return Deferred.await(released)
    }).pipe(
      Effect.onExit((exit) => Effect.sync(() => exits.push(exit))),
      Effect.as([Content.text("done")])
    ))
  const until = (condition: () => boolean) =>
    Effect.promise(async () => {
      // oxlint-disable-next-line no-await-in-loop
      while (!condition()) await new Promise((resolve) => setImmediate(resolve))
    })
  return {
    layer,
    state,
    exits,
    release: Deferred.succeed(released, undefined),
    started: (count: number) => until(() => state.started === count),
    ended: (count: number) => until(() => exits.length === count)
  }
}

describe("where it listens", () => {
  it.effect(
    verifies("HTTP-1", "HTTP-3", "http/default/bind", "http/new", "http/port")("is a free port on loopback, at /mcp"),
    () =>
      Effect.gen(function*() {
        const { host, port, url } = yield* serve(echo)
        assert.strictEqual(host, "127.0.0.1")
        assert.isAbove(port, 0)
        assert.strictEqual(url, `http://127.0.0.1:${port}/mcp`)
        const answer = yield* post(url, call("echo", { text: "hi" }))
        assert.strictEqual(JSON.parse(answer.text).result.structuredContent, "hi")
      })
  )

  it.effect("can be IPv6", () =>
    Effect.gen(function*() {
      const { port, url } = yield* serve(echo, { host: "::1" })
      assert.strictEqual(url, `http://[::1]:${port}/mcp`)
      assert.strictEqual((yield* post(url, call("echo", { text: "hi" }))).status, 200)
    }))

  it.effect("elsewhere is 404 in a short text, whatever the method; Host and Origin are checked there too", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo, { path: "/a/mcp" })
      const message = call("echo", { text: "hi" })
      assert.strictEqual((yield* post(url, message)).status, 200)
      assert.strictEqual((yield* post(url, message, { path: "/a/mcp?x=1" })).status, 200)
      for (const path of ["/", "/mcp", "/a/mcp/", "/a/mcp2", "/a/%6dcp", "//a/mcp", "/A/mcp"]) {
        for (const method of ["POST", "GET"]) {
          const answer = yield* post(url, message, { path, method })
          assert.deepStrictEqual([answer.status, answer.text], [404, "Not found."], path)
        }
        for (const headers of [{ host: "evil.example" }, { origin: "http://evil.example" }]) {
          assert.strictEqual((yield* post(url, message, { path, headers })).status, 403, path)
        }
      }
    }))
})

describe("what cannot be served", () => {
  const failing = (http: NodeMcpEndpoint.HttpOptions) =>
    Effect.flip(serve(echo, http)).pipe(
      Effect.map((error) => error._tag === "StartError" ? error.reason : error)
    )

  it.effect.each(
    [
      ["port", { port: -1 }],
      ["port", { port: 65_536 }],
      ["port", { port: 1.5 }],
      ["port", { port: Number.NaN }],
      ["path", { path: "" }],
      ["path", { path: "mcp" }],
      ["path", { path: "/mcp?x" }],
      ["path", { path: "/a b" }]
    ] as const
  )(
    verifies("http/config_field/bind_port", "http/start_error/invalid_config", "http/type/config_field")(
      "%s cannot be %o"
    ),
    ([field, http]) =>
      Effect.gen(function*() {
        const error = yield* failing(http)
        assert.instanceOf(error, McpEndpoint.InvalidConfig)
        assert.strictEqual(error.field, field)
        assert.include(error.message, field)
      })
  )

  it.effect.each(["0.0.0.0", "::", "192.168.1.1", "example.com", "127.0.0.1.example.com", ""])(
    verifies(
      "HTTP-3",
      "http/default/non_loopback",
      "http/start_error/unauthenticated_non_loopback_bind",
      "http/type/start_error"
    )("the host '%s' is refused, since anybody could call"),
    (host) =>
      Effect.gen(function*() {
        const error = yield* failing({ host })
        assert.instanceOf(error, NodeMcpEndpoint.UnauthenticatedNonLoopbackBind)
        assert.include(error.message, "allowUnauthenticated")
      })
  )

  it.effect(
    verifies("http/allow_unauthenticated", "http/with_bind")(
      "another host is served where that is allowed; its names have to be, too"
    ),
    () =>
      Effect.gen(function*() {
        const { port } = yield* serve(echo, { host: "0.0.0.0", allowUnauthenticated: true }, {
          allowedHosts: ["mcp.example"]
        })
        const url = `http://127.0.0.1:${port}/mcp`
        const message = call("echo", { text: "hi" })
        assert.strictEqual((yield* post(url, message, { headers: { host: "mcp.example" } })).status, 200)
        assert.strictEqual((yield* post(url, message, { headers: { host: "other.example" } })).status, 403)
      })
  )

  it.effect(
    verifies("http/default/allowed_hosts", "http/default/allowed_origins")(
      "the host that it is bound to is allowed as Host and as Origin, beside the loopback names"
    ),
    () =>
      Effect.gen(function*() {
        const { port } = yield* serve(echo, { host: "127.0.0.5" })
        const url = `http://127.0.0.5:${port}/mcp`
        const message = call("echo", { text: "hi" })
        for (const name of ["127.0.0.5", `127.0.0.5:${port}`, "localhost", "127.0.0.1:1", "[::1]"]) {
          assert.strictEqual((yield* post(url, message, { headers: { host: name } })).status, 200, name)
          const headers = { origin: `http://${name}` }
          assert.strictEqual((yield* post(url, message, { headers })).status, 200, name)
        }
        for (const name of ["127.0.0.6", "mcp.example", "127.0.0.5.example"]) {
          assert.strictEqual((yield* post(url, message, { headers: { host: name } })).status, 403, name)
          assert.strictEqual((yield* post(url, message, { headers: { origin: `http://${name}` } })).status, 403, name)
        }
        assert.strictEqual((yield* post(url, message, { headers: { origin: "https://127.0.0.5" } })).status, 403)
      })
  )

  it.effect(
    verifies("http/start_error/bind_failed", "http/describe_start_error", "http/with_bind")(
      "a port in use is BindFailed, said in one line; it is free again after close"
    ),
    () =>
      Effect.gen(function*() {
        const first = yield* serve(echo)
        const error = yield* failing({ port: first.port })
        assert.instanceOf(error, NodeMcpEndpoint.BindFailed)
        assert.deepStrictEqual([error.code, error.port, error.host], ["EADDRINUSE", first.port, "127.0.0.1"])
        assert.strictEqual(error.message, `Could not listen on 127.0.0.1:${first.port}: the port is in use`)
        yield* first.close
        const second = yield* serve(echo, { port: first.port })
        assert.strictEqual((yield* post(second.url, call("echo", { text: "hi" }))).status, 200)
      })
  )

  it.effect("a host that this machine has not is BindFailed", () =>
    Effect.gen(function*() {
      const error = yield* failing({ host: "192.0.2.1", allowUnauthenticated: true })
      assert.instanceOf(error, NodeMcpEndpoint.BindFailed)
      assert.include(error.message, "EADDRNOTAVAIL")
    }))
})

describe("a program that cannot start", () => {
  const launched = <A, E, R>(
    registrations: Layer.Layer<A, E, R>,
    http: NodeMcpEndpoint.HttpOptions = {},
    options: Partial<McpEndpoint.Options> = {}
  ) =>
    registrations.pipe(
      McpEndpoint.serve({ name: "test", version: "1", ...options }),
      NodeMcpEndpoint.launchHttp(http),
      Effect.flip
    )

  it.effect("has one error for whatever the reason is, which it says in one line", () =>
    Effect.gen(function*() {
      const used = yield* serve(echo)
      const secret = new Error("password: hunter2")
      const rows = [
        ["InvalidConfig", launched(echo, { port: -1 })],
        ["InvalidConfig", launched(echo, {}, { pageSize: 0 })],
        ["UnauthenticatedNonLoopbackBind", launched(echo, { host: "0.0.0.0" })],
        ["BindFailed", launched(echo, { port: used.port })],
        ["StartFailed", launched(Layer.effectDiscard(Effect.die(secret)))],
        // What Node throws and does not tell of otherwise.
        ["StartFailed", launched(echo, { host: 7 as never, allowUnauthenticated: true })]
      ] as const
      for (const [reason, program] of rows) {
        const error: NodeMcpEndpoint.StartError = yield* program
        assert.strictEqual(error._tag, "StartError")
        assert.strictEqual(error.reason._tag, reason)
        assert.match(error.message, /^.+$/)
        assert.notInclude(error.message, "hunter2")
      }
      const { reason } = yield* launched(Layer.effectDiscard(Effect.die(secret)))
      assert(reason._tag === "StartFailed")
      assert.strictEqual(reason.cause, secret)
    }))

  it.effect("with the error of a registration has that one", () =>
    Effect.gen(function*() {
      const error = yield* launched(Layer.effectDiscard(Effect.fail({ _tag: "NoDatabase" } as const)))
      // A failure of the type would be one of this comparison.
      const tag: "NoDatabase" | "StartError" = error._tag
      assert.strictEqual(tag, "NoDatabase")
    }))
})

describe("starting", () => {
  it.effect(
    verifies("http/start")("opens the port when every registration is there, and not before"),
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const go = yield* Deferred.make<void>()
        const waiting = yield* Deferred.make<void>()
        const late = Layer.unwrap(
          Deferred.succeed(waiting, undefined).pipe(
            Effect.andThen(Deferred.await(go)),
            Effect.as(McpServer.tool(Tool.make("late"), () => Effect.succeed([])))
          )
        )
        const serving = yield* Effect.forkChild(serve(Layer.merge(echo, late), { port }))
        yield* Deferred.await(waiting)
        yield* turns()
        const refused = yield* Effect.flip(post(`http://127.0.0.1:${port}/mcp`, call("late")))
        assert.strictEqual((refused as NodeJS.ErrnoException).code, "ECONNREFUSED")
        yield* Deferred.succeed(go, undefined)
        const { url } = yield* Fiber.join(serving)
        assert.strictEqual((yield* post(url, call("late"))).status, 200)
      })
  )

  it.live(
    "answers the request that comes the moment the port opens, also with 10,000 tools",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const tools = McpServer.handlers(
          Array.from(
            { length: 10_000 },
            (_, n) => McpServer.toolHandler(Tool.make(`tool-${n}`), () => Effect.succeed([]))
          )
        )
        const knocking = yield* Effect.forkChild(
          Effect.retry(post(`http://127.0.0.1:${port}/mcp`, call("tool-9999")), { schedule: Schedule.spaced(1) })
        )
        yield* serve(tools, { port })
        const answer = yield* Fiber.join(knocking)
        assert.strictEqual(answer.status, 200)
        assert.isDefined(JSON.parse(answer.text).result)
      }),
    20_000
  )

  it.effect(
    verifies("http/start_error/handler_failed")("opens no port when a registration fails"),
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const exit = yield* Effect.exit(serve(Layer.effectDiscard(Effect.fail("no database")), { port }))
        assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("no database"))
        const refused = yield* Effect.flip(post(`http://127.0.0.1:${port}/mcp`, call("late")))
        assert.strictEqual((refused as NodeJS.ErrnoException).code, "ECONNREFUSED")
      })
  )
})

describe("a connection", () => {
  it.effect("serves requests that come before the answer to the first, in order", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const connection = yield* connect(url)
      const messages = ["a", "b", "c"].map((text, id) => call("echo", { text }, { id }))
      connection.socket.write(messages.map((message) => rawOf(message)).join(""))
      yield* connection.until((text) => text.includes("\"structuredContent\":\"c\""))
      const order = [...connection.text().matchAll(/"id":(\d)/g)].map(([, id]) => Number(id))
      assert.deepStrictEqual(order, [0, 1, 2])
    }))

  it.effect(
    verifies("CAN-3", "HTTP-20")("that breaks interrupts all requests that wait on it"),
    () =>
      Effect.gen(function*() {
        const gate = gated()
        const { url } = yield* serve(gate.layer)
        const connection = yield* connect(url)
        connection.socket.write([1, 2, 3].map((id) => rawOf(call("slow", {}, { id }))).join(""))
        yield* gate.started(3)
        connection.socket.destroy()
        yield* gate.ended(3)
        assert.isTrue(gate.exits.every(Exit.hasInterrupts))
      })
  )

  it.effect("that breaks interrupts its own requests alone, although others have the same id", () =>
    Effect.gen(function*() {
      const gate = gated()
      const { url } = yield* serve(Layer.merge(echo, gate.layer))
      const kept = yield* Effect.forkChild(post(url, call("slow", {}, { id: 1 })))
      yield* gate.started(1)
      const broken = yield* connect(url)
      broken.socket.write(rawOf(call("slow", {}, { id: 1 })))
      yield* gate.started(2)
      const other = yield* post(url, call("echo", { text: "hi" }, { id: 1 }))
      assert.deepInclude(JSON.parse(other.text), { id: 1 })
      assert.include(other.text, "\"hi\"")
      broken.socket.destroy()
      yield* gate.ended(1)
      assert.isTrue(Exit.hasInterrupts(gate.exits[0]!))
      yield* gate.release
      assert.include((yield* Fiber.join(kept)).text, "done")
    }))

  it.effect("that breaks while a stream of the first keeps the others waiting interrupts them too", () =>
    Effect.gen(function*() {
      const gate = gated()
      const Stream = Tool.make("stream")
      const stream = McpServer.tool(Stream, () => Effect.andThen(Invocation.progress({ progress: 1 }), Effect.never))
      const { url } = yield* serve(Layer.merge(gate.layer, stream))
      const connection = yield* connect(url)
      const streaming = call("stream", {}, { meta: { progressToken: 1 } })
      connection.socket.write(rawOf(streaming) + rawOf(call("slow")))
      yield* gate.started(1)
      yield* connection.until((text) => text.includes("progressToken"))
      connection.socket.destroy()
      yield* gate.ended(1)
      assert.isTrue(Exit.hasInterrupts(gate.exits[0]!))
    }))

  it.effect("that breaks in the middle of a body leaves the endpoint as it was", () =>
    Effect.gen(function*() {
      const gate = gated()
      const { url } = yield* serve(Layer.merge(echo, gate.layer), {}, { maxConcurrentRequests: 1 })
      const connection = yield* connect(url)
      connection.socket.write(rawOf(call("slow"), { "content-length": "1000" }))
      yield* turns()
      connection.socket.destroy()
      yield* turns()
      assert.strictEqual(gate.state.started, 0)
      assert.strictEqual((yield* post(url, call("echo", { text: "hi" }))).status, 200)
    }))

  it.effect("that asks before it sends its body is told to go on", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const connection = yield* connect(url)
      const [head, body] = rawOf(call("echo", { text: "hi" }), { expect: "100-continue" }).split("\r\n\r\n")
      connection.socket.write(`${head}\r\n\r\n`)
      yield* connection.until((text) => text.startsWith("HTTP/1.1 100 Continue\r\n\r\n"))
      connection.socket.write(body!)
      yield* connection.until((text) => text.includes("\"structuredContent\":\"hi\""))
      assert.include(connection.text(), "HTTP/1.1 200 OK")
    }))

  it.effect("that asks before it sends its body is refused without it", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo, {}, { maxBodyBytes: 100 })
      for (
        const [status, more, path] of [
          [413, { "content-length": "101" }, "/mcp"],
          [403, { host: "evil.example" }, "/mcp"],
          [404, {}, "/other"]
        ] as const
      ) {
        const connection = yield* connect(url)
        const [head] = rawOf(call("echo"), { expect: "100-continue", ...more }, path).split("\r\n\r\n")
        connection.socket.write(`${head}\r\n\r\n`)
        // It ends: what would come next may be the body or another request.
        yield* connection.ended
        assert.match(connection.text(), new RegExp(`^HTTP/1\\.1 ${status} `))
        assert.notInclude(connection.text(), "100 Continue")
      }
    }))

  it.effect("that is refused while it still sends gets its answer all the same, although it closes then", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo, {}, { maxBodyBytes: 1000 })
      const body = "x".repeat(64 * 1024)
      for (
        const [status, more] of [
          [413, {}],
          [405, { method: "PUT" }],
          [415, { "content-type": "text/plain" }]
        ] as const
      ) {
        const { method = "POST", ...headers } = more as { readonly method?: string }
        const connection = yield* connect(url)
        const all = { ...call("echo").headers, host: "localhost", connection: "close", ...headers }
        connection.socket.write(
          `${method} /mcp HTTP/1.1\r\n${
            Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("")
          }transfer-encoding: chunked\r\n\r\n`
        )
        // It does not look at what comes before it has sent everything.
        connection.socket.pause()
        for (let i = 0; i < 20; i++) {
          connection.socket.write(`${body.length.toString(16)}\r\n${body}\r\n`)
          yield* turns(2)
        }
        connection.socket.write("0\r\n\r\n")
        connection.socket.resume()
        yield* connection.ended
        assert.match(connection.text(), new RegExp(`^HTTP/1\\.1 ${status} `))
      }
    }))

  it.effect("that speaks no HTTP is told so", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(echo)
      const connection = yield* connect(url)
      connection.socket.write("hello\r\n\r\n")
      yield* connection.ended
      assert.match(connection.text(), /^HTTP\/1\.1 400 /)
      assert.strictEqual((yield* post(url, call("echo", { text: "hi" }))).status, 200)
    }))
})

describe("closing", () => {
  it.effect("ends idle connections at once, also those that have sent half a head", () =>
    Effect.gen(function*() {
      const { close, url } = yield* serve(echo)
      const idle = yield* connect(url)
      const half = yield* connect(url)
      half.socket.write("POST /mcp HTTP/1.1\r\nhost: loc")
      const used = yield* connect(url)
      used.socket.write(rawOf(call("echo", { text: "hi" })))
      yield* used.until((text) => text.includes("\"hi\""))
      yield* close
      yield* Effect.all([idle.ended, half.ended, used.ended])
      const refused = yield* Effect.flip(post(url, call("echo", { text: "hi" })))
      assert.strictEqual((refused as NodeJS.ErrnoException).code, "ECONNREFUSED")
    }))

  it.effect("waits for what runs; its answer arrives", () =>
    Effect.gen(function*() {
      const gate = gated()
      const { close, url } = yield* serve(gate.layer)
      const agent = new Http.Agent({ keepAlive: true })
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
      const answer = yield* Effect.forkChild(post(url, call("slow"), { agent }))
      yield* gate.started(1)
      const closing = yield* Effect.forkChild(close)
      yield* turns()
      assert.strictEqual((yield* post(url, call("slow"))).status, 503)
      yield* gate.release
      assert.include((yield* Fiber.join(answer)).text, "done")
      yield* Fiber.join(closing)
    }))

  it.effect("lets a large answer leave, although its client reads slowly", () =>
    Effect.gen(function*() {
      const size = 8 * 1024 * 1024
      const Large = Tool.make("large")
      const release = yield* Deferred.make<void>()
      const started = yield* Deferred.make<void>()
      const layer = McpServer.tool(Large, () =>
        Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Deferred.await(release)),
          Effect.as([Content.text("x".repeat(size))])
        ))
      const { close, url } = yield* serve(layer, {}, { maxResponseBytes: 2 * size })
      const connection = yield* connect(url)
      connection.socket.write(rawOf(call("large")))
      yield* Deferred.await(started)
      connection.socket.pause()
      const closing = yield* Effect.forkChild(close)
      yield* Deferred.succeed(release, undefined)
      yield* turns()
      connection.socket.resume()
      yield* connection.ended
      yield* Fiber.join(closing)
      assert.isAbove(connection.text().length, size)
      assert.isTrue(connection.text().endsWith("}"))
    }))
})

describe("as a program", () => {
  it.live.each(["SIGINT", "SIGTERM"] as const)(
    "%s stops it in order, and it exits with 130",
    (signal) =>
      Effect.gen(function*() {
        const child = yield* run("httpServer")
        const url = () => /Listening on (http:\S+)/.exec(child.stdout().toString())?.[1]
        yield* child.until(() => url() !== undefined)
        const answer = yield* Effect.forkChild(post(url()!, call("slow")))
        yield* child.until(() => child.stderr().includes("started"))
        child.process.kill(signal)
        // It still runs what has begun.
        yield* turns(50)
        assert.notInclude(child.stderr(), "closed")
        child.process.kill("SIGUSR2")
        assert.include((yield* Fiber.join(answer)).text, "done")
        assert.deepStrictEqual(yield* child.ended, { code: 130, signal: null })
        assert.strictEqual(child.stderr(), "open\nstarted\nfinished\nclosed\n")
      })
  )
})
