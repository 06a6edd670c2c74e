/**
 * Reads the body of a request from what stands behind it, a web `Request` or a Node stream, told apart by their methods:
 * the body readers of an HTTP server cost more than everything else here.
 */
import { concat } from "@fairlead/protocol/Bytes"

export type BodyResult =
  | { readonly _tag: "Body"; readonly bytes: Uint8Array }
  | { readonly _tag: "TooLarge" }
  | { readonly _tag: "Gone" }

/** What a body came to that is handed over; a web body that somebody else has read cannot be. */
export type BodyOutcome = BodyResult | { readonly _tag: "Unreadable"; readonly defect: unknown }

const tooLarge: BodyResult = { _tag: "TooLarge" }
const gone: BodyResult = { _tag: "Gone" }

/** The part of Node's `IncomingMessage` that is used. */
interface Readable {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown
  on(event: "end" | "close" | "error", listener: () => void): unknown
}

/** Reads a body and hands it over, once; the result stops it. */
export const readBody = (source: object, limit: number, done: (outcome: BodyOutcome) => void): () => void => {
  if (isReadable(source)) return readNode(source, limit, done)
  const controller = new AbortController()
  const read = async () => {
    done(await readWeb(source as Request, limit, controller.signal).catch(unreadable))
  }
  void read()
  return () => controller.abort()
}

const unreadable = (defect: unknown): BodyOutcome => ({ _tag: "Unreadable", defect })

/**
 * Breaks off the connection behind a Node stream: a server that waits for a client that does not read learns nothing from
 * the end of the answer. There is none behind a web request.
 */
export const breakOff = (source: object): void => {
  const { socket } = source as { readonly socket?: { readonly destroy?: () => void } | null }
  socket?.destroy?.()
}

const isReadable = (source: object): source is Readable => "on" in source && typeof source.on === "function"

const readNode = (source: Readable, limit: number, done: (result: BodyResult) => void): () => void => {
  let chunks: Array<Uint8Array> = []
  let size = 0
  let isOver = false
  const end = (result: BodyResult | undefined) => {
    if (isOver) return
    isOver = true
    chunks = []
    if (result !== undefined) done(result)
  }
  // The listeners stay: taking them away costs more than reading a small body, and what still comes is dropped.
  source.on("data", (chunk) => {
    if (isOver) return
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else end(tooLarge)
  })
  source.on("end", () => {
    if (!isOver) end({ _tag: "Body", bytes: concat(chunks, size) })
  })
  const onGone = () => end(gone)
  source.on("close", onGone)
  source.on("error", onGone)
  return () => end(undefined)
}

export const readWeb = async (request: Request, limit: number, signal?: AbortSignal): Promise<BodyResult> => {
  if (request.body === null) return { _tag: "Body", bytes: new Uint8Array(0) }
  // A body that somebody else has read is lost.
  if (request.bodyUsed || request.body.locked) return gone
  const reader = request.body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  signal?.addEventListener("abort", cancel, { once: true })
  if (signal?.aborted === true) cancel()
  const chunks: Array<Uint8Array> = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return signal?.aborted === true ? gone : { _tag: "Body", bytes: concat(chunks, size) }
      size += value.length
      if (size > limit) {
        cancel()
        return tooLarge
      }
      chunks.push(value)
    }
  } catch {
    return gone
  } finally {
    signal?.removeEventListener("abort", cancel)
  }
}
