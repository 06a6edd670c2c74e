/**
 * Lays out what a program starts from, as an installation would have it: packages of plain JavaScript. The sources are
 * stripped of their types, which is what a build does to them.
 */
import * as Fs from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import * as Path from "node:path"

const root = Path.resolve(import.meta.dirname, "../..")
const home = Path.join(root, "benchmarks/.cache/start")

/** The JavaScript of a source, with the names that its imports have after a build. */
const built = (source: string): string =>
  stripTypeScriptTypes(source, { mode: "strip" }).replace(
    /(\bfrom\s+|\bimport\s*\(?\s*)"(\.{1,2}\/[^"]+)\.ts"/g,
    "$1\"$2.js\""
  )

const filesBelow = (folder: string): ReadonlyArray<string> =>
  Fs.readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => Path.relative(folder, Path.join(entry.parentPath, entry.name)))

const packages = ["protocol", "client", "server", "node"]

/** Lays everything out anew; gives the folder with the programs. */
export const install = (): string => {
  Fs.rmSync(home, { recursive: true, force: true })
  for (const name of packages) {
    const from = Path.join(root, "packages", name)
    const to = Path.join(home, "node_modules/@fairlead", name)
    for (const file of filesBelow(Path.join(from, "src"))) {
      const target = Path.join(to, "dist", file.replace(/\.ts$/, ".js"))
      Fs.mkdirSync(Path.dirname(target), { recursive: true })
      Fs.writeFileSync(target, built(Fs.readFileSync(Path.join(from, "src", file), "utf8")))
    }
    Fs.copyFileSync(Path.join(from, "package.json"), Path.join(to, "package.json"))
  }
  const programs = Path.join(import.meta.dirname, "programs")
  for (const file of filesBelow(programs)) {
    Fs.writeFileSync(
      Path.join(home, file.replace(/\.ts$/, ".js")),
      built(Fs.readFileSync(Path.join(programs, file), "utf8"))
    )
  }
  Fs.writeFileSync(Path.join(home, "package.json"), JSON.stringify({ private: true, type: "module" }))
  return home
}

/** The folder of an installed package, seen from another one. */
const folderOf = (name: string, from: string): string | undefined => {
  for (let at = from;; at = Path.dirname(at)) {
    const candidate = Path.join(at, "node_modules", name)
    if (Fs.existsSync(candidate)) return Fs.realpathSync(candidate)
    if (at === Path.dirname(at)) return undefined
  }
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const sizeOf = (folder: string): number => {
  // A workspace folder holds more than is published.
  const parts = folder.startsWith(Path.join(root, "packages")) ? ["dist", "src", "package.json", "README.md"] : [""]
  let bytes = 0
  for (const part of parts) {
    const path = Path.join(folder, part)
    if (!Fs.existsSync(path)) continue
    if (Fs.statSync(path).isFile()) bytes += Fs.statSync(path).size
    else {
      for (const file of filesBelow(path)) {
        if (!file.split(Path.sep).includes("node_modules")) bytes += Fs.statSync(Path.join(path, file)).size
      }
    }
  }
  return bytes
}

/** The bytes that packages and all that they need take on a disk; optional packages are not counted. */
export const installedBytes = (names: ReadonlyArray<string>): number => {
  const seen = new Map<string, number>()
  const visit = (name: string, from: string): void => {
    const folder = folderOf(name, from)
    if (folder === undefined || seen.has(folder)) return
    seen.set(folder, sizeOf(folder))
    const manifest = JSON.parse(Fs.readFileSync(Path.join(folder, "package.json"), "utf8")) as Manifest
    const peers = Object.keys(manifest.peerDependencies ?? {}).filter((peer) =>
      manifest.peerDependenciesMeta?.[peer]?.optional !== true
    )
    for (const dependency of [...Object.keys(manifest.dependencies ?? {}), ...peers]) visit(dependency, folder)
  }
  for (const name of names) visit(name, import.meta.dirname)
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0)
}
