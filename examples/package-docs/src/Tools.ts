/**
 * The tools of the package-docs server: the same definitions declare them, register their handlers and type the calls.
 */
import { Tool } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import { PackageNotFound, PageNotFound } from "./Model.ts"

const Kind = Schema.Literals(["readme", "doc", "export"])

const Hit = Schema.Struct({
  package: Schema.String,
  version: Schema.String,
  title: Schema.String,
  kind: Kind,
  page: Schema.String.annotate({ description: "Read it with read_doc." }),
  snippet: Schema.String
})

export const SearchDocs = Tool.make("search_docs", {
  title: "Search documentation",
  description:
    "Searches the documentation of the packages installed in this project, in exactly the installed versions: "
    + "READMEs, guides, and the docstrings of everything they export. Ask in your own words.",
  input: Schema.Struct({
    query: Schema.NonEmptyString.annotate({ description: "A question or a few words." }),
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 50 })).annotate({
        description: "The most hits to return; 10 if not given."
      })
    )
  }),
  output: Schema.Struct({ hits: Schema.Array(Hit) }),
  annotations: { readOnly: true, openWorld: false }
})

export const ReadDoc = Tool.make("read_doc", {
  title: "Read a page",
  description: "Reads a page of documentation by the id that search_docs gives, or by the name of an export such as "
    + "`Effect.timeout`. Long pages are cut; `next` is the offset to go on from.",
  input: Schema.Struct({
    page: Schema.NonEmptyString,
    offset: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))
  }),
  output: Schema.Struct({
    page: Schema.String,
    package: Schema.String,
    version: Schema.String,
    title: Schema.String,
    kind: Kind,
    text: Schema.String.annotate({ description: "Markdown." }),
    next: Schema.optionalKey(Schema.Int)
  }),
  failure: PageNotFound,
  annotations: { readOnly: true, openWorld: false }
})

export const ListPackages = Tool.make("list_packages", {
  title: "List packages",
  description: "Lists the installed packages whose documentation can be searched, direct dependencies first, and those "
    + "that could not be read.",
  output: Schema.Struct({
    packages: Schema.Array(Schema.Struct({
      name: Schema.String,
      version: Schema.String,
      description: Schema.String,
      direct: Schema.Boolean.annotate({ description: "The project itself depends on it." }),
      pages: Schema.Int,
      exports: Schema.Int
    })),
    skipped: Schema.Array(Schema.Struct({ package: Schema.String, reason: Schema.String }))
  }),
  annotations: { readOnly: true, openWorld: false }
})

export const PackageExports = Tool.make("package_exports", {
  title: "List exports",
  description: "Lists what a package, or one of its modules such as `effect/Effect`, exports, with signatures.",
  input: Schema.Struct({
    package: Schema.NonEmptyString,
    filter: Schema.optionalKey(Schema.String.annotate({ description: "Words that the name or summary must have." })),
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({
        description: "The most exports to return; 200 if not given."
      })
    )
  }),
  output: Schema.Struct({
    total: Schema.Int,
    exports: Schema.Array(Schema.Struct({
      name: Schema.String,
      module: Schema.String,
      kind: Schema.String,
      signature: Schema.String,
      summary: Schema.String,
      page: Schema.String
    }))
  }),
  failure: PackageNotFound,
  annotations: { readOnly: true, openWorld: false }
})
