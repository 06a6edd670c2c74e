/**
 * Sizes in bytes, and chunks of them.
 *
 * @since 0.1.0
 */

const encoder = new TextEncoder()

/**
 * Whether a text has more than `limit` bytes of UTF-8. It is only encoded where its length does not tell.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isLongerThan = (text: string, limit: number): boolean =>
  text.length > limit || (text.length * 3 > limit && encoder.encode(text).length > limit)

/**
 * One array of all chunks, which have `length` bytes together. A single chunk is given back as it is.
 *
 * @category combining
 * @since 0.1.0
 */
export const concat = (chunks: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  if (chunks.length === 1) return chunks[0]!
  const all = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.length
  }
  return all
}
