import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import type { Card } from "./Extract.ts"
import { firstSentence } from "./Extract.ts"
import * as Index from "./Index.ts"
import {
  type Change,
  type ExportInfo,
  type Hit,
  type IndexStats,
  type PackageChange,
  type PackageInfo,
  PackageNotFound,
  type Page,
  type PageKind,
  PageNotFound,
  type Problem
} from "./Model.ts"
import type { Output } from "./Progress.ts"
import { type Match, Ranking } from "./Ranking.ts"
import * as Segment from "./Segment.ts"
import { snippet } from "./Snippet.ts"
import * as Watch from "./Watch.ts"

export * from "./Model.ts"

/** Which project to index, and where to keep the index. */
export interface Options {
  /** The directory of the project, whose `node_modules` (or that of a directory above) is indexed. */
  readonly project: string
  /**
   * Where the index is kept, for this project only: `node_modules/.cache/fairlead-package-docs` if not given.
   */
  readonly cache?: string | undefined
  /** Where progress is shown: `process.stderr` if not given. */
  readonly progress?: Output | undefined
  /** Whether to notice what changes in `node_modules` while it runs, and to index it again. Default: no. */
  readonly watch?: boolean | undefined
}

/**
 * The documentation of the packages installed in a project, in exactly the versions that are installed: READMEs and
 * docs, and the docstrings and signatures of what their modules export.
 */
export class PackageDocs extends Context.Service<PackageDocs, {
  /** Pages that answer a question, best first, at most `limit`. */
  readonly search: (query: string, limit: number) => Effect.Effect<ReadonlyArray<Hit>>
  /** The full text of a page, by its id or the title of an export, such as `Effect.timeout`. */
  readonly read: (page: string) => Effect.Effect<Page, PageNotFound>
  /** All packages, those that the project itself depends on first. */
  readonly list: Effect.Effect<ReadonlyArray<PackageInfo>>
  /**
   * What a package exports, or one of its modules (`effect/Effect`); with a filter, only what has all its words in
   * its name, module or summary.
   */
  readonly exports: (
    packageName: string,
    filter?: string
  ) => Effect.Effect<ReadonlyArray<ExportInfo>, PackageNotFound>
  /** The modules of a package, or of all packages, as they are imported: `effect/Effect`. */
  readonly modules: (packageName?: string) => Effect.Effect<ReadonlyArray<string>>
  /** The files of a package that can be read: its READMEs, documents, changelog and `package.json`, by their paths. */
  readonly files: (packageName: string) => Effect.Effect<ReadonlyArray<string>>
  /** The ids of pages that begin with a text, at most `limit`. */
  readonly pages: (prefix: string, limit: number) => Effect.Effect<ReadonlyArray<string>>
  /** Hears of every change from now on, if changes are noticed. At most 16 wait; then indexing waits. */
  readonly changes: Effect.Effect<PubSub.Subscription<Change>, never, Scope.Scope>
  /** Packages, or parts of them, that could not be read and are left out. */
  readonly problems: Effect.Effect<ReadonlyArray<Problem>>
  /** How the index came to be. */
  readonly stats: Effect.Effect<IndexStats>
}>()("@fairlead/example-package-docs/PackageDocs") {
  /**
   * Indexes a project in the background: the layer is ready at once, and whatever is asked before the index is
   * complete waits for it. Never writes on standard output.
   */
  static readonly layer = (options: Options): Layer.Layer<PackageDocs> =>
    Layer.effect(
      PackageDocs,
      Effect.gen(function*() {
        const indexing = { ...options, progress: options.progress ?? process.stderr }
        const changes = yield* PubSub.bounded<Change>(16)
        const building = yield* Effect.forkScoped(Effect.map(Index.build(indexing), (index) => new Docs(index)))
        let current: Docs | undefined
        const docs = Effect.suspend(() => current === undefined ? Fiber.join(building) : Effect.succeed(current))
        if (options.watch === true) {
          yield* Effect.forkScoped(Effect.gen(function*() {
            const watcher = yield* Watch.make(options.project)
            let { index } = yield* Fiber.join(building)
            let mayHaveChanged = index.stats.indexed.length > 0
            while (true) {
              // What changes before its directory is watched is not heard of.
              if (!(yield* watcher.follow(index)) || !mayHaveChanged) {
                yield* watcher.changed
              }
              const next = yield* Effect.catchDefect(
                Index.build(indexing, index),
                (defect) => Effect.as(Effect.logError("node_modules could not be read again", defect), index)
              )
              const packages = difference(index, next)
              mayHaveChanged = packages.length > 0
              index = next
              current = new Docs(index)
              if (mayHaveChanged) {
                yield* PubSub.publish(changes, { packages })
              }
            }
          }))
        }
        return PackageDocs.of({
          search: (query, limit) => Effect.map(docs, (docs) => docs.search(query, limit)),
          read: (page) => Effect.flatMap(docs, (docs) => docs.read(page)),
          list: Effect.map(docs, (docs) => docs.list()),
          exports: (name, filter) => Effect.flatMap(docs, (docs) => docs.exports(name, filter)),
          modules: (name) => Effect.map(docs, (docs) => docs.modules(name)),
          files: (name) => Effect.map(docs, (docs) => docs.files(name)),
          pages: (prefix, limit) => Effect.map(docs, (docs) => docs.pages(prefix, limit)),
          changes: PubSub.subscribe(changes),
          problems: Effect.map(docs, ({ index }) => index.problems),
          stats: Effect.map(docs, ({ index }) => index.stats)
        })
      })
    )
}

// What is different between two indexes of a project.
const difference = (before: Index.Index, after: Index.Index): ReadonlyArray<PackageChange> => {
  const rest = new Map(before.sources.map((source) => [source.segment.info.label, source]))
  const out: Array<PackageChange> = []
  for (const { direct, segment } of after.sources) {
    const name = segment.info.label
    const own = rest.get(name)
    rest.delete(name)
    const pages = own?.segment === segment ? [] : Segment.changedPages(own?.segment, segment)
    if (own === undefined) {
      out.push({ name, change: "added", pages })
    } else if (pages.length > 0 || own.direct !== direct) {
      out.push({ name, change: "updated", pages })
    }
  }
  rest.forEach(({ segment }, name) =>
    out.push({ name, change: "removed", pages: Segment.changedPages(segment, undefined) })
  )
  return out
}

// Answers from a complete index.
class Docs {
  readonly index: Index.Index
  private readonly ranking: Ranking

  constructor(index: Index.Index) {
    this.index = index
    this.ranking = new Ranking(index.sources)
  }

  search(query: string, limit: number): ReadonlyArray<Hit> {
    const count = Math.max(0, Math.min(100, Math.floor(limit)))
    return count === 0 ? [] : this.ranking.search(query, count).map((match) => this.hit(match, query))
  }

  read(page: string): Effect.Effect<Page, PageNotFound> {
    const id = page.trim()
    for (const { segment } of this.candidates(id)) {
      const found = this.pageOf(segment, segment.ids.indexOf(id))
      if (found !== undefined) {
        return Effect.succeed(found)
      }
    }
    // `Effect.timeout` and `effect#Effect.timeout` are how people write it.
    const title = id.slice(id.indexOf("#") + 1)
    for (const { segment } of this.candidates(id, true)) {
      const found = this.pageOf(segment, indexOfTitle(segment, title))
      if (found !== undefined) {
        return Effect.succeed(found)
      }
    }
    const similar = this.ranking.search(id, 5).map((match) => match.segment.ids.get(match.page))
    return Effect.fail(new PageNotFound({ page, similar }))
  }

  list(): ReadonlyArray<PackageInfo> {
    return this.index.sources
      .map(({ direct, segment: { info } }) => ({
        name: info.label,
        version: info.version,
        description: info.description,
        direct,
        pages: info.pages,
        exports: info.exports
      }))
      .sort((a, b) => Number(b.direct) - Number(a.direct) || (a.name < b.name ? -1 : 1))
  }

  exports(name: string, filter?: string): Effect.Effect<ReadonlyArray<ExportInfo>, PackageNotFound> {
    const wanted = name.trim()
    const source = this.candidates(wanted)[0]
    const known = source !== undefined &&
      (source.segment.info.label === wanted || source.segment.ids.indexOf(wanted) >= 0)
    if (!known) {
      return Effect.fail(new PackageNotFound({ package: name, similar: this.similarPackages(wanted) }))
    }
    const { cards, segment } = this.cards(source.segment)
    const words = (filter ?? "").toLowerCase().split(/\s+/).filter((word) => word !== "")
    const out: Array<ExportInfo> = []
    cards.forEach((card, page) => {
      if (card.export === undefined || (wanted !== segment.info.label && card.export.module !== wanted)) {
        return
      }
      const info = { ...card.export, summary: firstSentence(card.summary), page: segment.ids.get(page) }
      const text = `${info.module} ${info.name} ${info.summary}`.toLowerCase()
      if (words.every((word) => text.includes(word))) {
        out.push(info)
      }
    })
    return Effect.succeed(out)
  }

  modules(name?: string): ReadonlyArray<string> {
    return this.index.sources.flatMap(({ segment }) =>
      name === undefined || segment.info.label === name
        ? idsOf(segment, (id, kind) => kind === "export" && !id.includes("#"))
        : []
    )
  }

  files(name: string): ReadonlyArray<string> {
    const own = this.index.sources.find(({ segment }) => segment.info.label === name)
    return own === undefined
      ? []
      : idsOf(own.segment, (id, kind) => kind !== "export" && !id.includes("#"))
        .map((id) => id.slice(name.length + 1))
  }

  pages(prefix: string, limit: number): ReadonlyArray<string> {
    const out: Array<string> = []
    for (const { segment: { ids } } of this.index.sources) {
      for (let page = ids.lowerBound(prefix); page < ids.length && out.length < limit; page++) {
        const id = ids.get(page)
        if (!id.startsWith(prefix)) {
          break
        }
        out.push(id)
      }
    }
    return out
  }

  private hit({ page, score, segment }: Match, query: string): Hit {
    const kind = Segment.kindOf(segment, page)
    const card = this.index.store.cards(segment, page, page + 1)?.[0] ?? { summary: "" }
    const text = kind === "export" && card.summary !== "" ? undefined : this.index.store.text(segment, page)
    return {
      package: segment.info.label,
      version: segment.info.version,
      title: segment.titles.get(page),
      kind,
      page: segment.ids.get(page),
      snippet: snippet(query, card, text),
      score: Math.round(score * 1000) / 1000
    }
  }

  private pageOf(segment: Segment.Segment, page: number): Page | undefined {
    if (page < 0) {
      return undefined
    }
    const id = segment.ids.get(page)
    const text = this.index.store.text(segment, page) ?? this.reloadedText(segment, id)
    return text === undefined ? undefined : {
      page: id,
      package: segment.info.label,
      version: segment.info.version,
      title: segment.titles.get(page),
      kind: Segment.kindOf(segment, page),
      text
    }
  }

  // Another process may have indexed the package again since, after it had changed.
  private reloadedText(segment: Segment.Segment, id: string): string | undefined {
    const newer = this.index.store.open(segment.info.label)
    const page = newer?.ids.indexOf(id) ?? -1
    return newer === undefined || page < 0 ? undefined : this.index.store.text(newer, page)
  }

  private cards(segment: Segment.Segment): { readonly cards: ReadonlyArray<Card>; readonly segment: Segment.Segment } {
    const cards = this.index.store.cards(segment, 0, segment.count)
    const newer = cards === undefined ? this.index.store.open(segment.info.label) : undefined
    return newer === undefined
      ? { cards: cards ?? [], segment }
      : { cards: this.index.store.cards(newer, 0, newer.count) ?? [], segment: newer }
  }

  // Packages whose name the id begins with, the longest name first; or all, if any may do.
  private candidates(id: string, any = false) {
    const named = this.index.sources
      .filter(({ segment: { info: { label } } }) =>
        id.startsWith(label) && (id.length === label.length || "/#".includes(id[label.length]!))
      )
      .sort((a, b) => b.segment.info.label.length - a.segment.info.label.length)
    return named.length > 0 || !any
      ? named
      : [...this.index.sources].sort((a, b) => Number(b.direct) - Number(a.direct))
  }

  private similarPackages(name: string): ReadonlyArray<string> {
    const lower = name.toLowerCase().replace(/^@[^/]+\//, "")
    return this.index.sources
      .map(({ segment }) => segment.info.label)
      .filter((label) => label.includes(lower) || lower.includes(label.replace(/^@[^/]+\//, "")))
      .slice(0, 5)
  }
}

const idsOf = (segment: Segment.Segment, filter: (id: string, kind: PageKind) => boolean): ReadonlyArray<string> => {
  const out: Array<string> = []
  for (let page = 0; page < segment.count; page++) {
    const id = segment.ids.get(page)
    if (filter(id, Segment.kindOf(segment, page))) {
      out.push(id)
    }
  }
  return out
}

const indexOfTitle = (segment: Segment.Segment, title: string): number => {
  for (let page = 0; page < segment.count; page++) {
    if (Segment.kindOf(segment, page) === "export" && segment.titles.get(page) === title) {
      return page
    }
  }
  return -1
}
