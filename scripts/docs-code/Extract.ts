/**
 * Finds the TypeScript blocks of the Markdown files and of the docstrings.
 *
 * In Markdown every fence that begins with ```ts is a module that is compiled and run. Words after it change that:
 * `no-run` only compiles it, `no-check` leaves it alone (for text that is no program, with a reason beside it). A
 * comment `<!-- file: server.ts -->` before a block gives it a name, so that a later block of the document can import
 * "./server.ts"; blocks under the same name are one file.
 */
import { parseSync } from "oxc-parser"
import type { Source } from "../architecture/Workspace.ts"

/** One file made of one block, or of several under one name. */
export interface Snippet {
  /** The document it stands in, from the root. */
  readonly document: string
  /** The line of its first code line in the document. */
  readonly line: number
  /** Its file name in the document's folder of extracted files. */
  readonly name: string
  readonly text: string
  readonly run: boolean
}

interface Fence {
  readonly info: string
  readonly line: number
  readonly text: string
  readonly file: string | undefined
}

const marker = /^\s*<!--\s*file:\s*(\S+)\s*-->\s*$/

/** The fences of a Markdown text. A fence that is never closed throws. */
const fences = (text: string, where: string): ReadonlyArray<Fence> => {
  const found: Array<Fence> = []
  const lines = text.split("\n")
  let file: string | undefined
  for (let i = 0; i < lines.length; i++) {
    const open = /^(\s*)(`{3,}|~{3,})\s*(.*)$/.exec(lines[i]!)
    if (open === null) {
      const named = marker.exec(lines[i]!)
      if (named !== null) file = named[1]
      else if (lines[i]!.trim() !== "") file = undefined
      continue
    }
    const [, indent, ticks, info] = open as unknown as [string, string, string, string]
    const start = i + 1
    const body: Array<string> = []
    for (i++; i < lines.length && lines[i]!.trim() !== ticks; i++) {
      body.push(lines[i]!.startsWith(indent) ? lines[i]!.slice(indent.length) : lines[i]!)
    }
    if (i === lines.length) throw new Error(`${where}:${start} opens a code block that is never closed`)
    found.push({ info: info.trim(), line: start + 1, text: body.join("\n"), file })
    file = undefined
  }
  return found
}

const isTypeScript = (info: string): boolean => /^(ts|typescript)\b/.test(info)

const hasWord = (info: string, word: string): boolean => info.split(/\s+/).includes(word)

/** The snippets of a Markdown document. */
export const fromMarkdown = (source: Source): ReadonlyArray<Snippet> => {
  const byName = new Map<string, Snippet>()
  for (const fence of fences(source.text, source.path)) {
    if (!isTypeScript(fence.info) || hasWord(fence.info, "no-check")) continue
    const name = fence.file ?? `line-${fence.line}.ts`
    if (!/^[\w.-]+\.ts$/.test(name)) {
      throw new Error(`${source.path}:${fence.line} names its file "${name}": want name.ts`)
    }
    const before = byName.get(name)
    byName.set(name, {
      document: source.path,
      line: before?.line ?? fence.line,
      name,
      text: before === undefined ? fence.text : `${before.text}\n${fence.text}`,
      run: (before?.run ?? true) && !hasWord(fence.info, "no-run")
    })
  }
  return [...byName.values()]
}

/** The snippets in the docstrings of a TypeScript source: compiled, not run. */
export const fromSource = (source: Source): ReadonlyArray<Snippet> => {
  const { comments } = parseSync(source.path, source.text, { lang: "ts", sourceType: "module" })
  return comments.filter((comment) => comment.type === "Block" && comment.value.startsWith("*")).flatMap((comment) => {
    const first = source.text.slice(0, comment.start).split("\n").length
    const text = comment.value.split("\n").map((line) => line.replace(/^\s*\* ?/, "")).join("\n")
    return fences(text, source.path)
      .filter((fence) => isTypeScript(fence.info) && !hasWord(fence.info, "no-check"))
      .map((fence) => ({
        document: source.path,
        line: first + fence.line - 1,
        name: `line-${first + fence.line - 1}.ts`,
        text: fence.text,
        run: false
      }))
  })
}
