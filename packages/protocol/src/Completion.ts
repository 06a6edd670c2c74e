/**
 * Completion of the arguments of prompts and of the parameters of resource templates: what a client asks, and the values
 * a server offers.
 *
 * @since 0.1.0
 */

/**
 * What is completed: an argument of a prompt, or a parameter of a template.
 *
 * @category models
 * @since 0.1.0
 */
export type Reference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string }

/**
 * The values that are offered, best first.
 *
 * @category models
 * @since 0.1.0
 */
export interface Values<out A> {
  /** At most 100 travel; more are cut, and `hasMore` says so. */
  readonly values: ReadonlyArray<A>
  /** How many there are in all, if that is known. */
  readonly total?: number | undefined
  readonly hasMore?: boolean | undefined
}

/**
 * What a completion answers with: values, or values with what is known about the rest.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer<A> = ReadonlyArray<A> | Values<A>

/**
 * The most values that travel in one answer (spec: server/utilities/completion).
 *
 * @category constants
 * @since 0.1.0
 */
export const maxValues = 100

/**
 * The values of an answer as they travel: cut to {@link maxValues}, and then with `hasMore` and a `total` that is not
 * smaller than what is known. A `total` that is no count is left out.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromAnswer = <A>(answer: Answer<A>): Values<A> => {
  const given: Values<A> = Array.isArray(answer) ? { values: answer } : answer as Values<A>
  const values = given.values.slice(0, maxValues)
  const isCut = values.length < given.values.length
  const total = isCount(given.total) ? given.total : isCut ? given.values.length : undefined
  const hasMore = isCut ? true : given.hasMore
  return {
    values,
    ...(total === undefined ? {} : { total: Math.max(total, given.values.length) }),
    ...(hasMore === undefined ? {} : { hasMore })
  }
}

const isCount = (total: number | undefined): total is number => Number.isSafeInteger(total) && total! >= 0
