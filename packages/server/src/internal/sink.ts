/**
 * Where the answer of one request goes. A front gives one sink a request; the exchange writes to it, and never after it
 * has answered or the peer has gone.
 */
import type { Reply } from "./reply.ts"

export interface Sink {
  /** A notification of the request. `false`: the peer does not read, wait for `onDrain` before the next. */
  readonly event: (message: string) => boolean
  /** Calls back once when the peer reads again. */
  readonly onDrain: (resume: () => void) => void
  /** Whether there can be events. */
  readonly streams: boolean
  /** Says that the stream is still open, where the transport has a way to. */
  readonly keepAlive: () => void
  /** Whether the messages of several requests share it, so that ending one of them has to be said. */
  readonly isShared: boolean
  /** The answer, after which nothing follows. */
  readonly answer: (reply: Reply) => void
}
