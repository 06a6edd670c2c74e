/**
 * URI templates (RFC 6570) in both directions: a template is expanded with values, and a URI is matched against it.
 * Matching takes one pass and no backtracking.
 *
 * | expression | matches |
 * | --- | --- |
 * | `{name}` | one or more characters other than `/`, `?` and `#` |
 * | `{+name}` | one or more characters of any kind, up to the text that follows |
 * | `{#name}` | the fragment |
 * | `{.name}`, `{;name}` | a label or a parameter of a segment |
 * | `{/name}`, `{/name*}` | a segment; with `*` any number of them, as a list |
 * | `{?a,b}`, `{&a,b}` | query parameters in any order; each may be absent |
 *
 * Not matched, and refused by name: prefixes (`{name:3}`), `*` elsewhere than after `/`, two expressions side by side
 * where the first has no end, and the same variable twice.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"

/**
 * The values of a template's variables: a text, or a list for `{/name*}`. An absent variable has none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Values {
  readonly [name: string]: string | ReadonlyArray<string>
}

/**
 * A template.
 *
 * @category models
 * @since 0.1.0
 */
export interface UriTemplate {
  readonly source: string
  /** The variables, in the order of the template. */
  readonly variables: ReadonlyArray<string>
  /** What the template is but for the names of its variables: two templates with the same shape match the same URIs. */
  readonly shape: string
  /** The number of characters that stand as they are; a template with more of them is the more specific one. */
  readonly literalLength: number
  readonly parts: ReadonlyArray<Part>
}

/**
 * A part of a template: literal text, or an expression.
 *
 * @category models
 * @since 0.1.0
 */
export type Part =
  | { readonly _tag: "Literal"; readonly text: string }
  | {
    readonly _tag: "Expression"
    readonly operator: Operator
    readonly variables: ReadonlyArray<{ readonly name: string; readonly explode: boolean }>
  }

/**
 * The operator of an expression; the empty one is simple expansion.
 *
 * @category models
 * @since 0.1.0
 */
export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&"

/**
 * Why a template cannot be used.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidUriTemplate extends Data.TaggedError("InvalidUriTemplate")<{
  readonly template: string
  readonly reason: string
}> {
  override get message(): string {
    return `The URI template ${JSON.stringify(this.template)} cannot be used: ${this.reason}`
  }
}

/**
 * The longest URI that is matched, in characters; a longer one matches nothing.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxUriLength = 4096

const maxVariables = 32
const variableName = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/

/**
 * Reads a template. It begins with the scheme of a URI.
 *
 * Fails with {@link InvalidUriTemplate}, which names the expression and the reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (template: string): Result.Result<UriTemplate, InvalidUriTemplate> => {
  const fail = (reason: string) => Result.fail(new InvalidUriTemplate({ template, reason }))
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(template)) return fail("it does not begin with a scheme")
  // oxlint-disable-next-line no-control-regex
  if (/[\s\u0000-\u001f\u007f]/.test(template)) return fail("it has spaces or control characters")
  const parts: Array<Part> = []
  const names = new Set<string>()
  for (const piece of template.match(/\{[^{}]*\}|[^{}]+|[{}]/g) ?? []) {
    if (!piece.startsWith("{") && piece !== "}") {
      parts.push({ _tag: "Literal", text: piece })
      continue
    }
    const body = /^\{([+#./;?&]?)([^{}]*)\}$/.exec(piece)
    if (body === null) return fail("a brace has no partner")
    const operator = body[1] as Operator
    const variables: Array<{ readonly name: string; readonly explode: boolean }> = []
    for (const spec of body[2]!.split(",")) {
      if (spec.includes(":")) return fail(`${piece} has a prefix, which cannot be matched`)
      const explode = spec.endsWith("*")
      const name = explode ? spec.slice(0, -1) : spec
      if (!variableName.test(name)) return fail(`${piece} has no valid variable name`)
      if (explode && operator !== "/") return fail(`${piece} explodes, which can be matched after / only`)
      if (names.has(name)) return fail(`the variable ${name} stands twice`)
      names.add(name)
      variables.push({ name, explode })
    }
    const previous = parts.at(-1)
    if (previous?._tag === "Expression" && !selfDelimiting.has(operator)) {
      return fail(`${piece} follows another expression, so it is not clear where that ends`)
    }
    if (variables.length > 1 && (operator === "+" || operator === "#" || variables.some(({ explode }) => explode))) {
      return fail(`${piece} has several variables, which cannot be told apart`)
    }
    if (operator === "/" && variables.some(({ explode }) => explode) && previous?._tag === "Expression") {
      return fail(`${piece} follows another expression, so it is not clear where that ends`)
    }
    parts.push({ _tag: "Expression", operator, variables })
  }
  if (names.size > maxVariables) return fail(`it has more than ${maxVariables} variables`)
  const open = parts.findIndex((part, i) => isOpenQuery(part) && i < parts.length - 1 && !isQueryTail(parts[i + 1]!))
  if (open !== -1) return fail("text follows a query expression")
  return Result.succeed({
    source: template,
    variables: [...names],
    shape: parts.map(shapeOf).join(""),
    literalLength: parts.reduce((sum, part) => part._tag === "Literal" ? sum + part.text.length : sum, 0),
    parts
  })
}

const selfDelimiting = new Set<Operator>(["/", ".", ";", "?", "&", "#"])

const isOpenQuery = (part: Part): boolean =>
  part._tag === "Expression" && (part.operator === "?" || part.operator === "&")

const isQueryTail = (part: Part): boolean =>
  part._tag === "Expression" && (part.operator === "&" || part.operator === "#")

const shapeOf = (part: Part): string =>
  part._tag === "Literal"
    ? part.text.toLowerCase()
    : part.operator === "?" || part.operator === "&"
    // The names of query parameters are part of what is matched.
    ? `{${part.operator}${part.variables.map(({ name }) => name).sort().join(",")}}`
    : `{${part.operator}${part.variables.map(({ explode }) => explode ? "*" : "").join(",")}}`

/**
 * Expands a template: values are percent-encoded where their operator asks for it, and an absent variable leaves nothing
 * behind (RFC 6570, section 3.2).
 *
 * @category codecs
 * @since 0.1.0
 */
export const expand = (template: UriTemplate, values: Values): string =>
  template.parts.map((part) => part._tag === "Literal" ? part.text : expandExpression(part, values)).join("")

const expandExpression = (part: Extract<Part, { _tag: "Expression" }>, values: Values): string => {
  const { operator } = part
  const named = operator === ";" || operator === "?" || operator === "&"
  const separator = operator === "" || operator === "+" || operator === "#" ? "," : operator === "?" ? "&" : operator
  const encode = operator === "+" || operator === "#" ? encodeReserved : encodeUnreserved
  const pieces: Array<string> = []
  for (const { explode, name } of part.variables) {
    const value = values[name]
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue
    const list = typeof value === "string" ? [encode(value)] : value.map(encode)
    const text = list.join(explode ? separator : ",")
    pieces.push(named ? (text === "" && operator === ";" ? name : `${name}=${text}`) : text)
  }
  if (pieces.length === 0) return ""
  const first = operator === "" || operator === "+" ? "" : operator
  return first + pieces.join(separator)
}

const encodeUnreserved = (value: string): string =>
  encodeURIComponent(value.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  )

const encodeReserved = (value: string): string =>
  value.replace(
    /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]+/g,
    (piece) => piece.startsWith("%") && piece.length === 3 ? piece : encodeURIComponent(piece.toWellFormed())
  )

/**
 * Matches a URI against a template: the decoded values of its variables, or `undefined` when it does not match. The
 * scheme is compared without regard to case. Percent-encoding is decoded once and must be UTF-8.
 *
 * @category codecs
 * @since 0.1.0
 */
export const match = (template: UriTemplate, uri: string): Values | undefined => {
  if (uri.length > maxUriLength) return undefined
  const values: Record<string, string | ReadonlyArray<string>> = Object.create(null)
  let rest = normalizeScheme(uri)
  const { parts } = template
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!
    if (part._tag === "Literal") {
      const text = i === 0 ? normalizeScheme(part.text) : part.text
      if (!rest.startsWith(text)) return undefined
      rest = rest.slice(text.length)
      continue
    }
    const end = endOf(part, parts, i, rest)
    if (end === undefined || !take(part, rest.slice(0, end), values)) return undefined
    rest = rest.slice(end)
  }
  return rest === "" ? { ...values } : undefined
}

const normalizeScheme = (uri: string): string => {
  const colon = uri.indexOf(":")
  return colon === -1 ? uri : uri.slice(0, colon).toLowerCase() + uri.slice(colon)
}

/** Where the text of an expression ends: before what comes next in the template. */
const endOf = (
  part: Extract<Part, { _tag: "Expression" }>,
  parts: ReadonlyArray<Part>,
  index: number,
  rest: string
): number | undefined => {
  const own = ownEnd(part.operator, rest)
  const next = parts[index + 1]
  if (next === undefined) return own
  if (next._tag === "Literal") {
    // The last text of a template is at the end of the URI; any other ends the expression where it first stands.
    const isLast = index + 2 === parts.length
    const at = isLast
      ? (rest.endsWith(next.text) ? rest.length - next.text.length : -1)
      : rest.indexOf(next.text, part.operator === "" || part.operator === "+" ? 1 : 0)
    return at === -1 || at > own ? undefined : at
  }
  // The next expression is optional and begins with its operator.
  const start = rest.indexOf(next.operator, part.operator === "" || part.operator === "+" ? 1 : 0)
  const following = part.operator === "/" ? rest.indexOf(next.operator, 1) : start
  return following === -1 || following > own ? own : following
}

const ownEnd = (operator: Operator, rest: string): number => {
  const pattern = operator === "+" || operator === "#"
    ? undefined
    : operator === "/"
    ? /[?#]/
    : operator === "?" || operator === "&"
    ? /#/
    : /[/?#]/
  const end = pattern === undefined ? -1 : rest.search(pattern)
  return end === -1 ? rest.length : end
}

const take = (
  part: Extract<Part, { _tag: "Expression" }>,
  text: string,
  values: Record<string, string | ReadonlyArray<string>>
): boolean => {
  const { operator, variables } = part
  switch (operator) {
    case "":
    case "+":
      return takeList(variables, text === "" ? [] : operator === "" ? text.split(",") : [text], values, true)
    case "#":
      return text === "" || (text.startsWith("#") && takeList(variables, [text.slice(1)], values, false))
    case ".":
      return text === "" || (text.startsWith(".") && takeList(variables, text.slice(1).split("."), values, false))
    case "/": {
      if (text === "") return true
      if (!text.startsWith("/")) return false
      const segments = text.slice(1).split("/")
      const [only] = variables
      if (only?.explode !== true) return takeList(variables, segments, values, false)
      const decoded = segments.map(decode)
      if (decoded.includes(undefined)) return false
      values[only.name] = decoded as Array<string>
      return true
    }
    default:
      return takeNamed(operator, variables, text, values)
  }
}

const takeList = (
  variables: ReadonlyArray<{ readonly name: string }>,
  texts: ReadonlyArray<string>,
  values: Record<string, string | ReadonlyArray<string>>,
  required: boolean
): boolean => {
  if (texts.length > variables.length || (required && texts.length < variables.length)) return false
  return texts.every((text, i) => {
    const value = decode(text)
    if (value === undefined || value === "") return false
    values[variables[i]!.name] = value
    return true
  })
}

const takeNamed = (
  operator: Operator,
  variables: ReadonlyArray<{ readonly name: string }>,
  text: string,
  values: Record<string, string | ReadonlyArray<string>>
): boolean => {
  if (text === "") return true
  if (!text.startsWith(operator)) return false
  for (const pair of text.slice(1).split(operator === ";" ? ";" : "&")) {
    const equals = pair.indexOf("=")
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1).replaceAll("+", "%20"))
    if (name === undefined || value === undefined || name in values) return false
    if (!variables.some((variable) => variable.name === name)) return false
    values[name] = value
  }
  return true
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
