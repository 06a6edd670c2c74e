import { NodeServices } from "@effect/platform-node"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Continuation from "@fairlead/client/Continuation"
import * as McpClient from "@fairlead/client/McpClient"
import * as StdioTransport from "@fairlead/client/StdioTransport"
import { verifies } from "@fairlead/conformance/verifies"
import * as Json from "@fairlead/protocol/Json"
import { Transport } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

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

describe("over stdio", () => {
  const fixture = fileURLToPath(new URL("../../node/test/fixtures/inputServer.ts", import.meta.url))

  /** A client of a server process of its own. */
  const replica = Effect.gen(function*() {
    const service = yield* StdioTransport.make({
      command: process.execPath,
      args: ["--conditions=@fairlead/source", fixture, "7"]
    })
    return yield* McpClient.make({ inputMethods: ["form"] }).pipe(Effect.provideService(Transport, service))
  })

  /** A process of its own that resumes; what it prints. */
  const elsewhere = (continuation: Continuation.Continuation, name: string) =>
    Effect.promise(() => {
      const program = fileURLToPath(new URL("fixtures/resume.ts", import.meta.url))
      const server = [process.execPath, "--conditions=@fairlead/source", fixture, "7"]
      return promisify(execFile)(process.execPath, [
        "--conditions=@fairlead/source",
        program,
        Continuation.toText(continuation),
        name,
        ...server
      ])
    }).pipe(Effect.map(({ stdout }) => stdout))

  const accept = (name: string) => ({ action: "accept", content: { name } })

  it.live(
    verifies("client/promise/resume_more_rounds", "MRTR-14")("each round can be another client's, at another process"),
    () =>
      Effect.gen(function*() {
        const first = yield* replica
        const paused = yield* first.callDiscovered("greet", {})
        assert(paused._tag === "InputRequired")
        const text = Continuation.toText(paused.continuation)
        yield* first.close
        const second = yield* replica
        const again = yield* second.resume("greet", Result.getOrThrow(Continuation.fromText(text)), {
          first: accept("Ada")
        })
        assert(again._tag === "InputRequired")
        const third = yield* replica
        const ending = yield* third.resume("greet", again.continuation, { second: accept("Bob") })
        assert(ending._tag === "Succeeded")
        expect(ending.content[0]).toMatchObject({ text: expect.stringMatching(/^Ada and Bob, since \d+$/) })
      }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live(
    verifies("client/promise/resume_more_rounds", "client/resume")(
      "a call is gone on with by other processes, round by round"
    ),
    () =>
      Effect.gen(function*() {
        const paused = yield* Effect.flatMap(replica, (client) => client.callDiscovered("greet", {}))
        assert(paused._tag === "InputRequired")
        const again = Result.getOrThrow(Continuation.fromText(yield* elsewhere(paused.continuation, "Ada")))
        expect([Object.keys(again.requests), again.correlation]).toEqual([["second"], paused.continuation.correlation])
        const ending = JSON.parse(yield* elsewhere(again, "Bob"))
        expect(ending.content[0].text).toMatch(/^Ada and Bob, since \d+$/)
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
