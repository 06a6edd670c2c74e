import type { Link } from "./Links.ts"

/** What a docstring says, split into the parts that search weighs differently. */
export interface Docstring {
  /** The first paragraph. */
  readonly summary: string
  /** When to use it, and the titles of its examples: the words people search with. */
  readonly usage: string
  /** The rest of the prose, with what parameters and return values are. */
  readonly body: string
  /** Code of the examples. */
  readonly code: string
  /** The whole as Markdown, to be read. */
  readonly markdown: string
  /** What it says about others, in `@see` tags. */
  readonly links: ReadonlyArray<Link>
  /** Its `@category`, such as `error handling`. */
  readonly category: string
  readonly deprecated: boolean
  readonly internal: boolean
}

/** The docstring of something undocumented. */
export const empty: Docstring = {
  summary: "",
  usage: "",
  body: "",
  code: "",
  markdown: "",
  links: [],
  category: "",
  deprecated: false,
  internal: false
}

const skippedTags = new Set(["since", "stability", "module", "packageDocumentation", "public", "hidden"])

/** Reads the text of a block comment, as between its `/*` and its end. */
export const parse = (comment: string): Docstring => {
  const lines = comment.replace(/^\*/, "").split(/\r?\n/).map((line) => line.replace(/^\s*\*? ?/, ""))
  const description: Array<string> = []
  const tags: Array<{ readonly name: string; readonly lines: Array<string> }> = []
  let fenced = false
  for (const line of lines) {
    const tag = fenced ? null : /^@([a-zA-Z]+)\s?(.*)$/.exec(line.trimStart())
    if (/^\s*(?:@example\s+)?```/.test(line)) {
      fenced = !fenced
    }
    if (tag !== null) {
      tags.push({ name: tag[1]!, lines: [tag[2]!] })
    } else if (tags.length > 0) {
      tags[tags.length - 1]!.lines.push(line)
    } else {
      description.push(line)
    }
  }
  const parts: Array<string> = [plain(description.join("\n").trim())]
  const links: Array<Link> = []
  let category = ""
  let deprecated = false
  let internal = false
  for (const { lines, name } of tags) {
    const text = plain(lines.join("\n").trim())
    switch (name) {
      case "deprecated":
        deprecated = true
        parts.push(`**Deprecated.** ${text}`)
        break
      case "internal":
      case "private":
        internal = true
        break
      case "param":
        parts.push(`- \`${text.replace(/^(\S+)\s*(?:-\s*)?/, "$1`: ")}`)
        break
      case "returns":
      case "return":
        parts.push(`Returns: ${text}`)
        break
      case "default":
      case "defaultValue":
      case "defaultvalue":
        parts.push(`Default: ${text}`)
        break
      case "example":
        parts.push(text.includes("```") ? `**Example** ${text}` : `**Example**\n\n\`\`\`ts\n${text}\n\`\`\``)
        break
      case "category":
        category = text
        break
      case "see":
        links.push(...linksOf(lines.join(" ")))
        parts.push(`See: ${text}`)
        break
      default:
        if (!skippedTags.has(name) && text.length > 0) {
          parts.push(text)
        }
    }
  }
  const markdown = parts.filter((part) => part.length > 0).join("\n\n")
  return { ...split(markdown), markdown, links, category, deprecated, internal }
}

// `{@link flow} for composing functions`: the words are about `flow`.
const linksOf = (text: string): ReadonlyArray<Link> => {
  const link = /^\s*\{@link(?:code|plain)?\s+([\w$.]+)[^}]*\}\s*(?:[-:–]\s*)?(.*)$/.exec(text)
  return link === null || link[2] === "" ? [] : [{ target: link[1]!, text: plain(link[2]!) }]
}

/** Joins the docstrings of several declarations of one name, as of overloads, saying each thing once. */
export const merge = (docs: ReadonlyArray<Docstring>): Docstring => {
  const distinct = docs.filter((doc, index) =>
    doc.markdown.length > 0 && docs.findIndex((other) => other.markdown === doc.markdown) === index
  )
  if (distinct.length < 2) {
    return distinct[0] ?? docs[0] ?? empty
  }
  const join = (key: "body" | "code" | "markdown" | "usage") => distinct.map((doc) => doc[key]).join("\n\n").trim()
  return {
    summary: distinct[0]!.summary,
    usage: [...distinct.slice(1).map((doc) => doc.summary), join("usage")].join("\n").trim(),
    body: join("body"),
    code: join("code"),
    markdown: join("markdown"),
    links: distinct.flatMap((doc) => doc.links),
    category: distinct[0]!.category,
    deprecated: distinct.every((doc) => doc.deprecated),
    internal: distinct.some((doc) => doc.internal)
  }
}

// `{@link Foo | the foo}` reads as "the foo".
const plain = (text: string): string =>
  text.replace(
    /\{@(?:link|linkcode|linkplain|inheritDoc)\s+([^}|]+?)\s*(?:\|\s*([^}]+?)\s*)?\}/g,
    (_, name, label) => label === undefined ? `\`${name}\`` : String(label)
  )

// Sections as Effect's docstrings have them: a paragraph of bold text.
const split = (markdown: string): Pick<Docstring, "summary" | "usage" | "body" | "code"> => {
  const code: Array<string> = []
  const prose = markdown.replace(/```[^\n]*\n([\s\S]*?)(?:```|$)/g, (_, text: string) => {
    code.push(text)
    return ""
  })
  const paragraphs = prose.split(/\n\s*\n/).map((paragraph) => paragraph.trim()).filter((text) => text.length > 0)
  const usage: Array<string> = []
  const body: Array<string> = []
  let summary = ""
  let section = ""
  for (const paragraph of paragraphs) {
    if (paragraph.startsWith("See: ")) {
      continue
    }
    const heading = /^\*\*([^*]+)\*\*(?:\s*\(([^)]*)\))?/.exec(paragraph)
    if (heading !== null) {
      section = heading[1]!
      if (heading[2] !== undefined) {
        usage.push(heading[2])
      }
      const rest = paragraph.slice(heading[0].length).trim()
      if (rest.length > 0) {
        body.push(rest)
      }
    } else if (summary === "") {
      summary = paragraph
    } else if (section === "When to use") {
      usage.push(paragraph)
    } else {
      body.push(paragraph)
    }
  }
  return {
    summary: summary.replace(/\s+/g, " "),
    usage: usage.join("\n"),
    body: body.join("\n"),
    code: code.join("\n")
  }
}
