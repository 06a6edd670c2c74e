/**
 * Cases: progress in order, a fresh `Call` on the other side, failures of tools, and nothing of a defect on the wire.
 */
import * as Call from "@fairlead/protocol/Call"
import * as Revision from "@fairlead/protocol/Revision"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as ContractServer from "../../ContractServer.ts"
import type * as RecordingTransport from "../../RecordingTransport.ts"
import { equal, ok } from "./assert.ts"
import {
  behaviour,
  type Case,
  clientOf,
  expectError,
  expectText,
  freshKey,
  isToolFailed,
  nextCallWorks,
  rawCall,
  sendTool,
  withTestClock
} from "./harness.ts"

const listen = () => {
  const reports: Array<Call.Progress> = []
  return { reports, handler: (report: Call.Progress) => Effect.sync(() => reports.push(report)) }
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

const progressCases: ReadonlyArray<Case> = [
  {
    id: "progress",
    title: "progress comes in order, whole, and before the call returns",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const { handler, reports } = listen()
      yield* client.call(ContractServer.Progress, { count: 50, label: "é🙂" }).pipe(Call.withProgress(handler))
      equal(
        reports.map(({ message, progress, total }) => ({ message, progress, total })),
        range(50).map((progress) => ({ message: `é🙂 ${progress}`, progress, total: 50 })),
        "the reports"
      )
    })
  },
  {
    id: "progress-of-two",
    title: "two calls at once get each its own progress",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const keys = yield* Effect.replicateEffect(freshKey, 2)
      const heard = keys.map(listen)
      const calls = yield* Effect.forEach(keys, (label, i) =>
        Effect.forkScoped(
          client.call(ContractServer.Progress, { count: 20, label, key: label }).pipe(
            Call.withProgress(heard[i]!.handler)
          ),
          { startImmediately: true }
        ))
      // The first is under way as long as the second reports.
      for (const i of [1, 0]) {
        yield* client.call(ContractServer.Release, { key: keys[i]! })
        yield* Fiber.join(calls[i]!)
      }
      equal(
        heard.map(({ reports }) => reports.map(({ message }) => message)),
        keys.map((label) => range(20).map((n) => `${label} ${n}`)),
        "the reports"
      )
    })
  },
  {
    id: "progress-with-answer",
    title: "progress in the same chunk as the answer is not lost",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      const { handler, reports } = listen()
      expectText(yield* rawCall(client, "progress-with-answer").pipe(Call.withProgress(handler)), "good")
      equal(reports.map(({ progress }) => progress), [1, 2, 3], "the reports")
    })
  },
  {
    id: "foreign-progress",
    title: "progress with another token is ignored",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      const { handler, reports } = listen()
      expectText(yield* rawCall(client, "foreign-progress").pipe(Call.withProgress(handler)), "good")
      equal(reports, [], "the reports")
    })
  },
  {
    id: "late-progress",
    title: "progress after the answer is dropped, and the next call works",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      const { handler, reports } = listen()
      expectText(yield* rawCall(client, "late-progress").pipe(Call.withProgress(handler)), "good")
      expectText(yield* client.call(behaviour("good"), {}), "good")
      equal(reports, [], "the reports")
    })
  }
]

const carried = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  call.pipe(
    Call.withDeadline("20 seconds"),
    Call.withTimeout("15 seconds"),
    Call.withCorrelation("first-caller"),
    Call.withIdempotencyKey("first-key"),
    Call.withProgress(() => Effect.void),
    Call.withMeta({ "com.example/first": true })
  )

const callCases: ReadonlyArray<Case> = [
  {
    id: "fresh-call",
    title: "a handler has what the wire carried: deadline and correlation follow, the rest of the caller's does not",
    needs: "server",
    run: ({ server }) =>
      withTestClock(Effect.gen(function*() {
        const client = yield* clientOf(yield* server)
        const seen = yield* carried(client.call(ContractServer.Inspect, {}))
        equal([seen.correlation, seen.idempotencyKey], ["first-caller", "first-key"], "what the request carries")
        ok(seen.remainingMillis <= 20_000, `the deadline did not follow: ${seen.remainingMillis} ms are left`)
        ok(seen.metaKeys.includes("com.example/first"), "the metadata did not arrive")
        equal(seen.call, {
          correlation: "first-caller",
          hasDeadline: true,
          cancellation: 1,
          idempotencyKey: null,
          hasTimeout: false,
          hasProgress: false,
          hasMeta: false
        }, "the call of the handler")
      }))
  },
  {
    id: "no-first-caller",
    title: "a connection that the first call opens keeps nothing of that call",
    needs: "server",
    run: ({ freshServer }) =>
      withTestClock(Effect.gen(function*() {
        const connection = yield* carried(freshServer)
        const client = yield* carried(clientOf(connection))
        yield* carried(client.call(ContractServer.Inspect, {}))
        yield* TestClock.adjust("1 minute")
        const seen = yield* client.call(ContractServer.Inspect, {})
        ok(seen.correlation !== "first-caller", "the correlation of the first caller is still there")
        ok(
          seen.remainingMillis > 60_000,
          `the deadline of the first caller counts: ${seen.remainingMillis} ms are left`
        )
        equal(seen.idempotencyKey, null, "the idempotency key")
        ok(!seen.metaKeys.includes("com.example/first"), "the metadata of the first caller is still there")
        ok(!seen.metaKeys.includes(Revision.meta.progressToken), "progress is still asked for")
      }))
  },
  {
    id: "correlation",
    title: "the error of a call has the correlation that the server saw",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const exit = yield* Effect.exit(client.call(ContractServer.Die, {}).pipe(Call.withCorrelation("order-42")))
      equal(expectError(exit, "RpcError", "Completed").correlation, "order-42", "the correlation")
    })
  }
]

const failureCases: ReadonlyArray<Case> = [
  {
    id: "defect",
    title: "a defect of the server is masked: nothing of it is on the wire",
    needs: "server",
    run: Effect.fnUntraced(function*({ freshServer }) {
      const connection = yield* freshServer
      const client = yield* clientOf(connection)
      const error = expectError(yield* Effect.exit(client.call(ContractServer.Die, {})), "RpcError", "Completed")
      equal(error.code, `rpc_error.${Revision.codes.internalError}`, "the code")
      for (const entry of yield* connection.recording.entries) {
        ok(!textOf(entry).includes(ContractServer.secret), `the ${entry._tag} entry holds the secret`)
      }
      yield* nextCallWorks(client)
    })
  },
  {
    id: "unknown-tool",
    title: "an unknown tool is -32602, also one that is named like a member of every object",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      for (const name of ["missing", "__proto__", "constructor", "toString", "hasOwnProperty", "", "Echo", "echo "]) {
        const response = yield* sendTool(connection, name, {})
        equal(
          response._tag === "Failure" ? response.error.code : response._tag,
          Revision.codes.invalidParams,
          `the answer to the tool ${JSON.stringify(name)}`
        )
      }
    })
  },
  {
    id: "invalid-arguments",
    title: "invalid arguments are a result with isError that names the path and never the value",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const response = yield* sendTool(yield* server, "echo", { text: [ContractServer.secret] })
      equal(response._tag === "Success" && response.result["isError"], true, "whether it is an error of the tool")
      const text = response._tag === "Success" ? JSON.stringify(response.result["content"]) : ""
      ok(text.includes("text"), "the path is not named")
      ok(!text.includes(ContractServer.secret), "the value is repeated")
    })
  },
  {
    id: "typed-failure",
    title: "a typed failure arrives typed",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const failure = yield* Effect.flip(client.call(ContractServer.Decline, { why: "not today" }))
      ok(failure instanceof ContractServer.Declined, `the failure is ${JSON.stringify(failure)}`)
      equal((failure as ContractServer.Declined).why, "not today", "its field")
    })
  },
  {
    id: "tool-error",
    title: "a failure without a type arrives with its content, and without structured output",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const failure = yield* Effect.flip(client.call(ContractServer.Complain, { text: "no luck" }))
      if (!isToolFailed(failure)) return ok(false, `the failure is ${JSON.stringify(failure)}`)
      equal([failure.text, failure.structured._tag], ["no luck", "None"], "text and structured output")
    })
  }
]

const textOf = (entry: RecordingTransport.Entry): string => {
  if (entry._tag === "Left") return ""
  return entry._tag === "Ended" ? JSON.stringify(entry.failure) ?? "" : entry.text
}

export const cases: ReadonlyArray<Case> = [...progressCases, ...callCases, ...failureCases]
