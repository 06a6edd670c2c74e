import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, type Json, Revision, Tool } from "@fairlead/protocol"
import { Invocation, McpServer } from "@fairlead/server"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { burst, standstill, text, total } from "./support/burst.ts"
import { open } from "./support/http.ts"
import { makeGate, serve, turns, until } from "./support/serve.ts"
import { call, headersOf, withToken } from "./support/wire.ts"

const Work = Tool.make("work")

/** A tool that reports what it is told. */
const reporting = (reports: ReadonlyArray<Parameters<typeof Invocation.progress>[0]>) =>
  McpServer.tool(Work, () => Effect.as(Effect.forEach(reports, Invocation.progress), [Content.text("done")]))

const numbers = (...progress: ReadonlyArray<number>) => progress.map((value) => ({ progress: value }))

const progressOf = (events: ReadonlyArray<Json.Object>) =>
  events.filter(({ method }) => method === Revision.notification.progress).map(({ params }) => params as Json.Object)

describe("progress", () => {
  it.effect(
    verifies("PROG-2", "PROG-7", "PAT-1", "GAP-24", "HTTP-12", "HTTP-13", "HTTP-14")(
      "turns the answer into a stream: the reports in order, then the answer, then the end"
    ),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(reporting([
          { progress: 0.5 },
          { progress: 1, total: 3 },
          { progress: 2.25, total: 3, message: "nearly" }
        ]))
        const answer = yield* server.send(call("work", {}, withToken("t")))
        assert.deepStrictEqual([answer.status, answer.headers["content-type"]], [200, "text/event-stream"])
        assert.isUndefined(answer.headers["content-length"])
        const notification = (params: object) => ({
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken: "t", ...params }
        })
        assert.deepStrictEqual(answer.events.slice(0, 3), [
          notification({ progress: 0.5 }),
          notification({ progress: 1, total: 3 }),
          notification({ progress: 2.25, total: 3, message: "nearly" })
        ])
        assert.strictEqual(answer.events.length, 4)
        assert.deepStrictEqual([answer.events[3].id, answer.events[3].result.content[0].text], [1, "done"])
      })
  )

  it.effect(
    verifies("PROG-4", "PROG-5", "GAP-24")("without a token is not sent, and the answer is JSON"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(reporting(numbers(1, 2)))
        const answer = yield* server.send(call("work"))
        assert.strictEqual(answer.headers["content-type"], "application/json")
        assert.strictEqual(answer.json.result.content[0].text, "done")
      })
  )

  it.effect("is dropped for a client that takes JSON alone", () =>
    Effect.gen(function*() {
      const server = yield* serve(reporting(numbers(1, 2)))
      const headers = { accept: "application/json" }
      const answer = yield* server.send(call("work", {}, withToken(1)), { headers })
      assert.strictEqual(answer.headers["content-type"], "application/json")
      assert.strictEqual(answer.json.result.content[0].text, "done")
    }))

  it.effect(
    verifies("PROG-3")("only grows: what does not is left out, as is what JSON has no number for"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(reporting([
          ...numbers(-1, 1, 1, 0.5, Number.NaN, 2, -Infinity, 2, Infinity),
          { progress: 3, total: Infinity },
          { progress: 4, total: Number.NaN }
        ]))
        const { events } = yield* server.send(call("work", {}, withToken("t")))
        assert.deepStrictEqual(
          progressOf(events),
          [-1, 1, 2, 3, 4].map((progress) => ({ progressToken: "t", progress }))
        )
      })
  )

  it.effect.each(["0", "1", "-7", "\"\"", "\"1\"", "\"é\"", "9007199254740993"])(
    verifies("PROG-2", "PROG-4")("repeats the token %s with its type and digits"),
    (token) =>
      Effect.gen(function*() {
        const server = yield* serve(reporting(numbers(1)))
        const message = call("work", {}, withToken("TOKEN"))
        const body = JSON.stringify(message).replace("\"TOKEN\"", token)
        const { text } = yield* server.send(body, { headers: headersOf(message) })
        assert.include(text, `"params":{"progressToken":${token},"progress":1}`)
      })
  )

  it.effect(verifies("PROG-4")("after the answer is not sent"), () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const reported = yield* Deferred.make<void>()
      const layer = McpServer.tool(Work, () =>
        Effect.gen(function*() {
          yield* Invocation.progress({ progress: 1 })
          // It outlives the request, and reports on.
          yield* Effect.forkDetach(
            Deferred.await(release).pipe(
              Effect.andThen(Invocation.progress({ progress: 2 })),
              Effect.andThen(Deferred.succeed(reported, undefined))
            )
          )
          return []
        }))
      const server = yield* serve(layer)
      const { events } = yield* server.send(call("work", {}, withToken("t")))
      assert.deepStrictEqual(progressOf(events).map(({ progress }) => progress), [1])
      yield* Deferred.succeed(release, undefined)
      yield* Deferred.await(reported)
    }))

  it.effect("of one request goes to no other, although their tokens are the same", () =>
    Effect.gen(function*() {
      const Echo = Tool.make("echo", { input: Schema.Struct({ n: Schema.Int }) })
      const gate = makeGate()
      const layer = McpServer.tool(Echo, ({ n }) =>
        Invocation.progress({ progress: n }).pipe(
          Effect.andThen(n === 1 ? gate.run : Effect.void),
          Effect.andThen(Invocation.progress({ progress: n + 0.5 })),
          Effect.as([])
        ))
      const server = yield* serve(layer)
      const first = yield* Effect.forkChild(server.send(call("echo", { n: 1 }, withToken("t"))))
      yield* gate.started
      const second = yield* server.send(call("echo", { n: 10 }, withToken("t")))
      yield* gate.release
      const { events } = yield* Fiber.join(first)
      assert.deepStrictEqual(progressOf(events).map(({ progress }) => progress), [1, 1.5])
      assert.deepStrictEqual(progressOf(second.events).map(({ progress }) => progress), [10, 10.5])
    }))

  it.effect("of one turn leaves in one write", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = McpServer.tool(Work, () =>
        Effect.forEach(numbers(1, 2, 3, 4, 5), Invocation.progress).pipe(Effect.andThen(gate.run), Effect.as([])))
      const server = yield* serve(layer)
      const stream = yield* open(server.url, call("work", {}, withToken("t")), { paused: true })
      const chunks: Array<string> = []
      stream.response.on("data", (chunk: Buffer) =>
        chunks.push(chunk.toString()))
      yield* until(() => chunks.join("").includes("\"progress\":5"))
      assert.strictEqual(chunks.length, 1)
      yield* gate.release
      yield* until(() => stream.response.complete)
    }))

  it.effect("is there before the answer: a client sees it while the handler still works", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = McpServer.tool(Work, () =>
        Invocation.progress({ progress: 1 }).pipe(Effect.andThen(gate.run), Effect.as([])))
      const server = yield* serve(layer)
      const stream = yield* open(server.url, call("work", {}, withToken("t")))
      yield* until(() =>
        stream.text().includes("\"progress\":1")
      )
      assert.strictEqual(gate.ends(), 0)
      yield* gate.release
      yield* until(() => stream.text().includes("\"result\""))
    }))
})

describe("a client that does not read", () => {
  it.effect(
    verifies("PROG-6@server")("stops the producer; when it reads on, everything arrives"),
    () =>
      Effect.gen(function*() {
        const { layer, state } = burst()
        const server = yield* serve(layer)
        const stream = yield* open(server.url, call("burst", {}, withToken("t")), { paused: true })
        yield* until(() => state.reported > 0)
        yield* standstill(state)
        const { reported } = state
        assert.isFalse(state.done)
        // What the sockets of both ends hold, and no more: far from the 27 MB that were to come.
        assert.isBelow(reported * text.length, 16 * 1024 * 1024)
        const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
        yield* turns(500)
        const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
        assert.strictEqual(state.reported, reported)
        assert.isBelow(after - before, 8 * 1024 * 1024)

        let last = 0
        let count = 0
        let rest = ""
        stream.response.setEncoding("utf8")
        stream.response.on("data", (chunk: string) => {
          const events = (rest + chunk).split("\n\n")
          rest = events.pop()!
          for (const event of events) {
            const { params, result } = JSON.parse(event.slice("data: ".length))
            if (result !== undefined) continue
            assert.isAbove(params.progress, last)
            last = params.progress
            count++
          }
        })
        yield* until(() => stream.response.complete)
        assert.deepStrictEqual([count, last, state.done], [total, total, true])
      }),
    60_000
  )

  it.effect(
    verifies("CAN-3", "CAN-4")("and goes away ends the producer that waits for it"),
    () =>
      Effect.gen(function*() {
        const { layer, state } = burst()
        const server = yield* serve(layer, { maxConcurrentRequests: 1 })
        const stream = yield* open(server.url, call("burst", {}, withToken("t")), { paused: true })
        yield* until(() => state.reported > 0)
        yield* standstill(state)
        stream.destroy()
        yield* until(() => state.exit !== undefined)
        assert.isTrue(Exit.hasInterrupts(state.exit!))
        assert.isFalse(state.done)
        assert.strictEqual((yield* server.send(call("other"))).status, 200)
      }),
    60_000
  )

  it.effect("and goes away in the middle of a burst stops it", () =>
    Effect.gen(function*() {
      const { layer, state } = burst()
      const server = yield* serve(layer)
      const stream = yield* open(server.url, call("burst", {}, withToken("t")))
      yield* until(() => state.reported > 100)
      stream.destroy()
      yield* until(() => state.exit !== undefined)
      assert.isBelow(state.reported, total)
    }))
})
