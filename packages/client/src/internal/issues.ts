/**
 * What a schema objects to, in one line that names the place and never the value.
 */
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  // A message that was made from the value could hold it; what is annotated at the schema is static.
  leafHook: (issue) => issue._tag === "InvalidValue" ? expectedOf(issue) : SchemaIssue.defaultLeafHook(issue),
  checkHook: (issue) => {
    const message = issue.filter.annotations?.["message"]
    return typeof message === "string" ? message : undefined
  }
})

const expectedOf = (issue: SchemaIssue.InvalidValue): string => {
  const expected = issue.annotations?.["expected"]
  return typeof expected === "string" ? `Expected ${expected}` : "Expected a valid value"
}

/** `root.path[0].name: Expected string`, for the first objection. */
export const describe = (root: string, issue: SchemaIssue.Issue): string => {
  const first = format(issue).issues[0]
  if (first === undefined) return `${root}: Expected a valid value`
  return `${root}${(first.path ?? []).map(segment).join("")}: ${first.message}`
}

const plainKey = /^[A-Za-z_$][\w$-]{0,63}$/

/** Keys of a record are data too: only those that look like names are repeated. */
const segment = (part: PropertyKey | { readonly key: PropertyKey }): string => {
  const key = typeof part === "object" ? part.key : part
  if (typeof key === "number") return `[${key}]`
  return typeof key === "string" && plainKey.test(key) ? `.${key}` : "[*]"
}
