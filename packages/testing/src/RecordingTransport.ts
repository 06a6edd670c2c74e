/**
 * A transport that keeps what passes through it, for tests that look at the wire: each request as the text that was
 * sent, each notification, answer and failure.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Transport from "@fairlead/protocol/Transport"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { observed } from "./internal/observed.ts"
import * as Wire from "./Wire.ts"

/**
 * A request on its way out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sent {
  readonly _tag: "Sent"
  readonly id: JsonRpc.RequestId
  readonly method: string
  /** The message as it travels. */
  readonly text: string
  /** The headers beside those that the revision derives from the message. */
  readonly headers: Transport.Outgoing["headers"]
}

/**
 * The transport said that the first byte of a request may leave.
 *
 * @category models
 * @since 0.1.0
 */
export interface Left {
  readonly _tag: "Left"
  readonly id: JsonRpc.RequestId
}

/**
 * A notification that belongs to a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Notified {
  readonly _tag: "Notified"
  readonly id: JsonRpc.RequestId
  readonly notification: JsonRpc.Notification
  readonly text: string
}

/**
 * The answer to a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answered {
  readonly _tag: "Answered"
  readonly id: JsonRpc.RequestId
  readonly method: string
  readonly response: JsonRpc.Response
  readonly text: string
}

/**
 * A request that has no answer: with a failure, or without one when it was interrupted.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ended {
  readonly _tag: "Ended"
  readonly id: JsonRpc.RequestId
  readonly failure: Transport.Failure | undefined
}

/**
 * What is recorded, in the order in which it happened.
 *
 * @category models
 * @since 0.1.0
 */
export type Entry = Sent | Left | Notified | Answered | Ended

/**
 * The record of a transport.
 *
 * **Example** (Looking at what was sent)
 *
 * ```ts
 * import { McpClient } from "@fairlead/client"
 * import { InProcess } from "@fairlead/server"
 * import { RecordingTransport } from "@fairlead/testing"
 * import { Effect, Layer } from "effect"
 *
 * export const Client = McpClient.layer().pipe(Layer.provideMerge(RecordingTransport.layer(InProcess.layer())))
 *
 * export const program = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const recording = yield* RecordingTransport.RecordingTransport
 *   yield* client.listTools
 *   console.log((yield* recording.entries).map((entry) => entry._tag)) // [ "Sent", "Left", "Answered" ]
 *   yield* recording.check
 * })
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class RecordingTransport extends Context.Service<RecordingTransport, {
  /** Everything since the start, or since the last `clear`. */
  readonly entries: Effect.Effect<ReadonlyArray<Entry>>
  /** How many requests have neither an answer nor an end. */
  readonly pending: Effect.Effect<number>
  /** Dies with `Wire.InvalidMessage` for the first message of either end that breaks the protocol. */
  readonly check: Effect.Effect<void>
  /** Forgets what was recorded. */
  readonly clear: Effect.Effect<void>
}>()("@fairlead/testing/RecordingTransport") {}

/**
 * Wraps a transport: the result is a transport that does the same, and the record of it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  transport: Layer.Layer<Transport.Transport, E, R>
): Layer.Layer<Transport.Transport | RecordingTransport, E, R> =>
  Layer.effectContext(Effect.map(Transport.Transport, (inner) => {
    const made = make(inner)
    return Context.make(Transport.Transport, made.transport).pipe(Context.add(RecordingTransport, made.recording))
  })).pipe(Layer.provide(transport))

/**
 * {@link layer} for a transport that is there.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (inner: Transport.Transport["Service"]): {
  readonly transport: Transport.Transport["Service"]
  readonly recording: RecordingTransport["Service"]
} => {
  let entries: Array<Entry> = []
  let pending = 0
  const transport = observed(inner, ({ headers, id, method, text }) => {
    pending++
    entries.push({ _tag: "Sent", id, method, text, headers })
    return {
      sent: () => entries.push({ _tag: "Left", id }),
      notification: (notification) =>
        entries.push({ _tag: "Notified", id, notification, text: Wire.textOf(notification) }),
      answer: (response) => {
        pending--
        entries.push({ _tag: "Answered", id, method, response, text: Wire.textOf(response) })
      },
      ended: (failure) => {
        pending--
        entries.push({ _tag: "Ended", id, failure })
      }
    }
  })
  const recording = RecordingTransport.of({
    entries: Effect.sync(() => [...entries]),
    pending: Effect.sync(() => pending),
    check: Effect.suspend(() => {
      const invalid = entries.flatMap(invalidOf)[0]
      return invalid === undefined ? Effect.void : Effect.die(invalid)
    }),
    clear: Effect.sync(() => {
      entries = []
    })
  })
  return { transport, recording }
}

const invalidOf = (entry: Entry): ReadonlyArray<Wire.InvalidMessage> => {
  if (entry._tag === "Left" || entry._tag === "Ended") return []
  const { text } = entry
  const origin: Wire.Origin = entry._tag === "Sent"
    ? { from: "client" }
    : { from: "server", method: entry._tag === "Answered" ? entry.method : undefined }
  const problems = Wire.check(text, origin)
  return problems.length === 0 ? [] : [new Wire.InvalidMessage({ from: origin.from, text, problems })]
}
