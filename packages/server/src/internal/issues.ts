/**
 * Schema issues in words, for models and for logs: path and reason of each. What an author wrote is repeated as it is: the
 * names of fields, the messages of filters (they are written for whoever has to correct the value), and what a schema
 * expects. Of the data nothing is: no value, and no key of a record, which stands as `*`.
 */
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** How many issues are told one by one: a large value can have as many as it has parts. */
const maxIssues = 32

export const describe = (issue: SchemaIssue.Issue): ReadonlyArray<string> => {
  const all: Array<string> = []
  collect(issue, [], all)
  const more = all.length - maxIssues
  return more > 0 ? [...all.slice(0, maxIssues), `and ${more} more`] : all
}

type Path = ReadonlyArray<PropertyKey>

const collect = (issue: SchemaIssue.Issue, path: Path, all: Array<string>): void => {
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], all)
    case "Encoding":
      return collect(issue.issue, path, all)
    case "Composite":
      for (const part of issue.issues) {
        if (part._tag === "Pointer" && isData(part.path, issue.ast)) collect(part.issue, [...path, "*"], all)
        else collect(part, path, all)
      }
      return
    default:
      for (const { message, path: rest = [] } of format(issue).issues) {
        const at = [...path, ...rest.map((segment) => typeof segment === "object" ? segment.key : segment)]
        all.push(at.length === 0 ? message : `${at.map(String).join(".")}: ${message}`)
      }
  }
}

/** Whether a key is none of the author's: that of a record, or one too many. */
const isData = ([key]: Path, ast: SchemaAST.AST): boolean =>
  ast._tag === "Objects" && !ast.propertySignatures.some(({ name }) => name === key)
