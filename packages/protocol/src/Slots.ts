/**
 * A map for what comes and goes all the time, such as requests and calls under way. What was taken out of a plain `Map`
 * or `Set` is not always free: in V8 each table that they outgrow points to the next one, so once one of them is old, all
 * that were ever in them live on until the next full collection. Here they hold slots, which are emptied.
 *
 * @since 0.1.0
 */

/**
 * A map by text. It has no bound of its own: what puts in decides how many there may be.
 *
 * @category models
 * @since 0.1.0
 */
export class Slots<A> {
  readonly #slots = new Map<string, { value: A | undefined }>()

  /** How many there are. */
  get size(): number {
    return this.#slots.size
  }

  has(key: string): boolean {
    return this.#slots.has(key)
  }

  get(key: string): A | undefined {
    return this.#slots.get(key)?.value
  }

  set(key: string, value: A): void {
    this.#slots.set(key, { value })
  }

  /** Whether there was one. */
  delete(key: string): boolean {
    const slot = this.#slots.get(key)
    if (slot === undefined) return false
    slot.value = undefined
    return this.#slots.delete(key)
  }

  /** All that there are, in the order in which they came. */
  values(): ReadonlyArray<A> {
    return [...this.#slots.values()].flatMap(({ value }) => value === undefined ? [] : [value])
  }

  /** Takes out all that there are. */
  takeAll(): ReadonlyArray<A> {
    const values = this.values()
    this.#slots.clear()
    return values
  }
}
