import { stem } from "./Stem.ts"
import { weights } from "./Weights.ts"

/** A word of a query. */
export interface QueryWord {
  /** The term it is indexed under. */
  readonly term: string
  /** The word as written, in lower case. */
  readonly raw: string
  /** How much it counts: the parts of an identifier count less than the whole. */
  readonly weight: number
  /** The word stood alone, so that other words of the same meaning are tried as well. */
  readonly plain: boolean
  /** Terms of it and a word next to it written as one: `backpressur` for "back pressure". */
  readonly joined: ReadonlyArray<string>
}

const stopWords = new Set(
  ("a an and any are as at be been but by can could did do does done each etc every for from get had has have how i " +
    "if in into is it its just let lets like make makes many may me more most my need no not of on once one only or " +
    "other our out over own same set should so some such than that the their them then there these they this those " +
    "to too up use used uses using want was way we were what when where whether which while who why will with within " +
    "without would you your").split(" ")
)

// Words of a query that ask, and those that are everywhere in documentation, but that name things as well.
const weakWords = new Set(
  ("add call case change check code create define find give given handle happen keep main new number program really " +
    "several specific start thing time type value work write").split(" ")
)

const camel = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g

/** The terms of prose or code, in their order; an identifier gives its parts and, joined, itself. */
export const terms = (text: string, keepStopWords = false): Array<string> => {
  const out: Array<string> = []
  for (const [word] of ascii(text).matchAll(/[A-Za-z0-9]+/g)) {
    const parts = word.match(camel) ?? [word]
    for (const part of parts) {
      const lower = part.toLowerCase()
      if (keepStopWords || !stopWords.has(lower)) {
        out.push(stem(lower))
      }
    }
    if (parts.length > 1) {
      out.push(word.toLowerCase())
    }
  }
  return out
}

/** The words of a query, each once. */
export const queryWords = (query: string): ReadonlyArray<QueryWord> => {
  const words = new Map<string, Mutable<QueryWord>>()
  let before: Mutable<QueryWord> | undefined
  const add = (word: Omit<QueryWord, "joined">) => {
    const known = words.get(word.term)
    const next = known !== undefined && known.weight >= word.weight ? known : { ...word, joined: known?.joined ?? [] }
    words.set(word.term, next)
    if (before?.plain && next.plain && before !== next) {
      const joined = before.raw + next.raw
      before.joined = [...before.joined, joined, stem(joined)]
      next.joined = [...next.joined, joined, stem(joined)]
    }
    before = next
  }
  for (const [chunk] of ascii(query).matchAll(/[A-Za-z0-9_@/.#$-]+/g)) {
    // `Effect.catchTag` and `fast-check` are looked for as they stand, `end.` at a sentence's end is a plain word.
    const code = /[A-Za-z0-9][.#/][A-Za-z0-9]/.test(chunk) || /[a-z][A-Z]/.test(chunk)
    for (const [word] of chunk.matchAll(/[A-Za-z0-9]+/g)) {
      const parts = word.match(camel) ?? [word]
      for (const part of parts) {
        const raw = part.toLowerCase()
        if (!code && stopWords.has(raw)) {
          before = undefined
          continue
        }
        const weight = code && parts.length > 1
          ? weights.identifierPart
          : !code && weakWords.has(raw)
          ? weights.weakWord
          : 1
        add({ term: stem(raw), raw, weight, plain: !code && parts.length === 1 })
      }
      if (parts.length > 1) {
        add({ term: word.toLowerCase(), raw: word.toLowerCase(), weight: weights.identifier, plain: false })
      }
    }
  }
  if (words.size === 0) {
    for (const term of terms(query, true)) {
      add({ term, raw: term, weight: 1, plain: false })
    }
  }
  return [...words.values()]
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

const ascii = (text: string): string => /[^\0-\x7f]/.test(text) ? text.normalize("NFKD").replace(/\p{M}/gu, "") : text
