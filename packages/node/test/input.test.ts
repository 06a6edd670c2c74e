/**
 * Asking for input over stdio, with real children.
 */
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Revision } from "@fairlead/protocol"
import { McpEndpoint } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import { type Child, run } from "./support/child.ts"

let lastId = 0

/** One round of a request; gives all that came for it. */
const round = (child: Child, method: string, params: Record<string, unknown>, token = false) =>
  Effect.gen(function*() {
    const id = ++lastId
    const meta = {
      [Revision.meta.protocolVersion]: Revision.latest.version,
      [Revision.meta.clientCapabilities]: { elicitation: {} },
      ...(token ? { [Revision.meta.progressToken]: id } : {})
    }
    child.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } })}\n`)
    const mine = () => child.messages().filter((message) => message.id === id || message.params?.progressToken === id)
    yield* child.until(() => mine().some((message) => message.id === id))
    return mine()
  })

const accept = (name: string) => ({ action: "accept", content: { name } })

describe("input over stdio", () => {
  it.live.each<[string, Record<string, unknown>]>([
    ["tools/call", { name: "greet" }],
    ["prompts/get", { name: "greeting" }],
    ["resources/read", { uri: "docs://manual" }]
  ])(verifies("MRTR-2", "MRTR-14")("goes on in another child with the same key, from the state alone: %s"), ([
    method,
    params
  ]) =>
    Effect.gen(function*() {
      const [one, two, other] = yield* Effect.all([
        run("inputServer", ["1"]),
        run("inputServer", ["1"]),
        run("inputServer", ["2"])
      ])
      const first = (yield* round(one, method, params)).at(-1)
      assert.deepStrictEqual(Object.keys(first.result.inputRequests), ["first"])
      const second = (yield* round(two, method, {
        ...params,
        requestState: first.result.requestState,
        inputResponses: { first: accept("Ann") }
      })).at(-1)
      assert.deepStrictEqual(Object.keys(second.result.inputRequests), ["second"])
      const retry = {
        ...params,
        requestState: second.result.requestState,
        inputResponses: { second: accept("Bob") }
      }
      const last = (yield* round(one, method, retry)).at(-1)
      assert.strictEqual(last.result.resultType, "complete")
      assert.include(JSON.stringify(last.result), `Ann and Bob, since ${one.process.pid}`)
      // The step ran in the first child, once.
      assert.deepStrictEqual([one.stderr().split("made").length - 1, two.stderr().includes("made")], [1, false])
      const refused = (yield* round(other, method, retry)).at(-1)
      assert.strictEqual(refused.error.code, -32602)
    }), 30_000)

  it.live(
    verifies("MRTR-15")("is the last message of its request, after the progress"),
    () =>
      Effect.gen(function*() {
        const child = yield* run("inputServer", ["1"])
        const messages = yield* round(child, "tools/call", { name: "greet" }, true)
        assert.deepStrictEqual(messages.map(({ method, result }) => method ?? result.resultType), [
          "notifications/progress",
          "input_required"
        ])
      }),
    30_000
  )

  it.live(
    verifies("CAN-4")("is not asked for when the request is cancelled while the round ends"),
    () =>
      Effect.gen(function*() {
        const child = yield* run("inputServer", ["1"])
        const id = ++lastId
        const call = (id: number, name: string) =>
          `${
            JSON.stringify({
              jsonrpc: "2.0",
              id,
              method: "tools/call",
              params: {
                name,
                _meta: {
                  [Revision.meta.protocolVersion]: Revision.latest.version,
                  [Revision.meta.clientCapabilities]: { elicitation: {} }
                }
              }
            })
          }\n`
        child.write(call(id, "slow"))
        yield* child.until(() => child.stderr().includes("cut"))
        child.write(
          `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } })}\n`
        )
        yield* child.until(() => child.stderr().includes("ended"))
        yield* round(child, "tools/call", { name: "greet" })
        assert.deepStrictEqual(child.messages().filter((message) => message.id === id), [])
      }),
    30_000
  )
})

describe("a key of the process alone", () => {
  const warnings = (options: Partial<McpEndpoint.Options>, http: NodeMcpEndpoint.HttpOptions) =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${message}`))])
      yield* Effect.scoped(Layer.build(
        NodeMcpEndpoint.layerHttp(http).pipe(
          Layer.provideMerge(McpEndpoint.serve({ name: "test", version: "1.0.0", ...options })(Layer.empty)),
          Layer.provide(logger)
        )
      ))
      return lines.filter((line) => line.startsWith("Warn") && line.includes("stateKeys")).length
    })

  it.effect("is warned of where other machines can reach the listener, and only there", () =>
    Effect.gen(function*() {
      const allowedHosts = ["mcp.example"]
      const everywhere = { host: "0.0.0.0", allowUnauthenticated: true }
      const stateKeys = [Redacted.make(new Uint8Array(32))]
      assert.deepStrictEqual([
        yield* warnings({ allowedHosts }, everywhere),
        yield* warnings({ allowedHosts, stateKeys: [] }, everywhere),
        yield* warnings({ allowedHosts, stateKeys }, everywhere),
        yield* warnings({}, {})
      ], [1, 1, 0, 0])
    }))
})
