import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, type Messages, Revision, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import { allLists, listenTo, pipeTo } from "./support/listening.ts"
import { endpointOf, serve, turns, until } from "./support/serve.ts"
import { call, request } from "./support/wire.ts"

const { codes, meta, notification } = Revision

const levels: ReadonlyArray<Messages.LogLevel> = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
]

const Work = Tool.make("work")

/** A tool that says one thing at each level. */
const talking = McpServer.tool(Work, () =>
  Effect.as(
    Effect.forEach(levels, (level) => Invocation.log(level, `at ${level}`)),
    [Content.text("done")]
  ))

const at = (level: unknown) => ({ meta: { [meta.logLevel]: level } })

// oxlint-disable-next-line typescript/no-explicit-any
const logged = (messages: ReadonlyArray<any>) =>
  messages.filter(({ method }) => method === notification.message).map(({ params }) => params)

describe("log messages", () => {
  it.effect.each(levels)(
    verifies("LOG-2", "LOG-3@server", "PAT-1")(
      "at %s or above are sent before the answer, on the request's own stream"
    ),
    (level) =>
      Effect.gen(function*() {
        const server = yield* serve(talking, { logging: true })
        const { events, headers } = yield* server.send(call("work", {}, at(level)))
        assert.strictEqual(headers["content-type"], "text/event-stream")
        const expected = levels.slice(levels.indexOf(level))
        assert.deepStrictEqual(
          events.slice(0, -1),
          expected.map((level) => ({
            jsonrpc: "2.0",
            method: notification.message,
            params: { level, data: `at ${level}` }
          }))
        )
        assert.strictEqual(events.at(-1).result.content[0].text, "done")
      })
  )

  it.effect(
    verifies("LOG-2")("are not sent to a request that names no level: its answer is JSON"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(talking, { logging: true })
        const { headers, json } = yield* server.send(call("work"))
        assert.strictEqual(headers["content-type"], "application/json")
        assert.strictEqual(json.result.content[0].text, "done")
      })
  )

  it.effect(
    verifies("LOG-1")("are declared where logging is on; where it is off none is declared and none sent"),
    () =>
      Effect.gen(function*() {
        const on = yield* serve(talking, { logging: true })
        const off = yield* serve(talking)
        const capabilities = (server: typeof on) =>
          Effect.map(server.send(request("server/discover")), ({ json }) => json.result.capabilities)
        assert.deepStrictEqual(yield* capabilities(on), { tools: { listChanged: true }, logging: {} })
        assert.deepStrictEqual(yield* capabilities(off), { tools: { listChanged: true } })
        const { headers } = yield* off.send(call("work", {}, at("debug")))
        assert.strictEqual(headers["content-type"], "application/json")
      })
  )

  it.effect.each(["verbose", "", "INFO", "Warning", 1, null, {}, ["info"]])(
    verifies("LOG-4")("for the level %o are refused with -32602, and nothing runs"),
    (level) =>
      Effect.gen(function*() {
        let ran = false
        const layer = McpServer.tool(Work, () =>
          Effect.sync(() => {
            ran = true
            return []
          }))
        const server = yield* serve(layer, { logging: true })
        const { json } = yield* server.send(call("work", {}, at(level)))
        assert.strictEqual(json.error.code, codes.invalidParams)
        assert.isFalse(ran)
      })
  )

  it.effect(verifies("LOG-3@server")("carry any JSON, and the name of a logger"), () =>
    Effect.gen(function*() {
      const data = [null, true, 0, "", [1, [2]], { a: { b: null } }]
      const layer = McpServer.tool(Work, () =>
        Effect.as(Effect.forEach(data, (it) => Invocation.log("info", it, "app.db")), []))
      const server = yield* serve(layer, { logging: true })
      const { events } = yield* server.send(call("work", {}, at("info")))
      assert.deepStrictEqual(logged(events), data.map((data) => ({ level: "info", logger: "app.db", data })))
    }))

  it.effect(
    verifies("LOG-2", "PROG-7", "SUB-7")(
      "and progress of a request go to its own stream: not to another, not to a listener"
    ),
    () =>
      Effect.gen(function*() {
        const Say = Tool.make("say", { input: Schema.Struct({ text: Schema.String }) })
        const layer = McpServer.tool(Say, ({ text }) =>
          Invocation.progress({ progress: 1 }).pipe(
            Effect.andThen(Effect.yieldNow),
            Effect.andThen(Invocation.log("info", text)),
            Effect.as([])
          ))
        const services = yield* endpointOf(layer, { logging: true })
        const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
        const listener = pipeTo(endpoint)
        listener.send(listenTo(allLists, { meta: { [meta.logLevel]: "debug", [meta.progressToken]: "t" } }))
        const one = pipeTo(endpoint)
        const two = pipeTo(endpoint)
        const more = { meta: { [meta.logLevel]: "debug", [meta.progressToken]: "t" } }
        one.send(call("say", { text: "one" }, more))
        two.send(call("say", { text: "two" }, more))
        yield* until(() => one.messages().length === 3 && two.messages().length === 3)
        assert.deepStrictEqual(logged(one.messages()).map(({ data }) => data), ["one"])
        assert.deepStrictEqual(logged(two.messages()).map(({ data }) => data), ["two"])
        assert.deepStrictEqual(listener.messages().map(({ method }) => method), [notification.acknowledged])
      })
  )

  it.effect(
    verifies("LOG-2", "PROG-7")("and progress of middleware around a listener are not sent at all"),
    () =>
      Effect.gen(function*() {
        const services = yield* endpointOf(talking, {
          logging: true,
          middleware: [(_, next) =>
            Invocation.log("error", "before").pipe(
              Effect.andThen(Invocation.progress({ progress: 1 })),
              Effect.andThen(next),
              Effect.tap(() => Invocation.log("error", "after"))
            )]
        })
        const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
        const pipe = pipeTo(endpoint)
        pipe.send(listenTo(allLists, { meta: { [meta.logLevel]: "debug", [meta.progressToken]: "t" } }))
        yield* endpoint.stop
        yield* turns()
        assert.deepStrictEqual(pipe.messages().map(({ method }) => method), [
          notification.acknowledged,
          notification.cancelled,
          undefined
        ])
      })
  )

  it.effect(verifies("LOG-2")("after the answer are not sent"), () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      const layer = McpServer.tool(Work, () =>
        Effect.as(
          Effect.forkDetach(
            Deferred.await(release).pipe(
              Effect.andThen(Invocation.log("error", "late")),
              Effect.andThen(Effect.logError("late too")),
              Effect.andThen(Deferred.succeed(over, undefined))
            )
          ),
          []
        )).pipe(Layer.provideMerge(Invocation.layerLogger))
      const services = yield* endpointOf(layer, { logging: true })
      const pipe = pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
      pipe.send(call("work", {}, at("debug")))
      yield* until(() => pipe.messages().length === 1)
      yield* Deferred.succeed(release, undefined)
      yield* Deferred.await(over)
      yield* turns()
      assert.lengthOf(pipe.messages(), 1)
    }))

  it.effect("are dropped for a client that takes JSON alone", () =>
    Effect.gen(function*() {
      const server = yield* serve(talking, { logging: true })
      const { headers, json } = yield* server.send(call("work", {}, at("debug")), {
        headers: { accept: "application/json" }
      })
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(json.result.content[0].text, "done")
    }))

  it.effect("wait for a client that does not read", () =>
    Effect.gen(function*() {
      let said = 0
      const layer = McpServer.tool(Work, () =>
        Effect.gen(function*() {
          for (; said < 10; said++) yield* Invocation.log("info", said)
          return []
        }))
      const services = yield* endpointOf(layer, { logging: true })
      const pipe = pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
      pipe.pause()
      pipe.send(call("work", {}, at("debug")))
      yield* turns()
      assert.strictEqual(said, 0)
      pipe.resume()
      yield* until(() => said === 10)
    }))
})

describe("layerLogger", () => {
  const logging = <E>(effect: Effect.Effect<unknown, E, Invocation.Invocation>) =>
    McpServer.tool(Work, () => Effect.as(Effect.orDie(effect), [])).pipe(
      // It counts for the handlers of the layers that it is given to.
      Layer.provide(Layer.merge(Invocation.layerLogger, Layer.succeed(References.MinimumLogLevel, "Trace")))
    )

  const messagesOf = <E>(effect: Effect.Effect<unknown, E, Invocation.Invocation>, level: string) =>
    Effect.gen(function*() {
      const server = yield* serve(logging(effect), { logging: true })
      const { events } = yield* server.send(call("work", {}, at(level)), { headers: { accept: "text/event-stream" } })
      return logged(events)
    })

  it.effect(
    verifies("LOG-2", "LOG-3@server")("sends what handlers log with Effect, by its level"),
    () =>
      Effect.gen(function*() {
        const all = Effect.all([
          Effect.logTrace("trace"),
          Effect.logDebug("debug"),
          Effect.logInfo("info"),
          Effect.logWarning("warn"),
          Effect.logError("error"),
          Effect.logFatal("fatal")
        ])
        assert.deepStrictEqual(yield* messagesOf(all, "debug"), [
          { level: "debug", data: "trace" },
          { level: "debug", data: "debug" },
          { level: "info", data: "info" },
          { level: "warning", data: "warn" },
          { level: "error", data: "error" },
          { level: "critical", data: "fatal" }
        ])
        assert.deepStrictEqual(yield* messagesOf(all, "error"), [
          { level: "error", data: "error" },
          { level: "critical", data: "fatal" }
        ])
      })
  )

  it.effect("sends the parts of a message as one text", () =>
    Effect.gen(function*() {
      const messages = yield* messagesOf(Effect.logInfo("read", 3, { pages: [1] }), "info")
      assert.deepStrictEqual(messages.map(({ data }) => data), ["read 3 {\"pages\":[1]}"])
    }))

  it.effect(
    verifies("LOG-5")("sends no causes and no annotations: they are for the server's own log"),
    () =>
      Effect.gen(function*() {
        const messages = yield* messagesOf(
          Effect.annotateLogs(Effect.logError("It failed", Cause.die(new Error("hunter2"))), { token: "hunter2" }),
          "debug"
        )
        assert.deepStrictEqual(messages, [{ level: "error", data: "It failed" }])
      })
  )

  it.effect("stands beside the loggers that are there", () =>
    Effect.gen(function*() {
      const server = yield* serve(logging(Effect.logWarning("both")), { logging: true })
      const { events } = yield* server.send(call("work", {}, at("debug")))
      assert.lengthOf(logged(events), 1)
      assert.deepStrictEqual(server.logs.map(({ text }) => text), ["both"])
    }))

  it.effect("sends nothing to whoever did not ask, and logs on outside of requests", () =>
    Effect.gen(function*() {
      const server = yield* serve(logging(Effect.logError("quiet")), { logging: true })
      assert.strictEqual((yield* server.send(call("work"))).headers["content-type"], "application/json")
      yield* Effect.provide(Effect.logInfo("no request"), Invocation.layerLogger)
    }))

  it.effect("leaves out what is logged while the client does not read, and does not wait", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      let said = 0
      const layer = logging(Effect.gen(function*() {
        for (; said < 1000; said++) yield* Effect.logInfo(String(said))
        yield* Deferred.await(gate)
        yield* Effect.logInfo("again")
      }))
      const services = yield* endpointOf(layer, { logging: true })
      const pipe = pipeTo(Context.get(services, McpEndpoint.McpEndpoint))
      pipe.pause()
      pipe.send(call("work", {}, at("debug")))
      yield* until(() => said === 1000)
      assert.lengthOf(pipe.messages(), 1)
      pipe.resume()
      yield* turns()
      yield* Deferred.succeed(gate, undefined)
      yield* until(() => pipe.messages().length === 3)
      assert.deepStrictEqual(logged(pipe.messages()).map(({ data }) => data), ["0", "again"])
    }))
})
