import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { type Completion, Prompt, Resource, Revision } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { asked, ways } from "./support/ask.ts"
import { serve } from "./support/serve.ts"
import { request } from "./support/wire.ts"

const { codes, meta } = Revision
const complete = "completion/complete"

const Args = Schema.Struct({
  language: Schema.Literals(["German", "Greek"]),
  size: Schema.optional(Schema.Int),
  at: Schema.optionalKey(Schema.Date),
  other: Schema.optionalKey(Schema.String)
})

const prompt = <RC>(options: McpServer.CompletionOptions<typeof Args.Type, RC>) =>
  McpServer.prompt(Prompt.make("p", { args: Args }), () => Effect.succeed(""), options)

const ofPrompt = (name: string, value = "", context?: unknown) => ({
  ref: { type: "ref/prompt", name: "p" },
  argument: { name, value },
  context
})

const ofResource = (uri: string, name: string, value = "", context?: unknown) => ({
  ref: { type: "ref/resource", uri },
  argument: { name, value },
  context
})

const sizes = (answer: Completion.Answer<number>) => prompt({ complete: { size: () => Effect.succeed(answer) } })

describe("a completion", () => {
  it.effect.each(ways)(
    verifies("COMP-1", "COMP-3", "META-14")("gets what is written and offers values, best first; over %s"),
    (way) =>
      Effect.gen(function*() {
        const layer = prompt({
          complete: {
            language: (value) =>
              Effect.succeed((["Greek", "German"] as const).filter((language) => language.startsWith(value)))
          }
        })
        const { ask } = yield* asked(way, layer)
        assert.deepStrictEqual((yield* ask(complete, ofPrompt("language", "G"))).result, {
          completion: { values: ["Greek", "German"] },
          resultType: "complete",
          _meta: { [meta.serverInfo]: { name: "test", version: "1.2.3" } }
        })
        assert.deepStrictEqual((yield* ask(complete, ofPrompt("language", "Ge"))).result.completion.values, ["German"])
        assert.deepStrictEqual((yield* ask(complete, ofPrompt("language", "x"))).result.completion.values, [])
        assert.deepStrictEqual((yield* ask("server/discover")).result.capabilities, {
          prompts: { listChanged: true },
          completions: {}
        })
      })
  )

  it.effect(
    verifies("COMP-3")("has at most a hundred values, and says how many there are and that there are more"),
    () =>
      Effect.gen(function*() {
        const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
        const cases: ReadonlyArray<readonly [Completion.Answer<number>, object]> = [
          [numbers(100), { count: 100 }],
          [numbers(250), { count: 100, total: 250, hasMore: true }],
          [{ values: numbers(250), total: 10_000 }, { count: 100, total: 10_000, hasMore: true }],
          [{ values: numbers(3), total: 9, hasMore: true }, { count: 3, total: 9, hasMore: true }],
          [{ values: numbers(3), hasMore: false }, { count: 3, hasMore: false }]
        ]
        for (const [answer, expected] of cases) {
          const { ask } = yield* asked("a channel", sizes(answer))
          const { values, ...rest } = (yield* ask(complete, ofPrompt("size"))).result.completion
          assert.deepStrictEqual({ count: values.length, ...rest }, expected)
          assert.deepStrictEqual(values, numbers(values.length).map(String))
        }
      })
  )

  it.effect(
    verifies("COMP-3")("encodes its values as the argument is written, also of a class and of optional ones"),
    () =>
      Effect.gen(function*() {
        class Size extends Schema.Class<Size>("Size")({ at: Schema.optional(Schema.Date), on: Schema.Boolean }) {}
        const layer = Layer.mergeAll(
          prompt({
            complete: { size: () => Effect.succeed([1, 20]), at: () => Effect.succeed([new Date(0)]) }
          }),
          McpServer.resourceTemplate(
            Resource.template("docs://{on}{?at}", { name: "a", params: Size }),
            () => Effect.succeed(""),
            { complete: { at: () => Effect.succeed([new Date(0)]), on: () => Effect.succeed([true, false]) } }
          )
        )
        const { ask } = yield* asked("HTTP", layer)
        const values = (params: object) =>
          Effect.map(ask(complete, params as Record<string, unknown>), ({ result }) => result.completion.values)
        assert.deepStrictEqual(yield* values(ofPrompt("size")), ["1", "20"])
        assert.deepStrictEqual(yield* values(ofPrompt("at")), ["1970-01-01T00:00:00.000Z"])
        assert.deepStrictEqual(yield* values(ofResource("docs://{on}{?at}", "on")), ["true", "false"])
        assert.deepStrictEqual(yield* values(ofResource("docs://{on}{?at}", "at")), ["1970-01-01T00:00:00.000Z"])
      })
  )

  it.effect.each(ways)(
    verifies("COMP-4@server", "COMP-5")("knows the other arguments, decoded; what does not fit is not known; over %s"),
    (way) =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const layer = prompt({
          complete: {
            other: (value, context) =>
              Effect.sync(() => {
                seen.push(value, context)
                return []
              })
          }
        })
        const { ask } = yield* asked(way, layer)
        const args = { size: "3", at: "1970-01-01T00:00:00.000Z", language: "Dutch", unknown: "x", other: "y" }
        yield* ask(complete, ofPrompt("other", "a", { arguments: args }))
        yield* ask(complete, ofPrompt("other", "b", {}))
        yield* ask(complete, ofPrompt("other", "c"))
        assert.deepStrictEqual(seen, ["a", { size: 3, at: new Date(0), other: "y" }, "b", {}, "c", {}])
      })
  )

  it.effect("has the services of its layer and of its request", () =>
    Effect.gen(function*() {
      class Shelf extends Context.Service<Shelf, { readonly name: string }>()("Shelf") {}
      class Tenant extends Context.Service<Tenant, { readonly name: string }>()("Tenant") {}
      const layer = prompt({
        complete: {
          other: () =>
            Effect.gen(function*() {
              return [(yield* Shelf).name, (yield* Tenant).name]
            })
        }
      }).pipe(Layer.provide(Layer.succeed(Shelf, { name: "upper" })))
      const { send } = yield* serve(layer, { context: () => Effect.succeed(Context.make(Tenant, { name: "acme" })) })
      const { json } = yield* send(request(complete, ofPrompt("other")))
      assert.deepStrictEqual(json.result.completion.values, ["upper", "acme"])
    }))
})

describe("what is completed", () => {
  const book = (template: string) =>
    McpServer.resourceTemplate(Resource.template(template, { name: template }), () => Effect.succeed(""), {
      complete: { page: () => Effect.succeed([template]) }
    })

  it.effect.each(ways)(
    verifies("COMP-4@server")("can be a template by its text, or by a URI that is one of it; over %s"),
    (way) =>
      Effect.gen(function*() {
        const layer = Layer.mergeAll(book("docs://{page}"), book("docs://a-{page}"), book("docs://x/{+page}"))
        const { ask } = yield* asked(way, layer)
        const refs: ReadonlyArray<readonly [string, string]> = [
          ["docs://{page}", "docs://{page}"],
          ["docs://a-{page}", "docs://a-{page}"],
          ["docs://b", "docs://{page}"],
          ["docs://a-b", "docs://a-{page}"],
          ["docs://x/y/z", "docs://x/{+page}"]
        ]
        for (const [uri, template] of refs) {
          assert.deepStrictEqual((yield* ask(complete, ofResource(uri, "page"))).result.completion.values, [template])
        }
      })
  )

  it.effect.each(ways)(
    verifies("COMP-3")("can be an argument that nobody completes: then nothing is offered; over %s"),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, Layer.mergeAll(sizes([1]), book("docs://{page}{?q}")))
        for (
          const params of [ofPrompt("other"), ofPrompt("nobody"), ofPrompt("__proto__"), ofResource("docs://a", "q")]
        ) {
          assert.deepStrictEqual((yield* ask(complete, params)).result.completion, { values: [] })
        }
      })
  )

  it.effect.each(ways)(
    verifies("COMP-4@server", "COMP-5")("is -32602 where nothing has that name or URI, with the same bytes; over %s"),
    (way) =>
      Effect.gen(function*() {
        const layer = Layer.mergeAll(
          sizes([1]),
          book("docs://{page}"),
          McpServer.resource(Resource.make("other://a", { name: "a" }), () => Effect.succeed(""))
        )
        const { ask } = yield* asked(way, layer)
        const refs = [
          { type: "ref/prompt", name: "nobody" },
          { type: "ref/prompt", name: "__proto__" },
          { type: "ref/prompt" },
          { type: "ref/prompt", name: 1 },
          { type: "ref/prompt", uri: "docs://a" },
          { type: "ref/resource", uri: "docs://{other}" },
          { type: "ref/resource", uri: "docs://a/b" },
          { type: "ref/resource", uri: "other://a" },
          { type: "ref/resource", name: "p" },
          { type: "ref/tool", name: "p" },
          { name: "p" },
          {}
        ]
        const texts = new Set<string>()
        for (const ref of refs) {
          const { error, status, text } = yield* ask(complete, { ref, argument: { name: "size", value: "" } })
          assert.deepStrictEqual([status, error.code], [200, codes.invalidParams])
          texts.add(text)
        }
        assert.strictEqual(texts.size, 1)
      })
  )

  it.effect(
    verifies("COMP-4@server", "COMP-5")("is -32602 where the request has no form"),
    () =>
      Effect.gen(function*() {
        const { ask } = yield* asked("HTTP", sizes([1]))
        const good = ofPrompt("size")
        for (
          const params of [
            { ...good, ref: undefined },
            { ...good, ref: "p" },
            { ...good, ref: [] },
            { ...good, argument: undefined },
            { ...good, argument: "size" },
            { ...good, argument: { name: "size" } },
            { ...good, argument: { value: "" } },
            { ...good, argument: { name: "size", value: 1 } },
            { ...good, context: "x" },
            { ...good, context: { arguments: [] } },
            { ...good, context: { arguments: "x" } },
            { ...good, context: { arguments: { at: 1 } } }
          ]
        ) {
          const { error, status } = yield* ask(complete, params)
          assert.deepStrictEqual([status, error?.code], [200, codes.invalidParams], JSON.stringify(params))
        }
      })
  )

  it.effect.each(ways)(
    verifies("COMP-1", "COMP-4@server", "DISC-3", "BASE-19")(
      "is an unknown method where nothing is completed, over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, prompt({}))
        const { error, status } = yield* ask(complete, ofPrompt("size"))
        assert.deepStrictEqual([error.code, status], [codes.methodNotFound, way === "HTTP" ? 404 : 200])
        assert.notProperty((yield* ask("server/discover")).result.capabilities, "completions")
      })
  )

  it("is refused at its definition where the wire has no such name", () => {
    const args = Schema.Struct({ first: Schema.String }).pipe(Schema.encodeKeys({ first: "the-first" }))
    assert.throws(
      () =>
        McpServer.promptHandler(Prompt.make("renamed", { args }), () => Effect.succeed(""), {
          complete: { first: () => Effect.succeed([]) }
        }),
      /"renamed" cannot be defined: first is not the name of an argument/
    )
    assert.throws(
      () =>
        McpServer.templateHandler(Resource.template("docs://{page}", { name: "a" }), () => Effect.succeed(""), {
          complete: { pages: () => Effect.succeed([]) }
        }),
      /"docs:\/\/\{page\}" cannot be defined: pages is no variable of it/
    )
  })
})

describe("a fault", () => {
  const Broken = Schema.String.pipe(Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.passthrough(),
    encode: SchemaGetter.forbidden(() => "hunter2")
  }))
  const broken = McpServer.prompt(
    Prompt.make("p", { args: Schema.Struct({ size: Broken }) }),
    () => Effect.succeed(""),
    { complete: { size: () => Effect.succeed(["a"]) } }
  )
  it.effect.each<readonly [string, Layer.Layer<never, never, McpServer.McpServer>]>([
    ["that dies", prompt({ complete: { size: () => Effect.die("hunter2") } })],
    [
      "that throws",
      prompt({
        complete: {
          size: (): Effect.Effect<Array<number>> => {
            throw new Error("hunter2")
          }
        }
      })
    ],
    ["whose values cannot be encoded", broken],
    ["that offers what is no value", sizes(["hunter2" as never])]
  ])(
    verifies("COMP-4@server")("of a completer %s is -32603 with a fixed text; the cause is in the log"),
    ([, layer]) =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        const { json, status } = yield* server.send(request(complete, ofPrompt("size")))
        assert.deepStrictEqual([status, json.error], [200, { code: codes.internalError, message: "Internal error" }])
        assert.strictEqual(server.logs.length, 1)
      })
  )
})
