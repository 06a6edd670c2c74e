/** Requests that arrive slowly, late or never: they must not cost others anything. */
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import { TestRequest } from "@fairlead/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { once } from "node:events"
import * as Net from "node:net"

const greet = McpServer.tool(Tool.make("greet"), () => Effect.succeed([Content.text("Hello")]))

const listen = (http: NodeMcpEndpoint.HttpOptions = {}, options: Partial<McpEndpoint.Options> = {}) =>
  greet.pipe(
    McpEndpoint.serve({ name: "test", version: "1", ...options }),
    (endpoint) => Layer.build(Layer.provide(NodeMcpEndpoint.layerHttp(http), endpoint)),
    Effect.map((services) => Context.get(services, NodeMcpEndpoint.HttpListener))
  )

const { body, headers } = TestRequest.make("tools/call", { name: "greet" })

const head = (length: number) =>
  `POST /mcp HTTP/1.1\r\n${
    Object.entries({ host: "localhost", ...headers, "content-length": String(length) })
      .map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n`

const connect = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = Net.connect(port, "127.0.0.1")
      socket.on("error", () => {})
      await once(socket, "connect")
      return socket
    }),
    (socket) => Effect.sync(() => void socket.destroy())
  )

/** All that comes until the connection ends. */
const readAll = (socket: Net.Socket) =>
  Effect.promise(async () => {
    let text = ""
    socket.on("data", (chunk) => {
      text += String(chunk)
    })
    await once(socket, "close")
    return text
  })

const post = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(url, { method: "POST", headers: { ...headers, connection: "close" }, body })
    await response.text()
    return response.status
  })

const assertTimedOut = (text: string) => {
  assert.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/)
  assert.include(text, "content-type: text/plain")
  assert.isTrue(text.endsWith("\r\n\r\nThe request took too long to arrive."))
}

describe("a request that does not arrive", () => {
  it.live("with its head is answered with 408 in a short text", () =>
    Effect.gen(function*() {
      const { port } = yield* listen({ headTimeout: "100 millis", bodyTimeout: "1 minute" })
      const socket = yield* connect(port)
      socket.write("POST /mcp HTTP/1.1\r\nhost: local")
      assertTimedOut(yield* readAll(socket))
    }))

  it.live("with its body is answered with 408, however often a byte of it comes", () =>
    Effect.gen(function*() {
      const { port, url } = yield* listen({ headTimeout: "100 millis", bodyTimeout: "300 millis" }, {
        maxArrivingRequests: 1
      })
      const socket = yield* connect(port)
      socket.write(head(100_000))
      const timer = setInterval(() => void socket.write(" "), 20)
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(timer)))
      assertTimedOut(yield* readAll(socket))
      // Its place among those that arrive has come back.
      assert.strictEqual(yield* post(url), 200)
    }))

  it.live("in the middle of HTTP gets a short text too", () =>
    Effect.gen(function*() {
      const { port } = yield* listen()
      const socket = yield* connect(port)
      socket.write(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"x".repeat(20_000)}\r\n\r\n`)
      const text = yield* readAll(socket)
      assert.match(text, /^HTTP\/1\.1 431 /)
      assert.isTrue(text.endsWith("\r\n\r\nThe headers are too large."))
    }))

  it.live.each(
    [
      ["headTimeout", { headTimeout: 0 }],
      ["headTimeout", { headTimeout: "Infinity" }],
      ["bodyTimeout", { bodyTimeout: -1 }],
      ["bodyTimeout", { headTimeout: "10 seconds", bodyTimeout: "9 seconds" }]
    ] as const
  )("%s cannot be %o", ([field, http]) =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(listen(http))
      assert(error._tag === "StartError" && error.reason._tag === "InvalidConfig")
      assert.strictEqual(error.reason.field, field)
    }))
})

describe("200 connections that send their bodies byte by byte", () => {
  it.live(
    verifies("http/promise/body_before_slot")("hold no slot and stop nobody"),
    () =>
      Effect.gen(function*() {
        const { port, url } = yield* listen({}, { maxConcurrentRequests: 1 })
        const slow = yield* Effect.all(Array.from({ length: 200 }, () => connect(port)), { concurrency: 50 })
        for (const socket of slow) socket.write(head(100_000))
        for (let second = 0; second < 10; second++) {
          for (const socket of slow) socket.write(" ")
          assert.strictEqual(yield* post(url), 200)
        }
        assert.isTrue(slow.every((socket) => !socket.destroyed))
      }),
    20_000
  )
})
