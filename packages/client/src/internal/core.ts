/**
 * What all handles of one client share: the transport, the settings and the requests in flight.
 */
import type * as Json from "@fairlead/protocol/Json"
import type * as Transport from "@fairlead/protocol/Transport"
import type * as Clock from "effect/Clock"
import type { Cache } from "./cache.ts"
import type { Handlers } from "./inputAnswers.ts"
import type { Meta } from "./requestMeta.ts"

export interface Core {
  readonly transport: Transport.Transport["Service"]
  readonly clock: Clock.Clock
  readonly capabilities: Json.Object
  /** What the metadata of every request has. */
  readonly meta: Meta
  /** Milliseconds, or `Infinity`. */
  readonly timeout: number
  readonly maxPages: number
  readonly maxItems: number
  readonly maxInputRounds: number
  readonly handlers: Handlers | undefined
  readonly label: string | undefined
  readonly cache: Cache | undefined
  /** The requests in flight, which end when the client's scope closes. */
  readonly live: Set<Live>
  closed: boolean
}

/** A request in flight. It is emptied when the request is over: a set may hold what was in it for a while (`Slots`). */
export interface Live {
  end: (() => void) | undefined
}
