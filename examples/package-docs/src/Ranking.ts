import * as Segment from "./Segment.ts"
import * as Synonyms from "./Synonyms.ts"
import { nameTerms, type QueryWord, queryWords } from "./Terms.ts"
import { weights } from "./Weights.ts"

/** A page that matches a query. */
export interface Match {
  readonly segment: Segment.Segment
  readonly page: number
  readonly score: number
}

/** A package's index with how much its pages count. */
export interface Source {
  readonly segment: Segment.Segment
  /** The project depends on the package itself. */
  readonly direct: boolean
  /** The package is inside of another one. */
  readonly nested: boolean
}

// One of the terms that stand for a word of the query, in one package.
interface Alternative {
  readonly source: number
  readonly term: number
  readonly text: string
  readonly weight: number
}

/** Answers queries over the indexes of several packages. */
export class Ranking {
  private readonly sources: ReadonlyArray<Source>
  private readonly bases: ReadonlyArray<number>
  private readonly total: number
  private readonly scores: Float32Array
  private readonly matched: Float32Array
  private readonly best: Float32Array
  private readonly strength: Float32Array
  private readonly priors: Float32Array
  private readonly packageWords: ReadonlyArray<ReadonlyArray<string>>
  private readonly topics: ReadonlyArray<ReadonlySet<string>>

  constructor(sources: ReadonlyArray<Source>) {
    this.sources = sources
    const bases: Array<number> = []
    let total = 0
    for (const { segment } of sources) {
      bases.push(total)
      total += segment.count
    }
    this.bases = bases
    this.total = total
    this.scores = new Float32Array(total)
    this.matched = new Float32Array(total)
    this.best = new Float32Array(total)
    this.strength = new Float32Array(total)
    this.priors = new Float32Array(total)
    sources.forEach((source, i) => {
      const prior = packagePrior(source)
      for (let page = 0; page < source.segment.count; page++) {
        this.priors[bases[i]! + page] = prior * pagePrior(source.segment, page)
      }
    })
    this.packageWords = sources.map(({ segment }) => packageWords(segment.info.label))
    this.topics = sources.map(({ segment }) => new Set(segment.info.topics))
  }

  /** The best pages for a query, best first. */
  search(query: string, limit: number): ReadonlyArray<Match> {
    const words = queryWords(query)
    if (words.length === 0) {
      return []
    }
    this.scores.fill(0)
    this.matched.fill(0)
    const values = words.map((word) => this.addWord(word))
    const possible = values.reduce((sum, value) => sum + value, 0)
    const priors = this.priorsFor(words, values)
    const top: Array<{ readonly page: number; readonly score: number }> = []
    // Enough to choose from after pages that say the same have been dropped.
    const wanted = limit * 3 + 30
    let least = 0
    for (let page = 0; page < this.total; page++) {
      const score = this.scores[page]!
      if (score > 0) {
        const coverage = this.matched[page]! / possible
        const covered = weights.uncovered + (1 - weights.uncovered) * coverage * coverage
        const final = score * priors[page]! * covered
        if (final > least) {
          top.push({ page, score: final })
          if (top.length > wanted * 4) {
            top.sort((a, b) => b.score - a.score)
            top.length = wanted
            least = top[wanted - 1]!.score
          }
        }
      }
    }
    const said = spoken(words)
    const matches = top.map(({ page, score }) => {
      const match = this.match(page, score)
      const title = match.segment.titles.get(match.page)
      return { ...match, score: score * (1 + weights.title * titleCoverage(title, said)) }
    })
    return this.distinct(matches.sort((a, b) => b.score - a.score), limit)
  }

  // Pages of a package that the query names, or that is about what the query is about, are more likely to be meant.
  private priorsFor(words: ReadonlyArray<QueryWord>, values: ReadonlyArray<number>): Float32Array {
    const said = new Set(words.map((word) => word.raw))
    const total = values.reduce((sum, value) => sum + value, 0)
    const priors = this.priors.slice()
    this.sources.forEach(({ direct, segment }, i) => {
      const named = this.packageWords[i]!.every((name) => said.has(name))
      const topics = this.topics[i]!
      const about = words.reduce((sum, word, at) => topics.has(word.term) ? sum + values[at]! : sum, 0) / total
      const factor = (named ? (direct ? weights.namedDirect : weights.namedTransitive) : 1) *
        (1 + weights.topic * about)
      if (factor !== 1) {
        for (let page = this.bases[i]!; page < this.bases[i]! + segment.count; page++) {
          priors[page] = priors[page]! * factor
        }
      }
    })
    return priors
  }

  private match(page: number, score: number): Match {
    let low = 0
    let high = this.bases.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.bases[middle]! <= page) {
        low = middle
      } else {
        high = middle - 1
      }
    }
    return { segment: this.sources[low]!.segment, page: page - this.bases[low]!, score }
  }

  // Adds what a word contributes to the pages it is in, and returns what it can contribute at most.
  private addWord(word: QueryWord): number {
    const { best, matched, scores, strength } = this
    const alternatives = this.alternatives(word)
    const frequency = new Map<string, number>()
    for (const { source, term, text } of alternatives) {
      const { starts } = this.sources[source]!.segment
      frequency.set(text, (frequency.get(text) ?? 0) + starts[term + 1]! - starts[term]!)
    }
    const idf = (count: number) => Math.log(1 + (this.total - count + 0.5) / (count + 0.5))
    const own = frequency.get(word.term)
    const top = own === undefined ? Math.max(idf(1) / 2, ...[...frequency.values()].map(idf)) : idf(own)
    const touched: Array<number> = []
    for (const { source, term, text, weight } of alternatives) {
      const { counts, documents, starts } = this.sources[source]!.segment
      const base = this.bases[source]!
      // A rare word of the same meaning says no more than the word itself.
      const value = Math.min(top, idf(frequency.get(text)!)) * weight
      for (let i = starts[term]!; i < starts[term + 1]!; i++) {
        const page = base + documents[i]!
        const occurrences = counts[i]! / Segment.weightScale
        const score = value * occurrences / (weights.saturation + occurrences)
        const known = best[page]!
        if (known === 0) {
          touched.push(page)
        }
        if (score > known) {
          best[page] = score
          strength[page] = weight
        }
      }
    }
    for (const page of touched) {
      scores[page] = scores[page]! + best[page]! * word.weight
      matched[page] = matched[page]! + top * strength[page]! * word.weight
      best[page] = 0
    }
    return top * word.weight
  }

  // The terms that stand for a word: itself and its synonyms; if nothing has it, longer words and misspellings.
  private alternatives(word: QueryWord): ReadonlyArray<Alternative> {
    const out: Array<Alternative> = []
    const exact = (text: string, weight: number) => {
      this.sources.forEach(({ segment }, source) => {
        const term = segment.terms.indexOf(text)
        if (term >= 0) {
          out.push({ source, term, text, weight })
        }
      })
    }
    exact(word.term, 1)
    for (const joined of new Set(word.joined)) {
      exact(joined, 1)
    }
    for (const term of word.meaning) {
      exact(term, weights.meaning)
    }
    if (out.length > 0 || word.meaning.length > 0) {
      if (word.plain) {
        for (const synonym of Synonyms.of(word.term)) {
          exact(synonym, weights.synonym)
        }
      }
      return out
    }
    this.sources.forEach(({ segment }, source) => {
      for (let term = segment.terms.lowerBound(word.raw); term < segment.terms.length; term++) {
        const text = segment.terms.get(term)
        if (!text.startsWith(word.raw)) {
          break
        }
        out.push({ source, term, text, weight: weights.prefix * word.raw.length / text.length })
      }
    })
    if (out.length > 0 || word.raw.length < 4) {
      return out
    }
    const distance = word.term.length < 8 ? 1 : 2
    this.sources.forEach(({ segment }, source) => {
      for (let term = 0; term < segment.terms.length; term++) {
        const length = segment.terms.starts[term + 1]! - segment.terms.starts[term]!
        if (Math.abs(length - word.term.length) <= distance) {
          const text = segment.terms.get(term)
          const edits = editDistance(word.term, text, distance)
          if (edits <= distance) {
            out.push({ source, term, text, weight: weights.fuzzy / edits })
          }
        }
      }
    })
    return out
  }

  // Packages of one family ship the same documents and declarations, which match equally well: each is shown once, of
  // the package whose name is the shortest.
  private distinct(matches: ReadonlyArray<Match>, limit: number): ReadonlyArray<Match> {
    const places = new Map<string, number>()
    const out: Array<Match> = []
    for (const match of matches) {
      const id = match.segment.ids.get(match.page)
      const isDocument = Segment.kindOf(match.segment, match.page) === "doc"
      const title = match.segment.titles.get(match.page)
      const key = isDocument ? title : `${title} ${match.score.toFixed(3)}`
      const place = places.get(key)
      if (place === undefined) {
        places.set(key, out.length)
        out.push(match)
      } else if (id.length < out[place]!.segment.ids.get(out[place]!.page).length) {
        out[place] = { ...match, score: out[place]!.score }
      }
    }
    return diverse(out, limit)
  }
}

// The more a package has to say, the more likely it is that a question is about it.
const packagePrior = ({ direct, nested, segment }: Source): number =>
  (direct ? 1 : nested ? weights.nested : weights.transitive) *
  (segment.info.label.startsWith("@types/") ? weights.typesPackage : 1) *
  (1 + weights.size * Math.log10(1 + segment.info.pages))

const pagePrior = (segment: Segment.Segment, page: number): number =>
  (1 + weights.mentioned * segment.mentions[page]! / 16) *
  (Segment.isDeprecated(segment, page) ? weights.deprecated : 1) *
  (Segment.isMember(segment, page) ? weights.member : 1) *
  (Segment.isSetting(segment, page) ? weights.setting : 1) *
  (Segment.isModule(segment, page) ? weights.module : 1) *
  (Segment.isType(segment, page) ? weights.type : 1) *
  (Segment.kindOf(segment, page) === "export" ? 1 : weights.document)

// Chooses the best pages one after another, those of a module less with each of its pages that has been chosen.
const diverse = (matches: ReadonlyArray<Match>, limit: number): ReadonlyArray<Match> => {
  const rest = matches.map((match) => ({ match, group: groupOf(match.segment.ids.get(match.page)) }))
  const chosen = new Map<string, number>()
  const out: Array<Match> = []
  while (out.length < limit && rest.length > 0) {
    let best = 0
    let bestScore = -1
    for (let i = 0; i < rest.length && rest[i]!.match.score > bestScore; i++) {
      const score = rest[i]!.match.score * weights.repeated ** (chosen.get(rest[i]!.group) ?? 0)
      if (score > bestScore) {
        best = i
        bestScore = score
      }
    }
    const [{ group, match }] = rest.splice(best, 1) as [(typeof rest)[number]]
    chosen.set(group, (chosen.get(group) ?? 0) + 1)
    out.push({ ...match, score: bestScore })
  }
  return out
}

// The module or document that a page belongs to.
const groupOf = (id: string): string => id.slice(0, id.indexOf("#") + 1) || id

// What packages of a scope are called for their part in it: only with the scope it is their name.
const parts = new Set(
  "api app base cli client common config core helpers node runtime server shared test types utils".split(" ")
)

// The words of a package's name, without its scope if they mean something without it: `fast` and `check`.
const packageWords = (label: string): ReadonlyArray<string> => {
  const split = (text: string) => text.toLowerCase().split(/[^a-z0-9]+/).filter((word) => word !== "")
  const [, scope, name] = /^(?:@([^/]+)\/)?([^@]+)/.exec(label)!
  return scope !== undefined && parts.has(name!.toLowerCase()) ? split(`${scope} ${name}`) : split(name!)
}

// The terms that a query says, and how surely.
const spoken = (words: ReadonlyArray<QueryWord>): ReadonlyMap<string, number> => {
  const said = new Map<string, number>()
  for (const { meaning, plain, term } of words) {
    meaning.forEach((other) => said.set(other, 1))
    if (plain) {
      for (const synonym of Synonyms.of(term)) {
        said.set(synonym, Math.max(said.get(synonym) ?? 0, 0.5))
      }
    }
    said.set(term, 1)
  }
  return said
}

// How much of a title the query says. What stands before the last dot, such as the module, counts half.
const titleCoverage = (title: string, said: ReadonlyMap<string, number>): number => {
  const dot = title.search(/[.›][^.›]*$/)
  let total = 0
  let covered = 0
  for (const [text, weight] of [[title.slice(0, dot + 1), 0.5], [title.slice(dot + 1), 1]] as const) {
    for (const term of nameTerms(text)) {
      total += weight
      covered += weight * (said.get(term) ?? 0)
    }
  }
  return total === 0 ? 0 : covered / total
}

// The number of edits (with swapped neighbours as one) that make one word of the other, as far as it is of interest.
const editDistance = (a: string, b: string, limit: number): number => {
  let before: Array<number> = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let value = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, before[j - 2]! + 1)
      }
      row.push(value)
      least = Math.min(least, value)
    }
    if (least > limit) {
      return limit + 1
    }
    before = previous
    previous = row
  }
  return previous[b.length]!
}
