import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, Content, JsonRpc, Revision, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import { open } from "./support/http.ts"
import { makeGate, serve, turns, until } from "./support/serve.ts"
import { call, request, withToken } from "./support/wire.ts"

const Slow = Tool.make("slow")

/** Why a handler was interrupted, as its finalizers see it: an annotation of the cause. */
const interruptedBy = "@fairlead/server/InterruptedBy"

const reasonOf = (exit: Exit.Exit<unknown, unknown>): string | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  for (const reason of exit.cause.reasons) {
    const found = reason.annotations.get(interruptedBy)
    if (found !== undefined) return String(found)
  }
  return undefined
}

const timeout = (millis: unknown) => ({ meta: { [Call.metaKeys.timeoutMillis]: millis } })

describe("the deadline", () => {
  it.effect(
    verifies("CAN-9@server", "http/default/request_timeout")(
      "is 30 seconds: then 504 with -32603 and the id, and the handler is interrupted"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
        const answer = yield* Effect.forkChild(server.send(call("slow", {}, { id: "a" })))
        yield* gate.started
        yield* TestClock.adjust("29999 millis")
        assert.strictEqual(gate.ends(), 0)
        yield* TestClock.adjust("1 millis")
        const { headers, json, status } = yield* Fiber.join(answer)
        assert.deepStrictEqual([status, json.id, json.error.code], [504, "a", JsonRpc.codes.internalError])
        assert.strictEqual(headers["content-type"], "application/json")
        assert.strictEqual(reasonOf(yield* gate.ended), "deadline")
        assert.strictEqual(server.logs.length, 0)
      })
  )

  it.effect("is answered before the finalizers of the handler have ended", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      let closed = false
      const started = yield* Deferred.make<void>()
      const layer = McpServer.tool(Slow, () =>
        Effect.never.pipe(
          Effect.onInterrupt(() =>
            Effect.andThen(
              Deferred.await(release),
              Effect.sync(() => {
                closed = true
              })
            )
          ),
          (effect) => Effect.andThen(Deferred.succeed(started, undefined), effect)
        ))
      const server = yield* serve(layer, { maxConcurrentRequests: 1 })
      const answer = yield* Effect.forkChild(server.send(call("slow")))
      yield* Deferred.await(started)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(answer)).status, 504)
      assert.isFalse(closed)
      // The slot is taken until they have.
      assert.strictEqual((yield* server.send(call("slow"))).status, 503)
      yield* Deferred.succeed(release, undefined)
      yield* until(() => closed)
      assert.strictEqual((yield* server.send(call("other"))).status, 200)
    }))

  it.effect("in an open stream is its last event", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = McpServer.tool(Slow, () =>
        Invocation.progress({ progress: 1 }).pipe(Effect.andThen(gate.run), Effect.as([])))
      const server = yield* serve(layer)
      const answer = yield* Effect.forkChild(server.send(call("slow", {}, withToken("t"))))
      yield* gate.started
      yield* TestClock.adjust("30 seconds")
      const { events, status } = yield* Fiber.join(answer)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(events.map(({ error, id, method }) => [method, id, error?.code]), [
        ["notifications/progress", undefined, undefined],
        [undefined, 1, JsonRpc.codes.internalError]
      ])
    }))

  it.effect("is shortened by the time that the client has left", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const answer = yield* Effect.forkChild(server.send(call("slow", {}, timeout(1500))))
      yield* gate.started
      yield* TestClock.adjust("1499 millis")
      assert.strictEqual(gate.ends(), 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(answer)).status, 504)
    }))

  it.effect.each([3_600_000, "100", -1, 1.5, null, true, {}, 1e300])(
    "is what it is when the client's time is %s, longer or malformed",
    (millis) =>
      Effect.gen(function*() {
        const gate = makeGate()
        const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
        const answer = yield* Effect.forkChild(server.send(call("slow", {}, timeout(millis))))
        yield* gate.started
        yield* TestClock.adjust("29999 millis")
        assert.strictEqual(gate.ends(), 0)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual((yield* Fiber.join(answer)).status, 504)
      })
  )

  it.effect("does not count for a request that ended: nothing is left of its timer", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
      const answer = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      yield* gate.release
      assert.strictEqual((yield* Fiber.join(answer)).status, 200)
      yield* TestClock.adjust("1 hour")
      assert.isTrue(Exit.isSuccess(yield* gate.ended))
    }))
})

describe("a handler that overstays", () => {
  it.effect(
    verifies("http/promise/cleanup_grace", "http/promise/grace_bounds_cleanup", "http/with_cancellation_grace")(
      "keeps its slot, and is logged once when the grace is over"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), []))
        const server = yield* serve(layer, { maxConcurrentRequests: 1, cancellationGrace: "2 seconds" })
        const answer = yield* Effect.forkChild(server.send(call("slow"), { headers: { "x-correlation-id": "c-1" } }))
        yield* gate.started
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual((yield* Fiber.join(answer)).status, 504)
        yield* TestClock.adjust("1999 millis")
        assert.deepStrictEqual(server.logs, [])
        yield* TestClock.adjust("1 millis")
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(server.logs.map(({ annotations, level, text }) => [level, text, annotations]), [
          ["Warn", "A handler goes on after its cancellation grace", { correlation: "c-1", method: "tools/call" }]
        ])
        assert.strictEqual((yield* server.send(call("slow"))).status, 503)
        yield* gate.release
        yield* until(() => gate.ends() === 1)
        assert.strictEqual((yield* server.send(call("other"))).status, 200)
        assert.strictEqual(server.logs.length, 1)
      })
  )

  it.effect("is counted by the metrics, under the label of its endpoint", () =>
    Effect.gen(function*() {
      const label = "overstays of the metrics"
      const figures = Effect.gen(function*() {
        const labelled = { endpoint: label }
        const { count } = yield* Metric.value(Metric.withAttributes(McpEndpoint.overstays, labelled))
        const { value } = yield* Metric.value(Metric.withAttributes(McpEndpoint.overstaying, labelled))
        return [count, value]
      })
      const gate = makeGate()
      const layer = McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), []))
      const server = yield* serve(layer, { cancellationGrace: "1 second", label })
      const answers = yield* Effect.forkChild(Effect.all([server.send(call("slow")), server.send(call("slow"))], {
        concurrency: 2
      }))
      yield* until(() => gate.starts() === 2)
      assert.deepStrictEqual(yield* figures, [0, 0])
      yield* TestClock.adjust("31 seconds")
      assert.deepStrictEqual(yield* figures, [2, 2])
      yield* gate.release
      yield* until(() => gate.ends() === 2)
      assert.deepStrictEqual(yield* figures, [2, 0])
      yield* Fiber.join(answers)
      const names = (yield* Metric.snapshot).map(({ id }) => id)
      assert.includeMembers(names, ["fairlead_server_overstays", "fairlead_server_overstaying"])
    }))

  it.effect("that ends within its grace is not logged", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), []))
      const server = yield* serve(layer)
      const answer = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(answer)
      yield* gate.release
      yield* until(() => gate.ends() === 1)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect(
    verifies("http/promise/disconnect_grace")("is logged once when the client goes away and the deadline passes too"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), []))
        const server = yield* serve(layer, { cancellationGrace: "1 second" })
        const answer = yield* Effect.forkChild(server.send(call("slow")))
        yield* gate.started
        yield* Fiber.interrupt(answer)
        yield* turns()
        yield* TestClock.adjust("1 minute")
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(server.logs.length, 1)
        yield* gate.release
      })
  )
})

describe("a stream of notifications whose request goes on", () => {
  const listenTo = () => request(Revision.method.listen, { notifications: { toolsListChanged: true } })

  it.effect(
    verifies("http/promise/cleanup_grace")("is logged once when its grace is over, and keeps its slot until then"),
    () =>
      Effect.gen(function*() {
        const release = yield* Deferred.make<void>()
        let closed = false
        const server = yield* serve(McpServer.tool(Slow, () => Effect.succeed([])), {
          cancellationGrace: "2 seconds",
          maxConcurrentRequests: 1,
          context: () =>
            Effect.as(
              Effect.addFinalizer(() =>
                Effect.andThen(
                  Deferred.await(release),
                  Effect.sync(() => {
                    closed = true
                  })
                )
              ),
              Context.empty() as Context.Context<never>
            )
        })
        const stream = yield* open(server.url, listenTo())
        yield* until(() => stream.text().includes("acknowledged"))
        stream.destroy()
        yield* turns()
        yield* TestClock.adjust("1999 millis")
        assert.deepStrictEqual(server.logs, [])
        yield* TestClock.adjust("1 millis")
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(
          server.logs.map(({ annotations, level, text }) => [level, text, annotations["method"]]),
          [
            [
              "Warn",
              "A stream of notifications has ended, and what its request acquired is still held",
              Revision.method.listen
            ]
          ]
        )
        assert.strictEqual((yield* server.send(call("slow"))).status, 503)
        yield* Deferred.succeed(release, undefined)
        yield* until(() => closed)
        assert.strictEqual((yield* server.send(call("slow"))).status, 200)
      })
  )
})

describe("a client that goes away", () => {
  it.effect(
    verifies("CAN-3", "CAN-4", "HTTP-20", "http/promise/disconnect_cancels")(
      "while it waits for JSON interrupts the handler"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])), { maxConcurrentRequests: 1 })
        const answer = yield* Effect.forkChild(server.send(call("slow")))
        yield* gate.started
        yield* Fiber.interrupt(answer)
        assert.strictEqual(reasonOf(yield* gate.ended), "disconnect")
        assert.strictEqual((yield* server.send(call("other"))).status, 200)
        assert.deepStrictEqual(server.logs, [])
      })
  )

  it.effect(
    verifies("CAN-3", "CAN-4", "HTTP-20", "http/promise/disconnect_cancels")(
      "in the middle of a stream interrupts the handler"
    ),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(Slow, () =>
          Invocation.progress({ progress: 1 }).pipe(Effect.andThen(gate.run), Effect.as([])))
        const server = yield* serve(layer, { maxConcurrentRequests: 1 })
        const stream = yield* open(server.url, call("slow", {}, withToken(1)))
        yield* gate.started
        yield* until(() =>
          stream.text() !== ""
        )
        stream.destroy()
        assert.strictEqual(reasonOf(yield* gate.ended), "disconnect")
        assert.strictEqual((yield* server.send(call("other"))).status, 200)
        assert.deepStrictEqual(server.logs, [])
      })
  )

  it.effect("after the answer changes nothing", () =>
    Effect.gen(function*() {
      const closed = yield* Deferred.make<Exit.Exit<unknown, unknown>>()
      const layer = McpServer.tool(Slow, () =>
        Effect.as(Effect.addFinalizer((exit) => Deferred.succeed(closed, exit)), [Content.text("done")]))
      const server = yield* serve(layer)
      const stream = yield* open(server.url, call("slow"))
      stream.destroy()
      assert.isTrue(Exit.isSuccess(yield* Deferred.await(closed)))
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect("runs the finalizers of the handler, whatever it caught", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const log: Array<string> = []
      const layer = McpServer.tool(Slow, () =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => log.push("scope")))
          yield* gate.run.pipe(
            Effect.catchCause(() => Effect.sync(() => log.push("caught"))),
            Effect.ensuring(Effect.sync(() => log.push("ensuring")))
          )
          log.push("went on")
          return []
        }))
      const server = yield* serve(layer)
      const answer = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      yield* Fiber.interrupt(answer)
      yield* until(() => log.includes("scope"))
      assert.deepStrictEqual(log, ["ensuring", "scope"])
    }))
})

describe("the scope of a handler", () => {
  it.effect("closes with the request, before its answer", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const layer = McpServer.tool(Slow, () =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer((exit) => Effect.sync(() => log.push(exit._tag)))
          yield* Effect.forkScoped(Effect.onInterrupt(Effect.never, () => Effect.sync(() => log.push("fiber"))))
          yield* Effect.yieldNow
          return []
        }))
      const server = yield* serve(layer)
      const answer = yield* server.send(call("slow"))
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual([...log].sort(), ["Success", "fiber"])
    }))

  it.effect("is each request's own, also where the layer has one", () =>
    Effect.gen(function*() {
      let closed = 0
      const gates = [makeGate(), makeGate()]
      const waiting = [...gates]
      const layer = McpServer.tool(Slow, () =>
        Effect.gen(function*() {
          yield* Effect.addFinalizer(() =>
            Effect.sync(() => {
              closed++
            })
          )
          yield* waiting.shift()!.run
          return []
        }))
      const server = yield* serve(layer)
      const first = yield* Effect.forkChild(server.send(call("slow")))
      yield* gates[0]!.started
      const second = yield* Effect.forkChild(server.send(call("slow")))
      yield* gates[1]!.started
      yield* gates[1]!.release
      yield* Fiber.join(second)
      assert.strictEqual(closed, 1)
      yield* gates[0]!.release
      yield* Fiber.join(first)
      assert.strictEqual(closed, 2)
    }))
})
