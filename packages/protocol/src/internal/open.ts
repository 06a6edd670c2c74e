/**
 * Open objects: the protocol's objects keep members that a schema does not name (spec: basic, General fields).
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Json from "../Json.ts"

/** Refuses a number that is kept exactly where JSON has to hold an object: to Effect it is an object like any other. */
const notExact = Schema.makeFilter((u: unknown) => Json.isExactNumber(u) ? "Expected object" : undefined)

/** An object schema that takes objects of JSON alone. */
export const jsonObject = (ast: SchemaAST.Objects): SchemaAST.Objects =>
  new SchemaAST.Objects(
    ast.propertySignatures,
    ast.indexSignatures,
    ast.annotations,
    ast.checks,
    ast.encoding,
    ast.context,
    [...(ast.encodingChecks ?? []), notExact]
  )

/** A struct whose values keep members it does not name. */
export const open = <Fields extends Schema.Struct.Fields>(fields: Fields) => {
  const schema = Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)])
  // A member that must be there tells numbers apart already, at no cost.
  const isTold = schema.ast.propertySignatures.some(({ type }) => !SchemaAST.isOptional(type))
  return isTold ? schema : schema.rebuild(jsonObject(schema.ast))
}

/** An object whose names mean nothing to the protocol. */
export const mapOf = <Value extends Schema.Top>(value: Value) => {
  const schema = Schema.Record(Schema.String, value)
  return schema.rebuild(jsonObject(schema.ast))
}

/** An object of any members. */
export const AnyObject = mapOf(Schema.Unknown)

/** `_meta`, where nothing about it is said. */
export const Meta = Schema.optionalKey(AnyObject)
