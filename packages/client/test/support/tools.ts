import * as Tool from "@fairlead/protocol/Tool"
import * as Schema from "effect/Schema"

export class IndexUnavailable extends Schema.TaggedError<IndexUnavailable>()("IndexUnavailable", {
  retryAfterSeconds: Schema.Int
}) {}

export const Search = Tool.make("search_docs", {
  input: Schema.Struct({ query: Schema.NonEmptyString, limit: Schema.optionalKey(Schema.Int) }),
  output: Schema.Struct({ titles: Schema.Array(Schema.String) }),
  failure: IndexUnavailable
})

/** A tool that answers with content alone. */
export const Greet = Tool.make("greet", { input: Schema.Struct({ name: Schema.String }) })

/** A tool with date and header. */
export const Route = Tool.make("route", {
  input: Schema.Struct({
    region: Schema.String.pipe(Tool.header("Region")),
    since: Schema.optionalKey(Schema.Date)
  }),
  output: Schema.Struct({ at: Schema.Date })
})
