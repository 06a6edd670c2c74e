import { stem } from "./Stem.ts"
import * as Synonyms from "./Synonyms.ts"
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
  /** Terms that say the same as a phrase: `sum` for "add up". */
  readonly meaning: ReadonlyArray<string>
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

// Words that say how the others belong together, which name things at times.
const functionWords = new Set(
  ("about above across after again against almost along already also although always among another anything around " +
    "automatically because become before behind below beneath beside besides best better between beyond both certain " +
    "despite different directly down during easily either else enough even everything exactly extra few further good " +
    "here however instead later least less long maybe might must neither never next nobody none nor nothing now off " +
    "often onto otherwise per perhaps plain properly quickly quite rather right safely several simply since somehow " +
    "someone something sometimes somewhere soon still though through throughout together toward towards twice under " +
    "unless until upon usually various very via well whatever whenever wherever whichever whole whose yet").split(" ")
)

// `can't` is no word of interest, nor is the end of `user's` and `it'll`.
const contraction = /\b[a-z]+n['\u2019]t\b|['\u2019](?:d|ll|m|re|s|ve)\b/gi

const camel = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g

/** The terms of prose or code, in their order; an identifier gives its parts and, joined, itself. */
export const terms = (text: string, keepStopWords = false): Array<string> => {
  const out: Array<string> = []
  const words = ascii(text).match(/[A-Za-z0-9]+/g) ?? []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    const phrase = Synonyms.phraseAt(words, at)
    if (phrase !== undefined && phrase.terms.length > 0) {
      out.push(phrase.term)
    }
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

/** The terms of a name, without those that are several words written as one. */
export const nameTerms = (text: string): Array<string> =>
  (ascii(text).match(camel) ?? []).flatMap((part) => {
    const lower = part.toLowerCase()
    return stopWords.has(lower) ? [] : [stem(lower)]
  })

/** The words of a query, each once. */
export const queryWords = (query: string): ReadonlyArray<QueryWord> => {
  const words = new Map<string, Mutable<QueryWord>>()
  let before: Mutable<QueryWord> | undefined
  const add = (word: Omit<QueryWord, "joined" | "meaning">) => {
    const known = words.get(word.term)
    const next = known !== undefined && known.weight >= word.weight
      ? known
      : { ...word, joined: known?.joined ?? [], meaning: known?.meaning ?? [] }
    words.set(word.term, next)
    if (before?.plain && next.plain && before !== next) {
      const joined = before.raw + next.raw
      before.joined = [...before.joined, joined, stem(joined)]
      next.joined = [...next.joined, joined, stem(joined)]
    }
    before = next
  }
  const chunks = [...ascii(query.replace(contraction, " ")).matchAll(/[A-Za-z0-9_@/.#$-]+/g)].flatMap(([chunk]) => {
    // `Effect.catchTag` and `fast-check` are looked for as they stand, `end.` at a sentence's end is a plain word.
    const code = /[A-Za-z0-9][.#/][A-Za-z0-9]/.test(chunk) || /[a-z][A-Z]/.test(chunk)
    return [...chunk.matchAll(/[A-Za-z0-9]+/g)].map(([word]) => ({ code, word }))
  })
  const plain = chunks.map(({ code, word }) => code ? "" : word.toLowerCase())
  let phraseEnd = 0
  chunks.forEach(({ code, word }, at) => {
    const phrase = at < phraseEnd ? undefined : Synonyms.phraseAt(plain, at)
    if (phrase !== undefined) {
      phraseEnd = at + phrase.words.length
      if (phrase.terms.length > 0) {
        const { term } = phrase
        words.set(term, { term, raw: term, weight: 1, plain: false, joined: [], meaning: phrase.terms })
      }
    }
    const parts = word.match(camel) ?? [word]
    for (const part of parts) {
      const raw = part.toLowerCase()
      if (!code && (stopWords.has(raw) || (at < phraseEnd && weakWords.has(raw)))) {
        before = undefined
        continue
      }
      const weight = code && parts.length > 1
        ? weights.identifierPart
        : at < phraseEnd
        ? weights.phrasePart
        : !code && functionWords.has(raw)
        ? weights.functionWord
        : !code && weakWords.has(raw)
        ? weights.weakWord
        : 1
      add({ term: stem(raw), raw, weight, plain: !code && parts.length === 1 })
    }
    if (parts.length > 1) {
      add({ term: word.toLowerCase(), raw: word.toLowerCase(), weight: weights.identifier, plain: false })
    }
  })
  if (words.size === 0) {
    for (const term of terms(query, true)) {
      add({ term, raw: term, weight: 1, plain: false })
    }
  }
  return [...words.values()]
}

type Mutable<A> = { -readonly [K in keyof A]: A[K] }

const ascii = (text: string): string => /[^\0-\x7f]/.test(text) ? text.normalize("NFKD").replace(/\p{M}/gu, "") : text
