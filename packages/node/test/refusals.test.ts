/** What a listener refuses is read by its client, also by one that still sends, and says the version. */
import { assert, describe, it, vi } from "@effect/vitest"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, Revision, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import { TestRequest } from "@fairlead/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { once } from "node:events"
import * as Net from "node:net"

const greet = McpServer.tool(Tool.make("greet"), () => Effect.succeed([Content.text("Hello")]))

const listen = (http: NodeMcpEndpoint.HttpOptions = {}, options: Partial<McpEndpoint.Options> = {}) =>
  greet.pipe(
    McpEndpoint.serve({ name: "test", version: "1", ...options }),
    (endpoint) => Layer.build(Layer.provide(NodeMcpEndpoint.layerHttp(http), endpoint)),
    Effect.map((services) => Context.get(services, NodeMcpEndpoint.HttpListener))
  )

const connect = (port: number, allowHalfOpen = false) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = Net.connect({ port, host: "127.0.0.1", allowHalfOpen })
      // That the server closes while it is written to is no news; what counts is what can still be read.
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
    socket.resume()
    if (!socket.closed) await once(socket, "close")
    return text
  })

const { headers } = TestRequest.make("tools/call", { name: "greet" })

const head = (more: Readonly<Record<string, string | undefined>> = {}, line = "POST /mcp HTTP/1.1") =>
  `${line}\r\n${
    Object.entries({ host: "localhost", ...headers, "transfer-encoding": "chunked", ...more })
      .flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}\r\n`]).join("")
  }\r\n`

const chunkOf = (length: number) => `${length.toString(16)}\r\n${"x".repeat(length)}\r\n`

interface Row {
  readonly status: number
  readonly first: string
  readonly then?: string
  readonly http?: NodeMcpEndpoint.HttpOptions
  readonly options?: Partial<McpEndpoint.Options>
}

const short = { headTimeout: "100 millis", bodyTimeout: "200 millis" } as const

const rows: Readonly<Record<string, Row>> = {
  "a head with a line that is no header": { status: 400, first: head().replace("\r\n", "\r\nno colon\r\n") },
  "a version of HTTP that is not known": { status: 400, first: head({}, "POST /mcp HTTP/7.7") },
  "no HTTP": { status: 400, first: "hello\r\n\r\n" },
  "a body whose chunks have no length": { status: 400, first: `${head()}zz\r\n` },
  "a head without Host": { status: 400, first: head({ host: undefined }) },
  "a head that is too large": { status: 431, first: head({ "x-long": "x".repeat(20_000) }) },
  "chunks with long extensions": { status: 413, first: `${head()}1;${"x".repeat(20_000)}\r\nx\r\n` },
  "a body beyond the limit": { status: 413, first: head() + chunkOf(2000), options: { maxBodyBytes: 1000 } },
  "a length beyond the limit": {
    status: 413,
    first: head({ "transfer-encoding": undefined, "content-length": "100000000" }),
    options: { maxBodyBytes: 1000 }
  },
  "an expectation that is not known": { status: 417, first: head({ expect: "200-ok" }) },
  "a body that goes on although its client asked first": {
    status: 403,
    first: head({ expect: "100-continue", host: "evil.example" })
  },
  "a head that does not end": { status: 408, first: "POST /mcp HTTP/1.1\r\n", then: "x: y\r\n", http: short },
  "a body that does not end": { status: 408, first: head(), then: chunkOf(10), http: short },
  "another path": { status: 404, first: head({}, "POST /other HTTP/1.1") },
  "another path, and the answer has no body": { status: 404, first: head({}, "HEAD /other HTTP/1.1") },
  "another method": { status: 405, first: head({}, "PUT /mcp HTTP/1.1") },
  "a tunnel": { status: 405, first: head({}, "CONNECT localhost:1 HTTP/1.1") },
  "a tunnel from elsewhere": { status: 403, first: head({ host: "evil.example" }, "CONNECT localhost:1 HTTP/1.1") },
  "a client that is turned away for now": { status: 503, first: head(), options: { maxArrivingRequests: 1 } }
}

describe("a client that does not look up before it has sent all it has", () => {
  it.live.each(Object.entries(rows))(
    "reads why it is refused: %s",
    ([, { first, http, options, status, then }]) =>
      Effect.gen(function*() {
        const { port } = yield* listen(http, options)
        const hasOther = options?.maxArrivingRequests === 1
        if (hasOther) {
          const other = yield* connect(port)
          other.write(head())
          yield* Effect.sleep("20 millis")
        }
        const socket = yield* connect(port)
        socket.pause()
        socket.write(first)
        // Long enough for the shortest of the times to be looked at.
        for (let i = 0; i < (http === undefined ? 20 : 45); i++) {
          yield* Effect.sleep("10 millis")
          socket.write(then ?? chunkOf(10_000))
        }
        const text = yield* readAll(socket)
        assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} \\w`))
        const [answer, body] = text.split("\r\n\r\n")
        assert.match(answer!, /^content-type: text\/plain; charset=utf-8$/im)
        assert.match(answer!, new RegExp(`^mcp-protocol-version: ${Revision.latest.version}$`, "im"))
        const length = Number(/^content-length: (\d+)$/im.exec(answer!)?.[1])
        assert.isAbove(length, 0)
        assert.strictEqual(body!.length, first.startsWith("HEAD") ? 0 : length)
      }),
    20_000
  )
})

describe("a client that is refused and sends on", () => {
  it.live.each(
    [
      ["no HTTP", "hello\r\n\r\n", 400],
      ["another path", head({}, "POST /other HTTP/1.1"), 404],
      ["a tunnel", head({}, "CONNECT localhost:1 HTTP/1.1"), 405]
    ] as const
  )("is read for a while and no longer: %s", ([, first, status]) =>
    Effect.gen(function*() {
      const { port } = yield* listen()
      const socket = yield* connect(port)
      socket.write(first)
      const timer = setInterval(() => void socket.write(chunkOf(10)), 20)
      yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(timer)))
      assert.match(yield* readAll(socket), new RegExp(`^HTTP/1\\.1 ${status} `))
    }))

  it.effect("does not hold up the end of the listener", () =>
    Effect.gen(function*() {
      // Nothing ends because its time is over.
      vi.useFakeTimers({ toFake: ["setTimeout"] })
      yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
      const scope = yield* Scope.make()
      const { port } = yield* Scope.provide(listen(), scope)
      for (const first of ["hello\r\n\r\n", head({}, "CONNECT localhost:1 HTTP/1.1")]) {
        const socket = yield* connect(port, true)
        socket.write(first)
        yield* Effect.promise(() => once(socket, "data"))
      }
      yield* Scope.close(scope, Exit.void)
    }))
})
