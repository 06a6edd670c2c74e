/**
 * Sizes in bytes.
 */

const encoder = new TextEncoder()

/** Whether a text has more than `limit` bytes of UTF-8; it is only encoded where its length does not tell. */
export const isLongerThan = (text: string, limit: number): boolean =>
  text.length > limit || (text.length * 3 > limit && encoder.encode(text).length > limit)

/** One array of all chunks. */
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
