/** What holds when nothing is set, and what each setting changes, where no other test asks. */
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Revision, Tool } from "@fairlead/protocol"
import { Invocation, McpServer, RequestContext, WebHandler } from "@fairlead/server"
import { TestRequest } from "@fairlead/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { endpointOf, makeGate, serve, turns, until } from "./support/serve.ts"
import { call } from "./support/wire.ts"

const mebibyte = 1024 * 1024
const Slow = Tool.make("slow")
const Any = Tool.make("any", { input: Schema.Struct({ value: Schema.optionalKey(Schema.Unknown) }) })
const any = McpServer.tool(Any, () => Effect.succeed([]))

describe("without settings", () => {
  it.effect(
    verifies("http/default/max_body_bytes")("a body may have 1 MiB, and not a byte more"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(any)
        const { headers } = TestRequest.make("tools/call", { name: "any" })
        const body = JSON.stringify(call("any"))
        const sized = (bytes: number) => server.send(body.padEnd(bytes), { headers })
        assert.strictEqual((yield* sized(mebibyte)).status, 200)
        assert.strictEqual((yield* sized(mebibyte + 1)).status, 413)
      })
  )

  it.effect(
    verifies("http/default/max_json_depth")("a body may have 64 levels, and not one more"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(any)
        // The message, its params and the arguments are three.
        const nested = (levels: number) =>
          server.send(call("any", { value: JSON.parse("[".repeat(levels - 3) + "]".repeat(levels - 3)) }))
        assert.strictEqual((yield* nested(64)).status, 200)
        assert.strictEqual((yield* nested(65)).status, 400)
      })
  )

  it.effect(
    verifies("http/default/cancellation_grace")("a handler has 5 seconds to end"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const server = yield* serve(McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), [])))
        const answer = yield* Effect.forkChild(server.send(call("slow")))
        yield* gate.started
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual((yield* Fiber.join(answer)).status, 504)
        yield* TestClock.adjust("4999 millis")
        assert.lengthOf(server.logs, 0)
        yield* TestClock.adjust("1 millis")
        assert.lengthOf(server.logs, 1)
        yield* gate.release
      })
  )

  it.effect(
    verifies("http/default/max_concurrent_requests")("1,024 requests run at once, the next one gets 503"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const services = yield* endpointOf(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
        const handler = yield* Effect.provideContext(WebHandler.make, services)
        const ask = () => handler(TestRequest.make("tools/call", { name: "slow" }).toWeb())
        const running = Array.from({ length: 1024 }, ask)
        yield* until(() => gate.starts() === 1024)
        const refused = yield* Effect.promise(ask)
        assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"])
        yield* gate.release
        const statuses = yield* Effect.promise(() => Promise.all(running))
        assert.isTrue(statuses.every(({ status }) => status === 200))
        assert.strictEqual((yield* Effect.promise(ask)).status, 200)
      })
  )
})

describe("a grace of nothing", () => {
  it.effect(
    verifies("http/with_cancellation_grace")("reports at once what goes on"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const server = yield* serve(McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), [])), {
          cancellationGrace: 0
        })
        const answer = yield* Effect.forkChild(server.send(call("slow")))
        yield* gate.started
        yield* TestClock.adjust("30 seconds")
        yield* TestClock.adjust(0)
        assert.lengthOf(server.logs, 1)
        yield* Fiber.join(answer)
        yield* gate.release
      })
  )
})

describe("the correlation of a request", () => {
  class Seen extends Context.Service<Seen, ReadonlyArray<string>>()("test/Seen") {}

  it.effect(
    verifies("http/promise/one_correlation", "http/promise/correlation_never_authorizes", "http/with_label")(
      "is the same for verifier, context function, handler and logs; it lets nobody in"
    ),
    () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const server = yield* serve(
          McpServer.tool(Slow, () =>
            Effect.gen(function*() {
              const { correlation } = yield* Invocation.Invocation
              seen.push(correlation, ...yield* Seen)
              return yield* Effect.die(new Error("broken"))
            })),
          {
            label: "main",
            verify: ({ correlation, header }) => {
              seen.push(correlation)
              return header("authorization") === "Bearer token"
                ? Effect.succeed({ principal: "alice" })
                : Effect.fail(new RequestContext.Refused({ status: 401, message: "Who are you" }))
            },
            context: ({ correlation }) => Effect.succeed(Context.make(Seen, [correlation]))
          }
        )
        const headers = { "x-correlation-id": "order-42" }
        yield* server.send(call("slow"), { headers: { ...headers, authorization: "Bearer token" } })
        assert.deepStrictEqual(seen, ["order-42", "order-42", "order-42"])
        assert.deepStrictEqual(server.logs.map(({ annotations }) => annotations), [
          { correlation: "order-42", endpoint: "main", method: "tools/call" }
        ])
        assert.strictEqual((yield* server.send(call("slow"), { headers })).status, 401)
      })
  )
})

describe("what the application lends to requests", () => {
  class Database extends Context.Service<Database, { isOpen: boolean }>()("test/Database") {}

  it.effect(
    verifies("http/promise/borrowed_stays")("stays open when they end, however they do, until its layer closes"),
    () =>
      Effect.gen(function*() {
        const database = { isOpen: true }
        const layer = Layer.effect(
          Database,
          Effect.acquireRelease(
            Effect.succeed(database),
            () =>
              Effect.sync(() => {
                database.isOpen = false
              })
          )
        )
        const gate = makeGate()
        const server = yield* serve(
          Layer.provideMerge(
            Layer.mergeAll(any, McpServer.tool(Slow, () => Effect.andThen(Database, Effect.as(gate.run, [])))),
            layer
          )
        )
        yield* server.send(call("any"))
        const gone = yield* Effect.forkChild(server.send(call("slow")))
        yield* gate.started
        yield* Fiber.interrupt(gone)
        yield* gate.ended
        yield* turns()
        assert.isTrue(database.isOpen)
        yield* server.close
        assert.isFalse(database.isOpen)
      })
  )
})

describe("a handler for hosts that cannot stream", () => {
  const buffered = (gate = makeGate()) =>
    Effect.gen(function*() {
      const services = yield* endpointOf(
        Layer.mergeAll(
          any,
          McpServer.tool(Slow, () =>
            Invocation.progress({ progress: 1 }).pipe(Effect.andThen(gate.run), Effect.as([Content.text("done")])))
        ),
        { maxBodyBytes: 2000 }
      )
      return yield* Effect.provideContext(WebHandler.makeBuffered, services)
    })

  it.effect(
    verifies("http/promise/handle_413")("refuses a body beyond the limit with 413"),
    () =>
      Effect.gen(function*() {
        const handler = yield* buffered()
        const large = TestRequest.make("tools/call", { name: "any", arguments: { value: "x".repeat(2000) } })
        assert.strictEqual((yield* Effect.promise(() => handler(large.toWeb()))).status, 413)
      })
  )

  it.effect(
    verifies("http/promise/buffered_cannot_see_disconnect")(
      "ends a request at its deadline where the host does not tell that the client has gone"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const handler = yield* buffered(gate)
        const slow = TestRequest.make("tools/call", { name: "slow" }, { meta: { [Revision.meta.progressToken]: 1 } })
        const answer = handler(slow.toWeb())
        yield* gate.started
        yield* TestClock.adjust("29999 millis")
        assert.strictEqual(gate.ends(), 0)
        yield* TestClock.adjust("1 millis")
        yield* gate.ended
        const { headers, status } = yield* Effect.promise(() => answer)
        assert.deepStrictEqual([status, headers.get("content-type")], [504, "application/json"])
      })
  )
})
