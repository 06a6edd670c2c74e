/**
 * The HTTP header rules of revision 2026-07-28 (spec: basic/transports/streamable-http).
 */
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import { sameNumber } from "../../internal/decimal.ts"
import * as Json from "../../Json.ts"
import type { Revision } from "../Definition.ts"
import { definition, meta } from "./definition.ts"

export const headerNames = {
  protocolVersion: "mcp-protocol-version",
  method: "mcp-method",
  name: "mcp-name",
  parameterPrefix: "mcp-param-"
} as const

const prefix = "=?base64?"
const suffix = "?="
const encoder = new TextEncoder()
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

// Space to tilde, neither first nor last a space: what a header carries unchanged through every intermediary.
const plainValue = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/
// What may arrive: the same and tabs.
const legalValue = /^[\x20-\x7e\t]*$/

const looksEncoded = (value: string): boolean =>
  value.length >= prefix.length + suffix.length && value.startsWith(prefix) && value.endsWith(suffix)

export const encodeValue = (value: string): string => {
  // The short form `=?base64?=` is both prefix and suffix; peers may take it for an encoded value, so it is encoded too.
  const ambiguous = value.startsWith(prefix) && value.endsWith(suffix)
  return plainValue.test(value) && !ambiguous
    ? value
    : `${prefix}${Base64.encode(encoder.encode(value))}${suffix}`
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x09

/** Without the optional white space around it, and nothing else: `trim` would take what is no header character. */
const trimmed = (header: string): string => {
  // By hand: a pattern for the last spaces takes quadratic time on a long run of them.
  let start = 0
  while (isSpace(header.charCodeAt(start))) start++
  let end = header.length
  while (end > start && isSpace(header.charCodeAt(end - 1))) end--
  return header.slice(start, end)
}

export const decodeValue = (header: string): Result.Result<string, string> => {
  const value = trimmed(header)
  if (!legalValue.test(value)) return Result.fail("has characters outside visible ASCII")
  if (value === "=?base64?=") return Result.fail("is an incomplete base64 value")
  if (!looksEncoded(value)) return Result.succeed(value)
  const bytes = Base64.decode(value.slice(prefix.length, -suffix.length))
  if (Result.isFailure(bytes)) return Result.fail("is not valid base64")
  try {
    return Result.succeed(strictDecoder.decode(bytes.success))
  } catch {
    return Result.fail("is not UTF-8")
  }
}

/** One `x-mcp-header` annotation: the header that repeats the argument at a path. */
export interface ParameterHeader {
  readonly header: string
  readonly path: ReadonlyArray<string>
  readonly type: "string" | "integer" | "boolean"
}

export interface PlanProblem {
  readonly path: string
  readonly reason: string
}

export const annotation = "x-mcp-header"
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Values of these keywords are data, not schemas.
const dataKeywords = new Set(["const", "default", "enum", "examples"])
// The keys of the values of these keywords are names, not keywords.
const namedKeywords = new Set(["patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"])
const maxDepth = 64

/** The headers that a tool's input schema asks for (spec: Schema Extension), or why the schema is not valid. */
export const plan = (schema: Json.Object): Result.Result<ReadonlyArray<ParameterHeader>, PlanProblem> => {
  const found: Array<ParameterHeader> = []
  const names = new Set<string>()
  let problem: PlanProblem | undefined
  const fail = (path: string, reason: string) => {
    problem ??= { path, reason }
  }

  const annotated = (schema: Json.Object, path: ReadonlyArray<string>, reachable: boolean) => {
    const name = schema[annotation]
    const at = path.length === 0 ? "the root" : path.join(".")
    if (!reachable) return fail(at, "the annotation is not reachable through `properties` alone")
    if (typeof name !== "string" || !token.test(name)) return fail(at, "the header name is not an HTTP token")
    const type = schema["type"]
    if (type !== "string" && type !== "integer" && type !== "boolean") {
      return fail(at, "only a string, an integer or a boolean can be a header")
    }
    const header = headerNames.parameterPrefix + name.toLowerCase()
    if (names.has(header)) return fail(at, "the header name is used twice")
    names.add(header)
    found.push({ header, path, type })
  }

  const visit = (value: Json.Value, path: ReadonlyArray<string>, reachable: boolean, depth: number): void => {
    if (problem !== undefined) return
    if (depth > maxDepth) return fail(path.join("."), `the schema nests deeper than ${maxDepth} levels`)
    if (Array.isArray(value)) return value.forEach((item) => visit(item, path, false, depth + 1))
    if (!Json.isObject(value)) return
    if (Object.hasOwn(value, annotation)) annotated(value, path, reachable && path.length > 0)
    for (const [key, member] of Object.entries(value)) {
      if (dataKeywords.has(key) || key === annotation) continue
      if (key === "properties" && Json.isObject(member)) {
        for (const [name, property] of Object.entries(member)) visit(property, [...path, name], reachable, depth + 1)
      } else if (namedKeywords.has(key)) {
        if (Json.isObject(member)) {
          for (const [name, sub] of Object.entries(member)) visit(sub, [...path, key, name], false, depth + 1)
        }
      } else {
        visit(member, [...path, key], false, depth + 1)
      }
    }
  }

  visit(schema, [], true, 0)
  return problem === undefined ? Result.succeed(found) : Result.fail(problem)
}

const valueAt = (args: Json.Object, path: ReadonlyArray<string>): Json.Value | undefined => {
  let value: Json.Value | undefined = args
  for (const name of path) {
    if (!Json.isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

const printed = (value: Json.Value | undefined): string | undefined => {
  switch (typeof value) {
    case "string":
      return value
    case "boolean":
      return String(value)
    case "number":
      return Number.isSafeInteger(value) ? String(value) : undefined
    default:
      return undefined
  }
}

/** The parameter headers of a call: absent and null arguments have none (spec: Client Behavior). */
export const parameterHeaders = (
  plan: ReadonlyArray<ParameterHeader>,
  args: Json.Object
): ReadonlyArray<readonly [name: string, value: string]> => {
  const headers: Array<readonly [string, string]> = []
  for (const { header, path } of plan) {
    const value = printed(valueAt(args, path))
    if (value !== undefined) headers.push([header, encodeValue(value)])
  }
  return headers
}

/**
 * The path of an argument that its header cannot repeat, such as an integer beyond the safe ones or a list where a text
 * should be (spec: Schema Extension); a call with one is refused by a server that sees the header missing.
 */
export const unrepeatable = (
  plan: ReadonlyArray<ParameterHeader>,
  args: Json.Object
): ReadonlyArray<string> | undefined =>
  plan.find(({ path }) => {
    const value = valueAt(args, path)
    return value !== undefined && value !== null && printed(value) === undefined
  })?.path

/** The headers every request has: version, method, and the name where the method has one. */
export const requestHeaders = (
  method: string,
  params: Json.Object,
  revision: Revision = definition
): ReadonlyArray<readonly [name: string, value: string]> => {
  const headers: Array<readonly [string, string]> = [
    [headerNames.protocolVersion, revision.version],
    [headerNames.method, method]
  ]
  const routingName = revision.methods.get(method)?.routingName
  const name = routingName === undefined ? undefined : params[routingName]
  if (typeof name === "string") headers.push([headerNames.name, encodeValue(name)])
  return headers
}

type Lookup = (name: string) => string | undefined

/** What is wrong with the version header, if anything: it must be there and equal the one in `_meta`. */
export const checkVersionHeader = (header: Lookup, version: string): string | undefined => {
  const value = header(headerNames.protocolVersion)
  if (value === undefined) return "The MCP-Protocol-Version header is missing"
  return trimmed(value) === version ? undefined : `The MCP-Protocol-Version header differs from ${meta.protocolVersion}`
}

/** What is wrong with the routing headers, if anything (spec: Server Validation). */
export const checkRoutingHeaders = (
  header: Lookup,
  method: string,
  params: Json.Object,
  routingName: string | undefined
): string | undefined => {
  const sent = header(headerNames.method)
  if (sent === undefined) return "The Mcp-Method header is missing"
  if (trimmed(sent) !== method) return "The Mcp-Method header differs from the body's method"
  if (routingName === undefined) return undefined
  const name = params[routingName]
  // A body without its name is refused for its parameters, not for its headers.
  if (typeof name !== "string") return undefined
  const mirrored = header(headerNames.name)
  if (mirrored === undefined) return "The Mcp-Name header is missing"
  // Most names are sent as they are.
  if (mirrored === name && !mirrored.startsWith(prefix) && legalValue.test(mirrored)) return undefined
  const decoded = decodeValue(mirrored)
  if (Result.isFailure(decoded)) return `The Mcp-Name header ${decoded.failure}`
  return decoded.success === name ? undefined : `The Mcp-Name header differs from params.${routingName}`
}

/** What is wrong with the parameter headers, if anything: both or neither, equal after decoding. */
export const checkParameterHeaders = (
  header: Lookup,
  plan: ReadonlyArray<ParameterHeader>,
  args: Json.Object
): string | undefined => {
  for (const parameter of plan) {
    const value = valueAt(args, parameter.path)
    const expected = printed(value)
    const sent = header(parameter.header)
    if (value === undefined || value === null) {
      if (sent === undefined) continue
      return `The ${parameter.header} header has no argument to repeat`
    }
    // Also where no header can repeat it, as a list: whoever decides by headers must not be passed by.
    if (sent === undefined) return `The ${parameter.header} header is missing`
    if (expected === undefined) return `The ${parameter.header} header differs from its argument`
    const decoded = decodeValue(sent)
    if (Result.isFailure(decoded)) return `The ${parameter.header} header ${decoded.failure}`
    if (!sameValue(decoded.success, value, expected)) return `The ${parameter.header} header differs from its argument`
  }
  return undefined
}

// Integers are compared as numbers: 42.0 and 42 are the same (spec: Server Validation).
const sameValue = (sent: string, value: Json.Value | undefined, expected: string): boolean =>
  sent === expected || (typeof value === "number" && sameNumber(sent, expected))
