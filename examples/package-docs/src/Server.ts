/**
 * The package-docs server: the handlers of its tools, and the endpoint that serves them with resources and prompts.
 */
import { Content, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LiveCatalog from "./LiveCatalog.ts"
import { PackageDocs } from "./PackageDocs.ts"
import * as PromptHandlers from "./PromptHandlers.ts"
import * as ResourceHandlers from "./ResourceHandlers.ts"
import { ListPackages, PackageExports, ReadDoc, SearchDocs } from "./Tools.ts"

/** The most characters of a page in one answer; a model's context is small. */
const pageLength = 60_000

const searchDocs = McpServer.tool(SearchDocs, ({ limit, query }) =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const hits = (yield* docs.search(query, limit ?? 10)).map(({ score: _, ...hit }) => hit)
    const lines = hits.map(({ page, snippet, title, version, ...hit }) =>
      `- ${title} (${hit.package} ${version})\n  ${page}\n  ${snippet}`
    )
    return Tool.reply({ hits }, {
      content: [Content.text(lines.length === 0 ? "Nothing was found." : lines.join("\n"))]
    })
  }))

const readDoc = McpServer.tool(ReadDoc, ({ offset = 0, page }) =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const found = yield* docs.read(page)
    const end = offset + pageLength
    const text = found.text.slice(offset, end)
    const output = end < found.text.length ? { ...found, text, next: end } : { ...found, text }
    return Tool.reply(output, { content: [Content.text(text)] })
  }))

const listPackages = McpServer.tool(ListPackages, () =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    return { packages: yield* docs.list, skipped: yield* docs.problems }
  }))

const packageExports = McpServer.tool(PackageExports, ({ filter, limit = 200, ...input }) =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const all = yield* docs.exports(input.package, filter)
    return { total: all.length, exports: all.slice(0, limit) }
  }))

const tools = Layer.mergeAll(searchDocs, readDoc, listPackages, packageExports)

/** The endpoint; whose documentation it serves is up to `PackageDocs`. */
export const endpoint = LiveCatalog.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(tools, ResourceHandlers.layer, PromptHandlers.layer).pipe(
      McpEndpoint.serve({
        name: "package-docs",
        version: "0.1.0",
        title: "Package documentation",
        instructions: "Ask here before you use a package: the answers are for exactly the versions that are installed."
      })
    )
  )
)
