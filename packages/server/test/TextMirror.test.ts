import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Tool } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { asked, ways } from "./support/ask.ts"

const resultOf = (textMirror: Tool.TextMirror | undefined, output: Schema.Codec<unknown>, value: unknown) =>
  Effect.gen(function*() {
    const tool = Tool.make("out", { output, textMirror })
    const { ask } = yield* asked("HTTP", McpServer.tool(tool, () => Effect.succeed(value)))
    const { content, structuredContent } = (yield* ask("tools/call", { name: "out" })).result
    return { structured: structuredContent, text: content.map((block: { readonly text: string }) => block.text) }
  })

describe("the text of a structured output", () => {
  it.effect(verifies("TOOL-8")("is its JSON by default"), () =>
    Effect.gen(function*() {
      for (const mirror of [undefined, "json"] as const) {
        assert.deepStrictEqual(yield* resultOf(mirror, Schema.Array(Schema.String), ["a", "é"]), {
          structured: ["a", "é"],
          text: ["[\"a\",\"é\"]"]
        })
      }
    }))

  it.effect("can be left out", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* resultOf("none", Schema.Null, null), { structured: null, text: [] })
    }))

  it.effect.each(
    [
      [7, "abcde", "\"abcde\""],
      [6, "abcde", "\"abcde…"],
      [0, "abcde", "…"],
      [2, "😀", "\"…"],
      [3, "😀", "\"😀…"],
      [4, "😀", "\"😀\""]
    ] as const
  )(
    "can be cut after %s characters, never inside of one, and the output stays whole",
    ([maxLength, value, text]) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* resultOf({ maxLength }, Schema.String, value), {
          structured: value,
          text: [text]
        })
      })
  )

  it.effect.each(ways)("can be replaced for one answer, over %s", (way) =>
    Effect.gen(function*() {
      const tool = Tool.make("out", { output: Schema.Int, textMirror: { maxLength: 1 } })
      const layer = McpServer.tool(tool, () => Effect.succeed(Tool.reply(12345, { content: [Content.text("many")] })))
      const { ask } = yield* asked(way, layer)
      const { result } = yield* ask("tools/call", { name: "out" })
      assert.deepStrictEqual([result.structuredContent, result.content], [12345, [{ type: "text", text: "many" }]])
    }))

  it.each([-1, 0.5, NaN, Infinity])("cannot be cut after %s characters", (maxLength) => {
    assert.throws(
      () => Tool.make("out", { output: Schema.Int, textMirror: { maxLength } }),
      /textMirror\.maxLength.*not a number of characters/
    )
  })
})
