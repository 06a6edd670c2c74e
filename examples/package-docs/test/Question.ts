/** A question in a user's own words, and the pages that answer it. */
export interface Question {
  readonly question: string
  /**
   * Page ids that really answer it: who asked need not read on elsewhere to do it. One ending in `*` accepts every
   * section of that file.
   */
  readonly pages: ReadonlyArray<string>
  /** Written before the ranking was tuned, and not looked at while tuning. */
  readonly heldOut?: boolean
}

/** Whether a page is one of those that answer a question. */
export const answers = ({ pages }: Question, page: string): boolean => {
  // Effect's guides are in several packages, word for word.
  const id = page.replace(/^@effect\/[^/]+\/(?=ai-docs\/|AGENTS\.md)/, "effect/")
  return pages.some((accepted) => accepted.endsWith("*") ? id.startsWith(accepted.slice(0, -1)) : id === accepted)
}

/** A question; a string of several words is a module and its exports: `effect/Ref# get set`. */
export const ask = (question: string, pages: ReadonlyArray<string>): Question => ({
  question,
  pages: pages.flatMap((line) => {
    const [first, ...names] = line.split(" ")
    return names.length === 0 ? [first!] : names.map((name) => `${first}${name}`)
  })
})
