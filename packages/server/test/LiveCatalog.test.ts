import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Prompt, Resource, Revision, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { type Asked, asked, type Way, ways } from "./support/ask.ts"
import { makeGate, turns, until } from "./support/serve.ts"
import { request } from "./support/wire.ts"

const { codes } = Revision

interface Kind {
  readonly kind: McpServer.Kind
  readonly name: string
  readonly list: string
  readonly items: string
  readonly key: string
  readonly method: string
  readonly params: Record<string, unknown>
  readonly changed: string
  /** A handler under the name of the kind whose answer has the word in it. */
  readonly handler: (word: string, before?: Effect.Effect<void>) => McpServer.Handler<never>
}

const kinds: ReadonlyArray<Kind> = [
  {
    kind: "tool",
    name: "a",
    list: "tools/list",
    items: "tools",
    key: "name",
    method: "tools/call",
    params: { name: "a" },
    changed: "notifications/tools/list_changed",
    handler: (word, before = Effect.void) =>
      McpServer.toolHandler(Tool.make("a"), () => Effect.as(before, [{ type: "text", text: word }] as const))
  },
  {
    kind: "resource",
    name: "docs://a",
    list: "resources/list",
    items: "resources",
    key: "uri",
    method: "resources/read",
    params: { uri: "docs://a" },
    changed: "notifications/resources/list_changed",
    handler: (word, before = Effect.void) =>
      McpServer.resourceHandler(Resource.make("docs://a", { name: "a" }), () => Effect.as(before, word))
  },
  {
    kind: "resourceTemplate",
    name: "docs://t/{x}",
    list: "resources/templates/list",
    items: "resourceTemplates",
    key: "uriTemplate",
    method: "resources/read",
    params: { uri: "docs://t/1" },
    changed: "notifications/resources/list_changed",
    handler: (word, before = Effect.void) =>
      McpServer.templateHandler(Resource.template("docs://t/{x}", { name: "t" }), () => Effect.as(before, word))
  },
  {
    kind: "prompt",
    name: "a",
    list: "prompts/list",
    items: "prompts",
    key: "name",
    method: "prompts/get",
    params: { name: "a" },
    changed: "notifications/prompts/list_changed",
    handler: (word, before = Effect.void) => McpServer.promptHandler(Prompt.make("a"), () => Effect.as(before, word))
  }
]

const each = kinds.flatMap((kind) => ways.map((way) => ({ ...kind, kind, way, what: kind.kind })))

/** One of each kind under another name, so that all methods are there. */
const others = Layer.mergeAll(
  McpServer.tool(Tool.make("z"), () => Effect.succeed([])),
  McpServer.resource(Resource.make("docs://z", { name: "z" }), () => Effect.succeed("")),
  McpServer.resourceTemplate(Resource.template("docs://z/{x}", { name: "z" }), () => Effect.succeed("")),
  McpServer.prompt(Prompt.make("z"), () => Effect.succeed(""))
)
const serving = (way: Way) => asked(way, others)

const listed = ({ ask }: Asked, { items, key, list }: Kind) =>
  Effect.map(ask(list), ({ result }) => result[items].map((item: Record<string, string>) => item[key]) as Array<string>)

/** Listens to all lists over a channel, and gives the methods that were told since it was last asked. */
const listening = ({ endpoint }: Asked) =>
  Effect.gen(function*() {
    const messages: Array<string> = []
    const channel = endpoint.connect({
      transport: "test",
      send: (text) => {
        messages.push((JSON.parse(text) as { readonly method?: string }).method ?? "answer")
        return true
      },
      onDrain: (resume) => resume(),
      services: undefined
    })
    yield* Effect.addFinalizer(() => Effect.sync(channel.closeUnsafe))
    channel.receive(JSON.stringify(request("subscriptions/listen", {
      notifications: { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true }
    })))
    yield* until(() => messages.length > 0)
    messages.length = 0
    return Effect.gen(function*() {
      yield* turns()
      return messages.splice(0)
    })
  })

describe("a registration while the server runs", () => {
  it.effect.each(each)(
    verifies("TOOL-14", "RES-9", "PROMPT-8")(
      "is listed and served at once, told once, and gone when removed: a $what, over $way"
    ),
    ({ kind, way }) =>
      Effect.gen(function*() {
        const served = yield* serving(way)
        const told = yield* listening(served)
        const { ask, server } = served
        const unknown = yield* ask(kind.method, kind.params)
        assert.strictEqual(unknown.error.code, codes.invalidParams)

        yield* server.register(kind.handler("hello"))
        assert.deepStrictEqual(yield* told, [kind.changed])
        assert.include(yield* listed(served, kind), kind.name)
        assert.include(yield* server.names(kind.kind), kind.name)
        assert.include((yield* ask(kind.method, kind.params)).text, "hello")

        assert.isTrue(yield* server.unregister(kind.kind, kind.name))
        assert.deepStrictEqual(yield* told, [kind.changed])
        assert.notInclude(yield* listed(served, kind), kind.name)
        assert.notInclude(yield* server.names(kind.kind), kind.name)
        assert.strictEqual((yield* ask(kind.method, kind.params)).text, unknown.text)
      })
  )

  it.effect.each(each)(
    verifies("TOOL-5@server")(
      "under a taken name fails with DuplicateName, is told to nobody, and changes nothing: a $what, over $way"
    ),
    ({ kind, way }) =>
      Effect.gen(function*() {
        const served = yield* serving(way)
        const { ask, server } = served
        yield* server.register(kind.handler("first"))
        const told = yield* listening(served)
        const before = (yield* ask(kind.list)).text
        const error = yield* Effect.flip(server.register(kind.handler("second")))
        assert.deepStrictEqual(error, new McpServer.DuplicateName({ kind: kind.kind, name: kind.name }))
        assert.strictEqual(error.message, `There is a ${kind.kind} named ${JSON.stringify(kind.name)} already`)
        assert.deepStrictEqual(yield* told, [])
        assert.strictEqual((yield* ask(kind.list)).text, before)
        assert.include((yield* ask(kind.method, kind.params)).text, "first")
      })
  )

  it.effect.each(each)(
    "that was not there is removed by nobody: false, and told to nobody: a $what, over $way",
    ({ kind, way }) =>
      Effect.gen(function*() {
        const served = yield* serving(way)
        const told = yield* listening(served)
        for (const name of [kind.name, "nobody", "__proto__", ""]) {
          assert.isFalse(yield* served.server.unregister(kind.kind, name))
        }
        assert.deepStrictEqual(yield* told, [])
      })
  )

  it.effect.each(kinds)("can be of many at once, and one has the name: a $kind", (kind) =>
    Effect.gen(function*() {
      const { server } = yield* serving("a channel")
      const exits = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => i),
        (i) => Effect.exit(server.register(kind.handler(String(i)))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
    }))

  it.effect.each(each)(
    "that is removed lets what runs end: a $what, over $way",
    ({ kind, way }) =>
      Effect.gen(function*() {
        const gate = makeGate()
        const { ask, server } = yield* serving(way)
        yield* server.register(kind.handler("done", gate.run))
        const running = yield* Effect.forkChild(ask(kind.method, kind.params))
        yield* gate.started
        assert.isTrue(yield* server.unregister(kind.kind, kind.name))
        yield* server.register(kind.handler("next"))
        assert.include((yield* ask(kind.method, kind.params)).text, "next")
        yield* gate.release
        assert.include((yield* Fiber.join(running)).text, "done")
      })
  )

  it.effect("has the services that it was made with", () =>
    Effect.gen(function*() {
      class Shelf extends Context.Service<Shelf, { readonly name: string }>()("Shelf") {}
      const { ask, server } = yield* serving("HTTP")
      const handler = McpServer.promptHandler(Prompt.make("a"), () => Effect.map(Shelf, ({ name }) => name))
      yield* server.register(handler).pipe(Effect.provideService(Shelf, { name: "upper" }))
      assert.strictEqual((yield* ask("prompts/get", { name: "a" })).result.messages[0].content.text, "upper")
    }))

  it.effect("of a template that matches the same URIs is a duplicate, under whatever variables", () =>
    Effect.gen(function*() {
      const { server } = yield* serving("a channel")
      const register = (template: string) =>
        server.register(
          McpServer.templateHandler(Resource.template(template, { name: template }), () => Effect.succeed(""))
        )
      yield* register("docs://{a}/{b}{?q,r}")
      for (const same of ["docs://{x}/{y}{?r,q}", "DOCS://{b}/{a}{?q,r}"]) {
        const error = yield* Effect.flip(register(same))
        assert.deepStrictEqual([error.kind, error.name], ["resourceTemplate", same])
      }
      for (const other of ["docs://{a}/{b}", "docs://{a}/{b}{?q}", "docs://{a}/{+b}", "Docs://A/{b}", "docs://a/{b}"]) {
        yield* register(other)
      }
      assert.isTrue(yield* server.unregister("resourceTemplate", "docs://{a}/{b}{?q,r}"))
      yield* register("docs://{x}/{y}{?r,q}")
    }))
})

describe("a capability", () => {
  it.effect.each(each)(
    verifies("DISC-3", "VER-12@server", "TOOL-1", "RES-1", "PROMPT-1", "BASE-19")(
      "comes with the first of its kind and stays when the last one goes: a $what, over $way"
    ),
    ({ kind, way }) =>
      Effect.gen(function*() {
        const served = yield* asked(way, Layer.empty)
        const { ask, server } = served
        const capabilities = Effect.map(ask("server/discover"), ({ result }) => Object.keys(result.capabilities))
        assert.deepStrictEqual(yield* capabilities, [])
        assert.strictEqual((yield* ask(kind.list)).error.code, codes.methodNotFound)
        yield* server.register(kind.handler("a"))
        const [name] = kind.items.match(/^(tools|resource|prompts)/)!
        assert.deepStrictEqual(yield* capabilities, [name === "resource" ? "resources" : name])
        assert.deepStrictEqual(yield* listed(served, kind), [kind.name])
        yield* server.unregister(kind.kind, kind.name)
        assert.deepStrictEqual(yield* capabilities, [name === "resource" ? "resources" : name])
        assert.deepStrictEqual(yield* listed(served, kind), [])
        const { error, status } = yield* ask(kind.method, kind.params)
        assert.deepStrictEqual([error.code, status], [codes.invalidParams, 200])
      })
  )

  it.effect(
    verifies("COMP-1", "DISC-3")("for completion comes with the first completer"),
    () =>
      Effect.gen(function*() {
        const { ask, server } = yield* serving("HTTP")
        const params = { ref: { type: "ref/resource", uri: "docs://c/{x}" }, argument: { name: "x", value: "" } }
        assert.strictEqual((yield* ask("completion/complete", params)).error.code, codes.methodNotFound)
        yield* server.register(
          McpServer.templateHandler(Resource.template("docs://c/{x}", { name: "c" }), () => Effect.succeed(""), {
            complete: { x: () => Effect.succeed(["1"]) }
          })
        )
        assert.property((yield* ask("server/discover")).result.capabilities, "completions")
        assert.deepStrictEqual((yield* ask("completion/complete", params)).result.completion, { values: ["1"] })
      })
  )
})

describe("a layer of registrations", () => {
  const building = (
    served: Asked,
    layer: Layer.Layer<never, never, McpServer.McpServer>,
    scope: Scope.Scope
  ) => Layer.buildWithScope(layer, scope).pipe(Effect.provideService(McpServer.McpServer, served.server))

  it.effect.each(each)(
    "comes and goes with its scope, and each is told: a $what, over $way",
    ({ kind, way }) =>
      Effect.gen(function*() {
        const served = yield* serving(way)
        const told = yield* listening(served)
        const scope = yield* Scope.make()
        yield* building(served, McpServer.handlers([kind.handler("hello")]), scope)
        assert.deepStrictEqual(yield* told, [kind.changed])
        assert.include((yield* served.ask(kind.method, kind.params)).text, "hello")
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(yield* told, [kind.changed])
        assert.isDefined((yield* served.ask(kind.method, kind.params)).error)
      })
  )

  it.effect.each(kinds)(
    "dies with DuplicateName, and what it had registered before goes again: a $kind",
    (kind) =>
      Effect.gen(function*() {
        const served = yield* serving("a channel")
        yield* served.server.register(kind.handler("first"))
        const other = McpServer.promptHandler(Prompt.make("b"), () => Effect.succeed(""))
        const exit = yield* Effect.exit(
          Effect.scoped(
            Effect.flatMap(Effect.scope, (scope) =>
              building(served, McpServer.handlers([other, kind.handler("second")]), scope))
          )
        )
        assert.isTrue(Exit.isFailure(exit))
        const reason = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
        assert.deepInclude(reason, { defect: new McpServer.DuplicateName({ kind: kind.kind, name: kind.name }) })
        assert.notInclude(yield* served.server.names("prompt"), "b")
        assert.include((yield* served.ask(kind.method, kind.params)).text, "first")
      })
  )

  it.effect("does not start an endpoint where two take one name", () =>
    Effect.gen(function*() {
      for (const kind of kinds) {
        const exit = yield* Effect.exit(Layer.build(
          McpEndpoint.serve({ name: "test", version: "1" })(
            Layer.mergeAll(McpServer.handlers([kind.handler("a")]), McpServer.handlers([kind.handler("b")]))
          )
        ))
        assert.isTrue(Exit.isFailure(exit))
      }
    }))

  it.effect.each(kinds)("takes with it only what is its own: a $kind", (kind) =>
    Effect.gen(function*() {
      const served = yield* serving("a channel")
      const scope = yield* Scope.make()
      yield* building(served, McpServer.handlers([kind.handler("first")]), scope)
      assert.isTrue(yield* served.server.unregister(kind.kind, kind.name))
      yield* served.server.register(kind.handler("successor"))
      const told = yield* listening(served)
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* told, [])
      assert.include((yield* served.ask(kind.method, kind.params)).text, "successor")
    }))

  it.effect("can be an effect with a scope of its own", () =>
    Effect.gen(function*() {
      const { server } = yield* serving("a channel")
      yield* Effect.scoped(Effect.gen(function*() {
        yield* server.registerScoped(kinds[0]!.handler("a"))
        assert.deepStrictEqual(yield* server.names("tool"), ["a", "z"])
        const error = yield* Effect.flip(server.registerScoped(kinds[0]!.handler("b")))
        assert.strictEqual(error.name, "a")
      }))
      assert.deepStrictEqual(yield* server.names("tool"), ["z"])
    }))
})
