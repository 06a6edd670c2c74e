/**
 * The rules about who may import whom: no circles, packages only in the direction the design draws, Node only where it
 * is allowed, modules and not barrels, nothing that package.json does not declare.
 */
import { builtinModules } from "node:module"
import * as path from "node:path"
import type { Parsed } from "./Parse.ts"
import type { Folder, Violation } from "./Workspace.ts"
import { folderOf } from "./Workspace.ts"

/** Which packages the sources of a package may import. A package that is missing here fails. */
export const allowed: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@fairlead/protocol": [],
  "@fairlead/client": ["@fairlead/protocol"],
  "@fairlead/server": ["@fairlead/protocol"],
  "@fairlead/node": ["@fairlead/protocol", "@fairlead/client", "@fairlead/server"],
  "@fairlead/testing": ["@fairlead/protocol", "@fairlead/client", "@fairlead/server"],
  "@fairlead/cli": [
    "@fairlead/protocol",
    "@fairlead/client",
    "@fairlead/server",
    "@fairlead/node",
    "@fairlead/testing"
  ]
}

/** The packages whose sources may name Node. */
export const nodePackages: ReadonlySet<string> = new Set(["@fairlead/node", "@fairlead/cli"])

const builtins = new Set(builtinModules)

const isNodeModule = (specifier: string): boolean =>
  specifier.startsWith("node:") || builtins.has(specifier) || builtins.has(specifier.split("/")[0]!)

const packageOf = (specifier: string): string =>
  specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")

const nameOfFolder = (folders: ReadonlyArray<Folder>, file: string): string | undefined =>
  folders.find((folder) => folder.path === folderOf(file))?.manifest.name

/** The file that an import names, among the files given, or undefined when it lies elsewhere. */
const resolve = (
  folders: ReadonlyArray<Folder>,
  known: ReadonlySet<string>,
  from: string,
  specifier: string
): string | undefined => {
  if (specifier.startsWith(".")) {
    const target = path.posix.join(path.posix.dirname(from), specifier).replace(/\.js$/, ".ts")
    return known.has(target) ? target : undefined
  }
  const name = packageOf(specifier)
  const folder = folders.find((candidate) => candidate.manifest.name === name)
  if (folder === undefined) return undefined
  const rest = specifier.slice(name.length + 1)
  const target = `${folder.path}/src/${rest === "" ? "index" : rest}.ts`
  return known.has(target) ? target : undefined
}

/**
 * Circular imports, as chains. Imports that the compiler erases (`import type`) do not count: nothing is loaded by
 * them.
 */
export const circles = (folders: ReadonlyArray<Folder>, modules: ReadonlyArray<Parsed>): ReadonlyArray<Violation> => {
  const known = new Set(modules.map((module) => module.path))
  const edges = new Map(modules.map((module) => [
    module.path,
    [
      ...new Set(
        module.imports.filter((i) => !i.typeOnly).flatMap((i) =>
          resolve(folders, known, module.path, i.specifier) ?? []
        )
      )
    ]
  ]))
  const done = new Set<string>()
  const found = new Map<string, Violation>()
  const visit = (file: string, trail: ReadonlyArray<string>): void => {
    const at = trail.indexOf(file)
    if (at !== -1) {
      const chain = trail.slice(at)
      const key = chain.toSorted().join()
      if (!found.has(key)) {
        found.set(key, {
          rule: "circular import",
          file,
          message: `${[...chain, file].join(" -> ")}: move what both need into a module of its own`
        })
      }
      return
    }
    if (done.has(file)) return
    for (const next of edges.get(file) ?? []) visit(next, [...trail, file])
    done.add(file)
  }
  for (const module of modules) visit(module.path, [])
  return [...found.values()]
}

/** Imports against the direction of the packages, into another package's folder, or into its internals. */
export const direction = (
  folders: ReadonlyArray<Folder>,
  modules: ReadonlyArray<Parsed>,
  table: Readonly<Record<string, ReadonlyArray<string>>> = allowed
): ReadonlyArray<Violation> => {
  const rule = "package direction"
  const names = new Set(folders.map((folder) => folder.manifest.name))
  const unknown = [...new Set(modules.map((module) => folderOf(module.path)))].flatMap((folder): Array<Violation> => {
    const name = nameOfFolder(folders, `${folder}/package.json`)
    return name !== undefined && name in table ? [] : [{
      rule,
      file: `${folder}/package.json`,
      message: `${name ?? folder} is not in the table of scripts/architecture/Imports.ts: say what it may import`
    }]
  })
  return [
    ...unknown,
    ...modules.flatMap((module) => {
      const own = nameOfFolder(folders, module.path) ?? folderOf(module.path)
      return module.imports.flatMap(({ line, specifier }): Array<Violation> => {
        const at = { rule, file: module.path, line }
        if (specifier.startsWith(".")) {
          const target = path.posix.join(path.posix.dirname(module.path), specifier)
          return target.startsWith(`${folderOf(module.path)}/src/`) ? [] : [{
            ...at,
            message: `"${specifier}" leaves the package's src: import other packages by their name`
          }]
        }
        const name = packageOf(specifier)
        if (name === own) return [{ ...at, message: `"${specifier}" is the package itself: import the file` }]
        if (!names.has(name)) return []
        if (!(table[own] ?? []).includes(name)) {
          return [{
            ...at,
            message: `${own} may not import ${name} (it may import: ${(table[own] ?? []).join(", ") || "none"})`
          }]
        }
        return /\/(internal|src|dist|revision)(\/|$)/.test(specifier)
          ? [{ ...at, message: `"${specifier}" is internal to ${name}` }]
          : []
      })
    })
  ]
}

/** Imports of Node's own modules outside the packages that may. */
export const nodeImports = (folders: ReadonlyArray<Folder>, modules: ReadonlyArray<Parsed>): ReadonlyArray<Violation> =>
  modules.flatMap((module) => {
    const own = nameOfFolder(folders, module.path) ?? folderOf(module.path)
    if (nodePackages.has(own)) return []
    return module.imports.filter((i) => isNodeModule(i.specifier) || i.specifier.startsWith("@effect/platform-")).map((
      i
    ) => ({
      rule: "no Node here",
      file: module.path,
      line: i.line,
      message: `"${i.specifier}": only ${[...nodePackages].join(" and ")} may name Node; take it as a layer`
    }))
  })

/** Sources that load a whole barrel: `effect` alone costs 370 ms where the modules cost what they are. */
export const barrels = (folders: ReadonlyArray<Folder>, modules: ReadonlyArray<Parsed>): ReadonlyArray<Violation> => {
  const names = new Set(folders.map((folder) => folder.manifest.name))
  const isBarrel = (specifier: string): boolean =>
    specifier === "effect" || /^effect\/[a-z-]+$/.test(specifier) || /^@effect\/[a-z-]+$/.test(specifier) ||
    names.has(specifier)
  return modules.flatMap((module) =>
    module.imports.filter((i) => !i.typeOnly && isBarrel(i.specifier)).map((i) => ({
      rule: "modules, not barrels",
      file: module.path,
      line: i.line,
      message: `"${i.specifier}" loads every module of it: import * as Name from "${i.specifier}/Name"`
    }))
  )
}

/** Imports of packages that the package's own package.json does not declare. */
export const undeclared = (folders: ReadonlyArray<Folder>, modules: ReadonlyArray<Parsed>): ReadonlyArray<Violation> =>
  modules.flatMap((module) => {
    const manifest = folders.find((folder) => folder.path === folderOf(module.path))?.manifest
    const declared = new Set(Object.keys({ ...manifest?.dependencies, ...manifest?.peerDependencies }))
    return module.imports
      .filter((i) => !i.specifier.startsWith(".") && !isNodeModule(i.specifier))
      .filter((i) => !declared.has(packageOf(i.specifier)) && packageOf(i.specifier) !== manifest?.name)
      .map((i) => ({
        rule: "declared dependency",
        file: module.path,
        line: i.line,
        message: `${packageOf(i.specifier)} is not in dependencies or peerDependencies of ${
          folderOf(module.path)
        }/package.json`
      }))
  })
