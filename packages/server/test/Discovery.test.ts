import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Prompt, Resource, Revision, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { asked, ways } from "./support/ask.ts"
import { endpointOf } from "./support/serve.ts"

const everything = Layer.mergeAll(
  McpServer.tool(Tool.make("a"), () => Effect.succeed([])),
  McpServer.resource(Resource.make("docs://a", { name: "a" }), () => Effect.succeed("")),
  McpServer.prompt(Prompt.make("a"), () => Effect.succeed("")),
  McpServer.resourceTemplate(Resource.template("docs://b/{x}", { name: "a" }), () => Effect.succeed(""), {
    complete: { x: () => Effect.succeed([]) }
  })
)

const capabilities = (options: Partial<McpEndpoint.Options>, way: (typeof ways)[number] = "a channel") =>
  Effect.flatMap(
    asked(way, everything, options),
    ({ ask }) => Effect.map(ask("server/discover"), ({ result }) => result.capabilities)
  )

describe("the name of the server", () => {
  it.effect.each(ways)(
    verifies("META-14", "META-15@server")("is in every result, or in none; over %s"),
    (way) =>
      Effect.gen(function*() {
        for (const serverInfo of [true, false]) {
          const { ask } = yield* asked(way, everything, { serverInfo })
          const ref = { type: "ref/prompt", name: "a" }
          const all: ReadonlyArray<readonly [string, Record<string, unknown>]> = [
            ["server/discover", {}],
            ["tools/list", {}],
            ["tools/call", { name: "a" }],
            ["resources/list", {}],
            ["resources/templates/list", {}],
            ["resources/read", { uri: "docs://a" }],
            ["prompts/list", {}],
            ["prompts/get", { name: "a" }],
            ["completion/complete", { ref, argument: { name: "a", value: "" } }]
          ]
          for (const [method, params] of all) {
            const { result } = yield* ask(method, params)
            assert.deepStrictEqual(
              [method, result._meta],
              [method, serverInfo ? { [Revision.meta.serverInfo]: { name: "test", version: "1.2.3" } } : undefined]
            )
          }
        }
      })
  )
})

describe("the capabilities", () => {
  it.effect.each(ways)(
    verifies("DISC-3", "VER-12@server", "COMP-1", "RES-1", "PROMPT-1", "TOOL-1", "DEP-1@server")(
      "are those of what is registered and switched on, over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const listChanged = { listChanged: true }
        assert.deepStrictEqual(yield* capabilities({}, way), {
          tools: listChanged,
          resources: { ...listChanged, subscribe: true },
          prompts: listChanged,
          completions: {}
        })
        assert.deepStrictEqual(yield* capabilities({ listen: false, logging: true }, way), {
          tools: {},
          resources: {},
          prompts: {},
          completions: {},
          logging: {}
        })
      })
  )

  it.effect.each(ways)(
    verifies("VER-6@server", "EXT-1@server", "EXT-3@server")("have the extensions with their settings, over %s"),
    (way) =>
      Effect.gen(function*() {
        const extensions = { "com.example/a": {}, "io.example.b/c-d": { depth: 2, on: [true, null] } }
        assert.deepStrictEqual((yield* capabilities({ extensions }, way)).extensions, extensions)
        assert.notProperty(yield* capabilities({ extensions: {} }, way), "extensions")
      })
  )

  it.effect.each([
    "a",
    "",
    "a/",
    "/a",
    "com..example/a",
    "-com/a",
    "com-/a",
    "1com/a",
    "com.example/a b",
    "com.example/-",
    "a/b/c"
  ])(
    verifies("VER-6@server")("cannot have an extension named %j"),
    (id) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(endpointOf(Layer.empty, { extensions: { [id]: {} } }))
        assert.deepInclude(Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined, {
          error: new McpEndpoint.InvalidConfig({
            field: "extensions",
            reason: "an identifier has no prefix and name"
          })
        })
      })
  )
})
