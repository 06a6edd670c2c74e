/**
 * Cases: every call gets its own answer, and says truthfully how far it came.
 */
import * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ContractServer from "../../ContractServer.ts"
import { equal, ok } from "./assert.ts"
import {
  type Case,
  clientOf,
  connect,
  expectError,
  freshKey,
  hold,
  nextCallWorks,
  rawCall,
  send,
  sendTool,
  startHeld
} from "./harness.ts"

const structuredOf = (response: JsonRpc.Response): Json.Value | undefined =>
  response._tag === "Success" ? response.result["structuredContent"] : undefined

export const cases: ReadonlyArray<Case> = [
  {
    id: "sequence",
    title: "calls made one after another get each its own answer",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      for (let i = 0; i < 10; i++) {
        const { text } = yield* client.call(ContractServer.Echo, { text: `call ${i}` })
        equal(text, `call ${i}`, "the answer")
      }
    })
  },
  {
    id: "discovery",
    title: "the server is discovered and its tools are listed",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const discovery = yield* client.discover
      ok(discovery.supportedVersions.includes(Revision.latest.version), "the version is not among those discovered")
      ok(discovery.hasCapability("tools"), "the tools are not discovered")
      const tools = yield* client.listTools
      equal(tools.map(({ name }) => name).includes("echo"), true, "whether the tools are listed")
    })
  },
  {
    id: "concurrency",
    title: "many calls in flight at once get each its own answer",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const texts = Array.from({ length: 48 }, (_, i) => `${i}:${"x".repeat(i * 97)}`)
      const answers = yield* Effect.forEach(texts, (text) => client.call(ContractServer.Echo, { text }), {
        concurrency: "unbounded"
      })
      equal(answers.map(({ text }) => text), texts, "the answers")
    })
  },
  {
    id: "out-of-order",
    title: "answers that come in another order than the requests find their calls",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const keys = [yield* freshKey, yield* freshKey, yield* freshKey]
      const calls = yield* Effect.forEach(keys, (key) => startHeld(client, key, hold(client, key)))
      const ended: Array<unknown> = []
      for (const [i, key] of [...keys.entries()].toReversed()) {
        yield* client.call(ContractServer.Release, { key })
        ended.push(yield* Fiber.join(calls[i]!))
        equal(calls.filter((fiber) => fiber.pollUnsafe() !== undefined).length, ended.length, "how many calls ended")
      }
      equal(ended, keys.toReversed().map((key) => ({ key })), "the answers")
    })
  },
  {
    id: "ids",
    title: "the ids 1 and \"1\" under way at once are told apart",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      const client = yield* clientOf(connection)
      const numberKey = yield* freshKey
      const stringKey = yield* freshKey
      const start = (id: number | string, key: string) =>
        startHeld(client, key, sendTool(connection, "hold", { key }, { id }))
      const byNumber = yield* start(1, numberKey)
      const byString = yield* start("1", stringKey)
      yield* client.call(ContractServer.Release, { key: stringKey })
      const first = yield* Fiber.join(byString)
      equal([first.id, structuredOf(first)], ["1", { key: stringKey }], "the answer to the id \"1\"")
      equal(byNumber.pollUnsafe(), undefined, "the other call while its answer is held")
      yield* client.call(ContractServer.Release, { key: numberKey })
      const second = yield* Fiber.join(byNumber)
      equal([second.id, structuredOf(second)], [1, { key: numberKey }], "the answer to the id 1")
    })
  },
  {
    id: "exotic-ids",
    title: "ids that are empty, negative, beyond 2^53 or not ASCII come back as they were",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      for (const id of ["", 0, -7, new Json.ExactNumber("9007199254740993"), "è🙂\n\u2028\"\\", "__proto__"]) {
        const response = yield* sendTool(connection, "echo", { text: "x" }, { id })
        equal([response._tag, response.id], ["Success", id], "the id of the answer")
      }
    })
  },
  {
    id: "unreachable",
    title: "a call to a server that cannot be reached was not sent",
    needs: "unreachable",
    run: Effect.fnUntraced(function*({ unreachable }) {
      const attempt = Effect.scoped(Effect.flatMap(
        connect(unreachable, { checked: false }),
        (connection) => Effect.flatMap(clientOf(connection), nextCallWorks)
      ))
      const error = expectError(yield* Effect.exit(attempt), ["ConnectFailed", "ConnectionClosed"], "NotSent")
      ok(error.isRetryable({ idempotent: false }), "a call that was not sent can be made again")
    })
  },
  {
    id: "sent-once",
    title: "it says that the request may have left before the server has it, and says it once",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      const client = yield* clientOf(connection)
      const key = yield* freshKey
      const { answer, record } = yield* send(connection, Revision.method.callTool, {
        name: "hold",
        arguments: { key }
      })
      equal(record.left, 0, "how often it was said before sending")
      const fiber = yield* startHeld(client, key, answer)
      equal(record.left, 1, "how often it was said when the server had it")
      yield* client.call(ContractServer.Release, { key })
      yield* Fiber.join(fiber)
      equal(record.left, 1, "how often it was said in all")
    })
  },
  {
    id: "answered",
    title: "a call that was answered with an error is completed",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      const client = yield* clientOf(connection)
      const error = expectError(yield* Effect.exit(client.call(ContractServer.Die, {})), "RpcError", "Completed")
      ok(!error.isRetryable({ idempotent: true }), "a call that was answered is not made again")
      yield* nextCallWorks(client)
    })
  },
  {
    id: "closed-before-answer",
    title: "a connection that breaks before the answer may have carried the request",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      expectError(yield* Effect.exit(rawCall(client, "close")), "ConnectionClosed", "MaybeSent")
    })
  },
  {
    id: "closed-midway",
    title: "a connection that breaks within the answer may have carried the request",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      expectError(yield* Effect.exit(rawCall(client, "close-midway")), "ConnectionClosed", "MaybeSent")
    })
  }
]
