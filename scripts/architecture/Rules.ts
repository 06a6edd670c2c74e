/**
 * The rules about single modules: revisions are named in one folder, every public module is tested, every public
 * export is documented, the barrel names each module once.
 */
import type { Parsed } from "./Parse.ts"
import { exportsOf } from "./Parse.ts"
import type { Violation } from "./Workspace.ts"
import { folderOf, isPublicModule, moduleName } from "./Workspace.ts"

/** The one folder that may name revisions. */
export const revisionFolder = "packages/protocol/src/revision/"

/** Dates such as those that name a revision, outside its folder. Comments may name one: a link to the text has it. */
export const revisionLiterals = (modules: ReadonlyArray<Parsed>): ReadonlyArray<Violation> =>
  modules.filter((module) => !module.path.startsWith(revisionFolder)).flatMap((module) =>
    module.code.split("\n").flatMap((text, index): Array<Violation> => {
      const found = /\b\d{4}-\d{2}-\d{2}\b/.exec(text)
      return found === null ? [] : [{
        rule: "revision literal",
        file: module.path,
        line: index + 1,
        message: `"${found[0]}": only ${revisionFolder} names a revision; import what you need from a module there`
      }]
    })
  )

/** Public modules without a test file of their name. A module of types alone may have a `.tst.ts` instead. */
export const tests = (modules: ReadonlyArray<Parsed>, files: ReadonlyArray<string>): ReadonlyArray<Violation> => {
  const known = new Set(files)
  return modules.filter((module) => isPublicModule(module.path)).flatMap((module): Array<Violation> => {
    const base = `${folderOf(module.path)}/test/${moduleName(module.path)}`
    const typesOnly = exportsOf(module, modules).every((e) => e.kind === "type")
    if (known.has(`${base}.test.ts`) || (typesOnly && known.has(`${base}.tst.ts`))) return []
    return [{
      rule: "module has a test",
      file: module.path,
      message: `there is no ${base}.test.ts${typesOnly ? ` or ${base}.tst.ts` : ""}`
    }]
  })
}

const hasText = (doc: string): boolean => {
  const text = doc.split(/^@/m)[0]!.trim()
  return text.length > 0
}

const docProblem = (doc: string | undefined): string | undefined => {
  if (doc === undefined) return "has no docstring"
  if (!hasText(doc)) return "has a docstring without a sentence"
  if ((doc.match(/^@since \d+\.\d+\.\d+$/gm) ?? []).length !== 1) return "needs exactly one `@since 0.1.0` line"
  if ((doc.match(/^@category \S.*$/gm) ?? []).length !== 1) return "needs exactly one `@category name` line"
  if (/^@category (utils|common|misc)$/m.test(doc)) return "has a category that says nothing"
  return undefined
}

/** Public modules without a header, and exports without a docstring, `@since` and `@category`. */
export const docs = (modules: ReadonlyArray<Parsed>): ReadonlyArray<Violation> =>
  modules.filter((module) => isPublicModule(module.path)).flatMap((module) => {
    const rule = "documented"
    const out: Array<Violation> = []
    if (module.header === undefined || !hasText(module.header) || !/^@since \d+\.\d+\.\d+$/m.test(module.header)) {
      out.push({
        rule,
        file: module.path,
        line: 1,
        message: "the file must begin with a /** comment */ that says what the module is for, with a `@since` line"
      })
    }
    // Overloads share the docstring of the first; a name both value and type has one for each.
    const byName = new Map<string, ReturnType<typeof exportsOf>[number]>()
    for (const e of exportsOf(module, modules)) {
      const key = `${e.kind} ${e.name}`
      if (!byName.has(key)) byName.set(key, e)
    }
    for (const e of byName.values()) {
      const where = { rule, file: e.file, line: e.line }
      if (e.doc !== undefined && /^@internal\b/m.test(e.doc)) {
        out.push({ ...where, message: `${e.name} is exported and @internal: put it into src/internal` })
        continue
      }
      const problem = docProblem(e.doc)
      if (problem !== undefined) out.push({ ...where, message: `${e.kind} ${e.name} ${problem}` })
    }
    return out
  })

const barrelLine = (name: string): string => `export * as ${name} from "./${name}.ts"`

/** The first paragraph of a module's header. */
const summary = (header: string | undefined): string => (header ?? "").split(/\n\s*\n|^@/m)[0]!.trim()

/** What `index.ts` of a package must say, given its public modules. */
export const barrelText = (modules: ReadonlyArray<Parsed>): string => {
  const sorted = modules.filter((module) => isPublicModule(module.path))
    .toSorted((a, b) => moduleName(a.path) < moduleName(b.path) ? -1 : 1)
  if (sorted.length === 0) return "export {}\n"
  return sorted.map((module) => {
    const text = summary(module.header)
    const since = /^@since .*$/m.exec(module.header ?? "")?.[0]
    const doc = text === ""
      ? ""
      : `/**\n${
        [...text.split("\n"), ...(since === undefined ? [] : ["", since])].map((l) => ` * ${l}`.trimEnd()).join("\n")
      }\n */\n`
    return doc + barrelLine(moduleName(module.path)) + "\n"
  }).join("\n")
}

/** Barrels that do not name each public module exactly once, and nothing else. */
export const barrelExports = (modules: ReadonlyArray<Parsed>): ReadonlyArray<Violation> => {
  const rule = "barrel"
  const folders = [...new Set(modules.map((module) => folderOf(module.path)))]
  return folders.flatMap((folder): Array<Violation> => {
    const file = `${folder}/src/index.ts`
    const index = modules.find((module) => module.path === file)
    if (index === undefined) return [{ rule, file, message: "there is no index.ts" }]
    const names = modules.filter((module) => folderOf(module.path) === folder && isPublicModule(module.path))
      .map((module) => moduleName(module.path))
    const expected = new Map(names.map((name) => [barrelLine(name), 0]))
    const out: Array<Violation> = []
    for (const statement of index.statements) {
      if (names.length === 0 && statement.text === "export {}") continue
      const seen = expected.get(statement.text)
      if (seen === undefined) out.push({ rule, file, line: statement.line, message: `unexpected: ${statement.text}` })
      else expected.set(statement.text, seen + 1)
    }
    for (const [line, count] of expected) {
      if (count !== 1) out.push({ rule, file, message: `${count === 0 ? "missing" : "more than once"}: ${line}` })
    }
    return out.map((violation) => ({ ...violation, message: `${violation.message} (npm run architecture:update)` }))
  })
}
