import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import { TestRequest } from "@fairlead/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import * as Path from "node:path"

const fixtures = Path.join(import.meta.dirname, "fixtures")
const certFile = Path.join(fixtures, "tls/cert.pem")
const keyFile = Path.join(fixtures, "tls/key.pem")

const greet = McpServer.tool(Tool.make("greet"), () => Effect.succeed([Content.text("Hello")]))
const endpoint = (options: Partial<McpEndpoint.Options> = {}) =>
  greet.pipe(McpEndpoint.serve({ name: "test", version: "1.0.0", ...options }))

const listenerOf = (options: NodeMcpEndpoint.HttpOptions, own?: Partial<McpEndpoint.Options>) =>
  Effect.map(
    Layer.build(NodeMcpEndpoint.layerHttp(options).pipe(Layer.provide(endpoint(own)))),
    (services) => Context.get(services, NodeMcpEndpoint.HttpListener)
  )

const get = (url: string, options: Http.RequestOptions = {}) =>
  Effect.promise(async () => {
    const [response] = await once(Http.get(url, { agent: false, ...options }), "response") as [Http.IncomingMessage]
    let text = ""
    for await (const chunk of response) text += String(chunk)
    return { status: response.statusCode, text, headers: response.headers }
  })

const startErrorOf = (options: NodeMcpEndpoint.HttpOptions, own?: Partial<McpEndpoint.Options>) =>
  Effect.map(Effect.scoped(Effect.flip(listenerOf(options, own))), (error) => {
    assert.strictEqual(error._tag, "StartError")
    return (error as NodeMcpEndpoint.StartError).reason
  })

/** The server that listens on a port, found among the handles of the process. */
const serverOn = (port: number): Http.Server =>
  // Node tells of its handles under this name alone.
  (process as unknown as { readonly _getActiveHandles: () => ReadonlyArray<unknown> })._getActiveHandles().find((
    handle
  ) =>
    handle instanceof Http.Server && (handle.address() as { readonly port: number } | null)?.port === port
  ) as Http.Server

describe("a listener", () => {
  it.effect(verifies("http/with_tls")("serves https with a certificate and its key"), () =>
    Effect.gen(function*() {
      const { port, url } = yield* listenerOf({ tls: { certFile, keyFile } })
      assert.isTrue(url.startsWith("https://127.0.0.1:"))
      const { body, headers } = TestRequest.make("tools/call", { name: "greet" })
      const answer = yield* Effect.promise(async () => {
        const request = Https.request({
          port,
          host: "127.0.0.1",
          path: "/mcp",
          method: "POST",
          headers,
          ca: Fs.readFileSync(certFile),
          agent: false
        })
        request.end(body)
        const [response] = await once(request, "response") as [Http.IncomingMessage]
        let text = ""
        for await (const chunk of response) text += String(chunk)
        return JSON.parse(text)
      })
      assert.strictEqual(answer.result.content[0].text, "Hello")
    }))

  it.effect(
    verifies(
      "http/config_field/bind_host",
      "http/config_field/bind_port",
      "http/config_field/tls_files",
      "http/start_error/invalid_config"
    )("refuses options that it cannot use, and names them"),
    () =>
      Effect.gen(function*() {
        const cases: ReadonlyArray<readonly [NodeMcpEndpoint.HttpOptions, string]> = [
          [{ tls: { certFile: "/no/such/file", keyFile } }, "tls"],
          [{ tls: { certFile: keyFile, keyFile: certFile } }, "tls"],
          [{ port: 70_000 }, "port"],
          [{ path: "mcp" }, "path"],
          [{ host: "0.0.0.0", allowUnauthenticated: true }, "host"],
          [{ host: "::", allowUnauthenticated: true }, "host"]
        ]
        for (const [options, field] of cases) {
          const reason = yield* startErrorOf(options)
          assert.deepInclude(reason, { _tag: "InvalidConfig", field })
          assert.notInclude(reason.message, "/no/such/file")
        }
      })
  )

  it.effect("is refused on an interface that others reach while nobody is asked who they are", () =>
    Effect.gen(function*() {
      const reason = yield* startErrorOf({ host: "0.0.0.0" }, { allowedHosts: ["mcp.example.com"] })
      assert.strictEqual(reason._tag, "UnauthenticatedNonLoopbackBind")
      const open = { allowedHosts: ["mcp.example.com"] }
      const { port } = yield* listenerOf({ host: "0.0.0.0", allowUnauthenticated: true }, open)
      const verified = yield* listenerOf({ host: "0.0.0.0" }, {
        ...open,
        verify: () => Effect.succeed({ principal: "alice" })
      })
      for (const listener of [port, verified.port]) {
        const url = `http://127.0.0.1:${listener}/mcp`
        assert.strictEqual((yield* get(url, { headers: { host: "mcp.example.com" } })).status, 405)
        assert.strictEqual((yield* get(url, { headers: { host: "other.example.com" } })).status, 403)
      }
    }))

  it.effect("tells of its health where that is asked for", () =>
    Effect.gen(function*() {
      const healthy = yield* listenerOf({ health: true })
      const base = healthy.url.replace("/mcp", "")
      assert.deepInclude(yield* get(`${base}/healthz`), { status: 200, text: "ok" })
      assert.deepInclude(yield* get(`${base}/readyz`), { status: 200, text: "ok" })
      assert.strictEqual((yield* get(`${base}/healthz`, { headers: { host: "evil.example.com" } })).status, 403)
      const silent = yield* listenerOf({})
      assert.strictEqual((yield* get(silent.url.replace("/mcp", "/healthz"))).status, 404)
    }))

  it.effect("that stops is healthy and not ready", () =>
    Effect.gen(function*() {
      const served = endpoint()
      const services = yield* Layer.build(Layer.provideMerge(NodeMcpEndpoint.layerHttp({ health: true }), served))
      const base = Context.get(services, NodeMcpEndpoint.HttpListener).url.replace("/mcp", "")
      yield* Context.get(services, McpEndpoint.McpEndpoint).stop
      assert.deepInclude(yield* get(`${base}/readyz`), { status: 503, text: "not ready" })
      assert.deepInclude(yield* get(`${base}/healthz`), { status: 200, text: "ok" })
    }))

  it.effect("with TLS closes what speaks none, and serves on", () =>
    Effect.gen(function*() {
      const { port, url } = yield* listenerOf({ tls: { certFile, keyFile } })
      for (const bytes of ["GET / HTTP/1.1\r\nhost: localhost\r\n\r\n", "\u0016\u0003\u0001broken"]) {
        const socket = Net.connect(port, "127.0.0.1")
        socket.on("error", () => {})
        const closed = once(socket, "close")
        socket.resume()
        socket.end(bytes)
        yield* Effect.promise(() => closed)
      }
      const answer = yield* Effect.promise(async () => {
        const request = Https.get(url, { ca: Fs.readFileSync(certFile), agent: false })
        const [response] = await once(request, "response") as [Http.IncomingMessage]
        response.resume()
        return response.statusCode
      })
      assert.strictEqual(answer, 405)
    }))

  it.effect("that is supervised has to start once", () =>
    Effect.gen(function*() {
      const first = yield* listenerOf({})
      const error = yield* Effect.flip(Effect.scoped(Layer.build(
        NodeMcpEndpoint.layerSupervised({ port: first.port }, Schedule.recurs(3)).pipe(Layer.provide(endpoint()))
      )))
      assert(error._tag === "StartError")
      assert.strictEqual(error.reason._tag, "BindFailed")
    }))

  it.effect(
    verifies("http/promise/listener_death_reaches_caller")("that ends by itself says so"),
    () =>
      Effect.gen(function*() {
        const listener = yield* listenerOf({})
        const died = yield* Effect.forkChild(Effect.flip(listener.died))
        yield* Effect.yieldNow
        serverOn(listener.port).close()
        assert.strictEqual((yield* Fiber.join(died)).reason._tag, "ListenerDied")
      })
  )

  it.live("that is stopped on purpose fails nobody who waits for its death", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        NodeMcpEndpoint.layerHttp().pipe(Layer.provide(endpoint())),
        scope
      )
      const died = yield* Effect.forkChild(Context.get(services, NodeMcpEndpoint.HttpListener).died)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.sleep(20)
      assert.isUndefined(died.pollUnsafe())
      yield* Fiber.interrupt(died)
    }))

  it.effect(
    verifies("http/promise/listener_death_reaches_caller")("that is launched fails its program when it ends by itself"),
    () =>
      Effect.gen(function*() {
        const before = new Set(ports())
        const program = yield* Effect.forkChild(Effect.flip(NodeMcpEndpoint.launchHttp()(endpoint())))
        let port: number | undefined
        while (port === undefined) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          port = ports().find((candidate) => !before.has(candidate))
        }
        serverOn(port).close()
        const error = yield* Fiber.join(program)
        assert.strictEqual(error._tag, "StartError")
      })
  )

  it.live(
    verifies("http/supervised", "http/named", "http/type/message", "http/type/handler")(
      "that is supervised starts again, and its handle stays valid"
    ),
    () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const services = yield* Layer.buildWithScope(
          NodeMcpEndpoint.layerSupervised({}, Schedule.recurs(1)).pipe(Layer.provide(endpoint())),
          scope
        )
        const listener = Context.get(services, NodeMcpEndpoint.HttpListener)
        const { body, headers } = TestRequest.make("tools/call", { name: "greet" })
        const served = Effect.promise(() =>
          fetch(listener.url, { method: "POST", headers, body }).then((r) => r.status)
        )
        const first = listener.port
        assert.strictEqual(yield* served, 200)
        serverOn(first).close()
        serverOn(first)?.closeAllConnections()
        while (listener.port === first) yield* Effect.sleep(5)
        assert.strictEqual(yield* served, 200)
        // The schedule allows one restart.
        const died = yield* Effect.forkChild(Effect.flip(listener.died))
        const second = serverOn(listener.port)
        second.close()
        second.closeAllConnections()
        assert.strictEqual((yield* Fiber.join(died)).reason._tag, "ListenerDied")
        yield* Scope.close(scope, Exit.void)
      })
  )
})

const ports = (): ReadonlyArray<number> =>
  (process as unknown as { readonly _getActiveHandles: () => ReadonlyArray<unknown> })._getActiveHandles().flatMap(
    (handle) => {
      const address = handle instanceof Http.Server ? handle.address() : null
      return address === null || typeof address === "string" ? [] : [address.port]
    }
  )

describe("a launched program", () => {
  const start = (how: string) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const child = spawn(process.execPath, [
          "--conditions=@fairlead/source",
          Path.join(fixtures, "launch.ts"),
          how
        ])
        for await (const chunk of child.stdout) if (String(chunk).includes("Listening on")) break
        return child
      }),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it.live(`stops on ${signal} and exits with 130`, () =>
      Effect.gen(function*() {
        const child = yield* start("clean")
        const exit = once(child, "exit")
        child.kill(signal)
        assert.deepStrictEqual(yield* Effect.promise(() => exit), [130, null])
      }), 30_000)
  }

  it.live("that does not stop is ended by a second signal", () =>
    Effect.gen(function*() {
      const child = yield* start("hang")
      const exit = once(child, "exit")
      child.kill("SIGTERM")
      yield* Effect.sleep("300 millis")
      assert.isNull(child.exitCode)
      child.kill("SIGTERM")
      assert.deepStrictEqual(yield* Effect.promise(() => exit), [130, null])
    }), 30_000)
})
