/**
 * One POST and its answer (spec: basic/transports/streamable-http), as a handler of undici's dispatcher.
 */
import type * as Undici from "@effect/platform-node/Undici"
import * as HttpExchange from "@fairlead/client/HttpExchange"
import {
  ConnectFailed,
  type Failure,
  type Incoming,
  type Outgoing,
  Refused,
  TimedOut
} from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { AddressRefused } from "./addresses.ts"

type Controller = Undici.Dispatcher.DispatchController
type ResponseHeaders = Readonly<Record<string, string | Array<string> | undefined>>

export interface Wire {
  readonly dispatcher: Undici.Dispatcher
  readonly url: URL
  readonly limits: HttpExchange.Limits
  /** Absent where the dispatcher is not ours. */
  readonly connectMillis: number | undefined
  /** What has a connection, or waits for one; also streams that linger. */
  readonly open: Set<Place>
  closed: boolean
}

/**
 * The place of an exchange among those that are open. It is emptied at the end: what was taken out of a long-lived set is
 * not always free (in V8 each table that it outgrows points to the next one, so an old one keeps all that follow).
 */
export interface Place {
  exchange: Exchange | undefined
}

// Undici compares it with nothing; one object, so that no stack is taken for each call.
const aborted = new Error("The call is over")

/** Sends a request that is ready to go. Interrupting it closes the response, which the server sees. */
export const exchange = (
  wire: Wire,
  outgoing: Outgoing,
  own: HttpExchange.CheckedHeaders
): Effect.Effect<Incoming, Failure> =>
  Effect.callback((resume) => {
    const running = new Exchange(wire, outgoing, own)
    running.start(resume)
    return Effect.sync(() => running.abort())
  })

export class Exchange implements Undici.Dispatcher.DispatchHandler {
  readonly #wire: Wire
  readonly #outgoing: Outgoing
  readonly #own: HttpExchange.CheckedHeaders
  readonly #url: URL
  /** How many redirects have led here. */
  readonly #redirects: number
  readonly #place: Place = { exchange: this }
  /** Where a redirect has led. */
  #next: Exchange | undefined
  #resume: ((effect: Effect.Effect<Incoming, Failure>) => void) | undefined
  #controller: Controller | undefined
  #reader: HttpExchange.Reader | undefined
  #linger: NodeJS.Timeout | undefined

  constructor(wire: Wire, outgoing: Outgoing, own: HttpExchange.CheckedHeaders, url = wire.url, redirects = 0) {
    this.#wire = wire
    this.#outgoing = outgoing
    this.#own = own
    this.#url = url
    this.#redirects = redirects
  }

  start(resume: (effect: Effect.Effect<Incoming, Failure>) => void): void {
    const { closed, dispatcher, open } = this.#wire
    const { origin, pathname, search } = this.#url
    if (closed) return resume(Effect.interrupt)
    this.#resume = resume
    open.add(this.#place)
    // Without it a server may send any content encoding, and nothing here undoes one.
    const headers: Record<string, string> = { "accept-encoding": "identity", ...this.#own }
    for (const [name, value] of HttpExchange.requestHeaders(this.#outgoing)) headers[name] = value
    dispatcher.dispatch({
      origin,
      path: search === "" ? pathname : pathname + search,
      method: "POST",
      headers,
      body: this.#outgoing.text,
      headersTimeout: 0,
      bodyTimeout: 0
    }, this)
  }

  /** Ends it, whatever it is at: the call is interrupted if it has not ended yet. */
  abort(): void {
    this.#settle(Effect.interrupt)
    this.#drop()
    this.#next?.abort()
  }

  onRequestStart(controller: Controller): void {
    // Thrown and not aborted: that would take the connection along.
    if (this.#resume === undefined) throw aborted
    this.#controller = controller
    if (this.#redirects === 0) this.#outgoing.sent()
  }

  onResponseStart(_controller: Controller, status: number, headers: ResponseHeaders): void {
    if (status < 200 || this.#resume === undefined) return
    const header = (name: string): string | undefined => {
      const value = headers[name]
      return Array.isArray(value) ? value.join(", ") : value
    }
    const head: HttpExchange.Head = { status, header, isEncoded: isEncoded(header("content-encoding")) }
    const target = this.#redirects < HttpExchange.maxRedirects ? HttpExchange.redirect(head, this.#url) : undefined
    if (target !== undefined) return this.#follow(target)
    const reader = HttpExchange.reader(this.#outgoing, head, this.#wire.limits)
    if (Result.isSuccess(reader)) this.#reader = reader.success
    else this.#end(Result.fail(reader.failure), reader.failure._tag === "HttpStatus")
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    if (this.#resume === undefined || this.#reader === undefined) return
    const outcome = this.#reader.feed(chunk)
    if (outcome !== undefined) this.#end(outcome, Result.isSuccess(outcome))
  }

  onResponseEnd(): void {
    if (this.#resume !== undefined && this.#reader !== undefined) this.#finish(this.#reader.end())
    this.#release()
  }

  onResponseError(_controller: Controller | null, error: unknown): void {
    if (this.#resume !== undefined) {
      this.#settle(this.#wire.closed ? Effect.interrupt : Effect.fail(this.#failureOf(error)))
    }
    this.#release()
  }

  #failureOf(error: unknown): Failure {
    // After a redirect a server has had the request.
    if (this.#controller !== undefined || this.#redirects > 0) return HttpExchange.lost(undefined)
    if (error instanceof AddressRefused) return new Refused({ detail: "no address of the host is allowed" })
    const code = codeOf(error)
    const { connectMillis } = this.#wire
    return code === "UND_ERR_CONNECT_TIMEOUT" && connectMillis !== undefined
      ? new TimedOut({ evidence: "NotSent", bound: "connect", millis: connectMillis })
      : new ConnectFailed({ detail: code })
  }

  /** The call has ended before the body has: it lingers for a moment, or is aborted at once. */
  #end(outcome: HttpExchange.Outcome, lingers: boolean): void {
    this.#finish(outcome)
    if (lingers) this.#startLinger()
    else this.#drop()
  }

  /** The call goes on elsewhere. */
  #follow(target: URL): void {
    const resume = this.#resume!
    this.#resume = undefined
    this.#startLinger()
    this.#next = new Exchange(this.#wire, this.#outgoing, this.#own, target, this.#redirects + 1)
    this.#next.start(resume)
  }

  #startLinger(): void {
    // Sockets live in real time, whatever the clock of the program.
    this.#linger = setTimeout(() => this.#drop(), HttpExchange.lingerMillis)
  }

  #drop(): void {
    this.#release()
    this.#controller?.abort(aborted)
  }

  #finish(outcome: HttpExchange.Outcome): void {
    const skipped = this.#reader?.skipped() ?? 0
    const ended = Effect.fromResult(outcome)
    this.#settle(skipped === 0 ? ended : Effect.andThen(HttpExchange.logSkipped(skipped), ended))
  }

  #settle(ended: Effect.Effect<Incoming, Failure>): void {
    const resume = this.#resume
    this.#resume = undefined
    resume?.(ended)
  }

  #release(): void {
    if (this.#linger !== undefined) clearTimeout(this.#linger)
    this.#wire.open.delete(this.#place)
    this.#place.exchange = undefined
  }
}

const isEncoded = (encoding: string | undefined): boolean =>
  encoding !== undefined && encoding !== "" && encoding.toLowerCase() !== "identity"

/** The code of an error or, where several addresses failed, of the first; a stable word, never a peer's. */
const codeOf = (error: unknown): string | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if ("code" in error && typeof error.code === "string") return error.code
  return "errors" in error && Array.isArray(error.errors) ? codeOf(error.errors[0]) : undefined
}
