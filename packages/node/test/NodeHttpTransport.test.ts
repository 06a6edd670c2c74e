import { NodeHttpClient } from "@effect/platform-node"
import type * as Undici from "@effect/platform-node/Undici"
import { assert, describe, expect, it } from "@effect/vitest"
import { HttpTransport, McpClient, type McpClientError } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeHttpTransport } from "@fairlead/node"
import { Call, Transport } from "@fairlead/protocol"
import { Config, ConfigProvider, Effect, Exit, Fiber, Layer, type Scope } from "effect"
import * as fs from "node:fs"
import * as http from "node:http"
import * as https from "node:https"
import * as net from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import * as zlib from "node:zlib"
import { httpBehaviour } from "../../client/test/support/httpBehaviour.ts"
import { event, events, json, peer, type Received, result } from "../../client/test/support/peer.ts"
import { Search } from "../../client/test/support/tools.ts"
import { type Certificate, makeAuthority } from "./support/certificates.ts"

const clientOf = (
  url: string,
  options: Partial<NodeHttpTransport.Options> = {}
): Effect.Effect<McpClient.Client, McpClientError.McpClientError, Scope.Scope> =>
  Effect.flatMap(
    NodeHttpTransport.make({ url, ...options }),
    (transport) => Effect.provideService(McpClient.make(), Transport.Transport, transport)
  )

httpBehaviour("NodeHttpTransport", clientOf)

httpBehaviour("NodeHttpTransport on the program's dispatcher", (url, options) =>
  Effect.flatMap(
    Layer.build(
      NodeHttpTransport.layerDispatcher({ url, ...options }).pipe(Layer.provide(NodeHttpClient.layerDispatcher))
    ),
    (transport) => Effect.provideContext(McpClient.make(), transport)
  ))

const search = (client: McpClient.Client) => client.call(Search, { query: "a" })

const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(condition()).toBe(true)
  })

const temporary = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "fairlead-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
)

const listening = <S extends net.Server>(server: S, ...at: [number, string] | [string]) =>
  Effect.acquireRelease(
    Effect.promise(() => new Promise<S>((resolve) => server.listen(...at as [string], () => resolve(server)))),
    () =>
      Effect.promise(() => {
        if (server instanceof http.Server || server instanceof https.Server) server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  )

const portOf = (server: net.Server) => (server.address() as net.AddressInfo).port

const answering = (request: http.IncomingMessage, response: http.ServerResponse) => {
  let text = ""
  request.on("data", (chunk) => text += chunk)
  request.on("end", () => json(response, result({ message: JSON.parse(text) } as Received)))
}

describe("connections", () => {
  it.live("calls beyond `maxConnections` wait: one that ends meanwhile was not sent", () =>
    Effect.gen(function*() {
      const held: Array<() => void> = []
      const target = yield* peer((request, response) => {
        held.push(() => json(response, result(request)))
      })
      const client = yield* clientOf(target.url, { maxConnections: 1 })
      const first = yield* Effect.forkChild(search(client))
      yield* until(() => held.length === 1)
      const late = yield* Effect.flip(search(client).pipe(Call.withDeadline("50 millis")))
      expect("code" in late && late.code).toBe("timed_out.not_sent")
      const interrupted = yield* Effect.forkChild(search(client))
      yield* Effect.sleep("20 millis")
      yield* Fiber.interrupt(interrupted)
      const token = yield* Call.makeCancellationToken
      const waiting = yield* Effect.forkChild(Effect.flip(search(client).pipe(Call.withCancellation(token))))
      yield* Effect.sleep("20 millis")
      yield* token.cancel
      expect(yield* Fiber.join(waiting)).toMatchObject({ code: "cancelled.not_sent" })
      held[0]!()
      expect(yield* Fiber.join(first)).toEqual({ titles: ["a"] })
      const last = yield* Effect.forkChild(search(client))
      yield* until(() => held.length === 2)
      held[1]!()
      expect(yield* Fiber.join(last)).toEqual({ titles: ["a"] })
      expect(target.received.length).toBe(2)
      expect(target.connections.opened).toBe(1)
    }))

  it.live("200 calls at once that are answered by event streams keep to their connections", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) => {
        events(response)
        response.write(event(result(request)))
        setTimeout(() => response.end(), 2)
      })
      const client = yield* clientOf(target.url, { maxConnections: 5 })
      yield* Effect.all(Array.from({ length: 200 }, () => search(client)), { concurrency: "unbounded" })
      expect(target.connections.opened).toBe(5)
    }))

  it.live("a refusal whose body ends keeps its connection", () =>
    Effect.gen(function*() {
      const target = yield* peer((_request, response) => {
        response.writeHead(503, { "content-type": "text/plain" })
        response.end("busy")
      })
      const client = yield* clientOf(target.url)
      for (let i = 0; i < 10; i++) {
        expect(yield* Effect.flip(search(client))).toMatchObject({ code: "http_status.503" })
      }
      expect(target.connections.opened).toBeLessThanOrEqual(2)
    }))

  it.live("a connection without a call closes after `idleTimeout`, whatever the server announces", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) =>
        json(response, result(request), 200, { connection: "keep-alive", "keep-alive": "timeout=600" })
      )
      const client = yield* clientOf(target.url, { idleTimeout: "50 millis" })
      yield* search(client)
      yield* until(() => target.connections.open === 0)
      yield* search(client)
      expect(target.connections.opened).toBe(2)
    }))

  it.live("no content encoding is asked for, and one that comes is told as what it is", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) => {
        const body = zlib.gzipSync(event(result(request)))
        const status = target.received.length === 1 ? 200 : 503
        response.writeHead(status, { "content-type": "text/event-stream", "content-encoding": "gzip" })
        response.end(body)
      })
      const client = yield* clientOf(target.url)
      const error = yield* Effect.flip(search(client))
      assert(error._tag === "McpClientError" && error.reason._tag === "MalformedResponse")
      expect(error.reason.detail).toContain("content encoding")
      expect(yield* Effect.flip(search(client))).toMatchObject({ code: "http_status.503" })
      expect(target.received[0]!.headers["accept-encoding"]).toBe("identity")
    }))

  it.live("a head that comes early is not the answer", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) => {
        response.writeEarlyHints({ link: "</a>; rel=preload" })
        json(response, result(request))
      })
      expect(yield* search(yield* clientOf(target.url))).toEqual({ titles: ["a"] })
    }))

  it.live(
    verifies("client/with_connect_timeout", "snodo/option/connect_timeout")(
      "`connectTimeout` bounds the handshake too: nothing was sent"
    ),
    () =>
      Effect.gen(function*() {
        const silent = yield* listening(
          net.createServer((socket) => socket.on("error", () => {}).resume()),
          0,
          "127.0.0.1"
        )
        const client = yield* clientOf(`https://127.0.0.1:${portOf(silent)}/`, { connectTimeout: "50 millis" })
        const error = yield* Effect.flip(search(client))
        assert(error._tag === "McpClientError" && error.reason._tag === "TimedOut")
        expect({ ...error.reason }).toEqual({ _tag: "TimedOut", evidence: "NotSent", bound: "connect", millis: 50 })
        expect(error.isRetryable({ idempotent: false })).toBe(true)
      })
  )

  it.live("the program's dispatcher reaches a socket of a path, and outlives the transport", () =>
    Effect.gen(function*() {
      const socketPath = path.join(yield* temporary, "mcp.sock")
      yield* listening(http.createServer(answering), socketPath)
      const dispatcher = yield* Layer.build(NodeHttpClient.layerDispatcherOptions({ connect: { socketPath } }))
      for (let i = 0; i < 2; i++) {
        const found = yield* Effect.scoped(
          Effect.flatMap(McpClient.make(), search).pipe(
            Effect.provide(NodeHttpTransport.layerDispatcher({ url: "http://localhost/mcp" })),
            Effect.provideContext(dispatcher)
          )
        )
        expect(found).toEqual({ titles: ["a"] })
      }
    }))
})

describe("the program's dispatcher", () => {
  it.live("is told to leave the time limits to the client, and its errors are not taken for more than they say", () =>
    Effect.gen(function*() {
      const told: Array<Undici.Dispatcher.DispatchOptions> = []
      const failing = (code: string, starts: boolean) =>
        Layer.succeed(NodeHttpClient.Dispatcher, {
          dispatch: (options: Undici.Dispatcher.DispatchOptions, handler: Undici.Dispatcher.DispatchHandler) => {
            told.push(options)
            const controller = { abort: () => {} } as unknown as Undici.Dispatcher.DispatchController
            if (starts) handler.onRequestStart?.(controller, {})
            handler.onResponseError?.(controller, Object.assign(new Error("s3cret"), { code }))
            return true
          }
        } as unknown as Undici.Dispatcher)
      const codeOf = (code: string, starts: boolean) =>
        Effect.scoped(
          Effect.flatMap(McpClient.make(), (client) => Effect.flip(search(client))).pipe(
            Effect.provide(
              NodeHttpTransport.layerDispatcher({ url: "http://localhost/a%20b" }).pipe(
                Layer.provide(failing(code, starts))
              )
            ),
            Effect.map((error) => "code" in error ? error.code : error._tag)
          )
        )
      expect(yield* codeOf("UND_ERR_CONNECT_TIMEOUT", false)).toBe("connect_failed")
      expect(yield* codeOf("ANYTHING", false)).toBe("connect_failed")
      expect(yield* codeOf("ECONNREFUSED", true)).toBe("connection_closed.maybe_sent")
      for (const options of told) {
        expect(options).toMatchObject({
          origin: "http://localhost",
          path: "/a%20b",
          method: "POST",
          headersTimeout: 0,
          bodyTimeout: 0
        })
      }
    }))
})

describe("certificates", () => {
  const authority = makeAuthority("Fairlead's tests")
  const stranger = makeAuthority("somebody else")

  const serving = (certificate: Certificate) =>
    Effect.map(
      listening(https.createServer(certificate, answering), 0, "127.0.0.1"),
      (server) => `https://127.0.0.1:${portOf(server)}/mcp`
    )
  const file = (text: string) =>
    Effect.map(temporary, (folder) => {
      const caFile = path.join(folder, "ca.pem")
      fs.writeFileSync(caFile, text)
      return caFile
    })

  it.live(
    verifies("client/with_ca_cert_file", "snodo/option/ssl")(
      "an authority of one's own is trusted when its file is given"
    ),
    () =>
      Effect.gen(function*() {
        const url = yield* serving(authority.issue(["127.0.0.1"]))
        const caFile = yield* file(`Some words.\n${stranger.cert}\n${authority.cert}`)
        expect(yield* search(yield* clientOf(url, { caFile }))).toEqual({ titles: ["a"] })
        // Also where addresses are chosen.
        const chosen = yield* clientOf(url, { caFile, allowAddress: (address) => address === "127.0.0.1" })
        expect(yield* search(chosen)).toEqual({ titles: ["a"] })
      })
  )

  it.live.each(["none", "of another", "for another name"] as const)(
    verifies("snodo/option/ssl")("a server that is not trusted gets nothing: %s"),
    (which) =>
      Effect.gen(function*() {
        const url = yield* serving(authority.issue([which === "for another name" ? "192.0.2.1" : "127.0.0.1"]))
        const options = which === "none"
          ? {}
          : { caFile: yield* file(which === "of another" ? stranger.cert : authority.cert) }
        const error = yield* Effect.flip(search(yield* clientOf(url, options)))
        assert(error._tag === "McpClientError" && error.reason._tag === "ConnectFailed")
        expect(error.evidence).toBe("NotSent")
        expect(error.reason.detail).toBe(
          which === "for another name" ? "ERR_TLS_CERT_ALTNAME_INVALID" : "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
        )
      })
  )

  it.live.each<readonly [string, string | undefined, string]>([
    ["https://127.0.0.1/", undefined, "it cannot be read"],
    ["https://127.0.0.1/", "no certificate", "it has no certificate"],
    [
      "https://127.0.0.1/",
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
      "a certificate cannot be read"
    ],
    ["http://127.0.0.1/", authority.cert, "the URL is not https"]
  ])(
    verifies("client/config_field/ca_cert_file")("a file that cannot be used: %s, %j"),
    ([url, text, detail]) =>
      Effect.gen(function*() {
        const caFile = text === undefined ? "/no/such/s3cret.pem" : yield* file(text)
        const error = yield* Effect.flip(clientOf(url, { caFile }))
        expect(error.reason).toMatchObject({ _tag: "InvalidConfig", field: "caFile", detail })
        expect(JSON.stringify(error) + String(error)).not.toContain(caFile)
      })
  )
})

describe("addresses", () => {
  it.live("only allowed ones are dialled, of a name and as a host", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) => json(response, result(request)))
      const { port } = new URL(target.url)
      for (const host of ["127.0.0.1", "localhost"]) {
        const asked: Array<string> = []
        const url = `http://${host}:${port}/mcp`
        const allowed = yield* clientOf(url, {
          allowAddress: (address) => {
            asked.push(address)
            return address === "127.0.0.1"
          }
        })
        expect(yield* search(allowed)).toEqual({ titles: ["a"] })
        expect(asked).toContain("127.0.0.1")
      }
      const opened = target.connections.opened
      for (const host of ["127.0.0.1", "localhost"]) {
        const ways = [() => false, () => {
          throw new Error("s3cret")
        }]
        for (const allowAddress of ways) {
          const error = yield* Effect.flip(search(yield* clientOf(`http://${host}:${port}/mcp`, { allowAddress })))
          assert(error._tag === "McpClientError")
          expect(error.code).toBe("refused")
          expect(error.isRetryable({ idempotent: true })).toBe(false)
          expect(JSON.stringify(error) + String(error)).not.toContain("s3cret")
        }
      }
      expect(target.connections.opened).toBe(opened)
      expect(target.received.length).toBe(2)
    }))
})

describe("settings of NodeHttpTransport", () => {
  it.effect.each<readonly [string, Partial<NodeHttpTransport.Options>]>([
    ["url", { url: "ftp://example.com" }],
    ["headers", { headers: [["host", "x"]] }],
    ["maxResponseBytes", { maxResponseBytes: 0 }],
    ["connectTimeout", { connectTimeout: 0 }],
    ["connectTimeout", { connectTimeout: "Infinity" }],
    ["connectTimeout", { connectTimeout: "30 days" }],
    ["idleTimeout", { idleTimeout: -1 }],
    ["maxConnections", { maxConnections: 0 }],
    ["maxConnections", { maxConnections: 1.5 }],
    ["maxConnections", { maxConnections: Infinity }]
  ])(
    verifies("client/config_field/connect_timeout")("%s: %j is refused"),
    ([field, options]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(clientOf("http://127.0.0.1/", options))
        expect(error.reason).toMatchObject({ _tag: "InvalidConfig", field })
      })
  )

  it.effect("they come from the program's configuration, and are checked as always", () => {
    const options = Config.all({ url: Config.String("URL"), maxConnections: Config.Int("CONNECTIONS") })
    const made = (connections: string) =>
      Layer.build(NodeHttpTransport.layerConfig(options)).pipe(
        Effect.provide(ConfigProvider.layer(
          ConfigProvider.fromUnknown({ URL: "http://127.0.0.1/mcp", CONNECTIONS: connections })
        ))
      )
    return Effect.gen(function*() {
      yield* made("4")
      expect(yield* Effect.flip(made("0"))).toMatchObject({
        code: "invalid_config",
        reason: { field: "maxConnections" }
      })
      expect((yield* Effect.flip(made("x")))._tag).toBe("ConfigError")
    })
  })

  it("those of the connections are no options of the portable transport", () => {
    const url = "https://127.0.0.1/mcp"
    // @ts-expect-error: it has no connections of its own
    HttpTransport.layer({ url, maxConnections: 4 })
    // @ts-expect-error
    HttpTransport.layer({ url, caFile: "ca.pem" })
    // @ts-expect-error
    HttpTransport.layer({ url, connectTimeout: "1 second" })
    // @ts-expect-error
    HttpTransport.layer({ url, allowAddress: () => true })
    expect(NodeHttpTransport.layer({ url, maxConnections: 4, connectTimeout: "1 second" })).toBeDefined()
  })

  it.effect("headers over plain http to another machine are refused", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(clientOf("http://example.com/", { headers: [["authorization", "s3cret"]] }))
      assert(Exit.isFailure(exit))
      expect(exit.cause.reasons).toMatchObject([{ error: { code: "refused" } }])
    }))

  it.live("headers that are computed are so for each request", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) => json(response, result(request)))
      let count = 0
      const client = yield* clientOf(target.url, {
        headers: Effect.sync(() => [["Authorization", `Bearer ${++count}`]] as const)
      })
      yield* search(client)
      yield* search(client)
      expect(target.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer 1", "Bearer 2"])
    }))
})

export const types = () => {
  // @ts-expect-error the portable transport has no connections of its own
  HttpTransport.layer({ url: "http://127.0.0.1/", maxConnections: 1 })
  // @ts-expect-error nor has one on the program's dispatcher
  NodeHttpTransport.layerDispatcher({ url: "http://127.0.0.1/", caFile: "/ca.pem" })
}
