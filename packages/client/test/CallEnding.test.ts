import { describe, expect, it } from "@effect/vitest"
import * as CallEnding from "@fairlead/client/CallEnding"
import * as Content from "@fairlead/protocol/Content"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

const failed = new CallEnding.ToolFailed({
  content: [Content.text("first"), Content.image(new Uint8Array([1]), "image/png"), Content.text("second")],
  structured: Option.some(null),
  failure: Option.none(),
  meta: {}
})

describe("CallEnding", () => {
  it("tells the endings apart by their tag", () => {
    const endings: ReadonlyArray<CallEnding.CallEnding<number>> = [
      new CallEnding.Succeeded({ output: 1, content: [], meta: {} }) as CallEnding.Succeeded<number>,
      failed as CallEnding.ToolFailed<never>,
      new CallEnding.InputRequired<never>({
        requests: {},
        requestState: Option.none(),
        continuation: { method: "tools/call", name: "a", params: {}, headers: [], requests: {}, correlation: "c" },
        resume: () => Effect.never
      })
    ]
    expect(endings.map((ending) => ending._tag)).toEqual(["Succeeded", "ToolFailed", "InputRequired"])
  })

  it("what a tool says of its failure is its text, not the message of the error", () => {
    expect(failed.text).toBe("first\nsecond")
    expect(failed.message).toBe("The tool reported a failure")
    expect(String(failed)).not.toContain("first")
  })

  it.effect("a failed tool and a request for input are errors that can be caught by their tag", () =>
    Effect.gen(function*() {
      const program: Effect.Effect<string, CallEnding.ToolFailed | CallEnding.InputRequired> = Effect.fail(failed)
      const caught = program.pipe(
        Effect.catchTags({
          ToolFailed: (error) => Effect.succeed(error.text),
          InputRequired: () => Effect.succeed("input")
        })
      )
      expect(yield* caught).toBe("first\nsecond")
    }))
})
