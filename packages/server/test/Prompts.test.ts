import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, Prompt, Revision } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { asked, ways } from "./support/ask.ts"
import { serve } from "./support/serve.ts"
import { request } from "./support/wire.ts"

const { codes, meta } = Revision
const get = "prompts/get"

const Review = Prompt.make("review", {
  args: Schema.Struct({
    change: Schema.Int.annotate({ description: "The number of the change." }),
    depth: Schema.optionalKey(Schema.Literals(["quick", "thorough"])),
    "a name": Schema.optional(Schema.String)
  })
})
const review = McpServer.prompt(Review, (args) => Effect.succeed(JSON.stringify(args)))

const answering = (answer: Prompt.Answer) => McpServer.prompt(Prompt.make("p"), () => Effect.succeed(answer))

describe("getting a prompt", () => {
  it.effect.each(ways)(
    verifies("PROMPT-3@server", "META-14", "BASE-7")("that answers with a text is one message of the user, over %s"),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, review)
        assert.deepStrictEqual(
          (yield* ask(get, { name: "review", arguments: { change: "42", depth: "quick" } })).result,
          {
            messages: [{ role: "user", content: { type: "text", text: "{\"change\":42,\"depth\":\"quick\"}" } }],
            resultType: "complete",
            _meta: { [meta.serverInfo]: { name: "test", version: "1.2.3" } }
          }
        )
      })
  )

  it.effect.each(ways)(
    verifies("PROMPT-3@server")("can answer with messages, and with a description; over %s"),
    (way) =>
      Effect.gen(function*() {
        const messages = [Prompt.user("a"), Prompt.assistant("b")]
        const encoded = [
          { role: "user", content: { type: "text", text: "a" } },
          { role: "assistant", content: { type: "text", text: "b" } }
        ]
        const answers: ReadonlyArray<readonly [Prompt.Answer, object]> = [
          [messages, { messages: encoded }],
          [{ messages }, { messages: encoded }],
          [{ messages, description: "What it does." }, { messages: encoded, description: "What it does." }],
          [{ messages: [], description: "" }, { messages: [], description: "" }],
          [[], { messages: [] }]
        ]
        for (const [answer, expected] of answers) {
          const { ask } = yield* asked(way, answering(answer))
          const { _meta, resultType: _resultType, ...result } = (yield* ask(get, { name: "p" })).result
          assert.deepStrictEqual(result, expected)
        }
      })
  )

  it.effect(
    verifies("PROMPT-4")("has images, recordings and resources as base64, with their media types"),
    () =>
      Effect.gen(function*() {
        const bytes = new Uint8Array([0, 1, 254, 255])
        const { ask } = yield* asked(
          "HTTP",
          answering([
            Prompt.user(Content.image(bytes, "image/png")),
            Prompt.user(Content.audio(bytes, "audio/wav")),
            Prompt.user(Content.embeddedResource({ uri: "docs://a", mimeType: "application/x", blob: bytes })),
            Prompt.user(Content.embeddedResource({ uri: "docs://b", mimeType: "text/plain", text: "b" })),
            Prompt.assistant(Content.resourceLink("docs://c", "c"))
          ])
        )
        const { messages } = (yield* ask(get, { name: "p" })).result
        assert.deepStrictEqual(messages.map(({ content }: { readonly content: unknown }) => content), [
          { type: "image", data: "AAH+/w==", mimeType: "image/png" },
          { type: "audio", data: "AAH+/w==", mimeType: "audio/wav" },
          { type: "resource", resource: { uri: "docs://a", mimeType: "application/x", blob: "AAH+/w==" } },
          { type: "resource", resource: { uri: "docs://b", mimeType: "text/plain", text: "b" } },
          { type: "resource_link", uri: "docs://c", name: "c" }
        ])
      })
  )

  it.effect("has the services of its layer and of its request", () =>
    Effect.gen(function*() {
      class Shelf extends Context.Service<Shelf, { readonly name: string }>()("Shelf") {}
      class Tenant extends Context.Service<Tenant, { readonly name: string }>()("Tenant") {}
      const layer = McpServer.prompt(Prompt.make("p"), () =>
        Effect.gen(function*() {
          return `${(yield* Shelf).name} ${(yield* Tenant).name}`
        })).pipe(Layer.provide(Layer.succeed(Shelf, { name: "upper" })))
      const { send } = yield* serve(layer, {
        context: ({ header }) => Effect.succeed(Context.make(Tenant, { name: header("x-tenant") ?? "none" }))
      })
      const answer = yield* send(request(get, { name: "p" }), { headers: { "x-tenant": "acme" } })
      assert.strictEqual(answer.json.result.messages[0].content.text, "upper acme")
    }))
})

describe("the arguments of a prompt", () => {
  it.effect("that are not required may be absent; what is not named is left alone", () =>
    Effect.gen(function*() {
      const { ask } = yield* asked("HTTP", review)
      const { result } = yield* ask(get, { name: "review", arguments: { change: "1", other: "x" } })
      assert.strictEqual(result.messages[0].content.text, "{\"change\":1}")
      const { ask: askPlain } = yield* asked("HTTP", answering("a"))
      for (const args of [undefined, {}, { x: "y" }]) {
        assert.isDefined((yield* askPlain(get, { name: "p", arguments: args })).result)
      }
    }))

  it.effect.each(ways)(
    verifies("PROMPT-5", "PROMPT-7", "BASE-20")("that are required and missing are named in a -32602, over %s"),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, review)
        for (const args of [undefined, {}, { depth: "quick" }]) {
          const { error, status } = yield* ask(get, { name: "review", arguments: args })
          assert.strictEqual(status, 200)
          assert.deepStrictEqual(error, { code: codes.invalidParams, message: "The argument change is missing" })
        }
      })
  )

  it.effect("are required also under a name that every object has", () =>
    Effect.gen(function*() {
      const Odd = Prompt.make("odd", { args: Schema.Struct({ constructor: Schema.String }) })
      const { ask } = yield* asked("HTTP", McpServer.prompt(Odd, () => Effect.succeed("")))
      assert.strictEqual((yield* ask(get, { name: "odd" })).error.message, "The argument constructor is missing")
    }))

  it.effect(verifies("PROMPT-5", "PROMPT-3@server")("are texts and nothing else"), () =>
    Effect.gen(function*() {
      const { ask } = yield* asked("HTTP", review)
      for (
        const args of [[], "x", 1, { change: 1 }, { change: null }, { change: "1", other: true }, {
          change: ["1"]
        }]
      ) {
        const { error } = yield* ask(get, { name: "review", arguments: args })
        assert.deepStrictEqual(error, {
          code: codes.invalidParams,
          message: "params.arguments must be an object of strings"
        })
      }
    }))

  it.effect(
    verifies("PROMPT-5", "PROMPT-7")("that do not fit are -32602 with names and reasons, never the values"),
    () =>
      Effect.gen(function*() {
        const { ask } = yield* asked("HTTP", review)
        const { error, text } = yield* ask(get, { name: "review", arguments: { change: "hunter2", depth: "hunter2" } })
        assert.strictEqual(error.code, codes.invalidParams)
        assert.match(error.message, /change: .*depth: /)
        assert.notInclude(text, "hunter2")
      })
  )
})

describe("a prompt that cannot be had", () => {
  it.effect.each(ways)(
    verifies("PROMPT-5")("because it is unknown is -32602, the same bytes for every name; over %s"),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, review)
        const texts = new Set<string>()
        for (const name of ["nobody", "__proto__", "constructor", "", "Review", "review "]) {
          for (const args of [undefined, {}, { change: 1 }]) {
            const { error, status, text } = yield* ask(get, { name, arguments: args })
            assert.deepStrictEqual([status, error], [200, { code: codes.invalidParams, message: "Unknown prompt" }])
            texts.add(text)
          }
        }
        assert.strictEqual(texts.size, 1)
      })
  )

  it.effect("because it has no name is -32602", () =>
    Effect.gen(function*() {
      const { ask } = yield* asked("a channel", review)
      for (const name of [undefined, null, 1, {}]) {
        assert.deepStrictEqual((yield* ask(get, { name })).error, {
          code: codes.invalidParams,
          message: "params.name must be a string"
        })
      }
    }))

  it.effect.each(ways)(
    verifies("PROMPT-5")("as its handler says is -32602 with the handler's words, over %s"),
    (way) =>
      Effect.gen(function*() {
        const layer = McpServer.prompt(
          Review,
          ({ change }) => Effect.fail(new Prompt.PromptError({ message: `There is no change ${change}` }))
        )
        const { ask } = yield* asked(way, layer)
        const { error, status } = yield* ask(get, { name: "review", arguments: { change: "7" } })
        assert.deepStrictEqual([status, error], [200, { code: codes.invalidParams, message: "There is no change 7" }])
      })
  )

  const secret = "hunter2"
  it.effect.each<readonly [string, () => Effect.Effect<Prompt.Answer, Prompt.PromptError>]>([
    ["dies", () => Effect.die(new Error(secret))],
    [
      "throws before it gives an effect",
      () => {
        throw new Error(secret)
      }
    ],
    ["fails with what it does not declare", () => Effect.fail(new Error(secret)) as never],
    ["answers with what is no message", () => Effect.succeed([{ role: "system", content: secret }]) as never],
    ["answers with several blocks in a message", () => Effect.succeed([{ role: "user", content: [] }]) as never]
  ])(
    verifies("PROMPT-5", "PROMPT-7")("since its handler %s is -32603 with a fixed text; the cause is in the log"),
    ([, handle]) =>
      Effect.gen(function*() {
        const server = yield* serve(McpServer.prompt(Prompt.make("p"), handle))
        const { json, status } = yield* server.send(request(get, { name: "p" }))
        assert.deepStrictEqual([status, json.error], [200, { code: codes.internalError, message: "Internal error" }])
        assert.strictEqual(server.logs.length, 1)
        assert.isAbove(Cause.pretty(server.logs[0]!.cause).length, 0)
      })
  )
})

describe("the list of prompts", () => {
  it.effect.each(ways)(
    verifies("PROMPT-1", "PROMPT-2", "ICON-1", "CACHE-1", "DISC-3", "VER-12@server")(
      "gives the declarations as they were made, and is a capability; over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const icons = [{ src: "https://example.com/a.png", sizes: ["any"] }] as const
        const args = Schema.Struct({
          b: Schema.String.annotate({ title: "B", description: "The b." }),
          a: Schema.optionalKey(Schema.Int)
        })
        const All = Prompt.make("all", { title: "All", description: "D.", args, icons, meta: { "com.example/a": 1 } })
        const { ask } = yield* asked(way, McpServer.prompt(All, () => Effect.succeed("")))
        assert.deepStrictEqual((yield* ask("prompts/list")).result, {
          prompts: [{
            name: "all",
            title: "All",
            description: "D.",
            arguments: [
              { name: "b", title: "B", description: "The b.", required: true },
              { name: "a", required: false }
            ],
            icons,
            _meta: { "com.example/a": 1 }
          }],
          ttlMs: 0,
          cacheScope: "private",
          resultType: "complete",
          _meta: { [meta.serverInfo]: { name: "test", version: "1.2.3" } }
        })
        assert.deepStrictEqual((yield* ask("server/discover")).result.capabilities, { prompts: { listChanged: true } })
      })
  )

  it.effect.each(ways)(
    verifies("DISC-3", "VER-12@server", "BASE-19", "PROMPT-6@server")(
      "is an unknown method where there are none, as is getting; over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, Layer.empty)
        for (const method of ["prompts/list", get]) {
          const { error, status } = yield* ask(method, { name: "review" })
          assert.deepStrictEqual([error.code, status], [codes.methodNotFound, way === "HTTP" ? 404 : 200])
        }
      })
  )
})
