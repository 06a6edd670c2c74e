/**
 * From a schema: the JSON Schema that is published, the codec that decodes what a peer sends and the one that encodes
 * what we send. All three come from `Schema.toCodecJson` of the author's schema, made once, so they cannot disagree.
 */
import * as JsonPointer from "effect/JsonPointer"
import type * as JsonSchema from "effect/JsonSchema"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Json from "../Json.ts"
import { jsonObject } from "./open.ts"

/** Where in a definition a schema cannot be used, and why. */
export interface Problem {
  readonly path: ReadonlyArray<string>
  readonly reason: string
}

/**
 * The first part of a schema that has no JSON form: `Schema.toCodecJson` would let it through and fail at the first
 * call, so it is looked for when the definition is made.
 */
export const findProblem = (schema: Schema.Top): Problem | undefined => {
  const seen = new Set<SchemaAST.AST>()
  const visit = (ast: SchemaAST.AST, path: ReadonlyArray<string>): Problem | undefined => {
    if (seen.has(ast)) return undefined
    seen.add(ast)
    const link = ast.encoding?.at(-1)
    if (link !== undefined) return visit(link.to, path)
    switch (ast._tag) {
      case "Declaration": {
        if (typeof (ast.annotations?.["toCodecJson"] ?? ast.annotations?.["toCodec"]) !== "function") {
          return { path, reason: "a declaration without a JSON codec (annotate it with toCodecJson)" }
        }
        return first(ast.typeParameters, (type) => visit(type, path))
      }
      case "Objects":
        return first(
          ast.propertySignatures,
          ({ name, type }) => {
            if (typeof name !== "string") {
              return { path: [...path, String(name)], reason: "a property name that is not a string" }
            }
            // To Effect every object has it, so that it would never be absent.
            const isInherited = name !== "__proto__" && name in Object.prototype
            return isInherited && (SchemaAST.isOptional(type) || SchemaAST.isOptional(SchemaAST.toEncoded(type)))
              ? { path: [...path, name], reason: "optional and named as something that every object has" }
              : visit(type, [...path, name])
          }
        ) ?? first(ast.indexSignatures, ({ type }) => visit(type, [...path, "*"]))
      case "Arrays":
        return first(ast.elements, (type, i) => visit(type, [...path, String(i)])) ??
          first(ast.rest, (type) => visit(type, [...path, "*"]))
      case "Union":
        return first(ast.types, (type) => visit(type, path))
      case "Suspend":
        return visit(ast.thunk(), path)
      default:
        return undefined
    }
  }
  return visit(schema.ast, [])
}

const first = <A, B>(items: ReadonlyArray<A>, f: (item: A, index: number) => B | undefined): B | undefined => {
  for (let i = 0; i < items.length; i++) {
    const found = f(items[i]!, i)
    if (found !== undefined) return found
  }
  return undefined
}

/** Any JSON value, numbers that a double cannot hold included; an undefined member is one that is left out. */
const JsonValue: Schema.Codec<Json.Value> = Schema.declare<Json.Value>(
  (u): u is Json.Value => isJson(u),
  { expected: "a JSON value", toCodecJson: () => undefined }
)

/**
 * The path of the first part of a value that JSON cannot hold, or that nests too deep: what is published is written to
 * JSON much later, with everything else that is listed.
 */
export const findNotJson = (
  value: unknown,
  // A schema may nest as deep as a message, within its declaration.
  levels: number = Json.defaultMaxDepth + 1
): ReadonlyArray<string> | undefined => {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return undefined
    case "number":
      return Number.isFinite(value) ? undefined : []
    case "object": {
      if (value === null || Json.isExactNumber(value)) return undefined
      if (levels === 0) return []
      for (const [key, member] of Object.entries(value)) {
        const found = findNotJson(member, levels - 1)
        if (found !== undefined) return [key, ...found]
      }
      return undefined
    }
    default:
      return []
  }
}

const isJson = (u: unknown): boolean => {
  switch (typeof u) {
    case "string":
    case "boolean":
      return true
    case "number":
      return Number.isFinite(u)
    case "object":
      if (u === null || Json.isExactNumber(u)) return true
      if (Array.isArray(u)) return u.every(isJson)
      if (Object.getPrototypeOf(u) !== Object.prototype) {
        if ("toJSON" in u && typeof u.toJSON === "function") return isJson(u.toJSON())
        // Such as a Map, a Promise or an Error, of which JSON would leave nothing.
        if (isOpaque(u)) return false
      }
      return Object.values(u).every((member) => member === undefined || isJson(member))
    default:
      return false
  }
}

/** An instance of a class of the language that holds something JSON does not show. */
const isOpaque = (u: object): boolean =>
  ArrayBuffer.isView(u) || /^\[object (?!Object\])/.test(Object.prototype.toString.call(u))

const anyObject = Schema.Record(Schema.String, JsonValue)

// The link that `Schema.toCodecJson` adds to a number itself, found by looking.
const numberLink = Schema.toCodecJson(Schema.Number).ast.encoding?.[0]
const jsonId = "effect/schema/Json"

/** The codec a peer's JSON is decoded with. A null for a property declared with `Schema.optional` counts as absent. */
export const decoderOf = <S extends Schema.Top>(
  schema: S
): Schema.Codec<S["Type"], unknown, S["DecodingServices"], S["EncodingServices"]> =>
  Schema.make(lean(Schema.toCodecJson(schema).ast, decoding))

/** The codec our JSON is encoded with, and the one that is published. */
export const encoderOf = <S extends Schema.Top>(
  schema: S
): Schema.Codec<S["Type"], unknown, S["DecodingServices"], S["EncodingServices"]> =>
  Schema.make(lean(Schema.toCodecJson(schema).ast, encoding))

interface Mode {
  readonly omitUndefined: boolean
  readonly memo: WeakMap<SchemaAST.AST, SchemaAST.AST>
}

const decoding: Mode = { omitUndefined: false, memo: new WeakMap() }
const encoding: Mode = { omitUndefined: true, memo: new WeakMap() }

/**
 * What `toCodecJson` derives, without what an author did not write: no "NaN" beside a number, no null in place of an
 * absent property; and any JSON value where the author says unknown, so that exact numbers get through.
 */
const lean = (ast: SchemaAST.AST, mode: Mode): SchemaAST.AST => {
  const known = mode.memo.get(ast)
  if (known !== undefined) return known
  const result = leanStep(ast, mode)
  mode.memo.set(ast, result)
  return result
}

const leanStep = (ast: SchemaAST.AST, mode: Mode): SchemaAST.AST => {
  const link = ast.encoding?.at(-1)
  if (link !== undefined) {
    if (link === numberLink) {
      const checks = [...(Schema.Finite.ast.checks ?? []), ...(ast.checks ?? [])]
      return clone(Schema.Finite.ast, { checks, context: ast.context, annotations: ast.annotations })
    }
    const to = lean(link.to, mode)
    if (to === link.to) return ast
    return clone(ast, { encoding: [...ast.encoding!.slice(0, -1), new SchemaAST.Link(to, link.transformation)] })
  }
  switch (ast._tag) {
    case "Declaration": {
      const representation = ast.annotations?.["representation"] as { readonly id?: unknown } | undefined
      return representation?.id === jsonId ? clone(JsonValue.ast, { context: ast.context }) : ast
    }
    case "Any":
      return clone(JsonValue.ast, {
        context: ast.context,
        annotations: { ...ast.annotations, ...JsonValue.ast.annotations }
      })
    case "Objects": {
      // To Effect, a struct without fields is any value but null; in JSON it is meant as an object.
      if (ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0) {
        return lean(clone(anyObject.ast, { context: ast.context, annotations: ast.annotations }), mode)
      }
      const propertySignatures = SchemaAST.mapOrSame(ast.propertySignatures, (signature) => {
        const type = leanProperty(signature.type, mode)
        return type === signature.type ? signature : new SchemaAST.PropertySignature(signature.name, type)
      })
      const indexSignatures = SchemaAST.mapOrSame(ast.indexSignatures, (signature) => {
        const type = lean(signature.type, mode)
        return type === signature.type ? signature : new SchemaAST.IndexSignature(signature.parameter, type)
      })
      const leaned = clone(ast, { propertySignatures, indexSignatures })
      return mode.omitUndefined ? leaned : jsonObject(leaned)
    }
    case "Arrays": {
      const elements = SchemaAST.mapOrSame(ast.elements, (element) => lean(element, mode))
      const rest = SchemaAST.mapOrSame(ast.rest, (element) => lean(element, mode))
      return elements === ast.elements && rest === ast.rest ? ast : clone(ast, { elements, rest })
    }
    case "Union": {
      const types = SchemaAST.mapOrSame(ast.types, (type) => lean(type, mode))
      return types === ast.types ? ast : clone(ast, { types })
    }
    case "Suspend":
      return new SchemaAST.Suspend(
        () => lean(ast.thunk(), mode),
        ast.annotations,
        ast.checks,
        undefined,
        ast.context
      )
    default:
      return ast
  }
}

/** An absent property is absent on the wire too; `Schema.toCodecJson` alone would write null for `undefined`. */
const leanProperty = (ast: SchemaAST.AST, mode: Mode): SchemaAST.AST => {
  if (!mode.omitUndefined || ast._tag !== "Union" || !SchemaAST.isOptional(ast)) return lean(ast, mode)
  const types = ast.types.filter((type) => type._tag !== "Undefined")
  if (types.length === ast.types.length || types.length === 0) return lean(ast, mode)
  // A check of the whole sees `undefined` too, so it stays with the decoded side; what it is annotated with is published.
  const annotations = SchemaAST.resolve(ast)
  const inner = lean(
    annotated(
      types.length === 1 ? types[0]! : clone(ast, { types, context: undefined, checks: undefined }),
      annotations
    ),
    mode
  )
  const decoded = clone(Schema.optional(Schema.make<Schema.Top>(SchemaAST.toType(inner))).ast, { checks: ast.checks })
  return Schema.optionalKey(Schema.make<Schema.Top>(inner)).pipe(
    Schema.decodeTo(Schema.make<Schema.Top>(decoded), {
      decode: SchemaGetter.passthrough(),
      encode: SchemaGetter.transformOptional(Option.filter((value: unknown) => value !== undefined))
    })
  ).ast
}

/** A node with more annotations, which count before its own. */
const annotated = (ast: SchemaAST.AST, annotations: Schema.Annotations.Annotations | undefined): SchemaAST.AST =>
  annotations === undefined ? ast : Schema.make<Schema.Top>(ast).annotate(annotations).ast

/** A copy of a node with some members replaced; nodes are immutable and their classes have no such method in public. */
const clone = <A extends SchemaAST.AST>(ast: A, members: Partial<Record<string, unknown>>): A => {
  const copy = Object.create(Object.getPrototypeOf(ast), Object.getOwnPropertyDescriptors(ast))
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return copy
}

/** The JSON Schema of a codec made by {@link encoderOf}, without anything that only says what is true anyway. */
export const documentOf = (encoder: Schema.Top): Json.Object => {
  const { definitions, schema } = Schema.toJsonSchemaDocument(encoder, {
    includeAnnotationKey: (key) => key.startsWith("x-"),
    // A definition that is used once is clearer where it is used.
    referencePolicy: ({ identifier, occurrences }) => occurrences > 1 ? identifier : undefined
  })
  const whole = inlineRoot(schema, definitions)
  const used = usedDefinitions(whole, definitions)
  const root = tidy(whole) as Json.Object
  const names = Object.keys(definitions).filter((name) => used.has(name))
  return names.length === 0
    ? root
    : { ...root, $defs: Object.fromEntries(names.map((name) => [name, tidy(definitions[name]!)])) }
}

/** The definition that a `$ref` points to; identifiers may hold what a pointer escapes. */
export const definitionName = (ref: unknown): string | undefined => {
  const path = typeof ref === "string" ? JsonPointer.parseUriFragment(ref) : undefined
  return path?.length === 2 && path[0] === "$defs" ? path[1] : undefined
}

/** A document whose references stand for what they point to, but for those to what contains itself. */
export const inlined = ({ $defs, ...root }: Json.Object): Json.Object => {
  if (!Json.isObject($defs)) return root
  const recursive = new Set(Object.keys($defs).filter((name) => usedDefinitions($defs[name]!, $defs).has(name)))
  const inline = (value: Json.Value): Json.Value => {
    if (Array.isArray(value)) return value.map(inline)
    if (!Json.isObject(value)) return value
    const name = definitionName(value["$ref"])
    const target = name === undefined || recursive.has(name) ? undefined : $defs[name]
    if (Json.isObject(target)) {
      const { $ref: _, ...beside } = value
      return inline({ ...target, ...beside })
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [
        key,
        verbatim.has(key) ? member : key === "properties" && Json.isObject(member) ? inlineEach(member) : inline(member)
      ])
    )
  }
  const inlineEach = (members: Json.Object): Json.Object =>
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, inline(schema)]))
  const kept = Object.fromEntries(Object.entries($defs).filter(([name]) => recursive.has(name)))
  return { ...inline(root) as Json.Object, ...(recursive.size === 0 ? {} : { $defs: inlineEach(kept) }) }
}

const inlineRoot = (schema: JsonSchema.JsonSchema, definitions: JsonSchema.Definitions): JsonSchema.JsonSchema => {
  const { $ref, ...rest } = schema
  const name = definitionName($ref)
  const target = name === undefined ? undefined : definitions[name]
  return target === undefined ? schema : inlineRoot({ ...target, ...rest }, definitions)
}

const usedDefinitions = (schema: unknown, definitions: Readonly<Record<string, unknown>>): Set<string> => {
  const used = new Set<string>()
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (typeof value !== "object" || value === null) return
    for (const [key, member] of Object.entries(value)) {
      const name = key === "$ref" ? definitionName(member) : undefined
      if (name !== undefined) {
        if (!used.has(name)) {
          used.add(name)
          visit(definitions[name])
        }
      } else visit(member)
    }
  }
  visit(schema)
  return used
}

const verbatim = new Set(["default", "examples", "enum", "const"])

/** Drops bounds that every integer has and `additionalProperties: true`; keeps the order of the rest. */
const tidy = (value: unknown): Json.Value => {
  if (Array.isArray(value)) return value.map(tidy)
  if (typeof value !== "object" || value === null) return value as Json.Value
  const schema = flattened(value as Record<string, unknown>)
  const entries: Array<[string, Json.Value]> = []
  for (const [key, member] of Object.entries(schema)) {
    if (key === "additionalProperties" && member === true) continue
    if (schema["type"] === "integer" && key === "minimum" && member === Number.MIN_SAFE_INTEGER) continue
    if (schema["type"] === "integer" && key === "maximum" && member === Number.MAX_SAFE_INTEGER) continue
    entries.push([
      key,
      verbatim.has(key) ? member as Json.Value : key === "properties" ? tidyEach(member) : tidy(member)
    ])
  }
  return Object.fromEntries(entries)
}

/** `allOf` members that say nothing the schema says already stand in the schema itself. */
const flattened = (schema: Record<string, unknown>): Record<string, unknown> => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf)) return schema
  const merged: Record<string, unknown> = { ...rest }
  for (const member of allOf) {
    if (!Json.isObject(member) || Object.keys(member).some((key) => key in merged)) return schema
    Object.assign(merged, member)
  }
  return merged
}

/** The keys of `properties` are names, not keywords. */
const tidyEach = (properties: unknown): Json.Value =>
  Object.fromEntries(Object.entries(properties as object).map(([name, schema]) => [name, tidy(schema)]))
