import type * as Oxc from "oxc-parser"
import { parseSync } from "oxc-parser"
import * as Docstring from "./Docstring.ts"

/** What a declared name is. */
export type DeclarationKind = "function" | "const" | "class" | "interface" | "type" | "enum" | "namespace"

/** A property or method of a class, an interface or an object type. */
export interface Member {
  readonly name: string
  readonly signature: string
  readonly doc: Docstring.Docstring
  readonly method: boolean
}

/** One declaration of a name; a name may have several, as an interface and a constant. */
export interface Declaration {
  readonly kind: DeclarationKind
  /** The source without comments. */
  readonly signature: string
  readonly doc: Docstring.Docstring
  readonly members: ReadonlyArray<Member>
  /** Names of the local classes or interfaces it extends. */
  readonly bases: ReadonlyArray<string>
  /** What is inside of a namespace. */
  readonly scope?: Scope
}

/** A name that comes from another module; `*` is the module itself. */
export interface Import {
  readonly from: string
  readonly name: string
}

/** A name that is exported: a local one, or one of another module. */
export interface Export {
  readonly local?: string
  readonly from?: Import
  readonly doc: Docstring.Docstring
}

/** The names of a module or of a namespace. */
export interface Scope {
  readonly locals: Map<string, Array<Declaration>>
  readonly imports: Map<string, Import>
  readonly exports: Map<string, Export>
  /** Modules of which everything is exported. */
  readonly stars: Array<string>
}

/** A parsed declaration file. */
export interface DeclarationFile extends Scope {
  /** The docstring at its top. */
  readonly doc: Docstring.Docstring
  /** Files named by `/// <reference path="…" />`. */
  readonly references: ReadonlyArray<string>
  /** `declare module "name" { … }`. */
  readonly ambient: Map<string, Scope>
}

/** Parses a declaration file. What cannot be parsed is left out: a docs index had better be incomplete than absent. */
export const parse = (file: string, source: string): DeclarationFile => {
  const result = parseSync(file, source, { lang: "dts", sourceType: "module" })
  const program = result.program
  if (program.body.length === 0 && result.errors.length > 0) {
    throw new SyntaxError(`${file}: ${result.errors[0]!.message}`)
  }
  const reader = new Reader(source, result.comments)
  const scope = emptyScope()
  const ambient = new Map<string, Scope>()
  readBody(reader, program.body, scope, ambient, false)
  const references = [...source.matchAll(/^\/\/\/\s*<reference\s+path=["']([^"']+)["']/gm)].map((match) => match[1]!)
  return { ...scope, ambient, references, doc: reader.top(program.body[0]?.start ?? source.length) }
}

const emptyScope = (): Scope => ({ locals: new Map(), imports: new Map(), exports: new Map(), stars: [] })

// The source and its comments, in order.
class Reader {
  readonly source: string
  readonly comments: ReadonlyArray<Oxc.Comment>
  constructor(source: string, comments: ReadonlyArray<Oxc.Comment>) {
    this.source = source
    this.comments = comments
  }

  // The index of the first comment that starts at or after a position.
  private index(position: number): number {
    let low = 0
    let high = this.comments.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.comments[middle]!.start < position) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  // The docstring that stands right before a node.
  doc(start: number): Docstring.Docstring {
    let end = start
    for (let i = this.index(start) - 1; i >= 0; i--) {
      const comment = this.comments[i]!
      if (/\S/.test(this.source.slice(comment.end, end))) {
        break
      }
      if (comment.type === "Block" && comment.value.startsWith("*")) {
        return Docstring.parse(comment.value)
      }
      end = comment.start
    }
    return Docstring.empty
  }

  // The docstring of the file: the first one, if it is not that of the first declaration.
  top(firstStatement: number): Docstring.Docstring {
    const docs = this.comments.filter((comment) =>
      comment.end <= firstStatement && comment.type === "Block" && comment.value.startsWith("*")
    )
    const first = docs[0]
    const imports = /^\s*(?:import\b|export\s*(?:\*|\{))/.test(this.source.slice(firstStatement, firstStatement + 40))
    return first !== undefined && (docs.length > 1 || (imports && first.value.trim().length > 1))
      ? Docstring.parse(first.value)
      : Docstring.empty
  }

  // The source of a node without its comments and needless space.
  text(start: number, end: number): string {
    let out = ""
    let position = start
    for (let i = this.index(start); i < this.comments.length && this.comments[i]!.start < end; i++) {
      const comment = this.comments[i]!
      out += this.source.slice(position, comment.start)
      position = comment.end
    }
    out += this.source.slice(position, end)
    return out.replace(/[ \t]+$/gm, "").replace(/\n(?:\s*\n)+/g, "\n").trim()
  }
}

type Body = ReadonlyArray<Oxc.Directive | Oxc.Statement>

const readBody = (reader: Reader, body: Body, scope: Scope, ambient: Map<string, Scope>, exported: boolean): void => {
  const nested: Array<() => void> = []
  let explicit = false
  for (const node of body) {
    switch (node.type) {
      case "ImportDeclaration":
        readImport(node, scope)
        break
      case "ExportAllDeclaration":
        if (node.exported === null) {
          scope.stars.push(node.source.value)
        } else {
          scope.exports.set(nameOf(node.exported), {
            from: { from: node.source.value, name: "*" },
            doc: reader.doc(node.start)
          })
        }
        break
      case "ExportDefaultDeclaration": {
        const local = node.declaration.type === "Identifier"
          ? node.declaration.name
          : declare(reader, node.declaration, node, scope, ambient, nested, "default")[0]
        if (local !== undefined) {
          scope.exports.set("default", { local, doc: reader.doc(node.start) })
        }
        break
      }
      case "TSExportAssignment":
        if (node.expression.type === "Identifier") {
          scope.exports.set("export=", { local: node.expression.name, doc: reader.doc(node.start) })
        }
        break
      case "ExportNamedDeclaration":
        explicit ||= node.declaration === null
        if (node.declaration !== null) {
          for (const name of declare(reader, node.declaration, node, scope, ambient, nested)) {
            scope.exports.set(name, { local: name, doc: Docstring.empty })
          }
        }
        for (const specifier of node.specifiers) {
          const local = nameOf(specifier.local)
          const doc = reader.doc(specifier.start)
          scope.exports.set(
            nameOf(specifier.exported),
            node.source === null ? { local, doc } : { from: { from: node.source.value, name: local }, doc }
          )
        }
        break
      default:
        declare(reader, node, node, scope, ambient, nested)
    }
  }
  // Without a list of exports, all that a namespace declares is exported.
  if (exported && !explicit) {
    for (const name of scope.locals.keys()) {
      scope.exports.set(name, { local: name, doc: Docstring.empty })
    }
  }
  nested.forEach((read) => read())
}

const readImport = (node: Oxc.ImportDeclaration, scope: Scope): void => {
  for (const specifier of node.specifiers) {
    const name = specifier.type === "ImportSpecifier"
      ? nameOf(specifier.imported)
      : specifier.type === "ImportDefaultSpecifier"
      ? "default"
      : "*"
    scope.imports.set(specifier.local.name, { from: node.source.value, name })
  }
}

// Records what a statement declares, and returns the names.
const declare = (
  reader: Reader,
  node: Oxc.Statement | Oxc.Directive | Oxc.Declaration | Oxc.ExportDefaultDeclarationKind,
  outer: { readonly start: number; readonly end: number },
  scope: Scope,
  ambient: Map<string, Scope>,
  nested: Array<() => void>,
  fallback?: string
): ReadonlyArray<string> => {
  const add = (
    name: string | undefined,
    kind: DeclarationKind,
    rest?: { readonly members?: ReadonlyArray<Member>; readonly bases?: ReadonlyArray<string>; readonly scope?: Scope }
  ): ReadonlyArray<string> => {
    const key = name ?? fallback
    if (key === undefined) {
      return []
    }
    const signature = kind === "namespace" ? `namespace ${key}` : clean(reader.text(outer.start, outer.end))
    const known = scope.locals.get(key)
    const declaration = { kind, signature, doc: reader.doc(outer.start), members: [], bases: [], ...rest }
    if (known === undefined) {
      scope.locals.set(key, [declaration])
    } else {
      known.push(declaration)
    }
    return [key]
  }
  switch (node.type) {
    case "FunctionDeclaration":
    case "TSDeclareFunction":
      return add(node.id?.name, "function")
    case "VariableDeclaration":
      return node.declarations.flatMap((declarator) =>
        declarator.id.type === "Identifier"
          ? add(declarator.id.name, "const", { members: typeMembers(reader, declarator.id.typeAnnotation) })
          : []
      )
    case "ClassDeclaration":
      return add(node.id?.name, "class", {
        members: node.body.body.flatMap((element) => classMember(reader, element)),
        bases: node.superClass?.type === "Identifier" ? [node.superClass.name] : []
      })
    case "TSInterfaceDeclaration":
      return add(node.id.name, "interface", {
        members: node.body.body.flatMap((element) => signatureMember(reader, element)),
        bases: node.extends.flatMap(({ expression }) => expression.type === "Identifier" ? [expression.name] : [])
      })
    case "TSTypeAliasDeclaration":
      return add(node.id.name, "type", { members: objectMembers(reader, node.typeAnnotation) })
    case "TSEnumDeclaration":
      return add(node.id.name, "enum")
    case "TSModuleDeclaration": {
      if (node.body === null) {
        return []
      }
      const { body } = node.body
      const inner = emptyScope()
      nested.push(() => readBody(reader, body, inner, ambient, true))
      if (node.id.type === "Literal") {
        ambient.set(node.id.value, mergeScopes(ambient.get(node.id.value), inner))
        return []
      }
      return add(node.id.type === "Identifier" ? node.id.name : undefined, "namespace", { scope: inner })
    }
    case "TSImportEqualsDeclaration":
      if (node.moduleReference.type === "TSExternalModuleReference") {
        const from = node.moduleReference.expression.value
        scope.imports.set(node.id.name, { from, name: "export=" })
      }
      return []
    default:
      return []
  }
}

// A module may be declared in several places; both fill one scope, as neither has been read yet.
const mergeScopes = (known: Scope | undefined, inner: Scope): Scope => {
  if (known === undefined) {
    return inner
  }
  Object.assign(inner, known)
  return known
}

const nameOf = (node: Oxc.ModuleExportName): string => node.type === "Literal" ? node.value : node.name

const keyOf = (key: Oxc.PropertyKey, computed: boolean): string | undefined =>
  computed
    ? undefined
    : key.type === "Identifier"
    ? key.name
    : key.type === "Literal" && typeof key.value === "string"
    ? key.value
    : undefined

const member = (reader: Reader, node: Oxc.Span, name: string | undefined, method: boolean): ReadonlyArray<Member> =>
  name === undefined || name.startsWith("_")
    ? []
    : [{ name, method, signature: clean(reader.text(node.start, node.end)), doc: reader.doc(node.start) }]

const classMember = (reader: Reader, node: Oxc.ClassElement): ReadonlyArray<Member> => {
  if (node.type === "StaticBlock" || node.type === "TSIndexSignature" || node.accessibility === "private") {
    return []
  }
  const method = node.type === "MethodDefinition" || node.type === "TSAbstractMethodDefinition"
  return member(reader, node, keyOf(node.key, node.computed), method)
}

const signatureMember = (reader: Reader, node: Oxc.TSSignature): ReadonlyArray<Member> =>
  node.type === "TSPropertySignature" || node.type === "TSMethodSignature"
    ? member(reader, node, keyOf(node.key, node.computed), node.type === "TSMethodSignature")
    : []

const typeMembers = (reader: Reader, annotation: Oxc.TSTypeAnnotation | null | undefined): ReadonlyArray<Member> =>
  annotation ? objectMembers(reader, annotation.typeAnnotation) : []

const objectMembers = (reader: Reader, type: Oxc.TSType): ReadonlyArray<Member> =>
  type.type === "TSTypeLiteral"
    ? type.members.flatMap((element) => signatureMember(reader, element))
    : type.type === "TSIntersectionType"
    ? type.types.flatMap((part) => objectMembers(reader, part))
    : []

const clean = (signature: string): string =>
  signature.replace(/^export\s+(?:default\s+)?/, "").replace(/^declare\s+/, "")
