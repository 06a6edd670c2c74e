import { describe, expect, it } from "@effect/vitest"
import { Revision } from "@fairlead/protocol"
import { WebHandler } from "@fairlead/server"
import { ContractServer, TestRequest, Wire } from "@fairlead/testing"
import { Effect } from "effect"

describe("TestRequest.make", () => {
  it("has metadata, both media types and the routing headers", () => {
    const { body, headers, id } = TestRequest.make("tools/call", { name: "echo", arguments: { text: "x" } })
    expect(headers).toEqual({
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": Revision.latest.version,
      "mcp-method": "tools/call",
      "mcp-name": "echo"
    })
    expect(Wire.check(body, { from: "client" })).toEqual([])
    expect(JSON.parse(body)).toMatchObject({ id, method: "tools/call", params: { name: "echo" } })
  })

  it("changes what it is told to, and nothing else", () => {
    const { body, headers } = TestRequest.make("tools/list", {}, {
      id: "own",
      meta: { [Revision.meta.clientInfo]: undefined, "com.example/x": 1 },
      headers: { accept: undefined, "mcp-method": "other", origin: "http://evil.test" }
    })
    expect(headers).toEqual({
      "content-type": "application/json",
      "mcp-protocol-version": Revision.latest.version,
      "mcp-method": "other",
      origin: "http://evil.test"
    })
    expect(JSON.parse(body)).toEqual({
      jsonrpc: "2.0",
      id: "own",
      method: "tools/list",
      params: {
        _meta: {
          [Revision.meta.protocolVersion]: Revision.latest.version,
          [Revision.meta.clientCapabilities]: {},
          "com.example/x": 1
        }
      }
    })
    expect(TestRequest.make("tools/list", {}, { body: "{" }).body).toBe("{")
  })

  it.live("is served as a web request", () =>
    Effect.gen(function*() {
      const handler = yield* WebHandler.make
      const request = TestRequest.make("tools/call", { name: "echo", arguments: { text: "è" } })
      const answer = yield* Effect.promise(async () => (await handler(request.toWeb())).json())
      expect(answer).toMatchObject({ id: 1, result: { structuredContent: { text: "è" } } })
    }).pipe(Effect.provide(ContractServer.layer)))
})
