/**
 * Schema issues in words: path and reason of each, never the value.
 */
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

export const describe = (issue: SchemaIssue.Issue): ReadonlyArray<string> =>
  format(issue).issues.map(({ message, path }) => {
    const at = (path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".")
    return at === "" ? message : `${at}: ${message}`
  })
