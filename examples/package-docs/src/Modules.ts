import type * as Declarations from "./Declarations.ts"
import * as DeclarationFiles from "./Declarations.ts"
import * as Docstring from "./Docstring.ts"
import * as EntryPoints from "./EntryPoints.ts"
import { messageOf } from "./Model.ts"
import type { Sources } from "./Sources.ts"

/** An exported name, with all its declarations. */
export interface Exported {
  /** The specifier of the module it is imported from. */
  readonly module: string
  /** Its name there, with the names of the namespaces it is in: `Vitest.Tester`. */
  readonly name: string
  readonly declarations: ReadonlyArray<Declarations.Declaration>
  /** Members of bases that are not exported themselves. */
  readonly inherited: ReadonlyArray<Declarations.Member>
  readonly doc: Docstring.Docstring
}

/** A module that can be imported. */
export interface Module {
  readonly specifier: string
  readonly doc: Docstring.Docstring
  /** The name that another module exports it under: `export * as Effect from "./Effect"`. */
  readonly namespace: string | undefined
}

// A name found in a scope; with the scopes in which names inside of it are looked up, innermost first.
type Resolved =
  | {
    readonly type: "declarations"
    readonly declarations: Array<Declarations.Declaration>
    readonly scopes: Scopes
    /** The docstring in the list of exports. */
    readonly doc?: Docstring.Docstring
  }
  | { readonly type: "module"; readonly module: Scopes }

interface Scopes {
  /** The file, for relative imports. */
  readonly file: string
  readonly chain: ReadonlyArray<Declarations.Scope>
}

/** Follows the exports of a package's modules to what they declare, each declaration under its shortest name. */
export class Modules {
  readonly problems: Array<string> = []
  readonly modules: Array<Module> = []
  private readonly sources: Sources
  private readonly label: string
  private readonly files = new Map<string, Declarations.DeclarationFile | undefined>()
  private readonly exported = new Map<ReadonlyArray<Declarations.Declaration>, Exported & { readonly scopes: Scopes }>()
  private readonly ambient = new Map<string, Scopes>()
  private readonly namespaces = new Map<Declarations.Scope, string>()

  constructor(sources: Sources, label: string) {
    this.sources = sources
    this.label = label
  }

  /** Reads the modules; yields after each file so that the caller can do something else in between. */
  *read(entries: ReadonlyArray<EntryPoints.EntryPoint>): Generator<void, ReadonlyArray<Exported>> {
    const modules: Array<{ readonly specifier: string; readonly scopes: Scopes }> = []
    for (const { file, specifier } of entries) {
      const parsed = this.file(file)
      if (parsed !== undefined) {
        modules.push({ specifier, scopes: { file, chain: [parsed] } })
      }
      yield
    }
    // Only packages of types declare modules of other names; elsewhere such declarations add to other packages.
    if (this.label.startsWith("@types/")) {
      this.collectAmbient(modules.map(({ scopes }) => scopes.file))
      for (const [name, scopes] of this.ambient) {
        if (!name.startsWith("node:") || !this.ambient.has(name.slice(5))) {
          modules.push({ specifier: `${this.label}/${name.replace(/^node:/, "")}`, scopes })
        }
      }
    }
    const rank = (specifier: string) => specifier.split("/").length * 1000 + specifier.length
    modules.sort((a, b) => rank(a.specifier) - rank(b.specifier))
    const found = modules.map((module) => ({ ...module, exports: this.exportsOf(module.scopes) }))
    yield
    // What a module exports itself is better known by that name than as a part of a namespace of another one, and
    // what it declares itself by its own name than by that of a module which exports it again.
    for (const own of [true, false]) {
      for (const { exports, scopes, specifier } of found) {
        for (const [name, resolved] of exports) {
          if (resolved.type === "module") {
            this.namespaces.set(resolved.module.chain[0]!, this.namespaces.get(resolved.module.chain[0]!) ?? name)
          } else if (!own || specifier === this.label || resolved.scopes.file === scopes.file) {
            this.add(specifier, name, resolved)
          }
        }
      }
    }
    for (const { exports, specifier } of found) {
      for (const [name, resolved] of exports) {
        if (resolved.type === "module") {
          this.addNamespace(specifier, name, resolved.module, [])
        }
      }
    }
    for (const { scopes, specifier } of found) {
      const file = this.files.get(scopes.file)
      this.modules.push({
        specifier,
        namespace: this.namespaces.get(scopes.chain[0]!),
        doc: file !== undefined && file === scopes.chain[0] ? file.doc : Docstring.empty
      })
    }
    const out: Array<Exported> = []
    for (const exported of this.exported.values()) {
      out.push({ ...exported, inherited: this.inherited(exported.declarations, exported.scopes, new Set()) })
    }
    return out
  }

  private file(path: string): Declarations.DeclarationFile | undefined {
    if (!this.files.has(path)) {
      // Set first, so that a file which cannot be read is reported once.
      this.files.set(path, undefined)
      try {
        this.files.set(path, DeclarationFiles.parse(path, this.sources.read(path)))
      } catch (cause) {
        this.problems.push(messageOf(cause))
      }
    }
    return this.files.get(path)
  }

  private collectAmbient(files: ReadonlyArray<string>): void {
    const seen = new Set<string>()
    const visit = (path: string) => {
      const file = seen.has(path) ? undefined : this.file(path)
      seen.add(path)
      for (const [name, scope] of file?.ambient ?? []) {
        // Modules with a star are patterns such as `*.css`.
        if (!name.includes("*") && !this.ambient.has(name)) {
          this.ambient.set(name, { file: path, chain: [scope] })
        }
      }
      for (const reference of file?.references ?? []) {
        const target = EntryPoints.resolve(path, reference)
        if (target !== undefined) {
          visit(target)
        }
      }
    }
    files.forEach(visit)
  }

  private target(from: string, file: string): Scopes | undefined {
    const known = this.ambient.get(from)
    if (known !== undefined || !from.startsWith(".")) {
      return known
    }
    const path = EntryPoints.resolve(file, from)
    const parsed = path === undefined ? undefined : this.file(path)
    return path === undefined || parsed === undefined ? undefined : { file: path, chain: [parsed] }
  }

  private exportsOf(scopes: Scopes, seen: Set<Declarations.Scope> = new Set()): Map<string, Resolved> {
    const out = new Map<string, Resolved>()
    const scope = scopes.chain[0]!
    if (seen.has(scope)) {
      return out
    }
    seen.add(scope)
    const add = (name: string, resolved: Resolved | undefined) => {
      if (resolved !== undefined && !out.has(name)) {
        out.set(name, resolved)
      }
    }
    for (const [name, exported] of scope.exports) {
      if (name !== "default" && name !== "export=") {
        const resolved = this.resolveExport(scopes, exported)
        add(name, resolved?.type === "declarations" ? { ...resolved, doc: exported.doc } : resolved)
      }
    }
    for (const name of ["export=", "default"]) {
      const exported = scope.exports.get(name)
      const resolved = exported === undefined ? undefined : this.resolveExport(scopes, exported)
      if (resolved?.type === "module" && name === "export=") {
        this.exportsOf(resolved.module, seen).forEach((inner, key) => add(key, inner))
      } else if (resolved?.type === "declarations") {
        const local = exported?.local ?? exported?.from?.name ?? "default"
        add(out.has(local) || local === "*" ? "default" : local, resolved)
        const inner = resolved.declarations.find((declaration) => declaration.scope !== undefined)?.scope
        if (inner !== undefined && name === "export=") {
          this.exportsOf({ file: resolved.scopes.file, chain: [inner, ...resolved.scopes.chain] }, seen)
            .forEach((value, key) => add(key, value))
        }
      }
    }
    for (const star of scope.stars) {
      const target = this.target(star, scopes.file)
      if (target !== undefined) {
        this.exportsOf(target, seen).forEach((resolved, name) => name !== "default" && add(name, resolved))
      }
    }
    return out
  }

  private resolveExport(scopes: Scopes, exported: Declarations.Export): Resolved | undefined {
    return exported.from === undefined
      ? this.resolveName(scopes, exported.local!, new Set())
      : this.resolveImport(scopes.file, exported.from, new Set())
  }

  private resolveName(scopes: Scopes, name: string, seen: Set<string>): Resolved | undefined {
    for (let i = 0; i < scopes.chain.length; i++) {
      const declarations = scopes.chain[i]!.locals.get(name)
      if (declarations !== undefined) {
        return { type: "declarations", declarations, scopes: { file: scopes.file, chain: scopes.chain.slice(i) } }
      }
      const imported = scopes.chain[i]!.imports.get(name)
      if (imported !== undefined) {
        return this.resolveImport(scopes.file, imported, seen)
      }
    }
    return undefined
  }

  private resolveImport(file: string, imported: Declarations.Import, seen: Set<string>): Resolved | undefined {
    const target = this.target(imported.from, file)
    const key = `${target?.file} ${imported.from} ${imported.name}`
    if (target === undefined || seen.has(key)) {
      return undefined
    }
    seen.add(key)
    const scope = target.chain[0]!
    if (imported.name === "*") {
      return { type: "module", module: target }
    }
    const exported = scope.exports.get(imported.name) ??
      (imported.name === "default" ? scope.exports.get("export=") : undefined)
    if (exported?.local !== undefined) {
      return this.resolveName(target, exported.local, seen)
    }
    if (exported?.from !== undefined) {
      return this.resolveImport(target.file, exported.from, seen)
    }
    for (const star of scope.stars) {
      const resolved = this.resolveImport(target.file, { from: star, name: imported.name }, seen)
      if (resolved !== undefined) {
        return resolved
      }
    }
    return undefined
  }

  private add(module: string, name: string, resolved: Resolved & { readonly type: "declarations" }): void {
    const { declarations, scopes } = resolved
    const last = name.slice(name.lastIndexOf(".") + 1)
    const alias = declarations.every(({ signature }) => /typeof import\(/.test(signature))
    if (this.exported.has(declarations) || last.startsWith("_") || (alias && name.includes("."))) {
      return
    }
    const own = Docstring.merge(declarations.map((declaration) => declaration.doc))
    const doc = own.summary === "" && resolved.doc !== undefined && resolved.doc.summary !== "" ? resolved.doc : own
    if (!doc.internal) {
      this.exported.set(declarations, { module, name, declarations, inherited: [], doc, scopes })
    }
    for (const { scope } of declarations) {
      if (scope !== undefined && name.split(".").length < 4) {
        const inner = { file: scopes.file, chain: [scope, ...scopes.chain] }
        for (const [key, value] of this.exportsOf(inner)) {
          if (value.type === "declarations") {
            this.add(module, `${name}.${key}`, value)
          }
        }
      }
    }
  }

  private addNamespace(module: string, name: string, target: Scopes, path: ReadonlyArray<Declarations.Scope>): void {
    const scope = target.chain[0]!
    if (path.includes(scope) || path.length > 2) {
      return
    }
    for (const [key, resolved] of this.exportsOf(target)) {
      if (resolved.type === "declarations") {
        this.add(module, `${name}.${key}`, resolved)
      } else {
        this.addNamespace(module, `${name}.${key}`, resolved.module, [...path, scope])
      }
    }
  }

  private inherited(
    declarations: ReadonlyArray<Declarations.Declaration>,
    scopes: Scopes,
    seen: Set<ReadonlyArray<Declarations.Declaration>>
  ): ReadonlyArray<Declarations.Member> {
    return declarations.flatMap(({ bases }) => bases).flatMap((base) => {
      const resolved = this.resolveName(scopes, base, new Set())
      // A base that is exported has pages of its own.
      if (
        resolved?.type !== "declarations" || this.exported.has(resolved.declarations) || seen.has(resolved.declarations)
      ) {
        return []
      }
      seen.add(resolved.declarations)
      return [
        ...resolved.declarations.flatMap(({ members }) => members),
        ...this.inherited(resolved.declarations, resolved.scopes, seen)
      ]
    })
  }
}
