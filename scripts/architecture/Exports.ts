/**
 * The pinned list of what each package exports, in `packages/x/exports.snapshot.json`: module by module, each name with
 * its kind. A change of the public surface then shows in a diff of its own. `npm run architecture:update` rewrites it.
 */
import type { Parsed } from "./Parse.ts"
import { exportsOf } from "./Parse.ts"
import type { Violation } from "./Workspace.ts"
import { folderOf, isPublicModule, moduleName } from "./Workspace.ts"

/** Module name to the sorted list of its exports, `value make` or `type Options`. */
export type Snapshot = Readonly<Record<string, ReadonlyArray<string>>>

/** Where a package's list lies. */
export const snapshotFile = (folder: string): string => `${folder}/exports.snapshot.json`

/** What the public modules of one package export now. */
export const current = (modules: ReadonlyArray<Parsed>): Snapshot =>
  Object.fromEntries(
    modules.filter((module) => isPublicModule(module.path))
      .map((module): [string, ReadonlyArray<string>] => [
        moduleName(module.path),
        [...new Set(exportsOf(module, modules).map((e) => `${e.kind} ${e.name}`))].toSorted()
      ])
      .toSorted(([a], [b]) => a < b ? -1 : 1)
  )

/** The list as it is written. */
export const render = (snapshot: Snapshot): string => `${JSON.stringify(snapshot, null, 2)}\n`

/** Differences between the lists and what the packages export. */
export const pinned = (
  modules: ReadonlyArray<Parsed>,
  read: (file: string) => string | undefined
): ReadonlyArray<Violation> =>
  [...new Set(modules.map((module) => folderOf(module.path)))].flatMap((folder): Array<Violation> => {
    const rule = "pinned exports"
    const file = snapshotFile(folder)
    const text = read(file)
    if (text === undefined) return [{ rule, file, message: "there is no such list: npm run architecture:update" }]
    const before = JSON.parse(text) as Snapshot
    const now = current(modules.filter((module) => folderOf(module.path) === folder))
    const flat = (snapshot: Snapshot) =>
      new Set(Object.entries(snapshot).flatMap(([name, list]) => list.map((entry) => `${name}: ${entry}`)))
    const [old, fresh] = [flat(before), flat(now)]
    const hint = "if this is meant: npm run architecture:update, and commit the list with the change"
    return [
      ...[...fresh].filter((entry) => !old.has(entry)).map((entry) => ({
        rule,
        file,
        message: `${entry} is exported and not in the list; ${hint}`
      })),
      ...[...old].filter((entry) => !fresh.has(entry)).map((entry) => ({
        rule,
        file,
        message: `${entry} is in the list and no longer exported; ${hint}`
      }))
    ]
  })
