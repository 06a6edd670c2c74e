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
const smallestBuffer = 1024
// A larger buffer is given back when its line has ended.
const keptBytes = 64 * 1024
const noBytes = new Uint8Array(0)
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const lossy = new TextDecoder("utf-8")

const decoded = (line: Uint8Array): string | undefined => {
  try {
    return strict.decode(line)
  } catch {
    return undefined
  }
}
const encoder = new TextEncoder()

/**
 * Makes a splitter. Lines end with LF or CRLF; a byte order mark before the first line is skipped. A line of exactly
 * `maxBytes` passes, one more byte is `oversize`, told once; memory is bounded by the limit.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeSplitter = (handlers: Handlers, maxBytes: number = defaultMaxBytes): Splitter => {
  // One byte more than the limit may be the CR of a CRLF.
  const most = maxBytes + 1
  // The bytes of a line that came in earlier chunks; one buffer, because a list of tiny chunks costs far more than its
  // bytes.
  let buffer = noBytes
  let held = 0
  let skipping = false
  let first = true

  const release = () => {
    held = 0
    if (buffer.length > keptBytes) buffer = noBytes
  }

  const hold = (part: Uint8Array) => {
    const needed = held + part.length
    if (needed > buffer.length) {
      const grown = new Uint8Array(Math.min(Math.max(needed, buffer.length * 2, smallestBuffer), most))
      grown.set(buffer.subarray(0, held))
      buffer = grown
    }
    buffer.set(part, held)
    held = needed
  }

  const tooLarge = (part: Uint8Array) => {
    const head = new Uint8Array(Math.min(held + part.length, headBytes))
    head.set(buffer.subarray(0, Math.min(held, head.length)))
    if (held < head.length) head.set(part.subarray(0, head.length - held), held)
    release()
    handlers.oversize(lossy.decode(head))
  }

  const lineOf = (part: Uint8Array): Uint8Array => {
    if (held === 0) return part
    hold(part)
    return buffer.subarray(0, held)
  }

  /** Takes the last part of a line. */
  const endLine = (part: Uint8Array) => {
    const isFirst = first
    first = false
    if (skipping) {
      skipping = false
      return
    }
    if (held + part.length > most) return tooLarge(part)
    let line = lineOf(part)
    if (line.at(-1) === carriageReturn) line = line.subarray(0, -1)
    if (line.length > maxBytes) {
      held = 0
      return tooLarge(line)
    }
    if (isFirst && line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf) line = line.subarray(3)
    const text = line.length === 0 ? "" : decoded(line)
    release()
    if (text === undefined) handlers.malformed()
    else if (line.length > 0) handlers.frame(text)
  }

  return {
    feed: (chunk) => {
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        endLine(chunk.subarray(start, end))
        start = end + 1
      }
      if (skipping || start === chunk.length) return
      const rest = chunk.subarray(start)
      if (held + rest.length > most) {
        skipping = true
        tooLarge(rest)
      } else hold(rest)
    },
    end: () => {
      const rest = held
      held = 0
      buffer = noBytes
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

const lspHeader = /^content-(?:length|type) *:/i

/**
 * Whether a line is a header with which language servers frame their messages. Nothing here does, so a peer that begins
 * with one speaks another protocol.
 *
 * @category guards
 * @since 0.1.0
 */
export const isLspHeader = (line: string): boolean => lspHeader.test(line)
