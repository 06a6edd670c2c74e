import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { Card } from "./Extract.ts"
import { firstSentence } from "./Extract.ts"
import * as Index from "./Index.ts"
import {
  type ExportInfo,
  type Hit,
  type IndexStats,
  type PackageInfo,
  PackageNotFound,
  type Page,
  PageNotFound,
  type Problem
} from "./Model.ts"
import type { Output } from "./Progress.ts"
import { type Match, Ranking } from "./Ranking.ts"
import * as Segment from "./Segment.ts"
import { snippet } from "./Snippet.ts"

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
        const building = yield* Effect.forkScoped(
          Effect.map(Index.build({ ...options, progress: options.progress ?? process.stderr }), (index) =>
            new Docs(index))
        )
        const docs = Fiber.join(building)
        return PackageDocs.of({
          search: (query, limit) =>
            Effect.map(docs, (docs) => docs.search(query, limit)),
          read: (page) => Effect.flatMap(docs, (docs) => docs.read(page)),
          list: Effect.map(docs, (docs) => docs.list()),
          exports: (name, filter) => Effect.flatMap(docs, (docs) => docs.exports(name, filter)),
          problems: Effect.map(docs, ({ index }) => index.problems),
          stats: Effect.map(docs, ({ index }) => index.stats)
        })
      })
    )
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

const indexOfTitle = (segment: Segment.Segment, title: string): number => {
  for (let page = 0; page < segment.count; page++) {
    if (Segment.kindOf(segment, page) === "export" && segment.titles.get(page) === title) {
      return page
    }
  }
  return -1
}
