/** A transport as a user would write one: a channel of lines in memory, to an endpoint or to the raw peer. */
import { Frames, Json, JsonRpc, Revision, Transport } from "@fairlead/protocol"
import { McpEndpoint } from "@fairlead/server"
import { RawPeer } from "@fairlead/testing"
import { Effect, Layer, Result } from "effect"

/** The other end: it takes bytes, and writes to what it was made with. */
type Peer = (output: { readonly write: (chunk: Uint8Array) => void; readonly close: () => void }) => {
  readonly feed: (chunk: Uint8Array) => void
  readonly end?: () => void
}

/** What the transport does wrong. */
export interface Faults {
  /** It says that nothing was sent when the connection breaks. */
  readonly claimsNotSent?: boolean
  /** It takes an answer to "1" for one to 1. */
  readonly looseIds?: boolean
  /** It fails what waits when it reads something that is no message. */
  readonly failsOnNoise?: boolean
  /** It gives every notification to every call. */
  readonly broadcasts?: boolean
  /** It lets a broken answer wait for a better one. */
  readonly waitsForBetter?: boolean
}

interface Waiting {
  readonly request: Transport.Outgoing
  readonly resume: (effect: Effect.Effect<Transport.Incoming, Transport.Failure>) => void
}

const make = (peer: Peer, maxResponseBytes: number, faults: Faults) =>
  Effect.gen(function*() {
    const waiting = new Map<string, Waiting>()
    const keyOf = (id: JsonRpc.RequestId) => faults.looseIds === true ? String(id) : JsonRpc.idKey(id)
    let closed = false

    const settle = (key: string, effect: Effect.Effect<Transport.Incoming, Transport.Failure>) => {
      const one = waiting.get(key)
      waiting.delete(key)
      one?.resume(effect)
    }
    const settleAll = (failure: Transport.Failure) => {
      for (const key of waiting.keys()) settle(key, Effect.fail(failure))
    }
    const close = () => {
      closed = true
      settleAll(new Transport.ConnectionClosed({ evidence: faults.claimsNotSent === true ? "NotSent" : "MaybeSent" }))
    }

    const notify = (notification: JsonRpc.Notification) => {
      const token = notification.params[Revision.meta.progressToken]
      for (const { request } of waiting.values()) {
        const meta = request.params["_meta"]
        const own = Json.isObject(meta) ? meta[Revision.meta.progressToken] : undefined
        if (faults.broadcasts === true) {
          request.notify(
            own === undefined
              ? notification
              : { ...notification, params: { ...notification.params, [Revision.meta.progressToken]: own } }
          )
        } else if (JsonRpc.isRequestId(token) && JsonRpc.isRequestId(own) && keyOf(token) === keyOf(own)) {
          request.notify(notification)
        }
      }
    }

    const receive = (text: string) => {
      const decoded = JsonRpc.decode(text)
      if (Result.isFailure(decoded)) {
        const failure = new Transport.MalformedResponse({ detail: decoded.failure.error.message })
        const { id } = decoded.failure
        if (faults.failsOnNoise === true) settleAll(failure)
        else if (id !== undefined && faults.waitsForBetter !== true) settle(keyOf(id), Effect.fail(failure))
        return
      }
      const message = decoded.success
      if (message._tag === "Notification") return notify(message)
      if (message._tag === "Request") return
      const key = message.id === undefined
        ? waiting.size === 1 ? [...waiting.keys()][0] : undefined
        : keyOf(message.id)
      if (key === undefined) return
      const { id = message.id } = waiting.get(key)?.request ?? {}
      const response = faults.looseIds === true ? { ...message, id } as JsonRpc.Response : message
      const isTooLarge = new TextEncoder().encode(text).length > maxResponseBytes
      settle(
        key,
        isTooLarge
          ? Effect.fail(new Transport.ResponseTooLarge({ limit: maxResponseBytes }))
          : Effect.succeed({ response })
      )
    }

    const splitter = Frames.makeSplitter({ frame: receive, oversize: () => {}, malformed: () => {} })
    const { end, feed } = peer({ write: (chunk) => queueMicrotask(() => splitter.feed(chunk)), close })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        close()
        end?.()
      })
    )
    return Transport.Transport.of({
      name: "memory",
      hasHeaders: false,
      send: (request) =>
        Effect.callback((resume) => {
          if (closed) return resume(Effect.fail(new Transport.ConnectionClosed({ evidence: "NotSent" })))
          const key = keyOf(request.id)
          waiting.set(key, { request, resume })
          request.sent()
          feed(Frames.encode(request.text))
          return Effect.sync(() => {
            if (!waiting.delete(key) || closed) return
            const params = { requestId: request.id }
            feed(Frames.encode(JsonRpc.encodeNotification(Revision.notification.cancelled, params)))
          })
        })
    })
  })

/** Connected to the endpoint. */
export const toEndpoint = (maxResponseBytes: number, faults: Faults = {}) =>
  Layer.effect(
    Transport.Transport,
    Effect.flatMap(McpEndpoint.McpEndpoint, (endpoint) =>
      make(
        ({ write }) => {
          const channel = endpoint.connect({
            transport: "memory",
            send: (text) => {
              write(Frames.encode(text))
              return true
            },
            onDrain: (resume) => resume(),
            services: undefined
          })
          const splitter = Frames.makeSplitter({ frame: channel.receive, oversize: () => {}, malformed: () => {} })
          return { feed: splitter.feed, end: channel.closeUnsafe }
        },
        maxResponseBytes,
        faults
      ))
  )

/** Connected to the raw peer. */
export const toRawPeer = (maxResponseBytes: number, faults: Faults = {}) =>
  Layer.effect(Transport.Transport, make(RawPeer.lines, maxResponseBytes, faults))
