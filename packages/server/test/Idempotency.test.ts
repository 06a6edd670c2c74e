import { assert, describe, it } from "@effect/vitest"
import { Call, Content, Json, Revision, Tool } from "@fairlead/protocol"
import { Idempotency, Input, McpServer, Middleware } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Persistence from "effect/persistence/Persistence"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { principalOf, whoHeader } from "./support/ask.ts"
import { makeGate, serve, turns, until } from "./support/serve.ts"
import { call, request } from "./support/wire.ts"

const { codes, meta } = Revision

const Order = Tool.make("order", {
  input: Schema.Struct({ what: Schema.optionalKey(Schema.Unknown), note: Schema.optionalKey(Schema.Unknown) }),
  output: Schema.Struct({ number: Schema.Int })
})
const Other = Tool.make("other", { output: Schema.Struct({ number: Schema.Int }) })

/** Tools that count how often they ran. */
const counting = () => {
  let count = 0
  const run = Effect.sync(() => ({ number: ++count }))
  return {
    count: () => count,
    layer: Layer.merge(McpServer.tool(Order, () => run), McpServer.tool(Other, () => run))
  }
}

const withKey = (key: string) => ({ meta: { [Call.metaKeys.idempotencyKey]: key } })

const serving = <A, E>(
  registrations: Layer.Layer<A, E, McpServer.McpServer>,
  options: {
    readonly timeToLive?: Duration.Input
    readonly store?: Layer.Layer<Idempotency.IdempotencyStore>
    readonly inside?: ReadonlyArray<Middleware.Middleware>
  } = {}
) =>
  Effect.map(
    Effect.provide(
      serve(registrations, {
        context: principalOf,
        middleware: [Idempotency.middleware({ timeToLive: options.timeToLive }), ...(options.inside ?? [])]
      }),
      options.store ?? Idempotency.layerMemory()
    ),
    (server) => ({
      ...server,
      order: (key: string, args: unknown = {}, who?: string) =>
        Effect.map(
          server.send(call("order", args, withKey(key)), { headers: { [whoHeader]: who } }),
          ({ json }) => json
        )
    })
  )

const refusal = "The idempotency key was used with other arguments"

const stores = [
  ["in memory", Idempotency.layerMemory()],
  ["on effect/persistence", Layer.provide(Idempotency.layerPersistence, Persistence.layerBackingMemory)]
] as const

describe.each(stores)("results that are kept %s", (_, store) => {
  it.effect("are replayed for the same key and arguments, under the id of the new request; the tool runs once", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const server = yield* serving(layer, { store })
      const send = (id: number, args: unknown) => server.send(call("order", args, { id, ...withKey("k") }))
      const first = yield* send(1, { what: "tea", note: { b: 1, a: [1, 2] } })
      // The order of members is none of the arguments.
      const second = yield* send(2, { note: { a: [1, 2], b: 1 }, what: "tea" })
      assert.strictEqual(second.text, first.text.replace("\"id\":1", "\"id\":2"))
      assert.deepStrictEqual(second.json.result.structuredContent, { number: 1 })
      assert.strictEqual(count(), 1)
    }))

  it.effect("are refused for other arguments", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const server = yield* serving(layer, { store })
      yield* server.order("k", { what: "tea" })
      for (const args of [{ what: "coffee" }, { what: ["tea"] }, { what: "tea", note: null }, {}]) {
        const { result } = yield* server.order("k", args)
        assert.deepStrictEqual([result.isError, result.content[0].text], [true, refusal])
      }
      assert.strictEqual(count(), 1)
      assert.deepStrictEqual((yield* server.order("k", { what: "tea" })).result.structuredContent, { number: 1 })
    }))

  it.effect("are the caller's own, and the tool's", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const server = yield* serving(layer, { store })
      const numbers = [
        (yield* server.order("k", {}, "a")).result.structuredContent.number,
        (yield* server.order("k", {}, "b")).result.structuredContent.number,
        (yield* server.order("k")).result.structuredContent.number,
        (yield* server.order("l", {}, "a")).result.structuredContent.number,
        (yield* server.send(call("other", {}, withKey("k")))).json.result.structuredContent.number,
        (yield* server.order("k", {}, "a")).result.structuredContent.number
      ]
      assert.deepStrictEqual(numbers, [1, 2, 3, 4, 5, 1])
      assert.strictEqual(count(), 5)
    }))

  it.effect("have everything that the first had: structure, metadata, content, big numbers, isError", () =>
    Effect.gen(function*() {
      let count = 0
      const Rich = Tool.make("rich", { output: Schema.Unknown })
      const Failing = Tool.make("failing", { failure: Schema.Struct({ code: Schema.Int }) })
      const layer = Layer.merge(
        McpServer.tool(Rich, () =>
          Effect.sync(() => {
            count++
            return Tool.reply({ list: [null, 1.5, { deep: true }] }, {
              content: [Content.text("rich")],
              meta: { "test/own": [1] }
            })
          })),
        McpServer.tool(Failing, () =>
          Effect.suspend(() => {
            count++
            return Effect.fail({ code: 7 })
          }))
      )
      const server = yield* serving(layer, { store })
      for (const name of ["rich", "failing"]) {
        const first = yield* server.send(call(name, {}, withKey("k")))
        const second = yield* server.send(call(name, {}, withKey("k")))
        assert.strictEqual(second.text, first.text)
        assert.strictEqual(first.json.result.isError ?? false, name === "failing")
      }
      assert.strictEqual(count, 2)
    }))

  it.effect("keep every digit", () =>
    Effect.gen(function*() {
      const { layer } = counting()
      const server = yield* serving(layer, {
        store,
        inside: [() =>
          Effect.succeed(
            Middleware.answer({ content: [], structuredContent: new Json.ExactNumber("12345678901234567890") })
          )]
      })
      for (let i = 0; i < 2; i++) {
        const { text } = yield* server.send(call("order", {}, withKey("k")))
        assert.include(text, "\"structuredContent\":12345678901234567890")
      }
    }))

  it.effect("are kept for an hour", () =>
    Effect.gen(function*() {
      const { layer } = counting()
      const server = yield* serving(layer, { store })
      yield* server.order("k")
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual((yield* server.order("k")).result.structuredContent.number, 1)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* server.order("k")).result.structuredContent.number, 2)
    }))

  it.effect("are kept as long as one says", () =>
    Effect.gen(function*() {
      const { layer } = counting()
      const server = yield* serving(layer, { store, timeToLive: "1 day" })
      yield* server.order("k")
      yield* TestClock.adjust("23 hours")
      assert.strictEqual((yield* server.order("k")).result.structuredContent.number, 1)
      yield* TestClock.adjust("1 hour")
      // With the record the arguments are forgotten too.
      assert.strictEqual((yield* server.order("k", { what: "tea" })).result.structuredContent.number, 2)
    }))
})

describe("a request", () => {
  it.effect("without a key runs each time", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const server = yield* serving(layer)
      for (let i = 0; i < 3; i++) yield* server.send(call("order"))
      assert.strictEqual(count(), 3)
    }))

  it.effect("that is no call of a tool passes", () =>
    Effect.gen(function*() {
      const { layer } = counting()
      const server = yield* serving(layer)
      for (let i = 0; i < 2; i++) {
        const { json } = yield* server.send(request("tools/list", {}, withKey("k")))
        assert.lengthOf(json.result.tools, 2)
      }
    }))

  it.effect("without arguments has the empty ones", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const server = yield* serving(layer)
      yield* server.order("k", undefined)
      yield* server.order("k", {})
      assert.strictEqual(count(), 1)
    }))
})

describe("a duplicate while the first runs", () => {
  const gated = () => {
    const gates = [makeGate(), makeGate()]
    const waiting = [...gates]
    let count = 0
    const layer = McpServer.tool(Order, () =>
      Effect.suspend(() => {
        const number = ++count
        return Effect.as(waiting.shift()!.run, { number })
      }))
    return { gates, layer, count: () => count }
  }

  it.effect("waits for it and gets its result", () =>
    Effect.gen(function*() {
      const { count, gates, layer } = gated()
      const server = yield* serving(layer)
      const fibers = [yield* Effect.forkChild(server.order("k"))]
      yield* gates[0]!.started
      for (let i = 0; i < 5; i++) fibers.push(yield* Effect.forkChild(server.order("k")))
      yield* turns(50)
      yield* gates[0]!.release
      for (const fiber of fibers) {
        assert.deepStrictEqual((yield* Fiber.join(fiber)).result.structuredContent, { number: 1 })
      }
      assert.strictEqual(count(), 1)
    }))

  it.effect("with other arguments is refused at once", () =>
    Effect.gen(function*() {
      const { gates, layer } = gated()
      const server = yield* serving(layer)
      const first = yield* Effect.forkChild(server.order("k"))
      yield* gates[0]!.started
      assert.strictEqual((yield* server.order("k", { what: "tea" })).result.content[0].text, refusal)
      yield* gates[0]!.release
      yield* Fiber.join(first)
    }))

  it.effect("runs when the first was interrupted, one at a time", () =>
    Effect.gen(function*() {
      const { count, gates, layer } = gated()
      const server = yield* serving(layer)
      const first = yield* Effect.forkChild(server.order("k"))
      yield* gates[0]!.started
      const second = yield* Effect.forkChild(server.order("k"))
      const third = yield* Effect.forkChild(server.order("k"))
      yield* turns(50)
      yield* Fiber.interrupt(first)
      yield* gates[1]!.started
      yield* turns(50)
      assert.strictEqual(count(), 2)
      yield* gates[1]!.release
      assert.strictEqual((yield* Fiber.join(second)).result.structuredContent.number, 2)
      assert.strictEqual((yield* Fiber.join(third)).result.structuredContent.number, 2)
    }))

  it.effect("runs when the first died, and so does the next after a death", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      let count = 0
      const layer = McpServer.tool(Order, () =>
        Effect.suspend(() => {
          count++
          return count === 1
            ? Effect.andThen(gate.run, Effect.die(new Error("broken")))
            : Effect.succeed({ number: count })
        }))
      const server = yield* serving(layer)
      const first = yield* Effect.forkChild(server.order("k"))
      yield* gate.started
      const second = yield* Effect.forkChild(server.order("k"))
      yield* turns(50)
      yield* gate.release
      assert.strictEqual((yield* Fiber.join(first)).error.code, codes.internalError)
      assert.strictEqual((yield* Fiber.join(second)).result.structuredContent.number, 2)
      assert.strictEqual((yield* server.order("k")).result.structuredContent.number, 2)
    }))

  it.effect("that goes away leaves the first alone", () =>
    Effect.gen(function*() {
      const { count, gates, layer } = gated()
      const server = yield* serving(layer)
      const first = yield* Effect.forkChild(server.order("k"))
      yield* gates[0]!.started
      const second = yield* Effect.forkChild(server.order("k"))
      yield* turns(50)
      yield* Fiber.interrupt(second)
      yield* gates[0]!.release
      assert.strictEqual((yield* Fiber.join(first)).result.structuredContent.number, 1)
      assert.strictEqual(count(), 1)
    }))

  it.effect("is found also while a slow store is asked", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const reads: Array<Deferred.Deferred<void>> = []
      const records = new Map<string, Idempotency.Recorded>()
      const store = Layer.succeed(Idempotency.IdempotencyStore, {
        // It looks first and answers late.
        get: (key) => {
          const found = records.get(key)
          const gate = Deferred.makeUnsafe<void>()
          reads.push(gate)
          return Effect.as(Deferred.await(gate), found)
        },
        set: (key, recorded) => Effect.sync(() => void records.set(key, recorded))
      })
      const server = yield* serving(layer, { store })
      const first = yield* Effect.forkChild(server.order("k"))
      const second = yield* Effect.forkChild(server.order("k"))
      yield* until(() => reads.length >= 1)
      yield* turns(50)
      for (const gate of reads) yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(first)
      for (const gate of reads) yield* Deferred.succeed(gate, undefined)
      assert.strictEqual((yield* Fiber.join(second)).result.structuredContent.number, 1)
      assert.strictEqual(count(), 1)
    }))
})

describe("what is not recorded", () => {
  it.effect("is an error, and a call that ran into its deadline", () =>
    Effect.gen(function*() {
      const ends: Array<Effect.Effect<{ readonly number: number }>> = [
        Effect.die(new Error("broken")),
        // The output breaks its schema.
        Effect.succeed({ number: 0.5 }),
        Effect.never,
        Effect.succeed({ number: 4 })
      ]
      const server = yield* serving(McpServer.tool(Order, () => ends.shift()!))
      assert.strictEqual((yield* server.order("k")).error.code, codes.internalError)
      assert.strictEqual((yield* server.order("k")).error.code, codes.internalError)
      const late = yield* Effect.forkChild(server.order("k"))
      yield* until(() => ends.length === 1)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(late)).error.code, codes.internalError)
      assert.strictEqual((yield* server.order("k")).result.structuredContent.number, 4)
    }))

  it.effect("is a refusal of other middleware: the client was asked to try again", () =>
    Effect.gen(function*() {
      const { layer } = counting()
      let busy = true
      const server = yield* serving(layer, {
        inside: [(request, next) => busy ? Middleware.refuse(request, "Busy") : next]
      })
      assert.strictEqual((yield* server.order("k")).result.content[0].text, "Busy")
      busy = false
      assert.strictEqual((yield* server.order("k")).result.structuredContent.number, 1)
    }))

  it.effect("is a round of input: the answer to the last one is", () =>
    Effect.gen(function*() {
      let ended = 0
      const layer = McpServer.tool(Order, () =>
        Effect.map(
          Effect.orDie(Input.form("count", { message: "How many?", schema: Schema.Struct({ n: Schema.Int }) })),
          ({ n }) => {
            ended++
            return { number: n }
          }
        ))
      const server = yield* serving(layer)
      const more = { meta: { ...withKey("k").meta, [meta.clientCapabilities]: { elicitation: {} } } }
      const first = (yield* server.send(call("order", {}, more))).json.result
      assert.strictEqual(first.resultType, "input_required")
      assert.strictEqual((yield* server.send(call("order", {}, more))).json.result.resultType, "input_required")
      const answered = request("tools/call", {
        name: "order",
        arguments: {},
        inputResponses: { count: { action: "accept", content: { n: 3 } } },
        requestState: first.requestState
      }, more)
      assert.strictEqual((yield* server.send(answered)).json.result.structuredContent.number, 3)
      assert.strictEqual((yield* server.send(answered)).json.result.structuredContent.number, 3)
      // Whoever starts anew with the key has its result already.
      assert.strictEqual((yield* server.send(call("order", {}, more))).json.result.structuredContent.number, 3)
      assert.strictEqual(ended, 1)
    }))
})

describe("layerMemory", () => {
  it.effect("forgets the oldest beyond its capacity", () =>
    Effect.gen(function*() {
      const { layer } = counting()
      const server = yield* serving(layer, { store: Idempotency.layerMemory({ capacity: 2 }) })
      const number = (key: string) => Effect.map(server.order(key), ({ result }) => result.structuredContent.number)
      assert.deepStrictEqual([yield* number("a"), yield* number("b"), yield* number("c")], [1, 2, 3])
      assert.deepStrictEqual([yield* number("c"), yield* number("b")], [3, 2])
      assert.strictEqual(yield* number("a"), 4)
      assert.strictEqual(yield* number("b"), 5)
    }))

  it.effect("forgets the oldest beyond its length, and keeps nothing that is longer", () =>
    Effect.gen(function*() {
      const store = Context.get(
        yield* Layer.build(Idempotency.layerMemory({ maxLength: 300 })),
        Idempotency.IdempotencyStore
      )
      const recorded = (length: number) => ({ args: "a".repeat(length), result: {}, meta: undefined })
      const kept = Effect.map(
        Effect.forEach(["a", "b", "c"], (key) => store.get(key)),
        (all) => all.map((one) => one?.args.length)
      )
      const set = (key: string, length: number) => store.set(key, recorded(length), Duration.hours(1))
      yield* set("a", 100)
      yield* set("b", 100)
      assert.deepStrictEqual(yield* kept, [100, 100, undefined])
      yield* set("c", 100)
      assert.deepStrictEqual(yield* kept, [undefined, 100, 100])
      yield* set("b", 10)
      yield* set("a", 100)
      assert.deepStrictEqual(yield* kept, [100, 10, 100])
      yield* set("a", 400)
      assert.deepStrictEqual(yield* kept, [undefined, 10, 100])
    }))

  it.effect("keeps nothing beyond its time, whether or not anybody asks for it", () =>
    Effect.gen(function*() {
      const store = Context.get(
        yield* Layer.build(Idempotency.layerMemory({ maxLength: 300 })),
        Idempotency.IdempotencyStore
      )
      const recorded = { args: "a".repeat(100), result: {}, meta: undefined }
      yield* store.set("a", recorded, Duration.hours(1))
      yield* store.set("b", recorded, Duration.hours(2))
      yield* TestClock.adjust("1 hour")
      // Makes room by the time alone: of two that are kept none has to go.
      yield* store.set("c", recorded, Duration.hours(1))
      assert.isDefined(yield* store.get("b"))
      assert.isUndefined(yield* store.get("a"))
    }))

  it.effect("keeps 10,000", () =>
    Effect.gen(function*() {
      const store = Context.get(yield* Layer.build(Idempotency.layerMemory()), Idempotency.IdempotencyStore)
      const recorded = { args: "{}", result: {}, meta: undefined }
      for (let i = 0; i < 10_001; i++) yield* store.set(String(i), recorded, Duration.hours(1))
      assert.isUndefined(yield* store.get("0"))
      assert.deepStrictEqual(yield* store.get("1"), recorded)
      assert.deepStrictEqual(yield* store.get("10000"), recorded)
    }))
})

describe("a store that fails", () => {
  const failing = (options: { readonly get?: boolean; readonly set?: boolean }) =>
    Layer.succeed(Idempotency.IdempotencyStore, {
      get: () =>
        options.get === true ? Effect.fail(new Idempotency.StoreError({ cause: "hunter2" })) : Effect.undefined,
      set: () => options.set === true ? Effect.fail(new Idempotency.StoreError({ cause: "hunter2" })) : Effect.void
    })

  it.effect("to read lets nothing run, and nothing wait", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const server = yield* serving(layer, { store: failing({ get: true }) })
      for (let i = 0; i < 2; i++) {
        assert.deepStrictEqual((yield* server.order("k")).error, {
          code: codes.internalError,
          message: "The idempotency store cannot be reached"
        })
      }
      assert.strictEqual(count(), 0)
      assert.isDefined((yield* server.send(call("order"))).json.result)
    }))

  it.effect("to write gives the caller its result all the same, and those that waited too; it is logged", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      let count = 0
      const layer = McpServer.tool(Order, () =>
        Effect.suspend(() => {
          count++
          return Effect.as(gate.run, { number: count })
        }))
      const server = yield* serving(layer, { store: failing({ set: true }) })
      const first = yield* Effect.forkChild(server.order("k"))
      yield* gate.started
      const second = yield* Effect.forkChild(server.order("k"))
      yield* turns(50)
      yield* gate.release
      assert.strictEqual((yield* Fiber.join(first)).result.structuredContent.number, 1)
      assert.strictEqual((yield* Fiber.join(second)).result.structuredContent.number, 1)
      assert.strictEqual(count, 1)
      assert.deepStrictEqual(server.logs.map(({ level }) => level), ["Warn"])
    }))

  it.effect("by taking its time to write keeps nobody waiting but the one who did the work", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      const gate = makeGate()
      const store = Layer.succeed(Idempotency.IdempotencyStore, { get: () => Effect.undefined, set: () => gate.run })
      const server = yield* serving(layer, { store })
      const first = yield* Effect.forkChild(server.order("k"))
      yield* gate.started
      assert.strictEqual((yield* server.order("k")).result.structuredContent.number, 1)
      assert.strictEqual(count(), 1)
      yield* gate.release
      assert.strictEqual((yield* Fiber.join(first)).result.structuredContent.number, 1)
    }))

  it.effect("by giving something else than was kept is no store to trust", () =>
    Effect.gen(function*() {
      const { count, layer } = counting()
      for (const found of [{}, { recorded: 1 }, { recorded: "{" }, { recorded: "{\"args\":1,\"result\":{}}" }, []]) {
        const backing = Layer.succeed(Persistence.BackingPersistence, {
          make: () =>
            Effect.succeed({ get: () => Effect.succeed(found) } as unknown as Persistence.BackingPersistenceStore)
        })
        const server = yield* serving(layer, { store: Layer.provide(Idempotency.layerPersistence, backing) })
        assert.strictEqual((yield* server.order("k")).error.message, "The idempotency store cannot be reached")
      }
      assert.strictEqual(count(), 0)
    }))
})
