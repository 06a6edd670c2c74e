import { describe, expect, it } from "@effect/vitest"
import { McpClient } from "@fairlead/client"
import { JsonRpc, Revision, Transport } from "@fairlead/protocol"
import { InProcess } from "@fairlead/server"
import { ContractServer, TestRequest, Wire } from "@fairlead/testing"
import { Cause, Effect, Exit, Layer } from "effect"

const { meta, method, notification } = Revision

const server = (text: string, method?: string) => Wire.check(text, { from: "server", method })
const client = (text: string) => Wire.check(text, { from: "client" })
const result = (members: object) => JsonRpc.encodeResult(1, JSON.stringify({ resultType: "complete", ...members }))

describe("Wire.check", () => {
  it("accepts requests, results, errors and notifications that fit the schema", () => {
    expect(client(TestRequest.make(method.callTool, { name: "a", arguments: {} }).body)).toEqual([])
    expect(client(TestRequest.make(method.listTools).body)).toEqual([])
    expect(client(TestRequest.make("com.example/own", { any: 1 }).body)).toEqual([])
    expect(client(JsonRpc.encodeNotification(notification.cancelled, { requestId: 1 }))).toEqual([])
    expect(server(result({ content: [] }), method.callTool)).toEqual([])
    expect(server(result({ tools: [], ttlMs: 0, cacheScope: "private" }), method.listTools)).toEqual([])
    expect(server(result({ anything: true }))).toEqual([])
    const asking = { resultType: "input_required", requestState: "s" }
    expect(server(result(asking), method.callTool)).toEqual([])
    expect(server(JsonRpc.encodeError(undefined, { code: -32700, message: "no JSON" }))).toEqual([])
    expect(server(JsonRpc.encodeNotification(notification.progress, { progressToken: "a", progress: 1 }))).toEqual([])
    expect(server(JsonRpc.encodeNotification("notifications/own", { any: 1 }))).toEqual([])
  })

  it("names path and reason of what does not fit", () => {
    expect(client(TestRequest.make(method.callTool, { name: 1 }).body)).toEqual(["/params/name must be string"])
    expect(client(JsonRpc.encodeRequest(1, method.listTools, {}))).toEqual([
      "/params must have required property '_meta'"
    ])
    const withoutVersion = TestRequest.make(method.listTools, {}, { meta: { [meta.protocolVersion]: undefined } })
    expect(client(withoutVersion.body)).toEqual([
      `/params/_meta must have required property '${meta.protocolVersion}'`
    ])
    expect(server(result({}), method.callTool)).toContain("/result must have required property 'content'")
    expect(server(JsonRpc.encodeResult(1, `{"content":[]}`), method.callTool)).toContain(
      "/result must have required property 'resultType'"
    )
    expect(server(result({ resultType: "input_required" }), method.listTools)).toEqual([
      "/result asks for input, which a request of this kind cannot"
    ])
    expect(server(JsonRpc.encodeNotification(notification.progress, { progress: 1 }))).toEqual([
      "/params must have required property 'progressToken'"
    ])
  })

  it("checks the formats of addresses and bytes", () => {
    const image = (data: string) =>
      server(result({ content: [{ type: "image", data, mimeType: "a/b" }] }), method.callTool)
    expect(image("AAEC")).toEqual([])
    expect(image("no base64!")).toContain("/result/content/0/data must match format \"byte\"")
    const link = (uri: string) =>
      server(result({ content: [{ type: "resource_link", uri, name: "a" }] }), method.callTool)
    expect(link("docs://a/b")).toEqual([])
    expect(link("not an address")).toContain("/result/content/0/uri must match format \"uri\"")
  })

  it("refuses what is no message, and what the other end would send", () => {
    expect(client("{")).toEqual(["the message is not JSON"])
    expect(client("[]")).toEqual(["the message is not an object"])
    expect(client(JsonRpc.encodeRequest(1.5, method.listTools, { _meta: TestRequest.metaOf() }))).toContain(
      "/id must be string,integer: [\"string\",\"integer\"]"
    )
    expect(client(result({ content: [] }))).toEqual(["a client sends no responses"])
    expect(client(JsonRpc.encodeNotification(notification.progress, { progressToken: 1, progress: 1 }))).toEqual([
      "a client does not send this notification"
    ])
    expect(server(JsonRpc.encodeRequest(1, "ping", {}))).toEqual(["a server sends no requests"])
    expect(server(`{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`)).toEqual([
      "a response has a result or an error, not both"
    ])
    expect(server(`{"id":1,"result":{"resultType":"complete"}}`)).toEqual(["must have required property 'jsonrpc'"])
  })

  it("refuses codes of the past, undefined codes of the protocol, and defined ones without their data", () => {
    const withCode = (code: number) => server(JsonRpc.encodeError(1, { code, message: "m" }))
    expect(withCode(-32603)).toEqual([])
    expect(withCode(4711)).toEqual([])
    expect(withCode(-32002)).toEqual(["/error/code -32002 belongs to the past"])
    expect(withCode(-32042)).toEqual(["/error/code -32042 belongs to the past"])
    expect(withCode(-32050)).toEqual(["/error/code -32050 is reserved and not defined"])
    expect(withCode(-32020)).toEqual([])
    expect(withCode(-32022)).toContain("/error must have required property 'data'")
  })
})

/** A transport that answers every request with a result of its own making. */
const answering = (result: JsonRpc.Success["result"]) =>
  Layer.succeed(Transport.Transport, {
    name: "memory",
    hasHeaders: false,
    send: ({ id }) => Effect.succeed({ response: { _tag: "Success", id, result } })
  })

describe("Wire.layer", () => {
  it.effect("lets messages pass that fit", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      expect(yield* client.call(ContractServer.Echo, { text: "x" })).toEqual({ text: "x" })
    }).pipe(
      Effect.provide(McpClient.layer().pipe(Layer.provide(Wire.layer(InProcess.layer())))),
      Effect.provide(ContractServer.layer)
    ))

  it.effect("makes a call die whose answer does not fit, with the message and what is wrong", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const exit = yield* Effect.exit(client.call(ContractServer.Say, { text: "x" }))
      const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      expect(defect).toBeInstanceOf(Wire.InvalidMessage)
      expect((defect as Wire.InvalidMessage).message).toContain("/result must have required property 'resultType'")
      expect((defect as Wire.InvalidMessage).text).toContain("\"content\":[]")
    }).pipe(Effect.provide(McpClient.layer().pipe(Layer.provide(Wire.layer(answering({ content: [] })))))))

  it.effect("makes a call die whose request does not fit, before it is sent", () =>
    Effect.gen(function*() {
      let sent = 0
      const { send } = Wire.make({
        name: "memory",
        hasHeaders: false,
        send: () => {
          sent++
          return Effect.never
        }
      })
      const exit = yield* Effect.exit(send({
        id: 1,
        method: method.listTools,
        params: {},
        text: JsonRpc.encodeRequest(1, method.listTools, {}),
        headers: [],
        sent: () => {},
        notify: () => {}
      }))
      expect(Exit.hasDies(exit)).toBe(true)
      expect(sent).toBe(0)
    }))
})
