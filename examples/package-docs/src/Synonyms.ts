import { stem } from "./Stem.ts"
import * as Thesaurus from "./Thesaurus.ts"

const table = new Map<string, Set<string>>()
const link = (from: string, to: string) => {
  if (from !== to) {
    table.set(from, (table.get(from) ?? new Set()).add(to))
  }
}
for (const group of Thesaurus.groups) {
  const [before = [], after] = group.split(" > ").map((words) => words.split(" ").map(stem))
  if (after === undefined) {
    const [head, ...others] = before
    others.forEach((other) => {
      link(head!, other)
      link(other, head!)
    })
  } else {
    before.forEach((from) => after.forEach((to) => link(from, to)))
  }
}

/** Terms that mean about the same as a term. */
export const of = (term: string): Iterable<string> => table.get(term) ?? []

interface Phrase {
  readonly words: ReadonlyArray<string>
  /** What it is indexed under. */
  readonly term: string
  /** Terms that say the same. */
  readonly terms: ReadonlyArray<string>
}

// By their first word, the longest first.
const byFirst = new Map<string, Array<Phrase>>()
for (const line of Thesaurus.phrases) {
  const [phrase, meaning] = line.split(": ") as [string, string]
  const words = phrase.split(" ")
  const entry = { words, term: words.join(""), terms: meaning === "-" ? [] : meaning.split(" ").map(stem) }
  byFirst.set(words[0]!, [...(byFirst.get(words[0]!) ?? []), entry].sort((a, b) => b.words.length - a.words.length))
}

/** The longest phrase that begins at a word of a text, if there is one. */
export const phraseAt = (words: ReadonlyArray<string>, at: number): Phrase | undefined =>
  byFirst.get(words[at]!.toLowerCase())?.find((phrase) =>
    phrase.words.every((word, i) => words[at + i]?.toLowerCase() === word)
  )
