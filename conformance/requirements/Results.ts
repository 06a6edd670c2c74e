/**
 * What the tests showed when they last ran, kept in one file that each run brings up to date for the test files it ran.
 */
import { createHash } from "node:crypto"
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** How a test ended. */
export type TestState = "passed" | "failed" | "skipped"

/** A test that claims to show something. */
export interface TaggedTest {
  /** The title with its suites, without the claims. */
  readonly title: string
  readonly state: TestState
  readonly claims: ReadonlyArray<string>
}

/** The last run of one test file. */
export interface FileResult {
  /** Digest of the test file when it ran. */
  readonly digest: string
  readonly tests: ReadonlyArray<TaggedTest>
}

/** The results by test file, relative to the repository. */
export interface Results {
  readonly version: 1
  readonly files: { readonly [file: string]: FileResult }
}

/** Where results are kept, relative to the repository. */
export const resultsFile = ".requirements/results.json"

/** Digest of a test file, to tell whether its results are still about it; `undefined` when it is gone. */
export const digestOf = (path: string): string | undefined => {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex").slice(0, 16)
  } catch {
    return undefined
  }
}

/** Reads results; `undefined` when there are none or they cannot be read. */
export const readResults = (path: string): Results | undefined => {
  try {
    const results = JSON.parse(readFileSync(path, "utf8")) as Results
    return results.version === 1 && typeof results.files === "object" ? results : undefined
  } catch {
    return undefined
  }
}

/** Replaces the entries of the files that a run covered and keeps the others. */
export const mergeResults = (earlier: Results | undefined, ran: Results["files"]): Results => {
  const files = Object.entries({ ...earlier?.files, ...ran }).sort(([a], [b]) => a < b ? -1 : 1)
  return { version: 1, files: Object.fromEntries(files) }
}

/** Writes results in one step, so that a reader never sees half of them. */
export const writeResults = (path: string, results: Results): void => {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, `${JSON.stringify(results, null, 2)}\n`)
  renameSync(temporary, path)
}

/** Test files that have no results, or none of what they contain now. */
export interface Staleness {
  /** Files that claim something and were not run. */
  readonly missing: ReadonlyArray<string>
  /** Files that changed after they were run. */
  readonly changed: ReadonlyArray<string>
}

/** Splits results into those that still hold and the files to run again; those of files that are gone are dropped. */
export const currentResults = (
  root: string,
  projects: ReadonlyArray<string>,
  results: Results | undefined
): { readonly results: Results; readonly stale: Staleness } => {
  const files: Record<string, FileResult> = {}
  const changed: Array<string> = []
  for (const [file, result] of Object.entries(results?.files ?? {})) {
    const digest = digestOf(join(root, file))
    if (digest === result.digest) files[file] = result
    else if (digest !== undefined) changed.push(file)
  }
  const missing = projects
    .flatMap((project) => globSync(`${project}/test/**/*.test.ts`, { cwd: root }))
    .filter((file) => results?.files[file] === undefined)
    .filter((file) => /\bverifies\(/.test(readFileSync(join(root, file), "utf8")))
    .sort()
  return { results: { version: 1, files }, stale: { missing, changed: changed.sort() } }
}
