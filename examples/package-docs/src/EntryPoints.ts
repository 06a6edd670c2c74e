import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Manifest } from "./Installed.ts"
import type { Sources } from "./Sources.ts"

/** A module that can be imported from a package, and its declaration file. */
export interface EntryPoint {
  /** As it is imported: `effect/Effect`. */
  readonly specifier: string
  readonly file: string
}

/** Finds the declaration files of a package's modules, by its `exports`, or else its `types` and `main`. */
export const find = (sources: Sources, manifest: Manifest, label: string): ReadonlyArray<EntryPoint> => {
  const { directory } = sources
  const entries = new Map<string, string>()
  const closed: Array<RegExp> = []
  const add = (subpath: string, file: string | undefined) => {
    const specifier = subpath === "." ? label : `${label}/${subpath.replace(/^\.\//, "").replace(/\.[cm]?js$/, "")}`
    // Subpaths with an underscore are not meant for users.
    if (
      file !== undefined && !subpath.startsWith("./_") && !entries.has(specifier) &&
      !closed.some((pattern) => pattern.test(subpath))
    ) {
      entries.set(specifier, file)
    }
  }
  const map = subpaths(manifest.exports)
  // Exact subpaths are said to win over patterns, and `null` closes what a pattern opens.
  for (const [subpath, target] of map) {
    if (target === null && subpath.includes("*")) {
      closed.push(pattern(subpath))
    } else if (target === null) {
      closed.push(new RegExp(`^${escape(subpath)}$`))
    }
  }
  for (const [subpath, target] of map) {
    if (!subpath.includes("*")) {
      add(subpath, first(targets(target), (path) => declarationOf(Path.join(directory, path))))
    }
  }
  for (const [subpath, target] of map) {
    if (subpath.includes("*") && subpath !== "./*.json") {
      for (const path of targets(target)) {
        const files = expand(sources, path)
        files.forEach(([star, file]) => add(subpath.replace("*", star), declarationOf(file)))
        if (files.length > 0) {
          break
        }
      }
    }
  }
  if (!entries.has(label) && (manifest.exports === undefined || map.length === 0 || entries.size === 0)) {
    const paths = [typesOfVersions(manifest.typesVersions), manifest.types, manifest.main, "index"]
    add(".", first(paths.filter((path) => path !== undefined), (path) => declarationOf(Path.join(directory, path))))
  }
  return [...entries].map(([specifier, file]) => ({ specifier, file }))
}

/** The file that a relative import of a declaration file stands for. */
export const resolve = (from: string, specifier: string): string | undefined =>
  declarationOf(Path.resolve(Path.dirname(from), specifier))

const extensions = [[".js", ".d.ts"], [".mjs", ".d.mts"], [".cjs", ".d.cts"], [".ts", ".d.ts"], [".mts", ".d.mts"], [
  ".cts",
  ".d.cts"
]] as const

const declarationOf = (path: string): string | undefined => {
  if (/\.d\.[cm]?ts$/.test(path)) {
    return isFile(path) ? path : undefined
  }
  for (const [extension, declaration] of extensions) {
    if (path.endsWith(extension)) {
      const base = path.slice(0, -extension.length)
      return first([declaration, ".d.ts"], (suffix) => isFile(base + suffix) ? base + suffix : undefined)
    }
  }
  return first(
    [".d.ts", ".d.mts", ".d.cts", "/index.d.ts", "/index.d.mts", "/index.d.cts"],
    (suffix) => isFile(path + suffix) ? path + suffix : undefined
  )
}

const isFile = (path: string): boolean => Fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true

const first = <A, B>(values: ReadonlyArray<A>, f: (value: A) => B | undefined): B | undefined => {
  for (const value of values) {
    const result = f(value)
    if (result !== undefined) {
      return result
    }
  }
  return undefined
}

const subpaths = (exports: unknown): ReadonlyArray<readonly [string, unknown]> =>
  exports === undefined || exports === null
    ? []
    : typeof exports === "object" && !Array.isArray(exports) && Object.keys(exports).some((key) => key.startsWith("."))
    ? Object.entries(exports)
    : [[".", exports]]

// Every path that a target may stand for, those under "types" and "import" first.
const targets = (target: unknown): ReadonlyArray<string> => {
  if (typeof target === "string") {
    return [target]
  }
  if (Array.isArray(target)) {
    return target.flatMap(targets)
  }
  if (typeof target === "object" && target !== null) {
    const rank = (key: string) => key.startsWith("types") ? 0 : key === "import" ? 1 : key === "default" ? 2 : 3
    return Object.entries(target).sort(([a], [b]) => rank(a) - rank(b)).flatMap(([, value]) => targets(value))
  }
  return []
}

// The files that `./dist/*.js` stands for, with what the star is in each.
const expand = (sources: Sources, target: string): ReadonlyArray<readonly [string, string]> => {
  const [before = "", after = ""] = target.split("*")
  const base = Path.join(sources.directory, before.slice(0, before.lastIndexOf("/") + 1))
  const prefix = before.slice(before.lastIndexOf("/") + 1)
  const suffix = after === "" || after === ".ts" ? ".js" : after
  const out: Array<readonly [string, string]> = []
  const walk = (current: string, path: string) => {
    for (const entry of sources.list(current)) {
      const name = `${path}${entry.name}`
      if (entry.isDirectory() && entry.name !== "node_modules" && entry.name !== "internal") {
        walk(Path.join(current, entry.name), `${name}/`)
      } else if (entry.isFile() && name.startsWith(prefix) && name.endsWith(suffix)) {
        out.push([name.slice(prefix.length, -suffix.length), Path.join(current, entry.name)])
      }
    }
  }
  try {
    walk(base, "")
  } catch {
    // A pattern may point at a directory that was not published.
  }
  return out
}

const typesOfVersions = (versions: unknown): string | undefined => {
  if (typeof versions !== "object" || versions === null) {
    return undefined
  }
  const map: unknown = Reflect.get(versions, "*")
  const path: unknown = typeof map === "object" && map !== null ? Reflect.get(map, ".") : undefined
  return Array.isArray(path) && typeof path[0] === "string" ? path[0] : undefined
}

const escape = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&")

const pattern = (subpath: string): RegExp => new RegExp(`^${escape(subpath).replace("*", ".*")}$`)
