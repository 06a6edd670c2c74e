/** All checks over the repository as it is, by the sentence each of them shows. */
import { pinned } from "./Exports.ts"
import { barrels, circles, direction, nodeImports, undeclared } from "./Imports.ts"
import { manifests } from "./Manifests.ts"
import type { Parsed } from "./Parse.ts"
import { parse } from "./Parse.ts"
import { barrelExports, docs, revisionLiterals, tests } from "./Rules.ts"
import type { Folder, Violation } from "./Workspace.ts"
import { filesBelow, folders, packages, read, sources } from "./Workspace.ts"

/** What the checks work on. */
export interface Input {
  readonly folders: ReadonlyArray<Folder>
  readonly packages: ReadonlyArray<Folder>
  readonly modules: ReadonlyArray<Parsed>
  readonly tests: ReadonlyArray<string>
}

/** Reads and parses the sources of all published packages. */
export const load = (): Input => {
  const published = packages()
  return {
    folders: folders(),
    packages: published,
    modules: sources(published).map(parse),
    tests: published.flatMap((folder) => filesBelow(`${folder.path}/test`))
  }
}

/** Runs every check. */
export const check = (input: Input): Readonly<Record<string, ReadonlyArray<Violation>>> => ({
  "no module imports itself through others": circles(input.folders, input.modules),
  "packages import only in the direction of the design": direction(input.folders, input.modules),
  "only node and cli name Node": nodeImports(input.folders, input.modules),
  "packages import modules, not barrels": barrels(input.folders, input.modules),
  "packages import only what they declare": undeclared(input.folders, input.modules),
  "only the revision's folder names a revision": revisionLiterals(input.modules),
  "every public module has a test file of its name": tests(input.modules, input.tests),
  "every public export is documented": docs(input.modules),
  "every barrel names each module once": barrelExports(input.modules),
  "the exports are those of the pinned lists": pinned(input.modules, read),
  "every package has its settings, licence, README and version group": manifests(input.packages, read)
})
