/**
 * The sink of an HTTP request: JSON unless something is sent before the answer; then an event stream, whose answer is
 * its last event. Events of one turn are written together.
 */
import * as Revision from "@fairlead/protocol/Revision"
import type { HttpResponder } from "../Front.ts"
import type { Accepted } from "./httpChecks.ts"
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

export interface HttpSink extends Sink {
  /** Ends everything: nothing is written any more. */
  readonly close: () => void
}

export interface WriteWait {
  /** Runs `f` when the client has not read for too long; the result stops the wait. */
  readonly start: (f: () => void) => () => void
  /** The client is given up. */
  readonly onOver: () => void
}

export const makeHttpSink = (
  responder: HttpResponder,
  accepted: Accepted,
  writeWait: WriteWait
): HttpSink => {
  const own = accepted.headers
  const withOwn = (headers: Readonly<Record<string, string>>) => own === undefined ? headers : { ...headers, ...own }
  let stopWait: (() => void) | undefined
  let open = false
  let closed = false
  let waiting = ""
  let scheduled = false
  let blocked = false
  let resumes: Array<() => void> = []

  const drained = () => {
    stopWait?.()
    stopWait = undefined
    blocked = false
    const callbacks = resumes
    resumes = []
    for (const resume of callbacks) resume()
  }

  const flush = () => {
    scheduled = false
    if (closed || waiting === "") return
    const chunk = waiting
    waiting = ""
    if (push(chunk) && resumes.length > 0) drained()
  }

  const push = (chunk: string): boolean => {
    if (responder.write(chunk)) return true
    if (!blocked) {
      blocked = true
      responder.onDrain(drained)
      stopWait = writeWait.start(() => {
        responder.abort()
        writeWait.onOver()
      })
    }
    return false
  }

  const write = (message: string) => {
    if (!open) {
      open = true
      responder.open(200, withOwn(eventHeaders))
    }
    waiting += `data: ${message}\n\n`
    if (!scheduled) {
      scheduled = true
      queueMicrotask(flush)
    }
  }

  return {
    event: (message) => {
      // A client that takes JSON alone gets its answer without what was said on the way.
      if (closed || !accepted.events) return true
      write(message)
      return !blocked && waiting.length < highWaterMark
    },
    onDrain: (resume) => {
      resumes.push(resume)
    },
    streams: accepted.events,
    keepAlive: () => {
      // A comment: no event, and every client ignores it. One waits for a client that does not read, not one more each
      // time.
      if (open && !closed && !blocked && waiting === "") push(":\n\n")
    },
    isShared: false,
    answer: ({ plain, status, text }) => {
      if (closed) return
      if (!open && plain !== undefined) {
        closed = true
        return responder.respond(status, withOwn({ ...plainHeaders, ...plain.headers }), plain.body)
      }
      // An error status cannot be told by a stream, whatever the client would rather read.
      if (!open && (accepted.json || status !== 200)) {
        closed = true
        return responder.respond(status, withOwn(text === "" ? emptyHeaders : jsonHeaders), text)
      }
      write(text)
      const last = waiting
      waiting = ""
      closed = true
      responder.end(last)
      drained()
    },
    close: () => {
      closed = true
      waiting = ""
      drained()
    }
  }
}
