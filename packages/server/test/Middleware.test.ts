import { assert, describe, it } from "@effect/vitest"
import { Call, Content, JsonRpc, Prompt, Resource, Revision, Tool } from "@fairlead/protocol"
import { Input, Invocation, McpEndpoint, McpServer, Middleware } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import { principalOf, whoHeader } from "./support/ask.ts"
import { about, allLists, listenTo, pipeTo } from "./support/listening.ts"
import { endpointOf, makeGate, serve, turns, until } from "./support/serve.ts"
import { call, request } from "./support/wire.ts"

const { codes, meta, notification } = Revision

const Echo = Tool.make("echo", {
  input: Schema.Struct({ text: Schema.optionalKey(Schema.String) }),
  output: Schema.Struct({ text: Schema.String })
})
const echo = McpServer.toolHandler(Echo, ({ text = "" }) => Effect.succeed({ text }))
const Slow = Tool.make("slow")
const Manual = Resource.make("docs://manual", { name: "manual" })
const manual = McpServer.resourceHandler(Manual, () => Effect.succeed("Read."))
const Page = Resource.template("docs://pages/{page}", { name: "page" })
const page = McpServer.templateHandler(Page, ({ page }) => Effect.succeed(page), {
  complete: { page: () => Effect.succeed(["1", "2"]) }
})
const Review = Prompt.make("review")
const review = McpServer.promptHandler(Review, () => Effect.succeed("Review it."))
const everything = McpServer.handlers([echo, manual, page, review])

/** One request of each kind, and what middleware is to see of it. */
const requests = [
  [call("echo", { text: "a" }), "tool", "tools/call", "echo"],
  [request("resources/read", { uri: "docs://manual" }), "resource", "resources/read", "docs://manual"],
  [request("resources/read", { uri: "docs://pages/1" }), "resourceTemplate", "resources/read", "docs://pages/1"],
  [request("prompts/get", { name: "review" }), "prompt", "prompts/get", "review"],
  [
    request("completion/complete", {
      ref: { type: "ref/resource", uri: "docs://pages/{page}" },
      argument: { name: "page", value: "" }
    }),
    "resourceTemplate",
    "completion/complete",
    "docs://pages/{page}"
  ],
  [request("tools/list"), undefined, "tools/list", undefined],
  [request("resources/list"), undefined, "resources/list", undefined],
  [request("resources/templates/list"), undefined, "resources/templates/list", undefined],
  [request("prompts/list"), undefined, "prompts/list", undefined],
  [request("server/discover"), undefined, "server/discover", undefined]
] as const

/** Middleware that keeps what it sees. */
const watching = () => {
  const seen: Array<Middleware.Request> = []
  const middleware: Middleware.Middleware = (request, next) => {
    seen.push(request)
    return next
  }
  return { seen, middleware }
}

const pass: Middleware.Middleware = (_, next) => next

describe("middleware", () => {
  it.effect("runs in order, the first one outermost", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const say = (text: string) => Effect.sync(() => void log.push(text))
      const named = (name: string): Middleware.Middleware => (_, next) =>
        Effect.andThen(say(`${name} in`), Effect.tap(next, () => say(`${name} out`)))
      const layer = McpServer.tool(Slow, () => Effect.as(say("handler"), []))
      const server = yield* serve(layer, { middleware: [named("a"), named("b"), named("c")] })
      yield* server.send(call("slow"))
      assert.deepStrictEqual(log, ["a in", "b in", "c in", "handler", "c out", "b out", "a out"])
    }))

  it.effect.each(requests)(
    "sees a request for $1 $2, and changes nothing of the answer by being there",
    ([message, kind, method, name]) =>
      Effect.gen(function*() {
        const { middleware, seen } = watching()
        const server = yield* serve(everything, { middleware: [middleware, pass], context: principalOf })
        const plain = yield* serve(everything, { context: principalOf })
        const headers = { "x-correlation-id": "c-1", [whoHeader]: "me" }
        const params = {
          ...message.params,
          _meta: { ...message.params["_meta"] as object, [Call.metaKeys.idempotencyKey]: "k-1" }
        }
        const sent = { ...message, params }
        const answer = yield* server.send(sent, { headers })
        assert.strictEqual(answer.text, (yield* plain.send(sent, { headers })).text)
        assert.deepStrictEqual(seen, [{
          kind,
          method,
          name,
          params,
          principal: "me",
          correlation: "c-1",
          idempotencyKey: "k-1"
        }])
      })
  )

  it.effect("sees no principal and no idempotency key where there are none", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      const server = yield* serve(everything, { middleware: [middleware] })
      yield* server.send(call("echo"))
      assert.deepStrictEqual([seen[0]!.principal, seen[0]!.idempotencyKey], [undefined, undefined])
      assert.match(seen[0]!.correlation, /^[0-9a-f]{32}$/)
    }))

  it.effect("stands after the checks: what is unknown, hidden or malformed does not reach it", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      const Capable = Tool.make("capable", { requiredCapabilities: { sampling: {} } })
      const server = yield* serve(
        Layer.merge(everything, McpServer.tool(Capable, () => Effect.succeed([]))),
        { middleware: [middleware], access: () => ({ visible: ({ name }) => name !== "review" }) }
      )
      const refused = [
        call("unknown"),
        call("capable"),
        call("echo", []),
        request("prompts/get", { name: "review" }),
        request("resources/read", { uri: "docs://nothing" }),
        request("other/method"),
        request("server/discover", {}, { meta: { [meta.clientCapabilities]: undefined } }),
        call("echo", {}, { meta: { [Call.metaKeys.idempotencyKey]: "no spaces" } }),
        listenTo("everything")
      ]
      for (const message of refused) {
        const { json } = yield* server.send(message)
        assert.isDefined(json.error, JSON.stringify(message))
      }
      assert.deepStrictEqual(seen, [])
      // What the arguments are is the handler's to check: that is its answer.
      const { json } = yield* server.send(call("echo", { text: 1 }))
      assert.isTrue(json.result.isError)
      assert.lengthOf(seen, 1)
    }))

  it.effect("is interrupted with its request", () =>
    Effect.gen(function*() {
      const exits: Array<Exit.Exit<unknown, unknown>> = []
      const gate = makeGate()
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])), {
        middleware: [(_, next) => Effect.onExit(next, (exit) => Effect.sync(() => void exits.push(exit)))],
        maxConcurrentRequests: 1
      })
      const fiber = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      yield* Fiber.interrupt(fiber)
      yield* until(() => exits.length === 1)
      assert.isTrue(Exit.hasInterrupts(exits[0]!))
      assert.strictEqual((yield* server.send(call("other"))).status, 200)
    }))

  it.effect("that does not end is ended by the deadline", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything, { middleware: [() => Effect.never] })
      for (const message of [call("echo"), request("tools/list"), listenTo(allLists)]) {
        const fiber = yield* Effect.forkChild(server.send(message))
        yield* turns()
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual((yield* Fiber.join(fiber)).status, 504)
      }
    }))

  it.effect("that dies is -32603 without a word of why, and the endpoint lives", () =>
    Effect.gen(function*() {
      let mode: "die" | "throw" | "pass" = "die"
      const server = yield* serve(everything, {
        middleware: [(_, next) => {
          if (mode === "throw") throw new Error("hunter2")
          return mode === "die" ? Effect.die(new Error("hunter2")) : next
        }]
      })
      for (mode of ["die", "throw"] as const) {
        for (const message of [call("echo"), request("tools/list"), request("server/discover"), listenTo(allLists)]) {
          const { json, status, text } = yield* server.send(message)
          assert.deepStrictEqual([status, json.error], [200, { code: codes.internalError, message: "Internal error" }])
          assert.notInclude(text, "hunter2")
        }
      }
      assert.lengthOf(server.logs, 8)
      mode = "pass"
      assert.strictEqual((yield* server.send(call("echo"))).status, 200)
    }))

  it.effect("has the services of the endpoint also for a tool that was registered elsewhere", () =>
    Effect.gen(function*() {
      class Counter extends Context.Service<Counter, { count: number }>()("test/Counter") {}
      const counter = { count: 0 }
      const server = yield* Effect.provideService(
        serve(everything, {
          middleware: [
            (_: Middleware.Request, next: Effect.Effect<Middleware.Answer, Middleware.Failure>) =>
              Effect.flatMap(Counter, (it) => {
                it.count++
                return next
              })
          ]
        }),
        Counter,
        counter
      )
      // By whoever has the catalog, and not what middleware needs.
      yield* Effect.promise(() =>
        Effect.runPromise(server.server.register(McpServer.toolHandler(Slow, () => Effect.succeed([]))))
      )
      const { json } = yield* server.send(call("slow"))
      assert.strictEqual(json.result.resultType, "complete")
      yield* server.send(call("echo"))
      assert.strictEqual(counter.count, 2)
    }))

  it.effect("has what the context function gives, which wins over the layer around the endpoint", () =>
    Effect.gen(function*() {
      class Tenant extends Context.Service<Tenant, string>()("test/Tenant") {}
      const seen: Array<string> = []
      const server = yield* serve(everything, {
        context: ({ header }) => Effect.succeed(Context.make(Tenant, header("x-tenant") ?? "none")),
        middleware: [
          (_: Middleware.Request, next: Effect.Effect<Middleware.Answer, Middleware.Failure>) =>
            Effect.flatMap(Tenant, (tenant) => {
              seen.push(tenant)
              return next
            })
        ]
      })
      yield* server.send(call("echo"), { headers: { "x-tenant": "a" } })
      yield* server.send(request("tools/list"), { headers: { "x-tenant": "b" } })
      assert.deepStrictEqual(seen, ["a", "b"])
    }))

  it.effect("can give the handler what differs: it runs inside", () =>
    Effect.gen(function*() {
      const Language = Context.Reference<string>("test/Language", { defaultValue: () => "English" })
      const server = yield* serve(
        McpServer.tool(Slow, () => Effect.map(Language, (language) => [Content.text(language)])),
        { middleware: [(_, next) => Effect.provideService(next, Language, "Greek")] }
      )
      assert.strictEqual((yield* server.send(call("slow"))).json.result.content[0].text, "Greek")
    }))

  it.effect("has the invocation and the scope of the request", () =>
    Effect.gen(function*() {
      let closed = 0
      const server = yield* serve(everything, {
        middleware: [(_, next) =>
          Effect.gen(function*() {
            yield* Effect.addFinalizer(() =>
              Effect.sync(() => {
                closed++
              })
            )
            const { method } = yield* Invocation.Invocation
            yield* Invocation.progress({ progress: 1, message: method })
            return yield* next
          })]
      })
      for (const message of [call("echo"), request("tools/list")]) {
        const params = { ...message.params, _meta: { ...message.params["_meta"] as object, [meta.progressToken]: "t" } }
        const { events } = yield* server.send({ ...message, params })
        assert.strictEqual(events[0].params.message, message.method)
      }
      assert.strictEqual(closed, 2)
    }))
})

describe("what middleware can do with an answer", () => {
  it.effect("refuse: a tool by a result with isError, others by an error", () =>
    Effect.gen(function*() {
      let ran = false
      const layer = Layer.merge(
        everything,
        McpServer.tool(Slow, () =>
          Effect.sync(() => {
            ran = true
            return []
          }))
      )
      const server = yield* serve(layer, { middleware: [(request) => Middleware.refuse(request, "Not today")] })
      const tool = yield* server.send(call("slow"))
      assert.deepStrictEqual([tool.json.result.isError, tool.json.result.content], [
        true,
        [{ type: "text", text: "Not today" }]
      ])
      assert.notProperty(tool.json.result, "refused")
      assert.isFalse(ran)
      for (const [message, kind] of requests) {
        if (kind === "tool") continue
        const { json, status } = yield* server.send(message)
        assert.deepStrictEqual([status, json.error], [200, { code: codes.internalError, message: "Not today" }])
      }
    }))

  it.effect("reject with a code and data of its own", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything, {
        middleware: [() => Effect.fail(new Middleware.Rejected({ code: 7, message: "Quota", data: { left: 0 } }))]
      })
      for (const message of [call("echo"), request("prompts/list")]) {
        const { json } = yield* server.send(message)
        assert.deepStrictEqual(json.error, { code: 7, message: "Quota", data: { left: 0 } })
      }
    }))

  it.effect("replace it, and read what it was", () =>
    Effect.gen(function*() {
      const server = yield* serve(everything, {
        middleware: [(request, next) =>
          Effect.map(next, (answer) => {
            const json = Middleware.toJson(answer)
            return request.kind === "tool"
              ? Middleware.answer({ ...json, structuredContent: { text: "replaced" } }, {
                "test/was": json["structuredContent"]!
              })
              : request.method === "tools/list"
              ? Middleware.answer({ ...json, tools: [] }, answer.meta)
              : answer
          })]
      })
      const { result } = (yield* server.send(call("echo", { text: "first" }))).json
      assert.deepStrictEqual(result.structuredContent, { text: "replaced" })
      assert.deepStrictEqual(result._meta, {
        "test/was": { text: "first" },
        [meta.serverInfo]: { name: "test", version: "1.2.3" }
      })
      assert.strictEqual(result.resultType, "complete")
      const list = (yield* server.send(request("tools/list"))).json.result
      assert.deepStrictEqual([list.tools, list.ttlMs, list.cacheScope, list.resultType], [[], 0, "private", "complete"])
    }))

  it.effect("answer in the handler's place", () =>
    Effect.gen(function*() {
      const server = yield* serve(McpServer.tool(Slow, () => Effect.die(new Error("not reached"))), {
        middleware: [() => Effect.succeed(Middleware.answer({ content: [] }))]
      })
      assert.deepStrictEqual((yield* server.send(call("slow"))).json.result.content, [])
    }))

  it.effect("time it", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const took: Array<number> = []
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(gate.run, [])), {
        middleware: [(_, next) =>
          Effect.map(Effect.timed(next), ([duration, answer]) => {
            took.push(Duration.toMillis(duration))
            return answer
          })]
      })
      const fiber = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      yield* TestClock.adjust("3 seconds")
      yield* gate.release
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(took, [3000])
    }))

  it.effect("catch what failed, and leave what it does not know as it is", () =>
    Effect.gen(function*() {
      const failures: Array<unknown> = []
      const server = yield* serve(
        McpServer.handlers([
          McpServer.resourceHandler(Manual, () => Effect.fail(new Resource.NotFound())),
          McpServer.promptHandler(Review, () => Effect.die(new Error("broken")))
        ]),
        {
          middleware: [(request, next) =>
            request.kind === "resource"
              ? Effect.tapError(next, (failure) => Effect.sync(() => void failures.push(failure)))
              : Effect.catchDefect(next, () => Middleware.refuse(request, "It is broken"))]
        }
      )
      const read = (yield* server.send(request("resources/read", { uri: "docs://manual" }))).json
      assert.deepStrictEqual([read.error.code, read.error.data], [codes.invalidParams, { uri: "docs://manual" }])
      assert.lengthOf(failures, 1)
      const get = (yield* server.send(request("prompts/get", { name: "review" }))).json
      assert.strictEqual(get.error.message, "It is broken")
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect("let input be asked for: a round passes as an interruption, the last one as an answer", () =>
    Effect.gen(function*() {
      const exits: Array<string> = []
      const Ask = Tool.make("ask")
      const layer = McpServer.tool(Ask, () =>
        Effect.map(
          Effect.orDie(Input.form("name", { message: "Who?", schema: Schema.Struct({ name: Schema.String }) })),
          ({ name }) => [Content.text(name)]
        ))
      const server = yield* serve(layer, {
        middleware: [(_, next) =>
          Effect.onExit(next, (exit) =>
            Effect.sync(() =>
              void exits.push(
                Exit.isSuccess(exit) ? "answer" : Input.isSuspension(exit.cause) ? "round" : "failure"
              )
            ))]
      })
      const capable = { meta: { [meta.clientCapabilities]: { elicitation: {} } } }
      const first = (yield* server.send(call("ask", {}, capable))).json.result
      assert.strictEqual(first.resultType, "input_required")
      const second = yield* server.send(request("tools/call", {
        name: "ask",
        arguments: {},
        inputResponses: { name: { action: "accept", content: { name: "Ada" } } },
        requestState: first.requestState
      }, capable))
      assert.strictEqual(second.json.result.content[0].text, "Ada")
      assert.deepStrictEqual(exits, ["round", "answer"])
    }))
})

describe("middleware around listening", () => {
  const listening = (middleware: Middleware.Middleware, options: Partial<McpEndpoint.Options> = {}) =>
    Effect.map(endpointOf(everything, { ...options, middleware: [middleware] }), (services) => ({
      server: Context.get(services, McpServer.McpServer),
      pipe: pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
    }))
  const other = McpServer.toolHandler(Tool.make("other"), () => Effect.succeed([]))

  it.effect("lasts as long as the stream, which it does not change", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      let over = false
      const { pipe, server } = yield* listening((request, next) =>
        Effect.ensuring(
          middleware(request, next),
          Effect.sync(() => {
            over = true
          })
        )
      )
      pipe.send(listenTo(allLists, { id: "s" }))
      yield* server.register(other)
      yield* TestClock.adjust("1 hour")
      yield* server.unregister("tool", "other")
      assert.deepStrictEqual(pipe.messages().map(about), [
        notification.acknowledged,
        notification.toolsListChanged,
        notification.toolsListChanged
      ])
      assert.deepStrictEqual(seen.map(({ kind, method }) => [kind, method]), [[undefined, "subscriptions/listen"]])
      assert.isFalse(over)
      pipe.send({ jsonrpc: "2.0", method: notification.cancelled, params: { requestId: "s" } })
      yield* until(() => over)
      assert.lengthOf(pipe.messages(), 3)
    }))

  it.effect("can refuse: then nothing is opened", () =>
    Effect.gen(function*() {
      const { pipe, server } = yield* listening((request) => Middleware.refuse(request, "Nobody listens here"), {
        listen: { maxListeners: 1 }
      })
      for (let i = 0; i < 3; i++) pipe.send(listenTo(allLists))
      yield* server.register(other)
      assert.deepStrictEqual(pipe.messages().map(({ error }) => error.message), Array(3).fill("Nobody listens here"))
    }))

  it.effect.each<readonly [string, Middleware.Middleware]>([
    ["runs it twice", (_, next) => Effect.map(Effect.all([next, next], { concurrency: 2 }), ([answer]) => answer)],
    [
      "leaves it to a fiber that goes on",
      (_, next) =>
        Effect.forkDetach(next, { startImmediately: true }).pipe(
          Effect.andThen(Effect.sleep("1 minute")),
          Effect.as(Middleware.answer({}))
        )
    ]
  ])("tells a change once, and leaves no listener behind, when it %s", ([, middleware]) =>
    Effect.gen(function*() {
      const { pipe, server } = yield* listening(middleware, { listen: { maxListeners: 1 } })
      for (const id of [1, 2]) {
        const before = pipe.messages().length
        pipe.send(listenTo(allLists, { id }))
        yield* server.register(other)
        yield* server.unregister("tool", "other")
        assert.lengthOf(pipe.messages(), before + 3)
        pipe.send({ jsonrpc: "2.0", method: notification.cancelled, params: { requestId: id } })
        yield* TestClock.adjust("1 minute")
        yield* server.register(other)
        yield* server.unregister("tool", "other")
        assert.lengthOf(pipe.messages(), before + 3)
      }
    }))

  it.effect("can end it: the client gets the final result", () =>
    Effect.gen(function*() {
      const { pipe, server } = yield* listening((_, next) =>
        Effect.timeoutOrElse(next, { duration: "1 hour", orElse: () => Effect.succeed(Middleware.answer({})) })
      )
      pipe.send(listenTo(allLists, { id: 4 }))
      yield* TestClock.adjust("1 hour")
      yield* server.register(other)
      assert.deepStrictEqual(pipe.messages().slice(1), [{
        jsonrpc: "2.0",
        id: 4,
        result: {
          resultType: "complete",
          _meta: { [meta.subscriptionId]: 4, [meta.serverInfo]: { name: "test", version: "1.2.3" } }
        }
      }])
    }))

  it.effect("may take its time: a change meanwhile is told once the stream is open", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { pipe, server } = yield* listening((_, next) => Effect.andThen(gate.run, next))
      pipe.send(listenTo(allLists))
      yield* server.register(other)
      assert.deepStrictEqual(pipe.messages(), [])
      yield* gate.release
      yield* until(() => pipe.messages().length === 2)
      assert.deepStrictEqual(pipe.messages().map(about), [notification.acknowledged, notification.toolsListChanged])
    }))
})

describe("only", () => {
  it.effect("runs for the kinds that are named, and never for lists", () =>
    Effect.gen(function*() {
      const { middleware, seen } = watching()
      const server = yield* serve(everything, { middleware: [Middleware.only(["tool", "prompt"], middleware)] })
      for (const [message] of requests) yield* server.send(message)
      assert.deepStrictEqual(seen.map(({ kind }) => kind), ["tool", "prompt"])
    }))
})

describe("timeout", () => {
  const gated = (name: string) => {
    const gate = makeGate()
    return { gate, layer: McpServer.tool(Tool.make(name), () => Effect.as(gate.run, [])) }
  }

  it.effect("interrupts a tool that takes longer, and answers with isError", () =>
    Effect.gen(function*() {
      const { gate, layer } = gated("slow")
      const server = yield* serve(layer, { middleware: [Middleware.timeout("2 seconds")] })
      const fiber = yield* Effect.forkChild(server.send(call("slow")))
      yield* gate.started
      yield* TestClock.adjust("1999 millis")
      assert.strictEqual(gate.ends(), 0)
      yield* TestClock.adjust("1 millis")
      const { json, status } = yield* Fiber.join(fiber)
      assert.deepStrictEqual([status, json.result.isError, json.result.content], [
        200,
        true,
        [{ type: "text", text: "The tool took longer than 2s" }]
      ])
      assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
      assert.deepStrictEqual(server.logs, [])
    }))

  it.effect("counts by name: tools without a limit have the deadline alone", () =>
    Effect.gen(function*() {
      const a = gated("a")
      const b = gated("b")
      const c = gated("toString")
      const server = yield* serve(Layer.mergeAll(a.layer, b.layer, c.layer), {
        middleware: [Middleware.timeout({ a: "1 second", b: { seconds: 5 } })]
      })
      const fibers = yield* Effect.forEach(["a", "b", "toString"], (name) => Effect.forkChild(server.send(call(name))))
      for (const { gate } of [a, b, c]) yield* gate.started
      yield* TestClock.adjust("1 second")
      assert.isTrue((yield* Fiber.join(fibers[0]!)).json.result.isError)
      assert.deepStrictEqual([b.gate.ends(), c.gate.ends()], [0, 0])
      yield* TestClock.adjust("4 seconds")
      assert.isTrue((yield* Fiber.join(fibers[1]!)).json.result.isError)
      yield* TestClock.adjust("25 seconds")
      assert.strictEqual((yield* Fiber.join(fibers[2]!)).status, 504)
    }))

  it.effect("leaves alone what is no tool, and what is fast enough", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = Layer.merge(
        McpServer.handlers([echo]),
        McpServer.prompt(Review, () => Effect.as(gate.run, "Review it."))
      )
      const server = yield* serve(layer, { middleware: [Middleware.timeout("1 second")] })
      const fiber = yield* Effect.forkChild(server.send(request("prompts/get", { name: "review" })))
      yield* gate.started
      yield* TestClock.adjust("20 seconds")
      yield* gate.release
      assert.isDefined((yield* Fiber.join(fiber)).json.result)
      assert.deepStrictEqual((yield* server.send(call("echo"))).json.result.structuredContent, { text: "" })
    }))

  it("a limit that is no duration fails where it is written", () => {
    assert.throws(() => Middleware.timeout("soon" as never))
    assert.throws(() => Middleware.timeout({ a: "soon" as never }))
  })
})

describe("concurrency", () => {
  const gates = () => {
    const waiting = [makeGate(), makeGate(), makeGate()]
    const all = [...waiting]
    return { all, run: Effect.suspend(() => waiting.shift()!.run) }
  }

  it.effect("turns away what is more, by the tool; the place comes back when one ends", () =>
    Effect.gen(function*() {
      const { all, run } = gates()
      const layer = Layer.merge(McpServer.tool(Slow, () => Effect.as(run, [])), everything)
      const server = yield* serve(layer, { middleware: [Middleware.concurrency(1)] })
      const fiber = yield* Effect.forkChild(server.send(call("slow")))
      yield* all[0]!.started
      const { result } = (yield* server.send(call("slow"))).json
      assert.deepStrictEqual([result.isError, result.content], [
        true,
        [{ type: "text", text: "The tool is busy; try again" }]
      ])
      assert.notProperty((yield* server.send(call("echo"))).json.result, "isError")
      yield* all[0]!.release
      yield* Fiber.join(fiber)
      const again = yield* Effect.forkChild(server.send(call("slow")))
      yield* all[1]!.started
      yield* all[1]!.release
      assert.notProperty((yield* Fiber.join(again)).json.result, "isError")
    }))

  it.effect("gives the place back after a failure, a defect, an interruption and a deadline", () =>
    Effect.gen(function*() {
      let how: Effect.Effect<ReadonlyArray<never>, Tool.ToolError> = Effect.succeed([])
      const server = yield* serve(McpServer.tool(Slow, () => Effect.suspend(() => how)), {
        middleware: [Middleware.concurrency({ slow: 1 })]
      })
      const free = Effect.gen(function*() {
        how = Effect.succeed([])
        const { result } = (yield* server.send(call("slow"))).json
        assert.notProperty(result, "isError")
      })
      how = Effect.fail(Tool.error("no"))
      assert.isTrue((yield* server.send(call("slow"))).json.result.isError)
      yield* free
      how = Effect.die(new Error("broken"))
      assert.isDefined((yield* server.send(call("slow"))).json.error)
      yield* free
      const gone = makeGate()
      how = Effect.as(gone.run, [])
      const fiber = yield* Effect.forkChild(server.send(call("slow")))
      yield* gone.started
      yield* Fiber.interrupt(fiber)
      yield* gone.ended
      yield* free
      const late = makeGate()
      how = Effect.as(late.run, [])
      const timed = yield* Effect.forkChild(server.send(call("slow")))
      yield* late.started
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(timed)).status, 504)
      yield* free
    }))

  it.effect("bounds the named tools alone", () =>
    Effect.gen(function*() {
      const { all, run } = gates()
      const server = yield* serve(McpServer.tool(Slow, () => Effect.as(run, [])), {
        middleware: [Middleware.concurrency({ other: 1 })]
      })
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(server.send(call("slow"))))
      for (const gate of all) yield* gate.started
      for (const gate of all) yield* gate.release
      for (const fiber of fibers) assert.notProperty((yield* Fiber.join(fiber)).json.result, "isError")
    }))
})

describe("rateLimit", () => {
  const memory = RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory))

  const limited = (...middleware: ReadonlyArray<Middleware.Middleware<RateLimiter.RateLimiter>>) =>
    Effect.provide(serve(everything, { middleware, context: principalOf }), memory)

  const as = (who: string) => ({ headers: { [whoHeader]: who } })

  it.effect("turns away what is more within the window, by the caller, and says when to come back", () =>
    Effect.gen(function*() {
      const server = yield* limited(Middleware.rateLimit({ limit: 2, window: "10 seconds" }))
      yield* server.send(call("echo"), as("a"))
      yield* server.send(request("tools/list"), as("a"))
      const tool = (yield* server.send(call("echo"), as("a"))).json.result
      assert.isTrue(tool.isError)
      assert.match(tool.content[0].text, /^Too many requests; try again in \d+s$/)
      const list = (yield* server.send(request("tools/list"), as("a"))).json
      assert.strictEqual(list.error.code, codes.internalError)
      assert.match(list.error.message, /^Too many requests/)
      assert.isDefined((yield* server.send(request("tools/list"), as("b"))).json.result)
      yield* TestClock.adjust("10 seconds")
      assert.isDefined((yield* server.send(request("tools/list"), as("a"))).json.result)
    }))

  it.effect("counts by a key of one's own", () =>
    Effect.gen(function*() {
      const server = yield* limited(
        Middleware.rateLimit({ limit: 1, window: "1 minute", key: ({ method }) => method })
      )
      assert.isDefined((yield* server.send(request("tools/list"), as("a"))).json.result)
      assert.isDefined((yield* server.send(request("tools/list"), as("b"))).json.error)
      assert.isDefined((yield* server.send(request("prompts/list"), as("b"))).json.result)
    }))

  it.effect("twice, a short window and a long one, counts each for itself", () =>
    Effect.gen(function*() {
      const server = yield* limited(
        Middleware.rateLimit({ limit: 2, window: "1 second" }),
        Middleware.rateLimit({ limit: 3, window: "1 hour" })
      )
      const ask = Effect.map(server.send(request("tools/list"), as("a")), ({ json }) => json.error === undefined)
      assert.deepStrictEqual([yield* ask, yield* ask, yield* ask], [true, true, false])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([yield* ask, yield* ask], [true, false])
      yield* TestClock.adjust("1 second")
      assert.isFalse(yield* ask)
      yield* TestClock.adjust("1 hour")
      assert.isTrue(yield* ask)
    }))

  it.effect("with a limiter that cannot count lets nobody in", () =>
    Effect.gen(function*() {
      const failing = RateLimiter.RateLimiter.of({
        [RateLimiter.TypeId]: RateLimiter.TypeId,
        consume: () =>
          Effect.fail(
            new RateLimiter.RateLimiterError({
              reason: new RateLimiter.RateLimitStoreError({ message: "hunter2" })
            })
          ),
        adaptiveConsume: () => Effect.die("unused"),
        adaptiveFeedback: () => Effect.void
      })
      const server = yield* Effect.provideService(
        serve(everything, { middleware: [Middleware.rateLimit({ limit: 1, window: "1 second" })] }),
        RateLimiter.RateLimiter,
        failing
      )
      for (const message of [call("echo"), request("tools/list")]) {
        const { json } = yield* server.send(message)
        assert.deepStrictEqual(json.error, {
          code: JsonRpc.codes.internalError,
          message: "The request could not be admitted"
        })
      }
    }))
})

describe("its helpers", () => {
  it("an answer is read as it was made", () => {
    const result = { content: [], structuredContent: { a: [1, null], b: {} } }
    assert.deepStrictEqual(Middleware.toJson(Middleware.answer(result)), result)
    assert.deepStrictEqual(Middleware.toJson(Middleware.answer({})), {})
    assert.deepStrictEqual(Middleware.toJson(Middleware.toolError("No")), {
      content: [{ type: "text", text: "No" }],
      isError: true
    })
  })
})
