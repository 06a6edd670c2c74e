/**
 * The resources of the package-docs server: the pages of the documentation by their URIs, and the READMEs of direct
 * dependencies as a list that a host can show.
 */
import { Resource, UriTemplate } from "@fairlead/protocol"
import * as Schema from "effect/Schema"
import type { ExportInfo, PackageChange, PackageInfo } from "./Model.ts"

const Package = Schema.NonEmptyString.annotate({ description: "As it is installed: `effect`, `@effect/vitest`." })

/** All packages, in a table. */
export const Packages = Resource.make("npm://packages", {
  name: "packages",
  title: "Installed packages",
  description: "The packages installed in this project, direct dependencies first, with versions.",
  mimeType: "text/markdown"
})

// `{+package}` and not `{package}`: the name of a scoped package has a slash, which stays as it is.

/** The README of a package. */
export const Readme = Resource.template("npm://{+package}/readme", {
  name: "readme",
  title: "README of a package",
  mimeType: "text/markdown",
  params: Schema.Struct({ package: Package })
})

/** The `package.json` of a package. */
export const Manifest = Resource.template("npm://{+package}/package.json", {
  name: "manifest",
  title: "package.json of a package",
  mimeType: "application/json",
  params: Schema.Struct({ package: Package })
})

/** A file of a package's documentation. */
export const Document = Resource.template("npm://{+package}/docs/{+path}", {
  name: "document",
  title: "Document of a package",
  description: "A README, guide, example or changelog, by its path in the package.",
  params: Schema.Struct({
    package: Package,
    path: Schema.NonEmptyString.annotate({ description: "From the package's directory: `CHANGELOG.md`." })
  })
})

/** What a package or a module exports. */
export const Exports = Resource.template("npm://{+module}/exports", {
  name: "exports",
  title: "Exports of a package or module",
  description: "What it exports, with signatures; of a large package its modules.",
  mimeType: "text/markdown",
  params: Schema.Struct({
    module: Schema.NonEmptyString.annotate({ description: "As it is imported: `fast-check`, `effect/Effect`." })
  })
})

/** Any page by its id. */
export const Page = Resource.template("npm://{+page}", {
  name: "page",
  title: "Page of documentation",
  description: "A section of a document or an export, by the id that search_docs gives.",
  mimeType: "text/markdown",
  params: Schema.Struct({
    page: Schema.NonEmptyString.annotate({
      description: "`effect/Effect#timeout`, `eventsource-parser/README.md#usage`."
    })
  })
})

/** The README of a package as a resource of its own. */
export const readmeOf = ({ description, name, version }: PackageInfo, size: number): Resource.Resource =>
  Resource.make(UriTemplate.expand(Readme.uriTemplate, { package: name }), {
    name: `${name} README`,
    title: `${name} ${version}`,
    description: description === "" ? undefined : description,
    mimeType: "text/markdown",
    size
  })

/** The URIs of what says something else since a package has changed. */
export const changedUris = ({ name, pages }: PackageChange): ReadonlySet<string> => {
  const uris = new Set<string>()
  for (const page of pages) {
    uris.add(UriTemplate.expand(Page.uriTemplate, { page }))
    const [file = "", anchor] = page.split("#")
    if (file.startsWith(`${name}/`) && isFile(file) && anchor === undefined) {
      const path = file.slice(name.length + 1)
      uris.add(UriTemplate.expand(Document.uriTemplate, { package: name, path }))
      if (path === "package.json") {
        uris.add(UriTemplate.expand(Manifest.uriTemplate, { package: name }))
      } else if (isReadme(path)) {
        uris.add(UriTemplate.expand(Readme.uriTemplate, { package: name }))
      }
    } else if (!isFile(file)) {
      uris.add(UriTemplate.expand(Exports.uriTemplate, { module: file }))
      uris.add(UriTemplate.expand(Exports.uriTemplate, { module: name }))
    }
  }
  return uris
}

/** Whether a file of a package is its README. */
export const isReadme = (path: string): boolean => /^readme\.(?:md|markdown)$/i.test(path)

const isFile = (id: string): boolean => /\.(?:md|markdown|json|[cm]?tsx?)$/i.test(id)

/** The packages as Markdown. */
export const packageList = (packages: ReadonlyArray<PackageInfo>): string =>
  [
    "# Installed packages",
    "",
    ...packages.map(({ description, direct, name, version }) =>
      `- \`${name}\` ${version}${direct ? " (direct)" : ""}${description === "" ? "" : `: ${description}`}`
    )
  ].join("\n")

// More than that are shown by module.
const mostExports = 500

/** What a package or module exports, as Markdown. */
export const exportList = (name: string, exports: ReadonlyArray<ExportInfo>): string => {
  const modules = Map.groupBy(exports, ({ module }) => module)
  if (exports.length > mostExports && modules.size > 1) {
    return [
      `# Modules of ${name}`,
      "",
      ...[...modules].map(([module, inside]) =>
        `- \`${module}\`: ${inside.length} exports, ${UriTemplate.expand(Exports.uriTemplate, { module })}`
      )
    ].join("\n")
  }
  return [
    `# Exports of ${name}`,
    ...[...modules].flatMap(([module, inside]) => [
      `\n## ${module}\n`,
      ...inside.map(({ kind, name, signature, summary }) =>
        `- \`${name}\` (${kind})${summary === "" ? "" : `: ${summary}`}\n  \`${signature}\``
      )
    ])
  ].join("\n")
}
