import * as Fs from "node:fs"
import * as Path from "node:path"
import { messageOf, type Problem } from "./Model.ts"

/** What is read of a `package.json`. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly keywords: ReadonlyArray<string>
  readonly exports?: unknown
  readonly types?: string
  readonly main?: string
  readonly typesVersions?: unknown
}

/** A package in a `node_modules` directory. */
export interface Installed {
  /** Its name; with its version if the project has another version of it nearer to the top. */
  readonly label: string
  readonly directory: string
  readonly manifest: Manifest
  /** The project itself, or one of its workspaces, depends on it. */
  readonly direct: boolean
  /** It was found inside of another package. */
  readonly nested: boolean
}

/** The packages of a project, and what stands in `node_modules` but cannot be read. */
export interface Installation {
  readonly packages: ReadonlyArray<Installed>
  readonly problems: ReadonlyArray<Problem>
  /** The `node_modules` directories of the project and of those above it, the nearest one first. */
  readonly roots: ReadonlyArray<string>
}

/**
 * Finds the packages that a project can import, and those nested in them in another version. Links to the project's
 * own workspaces are left out: they are not dependencies but the code at hand. What they depend on counts as direct.
 */
export const find = (project: string): Installation => {
  const roots: Array<string> = []
  for (let directory = Path.resolve(project);;) {
    const nodeModules = Path.join(directory, "node_modules")
    if (Fs.existsSync(nodeModules)) {
      roots.push(nodeModules)
    }
    const parent = Path.dirname(directory)
    if (parent === directory) {
      break
    }
    directory = parent
  }
  const problems: Array<Problem> = []
  const found: Array<{ readonly directory: string; readonly manifest: Manifest; readonly nested: boolean }> = []
  const dependencies = new Set<string>()
  const seen = new Set<string>()
  dependenciesOf(Path.resolve(project), dependencies)

  const visit = (nodeModules: string, nested: boolean) => {
    for (const name of names(nodeModules, problems)) {
      const entry = Path.join(nodeModules, name)
      try {
        const directory = Fs.realpathSync(entry)
        if (seen.has(directory)) {
          continue
        }
        seen.add(directory)
        if (!directory.split(Path.sep).includes("node_modules")) {
          dependenciesOf(directory, dependencies)
          continue
        }
        // Also what is under a broken package is installed.
        const inner = Path.join(directory, "node_modules")
        if (Fs.existsSync(inner)) {
          visit(inner, true)
        }
        if (!Fs.existsSync(Path.join(directory, "package.json"))) {
          // Left behind by a package manager, or a directory of tools such as `.cache` without the dot.
          continue
        }
        found.push({ directory, manifest: readManifest(directory, name), nested })
      } catch (cause) {
        problems.push({ package: name, reason: messageOf(cause) })
      }
    }
  }
  roots.forEach((root) => visit(root, false))

  const taken = new Set<string>()
  const packages: Array<Installed> = []
  for (const { directory, manifest, nested } of [...found].sort((a, b) => Number(a.nested) - Number(b.nested))) {
    const label = taken.has(manifest.name) ? `${manifest.name}@${manifest.version}` : manifest.name
    const id = `${manifest.name}@${manifest.version}`
    if (taken.has(id)) {
      continue
    }
    taken.add(label)
    taken.add(id)
    packages.push({ label, directory, manifest, nested, direct: !nested && dependencies.has(manifest.name) })
  }
  return { packages, problems, roots }
}

const names = (nodeModules: string, problems: Array<Problem>): ReadonlyArray<string> => {
  const list = (directory: string) => {
    try {
      return Fs.readdirSync(directory).filter((name) => !name.startsWith(".")).sort()
    } catch (cause) {
      problems.push({ package: Path.basename(directory), reason: messageOf(cause) })
      return []
    }
  }
  return list(nodeModules).flatMap((name) =>
    name.startsWith("@") ? list(Path.join(nodeModules, name)).map((inner) => `${name}/${inner}`) : [name]
  )
}

const readManifest = (directory: string, name: string): Manifest => {
  const json: unknown = JSON.parse(Fs.readFileSync(Path.join(directory, "package.json"), "utf8"))
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new Error("package.json is not an object")
  }
  const text = (key: string): string | undefined => {
    const value: unknown = Reflect.get(json, key)
    return typeof value === "string" ? value : undefined
  }
  const types = text("types") ?? text("typings")
  const main = text("main")
  const keywords: unknown = Reflect.get(json, "keywords")
  return {
    // The name it is imported by, which is not its own one if it is installed under an alias.
    name,
    version: text("version") ?? "0.0.0",
    description: text("description") ?? "",
    keywords: Array.isArray(keywords) ? keywords.filter((keyword) => typeof keyword === "string") : [],
    exports: Reflect.get(json, "exports"),
    typesVersions: Reflect.get(json, "typesVersions"),
    ...(types === undefined ? {} : { types }),
    ...(main === undefined ? {} : { main })
  }
}

const dependenciesOf = (directory: string, into: Set<string>): void => {
  try {
    const json: unknown = JSON.parse(Fs.readFileSync(Path.join(directory, "package.json"), "utf8"))
    for (const key of ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"]) {
      const names: unknown = typeof json === "object" && json !== null ? Reflect.get(json, key) : undefined
      if (typeof names === "object" && names !== null) {
        Object.keys(names).forEach((name) => into.add(name))
      }
    }
  } catch {
    // A project without a package.json has no direct dependencies.
  }
}
