/**
 * A connection that is written to by hand, so that it can break off anywhere.
 */
import * as Effect from "effect/Effect"
import * as Net from "node:net"

export interface Connection {
  readonly write: (bytes: string | Uint8Array) => void
  /** Leaves unread what comes from now on. */
  readonly pause: () => void
  /** What came so far. */
  readonly text: () => string
  /** Waits until something holds of what came, or until nothing more can come. */
  readonly until: (condition: (text: string) => boolean) => Effect.Effect<void>
  readonly ended: Effect.Effect<void>
}

/** Opens a connection; it is broken off with the scope. */
export const connect = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = Net.connect(port, "127.0.0.1")
      let text = ""
      let isOver = false
      const waiting = new Set<() => void>()
      const changed = () => {
        for (const look of waiting) look()
      }
      const until = (condition: () => boolean) =>
        Effect.callback<void>((resume) => {
          const look = () => {
            if (!condition()) return
            waiting.delete(look)
            resume(Effect.void)
          }
          waiting.add(look)
          look()
          return Effect.sync(() => waiting.delete(look))
        })
      socket.setEncoding("latin1")
      socket.on("data", (chunk: string) => {
        text += chunk
        changed()
      })
      // A server that refuses may close while it is written to; what came before that counts.
      socket.on("error", () => {})
      socket.on("close", () => {
        isOver = true
        changed()
      })
      const connection: Connection = {
        write: (bytes) => void socket.write(bytes),
        pause: () => void socket.pause(),
        text: () => text,
        until: (condition) => until(() => isOver || condition(text)),
        ended: until(() => isOver)
      }
      return { connection, socket }
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  ).pipe(Effect.map(({ connection }) => connection))

/** The status of the first response in a text. */
export const statusOf = (text: string): number | undefined => {
  const found = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
