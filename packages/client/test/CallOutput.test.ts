import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import * as CallEnding from "@fairlead/client/CallEnding"
import * as CallOutput from "@fairlead/client/CallOutput"
import type * as McpClient from "@fairlead/client/McpClient"
import * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import type * as Content from "@fairlead/protocol/Content"
import type * as Json from "@fairlead/protocol/Json"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const blocks: ReadonlyArray<Content.Block> = [
  { type: "text", text: "one", _meta: { "com.example/b": 2 } },
  { type: "image", data: new Uint8Array([1]), mimeType: "image/png", _meta: { "com.example/a": 0 } },
  { type: "text", text: "two\n  lines", _meta: { "com.example/a": null, "com.example/b": 3 } }
]
const succeeded = <A>(output: A, content = blocks) => new CallEnding.Succeeded<A>({ output, content, meta: {} })
const failed = (content = blocks) =>
  new CallEnding.ToolFailed<never>({ content, structured: Option.none(), failure: Option.none(), meta: {} })
const paused = new CallEnding.InputRequired<never>({
  requests: {},
  requestState: Option.none(),
  continuation: { method: "tools/call", name: "a", params: {}, headers: [], requests: {}, correlation: "c" },
  resume: () => Effect.never
})
const lost = McpClientError.make(new McpClientError.ConnectionClosed({ evidence: "MaybeSent" }))
const unsent = McpClientError.make(new McpClientError.ConnectFailed({ detail: "ECONNREFUSED" }))

describe("the output", () => {
  it.effect(
    verifies("output/require", "output/error/tool_failed", "output/error/input_required")(
      "of a call is there, or what the call ended with"
    ),
    () =>
      Effect.gen(function*() {
        expect(yield* CallOutput.require(succeeded(5))).toBe(5)
        const failure = failed()
        expect(yield* Effect.flip(CallOutput.require(failure))).toBe(failure)
        expect(yield* Effect.flip(CallOutput.require(paused))).toBe(paused)
      })
  )

  it.effect(
    verifies("output/require_discovered", "output/promise/explicit_null")(
      "of a discovered tool is what it wrote, null too; only where it wrote nothing it is its text"
    ),
    () =>
      Effect.gen(function*() {
        const of = (output: Option.Option<Json.Value>, content = blocks) =>
          CallOutput.requireDiscovered(succeeded(output, content))
        expect(yield* of(Option.some(null))).toBe(null)
        expect(yield* of(Option.some(false))).toBe(false)
        expect(yield* of(Option.none())).toBe("one\ntwo\n  lines")
        expect(yield* of(Option.none(), [])).toBe("")
        expect(yield* Effect.flip(CallOutput.requireDiscovered(failed()))).toBeInstanceOf(CallEnding.ToolFailed)
        expect(yield* Effect.flip(CallOutput.requireDiscovered(paused))).toBe(paused)
      })
  )

  it(
    verifies("output/meta")("has the metadata of the first text block that has it, and none while input is needed"),
    () => {
      expect(CallOutput.meta(succeeded(1), "com.example/a")).toEqual(Option.some(null))
      expect(CallOutput.meta(failed(), "com.example/b")).toEqual(Option.some(2))
      expect(CallOutput.meta(succeeded(1), "com.example/c")).toEqual(Option.none())
      expect(CallOutput.meta(succeeded(1), "toString")).toEqual(Option.none())
      expect(CallOutput.meta(paused, "com.example/a")).toEqual(Option.none())
    }
  )
})

describe("an error", () => {
  it.each<readonly [CallOutput.Error, CallOutput.Kind, string, string]>([
    [lost, "TransportFailure", "MaybeSent", "connection_closed.maybe_sent: The connection closed before the answer"],
    [unsent, "TransportFailure", "NotSent", "connect_failed: Could not connect (ECONNREFUSED)"],
    [failed(), "ToolRefusal", "Completed", "one two lines"],
    [failed([]), "ToolRefusal", "Completed", "The tool reported a failure"],
    [paused, "NeedsInput", "Completed", "The server requires input"]
  ])(
    verifies(
      "output/type/kind",
      "output/type/error",
      "output/error_kind",
      "output/kind/transport_failure",
      "output/kind/tool_refusal",
      "output/kind/needs_input",
      "output/evidence",
      "output/promise/evidence_completed",
      "output/promise/keeps_evidence",
      "output/promise/no_retry_decision",
      "output/error/call_failed",
      "output/describe_error"
    )("%s is %s, %s"),
    (error, kind, evidence, line) => {
      expect([CallOutput.kind(error), CallOutput.evidence(error), CallOutput.describe(error)])
        .toEqual([kind, evidence, line])
    }
  )

  it("is what a call of a discovered tool can fail with", () => {
    const ask = (client: McpClient.Client) =>
      Effect.flatMap(client.callDiscovered("a", {}), CallOutput.requireDiscovered)
    expectTypeOf<Effect.Error<ReturnType<typeof ask>>>().toExtend<CallOutput.Error>()
    expectTypeOf<Effect.Success<ReturnType<typeof ask>>>().toEqualTypeOf<Json.Value>()
  })
})
