/**
 * What a form asks of its answer: the part of JSON Schema that forms have (spec: client/elicitation, Requested Schema).
 * What a schema says beyond it asks for nothing here; the server decides in the end.
 */
import * as Json from "@fairlead/protocol/Json"

/** Why the content does not fit the form, by the name of the field; absent where it fits. */
export const problemOfContent = (schema: Json.Object, content: Json.Object): string | undefined => {
  const properties = Json.isObject(schema["properties"]) ? schema["properties"] : {}
  for (const name of listOf(schema["required"])) {
    if (typeof name === "string" && !Object.hasOwn(content, name)) return `the field ${name} is missing`
  }
  for (const [name, value] of Object.entries(content)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    const problem = problemOfValue(Json.isObject(property) ? property : {}, value)
    if (problem !== undefined) return `the field ${name} ${problem}`
  }
  return undefined
}

const problemOfValue = (property: Json.Object, value: Json.Value): string | undefined => {
  if (Array.isArray(value)) return problemOfChoices(property, value)
  const { type } = property
  if (type === undefined || type === typeof value) {
    if (typeof value === "string") return problemOfText(property, value)
    if (typeof value === "number") return problemOfNumber(property, value)
    return typeof value === "boolean" ? undefined : "is none of text, number, boolean and a list of texts"
  }
  if (type === "integer" && Number.isInteger(value)) return problemOfNumber(property, value as number)
  // Its digits are more than a double holds, and its bounds are not looked at.
  if (type === "number" && Json.isExactNumber(value)) return undefined
  return "has another type"
}

const problemOfText = (property: Json.Object, value: string): string | undefined => {
  const { format, maxLength, minLength } = property
  const length = [...value].length
  if (typeof minLength === "number" && length < minLength) return "is too short"
  if (typeof maxLength === "number" && length > maxLength) return "is too long"
  if (!isChoice(property, value)) return "is no choice"
  const isFormatted = typeof format === "string" ? formats.get(format) : undefined
  return isFormatted === undefined || isFormatted(value) ? undefined : `is no ${String(format)}`
}

const problemOfNumber = ({ maximum, minimum }: Json.Object, value: number): string | undefined => {
  if (typeof minimum === "number" && value < minimum) return "is too small"
  return typeof maximum === "number" && value > maximum ? "is too large" : undefined
}

const problemOfChoices = (property: Json.Object, values: ReadonlyArray<Json.Value>): string | undefined => {
  const { items, maxItems, minItems, type } = property
  if (type !== undefined && type !== "array") return "has another type"
  if (typeof minItems === "number" && values.length < minItems) return "has too few choices"
  if (typeof maxItems === "number" && values.length > maxItems) return "has too many choices"
  const choices = Json.isObject(items) ? items : {}
  return values.every((value) => typeof value === "string" && isChoice(choices, value)) ? undefined : "is no choice"
}

/** Whether it is among the choices; without any, every text is. */
const isChoice = ({ anyOf, enum: values, oneOf }: Json.Object, value: string): boolean => {
  if (Array.isArray(values) && !values.includes(value)) return false
  return [anyOf, oneOf].every((choices) =>
    !Array.isArray(choices) || choices.some((choice) => Json.isObject(choice) && choice["const"] === value)
  )
}

const isDate = (text: string): boolean => {
  const date = new Date(`${text}T00:00:00Z`)
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["email", (text: string) => /^[^\s@]+@[^\s@]+$/.test(text)],
  ["uri", (text: string) => URL.canParse(text)],
  ["date", isDate],
  [
    "date-time",
    (text: string) =>
      /^[^t]+T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text) && isDate(text.slice(0, 10)) &&
      !Number.isNaN(Date.parse(text))
  ]
])

const listOf = (value: Json.Value | undefined): ReadonlyArray<Json.Value> => Array.isArray(value) ? value : []
