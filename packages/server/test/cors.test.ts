import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Tool } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import { serve } from "./support/serve.ts"
import { call } from "./support/wire.ts"

const Greet = Tool.make("greet")
const greet = McpServer.tool(Greet, () => Effect.succeed([Content.text("Hello")]))
const origin = "https://app.example.com"

const preflight = (headers: Record<string, string>) =>
  ({
    method: "OPTIONS",
    headers: {
      "content-type": undefined,
      accept: undefined,
      origin,
      "access-control-request-method": "POST",
      ...headers
    }
  }) as const

describe("a browser of an allowed origin", () => {
  it.effect(
    verifies("GAP-25")("may send every header that a client sends, and no other"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(greet, { allowedOrigins: [origin] })
        const answer = yield* server.send(
          "",
          preflight({
            "access-control-request-headers":
              "MCP-Method, mcp-name, Mcp-Param-Region, mcp-param-x.y, mcp-protocol-version, authorization, content-type, x-evil, mcp-"
          })
        )
        assert.strictEqual(answer.status, 204)
        assert.deepInclude(answer.headers, {
          "access-control-allow-origin": origin,
          "access-control-allow-methods": "POST",
          "access-control-allow-headers":
            "mcp-method, mcp-name, mcp-param-region, mcp-param-x.y, mcp-protocol-version, authorization, content-type",
          vary: "origin"
        })
        assert.notProperty(answer.headers, "access-control-allow-credentials")
      })
  )

  it.effect("is told so with every answer, the refusals too", () =>
    Effect.gen(function*() {
      const server = yield* serve(greet, { allowedOrigins: [origin] })
      const headers = { origin }
      const answers = yield* Effect.all([
        server.send(call("greet"), { headers }),
        server.send(call("nobody"), { headers }),
        server.send(call("greet"), { headers: { ...headers, "mcp-name": "other" } }),
        server.send(call("greet"), { headers: { ...headers, "content-type": "text/plain" } }),
        server.send("", { method: "GET", headers })
      ])
      assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200, 400, 415, 405])
      for (const answer of answers) {
        assert.strictEqual(answer.headers["access-control-allow-origin"], origin)
        assert.include(answer.headers["access-control-expose-headers"], "www-authenticate")
      }
    }))

  it.effect("is asked for its preflight before anybody is asked who it is", () =>
    Effect.gen(function*() {
      let asked = 0
      const server = yield* serve(greet, {
        allowedOrigins: [origin],
        verify: () =>
          Effect.sync(() => {
            asked++
            return { principal: "alice" }
          })
      })
      assert.strictEqual((yield* server.send("", preflight({}))).status, 204)
      assert.strictEqual(asked, 0)
    }))
})

describe("a browser of another origin", () => {
  it.effect(verifies("HTTP-2")("gets no preflight and no answer that it could read"), () =>
    Effect.gen(function*() {
      const server = yield* serve(greet, { allowedOrigins: [origin] })
      for (const other of ["https://evil.example.com", "null", "http://localhost"]) {
        const answer = yield* server.send("", preflight({ origin: other }))
        assert.strictEqual(answer.status, 403, other)
        assert.notProperty(answer.headers, "access-control-allow-origin")
        assert.include(answer.text, JSON.stringify(other))
        assert.include(answer.text, "allowedOrigins")
      }
    }))
})

describe("a client without an origin", () => {
  it.effect("gets no headers of cross-origin requests, and OPTIONS is not served", () =>
    Effect.gen(function*() {
      const server = yield* serve(greet)
      assert.notProperty((yield* server.send(call("greet"))).headers, "vary")
      const answer = yield* server.send("", { method: "OPTIONS" })
      assert.deepStrictEqual([answer.status, answer.headers.allow], [405, "POST"])
    }))
})
