/** What bounds a call: deadline, timeout, token, interruption, the client's scope; and progress on its way. */
import { assert, describe, expect, it } from "@effect/vitest"
import type * as McpClient from "@fairlead/client/McpClient"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { Search } from "./support/tools.ts"
import { hits, metaOf, progressOf, results, scripted, silent, success } from "./support/transport.ts"

const search = (client: McpClient.Client) => client.callResult(Search, { query: "a" })

describe("deadline and timeout", () => {
  it.effect.each([
    { sent: false, code: "timed_out.not_sent", evidence: "NotSent" },
    { sent: true, code: "timed_out.maybe_sent", evidence: "MaybeSent" }
  ])(
    verifies(
      "client/with_deadline",
      "client/promise/deadline_closes_call",
      "client/reason/timed_out",
      "client/evidence/not_sent",
      "client/evidence/maybe_sent"
    )("a deadline ends the call with what is known: sent $sent"),
    ({ code, evidence, sent }) =>
      Effect.gen(function*() {
        const { answer, reached } = silent({ sent })
        const scenario = yield* scripted(answer)
        const fiber = yield* Effect.forkChild(Effect.flip(search(scenario.client).pipe(Call.withDeadline("2 seconds"))))
        yield* reached
        yield* TestClock.adjust("1999 millis")
        expect(fiber.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust("1 millis")
        const error = yield* Fiber.join(fiber)
        expect(error.code).toBe(code)
        assert(error.reason._tag === "TimedOut")
        expect({ ...error.reason }).toEqual({ _tag: "TimedOut", bound: "deadline", millis: 2000, evidence })
        expect(scenario.interrupted).toBe(1)
      })
  )

  it.effect(
    verifies(
      "client/default/request_timeout",
      "client/with_timeout",
      "CAN-9@client",
      "snodo/default/timeout",
      "snodo/error/timeout",
      "client/kind/timeout",
      "TOOL-16@client"
    )("without a deadline: 30 seconds"),
    () =>
      Effect.gen(function*() {
        const { answer, reached } = silent({ sent: true })
        const { client } = yield* scripted(answer)
        const fiber = yield* Effect.forkChild(Effect.flip(search(client)))
        yield* reached
        yield* TestClock.adjust("30 seconds")
        const error = yield* Fiber.join(fiber)
        assert(error.reason._tag === "TimedOut")
        expect(error.reason.bound).toBe("timeout")
        expect(error.reason.millis).toBe(30_000)
      })
  )

  it.effect(
    verifies("snodo/request_option/timeout", "snodo/option/timeout")(
      "a timeout around the call replaces the client's, in both directions"
    ),
    () =>
      Effect.gen(function*() {
        for (const [timeout, millis] of [["1 second", 1000], ["2 minutes", 120_000]] as const) {
          const { answer, reached } = silent({ sent: true })
          const { client } = yield* scripted(answer, { timeout: "10 seconds" })
          const fiber = yield* Effect.forkChild(Effect.flip(search(client).pipe(Call.withTimeout(timeout))))
          yield* reached
          yield* TestClock.adjust(millis - 1)
          expect(fiber.pollUnsafe()).toBeUndefined()
          yield* TestClock.adjust(1)
          const error = yield* Fiber.join(fiber)
          assert(error.reason._tag === "TimedOut")
          expect(error.reason.millis).toBe(millis)
        }
      })
  )

  it.effect(
    verifies("snodo/promise/direct_no_timeout")("an infinite timeout sets no bound, but a deadline still does"),
    () =>
      Effect.gen(function*() {
        const { answer, reached } = silent({ sent: true })
        const { client } = yield* scripted(answer)
        const fiber = yield* Effect.forkChild(
          Effect.flip(search(client).pipe(Call.withTimeout("Infinity"), Call.withDeadline("1 hour")))
        )
        yield* reached
        yield* TestClock.adjust("59 minutes")
        expect(fiber.pollUnsafe()).toBeUndefined()
        yield* TestClock.adjust("1 minute")
        assert((yield* Fiber.join(fiber)).reason._tag === "TimedOut")
      })
  )

  it.effect("a deadline that has passed sends nothing", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => hits()))
      for (const deadline of ["0 millis", "-1 second"] as const) {
        const error = yield* Effect.flip(search(client).pipe(Call.withDeadline(deadline)))
        expect(error.code).toBe("timed_out.not_sent")
      }
      expect(requests).toEqual([])
    }))

  it.effect("the calls under one deadline share it", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted((request) =>
        Effect.as(Effect.sleep("600 millis"), success(request, hits()))
      )
      const fiber = yield* Effect.forkChild(
        Effect.exit(Effect.all([search(client), search(client)]).pipe(Call.withDeadline("1 second")))
      )
      yield* TestClock.adjust("600 millis")
      yield* TestClock.adjust("400 millis")
      const exit = yield* Fiber.join(fiber)
      assert(Exit.isFailure(exit))
      expect(requests.length).toBe(2)
    }))

  it.effect("the remaining whole milliseconds travel with a deadline, and never more than the timeout", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => hits()))
      yield* Effect.andThen(TestClock.adjust("500 millis"), search(client)).pipe(Call.withDeadline("1500.5 millis"))
      yield* search(client).pipe(Call.withDeadline("1 hour"))
      yield* search(client)
      const remaining = requests.map((request) => metaOf(request)[Call.metaKeys.timeoutMillis])
      expect(remaining).toEqual([1000, 30_000, undefined])
    }))

  it.effect("the deadline covers encoding the arguments", () =>
    Effect.gen(function*() {
      const Slow = Tool.make("slow", {
        input: Schema.Struct({
          a: Schema.String.pipe(Schema.decode({
            decode: SchemaGetter.passthrough(),
            encode: SchemaGetter.transformEffect((text: string) => Effect.as(Effect.sleep("1 minute"), text))
          }))
        })
      })
      const { client, requests } = yield* scripted(results(() => ({ content: [] })))
      const fiber = yield* Effect.forkChild(Effect.flip(client.callResult(Slow, { a: "x" })))
      yield* Effect.yieldNow
      yield* TestClock.adjust("30 seconds")
      expect((yield* Fiber.join(fiber)).code).toBe("timed_out.not_sent")
      expect(requests).toEqual([])
    }))

  it.effect(
    verifies("client/evidence/completed")("the deadline covers decoding the answer, which had come"),
    () =>
      Effect.gen(function*() {
        const Slow = Tool.make("slow", {
          output: Schema.String.pipe(Schema.decode({
            decode: SchemaGetter.transformEffect((text: string) => Effect.as(Effect.sleep("1 minute"), text)),
            encode: SchemaGetter.passthrough()
          }))
        })
        const { client } = yield* scripted(results(() => ({ content: [], structuredContent: "x" })))
        const fiber = yield* Effect.forkChild(Effect.flip(client.callResult(Slow, {})))
        yield* Effect.yieldNow
        yield* TestClock.adjust("30 seconds")
        expect((yield* Fiber.join(fiber)).code).toBe("timed_out.completed")
      })
  )

  it.effect("the caller does not wait for a transport that takes its time to stop", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted((request) =>
        Effect.suspend(() => {
          request.sent()
          return Effect.onInterrupt(Effect.never, () => Effect.never)
        })
      )
      const fiber = yield* Effect.forkChild(Effect.flip(search(client).pipe(Call.withDeadline("1 second"))))
      yield* Effect.yieldNow
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(fiber)).code).toBe("timed_out.maybe_sent")
    }))

  it.effect(verifies("client/default/retries")("nothing is sent twice"), () =>
    Effect.gen(function*() {
      const { answer, reached } = silent({ sent: false })
      const { client, requests } = yield* scripted(answer)
      const fiber = yield* Effect.forkChild(Effect.flip(search(client)))
      yield* reached
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(fiber)
      yield* TestClock.adjust("10 minutes")
      expect(requests.length).toBe(1)
    }))
})

describe("cancellation", () => {
  it.effect.each([{ sent: false, code: "cancelled.not_sent" }, { sent: true, code: "cancelled.maybe_sent" }])(
    verifies("client/with_cancellation", "client/kind/cancellation", "client/reason/cancelled", "CAN-1@client")(
      "a token ends the call: sent $sent"
    ),
    ({ code, sent }) =>
      Effect.gen(function*() {
        const token = yield* Call.makeCancellationToken
        const { answer, reached } = silent({ sent })
        const scenario = yield* scripted(answer)
        const fiber = yield* Effect.forkChild(Effect.flip(search(scenario.client).pipe(Call.withCancellation(token))))
        yield* reached
        yield* token.cancel
        const error = yield* Fiber.join(fiber)
        expect(error.code).toBe(code)
        expect(scenario.interrupted).toBe(1)
        const later = yield* Effect.flip(search(scenario.client).pipe(Call.withCancellation(token)))
        expect(later.code).toBe("cancelled.not_sent")
        expect(scenario.requests.length).toBe(1)
      })
  )

  it.effect("an AbortSignal does the same, and is let go of after the call", () =>
    Effect.gen(function*() {
      const controller = new AbortController()
      const { client } = yield* scripted(results(() => hits("a")))
      let listeners = 0
      const signal = new Proxy(controller.signal, {
        get: (target, key) => {
          if (key === "addEventListener") listeners++
          if (key === "removeEventListener") listeners--
          const value = Reflect.get(target, key)
          return typeof value === "function" ? value.bind(target) : value
        }
      })
      const token: Call.CancellationToken = { ...yield* Call.makeCancellationToken, signal }
      for (let i = 0; i < 5; i++) yield* search(client).pipe(Call.withCancellation(token))
      expect(listeners).toBeLessThanOrEqual(0)
      const silence = silent({ sent: true })
      const waiting = yield* scripted(silence.answer)
      const fiber = yield* Effect.forkChild(
        Effect.flip(search(waiting.client).pipe(Call.withCancellation(controller.signal)))
      )
      yield* silence.reached
      controller.abort()
      expect((yield* Fiber.join(fiber)).code).toBe("cancelled.maybe_sent")
    }))

  it.effect("interrupting the caller interrupts the transport and waits for it", () =>
    Effect.gen(function*() {
      const cleaned = yield* Deferred.make<void>()
      const reached = yield* Deferred.make<void>()
      let ended = false
      const { client } = yield* scripted(() =>
        Deferred.succeed(reached, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() =>
            Effect.andThen(
              Deferred.await(cleaned),
              Effect.sync(() => {
                ended = true
              })
            )
          )
        )
      )
      const fiber = yield* Effect.forkChild(search(client))
      yield* Deferred.await(reached)
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* Effect.yieldNow
      expect(fiber.pollUnsafe()).toBeUndefined()
      yield* Deferred.succeed(cleaned, undefined)
      yield* Fiber.join(interrupting)
      expect(ended).toBe(true)
    }))

  it.effect("a transport that stops by itself ends the call as cancelled", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted(() => Effect.interrupt)
      expect((yield* Effect.flip(search(client))).code).toBe("cancelled.not_sent")
    }))

  it.effect(
    verifies("client/close", "client/promise/close_dispatched")(
      "closing the client's scope ends calls in flight and later ones"
    ),
    () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { answer, reached } = silent({ sent: true })
        const { client, requests } = yield* scripted(answer).pipe(Scope.provide(scope))
        const fiber = yield* Effect.forkChild(Effect.flip(search(client)))
        yield* reached
        yield* Scope.close(scope, Exit.void)
        expect((yield* Fiber.join(fiber)).code).toBe("cancelled.maybe_sent")
        expect((yield* Effect.flip(search(client))).code).toBe("cancelled.not_sent")
        expect(requests.length).toBe(1)
      })
  )

  it.effect("after a call that was cut the next one works", () =>
    Effect.gen(function*() {
      let first = true
      const { client } = yield* scripted((request) => {
        if (!first) return Effect.succeed(success(request, hits("b")))
        first = false
        return Effect.never
      })
      const fiber = yield* Effect.forkChild(Effect.flip(search(client)))
      yield* Effect.yieldNow
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(fiber)
      expect(yield* client.call(Search, { query: "b" })).toEqual({ titles: ["b"] })
    }))
})

describe("the fiber of a call", () => {
  it.effect("the transport runs without the caller's Call, with its services", () =>
    Effect.gen(function*() {
      class Tenant extends Context.Service<Tenant, string>()("test/Tenant") {}
      let seen: readonly [Call.Call, string | undefined] | undefined
      const { client } = yield* scripted((request) =>
        Effect.withFiber((fiber) => {
          seen = [fiber.getRef(Call.Current), Context.getOrUndefined(fiber.context, Tenant)]
          return Effect.succeed(success(request, hits()))
        })
      )
      yield* search(client).pipe(
        Call.withDeadline("1 second"),
        Call.withCorrelation("c"),
        Effect.provideService(Tenant, "acme")
      )
      expect(seen).toEqual([Call.empty, "acme"])
    }))

  it.effect("schemas get the caller's services", () =>
    Effect.gen(function*() {
      class Prefix extends Context.Service<Prefix, string>()("test/Prefix") {}
      const Greeting = Tool.make("greeting", {
        output: Schema.String.pipe(Schema.decode({
          decode: SchemaGetter.transformEffect((text: string) => Effect.map(Prefix, (prefix) => prefix + text)),
          encode: SchemaGetter.passthrough()
        }))
      })
      const { client } = yield* scripted(results(() => ({ content: [], structuredContent: "Ada" })))
      const greeting = yield* client.call(Greeting, {}).pipe(Effect.provideService(Prefix, "Hello "))
      expect(greeting).toBe("Hello Ada")
    }))
})

describe("handles", () => {
  it.effect(
    verifies(
      "client/promise/views_share_connection",
      "client/with_correlation",
      "client/with_idempotency_key",
      "client/type/client"
    )("carry what they were made with, over the same connection"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(results(() => hits()))
        const handle = client.with({ correlation: "c", idempotencyKey: "k", meta: { "com.example/a": 1 } })
        yield* search(handle)
        yield* search(handle.with({ idempotencyKey: "l", meta: { "com.example/b": 2 } }))
        yield* search(client)
        const metas = requests.map(metaOf)
        expect(metas[0]).toMatchObject({
          [Call.metaKeys.correlation]: "c",
          [Call.metaKeys.idempotencyKey]: "k",
          "com.example/a": 1
        })
        expect(metas[1]).toMatchObject({
          [Call.metaKeys.correlation]: "c",
          [Call.metaKeys.idempotencyKey]: "l",
          "com.example/a": 1,
          "com.example/b": 2
        })
        expect(metas[2]).not.toHaveProperty(Call.metaKeys.idempotencyKey)
      })
  )

  it.effect("the handle wins over the fiber; of two deadlines the earlier counts, either token ends", () =>
    Effect.gen(function*() {
      const { answer } = silent({ sent: true })
      const { client, requests } = yield* scripted(answer)
      const run = (handle: McpClient.Client, advance: number) =>
        Effect.gen(function*() {
          const fiber = yield* Effect.forkChild(
            Effect.flip(
              search(handle).pipe(
                Call.withDeadline("2 seconds"),
                Call.withCorrelation("fiber"),
                Call.withIdempotencyKey("fiber")
              )
            )
          )
          yield* Effect.yieldNow
          yield* TestClock.adjust(advance)
          return yield* Fiber.join(fiber)
        })
      const earlier = yield* run(client.with({ deadline: "1 second", correlation: "handle" }), 1000)
      assert(earlier.reason._tag === "TimedOut")
      expect(earlier.reason.millis).toBe(1000)
      expect(earlier.correlation).toBe("handle")
      expect(metaOf(requests[0]!)[Call.metaKeys.idempotencyKey]).toBe("fiber")
      const later = yield* run(client.with({ deadline: "1 hour" }), 2000)
      assert(later.reason._tag === "TimedOut")
      expect(later.reason.millis).toBe(2000)

      const [own, fibers] = [yield* Call.makeCancellationToken, yield* Call.makeCancellationToken]
      for (const token of [own, fibers]) {
        const fiber = yield* Effect.forkChild(
          Effect.flip(search(client.with({ cancellation: own })).pipe(Call.withCancellation(fibers)))
        )
        yield* Effect.yieldNow
        yield* token.cancel
        expect((yield* Fiber.join(fiber)).code).toMatch(/^cancelled/)
      }
    }))

  it.effect("a handle's deadline counts from when it is made and is shared by its calls", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => hits()))
      const handle = client.with({ deadline: "1 second", timeout: "10 seconds" })
      yield* TestClock.adjust("400 millis")
      yield* search(handle)
      expect(metaOf(requests[0]!)[Call.metaKeys.timeoutMillis]).toBe(600)
      yield* TestClock.adjust("600 millis")
      expect((yield* Effect.flip(search(handle))).code).toBe("timed_out.not_sent")
    }))
})

describe("progress", () => {
  const collect = () => {
    const reports: Array<number> = []
    return {
      reports,
      handler: (progress: Call.Progress) =>
        Effect.sync(() => {
          reports.push(progress.progress)
        })
    }
  }

  it.effect(
    verifies(
      "PROG-1@client",
      "PROG-6@client",
      "snodo/promise/progress_function",
      "snodo/request_option/progress",
      "snodo/promise/progress_token_is_request_id",
      "snodo/promise/progress_fields"
    )(
      "reports come in order and all before the call returns"
    ),
    () =>
      Effect.gen(function*() {
        const seen: Array<Call.Progress> = []
        const { client, requests } = yield* scripted((request) =>
          Effect.sync(() => {
            request.notify(progressOf(request, 1))
            request.notify(progressOf(request, 1, "foreign"))
            request.notify({
              _tag: "Notification",
              method: "notifications/message",
              params: { level: "info", data: 1 }
            })
            request.notify({
              _tag: "Notification",
              method: "notifications/progress",
              params: { progressToken: request.id as number, progress: 2, total: 3, message: "half" }
            })
            request.notify({
              _tag: "Notification",
              method: "notifications/progress",
              params: { progressToken: request.id as number, progress: "x" }
            })
            return success(request, hits("a"))
          })
        )
        const output = yield* client.call(Search, { query: "a" }).pipe(
          Call.withProgress((progress) => Effect.andThen(Effect.yieldNow, Effect.sync(() => seen.push(progress))))
        )
        expect(output).toEqual({ titles: ["a"] })
        expect(seen).toEqual([
          { progress: 1, total: undefined, message: undefined },
          { progress: 2, total: 3, message: "half" }
        ])
        expect(metaOf(requests[0]!)[Revision.meta.progressToken]).toBe(requests[0]!.id)
      })
  )

  it.effect("the handler has the caller's services, and of its Call only what follows", () =>
    Effect.gen(function*() {
      class Tenant extends Context.Service<Tenant, string>()("test/Tenant") {}
      let seen: readonly [Call.Call, string | undefined] | undefined
      const { client } = yield* scripted((request) =>
        Effect.sync(() => {
          request.notify(progressOf(request, 1))
          return success(request, hits())
        })
      )
      yield* search(client).pipe(
        Call.withProgress(() =>
          Effect.withFiber((fiber) => {
            seen = [fiber.getRef(Call.Current), Context.getOrUndefined(fiber.context, Tenant)]
            return Effect.void
          })
        ),
        Call.withDeadline("1 second"),
        Call.withCorrelation("c"),
        Call.withIdempotencyKey("k"),
        Effect.provideService(Tenant, "acme")
      )
      const deadline = (yield* Clock.currentTimeMillis) + 1000
      expect(seen).toEqual([{ ...Call.empty, deadline, correlation: "c" }, "acme"])
    }))

  it.effect("a slow handler holds the answer back, until the deadline", () =>
    Effect.gen(function*() {
      const scenario = yield* scripted((request) =>
        Effect.sync(() => {
          request.notify(progressOf(request, 1))
          return success(request, hits())
        })
      )
      const fiber = yield* Effect.forkChild(Effect.flip(
        search(scenario.client).pipe(Call.withProgress(() => Effect.never), Call.withDeadline("1 second"))
      ))
      yield* Effect.yieldNow
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(fiber)).code).toBe("timed_out.completed")
    }))

  it.effect("a handler that dies cancels the call and dies", () =>
    Effect.gen(function*() {
      for (const before of [Effect.void, Effect.yieldNow]) {
        const scenario = yield* scripted((request) =>
          Effect.suspend(() => {
            request.notify(progressOf(request, 1))
            return Effect.never
          })
        )
        const exit = yield* Effect.exit(
          search(scenario.client).pipe(Call.withProgress(() => Effect.andThen(before, Effect.die("handler"))))
        )
        expect(exit).toEqual(Exit.die("handler"))
        expect(scenario.interrupted).toBe(1)
      }
    }))

  it.effect("interrupting the call interrupts its handler", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      let interrupted = false
      const { client } = yield* scripted((request) =>
        Effect.suspend(() => {
          request.notify(progressOf(request, 1))
          return Effect.never
        })
      )
      const fiber = yield* Effect.forkChild(
        search(client).pipe(
          Call.withProgress(() =>
            Deferred.succeed(started, undefined).pipe(
              Effect.andThen(Effect.never),
              Effect.onInterrupt(() =>
                Effect.sync(() => {
                  interrupted = true
                })
              )
            )
          )
        )
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      expect(interrupted).toBe(true)
    }))

  it.effect("at most 1,024 wait: the oldest are dropped and counted, with one warning", () =>
    Effect.gen(function*() {
      const messages: Array<unknown> = []
      const logger = Logger.make(({ message }) => {
        messages.push(message)
      })
      const open = yield* Deferred.make<void>()
      const { handler, reports } = collect()
      const { client } = yield* scripted((request) =>
        Effect.sync(() => {
          for (let i = 0; i < 2000; i++) request.notify(progressOf(request, i))
          return success(request, hits())
        })
      )
      const fiber = yield* Effect.forkChild(
        search(client).pipe(
          Call.withProgress((progress) => Effect.andThen(Deferred.await(open), handler(progress))),
          Effect.provide(Logger.layer([logger]))
        )
      )
      yield* Effect.yieldNow
      yield* Deferred.succeed(open, undefined)
      yield* Fiber.join(fiber)
      // One was with the handler already.
      expect(reports).toEqual([0, ...Array.from({ length: 1024 }, (_, i) => 976 + i)])
      expect(messages).toEqual([[expect.stringContaining("dropped"), { dropped: 975, maxWaiting: 1024 }]])
    }))
})

describe("layers and calls", () => {
  it.effect("a client built inside a call does not keep it", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(results(() => hits())).pipe(Call.withCorrelation("building"))
      yield* search(client)
      expect(metaOf(requests[0]!)[Call.metaKeys.correlation]).not.toBe("building")
      yield* Effect.void.pipe(Effect.provide(Layer.empty))
    }))
})
