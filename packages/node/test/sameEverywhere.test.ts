/**
 * The same script gives the same results and the same errors over every transport, and leaves no fiber, timer, socket or
 * child.
 */
import { describe, expect, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Effect, Metric } from "effect"
import { ending, runScript } from "./support/script.ts"
import { transports } from "./support/scripted.ts"

const { InProcess, ...others } = transports

/** What the process holds that a transport could have left. */
const held = () => {
  const counts: Record<string, number> = { TCP: 0, Process: 0, Pipe: 0, Timeout: 0 }
  for (const kind of process.getActiveResourcesInfo()) {
    const name = Object.keys(counts).find((name) => kind.startsWith(name))
    if (name !== undefined && kind !== "PipeWrap") counts[name]!++
  }
  return counts
}

/** Runs it, and waits until no fiber that it started, wherever it went, and nothing of the platform is left. */
const leavingNothing = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    let fibers = 0
    const before = held()
    const value = yield* Effect.provideService(self, Metric.FiberRuntimeMetrics, {
      recordFiberStart: () => {
        fibers++
      },
      recordFiberEnd: () => {
        fibers--
      }
    })
    const left = () => ({ fibers, ...held() })
    const isMore = () =>
      Object.entries({ fibers: 0, ...before }).some(([name, n]) => (left() as typeof before)[name]! > n)
    for (let i = 0; i < 500 && isMore(); i++) yield* Effect.sleep(10)
    expect(isMore() ? { left: left(), before } : "nothing").toBe("nothing")
    return value
  })

describe("a script", () => {
  const expected = Effect.runPromise(leavingNothing(Effect.scoped(runScript(InProcess))))

  it("runs in process, leaves nothing, and shows every way to end", async () => {
    const endings = Object.entries(await expected).map(([step, outcome]) => [step, ending(outcome)] as const)
    expect(Object.fromEntries(endings.filter(([, ending]) => ending !== "value"))).toEqual({
      "a cursor that is none": "rpc_error.-32602",
      "a raw call without its name": "invalid_arguments",
      "a raw call of no method": "rpc_error.-32601",
      "a result": "Succeeded",
      "a typed failure": "Unavailable",
      "a failure in words": "ToolFailed",
      "a defect": "rpc_error.-32603",
      "null": "Succeeded",
      "a discovered call": "Succeeded",
      "arguments of another form": "ToolFailed",
      "no such tool": "rpc_error.-32602",
      "an idempotency key of another form": "invalid_arguments",
      "no such resource": "rpc_error.-32602",
      "a prompt without its arguments": "rpc_error.-32602",
      "a completion of nothing": "rpc_error.-32602",
      "responses that do not fit": "invalid_input_responses",
      "a deadline that has passed": "timed_out.not_sent",
      "a timeout, which ends it at the server": "timed_out.maybe_sent",
      "a token, which ends it at the server": "cancelled.maybe_sent",
      "a call in flight when the client closes": "cancelled.maybe_sent",
      "a call after that": "cancelled.not_sent"
    })
  }, 30_000)

  it.live.each(Object.entries(others))(
    verifies("PAT-2@client")("has the same outcomes over %s as in process, and leaves nothing"),
    ([, transport]) =>
      Effect.gen(function*() {
        const inProcess = yield* Effect.promise(() => expected)
        expect(yield* leavingNothing(Effect.scoped(runScript(transport)))).toEqual(inProcess)
      }),
    30_000
  )
})
