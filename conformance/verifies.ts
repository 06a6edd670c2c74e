/**
 * Ties a test to the requirements and promises it shows. The ids become part of the test's title, where the
 * requirements reporter finds them when the test has passed.
 */
import { claimable, tagTitle, unknownMessage } from "./requirements/Claims.ts"
import { readLists } from "./requirements/Lists.ts"

const known = claimable(readLists())

/**
 * Names what a test shows. Throws on an id that neither list has, so the test file fails when it is collected. Where
 * the roles have different duties the id needs one: `STDIO-3@client`.
 *
 * @example
 * ```ts
 * it.effect(verifies("META-6", "HDR-1")("a request carries its metadata"), () => ...)
 * ```
 */
export const verifies = (...ids: ReadonlyArray<string>): (title: string) => string => {
  if (ids.length === 0) throw new Error("verifies needs at least one id")
  for (const id of ids) {
    if (!known.has(id)) throw new Error(unknownMessage(id, known))
  }
  return (title) => tagTitle(title, ids)
}
