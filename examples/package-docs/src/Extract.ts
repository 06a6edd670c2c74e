import * as Path from "node:path"
import * as Docstring from "./Docstring.ts"
import * as EntryPoints from "./EntryPoints.ts"
import type { Installed } from "./Installed.ts"
import type { Linking } from "./Links.ts"
import * as Links from "./Links.ts"
import * as Markdown from "./Markdown.ts"
import { messageOf, type PageKind } from "./Model.ts"
import { type Exported, type Module, Modules } from "./Modules.ts"
import { Sources } from "./Sources.ts"

/** A page as it is put into the index. */
export interface PageDraft {
  readonly id: string
  readonly title: string
  readonly kind: PageKind
  /** For exports: what search and `exports` tell about it. */
  readonly card: Card
  /** The texts that are searched, each with a weight of its own. */
  readonly fields: Fields
  /** What `read` returns. */
  readonly text: string
  /** Nothing to search for, but to be listed or read. */
  readonly hidden: boolean
  readonly deprecated: boolean
  /** How many pages of the package mention it in code. */
  readonly mentions: number
}

/** The texts of a page that are searched. */
export interface Fields {
  readonly name: string
  readonly module: string
  readonly summary: string
  readonly body: string
  /** What the module, and the class of a member, are about. */
  readonly context: string
  readonly code: string
  /** What other pages say of it where they link to it. */
  readonly links: string
}

/** What is said about a page in lists. */
export interface Card {
  readonly summary: string
  /** Only of exported declarations, not of their members or of modules. */
  readonly export?: {
    readonly name: string
    readonly module: string
    readonly kind: string
    readonly signature: string
  }
}

/** All that was read of a package. */
export interface Extracted {
  readonly pages: ReadonlyArray<PageDraft>
  readonly problems: ReadonlyArray<string>
  readonly sources: Sources
}

/** Reads a package; yields now and then so that the caller can do something else in between. */
export function* extract(installed: Installed): Generator<void, Extracted> {
  const sources = new Sources(installed.directory)
  const problems: Array<string> = []
  const pages = new Map<string, PageDraft>()
  const add = (page: PageDraft) => {
    if (!pages.has(page.id)) {
      pages.set(page.id, page)
    }
  }
  add(wholePage(installed, "package.json", sources.read(Path.join(installed.directory, "package.json"))))
  for (const file of documents(sources, problems)) {
    try {
      const source = sources.read(Path.join(installed.directory, file))
      const drafts = isChangelog(file)
        ? [wholePage(installed, file, source.slice(0, longestChangelog))]
        : /\.(?:md|markdown)$/i.test(file)
        ? markdownPages(installed, file, source)
        : examplePages(installed, file, source)
      drafts.forEach(add)
    } catch (cause) {
      problems.push(`${file}: ${messageOf(cause)}`)
    }
  }
  yield
  const entries = EntryPoints.find(sources, installed.manifest, installed.label)
  const modules = new Modules(sources, installed.label)
  const exported = yield* modules.read(entries)
  problems.push(...modules.problems)
  const namespaces = new Map(modules.modules.map((module) => [module.specifier, module]))
  let count = 0
  const linking: Array<Linking> = []
  for (const entry of exported) {
    const [page, ...members] = exportPages(installed, entry, namespaces.get(entry.module))
    add(page)
    members.forEach(add)
    linking.push({ page, module: entry.module, links: entry.doc.links })
    if (++count % 50 === 0) {
      yield
    }
  }
  for (const module of modules.modules) {
    add(modulePage(installed, module, exported))
  }
  const byNamespace = new Map(
    modules.modules.flatMap(({ namespace, specifier }) =>
      namespace === undefined ? [] : [[namespace, specifier] as const]
    )
  )
  return { pages: Links.resolve(pages, linking, byNamespace), problems, sources }
}

const documentDirectories = new Set(["docs", "doc", "documentation", "guides", "guide", "ai-docs", "examples", "man"])
const skippedDocuments =
  /^(?:releases?|licen[cs]e.*|code[-_]of[-_]conduct|contributing|security|authors?|.*third[-_ ]?party.*|claude)\.md$/i

// What has changed is read but not searched: it is about other versions.
const isChangelog = (file: string): boolean => /^(?:change(?:s|log)?|history)\.md$/i.test(file)

// In characters; the newest versions come first.
const longestChangelog = 200_000

// The Markdown at the top of a package and the files under its docs directories.
function* documents(sources: Sources, problems: Array<string>): Generator<string> {
  const walk = function*(directory: string, depth: number): Generator<string> {
    let entries
    try {
      entries = sources.list(Path.join(sources.directory, directory))
    } catch (cause) {
      problems.push(messageOf(cause))
      return
    }
    for (const entry of [...entries].sort((a, b) => a.name < b.name ? -1 : 1)) {
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`
      if (entry.isDirectory()) {
        const wanted = directory === "" ? documentDirectories.has(entry.name) : entry.name !== "node_modules"
        if (wanted && depth < 6) {
          yield* walk(path, depth + 1)
        }
      } else if (
        /\.(?:md|markdown)$/i.test(entry.name) && !skippedDocuments.test(entry.name) &&
        (directory === "" || !isChangelog(entry.name))
      ) {
        yield path
      } else if (directory !== "" && /\.[cm]?tsx?$/.test(entry.name) && !/\.d\.[cm]?ts$/.test(entry.name)) {
        yield path
      }
    }
  }
  yield* walk("", 0)
}

// A file as it is, to be read; what is searched are its sections.
const wholePage = (
  installed: Installed,
  file: string,
  text: string,
  kind: PageKind = "doc",
  title = `${installed.label} ${file}`
): PageDraft => ({
  id: `${installed.label}/${file}`,
  title,
  kind,
  card: { summary: installed.manifest.description },
  fields: { name: "", module: "", summary: "", body: "", context: "", code: "", links: "" },
  text,
  hidden: true,
  deprecated: false,
  mentions: 0
})

const markdownPages = (installed: Installed, file: string, source: string): ReadonlyArray<PageDraft> => {
  const kind: PageKind = /^readme/i.test(Path.basename(file)) && !file.includes("/") ? "readme" : "doc"
  const id = `${installed.label}/${file}`
  const sections = Markdown.sections(source)
  const top = sections.find((section) => section.title !== "")?.title ?? installed.label
  const whole = wholePage(installed, file, source, kind, kind === "readme" ? `${installed.label} README` : top)
  const pages = sections.map((section): PageDraft => {
    const { code, prose } = Markdown.splitCode(section.text.replace(/^#{1,6}\s.*\n?/, ""))
    const paragraphs = Markdown.plain(prose).split(/\n\s*\n/).map((text) => text.trim()).filter((text) => text !== "")
    const summary = paragraphs[0] ?? ""
    return {
      id: section.anchor === "" ? `${id}#` : `${id}#${section.anchor}`,
      title: [...section.parents.slice(1), section.title === "" ? top : section.title].join(" › "),
      kind,
      card: { summary: summary.replace(/\s+/g, " ") },
      fields: {
        name: section.title === "" ? top : section.title,
        module: [installed.label, file.replace(/\.md$/i, ""), ...section.parents].join(" "),
        summary,
        body: paragraphs.slice(1).join("\n"),
        context: "",
        code,
        links: ""
      },
      text: section.text,
      hidden: false,
      deprecated: false,
      mentions: 0
    }
  })
  return [whole, ...pages]
}

// A source file among the documents is an example; its docstring says what of.
const examplePages = (installed: Installed, file: string, source: string): ReadonlyArray<PageDraft> => {
  const comment = /^\s*\/\*\*([\s\S]*?)\*\//.exec(source)
  if (comment === null) {
    return []
  }
  const title = /@title\s+(.+)/.exec(comment[1]!)?.[1]?.trim()
  const doc = Docstring.parse(comment[1]!.replace(/@title\s+.+/, ""))
  const comments = [...source.slice(comment[0].length).matchAll(/^\s*\/\/\s?(.*)$/gm)].map((match) => match[1]!)
  return [{
    id: `${installed.label}/${file}`,
    title: title ?? Path.basename(file),
    kind: "doc",
    card: { summary: doc.summary },
    fields: {
      name: title ?? "",
      module: `${installed.label} ${file.replace(/\.[cm]?tsx?$/, "")}`,
      summary: `${doc.summary}\n${doc.usage}`,
      body: `${doc.body}\n${comments.join("\n")}`,
      context: "",
      code: source.slice(comment[0].length),
      links: ""
    },
    text: `# ${title ?? file}\n\n\`\`\`ts\n${source.trim()}\n\`\`\``,
    hidden: false,
    deprecated: false,
    mentions: 0
  }]
}

const exportPages = (
  installed: Installed,
  exported: Exported,
  module: Module | undefined
): readonly [PageDraft, ...ReadonlyArray<PageDraft>] => {
  const id = `${exported.module}#${exported.name}`
  const title = module?.namespace === undefined ? exported.name : `${module.namespace}.${exported.name}`
  const signature = exported.declarations.map((declaration) => declaration.signature).join("\n")
  const kind = [...new Set(exported.declarations.map((declaration) => declaration.kind))].join(", ")
  const own = exported.declarations.flatMap((declaration) => declaration.members)
  const members = [...own, ...exported.inherited]
  const byName = new Map<string, Array<(typeof members)[number]>>()
  members.forEach((member) => byName.set(member.name, [...(byName.get(member.name) ?? []), member]))
  const { doc } = exported
  const about = firstSentence(module?.doc.summary ?? "")
  const pages: [PageDraft, ...Array<PageDraft>] = [{
    id,
    title,
    kind: "export",
    card: {
      summary: doc.summary,
      export: { name: exported.name, module: exported.module, kind, signature: oneLine(signature) }
    },
    fields: {
      name: exported.name,
      module: `${installed.label} ${exported.module} ${module?.namespace ?? ""}`,
      summary: `${doc.summary}\n${doc.usage}`,
      body: doc.body,
      context: `${about} ${doc.category}`,
      code: `${signature}\n${doc.code}`,
      links: ""
    },
    text: [
      heading(title, kind, exported.module, installed),
      fence(signature),
      doc.markdown,
      memberList(exported.inherited.length > 0 ? "Members, with those inherited" : "Members", id, byName)
    ].filter((part) => part !== "").join("\n\n"),
    hidden: false,
    deprecated: doc.deprecated,
    mentions: 0
  }]
  for (const [name, overloads] of byName) {
    const memberDoc = Docstring.merge(overloads.map((member) => member.doc))
    if (memberDoc.internal || (memberDoc.summary === "" && !overloads.some((member) => member.method))) {
      continue
    }
    const memberSignature = overloads.map((member) => member.signature).join("\n")
    pages.push({
      id: `${id}.${name}`,
      title: `${exported.name}.${name}`,
      kind: "export",
      card: { summary: memberDoc.summary },
      fields: {
        name,
        module: `${installed.label} ${exported.module} ${exported.name}`,
        summary: `${memberDoc.summary}\n${memberDoc.usage}`,
        body: memberDoc.body,
        context: `${firstSentence(doc.summary)} ${about}`,
        code: `${memberSignature}\n${memberDoc.code}`,
        links: ""
      },
      text: [
        heading(`${exported.name}.${name}`, `member of ${exported.name}`, exported.module, installed),
        fence(memberSignature),
        memberDoc.markdown
      ].filter((part) => part !== "").join("\n\n"),
      hidden: false,
      deprecated: memberDoc.deprecated,
      mentions: 0
    })
  }
  return pages
}

const modulePage = (installed: Installed, module: Module, exported: ReadonlyArray<Exported>): PageDraft => {
  const inside = exported.filter((entry) => entry.module === module.specifier)
  const title = module.namespace ?? module.specifier
  // A module that says nothing of itself is about what has its name.
  const summary = module.doc.summary !== ""
    ? module.doc.summary
    : inside.find(({ name }) => name === module.namespace)?.doc.summary ?? ""
  const list = inside.map((entry) => {
    const summary = firstSentence(entry.doc.summary)
    return `- \`${entry.name}\`${summary === "" ? "" : `: ${summary}`}`
  })
  return {
    id: module.specifier,
    title,
    kind: "export",
    card: { summary },
    fields: {
      name: title.split("/").pop()!,
      module: `${installed.label} ${module.specifier}`,
      summary,
      body: module.doc.body,
      context: "",
      code: module.doc.code,
      links: ""
    },
    text: [
      heading(title, "module", module.specifier, installed),
      module.doc.markdown,
      list.length === 0 ? "" : `Exports:\n\n${list.join("\n")}`
    ].filter((part) => part !== "").join("\n\n"),
    hidden: summary === "",
    deprecated: false,
    mentions: 0
  }
}

const heading = (title: string, kind: string, module: string, { label, manifest }: Installed): string =>
  `# ${title}\n\n${kind} of \`${module}\` (${label} ${manifest.version})`

const fence = (signature: string): string => `\`\`\`ts\n${signature}\n\`\`\``

const memberList = (title: string, id: string, members: Map<string, ReadonlyArray<{ doc: Docstring.Docstring }>>) => {
  const documented = [...members].filter(([, overloads]) => overloads.some(({ doc }) => doc.summary !== ""))
  return documented.length === 0 ? "" : [
    `${title} (read one as \`${id}.name\`):\n`,
    ...documented.map(([name, overloads]) => {
      const doc = overloads.find(({ doc }) => doc.summary !== "")!.doc
      return `- \`${name}\`: ${firstSentence(doc.summary)}`
    })
  ].join("\n")
}

/** The first sentence of a text. */
export const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text

const oneLine = (signature: string): string => {
  const line = signature.replace(/\s+/g, " ")
  return line.length > 240 ? `${line.slice(0, 239)}…` : line
}
