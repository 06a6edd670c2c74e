/**
 * Reads a TypeScript source with oxc's parser into what the checks ask about: imports, exports with their comments,
 * code without comments, function lengths.
 */
import * as path from "node:path"
import { parseSync } from "oxc-parser"
import type { Source } from "./Workspace.ts"

/** One import, re-export or dynamic import of a module. */
export interface Import {
  readonly specifier: string
  readonly line: number
  /** Erased by the compiler: `import type`, `export type`, `import("x").T`. */
  readonly typeOnly: boolean
}

/** One exported name. A name can be exported as a value and as a type. */
export interface Export {
  readonly name: string
  readonly kind: "value" | "type"
  readonly line: number
  /** The JSDoc comment directly before it, without its frame, or undefined. */
  readonly doc: string | undefined
  /** `export ... from` or `export { x }`: the name it has where it is declared, and where if it is another file. */
  readonly from: { readonly name: string; readonly specifier: string | undefined } | undefined
  /** The statement without its comment. */
  readonly text: string
}

/** One function and how long it is. */
export interface FunctionSize {
  readonly name: string
  readonly line: number
  readonly codeLines: number
}

/** A parsed source. */
export interface Parsed {
  readonly path: string
  readonly text: string
  readonly header: string | undefined
  readonly imports: ReadonlyArray<Import>
  readonly exports: ReadonlyArray<Export>
  /** The statements of the module's top level, as text. */
  readonly statements: ReadonlyArray<{ readonly line: number; readonly text: string }>
  /** The text with every comment blanked out: offsets and lines stay. */
  readonly code: string
  readonly codeLines: number
  readonly functions: ReadonlyArray<FunctionSize>
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const isNode = (u: unknown): u is Node =>
  typeof u === "object" && u !== null && typeof (u as { readonly type?: unknown }).type === "string"

const children = (node: Node): ReadonlyArray<Node> => Object.values(node).flat().filter(isNode)

/** Calls `visit` for a node and all nodes below it. */
const walk = (node: Node, parent: Node | undefined, visit: (node: Node, parent: Node | undefined) => void): void => {
  visit(node, parent)
  for (const child of children(node)) walk(child, node, visit)
}

/** The text of a JSDoc comment without stars. */
const docText = (value: string): string =>
  value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .trim()

const countCodeLines = (code: string): number => code.split("\n").filter((line) => line.trim() !== "").length

const typeDeclarations = new Set(["TSInterfaceDeclaration", "TSTypeAliasDeclaration"])

const nameOf = (u: unknown): string => {
  if (!isNode(u)) return "(anonymous)"
  if (typeof u.name === "string") return u.name
  if (typeof u.value === "string") return u.value
  return "(anonymous)"
}

/** The names that a declaration binds. */
const declaredNames = (declaration: Node): ReadonlyArray<{ readonly name: string; readonly start: number }> => {
  if (declaration.type !== "VariableDeclaration") {
    return [{ name: nameOf(declaration.id), start: declaration.start }]
  }
  return (declaration.declarations as ReadonlyArray<Node>).flatMap((d) => {
    const id = d.id as Node
    if (id.type === "Identifier") return [{ name: nameOf(id), start: declaration.start }]
    const names: Array<{ readonly name: string; readonly start: number }> = []
    walk(id, undefined, (node, parent) => {
      if (node.type === "Identifier" && parent?.key !== node) {
        names.push({ name: nameOf(node), start: declaration.start })
      }
    })
    return names
  })
}

const isFunction = (node: Node): boolean =>
  node.type === "FunctionDeclaration" || node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression"

const functionName = (node: Node, parent: Node | undefined): string => {
  if (isNode(node.id)) return nameOf(node.id)
  if (parent?.type === "VariableDeclarator") return nameOf(parent.id)
  if (parent?.type === "Property" || parent?.type === "MethodDefinition" || parent?.type === "PropertyDefinition") {
    return nameOf(parent.key)
  }
  return "(anonymous)"
}

/** Parses a source. A syntax error throws with the file's name. */
export const parse = (source: Source): Parsed => {
  const result = parseSync(source.path, source.text, { lang: "ts", sourceType: "module" })
  const error = result.errors[0]
  if (error !== undefined) throw new Error(`${source.path} does not parse: ${error.message}`)
  const program = result.program as unknown as Node
  const body = program.body as ReadonlyArray<Node>
  const { text } = source

  const starts = [0]
  for (let i = text.indexOf("\n"); i !== -1; i = text.indexOf("\n", i + 1)) starts.push(i + 1)
  const lineAt = (offset: number): number => {
    let low = 0
    let high = starts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle - 1
    }
    return low + 1
  }

  const comments = result.comments
  const blocks = new Map<number, string>()
  let code = ""
  let position = 0
  for (const comment of comments) {
    code += text.slice(position, comment.start) + text.slice(comment.start, comment.end).replace(/[^\n]/g, " ")
    position = comment.end
    if (comment.type === "Block" && comment.value.startsWith("*")) blocks.set(comment.end, docText(comment.value))
  }
  code += text.slice(position)
  // The comment that ends where only white space follows up to the offset.
  const docBefore = (offset: number): string | undefined => {
    let end = offset
    while (end > 0 && /\s/.test(text[end - 1]!)) end--
    return blocks.get(end)
  }
  const first = comments[0]
  const header = first !== undefined && text.slice(0, first.start).trim() === "" ? blocks.get(first.end) : undefined
  // The header is not the docstring of what follows it.
  if (first !== undefined && header !== undefined) blocks.delete(first.end)

  const imports: Array<Import> = []
  const exports: Array<Export> = []
  const functions: Array<FunctionSize> = []

  const declaration = (node: Node, at: Node, prefix: string): void => {
    const doc = docBefore(at.start)
    if (node.type === "TSModuleDeclaration") {
      const name = prefix + nameOf(node.id)
      exports.push({
        name,
        kind: "type",
        line: lineAt(at.start),
        doc,
        from: undefined,
        text: text.slice(at.start, at.end)
      })
      const inner = isNode(node.body) ? (node.body.body as ReadonlyArray<Node> | undefined) ?? [] : []
      for (const statement of inner) {
        if (statement.type === "ExportNamedDeclaration" && isNode(statement.declaration)) {
          declaration(statement.declaration, statement, `${name}.`)
        }
      }
      return
    }
    for (const { name } of declaredNames(node)) {
      exports.push({
        name: prefix + name,
        kind: typeDeclarations.has(node.type) ? "type" : "value",
        line: lineAt(at.start),
        doc,
        from: undefined,
        text: text.slice(at.start, at.end)
      })
    }
  }

  for (const node of body) {
    const line = lineAt(node.start)
    switch (node.type) {
      case "ImportDeclaration": {
        const specifiers = node.specifiers as ReadonlyArray<Node>
        imports.push({
          specifier: nameOf(node.source),
          line,
          typeOnly: node.importKind === "type" ||
            (specifiers.length > 0 && specifiers.every((s) => s.importKind === "type"))
        })
        break
      }
      case "ExportAllDeclaration": {
        const typeOnly = node.exportKind === "type"
        imports.push({ specifier: nameOf(node.source), line, typeOnly })
        exports.push({
          name: isNode(node.exported) ? nameOf(node.exported) : `* from ${nameOf(node.source)}`,
          kind: typeOnly ? "type" : "value",
          line,
          doc: docBefore(node.start),
          from: { name: "*", specifier: nameOf(node.source) },
          text: text.slice(node.start, node.end)
        })
        break
      }
      case "ExportNamedDeclaration": {
        const specifiers = node.specifiers as ReadonlyArray<Node>
        const allTypes = node.exportKind === "type" ||
          (specifiers.length > 0 && specifiers.every((s) => s.exportKind === "type"))
        if (isNode(node.source)) imports.push({ specifier: nameOf(node.source), line, typeOnly: allTypes })
        if (isNode(node.declaration)) declaration(node.declaration, node, "")
        for (const specifier of specifiers) {
          exports.push({
            name: nameOf(specifier.exported),
            kind: node.exportKind === "type" || specifier.exportKind === "type" ? "type" : "value",
            line: lineAt(specifier.start),
            doc: docBefore(specifier.start) ?? (specifiers.length === 1 ? docBefore(node.start) : undefined),
            from: {
              name: nameOf(specifier.local),
              specifier: isNode(node.source) ? nameOf(node.source) : undefined
            },
            text: text.slice(node.start, node.end)
          })
        }
        break
      }
      case "ExportDefaultDeclaration": {
        exports.push({
          name: "default",
          kind: "value",
          line,
          doc: docBefore(node.start),
          from: undefined,
          text: text.slice(node.start, node.end)
        })
        break
      }
    }
  }

  walk(program, undefined, (node, parent) => {
    if (node.type === "ImportExpression" && isNode(node.source) && typeof node.source.value === "string") {
      imports.push({ specifier: node.source.value, line: lineAt(node.start), typeOnly: false })
    }
    if (node.type === "TSImportType") {
      const argument = (node.source ?? node.argument) as Node | undefined
      const literal = isNode(argument?.literal) ? argument.literal : argument
      imports.push({ specifier: nameOf(literal), line: lineAt(node.start), typeOnly: true })
    }
    if (isFunction(node)) {
      functions.push({
        name: functionName(node, parent),
        line: lineAt(node.start),
        codeLines: countCodeLines(code.slice(node.start, node.end))
      })
    }
  })

  return {
    path: source.path,
    text,
    header,
    imports,
    exports,
    statements: body.map((node) => ({ line: lineAt(node.start), text: text.slice(node.start, node.end) })),
    code,
    codeLines: countCodeLines(code),
    functions
  }
}

/** Everything a module exports, with the file it stands in: `export *` of a file among these is followed. */
export const exportsOf = (
  module: Parsed,
  modules: ReadonlyArray<Parsed>
): ReadonlyArray<Export & { readonly file: string }> =>
  module.exports.flatMap((e) => {
    const from = /^\* from (\..*)$/.exec(e.name)?.[1]
    const target = from === undefined
      ? undefined
      : modules.find((m) => m.path === path.posix.join(path.posix.dirname(module.path), from))
    return target === undefined ? [{ ...e, file: module.path }] : exportsOf(target, modules)
  })
