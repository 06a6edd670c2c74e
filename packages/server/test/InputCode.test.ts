/**
 * What user code around an ask does when the round ends.
 */
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, JsonRpc, Tool } from "@fairlead/protocol"
import { Input, Invocation, McpServer, Middleware } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { begin, open } from "./support/http.ts"
import { accept, askedBy, callRound, play, textOf } from "./support/rounds.ts"
import { type Options, serve, type Serving, turns, until } from "./support/serve.ts"
import { withToken } from "./support/wire.ts"

const Work = Tool.make("work")
const Other = Tool.make("other")

const ask = (key = "a") =>
  Effect.map(
    Effect.orDie(Input.form(key, { message: "Who?", schema: Schema.Struct({ name: Schema.String }) })),
    ({ name }) => name
  )

const answers = { a: accept({ name: "A" }), b: accept({ name: "B" }), c: accept({ name: "C" }) }

type Handler = Effect.Effect<unknown, never, Invocation.Invocation | Scope.Scope>

const toolOf = (handler: Handler) =>
  McpServer.tool(Work, () => Effect.map(handler, (value) => [Content.text(JSON.stringify(value) ?? "nothing")]))

const serveWork = (handler: Handler, options: Options = {}) =>
  Effect.map(serve(toolOf(handler), options), (server) => ({
    ...server,
    play: play(server.send, (more) => callRound("work", more), answers),
    first: server.send(callRound("work"))
  }))

const note = (log: Array<string>, entry: string) => Effect.sync(() => void log.push(entry))

describe("what catches", () => {
  const ways: ReadonlyArray<[string, (self: Effect.Effect<string, never, Invocation.Invocation>) => Handler]> = [
    [
      "catch",
      (self) =>
        Effect.catch(self as Effect.Effect<string, Error, Invocation.Invocation>, () => Effect.succeed("caught"))
    ],
    ["catchCause", Effect.catchCause(() => Effect.succeed("caught"))],
    ["catchDefect", Effect.catchDefect(() => Effect.succeed("caught"))],
    ["exit", (self) => Effect.map(Effect.exit(self), (exit) => Exit.isSuccess(exit) ? exit.value : "caught")],
    ["matchCause", Effect.matchCause({ onSuccess: (value) => value, onFailure: () => "caught" })],
    ["option", (self) => Effect.map(Effect.option(self), Option.getOrElse(() => "caught"))],
    ["sandbox", (self) => Effect.catch(Effect.sandbox(self), () => Effect.succeed("caught"))],
    ["a logger that fails again", (self) => Effect.tapCause(self, () => Effect.void)],
    ["a defect in its place", Effect.catchCause(() => Effect.die("caught"))],
    [
      "try and catch in a generator",
      (self) =>
        Effect.gen(function*() {
          try {
            return yield* self
          } catch {
            return "caught"
          }
        })
    ],
    [
      "parallel branches that catch",
      (self) =>
        Effect.map(
          Effect.all([Effect.catchCause(self, () => Effect.succeed("caught")), ask("b")], { concurrency: 2 }),
          ([first]) => first
        )
    ],
    [
      "a child that is joined",
      (self) =>
        Effect.flatMap(
          Effect.forkChild(Effect.exit(self)),
          (fiber) => Effect.map(Fiber.join(fiber), (exit) => Exit.isSuccess(exit) ? exit.value : "caught")
        )
    ],
    ["a fallback", (self) => Effect.orElseSucceed(self, () => "caught")]
  ]

  it.effect.each(ways)("around an ask catches nothing of the end of a round: %s", ([, way]) =>
    Effect.gen(function*() {
      let after = 0
      const server = yield* serveWork(Effect.tap(way(ask()), () => Effect.sync(() => after++)))
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked.length, asked[0]![0], textOf(last), after], [1, "a", "\"A\"", 1])
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect("sees refusals, which are ordinary failures", () =>
    Effect.gen(function*() {
      const server = yield* serve(toolOf(
        Effect.catchTag(
          Input.url("a", { message: "", url: "https://a.example" }),
          "Declined",
          () => Effect.succeed("no")
        ).pipe(Effect.catchTag("Dismissed", () => Effect.succeed("later")))
      ))
      const { last } = yield* play(server.send, (more) => callRound("work", more), { a: { action: "decline" } })
      assert.strictEqual(textOf(last), "\"no\"")
    }))
})

describe("what runs at the end", () => {
  it.effect("runs in each round, before its answer", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const server = yield* serveWork(
        Effect.andThen(ask("a"), ask("b")).pipe(
          Effect.ensuring(
            Effect.andThen(Effect.promise(() => new Promise((done) => setTimeout(done, 20))), note(log, "ensured"))
          )
        )
      )
      const first = yield* server.first
      assert.deepStrictEqual([Object.keys(askedBy(first)), log], [["a"], ["ensured"]])
      log.length = 0
      const { asked } = yield* server.play
      assert.deepStrictEqual([asked, log], [[["a"], ["b"]], ["ensured", "ensured", "ensured"]])
    }))

  it.effect("acquires and releases in each round, and closes the scope of the request", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const server = yield* serveWork(
        Effect.gen(function*() {
          yield* Effect.addFinalizer((exit) => note(log, `scope ${exit._tag}`))
          return yield* Effect.acquireUseRelease(note(log, "acquire"), () => ask(), () => note(log, "release"))
        })
      )
      yield* server.first
      assert.deepStrictEqual(log, ["acquire", "release", "scope Failure"])
      log.length = 0
      const { last } = yield* server.play
      assert.strictEqual(textOf(last), "\"A\"")
      assert.deepStrictEqual(log.slice(3), ["acquire", "release", "scope Success"])
    }))

  it.effect("is not a generator's finally", () =>
    Effect.gen(function*() {
      let ran = 0
      const server = yield* serveWork(Effect.gen(function*() {
        try {
          return yield* ask()
        } finally {
          ran++
        }
      }))
      yield* server.first
      assert.strictEqual(ran, 0)
      yield* server.play
      assert.strictEqual(ran, 1)
    }))

  it.effect("can tell the end of a round from the end of the request, wherever it is", () =>
    Effect.gen(function*() {
      const seen: Array<readonly [string, boolean]> = []
      const watch = (where: string) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
        Effect.onExit(self, (exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit)) seen.push([where, Input.isSuspension(exit.cause)])
          }))
      const server = yield* serveWork(
        Effect.gen(function*() {
          const child = yield* Effect.forkChild(watch("child")(ask("a")))
          yield* Effect.forkScoped(watch("scoped")(Effect.never))
          yield* Effect.all([
            watch("branch")(Effect.all([watch("leaf")(ask("b")), watch("work")(Effect.never)], { concurrency: 2 })),
            Fiber.join(child),
            watch("timeout")(Effect.timeout(watch("in timeout")(ask("c")), "1 hour"))
          ], { concurrency: "unbounded" })
        }).pipe(Effect.orDie, watch("root"))
      )
      yield* server.first
      assert.deepStrictEqual(
        new Map(seen),
        new Map([
          "branch",
          "leaf",
          "work",
          "child",
          "timeout",
          "in timeout",
          "root",
          "scoped"
        ].map((where) => [where, true]))
      )
    }))

  it.effect("is not told of a suspension where there is none", () =>
    Effect.gen(function*() {
      const seen: Array<readonly [string, boolean]> = []
      const started = yield* Deferred.make<void>()
      const watch = (where: string) => <A, E, R>(self: Effect.Effect<A, E, R>) =>
        Effect.onExit(self, (exit) =>
          Effect.sync(() => {
            if (Exit.isFailure(exit)) seen.push([where, Input.isSuspension(exit.cause)])
          }))
      const server = yield* serveWork(
        Effect.gen(function*() {
          yield* Effect.exit(watch("failure")(Effect.fail("no")))
          yield* Effect.exit(watch("defect")(Effect.die("no")))
          yield* Effect.raceFirst(watch("race")(Effect.never), Effect.yieldNow)
          const fiber = yield* Effect.forkChild(watch("interrupted")(Effect.never))
          yield* Effect.yieldNow
          yield* Fiber.interrupt(fiber)
          yield* Deferred.succeed(started, undefined)
          yield* watch("request")(Effect.never)
        })
      )
      const call = yield* Effect.forkChild(server.first)
      yield* Deferred.await(started)
      yield* Fiber.interrupt(call)
      yield* until(() => seen.length === 5)
      assert.deepStrictEqual(
        seen,
        ["failure", "defect", "race", "interrupted", "request"].map((where) => [where, false])
      )
      assert.isFalse(Input.isSuspension(Cause.interrupt()))
      assert.isFalse(Input.isSuspension(Cause.fail("no")))
    }))
})

describe("time and races", () => {
  it.live("a timeout around an ask never fires", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(Effect.map(Effect.timeoutOption(ask(), "200 millis"), Option.isSome))
      const { asked, last } = yield* server.play
      yield* Effect.sleep("250 millis")
      assert.deepStrictEqual([asked, textOf(last)], [[["a"]], "true"])
    }))

  it.effect("an ask that loses a race is not asked", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(
        Effect.all([
          Effect.raceFirst(ask("a"), Effect.succeed("ready")),
          Effect.raceFirst(Effect.yieldNow, ask("b")),
          Effect.timeoutOption(ask("c"), 0)
        ])
      )
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, JSON.parse(textOf(last))[0]], [[], "ready"])
    }))

  it.effect("an ask that loses a race is asked where it is wanted elsewhere", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(
        Effect.all([Effect.raceFirst(ask("a"), Effect.as(Effect.yieldNow, "ready")), ask("a")], { concurrency: 2 })
      )
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, JSON.parse(textOf(last))[1]], [[["a"]], "A"])
    }))

  it.effect("of asks that race, both are asked", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(Effect.raceFirst(ask("a"), ask("b")))
      assert.deepStrictEqual(Object.keys(askedBy(yield* server.first)).sort(), ["a", "b"])
    }))

  it.effect("a retry does not repeat an ask", () =>
    Effect.gen(function*() {
      let runs = 0
      const server = yield* serveWork(
        Effect.retry(
          Effect.suspend(() => {
            runs++
            return ask()
          }),
          Schedule.recurs(5)
        )
      )
      yield* server.first
      assert.strictEqual(runs, 1)
    }))

  it.effect("code after the cut never runs, not even in parallel", () =>
    Effect.gen(function*() {
      let after = 0
      const server = yield* serveWork(
        Effect.all([
          Effect.andThen(ask(), Effect.sync(() => after++)),
          Effect.andThen(Effect.promise(() => new Promise((done) => setTimeout(done, 50))), Effect.sync(() => after++))
        ], { concurrency: 2 })
      )
      yield* server.first
      yield* Effect.promise(() => new Promise((done) => setTimeout(done, 100)))
      assert.strictEqual(after, 0)
    }))
})

describe("uninterruptible code", () => {
  it.effect("around an ask does not keep the round from ending", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(Effect.uninterruptible(ask()))
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, textOf(last)], [[["a"]], "\"A\""])
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect("that catches runs on: what it gives is not seen, and what it asks or does in steps is not done", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const server = yield* serveWork(
        Effect.uninterruptible(
          Effect.catchCause(ask("a"), () =>
            Effect.gen(function*() {
              log.push("caught")
              const asked = yield* Effect.exit(ask("b"))
              const step = yield* Effect.exit(Input.step("s", Schema.String, Effect.sync(() => log.push("step") + "")))
              const low = yield* Effect.exit(Input.require({}, 1))
              log.push(...[asked, step, low].map((exit) =>
                Exit.isFailure(exit) ? `interrupted ${Cause.hasInterruptsOnly(exit.cause)}` : "success"
              ))
              return "late"
            }))
        )
      )
      const answer = yield* server.first
      assert.deepStrictEqual(Object.keys(askedBy(answer)), ["a"])
      assert.notInclude(answer.text, "late")
      assert.deepStrictEqual(log, ["caught", "interrupted true", "interrupted true", "interrupted true"])
    }))

  it.effect("that outlasts the grace does not keep the client waiting; its slot is free when it ends", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const caught = yield* Deferred.make<void>()
      let ended = 0
      const handler = Effect.uninterruptible(
        Effect.catchCause(ask(), () => Effect.andThen(Deferred.succeed(caught, undefined), Deferred.await(release)))
      )
      const server = yield* serveWork(
        Effect.ensuring(handler, Effect.sync(() => ended++)),
        { maxConcurrentRequests: 1, cancellationGrace: "2 seconds" }
      )
      const answer = yield* Effect.forkChild(server.first)
      yield* Deferred.await(caught)
      yield* turns()
      yield* TestClock.adjust("1999 millis")
      assert.deepStrictEqual(server.logs, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(Object.keys(askedBy(yield* Fiber.join(answer))), ["a"])
      assert.deepStrictEqual(server.logs.map(({ text }) => text), ["A handler goes on after its cancellation grace"])
      assert.strictEqual((yield* server.send(callRound("other"))).status, 503)
      // The deadline has nothing to say to a request that was answered.
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* server.send(callRound("other"))).status, 503)
      yield* Deferred.succeed(release, undefined)
      yield* until(() => ended === 1)
      yield* turns()
      assert.strictEqual((yield* server.send(callRound("other"))).status, 200)
      assert.strictEqual(server.logs.length, 1)
    }))

  it.effect("that dies after the cut is an error, and is logged", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(
        Effect.uninterruptible(Effect.catchCause(ask(), () => Effect.die(new Error("hunter2"))))
      )
      const answer = yield* server.first
      assert.strictEqual(answer.json.error.code, JsonRpc.codes.internalError)
      assert.notInclude(answer.text, "hunter2")
      assert.include(Cause.pretty(server.logs[0]!.cause), "hunter2")
    }))

  it.effect("that dies after its grace changes nothing for the client, and gives the slot back", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const caught = yield* Deferred.make<void>()
      const server = yield* serveWork(
        Effect.uninterruptible(Effect.catchCause(ask(), () =>
          Deferred.succeed(caught, undefined).pipe(
            Effect.andThen(Deferred.await(release)),
            Effect.andThen(Effect.die("late"))
          ))),
        { maxConcurrentRequests: 1 }
      )
      const answer = yield* Effect.forkChild(server.first)
      yield* Deferred.await(caught)
      yield* turns()
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(Object.keys(askedBy(yield* Fiber.join(answer))), ["a"])
      yield* Deferred.succeed(release, undefined)
      yield* until(() => server.logs.length === 2)
      assert.strictEqual((yield* server.send(callRound("other"))).status, 200)
    }))
})

describe("detached fibers", () => {
  it.effect("that ask are part of the round, and end with it", () =>
    Effect.gen(function*() {
      const exits: Array<Exit.Exit<unknown, unknown>> = []
      const server = yield* serveWork(
        Effect.andThen(
          Effect.forkDetach(Effect.onExit(ask("b"), (exit) => Effect.sync(() => exits.push(exit)))),
          ask("a")
        )
      )
      assert.deepStrictEqual(Object.keys(askedBy(yield* server.first)).sort(), ["a", "b"])
      yield* until(() => exits.length === 1)
      assert.isTrue(Exit.isFailure(exits[0]!) && Input.isSuspension(exits[0]!.cause) || Exit.hasInterrupts(exits[0]!))
    }))

  it.effect("that still ask when the handler has ended ask nobody, and end", () =>
    Effect.gen(function*() {
      const exits: Array<Exit.Exit<unknown, unknown>> = []
      const server = yield* serveWork(
        Effect.as(Effect.forkDetach(Effect.onExit(ask("b"), (exit) => Effect.sync(() => exits.push(exit)))), "done")
      )
      assert.strictEqual(textOf(yield* server.first), "\"done\"")
      yield* until(() => exits.length === 1)
      assert.isTrue(Exit.hasInterrupts(exits[0]!))
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect("that ask long after the request has ended end too", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const exits: Array<Exit.Exit<unknown, unknown>> = []
      const server = yield* serveWork(
        Effect.as(
          Effect.forkDetach(
            Effect.onExit(Effect.andThen(Deferred.await(gate), ask("b")), (exit) => Effect.sync(() => exits.push(exit)))
          ),
          "done"
        )
      )
      assert.strictEqual(textOf(yield* server.first), "\"done\"")
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => exits.length === 1)
      assert.isTrue(Exit.hasInterrupts(exits[0]!))
      assert.deepStrictEqual(server.logs, [])
    }))
})

describe("the end of a request during a round", () => {
  /** A handler whose finalizer waits when the round is cut. */
  const slowToEnd = (options: Options = {}) =>
    Effect.gen(function*() {
      const cut = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      let ended = 0
      const server = yield* serveWork(
        Effect.ensuring(
          Effect.andThen(Invocation.progress({ progress: 1 }), ask()),
          Deferred.succeed(cut, undefined).pipe(
            Effect.andThen(Deferred.await(release)),
            Effect.andThen(Effect.sync(() => ended++))
          )
        ),
        { maxConcurrentRequests: 1, cancellationGrace: "1 hour", ...options }
      )
      const end = Effect.andThen(Deferred.succeed(release, undefined), until(() => ended === 1))
      return { server, cut: Deferred.await(cut), end }
    })

  /** The one slot is free. */
  const oneSlotIsFree = (server: Pick<Serving, "send">) =>
    Effect.gen(function*() {
      // When the server hears of a closed stream is up to its sockets.
      let status = 503
      for (let i = 0; i < 50 && status === 503; i++) {
        yield* turns()
        status = (yield* server.send(callRound("other"))).status
      }
      assert.strictEqual(status, 200)
    })

  it.effect("the deadline is answered with 504 while a finalizer hangs, and nothing follows", () =>
    Effect.gen(function*() {
      const { cut, end, server } = yield* slowToEnd()
      const answer = yield* Effect.forkChild(server.first)
      yield* cut
      yield* turns()
      yield* TestClock.adjust("30 seconds")
      const { json, status } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, json.error.code], [504, JsonRpc.codes.internalError])
      assert.strictEqual((yield* server.send(callRound("other"))).status, 503)
      yield* end
      yield* oneSlotIsFree(server)
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect(
    verifies("CAN-3", "CAN-4")("a client that goes away in the middle of it gets nothing; the slot is freed"),
    () =>
      Effect.gen(function*() {
        const { cut, end, server } = yield* slowToEnd()
        const request = begin(server.url, callRound("work"))
        request.on("error", () => {})
        request.end(JSON.stringify(callRound("work")))
        yield* cut
        request.destroy()
        yield* turns()
        assert.strictEqual((yield* server.send(callRound("other"))).status, 503)
        yield* end
        yield* oneSlotIsFree(server)
        assert.deepStrictEqual(server.logs, [])
      })
  )

  it.effect(
    verifies("CAN-4")("a client that closes its stream in the middle of it gets no more events"),
    () =>
      Effect.gen(function*() {
        const { cut, end, server } = yield* slowToEnd()
        const stream = yield* open(server.url, callRound("work", withToken("t")))
        yield* cut
        stream.destroy()
        yield* end
        yield* oneSlotIsFree(server)
        assert.notInclude(stream.text(), "input_required")
      })
  )

  it.effect("a server that stops in the middle of it says so", () =>
    Effect.gen(function*() {
      const { cut, end, server } = yield* slowToEnd({ cancellationGrace: "1 second" })
      const answer = yield* Effect.forkChild(server.first)
      yield* cut
      const stopping = yield* Effect.forkChild(server.endpoint.stop)
      yield* turns()
      yield* TestClock.adjust("1 second")
      const { json, text } = yield* Fiber.join(answer)
      // Either is true: the round was over, and the server stops.
      assert.isTrue(json.error !== undefined || json.result.resultType === "input_required", text)
      yield* end
      yield* Fiber.join(stopping)
    }))

  it.effect("a slot is given back once for each request that asked", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      let waiting = 0
      const hold = McpServer.tool(Other, () =>
        Effect.andThen(Effect.sync(() => waiting++), Effect.as(Deferred.await(release), [])))
      const server = yield* serve(Layer.merge(toolOf(ask()), hold), { maxConcurrentRequests: 2 })
      for (let i = 0; i < 5; i++) {
        askedBy(yield* server.send(callRound("work")))
      }
      const held = yield* Effect.forEach([1, 2], () =>
        Effect.forkChild(server.send(callRound("other"))))
      yield* until(() => waiting === 2)
      assert.strictEqual((yield* server.send(callRound("other"))).status, 503)
      yield* Deferred.succeed(release, undefined)
      yield* Effect.forEach(held, Fiber.join)
    }))

  it.effect("leaves no timer behind", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(Effect.andThen(ask("a"), ask("b")))
      const { last } = yield* server.play
      assert.strictEqual(textOf(last), "\"B\"")
      yield* TestClock.adjust("1 day")
      yield* turns()
      assert.deepStrictEqual(server.logs, [])
    }))
})

describe("middleware around asks", () => {
  it.effect("cannot make an error of the end of a round, and can tell it from the end of a request", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const counts: Middleware.Middleware = (_request, next) =>
        Effect.onExit(
          next,
          (exit) =>
            Effect.sync(() =>
              seen.push(Exit.isSuccess(exit) ? "done" : Input.isSuspension(exit.cause) ? "round" : "failed")
            )
        )
      const wraps: Middleware.Middleware = (_request, next) =>
        Effect.catchCause(next, () => Effect.fail(new Middleware.Rejected({ message: "wrapped" })))
      const server = yield* serveWork(Effect.andThen(ask("a"), ask("b")), { middleware: [counts, wraps, counts] })
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, textOf(last)], [[["a"], ["b"]], "\"B\""])
      assert.deepStrictEqual(seen, ["round", "round", "round", "round", "done", "done"])
    }))

  it.effect("can ask itself, before the handler runs", () =>
    Effect.gen(function*() {
      let runs = 0
      const guard: Middleware.Middleware = (request, next) =>
        request.kind === "tool" ? Effect.andThen(ask("a"), next) : next
      const server = yield* serveWork(Effect.andThen(Effect.sync(() => runs++), ask("b")), { middleware: [guard] })
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, textOf(last), runs], [[["a"], ["b"]], "\"B\"", 2])
    }))

  it.effect("that bounds how many run at a time counts a handler that asked as ended", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(ask(), {
        middleware: [Middleware.concurrency(1), Middleware.timeout("1 minute")]
      })
      for (let i = 0; i < 3; i++) assert.deepStrictEqual(Object.keys(askedBy(yield* server.first)), ["a"])
      const { last } = yield* server.play
      assert.strictEqual(textOf(last), "\"A\"")
    }))
})

describe("keys", () => {
  it.effect("that stand for two requests die, naming the key", () =>
    Effect.gen(function*() {
      const other = Effect.map(Input.roots("a"), () => "")
      for (const handler of [Effect.all([ask("a"), other], { concurrency: 2 }), Effect.all([other, ask("a")])]) {
        const server = yield* serveWork(handler)
        const { last } = yield* play(server.send, (more) => callRound("work", more), { a: { roots: [] } })
        assert.strictEqual(last.json.error.message, "Internal error")
        const died = server.logs.find(({ level }) => level === "Error")
        assert.include(Cause.pretty(died!.cause), "The input \"a\" is asked for twice")
      }
    }))

  it.effect("may be asked for twice with the same request", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(Effect.all([ask(), ask(), Effect.all([ask(), ask()], { concurrency: 2 })]))
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked, textOf(last)], [[["a"]], "[\"A\",\"A\",[\"A\",\"A\"]]"])
    }))

  it.effect(
    verifies("MRTR-10")("that differ from run to run are asked for 10 times; then an error names them"),
    () =>
      Effect.gen(function*() {
        let run = 0
        const server = yield* serveWork(Effect.suspend(() => {
          run++
          return Effect.all([ask(`first ${run}`), ask(`second ${run}`)], { concurrency: 2 })
        }))
        const { asked, last } = yield* server.play
        assert.strictEqual(asked.length, 10)
        assert.deepStrictEqual([last.json.error.code, last.json.error.message], [
          JsonRpc.codes.internalError,
          "Input is still asked for after 10 rounds: first 11, second 11"
        ])
      })
  )

  it.effect("rounds of state alone are bounded too", () =>
    Effect.gen(function*() {
      const server = yield* serveWork(Input.require({}))
      const { asked, last } = yield* server.play
      assert.deepStrictEqual([asked.length, last.json.error.message], [10, "The request is not done after 10 rounds"])
    }))
})
