/**
 * Cases: what ends a call early ends it at the server too, and leaves the connection working.
 */
import type * as McpClient from "@fairlead/client/McpClient"
import type * as McpClientError from "@fairlead/client/McpClientError"
import * as Call from "@fairlead/protocol/Call"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as ContractServer from "../../ContractServer.ts"
import { equal, fail, ok } from "./assert.ts"
import {
  awaitInterrupted,
  type Case,
  clientOf,
  type Environment,
  expectError,
  expectText,
  freshKey,
  hold,
  nextCallWorks,
  rawCall,
  startHeld,
  withTestClock
} from "./harness.ts"

const boundOf = (error: McpClientError.McpClientError): string =>
  error.reason._tag === "TimedOut" ? error.reason.bound : fail("no bound ended the call")

/** A held call that `end` cuts: the error it fails with, when the server has interrupted it and the next call works. */
const cutBy = Effect.fnUntraced(function*(
  { server }: Environment,
  carried: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
  end: Effect.Effect<void>,
  tag: "TimedOut" | "Cancelled"
) {
  const client = yield* clientOf(yield* server)
  const key = yield* freshKey
  const fiber = yield* startHeld(client, key, carried(hold(client, key)))
  yield* end
  const error = expectError(yield* Fiber.await(fiber), tag, "MaybeSent")
  yield* awaitInterrupted(client, key)
  yield* nextCallWorks(client)
  return error
})

/** A call that ends before it begins: nothing was sent, and the server has not heard of it. */
const neverSent = Effect.fnUntraced(function*(
  { freshServer }: Environment,
  carried: <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
  tag: "TimedOut" | "Cancelled"
) {
  const connection = yield* freshServer
  const client = yield* clientOf(connection)
  const key = yield* freshKey
  const error = expectError(yield* Effect.exit(carried(hold(client, key))), tag, "NotSent")
  const entries = yield* connection.recording.entries
  equal(entries.filter((entry) => entry._tag === "Left").length, 0, "how many requests left")
  const { keys } = yield* client.call(ContractServer.Stats, {})
  ok(!keys.includes(key), "the server has heard of the call")
  return error
})

const interruptSome = Effect.fnUntraced(function*(client: McpClient.Client) {
  const keys = yield* Effect.replicateEffect(freshKey, 12)
  const fibers = yield* Effect.forEach(keys, (key) => startHeld(client, key, hold(client, key)), {
    concurrency: "unbounded"
  })
  const isInterrupted = (_: unknown, i: number) => i % 3 !== 0
  yield* Fiber.interruptAll(fibers.filter(isInterrupted))
  yield* Effect.forEach(keys.filter(isInterrupted), (key) => awaitInterrupted(client, key), {
    concurrency: "unbounded"
  })
  for (const [i, key] of keys.entries()) {
    if (isInterrupted(key, i)) continue
    equal(fibers[i]!.pollUnsafe(), undefined, "a call beside interrupted ones")
    yield* client.call(ContractServer.Release, { key })
    equal(yield* Fiber.join(fibers[i]!), { key }, "the answer of a call beside interrupted ones")
  }
})

export const cases: ReadonlyArray<Case> = [
  {
    id: "deadline-before",
    title: "a deadline that has passed ends a call before it is sent",
    needs: "server",
    run: (environment) =>
      withTestClock(Effect.map(
        neverSent(environment, Call.withDeadline(0), "TimedOut"),
        (error) => equal(boundOf(error), "deadline", "the bound")
      ))
  },
  {
    id: "deadline-after",
    title: "a deadline ends a call that was sent, and cancels it at the server",
    needs: "server",
    run: (environment) =>
      withTestClock(Effect.map(
        cutBy(environment, Call.withDeadline("10 seconds"), TestClock.adjust("10 seconds"), "TimedOut"),
        (error) => equal(boundOf(error), "deadline", "the bound")
      ))
  },
  {
    id: "deadline-shared",
    title: "a deadline is one budget for all calls under it",
    needs: "server",
    run: ({ server }) =>
      withTestClock(Effect.gen(function*() {
        const client = yield* clientOf(yield* server)
        const key = yield* freshKey
        const both = Effect.gen(function*() {
          yield* TestClock.adjust("6 seconds")
          yield* nextCallWorks(client)
          return yield* hold(client, key)
        })
        const fiber = yield* startHeld(client, key, both.pipe(Call.withDeadline("10 seconds")))
        yield* TestClock.adjust("4 seconds")
        expectError(yield* Fiber.await(fiber), "TimedOut", "MaybeSent")
        yield* awaitInterrupted(client, key)
      }))
  },
  {
    id: "timeout",
    title: "a timeout ends a call that was sent, and cancels it at the server",
    needs: "server",
    run: (environment) =>
      withTestClock(Effect.map(
        cutBy(environment, Call.withTimeout("5 seconds"), TestClock.adjust("5 seconds"), "TimedOut"),
        (error) => equal(boundOf(error), "timeout", "the bound")
      ))
  },
  {
    id: "token",
    title: "a cancellation token ends a call that was sent, and cancels it at the server",
    needs: "server",
    run: (environment) =>
      Effect.flatMap(
        Call.makeCancellationToken,
        (token) => Effect.asVoid(cutBy(environment, Call.withCancellation(token), token.cancel, "Cancelled"))
      )
  },
  {
    id: "token-before",
    title: "a token that is cancelled already ends a call before it is sent",
    needs: "server",
    run: Effect.fnUntraced(function*(environment) {
      const token = yield* Call.makeCancellationToken
      yield* token.cancel
      yield* neverSent(environment, Call.withCancellation(token), "Cancelled")
    })
  },
  {
    id: "abort-signal",
    title: "an AbortSignal ends a call that was sent, and cancels it at the server",
    needs: "server",
    run: Effect.fnUntraced(function*(environment) {
      const controller = new AbortController()
      yield* cutBy(
        environment,
        Call.withCancellation(controller.signal),
        Effect.sync(() => controller.abort()),
        "Cancelled"
      )
    })
  },
  {
    id: "interruption",
    title: "interrupting a call cancels it at the server, and the next call works",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const key = yield* freshKey
      const fiber = yield* startHeld(client, key, hold(client, key))
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      ok(Exit.isFailure(exit) && Exit.hasInterrupts(exit), "the call was not interrupted")
      yield* awaitInterrupted(client, key)
      yield* nextCallWorks(client)
    })
  },
  {
    id: "interruption-of-some",
    title: "interrupting some of many calls leaves the others alone",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      yield* interruptSome(client)
      yield* nextCallWorks(client)
    })
  },
  {
    id: "silence",
    title: "a call that is never answered can be interrupted, and the next call works",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const connection = yield* freshRaw
      const client = yield* clientOf(connection)
      const fiber = yield* Effect.forkScoped(rawCall(client, "silence"), { startImmediately: true })
      const left = Effect.map(connection.recording.entries, (entries) => entries.some(({ _tag }) => _tag === "Left"))
      while (!(yield* left)) yield* Effect.sleep(1)
      yield* Fiber.interrupt(fiber)
      expectText(yield* rawCall(client, "good"), "good")
    })
  }
]
