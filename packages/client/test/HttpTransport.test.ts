import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, expect, it } from "@effect/vitest"
import * as HttpTransport from "@fairlead/client/HttpTransport"
import type * as McpClient from "@fairlead/client/McpClient"
import type * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import { Transport } from "@fairlead/protocol/Transport"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { FetchHttpClient, HttpBody, HttpClient } from "effect/http"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import { httpBehaviour } from "./support/httpBehaviour.ts"
import { clientOf, json, peer, result } from "./support/peer.ts"
import { Search } from "./support/tools.ts"

const search = (client: McpClient.Client) => client.callResult(Search, { query: "a" })
for (const [platform, layer] of [["fetch", FetchHttpClient.layer], ["undici", NodeHttpClient.layerUndici]] as const) {
  httpBehaviour(
    `HttpTransport on ${platform}`,
    (url, options) => clientOf(url, options, layer),
    platform === "fetch"
  )
}

describe("settings of HttpTransport", () => {
  const make = <R = never>(options: HttpTransport.Options<R>) =>
    HttpTransport.make(options).pipe(Effect.provide(FetchHttpClient.layer), Effect.scoped)

  const badUrls = [
    "",
    "mcp",
    "/mcp",
    "//example.com/mcp",
    "ftp://example.com/",
    "http:/example.com",
    "http:example.com",
    "http://",
    "http:///mcp",
    "http://user@example.com/",
    "http://user:s3cret@example.com/",
    "http://@example.com/",
    "http://example.com/?token=s3cret",
    "http://example.com/?",
    "http://example.com/#s3cret",
    "http://example.com/#",
    "http://example.com\\mcp",
    "http:\\\\example.com",
    "http://example.com/a b",
    " http://example.com/",
    "http://example.com/\n",
    "http://exa\tmple.com/",
    "http://example.com/\u0000",
    "http://example.com:/",
    "http://example.com:99999/",
    "http://example.com:abc/",
    "http://[::1/",
    "http://[zz]/",
    "http://exa%6dple.com/",
    "http://example.com/%zz",
    "http://example.com/%a"
  ]
  it.effect.each(badUrls)(
    verifies("client/config_field/url", "client/promise/url_refusals")(
      "the URL %j is refused, and not repeated"
    ),
    (url) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(make({ url }))
        assert(error.reason._tag === "InvalidConfig")
        expect(error.reason.field).toBe("url")
        expect(JSON.stringify(error) + String(error)).not.toContain("s3cret")
        if (url.length > 10) expect(JSON.stringify(error) + String(error)).not.toContain(url)
      })
  )

  it.effect.each([
    "http://127.0.0.1:3000/mcp",
    "https://example.com",
    "HTTPS://EXAMPLE.com/MCP",
    "http://[::1]:8080/mcp",
    "https://example.com/a%20b/%C3%BC",
    new URL("https://example.com/mcp")
  ])(verifies("client/promise/url_missing_path")("the URL %s is accepted"), (url) =>
    Effect.gen(function*() {
      expect((yield* make({ url })).name).toBe("http")
    }))

  const badHeaders: ReadonlyArray<readonly [string, string, string]> = [
    ["the name of HTTP's", "Host", "x"],
    ["a content header", "Content-Length", "1"],
    ["any content header", "content-language", "de"],
    ["transfer encoding", "Transfer-Encoding", "chunked"],
    ["connection", "CONNECTION", "close"],
    ["what asks before it sends", "Expect", "100-continue"],
    ["a header of the protocol", "MCP-Protocol-Version", "1"],
    ["a session", "Mcp-Session-Id", "1"],
    ["the correlation", "X-Correlation-Id", "1"],
    ["accept", "Accept", "text/html"],
    ["an empty name", "", "1"],
    ["a name that is no token", "x y", "1"],
    ["a name with a line break", "x\r\ny", "1"],
    ["a value with CR", "x-a", "s3cret\r"],
    ["a value with LF", "x-a", "s3cret\nx: y"],
    ["a value with NUL", "x-a", "s3cret\u0000"],
    ["a value that is no bytes", "x-a", "s3cret世"]
  ]
  it.live.each(badHeaders)(
    verifies("client/config_field/headers", "snodo/promise/header_injection_refused")(
      "headers: %s is refused, fixed and computed, without repeating it"
    ),
    ([_name, name, value]) =>
      Effect.gen(function*() {
        const target = yield* peer((request, response) => json(response, result(request)))
        const fixed = yield* Effect.flip(make({ url: target.url, headers: [[name, value]] }))
        const client = yield* clientOf(target.url, { headers: Effect.succeed([[name, value]] as const) })
        const computed = yield* Effect.flip(search(client))
        for (const error of [fixed, computed]) {
          assert(error.reason._tag === "InvalidConfig")
          expect(error.reason.field).toBe("headers")
          expect(error.evidence).toBe("NotSent")
          expect(JSON.stringify(error) + String(error)).not.toContain("s3cret")
        }
        expect(target.received).toEqual([])
      })
  )

  it.live("headers that fail while they are taken are a setting that cannot be used, without their details", () =>
    Effect.gen(function*() {
      const lazy = function*(): Generator<readonly [string, string]> {
        yield ["x-a", "1"]
        throw new Error("s3cret")
      }
      const target = yield* peer((request, response) => json(response, result(request)))
      const fixed = yield* Effect.flip(make({ url: target.url, headers: { [Symbol.iterator]: lazy } }))
      const client = yield* clientOf(target.url, { headers: Effect.sync(lazy) })
      for (const error of [fixed, yield* Effect.flip(search(client))]) {
        expect(error.code).toBe("invalid_config")
        expect(JSON.stringify(error) + String(error)).not.toContain("s3cret")
      }
      expect(target.received).toEqual([])
    }))

  it.live(
    verifies("client/with_headers", "client/promise/headers_lowercase", "snodo/option/headers")(
      "headers go along, computed for each request, names of any case"
    ),
    () =>
      Effect.gen(function*() {
        const target = yield* peer((request, response) => json(response, result(request)))
        let count = 0
        const client = yield* clientOf(target.url, {
          headers: Effect.sync(() => new Map([["Authorization", `Bearer ${++count}`], ["X-Tenant", "acme"]]))
        })
        yield* search(client)
        yield* search(client)
        expect(target.received.map(({ headers }) => [headers.authorization, headers["x-tenant"]])).toEqual([
          ["Bearer 1", "acme"],
          ["Bearer 2", "acme"]
        ])
        const fixed = yield* clientOf(target.url, { headers: [["X-A", "1"], ["x-a", "2"]] })
        yield* search(fixed)
        expect(target.received[2]!.headers["x-a"]).toBe("1, 2")
      })
  )

  it.live("headers are computed with the services of their layer and without the caller's Call", () =>
    Effect.gen(function*() {
      class Token extends Context.Service<Token, string>()("test/Token") {}
      const target = yield* peer((request, response) => json(response, result(request)))
      let seen: Call.Call | undefined
      const headers = Effect.gen(function*() {
        seen = yield* Call.Current
        return [["authorization", yield* Token]] as const
      })
      const service = yield* HttpTransport.make({ url: target.url, headers }).pipe(
        Effect.provide([FetchHttpClient.layer, Layer.succeed(Token, "t")])
      )
      const { make } = yield* Effect.promise(() => import("@fairlead/client/McpClient"))
      const client = yield* make().pipe(Effect.provideService(Transport, service))
      yield* search(client).pipe(Call.withIdempotencyKey("k"), Call.withDeadline("5 seconds"))
      expect(target.received[0]!.headers.authorization).toBe("t")
      expect(seen).toEqual(Call.empty)
    }))

  it.live.each<readonly [string, Effect.Effect<never, unknown>, string]>([
    ["fails", Effect.fail("s3cret"), "invalid_config"],
    ["dies", Effect.die(new Error("s3cret")), "invalid_config"],
    [
      "throws",
      Effect.sync(() => {
        throw new Error("s3cret")
      }),
      "invalid_config"
    ],
    ["is interrupted", Effect.interrupt, "cancelled.not_sent"]
  ])(
    verifies("client/promise/headers_crash")("an effect for headers that %s: nothing is sent"),
    ([_n, headers, code]) =>
      Effect.gen(function*() {
        const target = yield* peer((request, response) => json(response, result(request)))
        const error = yield* Effect.flip(search(yield* clientOf(target.url, { headers })))
        expect(error.code).toBe(code)
        expect(JSON.stringify(error) + String(error)).not.toContain("s3cret")
        expect(target.received).toEqual([])
      })
  )

  it.live(
    verifies("client/promise/headers_within_budget", "client/promise/close_during_headers")(
      "an effect for headers that hangs ends with the call: nothing was sent"
    ),
    () =>
      Effect.gen(function*() {
        let interrupted = 0
        const headers = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
        const scope = yield* Scope.make()
        const client = yield* clientOf("http://127.0.0.1:1/", { headers }).pipe(Scope.provide(scope))
        const late = yield* Effect.flip(search(client).pipe(Call.withDeadline("50 millis")))
        expect(late.code).toBe("timed_out.not_sent")
        const fiber = yield* Effect.forkChild(Effect.flip(search(client)))
        yield* Effect.sleep("20 millis")
        yield* Scope.close(scope, Exit.void)
        expect((yield* Fiber.join(fiber)).code).toBe("cancelled.not_sent")
        expect(interrupted).toBe(2)
      })
  )

  it.effect.each<readonly [string, boolean, Partial<HttpTransport.Options>]>([
    ["http://example.com/mcp", true, {}],
    ["http://10.0.0.1/mcp", true, {}],
    ["http://127.0.0.1.example.com/", true, {}],
    ["http://localhost.example.com/", true, {}],
    ["http://example.com/mcp", false, { allowPlaintextHeaders: true }],
    ["http://example.com/mcp", false, { headers: [] }],
    ["https://example.com/mcp", false, {}],
    ["http://localhost:3000/mcp", false, {}],
    ["http://app.localhost/mcp", false, {}],
    ["http://127.0.0.1/mcp", false, {}],
    ["http://127.8.9.1/mcp", false, {}],
    ["http://2130706433/mcp", false, {}],
    ["http://[::1]/mcp", false, {}]
  ])(
    verifies("client/allow_plaintext_headers", "client/default/plaintext_headers", "client/reason/refused")(
      "secrets to %s: refused %s (%j)"
    ),
    ([url, refused, more]) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(make({ url, headers: [["authorization", "Bearer s3cret"]], ...more }))
        if (!refused) return expect(Exit.isSuccess(exit)).toBe(true)
        const error = yield* Effect.flip(exit as Exit.Exit<never, McpClientError.McpClientError>)
        expect(error.code).toBe("refused")
        expect(error.isRetryable({ idempotent: true })).toBe(false)
      })
  )

  it.effect.each([0, -1, 1.5, NaN, Infinity])(
    verifies("client/config_field/max_response_bytes")("maxResponseBytes %d is refused"),
    (maxResponseBytes) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(make({ url: "http://127.0.0.1/", maxResponseBytes }))
        assert(error.reason._tag === "InvalidConfig")
        expect(error.reason.field).toBe("maxResponseBytes")
      })
  )

  it.live(
    verifies("client/with_http_client", "client/promise/close_borrowed_client")(
      "the program's client is used as it is: its fetch options stay, and it works on after the transport"
    ),
    () =>
      Effect.gen(function*() {
        const target = yield* peer((request, response) => json(response, result(request)))
        const inits: Array<RequestInit> = []
        const fetching: typeof fetch = (input, init) => {
          inits.push(init!)
          return fetch(input, init)
        }
        const configured = FetchHttpClient.layer.pipe(
          Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetching)),
          Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { credentials: "omit", redirect: "follow" }))
        )
        const context = yield* Layer.build(configured)
        const scope = yield* Scope.make()
        const client = yield* clientOf(target.url, {}, Layer.succeedContext(context)).pipe(Scope.provide(scope))
        yield* search(client)
        yield* Scope.close(scope, Exit.void)
        expect(inits[0]).toMatchObject({ credentials: "omit", redirect: "manual" })
        const response = yield* HttpClient.post(target.url, { body: HttpBody.text("{}") }).pipe(
          Effect.provideContext(context)
        )
        expect(response.status).toBe(200)
        expect(inits[1]).toMatchObject({ redirect: "follow" })
      })
  )

  it.live("a client that turns statuses into failures changes nothing", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) =>
        json(response, { jsonrpc: "2.0", id: request.message.id, error: { code: -32601, message: "x" } }, 404)
      )
      const strict = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, HttpClient.filterStatusOk))
      const client = yield* clientOf(target.url, {}, strict.pipe(Layer.provide(FetchHttpClient.layer)))
      expect((yield* Effect.flip(search(client))).code).toBe("rpc_error.-32601")
    }))

  it.live("header values are nowhere but on the wire", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make((options) => {
        lines.push(Logger.formatJson.log(options))
      })
      const target = yield* peer((_request, response) => {
        response.writeHead(500)
        response.end()
      })
      const headers = [["authorization", "Bearer s3cret"]] as const
      const client = yield* clientOf(target.url, { headers })
      const exit = yield* search(client).pipe(
        Effect.tapCause((cause) => Effect.logError("failed", cause)),
        Effect.exit,
        Effect.provide(Logger.layer([logger]))
      )
      expect(target.received[0]!.headers.authorization).toBe("Bearer s3cret")
      expect(JSON.stringify(exit) + String(exit) + lines.join()).not.toContain("s3cret")
    }))
})
