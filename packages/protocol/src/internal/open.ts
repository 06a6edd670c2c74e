/**
 * Open objects: the protocol's objects keep members that a schema does not name (spec: basic, General fields).
 */
import * as Schema from "effect/Schema"

/** A struct whose values keep members it does not name. */
export const open = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)])

/** An object of any members. */
export const AnyObject = Schema.Record(Schema.String, Schema.Unknown)

/** `_meta`, where nothing about it is said. */
export const Meta = Schema.optionalKey(AnyObject)
