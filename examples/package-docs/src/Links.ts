import type { PageDraft } from "./Extract.ts"

/** What a docstring says about something else: `@see {@link flow} for composing functions`. */
export interface Link {
  readonly target: string
  readonly text: string
}

/** An export's page with what its docstring says about others. */
export interface Linking {
  readonly page: PageDraft
  /** The module it belongs to, and what that is called in code. */
  readonly module: string
  readonly links: ReadonlyArray<Link>
}

// `Effect.timeout`, or `Effect.` followed by something else.
const mention = /\b[A-Z]\w*\.\w+/g

/**
 * The pages of a package with what its other pages say of them: the texts of links to them, and how often their code
 * mentions them.
 */
export const resolve = (
  pages: ReadonlyMap<string, PageDraft>,
  linking: ReadonlyArray<Linking>,
  namespaces: ReadonlyMap<string, string>
): ReadonlyArray<PageDraft> => {
  const texts = new Map<string, Array<string>>()
  for (const { links, module, page } of linking) {
    for (const { target, text } of links) {
      const dot = target.indexOf(".")
      const other = dot < 0 ? undefined : namespaces.get(target.slice(0, dot))
      // Beside the page, which may be in a namespace; in its module; or in the module of that name.
      const id = [
        page.id.replace(/[^.#]+$/, target),
        `${module}#${target}`,
        `${other}#${target.slice(dot + 1)}`
      ].find((id) => pages.has(id))
      if (id !== undefined && id !== page.id) {
        texts.set(id, [...(texts.get(id) ?? []), text])
      }
    }
  }
  const mentions = new Map<string, number>()
  for (const { fields, kind, title } of pages.values()) {
    for (const name of new Set(`${fields.code}\n${fields.body}`.match(mention))) {
      // What a page says of itself says nothing of how much it is used.
      if (kind !== "export" || name !== title) {
        mentions.set(name, (mentions.get(name) ?? 0) + 1)
      }
    }
  }
  return [...pages.values()].map((page) => {
    const links = texts.get(page.id)
    const count = page.kind === "export" ? mentions.get(page.title) ?? 0 : 0
    return links === undefined && count === 0
      ? page
      : { ...page, mentions: count, fields: { ...page.fields, links: [...new Set(links)].join("\n") } }
  })
}
