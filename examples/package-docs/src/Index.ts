import * as Effect from "effect/Effect"
import * as Path from "node:path"
import { extract, type Extracted } from "./Extract.ts"
import * as Installed from "./Installed.ts"
import { type IndexStats, messageOf, type Problem } from "./Model.ts"
import * as Progress from "./Progress.ts"
import type { Source } from "./Ranking.ts"
import * as Segment from "./Segment.ts"
import { Store } from "./Store.ts"

/** The indexes of all packages of a project. */
export interface Index {
  readonly store: Store
  readonly sources: ReadonlyArray<Source>
  readonly problems: ReadonlyArray<Problem>
  readonly stats: IndexStats
}

/** Where the packages are, and where their indexes are kept. */
export interface Options {
  readonly project: string
  readonly cache?: string | undefined
  readonly progress: Progress.Output
}

// How long a package may be read before other fibers get their turn, in milliseconds.
const slice = 40

/** Takes from the cache what is still true, and reads the packages that are new or have changed. */
export const build: (options: Options) => Effect.Effect<Index> = Effect.fnUntraced(function*(options) {
  const start = performance.now()
  const { nodeModules, packages, problems: broken } = Installed.find(options.project)
  const problems: Array<Problem> = [...broken]
  const store = new Store(
    options.cache ?? Path.join(nodeModules ?? options.project, ".cache", "fairlead-package-docs")
  )
  const loaded = new Map<string, Source>()
  const changed: Array<Installed.Installed> = []
  for (const installed of packages) {
    const segment = store.load(installed.label, installed.directory, installed.manifest.version)
    if (segment === undefined) {
      changed.push(installed)
    } else {
      loaded.set(installed.label, { segment, direct: installed.direct, nested: installed.nested })
    }
  }
  const reused = loaded.size
  if (changed.length > 0) {
    const progress: Progress.Progress = { total: changed.length, done: 0, current: "" }
    const read = Effect.fnUntraced(function*(installed: Installed.Installed) {
      progress.current = installed.label
      const segment = yield* readPackage(installed, store, problems)
      progress.done++
      if (segment !== undefined) {
        loaded.set(installed.label, { segment, direct: installed.direct, nested: installed.nested })
      }
    })
    yield* Progress.show(progress, options.progress).pipe(
      Effect.andThen(Effect.forEach(changed, read, { discard: true })),
      Effect.scoped
    )
  }
  // A cache that can only be read is no reason not to answer.
  yield* Effect.ignore(Effect.try(() => store.prune(packages.map(({ label }) => label))))
  const sources = packages.flatMap(({ label }) => loaded.get(label) ?? [])
  sources.forEach(({ segment }) => problems.push(...segment.info.problems))
  return {
    store,
    sources,
    problems,
    stats: {
      indexed: changed.map(({ label }) => label),
      reused,
      pages: sources.reduce((sum, { segment }) => sum + segment.info.pages, 0),
      milliseconds: performance.now() - start
    }
  }
})

const readPackage = Effect.fnUntraced(
  function*(installed: Installed.Installed, store: Store, problems: Array<Problem>) {
    const extracting = extract(installed)
    let result: IteratorResult<void, Extracted>
    let since = performance.now()
    while (!(result = extracting.next()).done) {
      if (performance.now() - since > slice) {
        yield* Effect.yieldNow
        since = performance.now()
      }
    }
    yield* Effect.yieldNow
    const unsaved = store.save(installed.label, Segment.encode(installed, result.value))
    if (unsaved !== undefined && !problems.some(({ reason }) => reason === unsaved)) {
      problems.push({ package: installed.label, reason: `its index could not be stored: ${unsaved}` })
    }
    return store.open(installed.label)
  },
  // A package that makes the reader fail is skipped: the others are of use without it.
  (effect, installed, _store, problems) =>
    Effect.catchDefect(effect, (defect) =>
      Effect.sync(() => {
        problems.push({ package: installed.label, reason: messageOf(defect) })
        return undefined
      }))
)
