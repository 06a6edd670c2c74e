/**
 * JSON that does not depend on the order of members.
 */
import * as Json from "@fairlead/protocol/Json"

export const canonical = (value: Json.Value): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (!Json.isObject(value)) return JSON.stringify(value)
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key]!)}`)
  return `{${members.join(",")}}`
}
