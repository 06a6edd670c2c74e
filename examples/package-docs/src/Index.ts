import * as Effect from "effect/Effect"
import * as Path from "node:path"
import { extract, type Extracted } from "./Extract.ts"
import * as Installed from "./Installed.ts"
import { type IndexStats, messageOf, type Problem } from "./Model.ts"
import * as Progress from "./Progress.ts"
import type { Source } from "./Ranking.ts"
import * as Segment from "./Segment.ts"
import { isCurrent, Store } from "./Store.ts"

/** The indexes of all packages of a project. */
export interface Index {
  readonly store: Store
  readonly installation: Installed.Installation
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

// How long packages may be read before other fibers get their turn, in milliseconds.
const slice = 40

// Gives other fibers their turn when a slice is over.
const pauses = (): Effect.Effect<void> => {
  let since = performance.now()
  return Effect.suspend(() =>
    performance.now() - since < slice ? Effect.void : Effect.map(Effect.yieldNow, () => {
      since = performance.now()
    })
  )
}

/**
 * Takes from an earlier index and from the cache what is still true, and reads the packages that are new or have
 * changed.
 */
export const build: (options: Options, earlier?: Index) => Effect.Effect<Index> = Effect.fnUntraced(function*(
  options,
  earlier
) {
  const start = performance.now()
  const installation = Installed.find(options.project)
  const { packages } = installation
  const problems: Array<Problem> = [...installation.problems]
  const store = earlier?.store ?? new Store(
    options.cache ?? Path.join(installation.roots[0] ?? options.project, ".cache", "fairlead-package-docs")
  )
  const known = new Map(earlier?.sources.map(({ segment }) => [segment.info.label, segment]))
  const loaded = new Map<string, Source>()
  const changed: Array<Installed.Installed> = []
  const pause = pauses()
  for (const installed of packages) {
    yield* pause
    const own = known.get(installed.label)
    const segment = own !== undefined && isCurrent(own, installed) ? own : store.load(installed)
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
    installation,
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
    const pause = pauses()
    while (!(result = extracting.next()).done) {
      yield* pause
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
