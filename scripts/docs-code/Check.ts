/**
 * Writes the snippets into a folder of `.docs-code/` inside the repository, so that they resolve packages as any program here does,
 * compiles them all at once and runs them one by one.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import type { Source } from "../architecture/Workspace.ts"
import { filesBelow, folders, packages, read, root } from "../architecture/Workspace.ts"
import { attempt } from "../run.ts"
import type { Snippet } from "./Extract.ts"
import { fromMarkdown, fromSource } from "./Extract.ts"

/** Where the snippets are written: a folder for each process, so that two runs do not meet. */
export const folder = `.docs-code/${process.pid}`

/** The time a block may take, in milliseconds: 20 seconds. A block that takes longer fails. */
export const timeLimit = 20_000

/** The Markdown files whose blocks are checked: README.md, docs/, and the README of each workspace folder. */
export const documents = (): ReadonlyArray<Source> => {
  const candidates = [
    "README.md",
    "CONTRIBUTING.md",
    ...filesBelow("docs").filter((file) => file.endsWith(".md") && !file.startsWith("docs/api/")),
    ...folders().map((f) => `${f.path}/README.md`)
  ]
  return candidates.flatMap((file) => {
    const text = read(file)
    return text === undefined ? [] : [{ path: file, text }]
  })
}

/** Every snippet of the documents and of the packages' docstrings. */
export const snippets = (): ReadonlyArray<Snippet> => [
  ...documents().flatMap(fromMarkdown),
  ...packages().flatMap((p) => filesBelow(`${p.path}/src`).filter((file) => file.endsWith(".ts"))).flatMap((file) =>
    fromSource({ path: file, text: read(file) ?? "" })
  )
]

/** Where a snippet lies, from the root. */
export const fileOf = (snippet: Snippet): string =>
  `${folder}/${snippet.document.replace(/\.\w+$/, "").replaceAll("/", "--")}/${snippet.name}`

/** Removes what `write` wrote. */
export const remove = (): void => fs.rmSync(path.join(root, folder), { recursive: true, force: true })

/** Writes all snippets. */
export const write = (all: ReadonlyArray<Snippet>): void => {
  remove()
  fs.mkdirSync(path.join(root, folder), { recursive: true })
  fs.writeFileSync(
    path.join(root, folder, "tsconfig.json"),
    JSON.stringify({
      extends: "../../tsconfig.base.json",
      include: ["**/*.ts"],
      compilerOptions: {
        composite: false,
        incremental: false,
        declaration: false,
        declarationMap: false,
        noEmit: true,
        noUnusedLocals: false,
        rootDir: "../..",
        types: ["node"]
      }
    })
  )
  for (const snippet of all) {
    const file = path.join(root, fileOf(snippet))
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, `${snippet.text}\n`)
  }
}

/** Says where in the document an error in an extracted file is. */
export const locate = (all: ReadonlyArray<Snippet>, output: string): string => {
  let text = output
  for (const snippet of all) {
    const file = fileOf(snippet)
    text = text.replaceAll(
      new RegExp(`${file.replaceAll(".", "\\.")}[(:](\\d+)[,:](\\d+)\\)?`, "g"),
      (_, line: string, column: string) => `${snippet.document}:${snippet.line + Number(line) - 1}:${column}`
    )
  }
  return text
}

/** The compiler's complaints about all snippets, or "". */
export const compile = async (all: ReadonlyArray<Snippet>): Promise<string> => {
  const { code, output } = await attempt("tsc", ["-p", folder, "--pretty", "false"])
  return code === 0 ? "" : locate(all, output)
}

/** What went wrong when a snippet ran, or "". */
export const execute = async (snippet: Snippet): Promise<string> => {
  const { code, output } = await attempt("node", ["--conditions=@fairlead/source", fileOf(snippet)], {
    timeout: timeLimit
  })
  return code === 0 ? "" : `${snippet.document}:${snippet.line} ended with ${code}\n${locate([snippet], output)}`
}
