import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, type Json, Revision, Tool } from "@fairlead/protocol"
import { Invocation, McpServer, RequestContext } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Http from "node:http"
import { type Answer, raw, rawRequest, send, type SendOptions } from "./support/http.ts"
import { makeGate, serve } from "./support/serve.ts"
import { call, headersOf, type Message, present, request, version } from "./support/wire.ts"

const { codes, meta } = Revision

const Strict = Tool.make("strict", {
  input: Schema.Struct({
    region: Schema.optionalKey(Tool.header("Region")(Schema.String)),
    count: Schema.optionalKey(Tool.header("Count")(Schema.Int)),
    dry: Schema.optionalKey(Tool.header("Dry")(Schema.Boolean)),
    n: Schema.optionalKey(Schema.Int)
  }),
  requiredCapabilities: { sampling: {} }
})

const Plain = Tool.make("plain", { input: Schema.Struct({ n: Schema.optionalKey(Schema.Int) }) })

/** Every tool the checks need; `calls` counts the handlers that were reached. */
const registrations = () => {
  const reached = { calls: 0 }
  const answer = () =>
    Effect.sync(() => {
      reached.calls++
      return []
    })
  return { reached, layer: Layer.mergeAll(McpServer.tool(Strict, answer), McpServer.tool(Plain, answer)) }
}

const sampling = { [meta.clientCapabilities]: { sampling: {} } }

const assertText = (answer: Answer, status: number) => {
  assert.strictEqual(answer.status, status)
  assert.strictEqual(answer.headers["content-type"], "text/plain; charset=utf-8")
  assert.notInclude(answer.text, "jsonrpc")
  assert.match(answer.text, /^[A-Z][^\n]{5,120}\.$/)
}

const assertError = (answer: Answer, status: number, code: number, id: unknown = 1) => {
  assert.deepStrictEqual({ status: answer.status, code: answer.json.error?.code, id: answer.json.id ?? null }, {
    status,
    code,
    id
  })
  assert.strictEqual(answer.headers["content-type"], "application/json")
  assert.strictEqual(answer.json.jsonrpc, "2.0")
  assert.strictEqual(typeof answer.json.error.message, "string")
}

const assertErrorWithoutId = (answer: Answer, status: number, code: number) => {
  assert.notProperty(answer.json, "id")
  assertError(answer, status, code, null)
}

describe("the order of the checks", () => {
  interface Draft {
    message: Json.Object
    body: string
    readonly options: { method?: string; headers: Record<string, string | undefined> }
    full: boolean
  }

  interface Fault {
    readonly name: string
    /** The parts of the request that it spoils; two that spoil the same part cannot be combined. */
    readonly spoils: string
    readonly message?: (message: Json.Object) => Json.Object
    readonly text?: (text: string) => string
    readonly headers?: Record<string, string>
    readonly method?: string
    readonly full?: boolean
    readonly expected: readonly [status: number, code?: number]
  }

  const params = (message: Json.Object) => message["params"] as Json.Object
  const withParams = (change: Record<string, unknown>) => (message: Json.Object): Json.Object => ({
    ...message,
    params: present({ ...params(message), ...change })
  })
  const withMeta = (change: Record<string, unknown>) => (message: Json.Object): Json.Object =>
    withParams({ _meta: present({ ...params(message)["_meta"] as Json.Object, ...change }) })(message)
  const withArguments = (change: Record<string, unknown>) => (message: Json.Object): Json.Object =>
    withParams({ arguments: { ...params(message)["arguments"] as Json.Object, ...change } })(message)

  const limit = 4096
  const deep = JSON.parse("[".repeat(70) + "]".repeat(70)) as Json.Value

  // In the order in which they are looked for.
  const faults: ReadonlyArray<Fault> = [
    { name: "Host", spoils: "host", headers: { host: "evil.example" }, expected: [403] },
    { name: "Origin", spoils: "origin", headers: { origin: "http://evil.example" }, expected: [403] },
    { name: "method", spoils: "http method", method: "PUT", expected: [405] },
    { name: "Content-Type", spoils: "content-type", headers: { "content-type": "text/plain" }, expected: [415] },
    { name: "Accept", spoils: "accept", headers: { accept: "text/html" }, expected: [406] },
    { name: "size", spoils: "size", text: (text) => text + " ".repeat(limit), expected: [413] },
    { name: "no slot", spoils: "slot", full: true, expected: [503] },
    { name: "refused by the context", spoils: "context", headers: { "x-refuse": "yes" }, expected: [401] },
    { name: "JSON", spoils: "text", text: (text) => `${text}}`, expected: [400, codes.parseError] },
    // Depth is counted before the text is parsed, so in a text that is no JSON either, it is found first.
    { name: "depth", spoils: "text", message: withParams({ deep }), expected: [400, codes.invalidRequest] },
    {
      name: "shape",
      spoils: "shape",
      message: (message) => ({ ...message, jsonrpc: "1.0" }),
      expected: [400, codes.invalidRequest]
    },
    {
      name: "required _meta",
      spoils: "capabilities",
      message: withMeta({ [meta.clientCapabilities]: undefined }),
      expected: [400, codes.invalidParams]
    },
    {
      name: "version header",
      spoils: "version header",
      headers: { "mcp-protocol-version": "1" },
      expected: [400, codes.headerMismatch]
    },
    {
      name: "version",
      spoils: "version",
      message: withMeta({ [meta.protocolVersion]: "2" }),
      expected: [400, codes.unsupportedProtocolVersion]
    },
    {
      name: "routing header",
      spoils: "routing",
      headers: { "mcp-method": "tools/list" },
      expected: [400, codes.headerMismatch]
    },
    {
      name: "unknown method",
      spoils: "method",
      message: (message) => ({ ...message, method: "tools/other" }),
      expected: [404, codes.methodNotFound]
    },
    {
      name: "client capability",
      spoils: "capabilities",
      message: withMeta({ [meta.clientCapabilities]: {} }),
      expected: [400, codes.missingRequiredClientCapability]
    },
    {
      name: "parameter header",
      spoils: "parameter header",
      headers: { "mcp-param-region": "us" },
      expected: [400, codes.headerMismatch]
    },
    { name: "arguments", spoils: "arguments", message: withArguments({ n: "x" }), expected: [200] }
  ]

  const draft = (both: ReadonlyArray<Fault>): Draft => {
    let message: Json.Object = call("strict", { region: "eu", n: 1 }, { meta: sampling })
    for (const fault of both) message = fault.message?.(message) ?? message
    const headers: Record<string, string> = { ...headersOf(message), "mcp-param-region": "eu" }
    let body = JSON.stringify(message)
    for (const fault of both) {
      body = fault.text?.(body) ?? body
      Object.assign(headers, fault.headers)
    }
    const method = both.find((fault) => fault.method !== undefined)?.method ?? "POST"
    return { message, body, options: { method, headers }, full: both.some((fault) => fault.full === true) }
  }

  class Tenant extends Context.Service<Tenant, string>()("Tenant") {}

  const contextOf = (info: RequestContext.RequestInfo) =>
    info.header("x-refuse") === undefined
      ? Effect.succeed(Context.make(Tenant, "a"))
      : Effect.fail(new RequestContext.Refused({ status: 401, message: "Who are you" }))

  it.effect(
    verifies("GAP-11", "HDR-2", "GAP-9")("of two mistakes the one that is looked for first is answered, for each pair"),
    () =>
      Effect.gen(function*() {
        const { layer, reached } = registrations()
        const gate = makeGate()
        const Slow = Tool.make("slow")
        const options = { maxBodyBytes: limit, context: contextOf }
        const free = yield* serve(layer, options)
        const full = yield* serve(
          Layer.mergeAll(layer, McpServer.tool(Slow, () => Effect.as(gate.run, []))),
          { ...options, maxConcurrentRequests: 1 }
        )
        const slow = yield* Effect.forkChild(full.send(call("slow")))
        yield* gate.started

        const wrong: Array<string> = []
        let pairs = 0
        for (const [i, first] of faults.entries()) {
          for (const second of [undefined, ...faults.slice(i + 1)]) {
            if (second?.spoils === first.spoils) continue
            pairs++
            const both = second === undefined ? [first] : [first, second]
            const { body, full: isFull, options } = draft(both)
            const answer = yield* send(isFull ? full.url : free.url, body, options)
            const code = answer.text.startsWith("{") ? answer.json.error?.code : undefined
            const [status, expectedCode] = first.expected
            if (answer.status !== status || code !== expectedCode) {
              wrong.push(`${both.map((fault) => fault.name).join(" + ")}: ${answer.status} ${code}`)
            }
          }
        }
        assert.deepStrictEqual(wrong, [])
        assert.isAbove(pairs, 150)
        assert.strictEqual(reached.calls, 0)
        // The request that has none of the mistakes is served.
        const { body, options: sendOptions } = draft([])
        assert.strictEqual((yield* send(free.url, body, sendOptions)).status, 200)
        assert.strictEqual(reached.calls, 1)
        yield* gate.release
        yield* Fiber.join(slow)
      })
  )
})

/** Sends a good request with other headers, and gives the answer. */
const withHeaders = (headers: NonNullable<SendOptions["headers"]>, message: Message = call("plain", { n: 1 })) =>
  Effect.gen(function*() {
    const { layer } = registrations()
    const server = yield* serve(layer)
    return yield* server.send(message, { headers })
  })

describe("Host", () => {
  it.effect.each([
    "localhost",
    "LOCALHOST:1",
    "127.0.0.1",
    "127.0.0.1:65535",
    "[::1]",
    "[::1]:8080"
  ])(verifies("http/default/allowed_hosts")("the loopback name %s is allowed"), (host) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* withHeaders({ host })).status, 200)
    }))

  it.effect.each([
    "evil.example",
    "localhost.evil.example",
    "evil.example:127",
    "127.0.0.1.evil.example",
    "127.0.0.2",
    "user@localhost",
    "localhost/",
    "localhost:1:2",
    "localhost, evil.example",
    "[::2]"
  ])(
    verifies("http/default/allowed_hosts")("the name '%s' gets 403 in a short text"),
    (host) =>
      Effect.gen(function*() {
        assertText(yield* withHeaders({ host }), 403)
      })
  )

  it.effect(
    verifies("http/with_allowed_hosts")("a name of allowedHosts is allowed, with any port and in any case"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer, { allowedHosts: ["Mcp.Example"] })
        for (const host of ["mcp.example", "MCP.EXAMPLE:443", "localhost"]) {
          assert.strictEqual((yield* server.send(call("plain"), { headers: { host } })).status, 200, host)
        }
        assertText(yield* server.send(call("plain"), { headers: { host: "a.mcp.example" } }), 403)
      })
  )

  it.effect("two Host headers, an empty one, and none are not served", () =>
    Effect.gen(function*() {
      const { layer, reached } = registrations()
      const server = yield* serve(layer)
      const body = JSON.stringify(call("plain"))
      const headers: Record<string, string> = { ...headersOf(call("plain")), "content-length": String(body.length) }
      const two = rawRequest(body, { host: "localhost", ...headers, Host: "evil.example", connection: "close" })
      assert.match(yield* raw(server.url, [two]), /^HTTP\/1\.1 403 /)
      const empty = rawRequest(body, { host: "", ...headers, connection: "close" })
      assert.match(yield* raw(server.url, [empty]), /^HTTP\/1\.1 403 /)
      const none = rawRequest(body, { ...headers, connection: "close" }).replace("HTTP/1.1", "HTTP/1.0")
      assert.match(yield* raw(server.url, [none]), /^HTTP\/1\.1 403 /)
      assert.strictEqual(reached.calls, 0)
    }))
})

describe("Origin", () => {
  it.effect.each(["http://localhost", "HTTP://LOCALHOST:80", "http://127.0.0.1:5173", "http://[::1]:1"])(
    verifies("HTTP-2", "GAP-26", "http/default/allowed_origins")("the loopback origin %s is allowed"),
    (origin) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* withHeaders({ origin })).status, 200)
      })
  )

  it.effect.each([
    "null",
    "",
    "http://evil.example",
    "https://localhost",
    "http://localhost.evil.test",
    "http://localhost:80.evil.test",
    "http://localhost@evil.test",
    "http://user:secret@localhost",
    "http://localhost/path",
    "localhost",
    "http://localhost, http://evil.example"
  ])(verifies("HTTP-2")("the origin '%s' gets 403 in a short text"), (origin) =>
    Effect.gen(function*() {
      assertText(yield* withHeaders({ origin }), 403)
    }))

  it.effect(verifies("HTTP-2")("two Origin headers get 403, whichever comes first"), () =>
    Effect.gen(function*() {
      const origins = ["http://localhost", "http://evil.example"]
      assertText(yield* withHeaders({ origin: origins }), 403)
      assertText(yield* withHeaders({ origin: origins.reverse() }), 403)
    }))

  it.effect(
    verifies("http/with_allowed_origins")("allowedOrigins replaces the loopback origins"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer, { allowedOrigins: ["https://App.example"] })
        const from = (origin: string) => server.send(call("plain"), { headers: { origin } })
        assert.strictEqual((yield* from("https://app.example")).status, 200)
        assertText(yield* from("https://app.example:8443"), 403)
        assertText(yield* from("http://localhost"), 403)
        assert.strictEqual((yield* server.send(call("plain"))).status, 200)
      })
  )
})

describe("the HTTP method", () => {
  it.effect.each(["GET", "DELETE", "PUT", "PATCH", "OPTIONS"])(
    verifies("HTTP-4", "HTTP-1", "BC-10")("%s gets 405 and Allow: POST"),
    (method) =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        const answer = yield* server.send("", { method })
        assertText(answer, 405)
        assert.strictEqual(answer.headers.allow, "POST")
      })
  )

  it.effect("HEAD gets 405 without a body", () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      const answer = yield* server.send("", { method: "HEAD" })
      assert.deepStrictEqual([answer.status, answer.text, answer.headers.allow], [405, "", "POST"])
    }))
})

describe("Content-Type", () => {
  it.effect.each([
    "application/json",
    "application/json; charset=UTF-8",
    "Application/JSON",
    "application/json;charset=utf-8",
    " application/json ; x=\"y\""
  ])("%s is read", (type) =>
    Effect.gen(function*() {
      assert.strictEqual((yield* withHeaders({ "content-type": type })).status, 200)
    }))

  it.effect.each([
    undefined,
    "",
    "text/plain",
    "text/plain; x=application/json",
    "application/jsonp",
    "application/x-www-form-urlencoded",
    "application/json, text/plain"
  ])(verifies("GAP-9")("%s gets 415"), (type) =>
    Effect.gen(function*() {
      assertText(yield* withHeaders({ "content-type": type }), 415)
    }))
})

describe("Accept", () => {
  it.effect.each(
    [
      [undefined, "application/json"],
      ["", "application/json"],
      ["*/*", "application/json"],
      ["application/*", "application/json"],
      ["application/json", "application/json"],
      ["APPLICATION/JSON", "application/json"],
      ["text/event-stream;q=0.5, application/json", "application/json"],
      ["text/html, application/json;q=0.1", "application/json"],
      ["*/*;q=0, application/json", "application/json"],
      ["text/event-stream", "text/event-stream"],
      ["text/*", "text/event-stream"],
      ["application/json;q=0, text/event-stream", "text/event-stream"],
      ["application/json;q=0, */*", "text/event-stream"]
    ] as const
  )(verifies("GAP-9", "HTTP-10@server")("%s is answered with %s"), ([accept, type]) =>
    Effect.gen(function*() {
      const answer = yield* withHeaders({ accept })
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers["content-type"], type)
      const message = type === "application/json" ? answer.json : answer.events.at(-1)
      assert.strictEqual(message.result.resultType, "complete")
    }))

  it.effect.each([
    "text/html",
    "application/json;q=0",
    "application/json;q=0.0, text/event-stream;q=0",
    "*/*;q=0",
    "application/xml, text/html;q=0.9"
  ])(verifies("GAP-9")("%s gets 406"), (accept) =>
    Effect.gen(function*() {
      assertText(yield* withHeaders({ accept }), 406)
    }))

  it.effect("a client that takes event streams alone gets an error status with JSON all the same", () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      const answer = yield* server.send(request("tools/other"), { headers: { accept: "text/event-stream" } })
      assertError(answer, 404, codes.methodNotFound)
    }))
})

describe("the size of the body", () => {
  const limit = 1000
  const padded = (size: number) => JSON.stringify(call("plain")).padEnd(size, " ")

  it.effect("a body of exactly the limit is served, declared or chunked", () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer, { maxBodyBytes: limit })
      const headers = headersOf(call("plain"))
      assert.strictEqual((yield* server.send(padded(limit), { headers })).status, 200)
      const chunked = { ...headers, "transfer-encoding": "chunked" }
      assert.strictEqual((yield* server.send(padded(limit), { headers: chunked })).status, 200)
    }))

  it.effect(
    verifies("GAP-9", "http/with_max_body_bytes")("one byte more gets 413, declared or chunked"),
    () =>
      Effect.gen(function*() {
        const { layer, reached } = registrations()
        const server = yield* serve(layer, { maxBodyBytes: limit })
        const headers = headersOf(call("plain"))
        const declared = yield* server.send(padded(limit + 1), { headers })
        assertText(declared, 413)
        assert.include(declared.text, "1000")
        const chunked = { ...headers, "transfer-encoding": "chunked" }
        assertText(yield* server.send(padded(limit + 1), { headers: chunked }), 413)
        assert.strictEqual(reached.calls, 0)
      })
  )

  it.effect("a declared size over the limit is refused before the body is sent", () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer, { maxBodyBytes: limit })
      const head = rawRequest("", { host: "localhost", ...headersOf(call("plain")), "content-length": "1001" })
      assert.match(yield* raw(server.url, [head]), /^HTTP\/1\.1 413 /)
    }))

  it.effect("an empty chunked body is not JSON", () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      const answer = yield* server.send("", {
        headers: { ...headersOf(call("plain")), "transfer-encoding": "chunked" }
      })
      assertErrorWithoutId(answer, 400, codes.parseError)
    }))
})

describe("the slots", () => {
  it.effect(
    verifies("GAP-9", "http/with_max_concurrent_requests")(
      "a request beyond the slots gets 503, retry-after and a short text"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const Slow = Tool.make("slow")
        const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])), { maxConcurrentRequests: 1 })
        const first = yield* Effect.forkChild(server.send(call("slow")))
        yield* gate.started
        const second = yield* server.send(call("slow"))
        assertText(second, 503)
        assert.strictEqual(second.headers["retry-after"], "1")
        yield* gate.release
        assert.strictEqual((yield* Fiber.join(first)).status, 200)
        assert.strictEqual((yield* server.send(call("slow"))).status, 200)
      })
  )
})

describe("the body", () => {
  const post = (body: string | Uint8Array) =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      return yield* server.send(body, { headers: headersOf(call("plain")) })
    })

  it.effect.each(["{", "", "nul", "{\"a\":}", "[1,]", "{}x"])(
    verifies("BASE-2@server", "BASE-11", "BASE-12@server", "BASE-20", "GAP-10", "GAP-12@server")(
      "%s gets 400 with -32700 and no id"
    ),
    (body) =>
      Effect.gen(function*() {
        const answer = yield* post(body)
        assertErrorWithoutId(answer, 400, codes.parseError)
        assert.notProperty(answer.json, "id")
      })
  )

  it.effect(verifies("BASE-2@server")("bytes that are not UTF-8 get 400 with -32700"), () =>
    Effect.gen(function*() {
      const bytes = Buffer.from(JSON.stringify(call("plain", { n: 1 }, { meta: { "a/b": "é" } })), "latin1")
      assertErrorWithoutId(yield* post(bytes), 400, codes.parseError)
    }))

  it.effect(verifies("BASE-2@server")("text beyond ASCII comes and goes unchanged"), () =>
    Effect.gen(function*() {
      const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }), output: Schema.String })
      const server = yield* serve(McpServer.tool(Echo, ({ text }) => Effect.succeed(text)))
      const text = "é — 🙂 世界 \u2028 \\u0000"
      assert.strictEqual((yield* server.send(call("echo", { text }))).json.result.structuredContent, text)
    }))

  it.effect.each([
    "null",
    "1",
    "\"text\"",
    "[]",
    JSON.stringify([call("plain")]),
    JSON.stringify({ ...call("plain"), jsonrpc: "1.0" }),
    JSON.stringify({ ...call("plain"), jsonrpc: undefined }),
    JSON.stringify({ ...call("plain"), method: 1 }),
    JSON.stringify({ ...call("plain"), method: undefined }),
    JSON.stringify({ ...call("plain"), params: [] }),
    JSON.stringify({ ...call("plain"), params: null }),
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":${"[".repeat(64)}${"]".repeat(64)}}}`
  ])(
    verifies("BASE-18@server", "BASE-11", "BASE-12@server", "BASE-20")("%s gets 400 with -32600"),
    (body) =>
      Effect.gen(function*() {
        const answer = yield* post(body)
        assert.deepStrictEqual([answer.status, answer.json.error.code], [400, codes.invalidRequest])
      })
  )

  it.effect.each(["null", "1.5", "true", "{}", "[]"])(
    verifies("BASE-11", "GAP-10")("a request with the id %s gets 400 with -32600, not silence"),
    (id) =>
      Effect.gen(function*() {
        const body = JSON.stringify(call("plain")).replace("\"id\":1", `"id":${id}`)
        const answer = yield* post(body)
        assertErrorWithoutId(answer, 400, codes.invalidRequest)
        assert.notProperty(answer.json, "id")
      })
  )

  it.effect(
    verifies("BASE-11")("an error about a message whose id can be read repeats it"),
    () =>
      Effect.gen(function*() {
        const answer = yield* post(JSON.stringify({ ...call("plain"), id: "x-1", jsonrpc: "1" }))
        assertError(answer, 400, codes.invalidRequest, "x-1")
      })
  )

  it.effect.each(["0", "-1", "\"\"", "\"1\"", "9007199254740993", "\"é\""])(
    verifies("BASE-6", "BASE-11")("the id %s comes back with its type and digits, with a result and with an error"),
    (id) =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        for (const message of [call("plain"), call("nobody"), request("tools/other")]) {
          const body = JSON.stringify(message).replace("\"id\":1", `"id":${id}`)
          const answer = yield* server.send(body, { headers: headersOf(message) })
          assert.include(answer.text, `"id":${id},`)
        }
      })
  )

  it.effect(verifies("http/with_max_json_depth")("nesting up to maxJsonDepth is served"), () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer, { maxJsonDepth: 5 })
      // The message, its params and the arguments are three levels.
      const nested = (levels: number) => call("plain", JSON.parse(`{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`))
      assert.strictEqual((yield* server.send(nested(2))).status, 200)
      assertErrorWithoutId(yield* server.send(nested(3)), 400, codes.invalidRequest)
    }))

  it.effect(
    verifies("BASE-17@server", "HTTP-8", "HTTP-9", "GAP-18@server", "GAP-19")("a notification gets 202 and no body"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        for (const method of ["notifications/cancelled", "notifications/other", "tools/call"]) {
          // No header repeats a notification, and none has to.
          const answer = yield* server.send(JSON.stringify({ jsonrpc: "2.0", method, params: { requestId: 1 } }))
          assert.deepStrictEqual([answer.status, answer.text], [202, ""], method)
          assert.isUndefined(answer.headers["content-type"])
        }
      })
  )

  it.effect.each([
    JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} }),
    JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } }),
    JSON.stringify({ jsonrpc: "2.0", error: { code: 1, message: "no" } })
  ])(
    verifies("BASE-3@server", "HTTP-8")("the response %s, which nobody asked for, gets 400 with -32600"),
    (body) =>
      Effect.gen(function*() {
        const answer = yield* post(body)
        assert.deepStrictEqual([answer.status, answer.json.error.code], [400, codes.invalidRequest])
      })
  )
})

describe("_meta", () => {
  const without = (key: string) => call("plain", {}, { meta: { [key]: undefined } })

  it.effect.each([
    ["no params", { jsonrpc: "2.0", id: 1, method: "server/discover" }],
    ["no _meta", { ...call("plain"), params: { name: "plain" } }],
    ["a _meta that is no object", { ...call("plain"), params: { name: "plain", _meta: [] } }],
    ["no version", without(meta.protocolVersion)],
    ["a version that is no string", call("plain", {}, { meta: { [meta.protocolVersion]: 20260728 } })],
    ["no capabilities", without(meta.clientCapabilities)],
    ["capabilities that are no object", call("plain", {}, { meta: { [meta.clientCapabilities]: [] } })]
  ])(verifies("META-8", "GAP-27")("%s gets 400 with -32602"), ([, message]) =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      const answer = yield* server.send(message as Json.Object, { headers: { "mcp-protocol-version": version } })
      assertError(answer, 400, codes.invalidParams)
    }))

  it.effect.each([
    "a/b/c",
    "1a/b",
    "a-/b",
    "a..b/c",
    "/b",
    "a/-b",
    "a/b_",
    "a b",
    ""
  ])(verifies("META-1@server")("the key '%s' gets 400 with -32602"), (key) =>
    Effect.gen(function*() {
      const answer = yield* withHeaders({}, call("plain", {}, { meta: { [key]: 1 } }))
      assertError(answer, 400, codes.invalidParams)
    }))

  it.effect.each([
    "a",
    "a/",
    "com.example/b",
    "com.example-2/b_c.d-e",
    "com.example.mcp/x",
    "io.modelcontextprotocol/unheardOf",
    "dev.mcp/x",
    "traceparent",
    "0"
  ])(
    verifies("META-1@server", "META-4@server", "BASE-21@server")("the key %s with any value is let through"),
    (key) =>
      Effect.gen(function*() {
        for (const value of [null, 1, "text", { a: [1] }]) {
          const answer = yield* withHeaders({}, call("plain", {}, { meta: { [key]: value } }))
          assert.isUndefined(answer.json.error, `${key}: ${JSON.stringify(value)}`)
        }
      })
  )

  it.effect.each(
    [
      [meta.progressToken, [null, 1.5, true, {}, []]],
      [meta.clientInfo, ["name", {}, { name: "a" }, { name: 1, version: "1" }]],
      [meta.logLevel, ["loud", 3, null]],
      ["io.github.gleam-dream/idempotency-key", ["", "a b", "é", "x".repeat(129), 1, null]]
    ] as const
  )(verifies("META-4@server")("a malformed %s gets -32602"), ([key, values]) =>
    Effect.gen(function*() {
      for (const value of values) {
        const answer = yield* withHeaders({}, call("plain", {}, { meta: { [key]: value } }))
        assert.strictEqual(answer.json.error?.code, codes.invalidParams, JSON.stringify(value))
      }
    }))

  it.effect("a progress token beyond a double has to be an integer too", () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      const sendToken = (token: string) => {
        const message = call("plain", {}, { meta: { [meta.progressToken]: "TOKEN" } })
        return server.send(JSON.stringify(message).replace("\"TOKEN\"", token), { headers: headersOf(message) })
      }
      assert.isUndefined((yield* sendToken("9007199254740993")).json.error)
      assert.strictEqual((yield* sendToken("1.00000000000000000001")).json.error?.code, codes.invalidParams)
    }))

  it.effect(verifies("META-9")("a request that does not name its client is served"), () =>
    Effect.gen(function*() {
      const answer = yield* withHeaders({}, call("plain", {}, { meta: { [meta.clientInfo]: undefined } }))
      assert.strictEqual(answer.json.result.resultType, "complete")
    }))

  it.effect(
    verifies("META-12a", "BASE-21@server")("capabilities that the revision does not define are tolerated"),
    () =>
      Effect.gen(function*() {
        const capabilities = { roots: { listChanged: true }, teleport: {}, sampling: null }
        const answer = yield* withHeaders({}, call("plain", {}, { meta: { [meta.clientCapabilities]: capabilities } }))
        assert.strictEqual(answer.json.result.resultType, "complete")
      })
  )
})

describe("the standard headers", () => {
  it.effect.each(
    [
      ["no version", { "mcp-protocol-version": undefined }],
      ["another version", { "mcp-protocol-version": "another" }],
      ["no method", { "mcp-method": undefined }],
      ["another method", { "mcp-method": "tools/list" }],
      ["the method in capitals", { "mcp-method": "TOOLS/CALL" }],
      ["no name", { "mcp-name": undefined }],
      ["another name", { "mcp-name": "other" }],
      ["the name in capitals", { "mcp-name": "PLAIN" }],
      ["a name in percent form", { "mcp-name": "pl%61in" }],
      ["two names", { "mcp-name": ["plain", "plain"] }],
      ["base64 with bad padding", { "mcp-name": "=?base64?cGxhaW4?=" }],
      ["base64 with a foreign character", { "mcp-name": "=?base64?cGx*aW4=?=" }],
      ["base64 of bytes that are not UTF-8", { "mcp-name": "=?base64?/w==?=" }],
      ["base64 in capitals", { "mcp-name": "=?BASE64?cGxhaW4=?=" }],
      ["the empty form", { "mcp-name": "=?base64?=" }]
    ] as const
  )(
    verifies("HDR-2", "HDR-4", "HDR-7@server", "HDR-8", "BC-11", "TR-2")("%s gets 400 with -32020 and the id"),
    ([, headers]) =>
      Effect.gen(function*() {
        assertError(yield* withHeaders(headers), 400, codes.headerMismatch)
      })
  )

  it.effect(
    verifies("HDR-9")("a name in base64 form is decoded, spaces around values do not count"),
    () =>
      Effect.gen(function*() {
        for (
          const headers of [
            { "mcp-name": "=?base64?cGxhaW4=?=" },
            { "mcp-name": "  plain \t" },
            { "mcp-method": " tools/call ", "mcp-protocol-version": ` ${version}` }
          ]
        ) {
          assert.strictEqual((yield* withHeaders(headers)).status, 200)
        }
      })
  )

  it.effect(verifies("HDR-7@server")("header names count without case"), () =>
    Effect.gen(function*() {
      const { "mcp-method": method, "mcp-name": name } = headersOf(call("plain"))
      const answer = yield* withHeaders({
        "mcp-method": undefined,
        "mcp-name": undefined,
        "MCP-METHOD": method,
        "mCP-nAME": name
      })
      assert.strictEqual(answer.status, 200)
    }))

  it.effect(
    verifies("HDR-8")("a name in raw UTF-8 bytes gets -32020, although its bytes equal the body's"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        const message = call("café")
        const body = Buffer.from(JSON.stringify(message))
        const head = rawRequest("", {
          host: "localhost",
          ...headersOf(message),
          "mcp-name": "café",
          "content-length": String(body.length),
          connection: "close"
        })
        const text = yield* raw(server.url, [Buffer.from(head, "utf8"), body])
        assert.match(text, /^HTTP\/1\.1 400 /)
        assert.include(text, `"code":${codes.headerMismatch}`)
        // In base64 form the same name is found to be no tool.
        assert.strictEqual((yield* server.send(message)).json.error.code, codes.invalidParams)
      })
  )

  it.effect("a name header on a method without a name is not looked at", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* withHeaders({ "mcp-name": "x" }, request("tools/list"))).status, 200)
    }))
})

describe("the parameter headers", () => {
  const strict = (args: Record<string, unknown>, headers: SendOptions["headers"] = {}) =>
    withHeaders(headers, call("strict", args, { meta: sampling }))

  it.effect.each(
    [
      ["a string", { region: "eu" }, { "mcp-param-region": "eu" }],
      ["an empty string", { region: "" }, { "mcp-param-region": "" }],
      ["an empty string in base64 form", { region: "" }, { "mcp-param-region": "=?base64??=" }],
      ["text in base64 form", { region: "世界" }, { "mcp-param-region": "=?base64?5LiW55WM?=" }],
      ["a string of spaces around", { region: "eu" }, { "mcp-param-region": "  eu " }],
      ["an integer", { count: 42 }, { "mcp-param-count": "42" }],
      ["an integer with a fraction of zero", { count: 42 }, { "mcp-param-count": "42.0" }],
      ["an integer with an exponent", { count: 100 }, { "mcp-param-count": "1e2" }],
      ["a negative integer", { count: -7 }, { "mcp-param-count": "-7" }],
      ["a boolean", { dry: true }, { "mcp-param-dry": "true" }],
      ["false", { dry: false }, { "mcp-param-dry": "false" }],
      ["null", { region: null }, {}],
      ["an absent argument", {}, {}],
      ["an unknown header beside it", { region: "eu" }, { "mcp-param-region": "eu", "mcp-param-other": "x" }],
      ["a value without the end of the base64 form", { region: "=?base64?x" }, { "mcp-param-region": "=?base64?x" }]
    ] as const
  )(
    verifies("HDR-11@server", "HDR-17", "GAP-16@server")("%s is repeated rightly"),
    ([, args, headers]) =>
      Effect.gen(function*() {
        const answer = yield* strict(args, headers)
        assert.deepStrictEqual([answer.status, answer.json.error], [200, undefined])
      })
  )

  it.effect.each(
    [
      ["a missing header", { region: "eu" }, {}],
      ["a header without an argument", {}, { "mcp-param-region": "eu" }],
      ["a header for null", { region: null }, { "mcp-param-region": "null" }],
      ["another value", { region: "eu" }, { "mcp-param-region": "us" }],
      ["another case", { region: "eu" }, { "mcp-param-region": "EU" }],
      ["another integer", { count: 42 }, { "mcp-param-count": "43" }],
      ["no number", { count: 42 }, { "mcp-param-count": "forty-two" }],
      ["the boolean in capitals", { dry: true }, { "mcp-param-dry": "True" }],
      ["a number for a boolean", { dry: true }, { "mcp-param-dry": "1" }],
      ["base64 with bad padding", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8?=" }],
      ["base64 with a foreign character", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVs!bG8=?=" }],
      ["the base64 form in capitals", { region: "Hello" }, { "mcp-param-region": "=?BASE64?SGVsbG8=?=" }]
    ] as const
  )(verifies("HDR-17")("%s gets 400 with -32020"), ([, args, headers]) =>
    Effect.gen(function*() {
      assertError(yield* strict(args, headers), 400, codes.headerMismatch)
    }))

  it.effect.each([["eu"], { a: 1 }, 7, 2 ** 60, 1.5, true])(
    verifies("HDR-17")(
      "the argument %j, which its header cannot repeat, gets 400 with -32020, with a header and without"
    ),
    (value) =>
      Effect.gen(function*() {
        const argument = typeof value === "number" && !Number.isInteger(value) ? "count" : "region"
        const missing = yield* strict({ [argument]: value }, {
          "mcp-param-region": undefined,
          "mcp-param-count": undefined
        })
        assertError(missing, 400, codes.headerMismatch)
        const other = yield* strict({ [argument]: value }, { [`mcp-param-${argument}`]: "eu" })
        assertError(other, 400, codes.headerMismatch)
      })
  )

  it.effect(
    verifies("HDR-17")("an argument beyond the safe integers gets 400 with -32020, whatever its header"),
    () =>
      Effect.gen(function*() {
        for (const header of [undefined, String(2 ** 60)]) {
          assertError(yield* strict({ count: 2 ** 60 }, { "mcp-param-count": header }), 400, codes.headerMismatch)
        }
      })
  )

  it.effect(
    verifies("GAP-15@server", "HDR-17")("a nested argument is repeated by its header, and found in no other place"),
    () =>
      Effect.gen(function*() {
        const Nested = Tool.make("nested", {
          input: Schema.Struct({
            where: Schema.Struct({ region: Schema.optionalKey(Tool.header("Region")(Schema.String)) })
          })
        })
        const server = yield* serve(McpServer.tool(Nested, () => Effect.succeed([])))
        const nested = (args: Json.Object, region: string | undefined) =>
          server.send(call("nested", args), { headers: { "mcp-param-region": region } })
        assert.strictEqual((yield* nested({ where: { region: "eu" } }, "eu")).status, 200)
        assert.strictEqual((yield* nested({ where: {}, region: "eu" }, undefined)).status, 200)
        assertError(yield* nested({ where: { region: "eu" } }, "us"), 400, codes.headerMismatch)
        assertError(yield* nested({ where: { region: "eu" } }, undefined), 400, codes.headerMismatch)
        assertError(yield* nested({ where: {}, region: "eu" }, "eu"), 400, codes.headerMismatch)
      })
  )

  it(verifies("GAP-14@server")("of an argument that is a number is refused with its definition"), () => {
    const define = (amount: Schema.Top) => () =>
      Tool.make("pay", { input: Schema.Struct({ amount: Tool.header("Amount")(amount) }) })
    assert.throws(define(Schema.Finite), /amount.*only a string, an integer or a boolean can be a header/)
    assert.doesNotThrow(define(Schema.Int))
  })
})

describe("the version", () => {
  it.effect(
    verifies("VER-2", "HDR-2", "STATE-1", "DISC-7", "DISC-8")("one that is not served gets -32022 with what is"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        for (const method of ["tools/list", "server/discover", "unknown"]) {
          const answer = yield* server.send(request(method, {}, { meta: { [meta.protocolVersion]: "1900-01-01" } }))
          assertError(answer, 400, codes.unsupportedProtocolVersion)
          assert.deepStrictEqual(answer.json.error.data, { supported: [version], requested: "1900-01-01" })
        }
        const supported = (yield* server.send(request("server/discover"))).json.result.supportedVersions
        assert.deepStrictEqual(supported, [version])
      })
  )

  it.effect(
    verifies("VER-10", "GAP-13", "BC-10")("the handshake of older clients is told which versions there are"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        // Not even the version that is served is agreed on this way: the client would go on as older ones do.
        for (const old of ["the version of the client", version]) {
          const handshake = {
            jsonrpc: "2.0",
            id: 0,
            method: "initialize",
            params: { protocolVersion: old, capabilities: {}, clientInfo: { name: "old", version: "1" } }
          }
          const answer = yield* server.send(JSON.stringify(handshake))
          assertError(answer, 400, codes.unsupportedProtocolVersion, 0)
          assert.deepStrictEqual(answer.json.error.data, { supported: [version], requested: old })
        }
      })
  )
})

describe("the method", () => {
  it.effect.each([
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/list",
    "tasks/result",
    "unknown/method",
    "__proto__",
    "constructor",
    "",
    "tools/List"
  ])(verifies("BASE-19", "HDR-3")("%s gets 404 with -32601"), (method) =>
    Effect.gen(function*() {
      assertError(yield* withHeaders({}, request(method)), 404, codes.methodNotFound)
    }))

  it.effect.each(["resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get"])(
    verifies("BASE-19", "DISC-3", "VER-12@server")("%s is not there while the server does not advertise it"),
    (method) =>
      Effect.gen(function*() {
        assertError(yield* withHeaders({}, request(method, { uri: "a:b", name: "a" })), 404, codes.methodNotFound)
      })
  )
})

describe("the capabilities of the client", () => {
  it.effect(
    verifies("META-11", "META-10", "BASE-19", "GAP-5")("one that a tool needs and the request lacks gets -32021"),
    () =>
      Effect.gen(function*() {
        const { layer, reached } = registrations()
        const server = yield* serve(layer)
        const answer = yield* server.send(call("strict", {}))
        assertError(answer, 400, codes.missingRequiredClientCapability)
        assert.deepStrictEqual(answer.json.error.data, { requiredCapabilities: { sampling: {} } })
        assert.strictEqual(reached.calls, 0)
      })
  )

  it.effect(
    verifies("VER-7@server", "EXT-4", "GAP-8@server", "META-11")(
      "an extension is negotiated with each request: without it a tool falls back, or the request gets -32021"
    ),
    () =>
      Effect.gen(function*() {
        const extension = "com.example/charts"
        const extensions = { [extension]: {} }
        const declared = { [meta.clientCapabilities]: { extensions } }
        const layer = Layer.mergeAll(
          McpServer.tool(
            Tool.make("needs", { requiredCapabilities: { extensions } }),
            () => Effect.succeed([Content.text("chart")])
          ),
          McpServer.tool(Tool.make("copes"), () =>
            Effect.map(Invocation.Invocation, ({ clientCapabilities }) => [
              Content.text(clientCapabilities.extensions?.[extension] === undefined ? "text" : "chart")
            ]))
        )
        const server = yield* serve(layer, { extensions })
        const agent = new Http.Agent({ keepAlive: true, maxSockets: 1 })
        yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
        const ask = (name: string, meta: Record<string, unknown>) => server.send(call(name, {}, { meta }), { agent })
        const textOf = (answer: Answer) => answer.json.result.content[0].text
        assert.strictEqual(textOf(yield* ask("needs", declared)), "chart")
        assert.strictEqual(textOf(yield* ask("copes", declared)), "chart")
        const refused = yield* ask("needs", {})
        assertError(refused, 400, codes.missingRequiredClientCapability)
        assert.deepStrictEqual(refused.json.error.data, { requiredCapabilities: { extensions } })
        assert.strictEqual(textOf(yield* ask("copes", {})), "text")
      })
  )

  it.effect(
    verifies("META-10", "STATE-1")("what an earlier request of the connection declared does not count"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        const { Agent } = yield* Effect.promise(() => import("node:http"))
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
        const declared = yield* server.send(call("strict", {}, { meta: sampling }), { agent })
        assert.strictEqual(declared.status, 200)
        const undeclared = yield* server.send(call("strict", {}), { agent })
        assertError(undeclared, 400, codes.missingRequiredClientCapability)
        const versionless = call("plain", {}, { meta: { [meta.protocolVersion]: undefined } })
        const headers = { "mcp-protocol-version": version }
        assertError(yield* server.send(versionless, { agent, headers }), 400, codes.invalidParams)
      })
  )
})

describe("every answer", () => {
  it.effect(
    verifies("BASE-12@server", "BASE-13@server", "BASE-14", "BASE-15@server")(
      "has no code but those of JSON-RPC and of the revision"
    ),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        const allowed = new Set<number>(Object.values(codes))
        const bodies: ReadonlyArray<Json.Object | string> = [
          "{",
          "[]",
          "null",
          call("nobody"),
          call("plain", []),
          call("strict", {}),
          call("strict", { region: "a" }, { meta: sampling }),
          request("ping"),
          request("resources/read", { uri: "no:where" }),
          request("tools/list", { cursor: "bogus" }),
          request("tools/list", {}, { meta: { [meta.protocolVersion]: "x" } }),
          { ...call("plain"), params: {} }
        ]
        for (const body of bodies) {
          const answer = yield* server.send(body)
          assert.isTrue(allowed.has(answer.json.error.code), answer.text)
        }
      })
  )

  it.effect(
    verifies("HTTP-4", "HTTP-15", "HTTP-16@server")("has the headers of its form and no session"),
    () =>
      Effect.gen(function*() {
        const { layer } = registrations()
        const server = yield* serve(layer)
        const headers = { "mcp-session-id": "s-1", "last-event-id": "7" }
        const json = yield* server.send(call("plain"), { headers })
        const events = yield* server.send(call("plain"), { headers: { ...headers, accept: "text/event-stream" } })
        const error = yield* server.send(call("nobody"), { headers })
        const notification = yield* server.send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" }))
        for (const answer of [json, events, error, notification]) {
          assert.strictEqual(answer.headers["mcp-protocol-version"], version)
          assert.strictEqual(answer.headers["cache-control"], "no-store")
          assert.isUndefined(answer.headers["mcp-session-id"])
        }
        assert.strictEqual(events.headers["x-accel-buffering"], "no")
        assert.notMatch(events.text, /^(?:id|event|retry):/m)
        assert.strictEqual(Number(json.headers["content-length"]), Buffer.byteLength(json.text))
      })
  )

  it.effect(verifies("BASE-11")("to a broken message does not repeat it"), () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      const secret = "hunter2"
      for (
        const body of [
          `{"${secret}`,
          JSON.stringify({ ...call("plain"), jsonrpc: secret }),
          call(secret),
          request(secret),
          call("plain", {}, { meta: { [`${secret}_`]: 1 } }),
          call("plain", { n: secret })
        ]
      ) {
        assert.notInclude((yield* server.send(body)).text, secret)
      }
    }))
})

describe("a connection", () => {
  it.effect("goes on after refusals", () =>
    Effect.gen(function*() {
      const { layer } = registrations()
      const server = yield* serve(layer)
      const { Agent } = yield* Effect.promise(() => import("node:http"))
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      yield* Effect.addFinalizer(() => Effect.sync(() => agent.destroy()))
      const body = JSON.stringify(call("plain"))
      const ports = new Set<unknown>()
      agent.on("free", (socket: { readonly localPort?: number }) => ports.add(socket.localPort))
      for (
        const [headers, status] of [
          [{ host: "evil.example" }, 403],
          [{ origin: "null" }, 403],
          [{ "content-type": "text/plain" }, 415],
          [{ accept: "text/html" }, 406],
          [{ "mcp-method": "x" }, 400],
          [{}, 200]
        ] as const
      ) {
        const answer = yield* server.send(body, { agent, headers: { ...headersOf(call("plain")), ...headers } })
        assert.strictEqual(answer.status, status)
      }
      assert.strictEqual(ports.size, 1)
    }))
})
