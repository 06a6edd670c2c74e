/**
 * Many calls over one pair of byte streams (spec: basic/transports/stdio): answers find their call by id, notifications
 * by progress token or subscription, and frames that are ready together leave together.
 */
import { isLongerThan } from "@fairlead/protocol/Bytes"
import * as Frames from "@fairlead/protocol/Frames"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import { Slots } from "@fairlead/protocol/Slots"
import {
  type Evidence,
  type Failure,
  type Incoming,
  type Outgoing,
  ResponseTooLarge,
  TooManyPendingCalls
} from "@fairlead/protocol/Transport"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { decode, malformed } from "./answers.ts"
import { headOf } from "./messageHead.ts"

export interface Limits {
  readonly maxPendingCalls: number
  readonly maxLineBytes: number
  readonly maxResponseBytes: number
}

/** A call that waits for its answer. */
interface Waiting {
  readonly request: Outgoing
  readonly resume: (effect: Effect.Effect<Incoming, Failure>) => void
  readonly progressToken: string | undefined
  sent: boolean
}

/** How many frames of one turn leave together at most. */
const burst = 16

interface Frame {
  readonly text: string
  readonly waiting: Waiting | undefined
}

export class Channel {
  readonly #limits: Limits
  readonly #waiting = new Slots<Waiting>()
  readonly #byToken = new Slots<Waiting>()
  /** How many of those that wait are streams, which stay: they do not take the place of calls. */
  #streams = 0
  readonly #splitter: Frames.Splitter
  readonly #log: (effect: Effect.Effect<void>) => void
  #frames: Array<Frame> = []
  #wake: (() => void) | undefined
  /** Why nothing more can be sent. */
  #ended: ((evidence: Evidence) => Failure) | undefined

  constructor(limits: Limits, log: (effect: Effect.Effect<void>) => void) {
    this.#limits = limits
    this.#log = log
    this.#splitter = Frames.makeSplitter({
      frame: (text) => this.#receive(text),
      oversize: (head) => this.#oversize(head, limits.maxLineBytes),
      malformed: () => this.#report("A line that is not UTF-8 was skipped")
    }, limits.maxLineBytes)
  }

  send(request: Outgoing): Effect.Effect<Incoming, Failure> {
    return Effect.callback<Incoming, Failure>((resume) => {
      if (this.#ended !== undefined) return resume(Effect.fail(this.#ended("NotSent")))
      const limit = this.#limits.maxPendingCalls
      const streams = isStream(request)
      const taken = streams ? this.#streams : this.#waiting.size - this.#streams
      if (taken >= limit) return resume(Effect.fail(new TooManyPendingCalls({ limit })))
      const key = JsonRpc.idKey(request.id)
      if (this.#waiting.has(key)) return resume(Effect.die(new Error("A request with the same id is in flight")))
      const waiting: Waiting = { request, resume, progressToken: tokenOf(request), sent: false }
      this.#waiting.set(key, waiting)
      if (streams) this.#streams++
      if (waiting.progressToken !== undefined) this.#byToken.set(waiting.progressToken, waiting)
      this.#push({ text: request.text, waiting })
      return Effect.sync(() => this.#abandon(waiting))
    })
  }

  /** The bytes to write: everything that is ready in one turn as one chunk. It ends when the channel does. */
  readonly output: Stream.Stream<Uint8Array> = Stream.fromPull(
    Effect.succeed(Effect.suspend(() => this.#take()))
  )

  /** Takes bytes that were read. */
  feed(chunk: Uint8Array): void {
    this.#splitter.feed(chunk)
  }

  /** Ends the channel: waiting calls fail, later ones do at once, and the output ends after what is left in it. */
  end(failure: (evidence: Evidence) => Failure): void {
    if (this.#ended !== undefined) return
    this.#ended = failure
    const waiting = this.#waiting.values()
    this.#frames = this.#frames.filter((frame) => frame.waiting === undefined)
    for (const one of waiting) this.#settle(one, Effect.fail(failure(one.sent ? "MaybeSent" : "NotSent")))
    this.#wake?.()
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  #push(frame: Frame): void {
    this.#frames.push(frame)
    this.#wake?.()
  }

  #take(): Effect.Effect<readonly [Uint8Array], Cause.Done> {
    if (this.#frames.length > 0) return Effect.succeed([this.#join()])
    if (this.#ended !== undefined) return Cause.done()
    return Effect.callback<readonly [Uint8Array], Cause.Done>((resume) => {
      let isScheduled = false
      const go = () => {
        if (this.#wake === wake) this.#wake = undefined
        resume(Effect.suspend(() => this.#take()))
      }
      // One turn later, so that calls that start together leave in one write; many of them leave in parts, so that the
      // server can read while the rest is made.
      const wake = () => {
        if (this.#frames.length >= burst) return go()
        if (isScheduled) return
        isScheduled = true
        queueMicrotask(go)
      }
      // What came since the look above has woken nobody.
      if (this.#frames.length > 0 || this.#ended !== undefined) return go()
      this.#wake = wake
      return Effect.sync(() => {
        if (this.#wake === wake) this.#wake = undefined
      })
    })
  }

  #join(): Uint8Array {
    const frames = this.#frames
    this.#frames = []
    for (const { waiting } of frames) {
      if (waiting === undefined) continue
      waiting.sent = true
      waiting.request.sent()
    }
    // Encoded together: a buffer for each frame costs more than its bytes.
    return Frames.encode(frames.map(({ text }) => text).join("\n"))
  }

  /** The caller is gone: a frame that has not left is taken back, else the server is told. */
  #abandon(waiting: Waiting): void {
    if (!this.#forget(waiting)) return
    if (!waiting.sent) this.#frames = this.#frames.filter((frame) => frame.waiting !== waiting)
    else this.#tellCancelled(waiting)
  }

  #tellCancelled({ request }: Waiting): void {
    if (this.#ended !== undefined) return
    const text = JsonRpc.encodeNotification(Revision.notification.cancelled, {
      requestId: request.id,
      reason: "The caller no longer waits"
    })
    this.#push({ text, waiting: undefined })
  }

  #forget(waiting: Waiting): boolean {
    if (waiting.progressToken !== undefined) this.#byToken.delete(waiting.progressToken)
    const wasThere = this.#waiting.delete(JsonRpc.idKey(waiting.request.id))
    if (wasThere && isStream(waiting.request)) this.#streams--
    return wasThere
  }

  #settle(waiting: Waiting, effect: Effect.Effect<Incoming, Failure>): void {
    if (this.#forget(waiting)) waiting.resume(effect)
  }

  #receive(text: string): void {
    if (isLongerThan(text, this.#limits.maxResponseBytes)) return this.#oversize(text, this.#limits.maxResponseBytes)
    const decoded = decode(text)
    if (Result.isFailure(decoded)) {
      const { error, id } = decoded.failure
      const waiting = id === undefined ? undefined : this.#sentById(id)
      if (waiting === undefined) this.#report(notMessage(text), text.length)
      else this.#settle(waiting, Effect.fail(malformed(error.message)))
      return
    }
    const message = decoded.success
    switch (message._tag) {
      case "Notification":
        return this.#notify(message)
      case "Request":
        return this.#report("A request from the server was skipped: servers send none", text.length)
      default: {
        const waiting = message.id === undefined ? this.#onlySent() : this.#sentById(message.id)
        // Without one it is the late answer to a call that is over.
        if (waiting !== undefined) this.#settle(waiting, Effect.succeed({ response: message }))
        else if (message.id === undefined) this.#report("An error without an id was skipped", text.length)
      }
    }
  }

  /** Fails the call that a line is for: by the id in its head, else the only one that waits, else all. */
  #oversize(head: string, limit: number): void {
    const { hasMethod, id } = headOf(head)
    if (hasMethod) return this.#report("A notification that is larger than the limit was skipped")
    const fail = (waiting: Waiting) => this.#settle(waiting, Effect.fail(new ResponseTooLarge({ limit })))
    if (id === undefined) return this.#waiting.values().filter((waiting) => waiting.sent).forEach(fail)
    const waiting = this.#sentById(id)
    if (waiting !== undefined) fail(waiting)
  }

  #sentById(id: JsonRpc.RequestId): Waiting | undefined {
    const waiting = this.#waiting.get(JsonRpc.idKey(id))
    return waiting?.sent === true ? waiting : undefined
  }

  #onlySent(): Waiting | undefined {
    const sent = this.#waiting.values().filter((waiting) => waiting.sent)
    return sent.length === 1 ? sent[0] : undefined
  }

  #notify(notification: JsonRpc.Notification): void {
    const { method, params } = notification
    const { requestId } = params
    if (method === Revision.notification.message) {
      // Nothing says whose it is: everyone hears it who asked for messages.
      for (const waiting of this.#waiting.values()) {
        if (waiting.sent && wantsLog(waiting)) waiting.request.notify(notification)
      }
    } else if (method === Revision.notification.cancelled) {
      if (JsonRpc.isRequestId(requestId)) this.#sentById(requestId)?.request.notify(notification)
    } else this.#recipient(params)?.request.notify(notification)
  }

  #recipient(params: Json.Object): Waiting | undefined {
    const token = params[Revision.meta.progressToken]
    if (JsonRpc.isRequestId(token)) return this.#byToken.get(JsonRpc.idKey(token))
    const meta = params["_meta"]
    const subscription = isMembers(meta) ? meta[Revision.meta.subscriptionId] : undefined
    return JsonRpc.isRequestId(subscription) ? this.#sentById(subscription) : undefined
  }

  #report(message: string, length?: number): void {
    this.#log(Effect.logWarning(message, ...(length === undefined ? [] : [{ length }])))
  }
}

/** A stream has no answer before its end. */
const isStream = ({ method }: Outgoing): boolean => Revision.latest.methods.get(method)?.streams === true

const notMessage = (line: string): string =>
  Frames.isLspHeader(line)
    ? "The server frames its messages with headers, as language servers do; here a message is one line of JSON"
    : "A line that is not a JSON-RPC message was skipped"

const isMembers = (value: Json.Value | undefined): value is Json.Object => typeof value === "object" && value !== null

const wantsLog = ({ request: { params } }: Waiting): boolean => {
  const meta = params["_meta"]
  return isMembers(meta) && meta[Revision.meta.logLevel] !== undefined
}

const tokenOf = ({ params }: Outgoing): string | undefined => {
  const meta = params["_meta"]
  const token = isMembers(meta) ? meta[Revision.meta.progressToken] : undefined
  return JsonRpc.isRequestId(token) ? JsonRpc.idKey(token) : undefined
}
