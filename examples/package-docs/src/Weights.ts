/** The numbers of the ranking, found by trying which answer the questions of the test best. */
export const weights = {
  /**
   * BM25F, by field: how much a word counts there, how much a long field dilutes it, and how long the field usually
   * is. Changing these changes what is stored: raise the format in `Segment.ts` too.
   */
  fields: {
    name: { weight: 4.5, dilution: 0.5, length: 1.5 },
    module: { weight: 1.5, dilution: 0.3, length: 5 },
    summary: { weight: 2, dilution: 0.8, length: 18 },
    body: { weight: 1, dilution: 0.7, length: 60 },
    context: { weight: 0.8, dilution: 0.7, length: 15 },
    code: { weight: 0.3, dilution: 0.85, length: 60 },
    links: { weight: 1, dilution: 0.7, length: 12 }
  },
  /** How soon further occurrences of a word count less: BM25's k1. */
  saturation: 3.5,
  /** What a page scores at least that has few of the words, of what it would with all of them. */
  uncovered: 0.35,
  /** What a page scores more if the query says all of its title. */
  title: 0.65,
  /** What a page counts less for each page of its module that comes before. */
  repeated: 0.985,
  synonym: 0.6,
  /** A term that says the same as a phrase, and the words of the phrase themselves. */
  meaning: 0.9,
  phrasePart: 0.5,
  prefix: 0.5,
  fuzzy: 0.6,
  /** Words of queries that are common in documentation, and parts of identifiers. */
  weakWord: 0.8,
  functionWord: 0.5,
  identifierPart: 0.5,
  identifier: 1.5,
  /** Priors of packages. */
  transitive: 0.54,
  nested: 0.5,
  typesPackage: 0.9,
  /** What a package's pages score more for each tenfold of their number. */
  size: 0.1,
  /** The query names the package. */
  namedDirect: 2,
  namedTransitive: 1.7,
  /** What pages score more if all that the query says is in the description and the keywords of their package. */
  topic: 0.54,
  /** What a page scores more for each doubling of how often others mention it. */
  mentioned: 0.031,
  /** Priors of pages. */
  deprecated: 0.5,
  member: 0.9,
  setting: 0.85,
  module: 0.77,
  type: 0.7,
  document: 1.1
}
