/** The same script gives the same results and the same errors over every transport. */
import { describe, expect, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Effect } from "effect"
import { ending, runScript } from "./support/script.ts"
import { transports } from "./support/scripted.ts"

const { InProcess, ...others } = transports

describe("a script", () => {
  const expected = Effect.runPromise(Effect.scoped(runScript(InProcess)))

  it("runs in process, and shows every way to end", async () => {
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
    verifies("PAT-2@client")("has the same outcomes over %s as in process"),
    ([, transport]) =>
      Effect.gen(function*() {
        expect(yield* runScript(transport)).toEqual(yield* Effect.promise(() => expected))
      }),
    30_000
  )
})
