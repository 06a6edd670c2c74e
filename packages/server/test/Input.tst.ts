import { Content, Prompt, Resource, Tool } from "@fairlead/protocol"
import { Input, type Invocation, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as SchemaGetter from "effect/SchemaGetter"
import { expectTypeOf } from "vitest"

class Builder extends Context.Service<Builder, { readonly build: Effect.Effect<Date> }>()("test/Builder") {}
class Broken extends Schema.TaggedError<Broken>()("Broken", {}) {}

const Confirm = Schema.Struct({
  sure: Schema.Boolean,
  when: Schema.Date,
  note: Schema.optionalKey(Schema.String),
  color: Schema.Literals(["red", "green"])
})

// An answer is typed by the schema of its form; refusals are failures.
const form = Input.form("confirm", { message: "Sure?", schema: Confirm })
expectTypeOf(form).toEqualTypeOf<
  Effect.Effect<
    { readonly sure: boolean; readonly when: Date; readonly note?: string; readonly color: "red" | "green" },
    Input.Declined | Input.Dismissed,
    Invocation.Invocation
  >
>()

const url = Input.url("pay", { message: "Pay.", url: new URL("https://a.example") })
expectTypeOf(url).toEqualTypeOf<Effect.Effect<void, Input.Declined | Input.Dismissed, Invocation.Invocation>>()

// What has no refusal on the wire has none here.
const sample = Input.sample("talk", { messages: [], maxTokens: 1 })
expectTypeOf<Effect.Error<typeof sample>>().toEqualTypeOf<never>()
expectTypeOf<Effect.Success<typeof sample>["role"]>().toEqualTypeOf<"user" | "assistant">()
const roots = Input.roots("where")
expectTypeOf<Effect.Error<typeof roots>>().toEqualTypeOf<never>()
expectTypeOf<Effect.Success<typeof roots>[number]["uri"]>().toEqualTypeOf<string>()

// All at once: each under its name, with the failures and services of all.
const all = Input.all({ form, roots, other: Effect.as(Builder, 1) })
expectTypeOf<Effect.Success<typeof all>>().toEqualTypeOf<{
  readonly form: Effect.Success<typeof form>
  readonly roots: Effect.Success<typeof roots>
  readonly other: number
}>()
expectTypeOf<Effect.Error<typeof all>>().toEqualTypeOf<Input.Declined | Input.Dismissed>()
expectTypeOf<Effect.Services<typeof all>>().toEqualTypeOf<Invocation.Invocation | Builder>()

// A step has the type of its schema, and the failures and services of its effect.
const step = Input.step("build", Schema.Date, Effect.flatMap(Builder, ({ build }) => build))
expectTypeOf(step).toEqualTypeOf<Effect.Effect<Date, never, Invocation.Invocation | Builder>>()
const failing = Input.step("build", Schema.Void, Effect.fail(new Broken()))
expectTypeOf<Effect.Error<typeof failing>>().toEqualTypeOf<Broken>()
// @ts-expect-error: the effect gives something else than the schema has
Input.step("build", Schema.Date, Effect.succeed("today"))

// The low-level form never goes on.
expectTypeOf(Input.require({})).toEqualTypeOf<Effect.Effect<never, never, Invocation.Invocation>>()

// Outside of a handler an ask does not compile.
// @ts-expect-error: there is no invocation
Effect.runPromise(form)
// @ts-expect-error: there is no invocation
Effect.runFork(Effect.orDie(url))
// @ts-expect-error: there is no invocation
Effect.runSync(sample)
// @ts-expect-error: there is no invocation
Effect.runSync(roots)
// @ts-expect-error: there is no invocation
Effect.runSync(Input.step("s", Schema.Void, Effect.void))
// @ts-expect-error: there is no invocation
Effect.runSync(Input.require({}))
// @ts-expect-error: there is no invocation
Effect.runSync(Input.kept)
// @ts-expect-error: there is no invocation
Effect.runSync(Input.responses)

// In one it does, and registration takes the invocation out.
const Work = Tool.make("work", { failure: Broken })
const refused = Effect.catchTags(form, {
  Declined: () => Effect.fail(new Broken()),
  Dismissed: () => Effect.fail(new Broken())
})
const tool = McpServer.tool(Work, () => Effect.as(refused, [Content.text("")]))
expectTypeOf(tool).toEqualTypeOf<Layer.Layer<never, never, McpServer.McpServer>>()
const withService = McpServer.tool(Work, () => Effect.as(step, [Content.text("")]))
expectTypeOf<Layer.Services<typeof withService>>().toEqualTypeOf<McpServer.McpServer | Builder>()
const prompt = McpServer.prompt(Prompt.make("p"), () => Effect.as(Effect.orDie(form), "text"))
expectTypeOf<Layer.Services<typeof prompt>>().toEqualTypeOf<McpServer.McpServer>()
const resource = McpServer.resource(Resource.make("a:b", { name: "b" }), () => Effect.as(Effect.orDie(form), "text"))
expectTypeOf<Layer.Services<typeof resource>>().toEqualTypeOf<McpServer.McpServer>()

// @ts-expect-error: the tool has no such failure as a refusal
McpServer.tool(Work, () => Effect.as(form, [Content.text("")]))

// Services that a form's schema needs to decode are the handler's.
declare const getter: SchemaGetter.Getter<string, string, Builder>
const NeedsBuilder = Schema.String.pipe(
  Schema.decodeTo(Schema.String, {
    decode: getter,
    encode: undefined as unknown as SchemaGetter.Getter<string, string>
  })
)
const serviced = Input.form("k", { message: "", schema: Schema.Struct({ a: NeedsBuilder }) })
expectTypeOf<Effect.Services<typeof serviced>>().toEqualTypeOf<Invocation.Invocation | Builder>()
