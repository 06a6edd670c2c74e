import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Index } from "./Index.ts"
import { messageOf } from "./Model.ts"

/** The most directories that are watched; those of direct dependencies come first. */
export const maxDirectories = 1024

// An installation touches many files: it is looked at when nothing has happened for a while, or after a longer while.
const quiet = "300 millis"
const longest = 5000

/** Tells that something may have changed in `node_modules`. */
export interface Watcher {
  /** Watches the directories of an index, and no longer those it does not have; says whether there are new ones. */
  readonly follow: (index: Index) => Effect.Effect<boolean>
  /** Waits until something has happened since the last time, and is over. */
  readonly changed: Effect.Effect<void>
}

/** Makes a watcher that watches nothing yet. Its watches are closed with the scope. */
export const make: (project: string) => Effect.Effect<Watcher, never, Scope.Scope> = Effect.fnUntraced(
  function*(project) {
    const events = yield* Queue.sliding<void>(1)
    const watches = new Map<string, Fs.FSWatcher>()
    let complained = false
    yield* Effect.addFinalizer(() => Effect.sync(() => watches.forEach((watch) => watch.close())))

    const close = (directory: string) => {
      watches.get(directory)?.close()
      watches.delete(directory)
    }
    const open = (directory: string, isOfInterest: (name: string) => boolean): string | undefined => {
      try {
        const watch = Fs.watch(directory, { persistent: false }, (_, name) => {
          if (name === null || isOfInterest(name)) {
            Queue.offerUnsafe(events, undefined)
          }
        })
        // A directory that is removed: what is above it tells.
        watch.on("error", () => close(directory))
        watches.set(directory, watch)
        return undefined
      } catch (cause) {
        return Fs.existsSync(directory) ? messageOf(cause) : undefined
      }
    }

    return {
      follow: (index) =>
        Effect.suspend(() => {
          const wanted = directoriesOf(project, index)
          for (const [directory, watch] of watches) {
            // One that was replaced has to be watched anew.
            if (!wanted.has(directory) || !isSame(watch, directory)) {
              close(directory)
            }
          }
          let isNew = false
          let refused: string | undefined
          for (const [directory, isOfInterest] of wanted) {
            if (watches.has(directory)) {
              continue
            }
            refused = open(directory, isOfInterest)
            if (refused !== undefined) {
              break
            }
            isNew = remember(watches.get(directory), directory) || isNew
          }
          if (refused === undefined || complained) {
            return Effect.succeed(isNew)
          }
          complained = true
          return Effect.as(
            Effect.logWarning(`Some changes in node_modules will be noticed at the next start only: ${refused}`),
            isNew
          )
        }),
      changed: Effect.gen(function*() {
        yield* Queue.take(events)
        const since = yield* Clock.currentTimeMillis
        while ((yield* Clock.currentTimeMillis) - since < longest) {
          if (Option.isNone(yield* Effect.timeoutOption(Queue.take(events), quiet))) {
            return
          }
        }
      })
    }
  }
)

// Which directory a watch is for: a path can be another directory later.
const inodes = new WeakMap<Fs.FSWatcher, number>()

const remember = (watch: Fs.FSWatcher | undefined, directory: string): boolean => {
  const inode = Fs.statSync(directory, { throwIfNoEntry: false })?.ino
  if (watch === undefined || inode === undefined) {
    return false
  }
  inodes.set(watch, inode)
  return true
}

const isSame = (watch: Fs.FSWatcher, directory: string): boolean =>
  inodes.get(watch) === Fs.statSync(directory, { throwIfNoEntry: false })?.ino

// Package managers write these when they are done; the rest that begins with a dot is caches, such as our own.
const marks = new Set([".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml"])

// The directories to watch, with which names in them are of interest.
const directoriesOf = (
  project: string,
  { installation, sources }: Index
): ReadonlyMap<string, (name: string) => boolean> => {
  const out = new Map<string, (name: string) => boolean>()
  const add = (directory: string, isOfInterest: (name: string) => boolean) => {
    if (out.size < maxDirectories && !out.has(directory)) {
      out.set(directory, isOfInterest)
    }
  }
  const isPackage = (name: string) => !name.startsWith(".") || marks.has(name)
  add(project, (name) => name === "node_modules" || name === "package.json")
  installation.roots.forEach((root) => add(root, isPackage))
  for (const { directory } of installation.packages) {
    const parent = Path.dirname(directory)
    if (Path.basename(parent).startsWith("@")) {
      add(parent, isPackage)
    }
  }
  // One that cannot be read may be mended.
  for (const root of installation.roots) {
    installation.problems.forEach((problem) => add(Path.join(root, problem.package), () => true))
  }
  const directFirst = [...sources].sort((a, b) => Number(b.direct) - Number(a.direct))
  for (const { segment: { info } } of directFirst) {
    add(info.directory, (name) => name !== "node_modules")
    for (const path of info.paths) {
      add(Path.join(info.directory, Path.dirname(`${path}.`)), (name) => name !== "node_modules")
    }
  }
  return out
}
