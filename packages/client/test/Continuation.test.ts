import { assert, describe, expect, it } from "@effect/vitest"
import * as Continuation from "@fairlead/client/Continuation"
import { verifies } from "@fairlead/conformance/verifies"
import * as Json from "@fairlead/protocol/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const continuation: Continuation.Continuation = {
  method: "tools/call",
  name: "deploy",
  params: { name: "deploy", arguments: { to: "eu", at: null } },
  headers: [["mcp-param-region", "eu"]],
  requests: { sure: { method: "elicitation/create", params: { message: "Sure?", requestedSchema: {} } } },
  state: "",
  correlation: "order-42"
}

describe("a continuation", () => {
  it(verifies("client/type/continuation")("survives as text"), () => {
    const text = Continuation.toText(continuation)
    expect(text).not.toContain("\n")
    expect(Result.getOrThrow(Continuation.fromText(text))).toEqual(continuation)
    const { state: _, ...stateless } = continuation
    expect(Result.getOrThrow(Continuation.fromText(Continuation.toText(stateless)))).not.toHaveProperty("state")
  })

  it("keeps all digits of its numbers", () => {
    const params = Result.getOrThrow(Json.parse(`{"n":12345678901234567890.50}`)) as Json.Object
    const restored = Continuation.fromText(Continuation.toText({ ...continuation, params }))
    expect(Json.stringify(Result.getOrThrow(restored).params)).toBe(`{"n":12345678901234567890.50}`)
  })

  it("is the same JSON by its schema", () => {
    expect(Schema.encodeSync(Continuation.Continuation)(continuation)).toEqual(continuation)
    expect(Schema.decodeUnknownSync(Continuation.Continuation)(continuation)).toEqual(continuation)
  })

  it.each([
    ["{", "it is not JSON"],
    ["{}", "continuation.method"],
    [JSON.stringify({ ...continuation, correlation: 5 }), "continuation.correlation"],
    [
      JSON.stringify({ ...continuation, requests: { a: { method: 1, params: { secret: "x" } } } }),
      "continuation.requests"
    ]
  ])("%s is none: %s", (text, detail) => {
    const result = Continuation.fromText(text)
    assert(Result.isFailure(result))
    expect(result.failure.detail).toContain(detail)
    expect(result.failure.message).not.toContain("secret")
  })
})
