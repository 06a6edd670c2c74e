/**
 * The fields of a struct whose values travel as texts: the arguments of prompts and the parameters of templates.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

export interface TextField {
  /** The name on the wire. */
  readonly name: string
  readonly isOptional: boolean
  /** What the author wrote about it; it may stand on either side of a transformation. */
  readonly own: SchemaAST.AST
  readonly encoded: SchemaAST.AST
  /** Whether a text can be its value on the wire, or a list of texts. */
  readonly isText: boolean
  readonly isList: boolean
}

export interface TextFields {
  readonly fields: ReadonlyArray<TextField>
  /** What a name that is no field has, where any name may be there. */
  readonly rest: Pick<TextField, "isText" | "isList"> | undefined
}

/** The fields as they travel, or `undefined` for what is no struct. */
export const textFieldsOf = (schema: Schema.Top): TextFields | undefined => {
  const wire = SchemaAST.toEncoded(schema.ast)
  const tree = SchemaAST.toEncoded(Schema.toCodecStringTree(schema).ast)
  if (wire._tag !== "Objects" || tree._tag !== "Objects") return undefined
  const described = authored(schema.ast)
  const fields = wire.propertySignatures.map(({ name, type }): TextField => {
    const travels = tree.propertySignatures.find((signature) => signature.name === name)?.type ?? type
    return {
      name: String(name),
      isOptional: SchemaAST.isOptional(type),
      own: described.find((signature) => signature.name === name)?.type ?? type,
      encoded: type,
      isText: isText(travels),
      isList: isList(travels)
    }
  })
  const [index] = tree.indexSignatures
  return { fields, rest: index === undefined ? undefined : { isText: isText(index.type), isList: isList(index.type) } }
}

/** The fields on the author's side; those of a class stand behind it. */
const authored = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.PropertySignature> => {
  if (ast._tag === "Suspend") return authored(ast.thunk())
  const struct = ast._tag === "Declaration" ? ast.encoding?.at(-1)?.to : ast
  if (struct?._tag !== "Objects") return []
  return struct.propertySignatures.map(({ name, type }) =>
    new SchemaAST.PropertySignature(name, SchemaAST.toType(type))
  )
}

const isText = (ast: SchemaAST.AST): boolean => {
  switch (ast._tag) {
    case "String":
    case "TemplateLiteral":
    case "Unknown":
    case "Any":
      return true
    case "Literal":
      return typeof ast.literal === "string"
    case "Enum":
      return ast.enums.every(([, value]) => typeof value === "string")
    case "Union":
      return ast.types.some(isText)
    case "Suspend":
      return isText(ast.thunk())
    // An unknown value travels as any tree of texts.
    case "Declaration":
      return Schema.is(Schema.make(ast))("")
    default:
      return false
  }
}

const isList = (ast: SchemaAST.AST): boolean => {
  switch (ast._tag) {
    case "Arrays":
      return [...ast.elements, ...ast.rest].every(isText)
    case "Union":
      return ast.types.some(isList)
    case "Suspend":
      return isList(ast.thunk())
    // An unknown value travels as any tree of texts.
    case "Declaration":
      return Schema.is(Schema.make(ast))([])
    default:
      return ast._tag === "Unknown" || ast._tag === "Any"
  }
}
