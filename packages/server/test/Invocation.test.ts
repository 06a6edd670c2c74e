import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, Json, Revision, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as TestClock from "effect/testing/TestClock"
import { pipeTo } from "./support/listening.ts"
import { endpointOf, serve, until } from "./support/serve.ts"
import { call, headersOf, type Message } from "./support/wire.ts"

const { meta } = Revision
const Look = Tool.make("look")

const annotated = Layer.succeed(References.CurrentLogAnnotations, { app: "a" })

type Service = Invocation.Invocation["Service"]

/** Serves a tool that looks at its invocation. */
const looking = <A>(look: (invocation: Service) => Effect.Effect<A>) => {
  const seen: Array<A> = []
  const layer = McpServer.tool(Look, () =>
    Effect.gen(function*() {
      seen.push(yield* look(yield* Invocation.Invocation))
      return []
    }))
  return { layer, seen }
}

const look = <A>(f: (invocation: Service) => A, message: Message, headers: Record<string, string | undefined> = {}) =>
  Effect.gen(function*() {
    const { layer, seen } = looking((invocation) => Effect.sync(() => f(invocation)))
    const server = yield* serve(layer)
    const answer = yield* server.send(message, { headers })
    assert.strictEqual(seen.length, 1, answer.text)
    return seen[0]!
  })

const correlationMeta = (correlation: unknown) => ({ meta: { [Call.metaKeys.correlation]: correlation } })

describe("what a handler logs", () => {
  it.effect("carries the correlation of its request, beside what was annotated around it", () =>
    Effect.gen(function*() {
      const Log = Tool.make("log")
      const handler = McpServer.tool(
        Log,
        () => Effect.as(Effect.logInfo("looking").pipe(Effect.annotateLogs("shelf", 3)), "done")
      )
      for (const [layer, around] of [[handler, {}], [Layer.provide(handler, annotated), { app: "a" }]] as const) {
        const server = yield* serve(layer)
        yield* server.send(call("log", {}, correlationMeta("order-42")), {
          headers: { [Call.correlationHeader]: "order-42" }
        })
        const log = server.logs.find(({ text }) => text.includes("looking"))
        assert.deepStrictEqual({ ...log?.annotations }, { ...around, correlation: "order-42", shelf: 3 })
      }
    }))
})

describe("what a handler knows", () => {
  it.effect(
    verifies("META-10")("is what the request carries, the whole of its metadata"),
    () =>
      Effect.gen(function*() {
        const capabilities = { sampling: {}, "com.example/x": { a: 1 } }
        const info = { name: "client", version: "1", title: "Client" }
        const seen = yield* look(
          (it) => ({
            id: it.requestId,
            method: it.method,
            info: it.clientInfo,
            capabilities: it.clientCapabilities,
            key: it.idempotencyKey,
            extra: it.meta["com.example/extra"],
            principal: it.principal
          }),
          call("look", {}, {
            id: "a-1",
            meta: {
              [meta.clientInfo]: info,
              [meta.clientCapabilities]: capabilities,
              [Call.metaKeys.idempotencyKey]: "key-1",
              "com.example/extra": [null, 1]
            }
          })
        )
        assert.deepStrictEqual(seen, {
          id: "a-1",
          method: "tools/call",
          info,
          capabilities,
          key: "key-1",
          extra: [null, 1],
          principal: undefined
        } as never)
      })
  )

  it.effect("is undefined where the request says nothing", () =>
    Effect.gen(function*() {
      const seen = yield* look((it) => [it.clientInfo, it.idempotencyKey, it.principal], call("look"))
      assert.deepStrictEqual(seen, [undefined, undefined, undefined])
    }))

  it.effect("keeps the digits of an id beyond a double", () =>
    Effect.gen(function*() {
      const { layer, seen } = looking((it) => Effect.succeed(it.requestId))
      const server = yield* serve(layer)
      const body = JSON.stringify(call("look")).replace("\"id\":1", "\"id\":9007199254740993")
      yield* server.send(body, { headers: headersOf(call("look")) })
      assert.strictEqual(Json.stringify(seen[0]), "9007199254740993")
    }))

  it.effect("has an invocation id of its own for each run", () =>
    Effect.gen(function*() {
      const { layer, seen } = looking((it) => Effect.succeed([it.invocationId, it.invocationId]))
      const server = yield* serve(layer)
      const other = yield* serve(layer)
      for (const { send } of [server, server, other]) yield* send(call("look"))
      for (const [first, again] of seen) assert.strictEqual(first, again)
      assert.strictEqual(new Set(seen.flat()).size, 3)
    }))

  it.effect("has the time that is left", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const { layer, seen } = looking((it) =>
        Effect.gen(function*() {
          const before = yield* it.remaining
          yield* Deferred.succeed(started, undefined)
          yield* Deferred.await(go)
          return [before, yield* it.remaining].map(Duration.toMillis)
        })
      )
      const server = yield* serve(layer)
      const answer = yield* Effect.forkChild(server.send(call("look")))
      yield* Deferred.await(started)
      yield* TestClock.adjust("10 seconds")
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(answer)
      assert.deepStrictEqual(seen, [[30_000, 20_000]])
    }))
})

describe("the correlation", () => {
  const correlation = (it: Service) => it.correlation

  it.effect(
    verifies("http/default/correlation", "http/promise/correlation_form")("is the header's"),
    () =>
      Effect.gen(function*() {
        for (const value of ["order-42", "!", "~".repeat(128)]) {
          assert.strictEqual(yield* look(correlation, call("look"), { "X-Correlation-ID": value }), value)
        }
      })
  )

  it.effect.each(["", " ", "a b", "é", "x".repeat(129), "a\tb"])(
    verifies("http/promise/correlation_form")("is a fresh one where the header's is '%s', which cannot travel"),
    (value) =>
      Effect.gen(function*() {
        assert.match(yield* look(correlation, call("look"), { "x-correlation-id": value }), /^[0-9a-f]{32}$/)
      })
  )

  it.effect(
    verifies("http/default/correlation", "http/promise/correlation_precedence")(
      "is a fresh one for each request over HTTP without the header: the body is not asked"
    ),
    () =>
      Effect.gen(function*() {
        const { layer, seen } = looking((it) => Effect.succeed(it.correlation))
        const server = yield* serve(layer)
        for (let i = 0; i < 2; i++) yield* server.send(call("look", {}, correlationMeta("body")))
        for (const value of seen) assert.match(value, /^[0-9a-f]{32}$/)
        assert.notStrictEqual(seen[0], seen[1])
      })
  )

  it.effect("is the metadata's on a channel, or a fresh one where that cannot travel", () =>
    Effect.gen(function*() {
      const { layer, seen } = looking((it) => Effect.succeed(it.correlation))
      const pipe = pipeTo(Context.get(yield* endpointOf(layer), McpEndpoint.McpEndpoint))
      const given = ["order-42", "", "a b", "é", "x".repeat(129), 7, null]
      for (const [id, value] of given.entries()) {
        pipe.send(call("look", {}, { id, meta: { [Call.metaKeys.correlation]: value } }))
      }
      yield* until(() => pipe.messages().length === given.length)
      assert.strictEqual(seen[0], "order-42")
      for (const value of seen.slice(1)) assert.match(String(value), /^[0-9a-f]{32}$/)
      assert.strictEqual(new Set(seen).size, given.length)
    }))
})

describe("cancelled and signal", () => {
  it.effect(
    verifies("http/promise/disconnect_signal")("fire when the client goes away, before the handler's finalizers"),
    () =>
      Effect.gen(function*() {
        const started = yield* Deferred.make<void>()
        const log: Array<string> = []
        const { layer } = looking((it) =>
          Effect.gen(function*() {
            it.signal.addEventListener("abort", () => log.push("signal"))
            yield* Effect.forkDetach(Effect.andThen(it.cancelled, Effect.sync(() => log.push("cancelled"))))
            yield* Effect.yieldNow
            yield* Deferred.succeed(started, undefined)
            yield* Effect.never
          }).pipe(Effect.ensuring(Effect.sync(() => log.push("finalizer"))))
        )
        const server = yield* serve(layer)
        const answer = yield* Effect.forkChild(server.send(call("look")))
        yield* Deferred.await(started)
        assert.deepStrictEqual(log, [])
        yield* Fiber.interrupt(answer)
        yield* until(() => log.length === 3)
        assert.strictEqual(log.at(-1), "finalizer")
      })
  )

  it.effect("fire at the deadline, for a handler that cannot be interrupted too", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const { layer, seen } = looking((it) =>
        Effect.uninterruptible(Effect.gen(function*() {
          yield* Deferred.succeed(started, undefined)
          yield* it.cancelled
          // Asked for late, it has fired all the same.
          return it.signal.aborted
        }))
      )
      const server = yield* serve(layer)
      const answer = yield* Effect.forkChild(server.send(call("look")))
      yield* Deferred.await(started)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(answer)).status, 504)
      yield* until(() => seen.length === 1)
      assert.deepStrictEqual(seen, [true])
    }))

  it.effect("do not fire when the request ends by itself", () =>
    Effect.gen(function*() {
      const { layer, seen } = looking((it) => Effect.succeed(it.signal))
      const server = yield* serve(layer)
      yield* server.send(call("look"))
      yield* server.close
      assert.isFalse(seen[0]!.aborted)
    }))
})

describe("the call that a handler's own calls start from", () => {
  /** The call of the handler. */
  const currentCall = (message: Message, wrap: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const seen: Array<Call.Call> = []
      const layer = McpServer.tool(Look, () =>
        Effect.gen(function*() {
          const it = yield* Call.Current
          seen.push({
            deadline: it.deadline,
            timeout: it.timeout,
            cancellation: it.cancellation,
            correlation: it.correlation,
            idempotencyKey: it.idempotencyKey,
            progress: it.progress,
            maxTotal: it.maxTotal,
            log: it.log,
            meta: it.meta
          })
          return []
        }))
      const server = yield* wrap(serve(layer))
      yield* server.send(message, { headers: { "x-correlation-id": "c-1" } })
      return seen[0]!
    })

  const message = call("look", {}, {
    meta: {
      [meta.progressToken]: 1,
      [Call.metaKeys.idempotencyKey]: "key",
      [Call.metaKeys.timeoutMillis]: 5000,
      "com.example/a": 1
    }
  })

  it.effect("has deadline, cancellation and correlation of the request, and nothing else of it", () =>
    Effect.gen(function*() {
      const { cancellation, ...rest } = yield* currentCall(message, (self) => self)
      assert.deepStrictEqual(rest, {
        deadline: 5000,
        timeout: undefined,
        correlation: "c-1",
        idempotencyKey: undefined,
        progress: undefined,
        maxTotal: undefined,
        log: undefined,
        meta: undefined
      })
      assert.strictEqual(cancellation.length, 1)
    }))

  it.effect("has nothing of whoever built the layer", () =>
    Effect.gen(function*() {
      const { cancellation, ...rest } = yield* currentCall(call("look"), (self) =>
        self.pipe(
          Call.withCorrelation("leaked"),
          Call.withDeadline("1 second"),
          Call.withTimeout("1 second"),
          Call.withIdempotencyKey("leaked"),
          Call.withMeta({ "com.example/leaked": 1 }),
          Call.withProgress(() => Effect.die("leaked")),
          Call.withCancellation(new AbortController().signal)
        ))
      assert.deepStrictEqual(rest, {
        deadline: 30_000,
        timeout: undefined,
        correlation: "c-1",
        idempotencyKey: undefined,
        progress: undefined,
        maxTotal: undefined,
        log: undefined,
        meta: undefined
      })
      assert.strictEqual(cancellation.length, 1)
    }))

  it.effect("its cancellation fires with the request's", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<Call.Call>()
      const layer = McpServer.tool(Look, () =>
        Effect.gen(function*() {
          yield* Deferred.succeed(started, yield* Call.Current)
          return yield* Effect.never
        }))
      const server = yield* serve(layer)
      const answer = yield* Effect.forkChild(server.send(call("look")))
      const { cancellation } = yield* Deferred.await(started)
      assert.isFalse(cancellation[0]!.signal.aborted)
      yield* Fiber.interrupt(answer)
      yield* until(() => cancellation[0]!.signal.aborted)
    }))

  it.effect("a service from a layer sees the call of the request that uses it", () =>
    Effect.gen(function*() {
      const correlations: Array<string | undefined> = []
      const layer = Layer.effectDiscard(Effect.gen(function*() {
        const server = yield* McpServer.McpServer
        const record = Effect.map(Call.Current, ({ correlation }) => void correlations.push(correlation))
        yield* server.register(McpServer.toolHandler(Look, () => Effect.as(record, [])))
      }))
      const server = yield* Call.withCorrelation(serve(layer), "leaked")
      for (const id of ["a", "b"]) yield* server.send(call("look"), { headers: { "x-correlation-id": id } })
      assert.deepStrictEqual(correlations, ["a", "b"])
    }))
})
