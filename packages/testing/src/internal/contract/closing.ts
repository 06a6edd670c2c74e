/**
 * Cases: closing ends what is in flight, and nothing is left behind.
 */
import * as Call from "@fairlead/protocol/Call"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as ContractServer from "../../ContractServer.ts"
import { equal, fail } from "./assert.ts"
import {
  awaitInterrupted,
  type Case,
  clientOf,
  type Environment,
  expectError,
  freshKey,
  hold,
  maxResponseBytes,
  nextCallWorks,
  startHeld
} from "./harness.ts"

/** Counts the fibers that are started inside, wherever they go. */
const countingFibers = <A, E, R>(self: (active: () => number) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let active = 0
    return Effect.provideService(self(() => active), Metric.FiberRuntimeMetrics, {
      recordFiberStart: () => {
        active++
      },
      recordFiberEnd: () => {
        active--
      }
    })
  })

/** Waits in real time until nothing is left, for at most five seconds. */
const eventually = (left: () => ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.promise(async () => {
    const end = performance.now() + 5000
    while (left().length > 0) {
      if (performance.now() > end) fail(`left behind: ${left().join(", ")}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })

const useInEveryWay = Effect.fnUntraced(function*({ freshServer }: Environment) {
  const connection = yield* freshServer
  const client = yield* clientOf(connection)
  yield* nextCallWorks(client)
  yield* client.call(ContractServer.Progress, { count: 5, label: "x" }).pipe(Call.withProgress(() => Effect.void))
  yield* Effect.exit(client.call(ContractServer.Die, {}))
  yield* Effect.exit(client.call(ContractServer.Big, { length: maxResponseBytes }))
  const key = yield* freshKey
  const interrupted = yield* startHeld(client, key, hold(client, key))
  yield* Fiber.interrupt(interrupted)
  yield* awaitInterrupted(client, key)
  const token = yield* Call.makeCancellationToken
  const other = yield* freshKey
  const cancelled = yield* startHeld(client, other, hold(client, other).pipe(Call.withCancellation(token)))
  yield* token.cancel
  yield* Fiber.await(cancelled)
  yield* awaitInterrupted(client, other)
  // The handler's end is seen by its own finalizer first.
  yield* Effect.yieldNow
  equal((yield* client.call(ContractServer.Stats, {})).held, 0, "how many calls the server still holds")
  equal(yield* connection.recording.pending, 0, "how many requests have no end")
})

const countKinds = (kinds: ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

const more = (before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): ReadonlyArray<string> =>
  [...after].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind, count]) => `${count} ${kind}`)

export const cases: ReadonlyArray<Case> = [
  {
    id: "close-in-flight",
    title: "closing ends the calls in flight at once, and says that they may have been sent",
    needs: "server",
    run: Effect.fnUntraced(function*({ freshServer }) {
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(freshServer, scope)
      const client = yield* Scope.provide(clientOf(connection), scope)
      const keys = yield* Effect.replicateEffect(freshKey, 3)
      const calls = yield* Effect.forEach(keys, (key) => startHeld(client, key, hold(client, key)))
      yield* Scope.close(scope, Exit.void)
      for (const call of calls) {
        expectError(yield* Fiber.await(call), ["Cancelled", "ConnectionClosed"], "MaybeSent")
      }
    })
  },
  {
    id: "close-of-one-client",
    title: "closing one of two clients cancels its calls at the server, and leaves the other alone",
    needs: "server",
    run: Effect.fnUntraced(function*({ freshServer }) {
      const connection = yield* freshServer
      const other = yield* clientOf(connection)
      const scope = yield* Scope.make()
      const client = yield* Scope.provide(clientOf(connection), scope)
      const keys = yield* Effect.replicateEffect(freshKey, 2)
      const [call, beside] = yield* Effect.all([
        startHeld(client, keys[0]!, hold(client, keys[0]!)),
        startHeld(other, keys[1]!, hold(other, keys[1]!))
      ])
      yield* Scope.close(scope, Exit.void)
      expectError(yield* Fiber.await(call), "Cancelled", "MaybeSent")
      yield* awaitInterrupted(other, keys[0]!)
      yield* other.call(ContractServer.Release, { key: keys[1]! })
      equal(yield* Fiber.join(beside), { key: keys[1]! }, "the answer of a call of the other client")
    })
  },
  {
    id: "close-of-the-transport",
    title: "a call ends when its transport closes beneath it",
    needs: "server",
    run: Effect.fnUntraced(function*({ freshServer }) {
      const scope = yield* Scope.make()
      const client = yield* clientOf(yield* Scope.provide(freshServer, scope))
      const key = yield* freshKey
      const call = yield* startHeld(client, key, hold(client, key))
      yield* Scope.close(scope, Exit.void)
      // The server may have closed with it, and have said so.
      expectError(
        yield* Fiber.await(call),
        ["Cancelled", "ConnectionClosed", "RpcError", "HttpStatus"],
        ["MaybeSent", "Completed"]
      )
    })
  },
  {
    id: "call-after-close",
    title: "a call after closing fails, and was not sent",
    needs: "server",
    run: Effect.fnUntraced(function*({ freshServer }) {
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(freshServer, scope)
      const client = yield* Scope.provide(clientOf(connection), scope)
      yield* nextCallWorks(client)
      yield* Scope.close(scope, Exit.void)
      expectError(yield* Effect.exit(nextCallWorks(client)), ["Cancelled", "ConnectionClosed"], "NotSent")
    })
  },
  {
    id: "leaks",
    title: "after calls that ended in every way, closing leaves no fiber, no request and no handle",
    needs: "server",
    run: (environment) =>
      countingFibers((active) =>
        Effect.gen(function*() {
          const before = countKinds(environment.resources())
          const fibers = active()
          yield* Effect.scoped(useInEveryWay(environment))
          yield* eventually(() => [
            ...more(before, countKinds(environment.resources())),
            ...(active() > fibers ? [`${active() - fibers} fibers`] : [])
          ])
        })
      )
  }
]
