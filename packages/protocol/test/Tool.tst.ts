/** What a user of `Tool` relies on the compiler for. It is compiled with the tests and never run. */
import { Content, type Json, Tool } from "@fairlead/protocol"
import type { Effect, Result } from "effect"
import * as Schema from "effect/Schema"
import { expectTypeOf } from "vitest"

interface Hit {
  readonly title: string
}
const Hit = Schema.Struct({ title: Schema.String })

class IndexUnavailable extends Schema.TaggedError<IndexUnavailable>()("IndexUnavailable", {
  retryAfterSeconds: Schema.Int
}) {}

const Search = Tool.make("search_docs", {
  input: Schema.Struct({
    query: Schema.NonEmptyString,
    limit: Schema.optionalKey(Schema.Int),
    since: Schema.optional(Schema.Date)
  }),
  output: Schema.Struct({ hits: Schema.Array(Hit) }),
  failure: IndexUnavailable,
  annotations: { readOnly: true }
})
const Ping = Tool.make("ping")

// The name is a literal.
expectTypeOf(Search.name).toEqualTypeOf<"search_docs">()
expectTypeOf(Ping.name).toEqualTypeOf<"ping">()
expectTypeOf(Tool.make("a" as string).name).toEqualTypeOf<string>()

// Input, output and failure are those of the schemas, on the decoded side, and never `any`.
interface SearchInput {
  readonly query: string
  readonly limit?: number
  readonly since?: Date | undefined
}
expectTypeOf<Tool.Input<typeof Search>>().toEqualTypeOf<SearchInput>()
expectTypeOf<Tool.Output<typeof Search>>().toEqualTypeOf<{ readonly hits: ReadonlyArray<Hit> }>()
expectTypeOf<Tool.Failure<typeof Search>>().toEqualTypeOf<IndexUnavailable>()
expectTypeOf<Tool.Input<typeof Search>>().not.toBeAny()
expectTypeOf<Tool.Output<typeof Search>>().not.toBeAny()
expectTypeOf<Tool.Failure<typeof Search>>().not.toBeAny()

// A tool without a schema takes nothing, answers with content and has no failure.
expectTypeOf<Tool.Input<typeof Ping>>().toEqualTypeOf<{}>()
expectTypeOf<Tool.Output<typeof Ping>>().toEqualTypeOf<ReadonlyArray<Content.Block>>()
expectTypeOf<Tool.Output<typeof Ping>>().not.toBeAny()
expectTypeOf<Tool.Failure<typeof Ping>>().toBeNever()
expectTypeOf(Ping.output).toEqualTypeOf<undefined>()
expectTypeOf(Ping.codec.output).toEqualTypeOf<undefined>()

// A content-only tool keeps its input and failure.
const Shout = Tool.make("shout", { input: Hit, failure: IndexUnavailable })
expectTypeOf<Tool.Output<typeof Shout>>().toEqualTypeOf<ReadonlyArray<Content.Block>>()
expectTypeOf<Tool.Input<typeof Shout>>().toEqualTypeOf<Hit>()
expectTypeOf<Tool.Failure<typeof Shout>>().toEqualTypeOf<IndexUnavailable>()

// Outputs need not be objects.
expectTypeOf<Tool.Output<Tool.Tool<"t", typeof Hit, typeof Schema.Int, typeof Schema.Never>>>().toEqualTypeOf<number>()
const NullTool = Tool.make("null", { output: Schema.Null })
expectTypeOf<Tool.Output<typeof NullTool>>().toEqualTypeOf<null>()

// An answer is the output or a reply around it.
expectTypeOf<Tool.Answer<typeof Search>>().toEqualTypeOf<
  { readonly hits: ReadonlyArray<Hit> } | Tool.Reply<{ readonly hits: ReadonlyArray<Hit> }>
>()
expectTypeOf(Tool.reply({ hits: [{ title: "a" }] }, {})).toExtend<Tool.Answer<typeof Search>>()
expectTypeOf(Tool.reply([Content.text("a")], { meta: { a: 1 } })).toExtend<Tool.Answer<typeof Ping>>()
expectTypeOf(Tool.reply({ hits: [{ title: 1 }] }, {})).not.toExtend<Tool.Answer<typeof Search>>()
expectTypeOf(Tool.reply(1, {}).output).toEqualTypeOf<number>()
expectTypeOf<Tool.Answer<typeof Search>>().not.toBeAny()
// A reply is told from an output by its type alone when it is one.
declare const answer: Tool.Answer<typeof Search>
if (Tool.isReply(answer)) expectTypeOf(answer).toExtend<Tool.Reply<unknown>>()
else expectTypeOf(answer).toEqualTypeOf<{ readonly hits: ReadonlyArray<Hit> }>()
// A lookalike is no reply.
// @ts-expect-error
const lookalike: Tool.Reply<number> = { output: 1, content: undefined, meta: undefined }
void lookalike

// The services of the schemas: a server decodes input and encodes the rest, a client the other way round.
interface InputDecoding {
  readonly _: unique symbol
}
interface InputEncoding {
  readonly _: unique symbol
}
interface OutputDecoding {
  readonly _: unique symbol
}
interface OutputEncoding {
  readonly _: unique symbol
}
interface FailureDecoding {
  readonly _: unique symbol
}
interface FailureEncoding {
  readonly _: unique symbol
}
declare const Served: Tool.Tool<
  "served",
  Schema.Codec<string, string, InputDecoding, InputEncoding>,
  Schema.Codec<number, number, OutputDecoding, OutputEncoding>,
  Schema.Codec<boolean, boolean, FailureDecoding, FailureEncoding>
>
expectTypeOf<Tool.ServerServices<typeof Served>>().toEqualTypeOf<InputDecoding | OutputEncoding | FailureEncoding>()
expectTypeOf<Tool.ClientServices<typeof Served>>().toEqualTypeOf<InputEncoding | OutputDecoding | FailureDecoding>()
expectTypeOf<Tool.ServerServices<typeof Search>>().toBeNever()
expectTypeOf<Tool.ClientServices<typeof Search>>().toBeNever()
expectTypeOf<Tool.ServerServices<typeof Ping>>().toBeNever()
expectTypeOf<Tool.ClientServices<typeof Ping>>().toBeNever()
declare const ServedContent: Tool.Tool<
  "served",
  Schema.Codec<string, string, InputDecoding, InputEncoding>,
  undefined,
  typeof Schema.Never
>
expectTypeOf<Tool.ServerServices<typeof ServedContent>>().toEqualTypeOf<InputDecoding>()
expectTypeOf<Tool.ClientServices<typeof ServedContent>>().toEqualTypeOf<InputEncoding>()

// The codecs decode to the types of the schemas.
expectTypeOf(Schema.decodeUnknownSync(Search.codec.input.decode)({})).toEqualTypeOf<SearchInput>()
expectTypeOf(Schema.encodeSync(Search.codec.output.encode)).parameter(0).toEqualTypeOf<
  { readonly hits: ReadonlyArray<Hit> }
>()
expectTypeOf(Schema.decodeUnknownEffect(Served.codec.output.decode)({})).toEqualTypeOf<
  Effect.Effect<number, Schema.SchemaError, OutputDecoding>
>()

// Every definition is one of `Any`, in lists too.
expectTypeOf(Search).toExtend<Tool.Any>()
expectTypeOf(Ping).toExtend<Tool.Any>()
expectTypeOf(Served).toExtend<Tool.Any>()
const list: ReadonlyArray<Tool.Any> = [Search, Ping, Shout, NullTool]
void list
declare const unknownTool: unknown
if (Tool.isTool(unknownTool)) expectTypeOf(unknownTool).toEqualTypeOf<Tool.Any>()

// A definition from data gives its failure as a value, with the same inference.
expectTypeOf(Tool.makeResult("from_data", { output: Hit })).toEqualTypeOf<
  Result.Result<Tool.Tool<"from_data", Schema.Struct<{}>, typeof Hit, Schema.Never>, Tool.InvalidDefinition>
>()

// A hand-written document takes any object, or what its schema says.
const Raw = Tool.make("raw", { input: Tool.jsonSchema({ type: "object" }) })
expectTypeOf<Tool.Input<typeof Raw>>().toEqualTypeOf<Json.Object>()
const Checked = Tool.make("checked", {
  input: Tool.jsonSchema({ type: "object" }, Hit),
  output: Tool.jsonSchema({}, Schema.Int)
})
expectTypeOf<Tool.Input<typeof Checked>>().toEqualTypeOf<Hit>()
expectTypeOf<Tool.Output<typeof Checked>>().toEqualTypeOf<number>()

// A header annotation changes no type.
const Routed = Tool.make("routed", {
  input: Schema.Struct({
    region: Schema.Literals(["eu", "us"]).pipe(Tool.header("Region")),
    count: Schema.optionalKey(Schema.Int).pipe(Tool.header("Count"))
  })
})
expectTypeOf<Tool.Input<typeof Routed>>().toEqualTypeOf<{ readonly region: "eu" | "us"; readonly count?: number }>()

// Classes come out as their instances.
class Point extends Schema.Class<Point>("Point")({ x: Schema.Int }) {}
const Move = Tool.make("move", { input: Point, output: Schema.Array(Point) })
expectTypeOf<Tool.Input<typeof Move>>().toEqualTypeOf<Point>()
expectTypeOf<Tool.Output<typeof Move>>().toEqualTypeOf<ReadonlyArray<Point>>()

// Mistakes are told where they are made.
// @ts-expect-error an input is a schema
Tool.make("wrong", { input: { query: "string" } })
// @ts-expect-error there is no such hint
Tool.make("wrong", { annotations: { readonly: true } })
// @ts-expect-error there is no such option
Tool.make("wrong", { inputs: Hit })
// @ts-expect-error an icon has a source
Tool.make("wrong", { icons: [{ mimeType: "image/png" }] })
// @ts-expect-error a tool of one output is not a tool of another
const other: Tool.Tool<"search_docs", typeof Search.input, typeof Schema.Int, typeof IndexUnavailable> = Search
void other

// What a client cannot do is named by capabilities.
Tool.make("asks", { requiredCapabilities: { elicitation: { form: {} }, extensions: { "com.example/a": {} } } })
// @ts-expect-error a capability is an object
Tool.make("asks", { requiredCapabilities: { elicitation: true } })

// A failure is a failure of effects.
expectTypeOf(Tool.error("no")).toEqualTypeOf<Tool.ToolError>()
