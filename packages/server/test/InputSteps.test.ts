/**
 * Steps: what runs once over all rounds of a request.
 */
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, Content, Revision, Tool } from "@fairlead/protocol"
import { Idempotency, Input, type Invocation, McpServer, type Middleware } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { accept, askedBy, callRound, play, textOf } from "./support/rounds.ts"
import { type Options, serve, turns } from "./support/serve.ts"

const Work = Tool.make("work")

const ask = (key = "a") =>
  Effect.map(
    Effect.orDie(Input.form(key, { message: "Who?", schema: Schema.Struct({ name: Schema.String }) })),
    ({ name }) => name
  )

const answers = { a: accept({ name: "A" }), b: accept({ name: "B" }) }

const toolOf = (handler: Effect.Effect<unknown, never, Invocation.Invocation>) =>
  McpServer.tool(Work, () => Effect.map(handler, (value) => [Content.text(JSON.stringify(value))]))

const serveWork = (handler: Effect.Effect<unknown, never, Invocation.Invocation>, options: Options = {}) =>
  Effect.map(serve(toolOf(handler), options), (server) => ({
    ...server,
    play: play(server.send, (more) => callRound("work", more), answers),
    first: server.send(callRound("work"))
  }))

const pause = (millis: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, millis)))

/** An effect that counts its runs, and gives their number. */
const counting = (more: Effect.Effect<unknown> = Effect.void) => {
  let runs = 0
  return {
    get runs() {
      return runs
    },
    run: Effect.suspend(() => Effect.as(more, ++runs))
  }
}

describe("a step", () => {
  it.effect("runs once over all rounds, where other code runs in each", () =>
    Effect.gen(function*() {
      const step = counting()
      const other = counting()
      const server = yield* serveWork(Effect.gen(function*() {
        yield* other.run
        const made = yield* Input.step("s", Schema.Number, step.run)
        return [made, yield* ask("a"), yield* ask("b")]
      }))
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, textOf(last)], [[["a"], ["b"]], "[1,\"A\",\"B\"]"])
      assert.deepStrictEqual([step.runs, other.runs], [1, 3])
    }))

  it.effect("runs once where it is asked for twice, one after the other or at a time", () =>
    Effect.gen(function*() {
      const counter = counting(pause(10))
      const step = Input.step("s", Schema.Number, counter.run)
      const server = yield* serveWork(Effect.gen(function*() {
        const parallel = yield* Effect.all([step, step, step], { concurrency: "unbounded" })
        return [...parallel, yield* step, yield* ask(), yield* step]
      }))
      const { last } = yield* server.play
      assert.deepStrictEqual([textOf(last), counter.runs], ["[1,1,1,1,\"A\",1]", 1])
    }))

  it.effect("that fails runs again in the next round, and again within the same", () =>
    Effect.gen(function*() {
      const counter = counting()
      const step = Effect.exit(Input.step("s", Schema.Number, Effect.flatMap(counter.run, (run) => Effect.fail(run))))
      const server = yield* serveWork(Effect.gen(function*() {
        const exits = [yield* step, yield* step]
        yield* ask()
        return exits.map((exit) => Exit.isFailure(exit))
      }))
      const { last } = yield* server.play
      assert.deepStrictEqual([textOf(last), counter.runs], ["[true,true]", 4])
    }))

  it.effect("that fails where it is asked for twice at a time fails for both, once", () =>
    Effect.gen(function*() {
      const counter = counting(pause(5))
      const step = Effect.flip(Input.step("s", Schema.Number, Effect.flatMap(counter.run, (run) => Effect.fail(run))))
      const server = yield* serveWork(Effect.orDie(Effect.all([step, step], { concurrency: 2 })))
      assert.deepStrictEqual([textOf(yield* server.first), counter.runs], ["[1,1]", 1])
    }))

  it.effect("that runs holds the end of the round, and is recorded", () =>
    Effect.gen(function*() {
      const counter = counting(pause(60))
      const slow = Input.step("s", Schema.Number, counter.run)
      const server = yield* serveWork(Effect.all([ask("a"), slow, ask("b")], { concurrency: "unbounded" }))
      const { asked, last } = yield* server.play
      assert.deepStrictEqual(asked.map((keys) => [...keys].sort()), [["a", "b"]])
      assert.deepStrictEqual([textOf(last), counter.runs], ["[\"A\",1,\"B\"]", 1])
    }))

  it.effect("beside which another still runs holds it too, and what is asked after them is in the same round", () =>
    Effect.gen(function*() {
      const [short, long] = [counting(pause(5)), counting(pause(40))]
      const server = yield* serveWork(Effect.all([
        Effect.andThen(Input.step("short", Schema.Number, short.run), ask("a")),
        Effect.andThen(Input.step("long", Schema.Number, long.run), ask("b"))
      ], { concurrency: 2 }))
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, textOf(last)], [[["a", "b"]], "[\"A\",\"B\"]"])
      assert.deepStrictEqual([short.runs, long.runs], [1, 1])
    }))

  it.effect("that was interrupted is not recorded", () =>
    Effect.gen(function*() {
      const counter = counting(pause(50))
      const step = Input.step("s", Schema.Number, counter.run)
      const server = yield* serveWork(Effect.gen(function*() {
        yield* Effect.raceFirst(step, pause(5))
        yield* ask()
        return yield* step
      }))
      const { last } = yield* server.play
      // Once in each race, and once to its end.
      assert.deepStrictEqual([textOf(last), counter.runs], ["3", 3])
    }))

  it.effect("that was interrupted by the one that began it runs for the other that waits", () =>
    Effect.gen(function*() {
      const counter = counting(pause(20))
      const step = Input.step("s", Schema.Number, counter.run)
      const server = yield* serveWork(
        Effect.all([Effect.raceFirst(Effect.asVoid(step), pause(5)), step, step], { concurrency: "unbounded" })
      )
      assert.deepStrictEqual([textOf(yield* server.first), counter.runs], ["[null,2,2]", 2])
    }))

  it.effect("that is wanted by one of two only goes on for the other", () =>
    Effect.gen(function*() {
      const counter = counting(pause(20))
      const step = Input.step("s", Schema.Number, counter.run)
      const server = yield* serveWork(
        Effect.all([step, Effect.raceFirst(Effect.asVoid(step), pause(5))], { concurrency: "unbounded" })
      )
      assert.deepStrictEqual([textOf(yield* server.first), counter.runs], ["[1,null]", 1])
    }))

  it.effect("within another is recorded by itself", () =>
    Effect.gen(function*() {
      const [inner, outer] = [counting(), counting()]
      const server = yield* serveWork(Effect.gen(function*() {
        const made = yield* Effect.exit(Input.step(
          "outer",
          Schema.Number,
          Effect.gen(function*() {
            yield* outer.run
            yield* Input.step("inner", Schema.Number, inner.run)
            return outer.runs === 1 ? yield* Effect.fail("no") : 7
          })
        ))
        yield* ask()
        return Exit.isSuccess(made) ? made.value : "failed"
      }))
      const { last } = yield* server.play
      assert.deepStrictEqual([textOf(last), inner.runs, outer.runs], ["7", 1, 2])
    }))

  it.effect("keeps its value through its schema: what is encoded comes back as it was", () =>
    Effect.gen(function*() {
      class Build extends Schema.Class<Build>("Build")({ id: Schema.Int, tags: Schema.Array(Schema.String) }) {}
      const values = Effect.all([
        Input.step("date", Schema.Date, Effect.sync(() => new Date(1000))),
        Input.step("bytes", Schema.Uint8Array, Effect.sync(() => new Uint8Array([0, 255]))),
        Input.step("bigint", Schema.BigInt, Effect.succeed(12345678901234567890n)),
        Input.step("class", Build, Effect.sync(() => new Build({ id: 1, tags: ["x"] }))),
        Input.step("void", Schema.Void, Effect.void),
        Input.step("null", Schema.Null, Effect.succeed(null)),
        Input.step("option", Schema.Option(Schema.Number), Effect.succeed(Option.some(1))),
        Input.step("undefined", Schema.UndefinedOr(Schema.String), Effect.succeed(undefined)),
        Input.step("__proto__", Schema.Struct({ a: Schema.Number }), Effect.succeed({ a: 1 })),
        Input.step("", Schema.String, Effect.succeed("é\u2028"))
      ])
      const rounds: Array<unknown> = []
      const server = yield* serveWork(Effect.gen(function*() {
        rounds.push(yield* values)
        yield* ask()
        return "done"
      }))
      yield* server.play
      assert.strictEqual(rounds.length, 2)
      assert.deepStrictEqual(rounds[1], rounds[0])
      assert.instanceOf((rounds[1] as ReadonlyArray<unknown>)[3], Build)
    }))

  it.effect("whose value its schema refuses dies, and nothing is kept", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(Effect.andThen(
        Input.step("s", Schema.NonEmptyString, Effect.succeed("")),
        ask()
      ))
      assert.strictEqual((yield* server.first).json.error.message, "Internal error")
      assert.isTrue(Cause.hasDies(server.logs[0]!.cause))
    }))

  it.effect("cannot ask, nor end the round: it would wait for itself", () =>
    Effect.gen(function*() {
      const inStep = (effect: Effect.Effect<unknown, never, Invocation.Invocation>) =>
        Input.step("s", Schema.Void, Effect.asVoid(effect))
      const wrong: ReadonlyArray<[Effect.Effect<void, never, Invocation.Invocation>, string]> = [
        [inStep(ask("k")), "The input \"k\" is asked for within the step \"s\""],
        [
          inStep(Effect.all([ask("k"), Effect.never], { concurrency: 2 })),
          "The input \"k\" is asked for within the step \"s\""
        ],
        [inStep(Input.require({})), "A round ends within the step \"s\""],
        [inStep(Input.step("t", Schema.Void, Effect.asVoid(ask("k")))), "within the step \"t\""],
        [inStep(inStep(Effect.void)), "The step \"s\" waits for itself"]
      ]
      for (const [handler, message] of wrong) {
        const server = yield* serveWork(handler)
        assert.strictEqual((yield* server.first).json.error.message, "Internal error")
        assert.include(Cause.pretty(server.logs[0]!.cause), message)
      }
    }))
})

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

describe("steps that wait for each other", () => {
  const one = Effect.succeed(1)
  /** A step that runs others once the others have begun. */
  const step = (key: string, inner: Effect.Effect<number, never, Invocation.Invocation>) =>
    Input.step(key, Schema.Int, Effect.andThen(Effect.sleep("1 millis"), inner))

  it.live.each<readonly [string, ReadonlyArray<readonly [string, string]>]>([
    ["two", [["a", "b"], ["b", "a"]]],
    ["three", [["a", "b"], ["b", "c"], ["c", "a"]]]
  ])("die at once, naming two of them: %s", ([, pairs]) =>
    Effect.gen(function*() {
      const server = yield* serve(
        McpServer.tool(Work, () =>
          Effect.as(
            Effect.all(pairs.map(([outer, inner]) => step(outer, Input.step(inner, Schema.Int, one))), {
              concurrency: "unbounded"
            }),
            []
          )),
        { requestTimeout: "5 seconds" }
      )
      const answer = yield* server.send(callRound("work"))
      assert.strictEqual(answer.json.error.code, Revision.codes.internalError)
      assert.include(Cause.pretty(server.logs[0]!.cause), "wait for each other")
    }))

  it.live("in one direction only are no such", () =>
    Effect.gen(function*() {
      let runs = 0
      const shared = Input.step(
        "shared",
        Schema.Int,
        Effect.sleep("5 millis").pipe(Effect.andThen(Effect.sync(() => ++runs)))
      )
      const server = yield* serve(
        McpServer.tool(Work, () =>
          Effect.map(
            Effect.all([
              step("a", step("c", shared)),
              step("b", shared),
              shared,
              step("d", Effect.andThen(shared, shared))
            ], {
              concurrency: "unbounded"
            }),
            (all) => [Content.text(all.join())]
          ))
      )
      assert.strictEqual(textOf(yield* server.send(callRound("work"))), "1,1,1,1")
    }))
})

describe("the results of steps", () => {
  it.effect(
    verifies("MRTR-14", "STATE-3")("reach another process that has the same keys"),
    () =>
      Effect.gen(function*() {
        const runs = [counting(), counting(), counting()]
        const servers = yield* Effect.forEach(runs, ({ run }, i) =>
          serveWork(
            Effect.gen(function*() {
              const made = yield* Input.step("s", Schema.Number, Effect.map(run, (n) => n + 100 * i))
              return [made, yield* ask("a"), yield* ask("b")]
            }),
            { stateKeys: [key(1)] }
          ))
        let next = 0
        const { asked, last } = yield* play(
          (message) => servers[next++ % servers.length]!.send(message),
          (more) => callRound("work", more),
          answers
        )
        assert.deepStrictEqual([asked, textOf(last)], [[["a"], ["b"]], "[1,\"A\",\"B\"]"])
        assert.deepStrictEqual(runs.map(({ runs }) => runs), [1, 0, 0])
      })
  )

  it.effect(
    verifies("MRTR-8")("are the same in each replay of a state, so that the handler can hold it to one use"),
    () =>
      Effect.gen(function*() {
        const used = new Set<number>()
        const tickets = counting()
        const server = yield* serveWork(Effect.gen(function*() {
          const ticket = yield* Input.step("ticket", Schema.Number, tickets.run)
          yield* ask()
          if (used.has(ticket)) return "used"
          used.add(ticket)
          return "paid"
        }))
        const first = yield* server.first
        const retry = callRound("work", { state: first.json.result.requestState, responses: answers })
        assert.strictEqual(textOf(yield* server.send(retry)), "\"paid\"")
        assert.strictEqual(textOf(yield* server.send(retry)), "\"used\"")
      })
  )

  it.effect("are not another request's", () =>
    Effect.gen(function*() {
      const counter = counting()
      const server = yield* serveWork(Effect.andThen(
        Input.step("s", Schema.Number, counter.run),
        ask()
      ))
      yield* Effect.all([server.first, server.first, server.first], { concurrency: 3 })
      assert.strictEqual(counter.runs, 3)
    }))

  it.effect("and an idempotency key go together: a round records nothing, the end does", () =>
    Effect.gen(function*() {
      const done = counting()
      // The store of the middleware comes from around the endpoint.
      const server = yield* Effect.provide(
        serve(toolOf(Effect.andThen(ask(), done.run)), {
          middleware: [Idempotency.middleware() as Middleware.Middleware]
        }),
        Idempotency.layerMemory()
      )
      const meta = { [Call.metaKeys.idempotencyKey]: "k-1" }
      const once = () => play(server.send, (more) => callRound("work", { ...more, meta }), answers)
      const first = yield* once()
      assert.deepStrictEqual([first.asked, textOf(first.last)], [[["a"]], "1"])
      const again = yield* once()
      assert.deepStrictEqual([again.asked, textOf(again.last), done.runs], [[], "1", 1])
    }))
})

describe("a step that is cut off", () => {
  it.effect("by the deadline is not held against the slot once it has ended", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const server = yield* serve(
        toolOf(Effect.all([
          ask(),
          Input.step("s", Schema.Void, Effect.andThen(Deferred.succeed(started, undefined), Effect.never))
        ], { concurrency: 2 })),
        { requestTimeout: "1 second", maxConcurrentRequests: 1 }
      )
      const answer = yield* Effect.forkChild(server.send(callRound("work")))
      yield* Deferred.await(started)
      yield* turns()
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(answer)).status, 504)
      assert.strictEqual((yield* server.send(callRound("other"))).status, 200)
      assert.deepStrictEqual(server.logs, [])
    }))
})

describe("what is asked for after steps", () => {
  it.effect("shows what the steps of the first round made", () =>
    Effect.gen(function*() {
      const counter = counting()
      const server = yield* serveWork(Effect.gen(function*() {
        const build = yield* Input.step("build", Schema.Number, counter.run)
        const { sure } = yield* Effect.orDie(
          Input.form("sure", { message: `Deploy build ${build}?`, schema: Schema.Struct({ sure: Schema.Boolean }) })
        )
        return [build, sure]
      }))
      const first = yield* server.first
      const again = yield* server.send(callRound("work", { state: first.json.result.requestState }))
      assert.deepStrictEqual(askedBy(again), askedBy(first))
      const last = yield* server.send(
        callRound("work", { state: again.json.result.requestState, responses: { sure: accept({ sure: true }) } })
      )
      assert.strictEqual(textOf(last), "[1,true]")
    }))
})
