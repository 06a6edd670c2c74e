/**
 * Answers reads of the resources and completes the parameters of their templates.
 */
import { type Content, Resource } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Completions from "./Completions.ts"
import { PackageDocs } from "./PackageDocs.ts"
import * as Resources from "./Resources.ts"

const notFound = new Resource.NotFound()

/** A page by its id alone: a resource has one URI, by which it is told of, so other names for it have none. */
const pageText = (page: string) =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const found = yield* Effect.mapError(docs.read(page), () => notFound)
    return found.page === page ? found.text : yield* Effect.fail(notFound)
  })

/** The README of a package. */
export const readme = (name: string) =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const path = (yield* docs.files(name)).find(Resources.isReadme)
    return path === undefined ? yield* Effect.fail(notFound) : yield* pageText(`${name}/${path}`)
  })

const mimeTypeOf = (path: string): string =>
  /\.(?:md|markdown)$/i.test(path)
    ? "text/markdown"
    : /\.json$/i.test(path)
    ? "application/json"
    : "text/plain"

/** All resources and templates but the READMEs that are listed. */
export const layer = McpServer.handlers([
  McpServer.resourceHandler(
    Resources.Packages,
    () => Effect.flatMap(PackageDocs, (docs) => Effect.map(docs.list, Resources.packageList))
  ),
  McpServer.templateHandler(Resources.Readme, (params) => readme(params.package), {
    complete: { package: Completions.packages }
  }),
  McpServer.templateHandler(Resources.Manifest, (params) => pageText(`${params.package}/package.json`), {
    complete: { package: Completions.packages }
  }),
  McpServer.templateHandler(
    Resources.Document,
    ({ path, ...params }, uri) =>
      Effect.gen(function*() {
        const docs = yield* PackageDocs
        if (!(yield* docs.files(params.package)).includes(path)) return yield* Effect.fail(notFound)
        const text = yield* pageText(`${params.package}/${path}`)
        const contents: Content.ResourceContents = { uri, mimeType: mimeTypeOf(path), text }
        return [contents]
      }),
    {
      complete: {
        package: Completions.packages,
        path: (typed, context) =>
          Effect.gen(function*() {
            const docs = yield* PackageDocs
            return context.package === undefined
              ? []
              : Completions.matching(yield* docs.files(context.package), typed)
          })
      }
    }
  ),
  McpServer.templateHandler(
    Resources.Exports,
    ({ module }) =>
      Effect.gen(function*() {
        const docs = yield* PackageDocs
        return Resources.exportList(module, yield* Effect.mapError(docs.exports(module), () => notFound))
      }),
    { complete: { module: Completions.modules } }
  ),
  McpServer.templateHandler(Resources.Page, ({ page }) => pageText(page), {
    complete: { page: (typed) => Effect.flatMap(PackageDocs, (docs) => docs.pages(typed, 1000)) }
  })
])
