import { Content, Prompt, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer, RequestContext } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as SchemaGetter from "effect/SchemaGetter"
import type * as Scope from "effect/Scope"
import { expectTypeOf } from "vitest"

class Fault extends Schema.TaggedError<Fault>()("Fault", { seconds: Schema.Int }) {}
class Tenant extends Context.Service<Tenant, { readonly name: string }>()("test/Tenant") {}
class Database extends Context.Service<Database, { readonly query: Effect.Effect<string> }>()("test/Database") {}
class Secrets extends Context.Service<Secrets, { readonly key: string }>()("test/Secrets") {}

const Search = Tool.make("search", {
  input: Schema.Struct({ query: Schema.String, limit: Schema.optionalKey(Schema.Int) }),
  output: Schema.Struct({ hits: Schema.Array(Schema.String) }),
  failure: Fault
})
const Note = Tool.make("note")

// The input is typed from the tool, in a plain function and in Effect.fnUntraced.
const plain = McpServer.tool(Search, (input) => {
  expectTypeOf(input).toEqualTypeOf<{ readonly query: string; readonly limit?: number }>()
  return Effect.succeed({ hits: [input.query] })
})
expectTypeOf<typeof plain>().toEqualTypeOf<Layer.Layer<never, never, McpServer.McpServer>>()
expectTypeOf<typeof plain>().not.toBeAny()

const untraced = McpServer.tool(
  Search,
  Effect.fnUntraced(function*({ limit, query }) {
    expectTypeOf(query).toEqualTypeOf<string>()
    expectTypeOf(limit).toEqualTypeOf<number | undefined>()
    if (limit === 0) return yield* new Fault({ seconds: 1 })
    if (limit === 1) return yield* Tool.error("One is too few")
    return { hits: [query] }
  })
)
expectTypeOf<Layer.Services<typeof untraced>>().toEqualTypeOf<McpServer.McpServer>()

// A reply may say more; a tool without an output answers with content.
McpServer.tool(Search, () => Effect.succeed(Tool.reply({ hits: [] }, { content: [Content.text("none")] })))
McpServer.tool(Note, () => Effect.succeed([Content.text("noted")]))

// @ts-expect-error: the output has a wrong type
McpServer.tool(Search, () => Effect.succeed({ hits: [1] }))
// @ts-expect-error: the output lacks a member
McpServer.tool(Search, () => Effect.succeed({}))
// @ts-expect-error: a reply's output has a wrong type
McpServer.tool(Search, () => Effect.succeed(Tool.reply({ hits: 1 }, {})))
// @ts-expect-error: the tool has no such failure
McpServer.tool(Search, () => Effect.fail(new Error("no")))
// @ts-expect-error: the tool declares no failure at all
McpServer.tool(Note, () => Effect.fail(new Fault({ seconds: 1 })))
// @ts-expect-error: a tool without an output has content
McpServer.tool(Note, () => Effect.succeed({ hits: [] }))
// @ts-expect-error: a tool takes one input
McpServer.tool(Search, (_input, _more) => Effect.succeed({ hits: [] }))

// What every handler has is not asked for; the rest is.
const needing = McpServer.tool(Search, () =>
  Effect.gen(function*() {
    yield* Invocation.Invocation
    yield* Effect.addFinalizer(() => Effect.void)
    const { query } = yield* Database
    const { name } = yield* Tenant
    return { hits: [yield* query, name] }
  }))
expectTypeOf<Layer.Services<typeof needing>>().toEqualTypeOf<McpServer.McpServer | Database | Tenant>()

// A handler may tell of changes: the endpoint it runs in is there.
const telling = McpServer.tool(Search, () =>
  Effect.gen(function*() {
    const { resourceUpdated } = yield* McpEndpoint.McpEndpoint
    yield* resourceUpdated("docs://manual")
    yield* (yield* McpServer.McpServer).unregister("tool", "other")
    return { hits: [] }
  })).pipe(McpEndpoint.serve({ name: "a", version: "1" }))
expectTypeOf<Layer.Services<typeof telling>>().toEqualTypeOf<never>()

// Content alone can be a text; an output is what its schema says.
McpServer.tool(Tool.make("plain"), () => Effect.succeed("done"))
// @ts-expect-error: the output is an object
McpServer.tool(Search, () => Effect.succeed("done"))

// Outside a handler there is no invocation.
// @ts-expect-error: Invocation is not provided
void Effect.runSync(Invocation.progress({ progress: 1 }))

// Decoding and encoding may need services too.
const Encoded = Schema.String.pipe(Schema.decodeTo(Schema.String, {
  decode: getterOf<Database>(),
  encode: getterOf<Secrets>()
}))
const Coded = Tool.make("coded", { input: Schema.Struct({ a: Encoded }), output: Encoded })
const coded = McpServer.tool(Coded, ({ a }) => Effect.succeed(a))
expectTypeOf<Layer.Services<typeof coded>>().toEqualTypeOf<McpServer.McpServer | Database | Secrets>()

// What completes may need services that the handler does not, and gets what is known, decoded.
const Sized = Prompt.make("sized", {
  args: Schema.Struct({ size: Schema.Int, unit: Schema.optionalKey(Schema.String) })
})
const completed = McpServer.prompt(Sized, () => Effect.succeed(""), {
  complete: {
    size: (written, known) => {
      expectTypeOf(written).toEqualTypeOf<string>()
      expectTypeOf(known).toEqualTypeOf<{ readonly size?: number; readonly unit?: string }>()
      return Effect.as(Database, [1])
    },
    unit: () => Effect.as(Effect.andThen(Invocation.Invocation, Secrets), ["m"])
  }
})
expectTypeOf<Layer.Services<typeof completed>>().toEqualTypeOf<McpServer.McpServer | Database | Secrets>()
// @ts-expect-error: a size is a number
McpServer.prompt(Sized, () => Effect.succeed(""), { complete: { size: () => Effect.succeed(["a"]) } })
// @ts-expect-error: there is no such argument
McpServer.prompt(Sized, () => Effect.succeed(""), { complete: { colour: () => Effect.succeed(["red"]) } })

// `serve` takes out what the context function gives, and asks for what it needs itself.
const contextOf = (request: RequestContext.RequestInfo) =>
  Effect.gen(function*() {
    const { key } = yield* Secrets
    const name = request.header("x-tenant")
    if (name !== key) return yield* new RequestContext.Refused({ status: 403, message: "No" })
    return Context.make(Tenant, { name })
  })

const served = McpEndpoint.serve({ name: "a", version: "1", context: contextOf })(needing)
expectTypeOf<Layer.Services<typeof served>>().toEqualTypeOf<Secrets | Database>()
expectTypeOf<Layer.Success<typeof served>>().toEqualTypeOf<McpEndpoint.McpEndpoint | McpServer.McpServer>()
expectTypeOf<Layer.Error<typeof served>>().toEqualTypeOf<McpEndpoint.InvalidConfig>()
expectTypeOf<typeof served>().not.toBeAny()

// Its scope is the request's, so it asks for none.
const scoped = McpEndpoint.serve({
  name: "a",
  version: "1",
  context: () => Effect.acquireRelease(Effect.succeed(Context.make(Tenant, { name: "a" })), () => Effect.void)
})(needing)
expectTypeOf<Layer.Services<typeof scoped>>().toEqualTypeOf<Database>()
expectTypeOf<Layer.Services<typeof scoped>>().not.toEqualTypeOf<Scope.Scope>()

// What nobody gives is missed by the compiler.
const complete = Layer.provide(served, [
  Layer.succeed(Secrets, { key: "k" }),
  Layer.succeed(Database, { query: Effect.succeed("q") })
])
expectTypeOf<Layer.Services<typeof complete>>().toEqualTypeOf<never>()
void (() => Effect.runFork(Layer.launch(complete)))

const withoutTenant = McpEndpoint.serve({ name: "a", version: "1" })(needing).pipe(
  Layer.provide(Layer.succeed(Database, { query: Effect.succeed("q") }))
)
expectTypeOf<Layer.Services<typeof withoutTenant>>().toEqualTypeOf<Tenant>()
// @ts-expect-error: the tenant is missing
void (() => Effect.runFork(Layer.launch(withoutTenant)))

// What registrations give beside is given on, and their errors too.
class Extra extends Context.Service<Extra, number>()("test/Extra") {}
const beside = McpEndpoint.serve({ name: "a", version: "1" })(
  Layer.merge(plain, Layer.effect(Extra, Effect.fail("late" as const)))
)
expectTypeOf<Layer.Success<typeof beside>>().toEqualTypeOf<
  McpEndpoint.McpEndpoint | McpServer.McpServer | Extra
>()
expectTypeOf<Layer.Error<typeof beside>>().toEqualTypeOf<McpEndpoint.InvalidConfig | "late">()

// The live catalog asks for what a handler needs, where it is registered.
const live = Effect.flatMap(
  McpServer.McpServer,
  (server) => server.register(McpServer.toolHandler(Search, () => Effect.as(Database, { hits: [] })))
)
expectTypeOf<Effect.Services<typeof live>>().toEqualTypeOf<McpServer.McpServer | Database>()
expectTypeOf<Effect.Error<typeof live>>().toEqualTypeOf<McpServer.DuplicateName>()

// @ts-expect-error: a handler of a list is typed from its tool as well
McpServer.toolHandler(Search, () => Effect.succeed({ hits: [1] }))

declare function getterOf<R>(): SchemaGetter.Getter<string, string, R>
