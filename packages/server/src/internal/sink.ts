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
  /** The answer, after which nothing follows. */
  readonly answer: (reply: Reply) => void
}
