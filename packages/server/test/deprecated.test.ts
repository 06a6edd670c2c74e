import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Tool } from "@fairlead/protocol"
import { Input, Invocation, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import { callRound } from "./support/rounds.ts"
import { serve } from "./support/serve.ts"

describe("what the revision deprecates", () => {
  it.effect(verifies("DEP-2@server")("works, and is said once in the log of a process"), () =>
    Effect.gen(function*() {
      const work = Effect.gen(function*() {
        yield* Invocation.log("info", "working")
        yield* Invocation.log("info", "still working")
        return `${(yield* Input.roots("roots")).length} roots`
      })
      const server = yield* serve(McpServer.tool(Tool.make("work"), () => work), { logging: true })
      const first = yield* server.send(callRound("work"))
      const last = yield* server.send(
        callRound("work", { state: first.json.result.requestState, responses: { roots: { roots: [] } } })
      )
      assert.strictEqual(last.json.result.content[0].text, "0 roots")
      const said = server.logs.filter(({ level }) => level === "Warn").map(({ text }) => text.split(" is ")[0])
      assert.deepStrictEqual(said, ["Invocation.log", "Input.roots"])
    }))
})
