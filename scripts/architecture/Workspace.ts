/**
 * What the checks look at: the workspace folders that the root package.json lists, the packages among them and their
 * source files. A pattern or a package that matches nothing is an error, so that no check can pass by seeing nothing.
 */
import * as fs from "node:fs"
import * as path from "node:path"

/** The repository's root. */
export const root = path.resolve(import.meta.dirname, "../..")

/** One file, by its path from the root with forward slashes. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** One workspace folder: `packages/protocol`. */
export interface Folder {
  readonly path: string
  readonly manifest: Manifest
}

/** What the checks read of a package.json. */
export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly sideEffects?: unknown
  readonly engines?: Readonly<Record<string, string>>
  readonly exports?: unknown
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** What a check finds: the rule, where, and what to do about it. */
export interface Violation {
  readonly rule: string
  readonly file: string
  readonly line?: number
  readonly message: string
}

/** The violations as lines for a person, sorted by file. */
export const format = (violations: ReadonlyArray<Violation>): string =>
  violations
    .map((v) => `${v.file}${v.line === undefined ? "" : `:${v.line}`} [${v.rule}] ${v.message}`)
    .toSorted()
    .join("\n")

/** A file of the repository, or undefined when there is none. */
export const read = (file: string): string | undefined => {
  const full = path.join(root, file)
  return fs.existsSync(full) ? fs.readFileSync(full, "utf8") : undefined
}

const skipped = new Set(["node_modules", "dist", ".tsbuildinfo", ".cache"])

/** All files below a folder, sorted, without those that are installed or built. */
export const filesBelow = (folder: string, from = root): ReadonlyArray<string> => {
  const full = path.join(from, folder)
  if (!fs.existsSync(full)) return []
  return fs.readdirSync(full, { withFileTypes: true })
    .filter((entry) => !skipped.has(entry.name))
    .flatMap((entry) => {
      const inner = folder === "" ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? filesBelow(inner, from) : [inner]
    })
    .toSorted()
}

/** The folders of a workspace pattern: `packages/*` or a plain folder. Nothing else is understood; no match fails. */
export const expand = (pattern: string, from = root): ReadonlyArray<string> => {
  const star = pattern.endsWith("/*")
  const parent = star ? pattern.slice(0, -2) : pattern
  if (parent.includes("*")) throw new Error(`Workspace pattern "${pattern}" is not understood: use folder/* or folder`)
  const candidates = star
    ? (fs.existsSync(path.join(from, parent)) ? fs.readdirSync(path.join(from, parent)) : []).map((name) =>
      `${parent}/${name}`
    )
    : [parent]
  const found = candidates.filter((folder) => fs.existsSync(path.join(from, folder, "package.json"))).toSorted()
  if (found.length === 0) throw new Error(`Workspace pattern "${pattern}" matches no folder with a package.json`)
  return found
}

/** Every workspace folder of the root package.json. */
export const folders = (from = root): ReadonlyArray<Folder> => {
  const manifest = JSON.parse(fs.readFileSync(path.join(from, "package.json"), "utf8")) as {
    readonly workspaces?: ReadonlyArray<string>
  }
  const patterns = manifest.workspaces ?? []
  if (patterns.length === 0) throw new Error("package.json lists no workspaces")
  return patterns.flatMap((pattern) => expand(pattern, from)).map((folder) => ({
    path: folder,
    manifest: JSON.parse(fs.readFileSync(path.join(from, folder, "package.json"), "utf8")) as Manifest
  }))
}

/** The folders whose packages are published. */
export const packages = (from = root): ReadonlyArray<Folder> => {
  const found = folders(from).filter((folder) =>
    folder.path.startsWith("packages/") && folder.manifest.private !== true
  )
  if (found.length === 0) throw new Error("No published package found in packages/")
  return found
}

/** The TypeScript sources of these folders' `src`. A package without any fails. */
export const sources = (of: ReadonlyArray<Folder>, from = root): ReadonlyArray<Source> =>
  of.flatMap((folder) => {
    const files = filesBelow(`${folder.path}/src`, from).filter((file) => file.endsWith(".ts"))
    if (files.length === 0) throw new Error(`${folder.path}/src has no TypeScript file`)
    return files.map((file) => ({ path: file, text: fs.readFileSync(path.join(from, file), "utf8") }))
  })

/** The package folder of a path: `packages/protocol/src/Tool.ts` lies in `packages/protocol`. */
export const folderOf = (file: string): string => file.split("/").slice(0, 2).join("/")

/** Whether a file is a public module: directly in `src`, not the barrel. */
export const isPublicModule = (file: string): boolean =>
  /^packages\/[^/]+\/src\/[^/]+\.ts$/.test(file) && !file.endsWith("/index.ts")

/** The module's name: `packages/protocol/src/Tool.ts` is `Tool`. */
export const moduleName = (file: string): string => path.posix.basename(file, ".ts")
