/** What a caller can ask of a call beyond its bounds: log messages, a timeout that restarts, traces, retries. */
import { assert, describe, expect, it } from "@effect/vitest"
import * as McpClient from "@fairlead/client/McpClient"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import {
  ConnectFailed,
  ConnectionClosed,
  type Failure,
  HttpStatus,
  type Outgoing,
  Transport
} from "@fairlead/protocol/Transport"
import * as Invocation from "@fairlead/server/Invocation"
import * as McpEndpoint from "@fairlead/server/McpEndpoint"
import * as McpServer from "@fairlead/server/McpServer"
import * as TestClient from "@fairlead/testing/TestClient"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import * as Tracer from "effect/Tracer"
import { Search } from "./support/tools.ts"
import { hits, metaOf, progressOf, results, scripted, success } from "./support/transport.ts"

const search = (client: McpClient.Client) => client.call(Search, { query: "a" })

describe("log messages", () => {
  const log = (request: Outgoing, params: Json.Object) =>
    request.notify({ _tag: "Notification", method: Revision.notification.message, params })

  it.effect(
    verifies("LOG-2", "LOG-3")("are asked for with a level, and heard in order with progress before the call returns"),
    () =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const hear = (it: unknown) => Effect.andThen(Effect.yieldNow, Effect.sync(() => seen.push(it)))
        const { client, requests } = yield* scripted((request) =>
          Effect.sync(() => {
            request.sent()
            log(request, { level: "warning", logger: "db", data: { slow: true } })
            request.notify(progressOf(request, 1))
            log(request, { level: "loud", data: 1 })
            log(request, { level: "error" })
            log(request, { level: "error", data: "last" })
            return success(request, hits("a"))
          })
        )
        yield* search(client).pipe(
          Call.withLogLevel("warning", hear),
          Call.withProgress(({ progress }) => hear(progress))
        )
        expect(seen).toEqual([
          { level: "warning", logger: "db", data: { slow: true } },
          1,
          { level: "error", data: "last" }
        ])
        expect(metaOf(requests[0]!)[Revision.meta.logLevel]).toBe("warning")
      })
  )

  it.effect("are not asked for otherwise, and then not heard", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted((request) =>
        Effect.sync(() => {
          log(request, { level: "error", data: 1 })
          return success(request, hits("a"))
        })
      )
      yield* search(client)
      expect(metaOf(requests[0]!)).not.toHaveProperty([Revision.meta.logLevel])
    }))

  it.effect("of a server in this process", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const seen: Array<Call.LogMessage> = []
      yield* client.call(Chatty, {}).pipe(
        Call.withLogLevel("info", (message) => Effect.sync(() => seen.push(message)))
      )
      expect(seen.map(({ data, level }) => [level, data])).toEqual([["info", "b"], ["error", "c"]])
    }).pipe(Effect.provide(TestClient.layer(
      McpServer.tool(Chatty, () =>
        Effect.as(
          Effect.forEach(
            [["debug", "a"], ["info", "b"], ["error", "c"]] as const,
            ([level, data]) => Effect.flatMap(Invocation.Invocation, (it) => it.log(level, data))
          ),
          []
        )).pipe(McpEndpoint.serve({ name: "chatty", version: "1.0.0", logging: true }))
    ))))
})

const Chatty = Tool.make("chatty")

describe("a timeout that progress restarts", () => {
  /** Reports every 20 seconds and never answers, or answers after so many. */
  const reporting = (answerAfter = Infinity) =>
    scripted((request) => {
      request.sent()
      let n = 0
      const loop: Effect.Effect<ReturnType<typeof success>> = Effect.suspend(() => {
        if (n === answerAfter) return Effect.succeed(success(request, hits("a")))
        request.notify(progressOf(request, ++n))
        request.notify(progressOf(request, n, "foreign"))
        return Effect.andThen(Effect.sleep("20 seconds"), loop)
      })
      return loop
    })
  const handler = () => Effect.void

  it.effect(
    verifies("snodo/request_option/reset_timeout_on_progress", "PROG-5")("ends the call when reports stop"),
    () =>
      Effect.gen(function*() {
        const { client } = yield* reporting(6)
        const fiber = yield* Effect.forkChild(search(client).pipe(Call.withProgress(handler, { resetTimeout: true })))
        yield* TestClock.adjust("2 minutes")
        expect(yield* Fiber.join(fiber)).toEqual({ titles: ["a"] })
        const plain = yield* Effect.forkChild(
          Effect.flip(search((yield* reporting()).client).pipe(Call.withProgress(handler)))
        )
        yield* TestClock.adjust("30 seconds")
        expect((yield* Fiber.join(plain))._tag).toBe("McpClientError")
      })
  )

  it.effect(
    verifies(
      "snodo/request_option/max_total_timeout",
      "snodo/default/max_total_timeout",
      "snodo/error/max_total_timeout"
    )(
      "is 10 minutes in all unless said otherwise, and says so"
    ),
    () =>
      Effect.gen(function*() {
        for (const [options, total] of [[{}, 600_000], [{ maxTotal: "1 minute" }, 60_000]] as const) {
          const { client } = yield* reporting()
          const fiber = yield* search(client).pipe(
            Call.withProgress(handler, { resetTimeout: true, ...options }),
            Effect.flip,
            Effect.forkChild
          )
          yield* TestClock.adjust(total - 1)
          expect(fiber.pollUnsafe()).toBeUndefined()
          yield* TestClock.adjust(1)
          const error = yield* Fiber.join(fiber)
          assert(error._tag === "McpClientError" && error.reason._tag === "TimedOut")
          expect({ ...error.reason }).toMatchObject({ bound: "total", millis: total, evidence: "MaybeSent" })
        }
      })
  )

  it.effect("never ends earlier than without, and not after the deadline", () =>
    Effect.gen(function*() {
      const ends = (total: number, deadline: number | "Infinity") =>
        Effect.gen(function*() {
          const { client } = yield* reporting()
          const fiber = yield* search(client).pipe(
            Call.withProgress(handler, { resetTimeout: true, maxTotal: total }),
            deadline === "Infinity" ? (self) => self : Call.withDeadline(deadline),
            Effect.flip,
            Effect.forkChild
          )
          yield* TestClock.adjust("15 minutes")
          const error = yield* Fiber.join(fiber)
          assert(error._tag === "McpClientError" && error.reason._tag === "TimedOut")
          return [error.reason.bound, error.reason.millis]
        })
      expect(yield* ends(5000, "Infinity")).toEqual(["timeout", 30_000])
      expect(yield* ends(600_000, 45_000)).toEqual(["deadline", 45_000])
    }))

  it.effect(verifies("snodo/promise/progress_mailbox")("progress goes to a queue"), () =>
    Effect.gen(function*() {
      const queue = yield* Queue.unbounded<Call.Progress>()
      const { client } = yield* scripted((request) =>
        Effect.sync(() => {
          request.notify(progressOf(request, 1))
          return success(request, hits("a"))
        })
      )
      yield* search(client).pipe(Call.withProgress(queue))
      expect(yield* Queue.takeAll(queue)).toEqual([{ progress: 1, total: undefined, message: undefined }])
    }))
})

describe("traces", () => {
  const traceOf = (request: Outgoing) => metaOf(request)[Revision.meta.traceparent]

  it.effect(
    verifies("META-16", "META-5@client")("the current span travels, and nothing where there is none"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => hits("a")))
        yield* search(client)
        const span = yield* Effect.withSpan(Effect.andThen(search(client), Effect.currentSpan), "mine")
        yield* Effect.withParentSpan(search(client), Tracer.externalSpan({ traceId: "x", spanId: "y" }))
        expect(requests.map(traceOf)).toEqual([
          undefined,
          `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`,
          undefined
        ])
      })
  )

  it.effect("a trace context of the caller's counts over the span", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => hits("a")))
      const own = {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        tracestate: "a=b",
        baggage: "user=1"
      }
      yield* search(client).pipe(Call.withMeta(own), Effect.withSpan("mine"))
      expect(metaOf(requests[0]!)).toMatchObject(own)
    }))
})

describe("retry", () => {
  const failing = (...failures: ReadonlyArray<Failure>) => {
    let n = 0
    return scripted((request) =>
      Effect.suspend(() => {
        request.sent()
        const failure = failures[n++]
        return failure === undefined ? Effect.succeed(success(request, hits("a"))) : Effect.fail(failure)
      })
    )
  }
  const refused = new ConnectFailed({})
  const lost = new ConnectionClosed({ evidence: "MaybeSent" })
  const busy = (retryAfter: string) => new HttpStatus({ status: 503, retryAfter })

  it.effect(
    verifies("client/default/retries", "client/is_retryable", "client/promise/retryable_not_sent")(
      "makes a call again where nothing was sent, and only where there is a policy"
    ),
    () =>
      Effect.gen(function*() {
        const alone = yield* failing(refused)
        expect((yield* Effect.flip(search(alone.client)))._tag).toBe("McpClientError")
        const { client, requests } = yield* failing(refused, refused)
        expect(yield* search(client).pipe(McpClient.retry({ schedule: Schedule.recurs(2) }))).toEqual({ titles: ["a"] })
        expect(requests.length).toBe(3)
        const few = yield* failing(refused, refused)
        expect(yield* Effect.flip(McpClient.retry(search(few.client), { schedule: Schedule.recurs(1) })))
          .toMatchObject({ code: "connect_failed" })
      })
  )

  it.effect(
    verifies("client/promise/retryable_idempotent")(
      "makes a call that may have been sent again only where that is safe"
    ),
    () =>
      Effect.gen(function*() {
        for (const [idempotent, sends] of [[false, 1], [true, 2]] as const) {
          const { client, requests } = yield* failing(lost)
          yield* Effect.exit(search(client).pipe(McpClient.retry({ idempotent, schedule: Schedule.recurs(3) })))
          expect(requests.length).toBe(sends)
        }
      })
  )

  it.effect("leaves the tool's own failures alone", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => ({ isError: true, content: [] })))
      const error = yield* Effect.flip(
        search(client).pipe(
          McpClient.retry({ idempotent: true, schedule: Schedule.recurs(3) })
        )
      )
      expect([error._tag, requests.length]).toEqual(["ToolFailed", 1])
    }))

  it.effect.each<readonly [string, number]>([
    ["7", 7000],
    ["Thu, 01 Jan 1970 00:00:09 GMT", 9000],
    ["99999999999", 2 ** 31 * 1000],
    ["-7", 1000],
    ["soon", 1000],
    ["0", 1000]
  ])(
    verifies("client/promise/retryable_429_503")("waits as long as the server asks: Retry-After %s"),
    ([retryAfter, millis]) =>
      Effect.gen(function*() {
        const { client, requests } = yield* failing(busy(retryAfter))
        const fiber = yield* search(client).pipe(
          McpClient.retry({ schedule: Schedule.spaced("1 second") }),
          Effect.forkChild
        )
        yield* TestClock.adjust(millis - 1)
        expect(requests.length).toBe(1)
        yield* TestClock.adjust(1)
        expect(yield* Fiber.join(fiber)).toEqual({ titles: ["a"] })
      })
  )

  it.effect("a wait that would end after the deadline is not begun: the last error says why", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* failing(refused, busy("3600"))
      const fiber = yield* search(client).pipe(
        McpClient.retry({ schedule: Schedule.spaced("1 second") }),
        Call.withDeadline("10 seconds"),
        Effect.flip,
        Effect.forkChild
      )
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toMatchObject({ code: "http_status.503" })
      expect(requests.length).toBe(2)
    }))

  it.effect("a token ends a wait, and what the last attempt knew of the server stays", () =>
    Effect.gen(function*() {
      const token = yield* Call.makeCancellationToken
      const { client, requests } = yield* failing(lost)
      const fiber = yield* search(client).pipe(
        McpClient.retry({ idempotent: true, schedule: Schedule.spaced("1 hour") }),
        Call.withCancellation(token),
        Effect.flip,
        Effect.forkChild
      )
      yield* TestClock.adjust("1 minute")
      yield* token.cancel
      expect(yield* Fiber.join(fiber)).toMatchObject({ code: "cancelled.maybe_sent" })
      expect(requests.length).toBe(1)
    }))

  it.effect("with a token too, what cannot be retried fails at once", () =>
    Effect.gen(function*() {
      const token = yield* Call.makeCancellationToken
      const { client } = yield* failing(lost)
      const error = yield* search(client).pipe(
        McpClient.retry({ schedule: Schedule.spaced("1 hour") }),
        Call.withCancellation(token),
        Effect.flip
      )
      expect(error).toMatchObject({ code: "connection_closed.maybe_sent" })
    }))
})

describe("reports after the end", () => {
  it.effect("are not handed over, though they came in one chunk with what ended the call", () =>
    Effect.gen(function*() {
      const token = yield* Call.makeCancellationToken
      const heard: Array<number> = []
      const { client } = yield* scripted((request) =>
        Effect.flatMap(Effect.yieldNow, () => {
          request.sent()
          for (const value of [1, 2, 3]) request.notify(progressOf(request, value))
          return Effect.never
        })
      )
      const error = yield* search(client).pipe(
        Call.withProgress(({ progress }) => {
          heard.push(progress)
          return token.cancel
        }),
        Call.withCancellation(token),
        Effect.flip
      )
      expect(error).toMatchObject({ code: "cancelled.maybe_sent" })
      for (let i = 0; i < 20; i++) yield* Effect.yieldNow
      expect(heard).toEqual([1])
    }))
})

describe("configuration", () => {
  it.effect("the options come from the program's configuration, and are checked as always", () => {
    const transport = Layer.succeed(Transport, {
      name: "scripted",
      hasHeaders: false,
      send: (request) => Effect.succeed(success(request, { tools: [] }))
    })
    const layer = McpClient.layerConfig(Config.all({ maxPages: Config.Int("PAGES") })).pipe(Layer.provide(transport))
    const use = (pages: string) =>
      Effect.flatMap(McpClient.McpClient, (client) => client.listTools).pipe(
        Effect.provide(layer),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ PAGES: pages })))
      )
    return Effect.gen(function*() {
      expect(yield* use("1")).toEqual([])
      expect(yield* Effect.flip(use("0"))).toMatchObject({ code: "invalid_config" })
      expect((yield* Effect.flip(use("x")))._tag).toBe("ConfigError")
    })
  })
})
