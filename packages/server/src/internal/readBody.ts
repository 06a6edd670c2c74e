/**
 * Reads the body of a request from what stands behind it, a web `Request` or a Node stream, told apart by their methods:
 * the body readers of an HTTP server cost more than everything else here.
 */
import * as Effect from "effect/Effect"

export type BodyResult =
  | { readonly _tag: "Body"; readonly bytes: Uint8Array }
  | { readonly _tag: "TooLarge" }
  | { readonly _tag: "Gone" }

const tooLarge: BodyResult = { _tag: "TooLarge" }
const gone: BodyResult = { _tag: "Gone" }

/** The part of Node's `IncomingMessage` that is used. */
interface Readable {
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown
  on(event: "end" | "close" | "error", listener: () => void): unknown
  removeListener(event: string, listener: (...args: ReadonlyArray<never>) => void): unknown
  resume(): unknown
}

export const readBody = (source: object, limit: number): Effect.Effect<BodyResult> =>
  isReadable(source) ? readNode(source, limit) : Effect.promise((signal) => readWeb(source as Request, limit, signal))

const isReadable = (source: object): source is Readable => "on" in source && typeof source.on === "function"

const readNode = (source: Readable, limit: number): Effect.Effect<BodyResult> =>
  Effect.callback<BodyResult>((resume) => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const stop = () => {
      source.removeListener("data", onData)
      source.removeListener("end", onEnd)
      source.removeListener("close", onGone)
      source.removeListener("error", onGone)
    }
    const done = (result: BodyResult) => {
      stop()
      resume(Effect.succeed(result))
    }
    const onData = (chunk: Uint8Array) => {
      size += chunk.length
      if (size <= limit) {
        chunks.push(chunk)
      } else {
        done(tooLarge)
        source.resume()
      }
    }
    const onEnd = () => done({ _tag: "Body", bytes: joined(chunks, size) })
    const onGone = () => done(gone)
    source.on("data", onData)
    source.on("end", onEnd)
    source.on("close", onGone)
    source.on("error", onGone)
    return Effect.sync(stop)
  })

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
      if (done) return signal?.aborted === true ? gone : { _tag: "Body", bytes: joined(chunks, size) }
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

const joined = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  if (chunks.length === 1) return chunks[0]!
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
