/**
 * Makes completers: the known arguments are decoded one by one, and the values that are offered are encoded as the
 * schema of the argument says.
 */
import * as Completion from "@fairlead/protocol/Completion"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import type { Completer, Completers } from "./entry.ts"

export type AnyComplete = (
  value: string,
  context: Readonly<Record<string, unknown>>
) => Effect.Effect<Completion.Answer<unknown>>

/** The codec of each field of a struct, between its text and its value. */
const fieldCodecs = (schema: Schema.Top): ReadonlyMap<string, Schema.Codec<unknown, unknown>> => {
  const ast = structOf(schema.ast)
  if (ast._tag !== "Objects") return new Map()
  return new Map(ast.propertySignatures.map(({ name, type }) => [
    String(name),
    Schema.toCodecStringTree(Schema.make<Schema.Codec<unknown>>(SchemaAST.isOptional(type) ? required(type) : type))
  ]))
}

/** The fields of a class stand behind it. */
const structOf = (ast: SchemaAST.AST): SchemaAST.AST =>
  ast._tag === "Declaration" ? ast.encoding?.at(-1)?.to ?? ast : ast._tag === "Suspend" ? structOf(ast.thunk()) : ast

/** The first name that is completed and that no request can ask for, as a schema that renames its fields leaves one. */
export const notOnTheWire = (completers: Completers, names: ReadonlyArray<string>): string | undefined =>
  [...completers.keys()].find((name) => !names.includes(name))

const required = (type: SchemaAST.AST): SchemaAST.AST => {
  if (type._tag !== "Union") return type
  const [only, ...more] = type.types.filter((member) => member._tag !== "Undefined")
  return only === undefined || more.length > 0 ? type : only
}

export const makeCompleters = (
  schema: Schema.Top,
  complete: Readonly<Record<string, AnyComplete | undefined>> | undefined
): Completers => {
  const codecs = fieldCodecs(schema)
  const decodeContext = (context: Readonly<Record<string, string>>) => {
    const known: Record<string, unknown> = {}
    for (const [name, text] of Object.entries(context)) {
      const codec = codecs.get(name)
      if (codec === undefined) continue
      // What is being typed elsewhere need not be valid yet: it is then not known.
      const decoded = SchemaParser.decodeUnknownExit(codec)(text)
      if (Exit.isSuccess(decoded)) known[name] = decoded.value
    }
    return known
  }

  const completers = new Map<string, Completer>()
  for (const [name, f] of Object.entries(complete ?? {})) {
    if (f === undefined) continue
    const codec = codecs.get(name)
    const encode = codec === undefined ? undefined : SchemaParser.encodeUnknownEffect(codec)
    completers.set(name, ({ context, value }) =>
      Effect.gen(function*() {
        const { values, ...rest } = Completion.fromAnswer(yield* f(value, decodeContext(context)))
        const texts = encode === undefined
          ? values
          : yield* Effect.orDie(Effect.forEach(values, (value) => encode(value)))
        return { members: `"completion":${JSON.stringify({ values: texts.map(String), ...rest })}`, meta: undefined }
      }))
  }
  return completers
}
