/**
 * URI templates (RFC 6570) in both directions: a template is expanded with values, and a URI is matched against it.
 *
 * | expression | matches |
 * | --- | --- |
 * | `{name}` | one or more characters other than `/`, `?` and `#` |
 * | `{+name}` | one or more characters of any kind, up to the text that follows |
 * | `{#name}` | the fragment |
 * | `{.name}`, `{;name}` | a label or a parameter of a segment |
 * | `{/name}`, `{/name*}` | a segment; with `*` any number of them, as a list |
 * | `{?a,b}`, `{&a,b}` | query parameters in any order; each may be absent, none may come twice; `+` is a space |
 *
 * An expression ends where what follows it in the template first stands; where the rest does not fit then, the places
 * after that are tried, at most 256 in a URI. The text at the end of a template is at the end of the URI. So whatever a
 * template expands to it matches, as long as its variables have what the table says; where their texts hold what divides
 * them, they may be found divided in another place.
 *
 * Not matched, and refused by name: prefixes (`{name:3}`), `*` elsewhere than after `/`, two expressions side by side
 * where the first has no end, and the same variable twice.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"
import type * as Order from "effect/Order"
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

/** How many ends of expressions are tried. Each costs no more than reading the URI. */
const maxAttempts = 256

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
  if (blank.test(template)) return fail("it has spaces or control characters")
  const parts: Array<Part> = []
  const names = new Set<string>()
  for (const piece of template.match(/\{[^{}]*\}|[^{}]+|[{}]/g) ?? []) {
    if (!piece.startsWith("{") && piece !== "}") {
      const raw = /[<>"\\^`|]|%(?![0-9A-Fa-f]{2})/.exec(piece)?.[0]
      if (raw !== undefined) return fail(`it has ${raw}, which has to be percent-encoded`)
      parts.push({ _tag: "Literal", text: normalize(piece) })
      continue
    }
    const expression = parseExpression(piece)
    if (typeof expression === "string") return fail(expression)
    for (const { name } of expression.variables) {
      if (names.has(name)) return fail(`the variable ${name} stands twice`)
      names.add(name)
    }
    const problem = append(parts, expression)
    if (problem !== undefined) return fail(`${piece} ${problem}`)
  }
  if (names.size > maxVariables) return fail(`it has more than ${maxVariables} variables`)
  const open = parts.find((part, i) => isQuery(part) && i < parts.length - 1 && !isQueryTail(parts[i + 1]!))
  if (open !== undefined) return fail(`text follows the query expression ${write(open)}`)
  return Result.succeed({
    source: template,
    variables: [...names],
    shape: parts.map((part, i) => shapeOf(part, i === 0)).join(""),
    literalLength: parts.reduce((sum, part) => part._tag === "Literal" ? sum + part.text.length : sum, 0),
    parts
  })
}

type Expression = Extract<Part, { _tag: "Expression" }>

// oxlint-disable-next-line no-control-regex
const blank = /[\s\u0000-\u001f\u007f]/

/** What no URI has (RFC 3986, appendix A); a client that expands a template encodes it. */
// oxlint-disable-next-line no-control-regex
const foreign = /[\s\u0000-\u001f\u007f<>"{}|\\^`]/

/** The expression that a piece in braces is, or why it is none that can be matched. */
const parseExpression = (piece: string): Expression | string => {
  const body = /^\{([+#./;?&]?)([^{}]*)\}$/.exec(piece)
  if (body === null) return "a brace has no partner"
  const operator = body[1] as Operator
  const variables: Array<{ readonly name: string; readonly explode: boolean }> = []
  for (const spec of body[2]!.split(",")) {
    if (spec.includes(":")) return `${piece} has a prefix, which cannot be matched`
    const explode = spec.endsWith("*")
    const name = explode ? spec.slice(0, -1) : spec
    if (!variableName.test(name)) return `${piece} has no valid variable name`
    if (explode && operator !== "/") return `${piece} explodes, which can be matched after / only`
    variables.push({ name, explode })
  }
  return variables.length > 1 && (operator === "+" || operator === "#" || variables.some(({ explode }) => explode))
    ? `${piece} has several variables, which cannot be told apart`
    : { _tag: "Expression", operator, variables }
}

/** Appends an expression, or says why it cannot stand there. */
const append = (parts: Array<Part>, expression: Expression): string | undefined => {
  const previous = parts.at(-1)
  const { operator } = expression
  if (previous?._tag !== "Expression") {
    parts.push(expression)
    return undefined
  }
  const unclear = "follows another expression, so it is not clear where that ends"
  if (!selfDelimiting.has(operator) || previous.operator === "#") return unclear
  if (operator === "/" && (explodes(expression) || explodes(previous))) return unclear
  // `{/a}{/b}` is `{/a,b}`, in both directions.
  if (operator === previous.operator && operator !== "?") {
    parts[parts.length - 1] = { ...previous, variables: [...previous.variables, ...expression.variables] }
  } else parts.push(expression)
  return undefined
}

const explodes = (part: Part): boolean => part._tag === "Expression" && part.variables.some(({ explode }) => explode)

const selfDelimiting = new Set<Operator>(["/", ".", ";", "?", "&", "#"])

const isQuery = (part: Part): boolean => part._tag === "Expression" && (part.operator === "?" || part.operator === "&")

const isQueryTail = (part: Part): boolean =>
  part._tag === "Expression" && (part.operator === "&" || part.operator === "#")

const write = (part: Part): string =>
  part._tag === "Literal"
    ? part.text
    : `{${part.operator}${part.variables.map(({ explode, name }) => explode ? `${name}*` : name).join(",")}}`

const shapeOf = (part: Part, isFirst: boolean): string =>
  part._tag === "Literal"
    ? isFirst ? normalizeScheme(part.text) : part.text
    : part.operator === "?" || part.operator === "&" || part.operator === ";"
    // The names of parameters are part of what is matched.
    ? `{${part.operator}${part.variables.map(({ name }) => name).sort().join(",")}}`
    : `{${part.operator}${part.variables.map(({ explode }) => explode ? "*" : "").join(",")}}`

/**
 * The order in which templates are tried: those with more literal text first, then those with fewer expressions that
 * span several segments, then by their text.
 *
 * @category ordering
 * @since 0.1.0
 */
export const Specificity: Order.Order<UriTemplate> = (a, b) => {
  const difference = b.literalLength - a.literalLength || reach(a) - reach(b)
  if (difference !== 0) return difference < 0 ? -1 : 1
  return a.source < b.source ? -1 : a.source > b.source ? 1 : 0
}

const reach = ({ parts }: UriTemplate): number =>
  parts.filter((part) => part._tag === "Expression" && (part.operator === "+" || explodes(part))).length

/**
 * Expands a template: values are percent-encoded where their operator asks for it, and an absent variable leaves nothing
 * behind (RFC 6570, section 3.2).
 *
 * @category codecs
 * @since 0.1.0
 */
export const expand = (template: UriTemplate, values: Values): string =>
  template.parts.map((part) => part._tag === "Literal" ? part.text : expandExpression(part, values)).join("")

const expandExpression = (part: Expression, values: Values): string => {
  const { operator } = part
  const named = operator === ";" || operator === "?" || operator === "&"
  const separator = operator === "" || operator === "+" || operator === "#" ? "," : operator === "?" ? "&" : operator
  const encode = operator === "+" || operator === "#" ? encodeReserved : encodeUnreserved
  const pieces: Array<string> = []
  for (const { explode, name } of part.variables) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
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
    /%[0-9A-Fa-f]{2}|%|[^%A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]+/g,
    (piece) => piece.startsWith("%") && piece.length > 1 ? piece : encodeURIComponent(piece.toWellFormed())
  )

/**
 * Matches a URI against a template: the decoded values of its variables, or `undefined` when it does not match. The
 * scheme is compared without regard to case. Percent-encoding is decoded once and must be UTF-8.
 *
 * @category codecs
 * @since 0.1.0
 */
export const match = (template: UriTemplate, uri: string): Values | undefined => {
  if (uri.length > maxUriLength || foreign.test(uri)) return undefined
  const values: Found = Object.create(null)
  const rest = normalizeScheme(normalize(uri))
  return matchFrom(template.parts, 0, rest, values, { left: maxAttempts }) ? { ...values } : undefined
}

type Found = Record<string, string | ReadonlyArray<string>>

/** Whether a text matches the parts from one on. */
const matchFrom = (
  parts: ReadonlyArray<Part>,
  index: number,
  rest: string,
  values: Found,
  attempts: { left: number }
): boolean => {
  const part = parts[index]
  if (part === undefined) return rest === ""
  const after = (end: number, next = index + 1) => matchFrom(parts, next, rest.slice(end), values, attempts)
  if (part._tag === "Literal") {
    const text = index === 0 ? normalizeScheme(part.text) : part.text
    return rest.startsWith(text) && after(text.length)
  }
  const next = parts[index + 1]
  if (part.operator === "?" && next?._tag === "Expression" && next.operator === "&") {
    // Together they are one query; without the first parameters it is written with & alone.
    const variables = [...part.variables, ...next.variables]
    const end = ownEnd("?", rest)
    return takeNamed(rest.startsWith("&") ? "&" : "?", variables, rest.slice(0, end), values) && after(end, index + 2)
  }
  for (const end of endsOf(part, parts, index, rest)) {
    if (attempts.left-- <= 0) return false
    if (take(part, rest.slice(0, end), values) && after(end)) return true
    for (const { name } of part.variables) delete values[name]
  }
  return false
}

const normalizeScheme = (uri: string): string => {
  const colon = uri.indexOf(":")
  return colon === -1 ? uri : uri.slice(0, colon).toLowerCase() + uri.slice(colon)
}

/** One spelling of what is the same: hex digits in upper case, and everything beyond ASCII percent-encoded. */
const normalize = (uri: string): string =>
  uri
    .replace(/%[0-9A-Fa-f]{2}/g, (triplet) => triplet.toUpperCase())
    .replace(/[\u0080-\uffff]+/g, (text) => encodeURIComponent(text.toWellFormed()))

/** Where the text of an expression may end: before what comes next in the template, the likeliest place first. */
function* endsOf(
  { operator }: Expression,
  parts: ReadonlyArray<Part>,
  index: number,
  rest: string
): Iterable<number> {
  const isRequired = operator === "" || operator === "+"
  if (!isRequired && !rest.startsWith(operator)) return yield 0
  const own = ownEnd(operator, rest)
  let next = index + 1
  // The expressions that follow are optional and begin with their operators.
  for (let part = parts[next]; part?._tag === "Expression"; part = parts[++next]) {
    yield* placesOf(part.operator, rest, 1, own)
  }
  const text = parts[next]
  if (text?._tag !== "Literal") yield own
  else if (next + 1 < parts.length) yield* placesOf(text.text, rest, isRequired ? 1 : 0, own)
  else if (rest.endsWith(text.text) && rest.length - text.text.length <= own) yield rest.length - text.text.length
  if (!isRequired) yield 0
}

/** Where a text stands in another, within bounds. */
function* placesOf(text: string, rest: string, from: number, to: number): Iterable<number> {
  for (let at = rest.indexOf(text, from); at !== -1 && at <= to; at = rest.indexOf(text, at + 1)) yield at
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
  part: Expression,
  text: string,
  values: Found
): boolean => {
  const { operator, variables } = part
  switch (operator) {
    case "":
    case "+":
      return text !== "" &&
        takeList(variables, variables.length === 1 ? [text] : text.split(","), values) &&
        variables.every(({ name }) => name in values)
    case "#":
      return text === "" || takeList(variables, [text.slice(1)], values)
    case ".":
      return text === "" ||
        takeList(variables, variables.length === 1 ? [text.slice(1)] : text.slice(1).split("."), values)
    case "/": {
      if (text === "") return true
      const segments = text.slice(1).split("/")
      const [only] = variables
      if (only?.explode !== true) return takeList(variables, segments, values)
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
  values: Found
): boolean =>
  texts.length <= variables.length && texts.every((text, i) => {
    const value = decode(text)
    if (value === undefined || value === "") return false
    values[variables[i]!.name] = value
    return true
  })

const takeNamed = (
  operator: Operator,
  variables: ReadonlyArray<{ readonly name: string }>,
  text: string,
  values: Found
): boolean => {
  if (text === "") return true
  if (!text.startsWith(operator)) return false
  for (const pair of text.slice(1).split(operator === ";" ? ";" : "&")) {
    const equals = pair.indexOf("=")
    const key = equals === -1 ? pair : pair.slice(0, equals)
    const written = equals === -1 ? "" : pair.slice(equals + 1)
    const value = decode(operator === ";" ? written : written.replaceAll("+", "%20"))
    const decodedKey = decode(key)
    const variable = variables.find(({ name }) => name === key || name === decodedKey)
    if (variable === undefined || value === undefined || variable.name in values) return false
    values[variable.name] = value
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
