/**
 * Line frames: one message a line, as stdio and other byte streams carry them. The splitter works on bytes, so that a
 * character cut by a chunk is never damaged (spec: basic/transports/stdio).
 *
 * @since 0.1.0
 */

/**
 * What a {@link Splitter} tells of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handlers {
  /** A whole line, without its line end. Empty lines are skipped. */
  readonly frame: (text: string) => void
  /**
   * A line grew beyond the limit: its kept head, up to 4 KiB. The rest of the line is skipped; the next line is read as
   * usual.
   */
  readonly oversize: (head: string) => void
  /** A line is not valid UTF-8. */
  readonly malformed: () => void
}

/**
 * Splits bytes into lines.
 *
 * @category models
 * @since 0.1.0
 */
export interface Splitter {
  /** Takes the next bytes. */
  readonly feed: (chunk: Uint8Array) => void
  /** Ends the input; gives the number of bytes of a line that never ended. */
  readonly end: () => number
}

/**
 * The line limit of {@link makeSplitter} unless told otherwise: 16 MiB.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultMaxBytes: number = 16 * 1024 * 1024

const lineFeed = 0x0a
const carriageReturn = 0x0d
const headBytes = 4096
const encoder = new TextEncoder()

/**
 * Makes a splitter. Lines end with LF or CRLF; a byte order mark before the first line is skipped. A line of exactly
 * `maxBytes` passes, one more byte is `oversize`, told once; memory is bounded by the limit.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeSplitter = (handlers: Handlers, maxBytes: number = defaultMaxBytes): Splitter => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const lossy = new TextDecoder("utf-8")
  let parts: Array<Uint8Array> = []
  let held = 0
  let skipping = false
  let first = true

  const join = (limit: number): Uint8Array => {
    if (parts.length === 1) return parts[0]!.subarray(0, limit)
    const bytes = new Uint8Array(Math.min(held, limit))
    let offset = 0
    for (const part of parts) {
      if (offset >= bytes.length) break
      bytes.set(part.subarray(0, bytes.length - offset), offset)
      offset += part.length
    }
    return bytes
  }

  const hold = (part: Uint8Array) => {
    if (skipping || part.length === 0) return
    // One byte more than the limit may be the CR of a CRLF.
    if (held + part.length > maxBytes + 1) {
      parts.push(part.subarray(0, headBytes))
      held += Math.min(part.length, headBytes)
      skip()
      return
    }
    parts.push(part)
    held += part.length
  }

  const skip = () => {
    skipping = true
    const head = join(headBytes)
    parts = []
    held = 0
    handlers.oversize(lossy.decode(head))
  }

  const endLine = () => {
    if (skipping) {
      skipping = false
      first = false
      return
    }
    let line = join(held)
    if (line.at(-1) === carriageReturn) line = line.subarray(0, -1)
    if (line.length > maxBytes) {
      skip()
      skipping = false
      first = false
      return
    }
    parts = []
    held = 0
    if (first && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) line = line.subarray(3)
    first = false
    if (line.length === 0) return
    let text: string
    try {
      text = decoder.decode(line)
    } catch {
      return handlers.malformed()
    }
    handlers.frame(text)
  }

  return {
    feed: (chunk) => {
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        hold(chunk.subarray(start, end))
        endLine()
        start = end + 1
      }
      // Copied: the owner of the chunk may use its memory again.
      if (start < chunk.length) hold(chunk.slice(start))
    },
    end: () => {
      const rest = held
      parts = []
      held = 0
      return rest
    }
  }
}

/**
 * A message as the bytes of its frame: one line, ended by exactly one LF.
 *
 * @category codecs
 * @since 0.1.0
 */
export const encode = (message: string): Uint8Array => encoder.encode(`${message}\n`)
