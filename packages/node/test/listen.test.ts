import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Json, Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as Effect from "effect/Effect"
import { type Child, run } from "./support/child.ts"

const { meta, method, notification } = Revision

const message = (name: string, params: Json.Object, id: unknown): string =>
  `${Json.stringify({ ...JSON.parse(TestRequest.make(name, params).body), id })}\n`

const listen = (notifications: Json.Object, id: unknown) => message(method.listen, { notifications }, id)
const call = (name: string, args: Json.Object, id: unknown) => message(method.callTool, { name, arguments: args }, id)

const lines = (child: Child, count: number) =>
  Effect.map(child.until(() => child.stdout().toString().split("\n").length > count), child.messages)

// oxlint-disable-next-line typescript/no-explicit-any
const short = ({ id, method, params, result }: any) =>
  id === undefined ? [method, params._meta?.[meta.subscriptionId] ?? params.requestId] : [id, result.resultType]

describe.concurrent("listening over stdio", () => {
  it.live(
    verifies("SUB-2", "SUB-3", "SUB-5", "SUB-13", "GAP-20@server", "STDIO-3@server")(
      "several listeners share the output, each with its id and what it asked for"
    ),
    () =>
      Effect.gen(function*() {
        const child = yield* run("listenServer")
        child.write(listen({ toolsListChanged: true }, 0))
        child.write(listen({ toolsListChanged: true, resourceSubscriptions: ["docs://manual"] }, "0"))
        child.write(call("change", { what: "add" }, 1))
        child.write(call("touch", { uri: "docs://manual" }, 2))
        child.write(call("touch", { uri: "docs://other" }, 3))
        assert.deepStrictEqual((yield* lines(child, 8)).map(short), [
          [notification.acknowledged, 0],
          [notification.acknowledged, "0"],
          [notification.toolsListChanged, 0],
          [notification.toolsListChanged, "0"],
          [1, "complete"],
          [notification.resourceUpdated, "0"],
          [2, "complete"],
          [3, "complete"]
        ])
      })
  )

  it.live(
    verifies("CAN-4", "SUB-5")("a listener that is cancelled hears nothing more and is not answered"),
    () =>
      Effect.gen(function*() {
        const child = yield* run("listenServer")
        child.write(listen({ toolsListChanged: true }, "a"))
        yield* lines(child, 1)
        child.write(
          `${JSON.stringify({ jsonrpc: "2.0", method: notification.cancelled, params: { requestId: "a" } })}\n`
        )
        child.write(call("change", { what: "add" }, 1))
        child.write(listen({ toolsListChanged: true }, "a"))
        child.write(call("change", { what: "remove" }, 2))
        assert.deepStrictEqual((yield* lines(child, 5)).map(short), [
          [notification.acknowledged, "a"],
          [1, "complete"],
          [notification.acknowledged, "a"],
          [notification.toolsListChanged, "a"],
          [2, "complete"]
        ])
      })
  )

  it.live(
    verifies("SUB-8", "CAN-7", "GAP-1@server")("a server that stops cancels each listener and then answers it"),
    () =>
      Effect.gen(function*() {
        const child = yield* run("listenServer")
        child.write(listen({ toolsListChanged: true }, 1))
        child.write(listen({ resourcesListChanged: true }, "1"))
        child.write(call("change", { what: "stop" }, 2))
        const told = (yield* lines(child, 7)).map(short)
        assert.deepStrictEqual(told.filter(([what]) => what !== 2).slice(2), [
          [notification.cancelled, 1],
          [1, "complete"],
          [notification.cancelled, "1"],
          ["1", "complete"]
        ])
      })
  )

  it.live("the end of the input ends the listeners and the process", () =>
    Effect.gen(function*() {
      const child = yield* run("listenServer")
      child.write(listen({ toolsListChanged: true }, 1))
      yield* lines(child, 1)
      child.process.stdin.end()
      assert.deepStrictEqual(yield* child.ended, { code: 0, signal: null })
      assert.lengthOf(child.messages(), 1)
    }))
})
