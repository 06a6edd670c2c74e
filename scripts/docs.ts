/**
 * Writes the API documentation into docs/api/ (`npm run docs`): a Markdown page for each public module, from the
 * declarations that the build has written. These carry the docstrings and every inferred type, so that no second
 * compiler is needed beside TypeScript 7, which the usual generators do not run on.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import type { Export, Parsed } from "./architecture/Parse.ts"
import { parse } from "./architecture/Parse.ts"
import { filesBelow, isPublicModule, moduleName, packages, root } from "./architecture/Workspace.ts"

/** One documented name of a module. */
interface Entry {
  readonly name: string
  readonly category: string
  readonly doc: string
  readonly since: string | undefined
  readonly signature: string
}

/** Follows re-exports to the exports that declare the names. */
const declared = (dist: ReadonlyMap<string, Parsed>, module: Parsed, depth = 0): ReadonlyArray<Export> =>
  module.exports.flatMap((e): ReadonlyArray<Export> => {
    if (e.from === undefined || depth > 10) return [e]
    const { name, specifier } = e.from
    if (specifier === undefined) {
      const pattern = new RegExp(
        `^(declare )?(abstract )?(const|let|function|class|interface|type|namespace) ${name.replaceAll("$", "\\$")}\\b`
      )
      const found = module.statements.filter((statement) => pattern.test(statement.text))
      return found.length === 0 ? [e] : found.map((statement) => ({ ...e, text: statement.text }))
    }
    const target = specifier.startsWith(".")
      ? dist.get(path.posix.join(path.posix.dirname(module.path), specifier).replace(/\.(ts|js)$/, ".d.ts"))
      : undefined
    if (target === undefined) return [e]
    const inner = declared(dist, target, depth + 1)
    if (name === "*" && e.name.startsWith("* from")) return inner
    if (name === "*") return [e]
    return inner.filter((i) => i.name === name).map((i) => ({ ...i, name: e.name, doc: e.doc ?? i.doc }))
  })

/** A docstring in its parts. */
const parts = (doc: string) => {
  const tag = (name: string) => new RegExp(`^@${name}\\s+(.*)$`, "m").exec(doc)?.[1]?.trim()
  const text = doc
    .split("\n")
    .filter((line) => !/^@(since|category|stability|internal)\b/.test(line))
    .join("\n")
    .replace(/\{@link\s+([^}|\s]+)[^}]*\}/g, "`$1`")
    .replace(/^@(\w+)\s*/gm, "**$1** ")
    .trim()
  return { text, since: tag("since"), category: tag("category") ?? "other" }
}

const entries = (dist: ReadonlyMap<string, Parsed>, module: Parsed): ReadonlyArray<Entry> => {
  const byName = new Map<string, Entry>()
  for (const e of declared(dist, module)) {
    const doc = parts(e.doc ?? "")
    const signature = e.text.replace(/^export (declare )?/, "").replace(/^declare /, "")
    const key = `${e.kind} ${e.name}`
    const before = byName.get(key)
    byName.set(
      key,
      before === undefined
        ? { name: e.name, category: doc.category, doc: doc.text, since: doc.since, signature }
        : { ...before, signature: before.signature === signature ? signature : `${before.signature}\n${signature}` }
    )
  }
  return [...byName.values()]
}

/** One module's page: its header, then its exports by category. */
const page = (module: Parsed, headerText: string, packageName: string, dist: ReadonlyMap<string, Parsed>): string => {
  const name = moduleName(module.path).replace(/\.d$/, "")
  const header = parts(headerText)
  const byCategory = Map.groupBy(entries(dist, module), (entry) => entry.category)
  const categories = [...byCategory].toSorted(([a], [b]) => a < b ? -1 : 1).map(([category, list]) =>
    [
      `## ${category}`,
      ...list.toSorted((a, b) => a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1).map((entry) =>
        [
          `### ${entry.name}`,
          `\`\`\`ts\n${entry.signature}\n\`\`\``,
          entry.doc,
          entry.since === undefined ? "" : `Since ${entry.since}`
        ].filter((part) => part !== "").join("\n\n")
      )
    ].join("\n\n")
  )
  return [
    `# ${name}`,
    `\`import * as ${name} from "${packageName}/${name}"\``,
    header.text,
    ...categories
  ].join("\n\n") + "\n"
}

const target = path.join(root, "docs/api")
fs.rmSync(target, { recursive: true, force: true })
const index: Array<string> = ["# API"]
let pages = 0
for (const { manifest, path: folder } of packages()) {
  const source = path.join(root, folder, "dist")
  if (!fs.existsSync(source)) throw new Error(`${folder}/dist does not exist: npm run build`)
  const files = filesBelow(".", source).filter((file) => file.endsWith(".d.ts")).map((file) =>
    file.replace(/^\.\//, "")
  )
  const dist = new Map(files.map((file) => [
    file,
    parse({ path: file, text: fs.readFileSync(path.join(source, file), "utf8") })
  ]))
  const names = filesBelow(`${folder}/src`).filter(isPublicModule).map(moduleName)
  const short = manifest.name.split("/")[1]!
  index.push(`## ${manifest.name}`)
  fs.mkdirSync(path.join(target, short), { recursive: true })
  for (const name of names) {
    const module = dist.get(`${name}.d.ts`)
    if (module === undefined) throw new Error(`${folder}/dist/${name}.d.ts does not exist: npm run build`)
    // From the source: the compiler drops a header when it drops the import that follows it.
    const file = `${folder}/src/${name}.ts`
    const header = parse({ path: file, text: fs.readFileSync(path.join(root, file), "utf8") }).header ?? ""
    fs.writeFileSync(path.join(target, short, `${name}.md`), page(module, header, manifest.name, dist))
    index.push(
      `- [${name}](${short}/${name}.md): ${parts(header).text.split(/\n\s*\n/)[0]!.replaceAll("\n", " ")}`
    )
    pages++
  }
}
fs.writeFileSync(
  path.join(target, "README.md"),
  `${index.join("\n\n").replaceAll(/\n\n(?=- )/g, "\n").replaceAll(/(##.*)\n(?=- )/g, "$1\n\n")}\n`
)
console.log(`wrote ${pages} pages to docs/api`)
