/** What a user of `Resource` relies on the compiler for. It is compiled with the tests and never run. */
import { Resource } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { expectTypeOf } from "vitest"

const Page = Resource.template("book://{title}/{page}{?draft}", {
  name: "page",
  params: Schema.Struct({ title: Schema.String, page: Schema.Int, draft: Schema.optionalKey(Schema.Boolean) })
})

// The parameters are those of the schema, on the decoded side.
interface PageParams {
  readonly title: string
  readonly page: number
  readonly draft?: boolean
}
expectTypeOf<Resource.Params<typeof Page>>().toEqualTypeOf<PageParams>()
expectTypeOf(Page.codec.Type).toEqualTypeOf<PageParams>()

// Without a schema each is a text.
const Plain = Resource.template("book://{title}", { name: "plain" })
expectTypeOf<Resource.Params<typeof Plain>>().toEqualTypeOf<{ readonly [x: string]: string }>()

// Any template is one of `AnyTemplate`, and no resource is.
const templates: ReadonlyArray<Resource.AnyTemplate> = [Page, Plain]
expectTypeOf(templates).toEqualTypeOf<ReadonlyArray<Resource.AnyTemplate>>()
// @ts-expect-error: a resource has one URI
export const wrong: Resource.AnyTemplate = Resource.make("book://all", { name: "all" })

// @ts-expect-error: a name is needed
Resource.make("book://all", {})
// @ts-expect-error: a template has no size
Resource.template("book://{title}", { name: "plain", size: 1 })
// @ts-expect-error: a hint is public or private
Resource.make("book://all", { name: "all", cache: { scope: "shared" } })
