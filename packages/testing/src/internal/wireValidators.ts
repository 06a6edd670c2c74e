/**
 * The definitions of the published schema, found by what a message says of itself, and their compiled validators.
 */
import { fullFormats } from "ajv-formats/dist/formats.js"
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js"
import { definitions, type JsonSchema } from "./wireSchema.ts"

/** The definitions of a request and of its complete result, and whether it may be answered by asking for input. */
export interface RequestDefinition {
  readonly request: string
  readonly result: string
  readonly asksForInput: boolean
}

const schemaId = "fairlead:wire"

let ajv: Ajv2020 | undefined
const validators = new Map<string, ValidateFunction>()

const validatorOf = (definition: string): ValidateFunction => {
  const known = validators.get(definition)
  if (known !== undefined) return known
  if (ajv === undefined) {
    ajv = new Ajv2020({ allErrors: true, strict: false })
    ajv.addFormat("uri", fullFormats.uri)
    ajv.addFormat("uri-template", fullFormats["uri-template"])
    ajv.addFormat("byte", fullFormats.byte)
    ajv.addSchema({ $id: schemaId, $defs: definitions })
  }
  const made = ajv.compile({ $ref: `${schemaId}#/$defs/${definition}` })
  validators.set(definition, made)
  return made
}

/** What is wrong with a value that stands at a path, one line a problem. */
export const validate = (definition: string, value: unknown, path = ""): ReadonlyArray<string> => {
  const validator = validatorOf(definition)
  if (validator(value)) return []
  return [...new Set((validator.errors ?? []).map((error) => path + describe(error)))].map((line) => line.trim())
}

const describe = ({ instancePath, message, params }: ErrorObject): string => {
  const extra = Object.values(params as { readonly [key: string]: unknown }).filter((value) => Array.isArray(value))
  const allowed = extra.length === 0 ? "" : `: ${extra.map((value) => JSON.stringify(value)).join(" ")}`
  return `${instancePath} ${message ?? "is not valid"}${allowed}`
}

const constantOf = (schema: JsonSchema | undefined, ...path: ReadonlyArray<string>): unknown => {
  let at: unknown = schema
  for (const key of path) at = typeof at === "object" && at !== null ? (at as JsonSchema)[key] : undefined
  return at
}

/** The definition of a result that asks for input. It is open: what it describes has to be told by its type. */
export const inputRequired = "InputRequiredResult"

/** The definitions that a schema refers to, itself or by its alternatives. */
const resultsOf = (schema: unknown): ReadonlyArray<string> => {
  const { $ref: ref, anyOf } = (schema ?? {}) as { readonly $ref?: string; readonly anyOf?: ReadonlyArray<unknown> }
  return anyOf?.flatMap(resultsOf) ?? (ref === undefined ? [] : [ref.slice("#/$defs/".length)])
}

const requests = new Map<string, RequestDefinition>()
const notifications = new Map<string, string>()
const errors = new Map<number, string>()

for (const [name, schema] of Object.entries(definitions)) {
  const method = constantOf(schema, "properties", "method", "const")
  if (typeof method === "string") {
    const results = resultsOf(
      constantOf(definitions[`${name.replace(/Request$/, "")}ResultResponse`], "properties", "result")
    )
    const result = results.find((one) => one !== inputRequired)
    if (name.endsWith("Request") && result !== undefined) {
      requests.set(method, { request: name, result, asksForInput: results.includes(inputRequired) })
    } else if (name.endsWith("Notification") && name !== "ClientNotification") notifications.set(method, name)
  }
  // Errors that are an envelope of their own, as those of the revision are.
  const refinements = constantOf(schema, "properties", "error", "allOf")
  const own = Array.isArray(refinements) ? refinements.find((part) => "properties" in part) : undefined
  const code = constantOf(own, "properties", "code", "const")
  if (typeof code === "number") errors.set(code, name)
}

export const definitionOfRequest = (method: string): RequestDefinition | undefined => requests.get(method)

export const definitionOfNotification = (method: string): string | undefined => notifications.get(method)

/** The definition of an error response with this code; most codes have none of their own. */
export const definitionOfError = (code: number): string | undefined => errors.get(code)
