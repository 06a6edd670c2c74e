import type { Card } from "./Extract.ts"
import * as Markdown from "./Markdown.ts"
import { queryWords, terms } from "./Terms.ts"

const longest = 280

/** What a page says about a query: an export's summary or signature, or the part of a text that has most of its words. */
export const snippet = (query: string, card: Card, text: string | undefined): string => {
  if (text === undefined) {
    return cut(card.summary)
  }
  if (card.export !== undefined && card.summary === "") {
    return cut(card.export.signature)
  }
  const wanted = new Set(queryWords(query).map((word) => word.term))
  const prose = Markdown.plain(text.replace(/^#{1,6}\s.*$/m, ""))
  let best = ""
  let most = -1
  for (const paragraph of prose.split(/\n\s*\n/)) {
    const flat = paragraph.replace(/\s+/g, " ").trim()
    const count = new Set(terms(flat).filter((term) => wanted.has(term))).size
    if (flat !== "" && count > most) {
      most = count
      best = flat
    }
  }
  return cut(best)
}

const cut = (text: string): string => {
  const flat = text.replace(/\s+/g, " ").trim()
  return flat.length <= longest ? flat : `${flat.slice(0, longest).replace(/\s+\S*$/, "")} …`
}
