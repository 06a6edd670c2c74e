/** What every HTTP transport does, on real sockets: one suite for all of them. */
import { assert, describe, expect, it } from "@effect/vitest"
import type * as HttpTransport from "@fairlead/client/HttpTransport"
import type * as McpClient from "@fairlead/client/McpClient"
import type * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import * as Revision from "@fairlead/protocol/Revision"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as net from "node:net"
import { deadPort, event, events, hits, json, type Peer, peer, progress, result } from "./peer.ts"
import { Route, Search } from "./tools.ts"

/** A client of a URL over the transport under test. */
export type ClientOf = (
  url: string,
  options?: Partial<HttpTransport.Options>
) => Effect.Effect<McpClient.Client, McpClientError.McpClientError, Scope.Scope>

const search = (client: McpClient.Client) => client.callResult(Search, { query: "a" })
const titles = (client: McpClient.Client) => Effect.map(client.call(Search, { query: "a" }), ({ titles }) => titles)

const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    for (let i = 0; i < 500 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(condition()).toBe(true)
  })

export const httpBehaviour = (
  name: string,
  clientOf: ClientOf,
  /** Timers of the platform may outlive the transport. */
  leavesTimers = false
) => {
  describe(name, () => {
    const connect = (target: Peer, options: Partial<HttpTransport.Options> = {}) => clientOf(target.url, options)

    describe("requests", () => {
      it.live(
        verifies(
          "HTTP-5",
          "HTTP-6",
          "HTTP-7",
          "HDR-1",
          "HDR-5",
          "HDR-7@client",
          "VER-1",
          "BASE-18@client",
          "snodo/promise/http_headers_shared_policy",
          "snodo/promise/http_one_post",
          "snodo/promise/http_both_media_types",
          "TR-2"
        )("are POSTs of one message with the headers of the revision"),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) =>
              json(
                response,
                request.message.method === "tools/call"
                  ? result(request)
                  : result(request, { tools: [] })
              )
            )
            const client = yield* connect(target)
            yield* search(client).pipe(Call.withCorrelation("order-42"))
            yield* client.listTools
            const [call, list] = target.received
            assert(call !== undefined && list !== undefined)
            expect(call.method).toBe("POST")
            expect(call.path).toBe("/mcp")
            expect(call.headers["content-type"]).toBe("application/json")
            expect(call.headers.accept).toBe("application/json, text/event-stream")
            expect(call.headers["mcp-protocol-version"]).toBe(Revision.latest.version)
            // What the headers repeat stands in the body.
            const meta = call.message.params["_meta"]
            expect(meta[Revision.meta.protocolVersion]).toBe(Revision.latest.version)
            expect(meta[Call.metaKeys.correlation]).toBe("order-42")
            expect(call.message.params["name"]).toBe("search_docs")
            expect(call.headers["mcp-method"]).toBe("tools/call")
            expect(call.headers["mcp-name"]).toBe("search_docs")
            expect(call.headers["x-correlation-id"]).toBe("order-42")
            expect(call.message.jsonrpc).toBe("2.0")
            expect(Array.isArray(call.message)).toBe(false)
            expect(list.headers["mcp-method"]).toBe("tools/list")
            expect(list.headers).not.toHaveProperty("mcp-name")
          })
      )

      it.live(
        verifies(
          "HDR-11@client",
          "HDR-14",
          "HDR-15",
          "HDR-16",
          "snodo/promise/param_headers_by_definition",
          "GAP-16@client"
        )(
          "repeat annotated arguments, encoded where they are not plain"
        ),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) =>
              json(response, result(request, { content: [], structuredContent: { at: "2020-01-02T00:00:00.000Z" } }))
            )
            const client = yield* connect(target)
            for (const region of ["eu-west", " padded ", "Hello, 世界", "line1\nline2", ""]) {
              yield* client.call(Route, { region })
            }
            expect(target.received.map(({ headers }) => headers["mcp-param-region"])).toEqual([
              "eu-west",
              "=?base64?IHBhZGRlZCA=?=",
              "=?base64?SGVsbG8sIOS4lueVjA==?=",
              "=?base64?bGluZTEKbGluZTI=?=",
              ""
            ])
          })
      )

      it.live("carry no trace headers, whatever tracer there is", () =>
        Effect.gen(function*() {
          const target = yield* peer((request, response) => json(response, result(request)))
          const client = yield* connect(target)
          yield* search(client).pipe(Effect.withSpan("outer"))
          const { headers } = target.received[0]!
          expect(headers).not.toHaveProperty("traceparent")
          expect(headers).not.toHaveProperty("b3")
        }))

      it.live(
        verifies("snodo/promise/http_connection_per_request")("run at once over a few connections, and reuse them"),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => json(response, result(request)))
            const client = yield* connect(target)
            for (let i = 0; i < 100; i++) yield* search(client)
            expect(target.connections.opened).toBeLessThanOrEqual(2)
            yield* Effect.all(Array.from({ length: 20 }, () => search(client)), { concurrency: "unbounded" })
            expect(target.received.length).toBe(120)
          })
      )
    })

    describe("JSON answers", () => {
      it.live(
        verifies("HTTP-10@client", "client/http", "snodo/connect/http")("any JSON media type, parsed"),
        () =>
          Effect.gen(function*() {
            const types = ["application/json", "Application/JSON; charset=UTF-8", "application/vnd.mcp+json"]
            for (const type of types) {
              const target = yield* peer((request, response) =>
                json(response, result(request), 200, { "content-type": type })
              )
              expect(yield* titles(yield* connect(target))).toEqual(["a"])
            }
          })
      )

      it.live("arrive in any pieces, with a byte order mark and characters cut", () =>
        Effect.gen(function*() {
          const target = yield* peer(async (request, response) => {
            response.writeHead(200, { "content-type": "application/json" })
            for (const byte of Buffer.from(`\ufeff${JSON.stringify(result(request, hits("zwölf 🌍")))}`)) {
              response.write(Buffer.of(byte))
              if (byte > 127) await new Promise((resolve) => setTimeout(resolve, 1))
            }
            response.end()
          })
          expect(yield* titles(yield* connect(target))).toEqual(["zwölf 🌍"])
        }))

      const limit = 4096
      const padded = (request: Parameters<typeof result>[0], bytes: number) => {
        const text = JSON.stringify(result(request, { ...hits(), padding: "" }))
        return text.replace("\"padding\":\"\"", `"padding":"${"x".repeat(bytes - text.length)}"`)
      }
      const sizes = [200, 500].flatMap((status) =>
        (["declared", "chunked"] as const).flatMap((framing) =>
          ([limit, limit + 1] as const).map((bytes) => ({ status, framing, bytes, passes: bytes === limit }))
        )
      )
      it.live.each(sizes)(
        verifies(
          "client/with_max_response_bytes",
          "client/reason/response_too_large",
          "client/kind/too_large",
          "snodo/option/max_response_bytes",
          "snodo/promise/limit_every_status",
          "snodo/error/max_response_bytes"
        )("a limit in bytes: status $status, $framing, $bytes bytes, passes $passes"),
        ({ bytes, framing, passes, status }) =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => {
              const text = padded(request, bytes)
              expect(Buffer.byteLength(text)).toBe(bytes)
              const length = framing === "declared" ? { "content-length": String(bytes) } : {}
              response.writeHead(status, { "content-type": "application/json", ...length })
              for (let i = 0; i < text.length; i += 1000) response.write(text.slice(i, i + 1000))
              response.end()
            })
            const client = yield* connect(target, { maxResponseBytes: limit })
            if (passes) return expect((yield* search(client))._tag).toBe("Succeeded")
            const error = yield* Effect.flip(search(client))
            assert(error.reason._tag === "ResponseTooLarge")
            expect(error.reason.limit).toBe(limit)
            expect(error.evidence).toBe("MaybeSent")
          })
      )

      it.live(
        verifies("snodo/promise/limit_content_length")(
          "a declared length over the limit is refused before the body comes"
        ),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((_request, response) => {
              response.writeHead(200, { "content-type": "application/json", "content-length": String(limit + 1) })
              response.flushHeaders()
            })
            const error = yield* Effect.flip(search(yield* connect(target, { maxResponseBytes: limit })))
            expect(error.code).toBe("response_too_large")
            yield* Effect.promise(() => target.received[0]!.closed)
          })
      )

      it.live(
        verifies(
          "client/default/max_response_bytes",
          "snodo/default/max_response_bytes",
          "snodo/promise/limit_while_reading"
        )("an endless body is cut when it passes the limit, and the next call works"),
        () =>
          Effect.gen(function*() {
            let endless = true
            const target = yield* peer((request, response) => {
              if (!endless) return json(response, result(request))
              response.writeHead(200, { "content-type": "application/json" })
              const more = () => {
                while (!response.destroyed && response.write("[".repeat(1000)));
                if (!response.destroyed) response.once("drain", more)
              }
              more()
            })
            const client = yield* connect(target)
            const error = yield* Effect.flip(search(client))
            assert(error.reason._tag === "ResponseTooLarge")
            expect(error.reason.limit).toBe(1024 * 1024)
            endless = false
            expect(yield* titles(client)).toEqual(["a"])
          })
      )

      const broken: ReadonlyArray<readonly [string, string]> = [
        ["no JSON", "{"],
        ["empty", ""],
        ["null", "null"],
        ["a batch", "[]"],
        ["another version of JSON-RPC", "{\"jsonrpc\":\"1.0\",\"id\":ID,\"result\":{}}"],
        ["no version", "{\"id\":ID,\"result\":{}}"],
        [
          "both result and error",
          "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{},\"error\":{\"code\":1,\"message\":\"x\"}}"
        ],
        ["neither", "{\"jsonrpc\":\"2.0\",\"id\":ID}"],
        ["a result that is no object", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":5}"],
        ["an error without a code", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"message\":\"x\"}}"],
        ["an error without a message", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":1}}"],
        ["a result without an id", "{\"jsonrpc\":\"2.0\",\"result\":{}}"],
        ["the id as text", "{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"result\":{}}"],
        ["another id", "{\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":{}}"],
        ["an error with another id", "{\"jsonrpc\":\"2.0\",\"id\":999999,\"error\":{\"code\":1,\"message\":\"x\"}}"],
        ["a request", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"method\":\"ping\"}"],
        ["a notification", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}"],
        ["too deep", `{"jsonrpc":"2.0","id":ID,"result":{"a":${"[".repeat(100)}${"]".repeat(100)}}}`],
        ["bytes that are not UTF-8", "\xff"]
      ]
      it.live.each(broken)(
        verifies("client/kind/protocol", "BASE-2@client")("a body that breaks the protocol: %s"),
        ([_name, body]) =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => {
              response.writeHead(200, { "content-type": "application/json" })
              response.end(Buffer.from(body.replaceAll("ID", String(request.message.id)), "latin1"))
            })
            const error = yield* Effect.flip(search(yield* connect(target)))
            expect(error.code).toBe("malformed_response")
          })
      )

      it.live.each(["text/html", "text/plain; x=application/json", "application/jsonp", "nonsense"])(
        "the media type %s is neither",
        (type) =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) =>
              json(response, result(request), 200, { "content-type": type })
            )
            expect((yield* Effect.flip(search(yield* connect(target)))).code).toBe("malformed_response")
          })
      )
    })

    describe("statuses", () => {
      it.live.each([200, 400, 404, 429, 500, 503])(
        verifies("client/reason/rpc_error")("a JSON-RPC error wins over status %i, which it keeps"),
        (status) =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) =>
              json(
                response,
                { jsonrpc: "2.0", id: request.message.id, error: { code: -32004, message: "no" } },
                status,
                { "retry-after": "5" }
              )
            )
            const error = yield* Effect.flip(search(yield* connect(target)))
            assert(error.reason._tag === "RpcError")
            expect({ ...error.reason }).toMatchObject({ code: -32004, text: "no", status, retryAfter: "5" })
            expect(error.isRetryable({ idempotent: false })).toBe(status === 429 || status === 503)
          })
      )

      it.live.each([{}, { id: null }])(
        verifies("GAP-12@client")("an error with the id %j belongs to its POST"),
        (id) =>
          Effect.gen(function*() {
            const target = yield* peer((_request, response) =>
              json(response, { jsonrpc: "2.0", ...id, error: { code: -32700, message: "no" } }, 400)
            )
            const error = yield* Effect.flip(search(yield* connect(target)))
            expect(error.code).toBe("rpc_error.-32700")
          })
      )

      it.live.each([400, 401, 403, 404, 405, 413, 429, 500, 502, 503])(
        verifies("client/reason/http_status", "client/kind/rejected")("status %i without a message"),
        (status) =>
          Effect.gen(function*() {
            for (
              const [type, body] of [["text/plain", "oops"], ["application/json", "{\"error\":\"x\"}"], [undefined, ""]]
            ) {
              const target = yield* peer((_request, response) => {
                response.writeHead(status, {
                  ...type === undefined ? {} : { "content-type": type },
                  "www-authenticate": "Bearer realm=\"docs\"",
                  "retry-after": "7"
                })
                response.end(body)
              })
              const error = yield* Effect.flip(search(yield* connect(target)))
              expect(error.code).toBe(`http_status.${status}`)
              assert(error.reason._tag === "HttpStatus")
              expect(error.reason.retryAfter).toBe("7")
              expect(error.reason.wwwAuthenticate).toBe(
                status === 401 || status === 403 ? "Bearer realm=\"docs\"" : undefined
              )
              expect(error.evidence).toBe("Completed")
            }
          })
      )

      it.live(
        verifies("GAP-28")("404 is what it says: a method that is not there, or nothing that speaks the protocol"),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => {
              const { id, method } = request.message
              if (method === "tools/call") return json(response, result(request))
              if (method === "prompts/list") {
                return json(response, "nothing here", 404, { "content-type": "text/plain" })
              }
              json(response, { jsonrpc: "2.0", id, error: { code: -32601, message: "x" } }, 404)
            })
            const client = yield* connect(target)
            const listen = Effect.scoped(client.listen({ toolsListChanged: true }, { reconnect: true }))
            expect((yield* Effect.flip(listen)).code).toBe("rpc_error.-32601")
            expect((yield* Effect.flip(client.listPrompts)).code).toBe("http_status.404")
            // Nothing is begun anew, and nothing is lost.
            expect(yield* titles(client)).toEqual(["a"])
            expect(target.received.map(({ message }) => message.method)).toEqual([
              "subscriptions/listen",
              "prompts/list",
              "tools/call"
            ])
          })
      )

      it.live.each([301, 302, 303, 307, 308])(
        "redirect %i to another origin is not followed, its target is named",
        (status) =>
          Effect.gen(function*() {
            const other = yield* peer((request, response) => json(response, result(request)))
            const target = yield* peer((_request, response) => {
              response.writeHead(status, { location: other.url })
              response.end()
            })
            const error = yield* Effect.flip(search(yield* connect(target, { headers: [["x-api-key", "s3cret"]] })))
            assert(error.reason._tag === "HttpStatus")
            expect(error.reason.status).toBe(status)
            expect(error.reason.location).toBe(other.url)
            expect(error.message).not.toContain(other.url)
            expect(other.received).toEqual([])
          })
      )

      it.live.each([307, 308])(
        "redirect %i to the same origin is followed, as the same request",
        (status) =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => {
              if (request.path === "/c") return json(response, result(request))
              response.writeHead(status, {
                location: request.path === "/mcp" ? "/a" : request.path === "/a" ? "b" : "/c"
              })
              response.end("over there")
            })
            const client = yield* connect(target, { headers: [["x-api-key", "s3cret"]] })
            expect(yield* titles(client)).toEqual(["a"])
            expect(target.received.map(({ path }) => path)).toEqual(["/mcp", "/a", "/b", "/c"])
            const [first] = target.received
            for (const { headers, method, text } of target.received) {
              expect({ headers, method, text }).toEqual({
                headers: first!.headers,
                method: first!.method,
                text: first!.text
              })
            }
          })
      )

      it.live("the fourth redirect is not followed", () =>
        Effect.gen(function*() {
          let hops = 0
          const target = yield* peer((_request, response) => {
            response.writeHead(307, { location: `/${++hops}` })
            response.end()
          })
          const error = yield* Effect.flip(search(yield* connect(target)))
          assert(error.reason._tag === "HttpStatus")
          expect(error.reason).toMatchObject({ status: 307, location: "/4" })
          expect(target.received.length).toBe(4)
        }))

      it.live("a call that was redirected is cancelled where it waits, and lost there without a claim", () =>
        Effect.gen(function*() {
          let breaks = false
          const target = yield* peer((request, response) => {
            if (request.path === "/next") return breaks ? void response.destroy() : undefined
            response.writeHead(307, { location: "/next" })
            response.end()
          })
          const client = yield* connect(target)
          const fiber = yield* Effect.forkChild(search(client))
          yield* until(() => target.received.length === 2)
          yield* Fiber.interrupt(fiber)
          yield* Effect.promise(() => target.received[1]!.closed)
          breaks = true
          expect((yield* Effect.flip(search(client))).code).toBe("connection_closed.maybe_sent")
        }))

      it.live.each([202, 204])(
        "status %i without a body is no answer to a request",
        (status) =>
          Effect.gen(function*() {
            const target = yield* peer((_request, response) => {
              response.writeHead(status)
              response.end()
            })
            expect((yield* Effect.flip(search(yield* connect(target)))).code).toBe("malformed_response")
          })
      )
    })

    describe("event streams", () => {
      it.live(
        verifies("HTTP-10@client", "HTTP-16@client", "HTTP-17", "HTTP-18")(
          "progress in order, comments and foreign events ignored, also in the chunk of the answer"
        ),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => {
              events(response)
              response.end(
                ": comment\n\nid: 5\nretry: 10\n\nevent: ping\ndata: {\"a\":1}\n\ndata:\n\ndata: {\"type\":\"heartbeat\"}\n\n" +
                  event(progress(request, 1)) + event(progress(request, 2)) + event(progress(request, 3)) +
                  event({ jsonrpc: "2.0", id: 77, method: "ping" }) +
                  event(result(request))
              )
            })
            const seen: Array<number> = []
            const found = yield* titles(yield* connect(target)).pipe(
              Call.withProgress(({ progress }) =>
                Effect.andThen(Effect.yieldNow, Effect.sync(() => seen.push(progress)))
              )
            )
            expect(found).toEqual(["a"])
            expect(seen).toEqual([1, 2, 3])
          })
      )

      it.live(
        verifies("snodo/promise/http_stream_as_it_arrives")("progress is heard while the call runs"),
        () =>
          Effect.gen(function*() {
            const heard = yield* Deferred.make<void>()
            let finish: (() => void) | undefined
            const target = yield* peer((request, response) => {
              events(response)
              response.write(event(progress(request, 1)))
              finish = () => response.end(event(result(request)))
            })
            const fiber = yield* titles(yield* connect(target)).pipe(
              Call.withProgress(() => Deferred.succeed(heard, undefined)),
              Effect.forkChild
            )
            yield* Deferred.await(heard)
            expect(fiber.pollUnsafe()).toBeUndefined()
            finish!()
            expect(yield* Fiber.join(fiber)).toEqual(["a"])
          })
      )

      it.live(
        verifies("snodo/promise/http_returns_at_answer")(
          "the call ends at its answer though the stream stays open, which is then closed"
        ),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => {
              events(response)
              response.write(event(result(request)))
            })
            const client = yield* connect(target)
            const before = performance.now()
            expect(yield* titles(client)).toEqual(["a"])
            expect(performance.now() - before).toBeLessThan(240)
            yield* Effect.promise(() => target.received[0]!.closed)
          })
      )

      it.live("200 calls answered by event streams that end share a few connections", () =>
        Effect.gen(function*() {
          const target = yield* peer((request, response) => {
            events(response)
            response.write(event(result(request)))
            setImmediate(() => response.end())
          })
          const client = yield* connect(target)
          for (let i = 0; i < 200; i++) yield* search(client)
          expect(target.connections.opened).toBeLessThanOrEqual(10)
        }))

      it.live(
        verifies("HTTP-19", "CAN-10")("a stream that ends without the answer has lost it"),
        () =>
          Effect.gen(function*() {
            for (const last of ["", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"res"]) {
              const target = yield* peer((request, response) => {
                events(response)
                response.end(event(progress(request, 1)) + last)
              })
              const error = yield* Effect.flip(search(yield* connect(target)))
              expect(error.code).toBe("connection_closed.maybe_sent")
              expect(target.received.length).toBe(1)
            }
          })
      )

      it.live("a last answer that only lacks its blank line counts", () =>
        Effect.gen(function*() {
          for (const ending of ["", "\n", "\r", "\r\n"]) {
            const target = yield* peer((request, response) => {
              events(response)
              response.end(`data: ${JSON.stringify(result(request))}${ending}`)
            })
            expect(yield* titles(yield* connect(target))).toEqual(["a"])
          }
        }))

      it.live("an error in the stream ends the call", () =>
        Effect.gen(function*() {
          const target = yield* peer((request, response) => {
            events(response)
            response.end(event({ jsonrpc: "2.0", id: request.message.id, error: { code: -32603, message: "x" } }))
          })
          expect((yield* Effect.flip(search(yield* connect(target)))).code).toBe("rpc_error.-32603")
        }))

      it.live.each<readonly [string, { readonly id: unknown; readonly result?: unknown; readonly error?: unknown }]>([
        ["another id", { id: 999_999, result: hits() }],
        ["an error with another id", { id: "x", error: { code: 1, message: "x" } }],
        ["our id with a broken result", { id: "ID", result: 5 }]
      ])("%s in the stream breaks the protocol", ([_name, message]) =>
        Effect.gen(function*() {
          const target = yield* peer((request, response) => {
            events(response)
            const { id } = message
            response.write(event({ jsonrpc: "2.0", ...message, id: id === "ID" ? request.message.id : id }))
          })
          expect((yield* Effect.flip(search(yield* connect(target)))).code).toBe("malformed_response")
        }))

      it.live.each([{ over: 0, passes: true }, { over: 1, passes: false }])(
        verifies("snodo/promise/limit_event_stream")(
          "the limit holds for each event, in bytes: $over over, passes $passes"
        ),
        ({ over, passes }) =>
          Effect.gen(function*() {
            const limit = 2000
            for (const cut of [1, 100_000]) {
              const target = yield* peer(async (request, response) => {
                events(response)
                const text = JSON.stringify(result(request, { ...hits("ü"), padding: "" }))
                const bytes = Buffer.byteLength(text)
                const full = text.replace("\"padding\":\"\"", `"padding":"${"x".repeat(limit + over - bytes)}"`)
                expect(Buffer.byteLength(full)).toBe(limit + over)
                const all = Buffer.from(event(progress(request, 1)).repeat(50) + `data: ${full}\n\n`)
                if (cut > all.length) return response.end(all)
                for (let i = 0; i < all.length; i += 97) {
                  response.write(all.subarray(i, i + 97))
                  await new Promise((resolve) => setImmediate(resolve))
                }
                response.end()
              })
              const client = yield* connect(target, { maxResponseBytes: limit })
              const exit = yield* Effect.exit(titles(client))
              if (passes) expect(exit).toEqual(Exit.succeed(["ü"]))
              else {
                const error = yield* Effect.flip(search(client))
                expect(error.code).toBe("response_too_large")
              }
            }
          })
      )

      it.live(
        verifies("snodo/promise/limit_event_stream")("a stream of small events is cut at `maxStreamBytes`"),
        () =>
          Effect.gen(function*() {
            const target = yield* peer((request, response) => {
              events(response)
              const more = () => {
                while (!response.destroyed && response.write(event(progress(request, 1))));
                if (!response.destroyed) response.once("drain", more)
              }
              more()
            })
            const error = yield* Effect.flip(search(yield* connect(target, { maxStreamBytes: 50_000 })))
            assert(error.reason._tag === "ResponseTooLarge")
            expect(error.reason.limit).toBe(50_000)
            yield* Effect.promise(() => target.received[0]!.closed)
          })
      )

      it.live("an event that never ends is cut at the limit", () =>
        Effect.gen(function*() {
          const target = yield* peer((_request, response) => {
            events(response)
            response.write("data: ")
            const more = () => {
              while (!response.destroyed && response.write("x".repeat(1000)));
              if (!response.destroyed) response.once("drain", more)
            }
            more()
          })
          const error = yield* Effect.flip(search(yield* connect(target, { maxResponseBytes: 5000 })))
          expect(error.code).toBe("response_too_large")
          yield* Effect.promise(() => target.received[0]!.closed)
        }))
    })

    describe("ends of a call", () => {
      it.live(
        verifies(
          "client/promise/cancellation_http",
          "client/promise/next_call_reconnects",
          "CAN-1@client",
          "client/promise/deadline_closes_call"
        )("deadline, token and interruption close the response, and the next call works"),
        () =>
          Effect.gen(function*() {
            for (const kind of ["waiting", "json", "events"] as const) {
              let hang = true
              const target = yield* peer((request, response) => {
                if (!hang) return json(response, result(request))
                if (kind === "waiting") return
                if (kind === "events") events(response)
                else response.writeHead(200, { "content-type": "application/json" })
                response.write(kind === "events" ? ": open\n\n" : "{")
              })
              const client = yield* connect(target)
              const token = yield* Call.makeCancellationToken
              const ways: ReadonlyArray<(call: ReturnType<typeof search>) => Effect.Effect<unknown, unknown>> = [
                (call) => Effect.flip(call.pipe(Call.withDeadline("100 millis"))),
                (call) =>
                  Effect.all([
                    Effect.flip(call.pipe(Call.withCancellation(token))),
                    Effect.andThen(Effect.sleep("100 millis"), token.cancel)
                  ], { concurrency: "unbounded" }),
                (call) =>
                  Effect.flatMap(Effect.forkChild(call), (fiber) =>
                    Effect.andThen(Effect.sleep("100 millis"), Fiber.interrupt(fiber)))
              ]
              for (const [i, way] of ways.entries()) {
                hang = true
                yield* way(search(client))
                yield* Effect.promise(() =>
                  target.received[i * 2]!.closed
                )
                hang = false
                expect(yield* titles(client)).toEqual(["a"])
              }
            }
          })
      )

      it.live(
        verifies("client/reason/connect_failed", "client/kind/unreachable")("a refused port: nothing was sent"),
        () =>
          Effect.gen(function*() {
            const port = yield* deadPort
            const client = yield* clientOf(`http://127.0.0.1:${port}/mcp`)
            const error = yield* Effect.flip(search(client).pipe(Call.withCorrelation("order-42")))
            assert(error.reason._tag === "ConnectFailed")
            expect(error.reason.detail).toBe("ECONNREFUSED")
            expect(error.evidence).toBe("NotSent")
            expect(error.isRetryable({ idempotent: false })).toBe(true)
            expect(error.correlation).toBe("order-42")
            expect(error.message).not.toContain(String(port))
          })
      )

      it.live("a name that does not resolve: nothing was sent", () =>
        Effect.gen(function*() {
          const client = yield* clientOf("http://nowhere.invalid/mcp")
          const error = yield* Effect.flip(search(client))
          expect(error.code).toBe("connect_failed")
          expect(error.message).not.toContain("nowhere")
        }))

      it.live(
        verifies("client/reason/connection_closed")("a connection that breaks, before and in the answer: maybe sent"),
        () =>
          Effect.gen(function*() {
            for (const start of ["nothing", "headers", "half"] as const) {
              const target = yield* peer((_request, response) => {
                if (start !== "nothing") response.writeHead(200, { "content-type": "application/json" })
                if (start === "headers") response.flushHeaders()
                if (start === "half") response.write("{\"jsonrpc\"")
                setTimeout(() => response.destroy(), 20)
              })
              const error = yield* Effect.flip(search(yield* connect(target)))
              expect(error.code).toBe("connection_closed.maybe_sent")
              expect(error.isRetryable({ idempotent: false })).toBe(false)
              expect(error.isRetryable({ idempotent: true })).toBe(true)
              expect(target.received.length).toBe(1)
            }
          })
      )

      it.live("a server that speaks no HTTP: maybe sent", () =>
        Effect.gen(function*() {
          const server = yield* Effect.acquireRelease(
            Effect.promise(() =>
              new Promise<net.Server>((resolve) => {
                const server = net.createServer((socket) => {
                  // After the request has come: before it, clients connect again until the deadline.
                  socket.once("data", () => socket.end("SSH-2.0-OpenSSH\r\n"))
                  socket.on("error", () => {})
                })
                server.listen(0, "127.0.0.1", () => resolve(server))
              })
            ),
            (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
          )
          const { port } = server.address() as net.AddressInfo
          const error = yield* Effect.flip(search(yield* clientOf(`http://127.0.0.1:${port}/`)))
          expect(error.code).toBe("connection_closed.maybe_sent")
        }))

      it.live(
        verifies("client/promise/close_cancels_http", "client/close")("closing the scope ends calls at the server"),
        () =>
          Effect.gen(function*() {
            const target = yield* peer(() => {})
            const scope = yield* Scope.make()
            const client = yield* connect(target).pipe(Scope.provide(scope))
            const fiber = yield* Effect.forkChild(Effect.flip(search(client)))
            yield* until(() => target.received.length === 1)
            yield* Scope.close(scope, Exit.void)
            expect((yield* Fiber.join(fiber)).code).toBe("cancelled.maybe_sent")
            yield* Effect.promise(() => target.received[0]!.closed)
          })
      )

      it.live("nothing is left after the scope: no lingering stream, no connection of an ended call", () =>
        Effect.gen(function*() {
          const target = yield* peer((request, response) => {
            events(response)
            response.write(event(result(request)))
          })
          const scope = yield* Scope.make()
          const client = yield* connect(target).pipe(Scope.provide(scope))
          for (let i = 0; i < 5; i++) yield* search(client)
          yield* Scope.close(scope, Exit.void)
          yield* until(() => target.connections.open === 0)
          yield* until(() => !process.getActiveResourcesInfo().includes("Timeout") || leavesTimers)
        }))
    })
  })
}
