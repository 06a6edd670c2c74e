/**
 * Renders the prompts: a task for the model, with the pages it needs as embedded resources.
 */
import { Content, Prompt, UriTemplate } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Completions from "./Completions.ts"
import type { Page } from "./Model.ts"
import { PackageDocs } from "./PackageDocs.ts"
import { changesSince, ExplainExport, HowDoI, versionsOf, WhatChanged } from "./Prompts.ts"
import * as Resources from "./Resources.ts"

// In characters: how much a page and a changelog may take of the model's context.
const pageLength = 12_000
const changelogLength = 40_000

const embedded = ({ page, text }: Pick<Page, "page" | "text">): Prompt.Message =>
  Prompt.user(Content.embeddedResource({
    uri: UriTemplate.expand(Resources.Page.uriTemplate, { page }),
    mimeType: "text/markdown",
    text: text.length > pageLength ? `${text.slice(0, pageLength)}\n\n… cut` : text
  }))

// A package or page that is not there is said in the error that the client gets.
const refuse = ({ message }: { readonly message: string }) => new Prompt.PromptError({ message })

const versionOf = (name: string) =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const found = (yield* docs.list).find((info) => info.name === name)
    if (found === undefined) yield* docs.exports(name)
    return found?.version ?? ""
  })

const explain = Effect.fnUntraced(
  function*(args: Prompt.Args<typeof ExplainExport>) {
    const docs = yield* PackageDocs
    const exports = yield* docs.exports(args.package)
    const found = exports.find(({ name }) => name === args.export) ??
      exports.find(({ page }) => page === args.export)
    // A member has no entry of its own in the list of exports.
    const page = yield* docs.read(found?.page ?? `${args.package}#${args.export}`)
    return {
      description: `Explains ${page.title} of ${page.package} ${page.version}`,
      messages: [
        Prompt.user(
          `Explain \`${args.export}\` of \`${args.package}\`, in version ${page.version} of ${page.package}, by its `
            + "documentation below: what it is for, how its signature reads, a short example, and when to use "
            + "something else. Say so where the documentation does not tell."
        ),
        embedded(page)
      ]
    }
  },
  Effect.mapError(refuse)
)

const explainExport = McpServer.promptHandler(
  ExplainExport,
  explain,
  {
    complete: {
      package: Completions.modules,
      export: (typed, context) =>
        Effect.gen(function*() {
          if (context.package === undefined) return []
          const docs = yield* PackageDocs
          const exports = yield* Effect.orElseSucceed(docs.exports(context.package), () => [])
          return Completions.matching([...new Set(exports.map(({ name }) => name))], typed)
        })
    }
  }
)

const howTo = Effect.fnUntraced(
  function*(args: Prompt.Args<typeof HowDoI>) {
    const docs = yield* PackageDocs
    if (args.package !== undefined) yield* versionOf(args.package)
    const task = args.task.trim().replace(/^how (?:can|do|should) (?:i|we|you) /i, "").replace(/\?$/, "")
    const query = args.package === undefined ? task : `${task} ${args.package}`
    const hits = (yield* docs.search(query, 100))
      .filter((hit) => args.package === undefined || isOf(args.package, hit))
      .slice(0, 4)
    const pages = yield* Effect.forEach(hits, ({ page }) => docs.read(page))
    const versions = [...new Set(hits.map((hit) => `${hit.package} ${hit.version}`))].join(", ")
    return {
      description: `How to ${task}`,
      messages: [
        Prompt.user(
          `How do I ${task}${args.package === undefined ? "" : ` with ${args.package}`}? Answer with a short `
            + (pages.length === 0
              ? "example. The documentation of the installed packages says nothing about it; search_docs may find more."
              : `example for the installed versions (${versions}), from the documentation below. If it does not answer `
                + "the question, search with search_docs before you guess.")
        ),
        ...pages.map(embedded)
      ]
    }
  },
  Effect.mapError(refuse)
)

const howDoI = McpServer.promptHandler(
  HowDoI,
  howTo,
  { complete: { package: Completions.packages } }
)

// A package stands for all its modules, a module for itself.
const isOf = (name: string, hit: { readonly package: string; readonly page: string }): boolean =>
  hit.package === name || hit.page === name || hit.page.startsWith(`${name}#`)

const changelogOf = (name: string) =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const path = (yield* docs.files(name)).find((path) => /^(?:change(?:s|log)?|history)\.md$/i.test(path))
    return path === undefined ? undefined : yield* docs.read(`${name}/${path}`)
  })

const changes = Effect.fnUntraced(
  function*(args: Prompt.Args<typeof WhatChanged>) {
    const version = yield* versionOf(args.package)
    const changelog = yield* changelogOf(args.package)
    const since = args.from === undefined ? "lately" : `since ${args.from}`
    const task = `What has changed in ${args.package} ${since}, up to ${version}, which is installed? Say what breaks `
      + "and how to migrate first, then what is new and worth using."
    if (changelog === undefined) {
      return `${task} The package ships no changelog, so go by its documentation: search_docs and read_doc have it.`
    }
    const text = changesSince(changelog.text, args.from, changelogLength)
    return {
      description: `What changed in ${args.package} ${since}`,
      messages: [
        Prompt.user(`${task} Its changelog:`),
        Prompt.user(text === "" ? `(It has no entry after ${args.from}.)` : text)
      ]
    }
  },
  Effect.mapError(refuse)
)

const whatChanged = McpServer.promptHandler(
  WhatChanged,
  changes,
  {
    complete: {
      package: Completions.packages,
      from: (typed, context) =>
        Effect.gen(function*() {
          if (context.package === undefined) return []
          const changelog = yield* Effect.orElseSucceed(changelogOf(context.package), () => undefined)
          return Completions.matching(versionsOf(changelog?.text ?? ""), typed)
        })
    }
  }
)

/** All prompts. */
export const layer = McpServer.handlers([explainExport, howDoI, whatChanged])
