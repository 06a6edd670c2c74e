import * as Schema from "effect/Schema"

/** Where a page comes from: a package's README, another document of it, or an exported declaration. */
export type PageKind = "readme" | "doc" | "export"

/** A page found by a search. */
export interface Hit {
  /** The package, with its version if the project has several. */
  readonly package: string
  readonly version: string
  /** What it is about, such as `Effect.timeout` or `Search options`. */
  readonly title: string
  readonly kind: PageKind
  /** The page's id, to be read with `read`. */
  readonly page: string
  /** What it says about the question, in a line or two. */
  readonly snippet: string
  /** How well it matches; comparable within one search only. */
  readonly score: number
}

/** The full text of a page. */
export interface Page {
  readonly page: string
  readonly package: string
  readonly version: string
  readonly title: string
  readonly kind: PageKind
  /** Markdown. */
  readonly text: string
}

/** An installed package. */
export interface PackageInfo {
  /** Its name, with its version if the project has several. */
  readonly name: string
  readonly version: string
  readonly description: string
  /** The project itself depends on it. */
  readonly direct: boolean
  /** The number of its pages that can be searched. */
  readonly pages: number
  /** The number of its exported declarations. */
  readonly exports: number
}

/** An exported declaration of a package. */
export interface ExportInfo {
  readonly name: string
  /** The specifier it is imported from, such as `effect/Effect`. */
  readonly module: string
  readonly kind: string
  /** Its declaration, cut to a line. */
  readonly signature: string
  /** The first sentence of its docstring. */
  readonly summary: string
  /** Its page's id. */
  readonly page: string
}

/** A package, or a part of one, that could not be read and was skipped. */
export interface Problem {
  readonly package: string
  readonly reason: string
}

/** How the index came to be. */
export interface IndexStats {
  /** Packages that were read, because they were new or had changed. */
  readonly indexed: ReadonlyArray<string>
  /** The number of packages taken from the cache. */
  readonly reused: number
  readonly pages: number
  readonly milliseconds: number
}

/** What has changed in `node_modules` since the last change, by package. */
export interface Change {
  readonly packages: ReadonlyArray<PackageChange>
}

/** A package that came, went, or is another now. */
export interface PackageChange {
  readonly name: string
  readonly change: "added" | "removed" | "updated"
  /** Ids of the pages that came, went, or say something else now. */
  readonly pages: ReadonlyArray<string>
}

/** There is no page of that id. */
export class PageNotFound extends Schema.TaggedError<PageNotFound>()("PageNotFound", {
  page: Schema.String,
  /** Ids that look like it. */
  similar: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `There is no page "${this.page}"${hint(this.similar)}`
  }
}

/** There is no package of that name in the project. */
export class PackageNotFound extends Schema.TaggedError<PackageNotFound>()("PackageNotFound", {
  package: Schema.String,
  /** Packages whose names look like it. */
  similar: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `There is no package "${this.package}" in the project's node_modules${hint(this.similar)}`
  }
}

const hint = (similar: ReadonlyArray<string>): string => similar.length === 0 ? "" : `; similar: ${similar.join(", ")}`

/** What went wrong, in a line, without the stack. */
export const messageOf = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n")[0]!
