/** A heading of a Markdown file with the text down to the next heading. */
export interface Section {
  /** The heading's anchor, as GitHub makes it; empty for what comes before the first heading. */
  readonly anchor: string
  readonly title: string
  /** Titles of the headings it stands under, outermost first. */
  readonly parents: ReadonlyArray<string>
  /** Its text as Markdown, with its heading. */
  readonly text: string
}

/** Splits a Markdown file at its headings. */
export const sections = (source: string): ReadonlyArray<Section> => {
  const out: Array<Section> = []
  const anchors = new Map<string, number>()
  const stack: Array<{ readonly level: number; readonly title: string }> = []
  let title = ""
  let anchor = ""
  let level = 0
  let lines: Array<string> = []
  let fence = ""
  const flush = () => {
    const text = lines.join("\n").trim()
    // A heading alone says nothing, but the headings under it name it as their parent.
    if (text.split("\n").slice(title === "" ? 0 : 1).join("").trim().length > 0) {
      out.push({ anchor, title, parents: stack.filter((parent) => parent.level < level).map((p) => p.title), text })
    }
  }
  for (const line of source.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "").split(/\r?\n/)) {
    const marker = /^\s*(```+|~~~+)/.exec(line)?.[1]
    if (marker !== undefined && (fence === "" || marker.startsWith(fence))) {
      fence = fence === "" ? marker : ""
    }
    const heading = fence === "" ? /^(#{1,6})\s+(.+?)\s*#*\s*$/.exec(line) : null
    if (heading === null) {
      lines.push(line)
      continue
    }
    flush()
    level = heading[1]!.length
    title = titleOf(heading[2]!)
    anchor = unique(slug(title), anchors)
    while (stack.length > 0 && stack[stack.length - 1]!.level >= level) {
      stack.pop()
    }
    stack.push({ level, title })
    lines = [line]
  }
  flush()
  return out
}

/** Takes the markup off Markdown: links, images, badges, HTML and emphasis. */
export const plain = (markdown: string): string =>
  markdown
    .replace(/<!--[\s\S]*?-->/g, " ")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, " ")
    .replace(/!\[[^\]]*\]\[[^\]]*\]/g, " ")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]*)\]\[[^\]]*\]/g, "$1")
    .replace(/^\s*\[[^\]]+\]:\s*\S+.*$/gm, "")
    .replace(/<\/?[a-zA-Z][^>\n]*>/g, " ")
    .replace(/[*_]{2,}/g, "")

/** Parts the fenced code of Markdown from its prose. */
export const splitCode = (markdown: string): { readonly prose: string; readonly code: string } => {
  const code: Array<string> = []
  const prose = markdown.replace(/^[ \t]*(```+|~~~+)[^\n]*\n([\s\S]*?)(?:^[ \t]*\1|$(?![\s\S]))/gm, (_, __, text) => {
    code.push(String(text))
    return "\n"
  })
  return { prose, code: code.join("\n") }
}

const titleOf = (heading: string): string => plain(heading).replace(/[`*]/g, "").replace(/\s+/g, " ").trim()

const slug = (title: string): string =>
  title.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-")

const unique = (anchor: string, taken: Map<string, number>): string => {
  const count = taken.get(anchor) ?? 0
  taken.set(anchor, count + 1)
  return count === 0 ? anchor : `${anchor}-${count}`
}
