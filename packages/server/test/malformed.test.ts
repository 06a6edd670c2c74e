/**
 * What programs give that nobody can be sent: it is masked for the client and named in the log, and every answer is JSON.
 */
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Prompt, Resource, Revision, Tool } from "@fairlead/protocol"
import { Input, McpServer, Middleware } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { accept, callRound, play, textOf } from "./support/rounds.ts"
import { serve } from "./support/serve.ts"
import { call, request } from "./support/wire.ts"

const { codes } = Revision

const masked = { code: codes.internalError, message: "Internal error" }

/** Serves one thing, asks for it, and gives what the log says of why it died. */
const diesOf = (registration: Layer.Layer<never, never, McpServer.McpServer>, message: ReturnType<typeof request>) =>
  Effect.gen(function*() {
    const server = yield* serve(registration)
    assert.deepStrictEqual((yield* server.send(message)).json.error, masked)
    assert.strictEqual(server.logs.length, 1)
    return Cause.pretty(server.logs[0]!.cause)
  })

const cyclic: Record<string, unknown> = {}
cyclic["self"] = cyclic

describe("an output that JSON cannot hold", () => {
  class Silent {
    toJSON() {
      return undefined
    }
  }
  it.effect.each<readonly [string, unknown]>([
    ["undefined", undefined],
    ["NaN", { n: [NaN] }],
    ["a bigint", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol.iterator],
    ["a Map", { map: new Map([["a", 1]]) }],
    ["bytes", new Uint8Array(2)],
    ["a promise", Promise.resolve(1)],
    ["an Error", new Error("hunter2")],
    ["an object that is written as nothing", new Silent()],
    ["undefined in a list", [undefined]]
  ])("is -32603, such as %s", ([, value]) =>
    Effect.gen(function*() {
      for (const schema of [Schema.Unknown, Schema.Any]) {
        const layer = McpServer.tool(Tool.make("give", { output: schema }), () => Effect.succeed(value))
        assert.include(yield* diesOf(layer, call("give")), "The output of give breaks its schema")
      }
    }))

  it.effect("is -32603 where it holds itself, also in what a tool failed with and in metadata", () =>
    Effect.gen(function*() {
      const Give = Tool.make("give", { output: Schema.Unknown })
      for (
        const handler of [
          () => Effect.succeed<unknown>(cyclic),
          () => Effect.fail(new Tool.ToolError({ content: [], structured: cyclic as never })),
          () => Effect.fail(new Tool.ToolError({ content: [], structured: (() => 1) as never })),
          () => Effect.succeed(Tool.reply<unknown>(1, { meta: { n: 1n as never } }))
        ]
      ) yield* diesOf(McpServer.tool(Give, handler), call("give"))
    }))

  it.effect("is none where it is written as a text, or has members that are left out", () =>
    Effect.gen(function*() {
      const value = { at: new Date(0), none: undefined, bare: Object.assign(Object.create(null), { a: 1 }) }
      const server = yield* serve(
        McpServer.tool(Tool.make("give", { output: Schema.Unknown }), () => Effect.succeed<unknown>(value))
      )
      assert.deepStrictEqual((yield* server.send(call("give"))).json.result.structuredContent, {
        at: "1970-01-01T00:00:00.000Z",
        bare: { a: 1 }
      })
    }))
})

describe("content that breaks the spec", () => {
  const bytes = new Uint8Array(1)
  const blocks: ReadonlyArray<readonly [string, Content.Block]> = [
    ["0.text: Expected string", { type: "text", text: 1 as never }],
    ["0: the priority", Content.text("a", { annotations: { priority: 7 } })],
    ["0: the time", Content.text("a", { annotations: { lastModified: "yesterday" } })],
    ["0: the media type", Content.image(bytes, "picture")],
    ["0: the media type", Content.audio(bytes, "")],
    ["0: the URI", Content.resourceLink("no uri", "a")],
    ["0: the size", Content.resourceLink("a:b", "a", { size: -1 })],
    ["0: the source of an icon", Content.resourceLink("a:b", "a", { icons: [{ src: "javascript:alert(1)" }] })],
    ["0: the URI", Content.embeddedResource({ uri: "b", text: "" })],
    ["0: the media type", Content.embeddedResource({ uri: "a:b", mimeType: "x", blob: bytes })]
  ]

  it.effect.each(blocks)(
    verifies("PROMPT-4", "RES-6")("is -32603 of a tool and of a prompt: %s"),
    ([reason, block]) =>
      Effect.gen(function*() {
        const tool = McpServer.tool(Tool.make("give"), () => Effect.succeed([block]))
        assert.include(yield* diesOf(tool, call("give")), reason.replace("0", "The content is not valid: 0"))
        const prompt = McpServer.prompt(Prompt.make("give"), () => Effect.succeed([Prompt.user(block)]))
        assert.include(
          yield* diesOf(prompt, request("prompts/get", { name: "give" })),
          reason.startsWith("0.text") ? "0.content.text" : reason
        )
      })
  )

  it.effect(verifies("RES-10")("is -32603 of what was read"), () =>
    Effect.gen(function*() {
      for (const contents of [{ uri: "no uri", text: "" }, { uri: "a:b", mimeType: "x y", blob: bytes }]) {
        const layer = McpServer.resource(Resource.make("a:b", { name: "b" }), () => Effect.succeed([contents]))
        assert.include(yield* diesOf(layer, request("resources/read", { uri: "a:b" })), "What was read of a:b")
      }
    }))
})

describe("middleware", () => {
  const serving = (middleware: Middleware.Middleware) =>
    serve(McpServer.tool(Tool.make("work"), () => Effect.succeed("done")), { middleware: [middleware] })

  it.effect("that answers with nothing, or with more than its part, leaves the answer JSON", () =>
    Effect.gen(function*() {
      const nothing = yield* serving(() => Effect.succeed(Middleware.answer({})))
      assert.strictEqual((yield* nothing.send(call("work"))).json.result.resultType, "complete")
      const more = { content: [], resultType: "task", _meta: { a: 1, b: 1 } }
      const server = yield* serving(() => Effect.succeed(Middleware.answer(more, { b: 2 })))
      const { json, text } = yield* server.send(call("work"))
      assert.strictEqual(json.result.resultType, "complete")
      assert.deepInclude(json.result._meta, { a: 1, b: 2 })
      assert.strictEqual(text.match(/"resultType"/g)?.length, 1)
      assert.strictEqual(text.match(/"_meta"/g)?.length, 1)
    }))

  it.effect.each<readonly [string, Middleware.Middleware]>([
    ["an answer that is none", () => Effect.succeed({} as never)],
    ["data that JSON cannot hold", () => Effect.fail(new Middleware.Rejected({ message: "no", data: 1n as never }))],
    ["a failure that is none of its own", () => Effect.fail(new Error("hunter2") as never)],
    ["a code that is no integer", () => Effect.fail(new Middleware.Rejected({ message: "no", code: 1.5 }))],
    ["a code that the protocol reserves", () => Effect.fail(new Middleware.Rejected({ message: "no", code: -32042 }))]
  ])(
    verifies("BASE-12@server", "BASE-14@server")("that gives %s is -32603, and the endpoint lives"),
    ([, middleware]) =>
      Effect.gen(function*() {
        const server = yield* serving((request, next) => request.kind === "tool" ? middleware(request, next) : next)
        assert.deepStrictEqual((yield* server.send(call("work"))).json.error, masked)
        assert.strictEqual(server.logs.length, 1)
        assert.isDefined((yield* server.send(request("tools/list"))).json.result)
      })
  )
})

describe("what a step gave", () => {
  const asking = <A>(step: Effect.Effect<A, never, never>, schema: Schema.Codec<A, unknown>, runs: () => void) =>
    serve(McpServer.tool(Tool.make("work"), () =>
      Effect.gen(function*() {
        const value = yield* Input.step("step", schema, Effect.tap(step, () => Effect.sync(runs)))
        yield* Effect.orDie(Input.form("form", { message: "?", schema: Schema.Struct({}) }))
        return JSON.stringify(value)
      })))

  it.effect("may be nested deeper than a message from outside", () =>
    Effect.gen(function*() {
      let deep: unknown = 1
      for (let i = 0; i < 100; i++) deep = [deep]
      let runs = 0
      const server = yield* asking(Effect.succeed(deep), Schema.Unknown, () => runs++)
      const { last } = yield* play(server.send, (more) => callRound("work", more), { form: accept({}) })
      assert.strictEqual(textOf(last), JSON.stringify(deep))
      assert.strictEqual(runs, 1)
    }))

  it.effect("is a defect that names the step, where it cannot be kept: it would run again", () =>
    Effect.gen(function*() {
      for (const schema of [Schema.Any, Schema.Unknown]) {
        let runs = 0
        const server = yield* asking(Effect.undefined as Effect.Effect<unknown>, schema, () => runs++)
        const { last } = yield* play(server.send, (more) => callRound("work", more), { form: accept({}) })
        assert.deepStrictEqual(last.json.error, masked)
        assert.strictEqual(runs, 1)
        assert.include(Cause.pretty(server.logs[0]!.cause), "What the step \"step\" gave cannot be kept")
      }
    }))
})
