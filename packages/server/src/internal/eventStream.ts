/**
 * The sink of an HTTP request: JSON unless something is sent before the answer; then an event stream, whose answer is
 * its last event. Events of one turn are written together.
 */
import * as Revision from "@fairlead/protocol/Revision"
import type { HttpExchange, HttpResponder } from "../Front.ts"
import type { Exchange } from "./exchange.ts"
import type { Accepted } from "./httpChecks.ts"
import type { Reply } from "./reply.ts"
import type { Sink } from "./sink.ts"

const jsonHeaders = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "mcp-protocol-version": Revision.latest.version
}

const eventHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  "mcp-protocol-version": Revision.latest.version
}

const emptyHeaders = {
  "cache-control": "no-store",
  "mcp-protocol-version": Revision.latest.version
}

const plainHeaders = {
  "content-type": "text/plain; charset=utf-8",
  "cache-control": "no-store",
  "mcp-protocol-version": Revision.latest.version
}

/** The bytes of events that may wait in one turn before the emitter has to wait too. */
const highWaterMark = 64 * 1024

/** Runs `f` when a client has not read for too long; the result stops the wait. */
export type WriteWait = (f: () => void) => () => void

/** A class, since each request has one: the closures it would be made of cost more than all checks of the head. */
export class HttpSink implements Sink, HttpExchange {
  readonly isShared = false
  /** What is interrupted when the client goes away. */
  exchange: Exchange | undefined = undefined

  private readonly responder: HttpResponder
  private readonly accepted: Accepted
  private readonly writeWait: WriteWait
  private stopWait: (() => void) | undefined = undefined
  private open = false
  private closed = false
  private waiting = ""
  private scheduled = false
  private blocked = false
  private resumes: Array<() => void> | undefined = undefined

  constructor(responder: HttpResponder, accepted: Accepted, writeWait: WriteWait) {
    this.responder = responder
    this.accepted = accepted
    this.writeWait = writeWait
  }

  get streams(): boolean {
    return this.accepted.events
  }

  event(message: string): boolean {
    // A client that takes JSON alone gets its answer without what was said on the way.
    if (this.closed || !this.accepted.events) return true
    this.write(message)
    return !this.blocked && this.waiting.length < highWaterMark
  }

  onDrain(resume: () => void): void {
    this.resumes ??= []
    this.resumes.push(resume)
  }

  keepAlive(): void {
    // A comment: no event, and every client ignores it. One waits for a client that does not read, not one more each
    // time.
    if (this.open && !this.closed && !this.blocked && this.waiting === "") this.push(":\n\n")
  }

  answer({ plain, status, text }: Reply): void {
    if (this.closed) return
    if (!this.open && plain !== undefined) {
      this.closed = true
      return this.responder.respond(status, this.withOwn({ ...plainHeaders, ...plain.headers }), plain.body)
    }
    // An error status cannot be told by a stream, whatever the client would rather read.
    if (!this.open && (this.accepted.json || status !== 200)) {
      this.closed = true
      return this.responder.respond(status, this.withOwn(text === "" ? emptyHeaders : jsonHeaders), text)
    }
    this.write(text)
    const last = this.waiting
    this.waiting = ""
    this.closed = true
    this.responder.end(last)
    this.drained()
  }

  /** The client has gone: nothing is written any more. */
  disconnect(): void {
    this.closed = true
    this.waiting = ""
    this.drained()
    this.exchange?.interrupt("disconnect")
  }

  private withOwn(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return this.accepted.headers === undefined ? headers : { ...headers, ...this.accepted.headers }
  }

  private write(message: string): void {
    if (!this.open) {
      this.open = true
      this.responder.open(200, this.withOwn(eventHeaders))
    }
    this.waiting += `data: ${message}\n\n`
    if (!this.scheduled) {
      this.scheduled = true
      queueMicrotask(() => this.flush())
    }
  }

  private flush(): void {
    this.scheduled = false
    if (this.closed || this.waiting === "") return
    const chunk = this.waiting
    this.waiting = ""
    if (this.push(chunk) && this.resumes !== undefined) this.drained()
  }

  private push(chunk: string): boolean {
    if (this.responder.write(chunk)) return true
    if (!this.blocked) {
      this.blocked = true
      this.responder.onDrain(() => this.drained())
      this.stopWait = this.writeWait(() => {
        this.responder.abort()
        this.disconnect()
      })
    }
    return false
  }

  private drained(): void {
    this.stopWait?.()
    this.stopWait = undefined
    this.blocked = false
    const callbacks = this.resumes
    this.resumes = undefined
    if (callbacks !== undefined) { for (const resume of callbacks) resume() }
  }
}
