/**
 * A transport to an endpoint in the same process: the same messages as on a wire, encoded and decoded, without a socket
 * or a child. For tests, and for programs made of several servers.
 *
 * @since 0.1.0
 */
import * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import { Slots } from "@fairlead/protocol/Slots"
import * as Transport from "@fairlead/protocol/Transport"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { McpEndpoint } from "./McpEndpoint.ts"

/**
 * The options of {@link layer}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /**
   * The services that the requests get, in place of the endpoint's context function. Default: none, and the context
   * function runs, with no headers to see.
   */
  readonly services?: Context.Context<never> | undefined
  /** Who the requests are from (`Invocation.Principal`), whatever the context function says. Default: it says. */
  readonly principal?: string | undefined
  /**
   * The largest answer, in characters; a larger one fails the call with `ResponseTooLarge`. At least 1. Default: 1 MiB.
   */
  readonly maxResponseLength?: number | undefined
}

interface Pending {
  readonly request: Transport.Outgoing
  readonly done: (exit: Effect.Effect<Transport.Incoming, Transport.Failure>) => void
}

/**
 * A transport to the endpoint. Closing the layer interrupts what runs. Fails with `InvalidConfig` for an option that
 * cannot be used.
 *
 * **Example** (Calling a server in the same process)
 *
 * ```ts no-run
 * import { McpClient } from "@fairlead/client"
 * import { InProcess } from "@fairlead/server"
 * import type { McpEndpoint } from "@fairlead/server"
 * import { Layer } from "effect"
 *
 * export const clientOf = <E, R>(endpoint: Layer.Layer<McpEndpoint.McpEndpoint, E, R>) =>
 *   McpClient.layer().pipe(Layer.provide(InProcess.layer()), Layer.provide(endpoint))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<Transport.Transport, Transport.InvalidConfig, McpEndpoint> =>
  Layer.effect(
    Transport.Transport,
    Effect.gen(function*() {
      const endpoint = yield* McpEndpoint
      const limit = options.maxResponseLength ?? 1024 * 1024
      if (!Number.isSafeInteger(limit) || limit < 1) {
        return yield* new Transport.InvalidConfig({
          field: "maxResponseLength",
          detail: "it is not an integer of 1 or more"
        })
      }
      const pending = new Slots<Pending>()
      // The id of the request that is being handed over: an error without an id is its answer.
      let sending: JsonRpc.RequestId | undefined
      let closed = false

      const receive = (text: string): true => {
        // How deep an answer may be is for the client to say.
        const message = JsonRpc.decode(text, Infinity)
        if (Result.isFailure(message)) return true
        switch (message.success._tag) {
          case "Notification": {
            if (message.success.method === Revision.notification.message) {
              // Nothing says whose it is: everyone hears it who asked for messages.
              for (const { request } of pending.values()) if (wantsLog(request)) request.notify(message.success)
              return true
            }
            const request = message.success.method === Revision.notification.cancelled
              ? requestIdOf(message.success.params["requestId"])
              : requestOf(message.success.params)
            if (request !== undefined) pending.get(JsonRpc.idKey(request))?.request.notify(message.success)
            return true
          }
          case "Success":
          case "Failure": {
            const id = message.success.id ?? sending
            const key = id === undefined ? undefined : JsonRpc.idKey(id)
            const call = key === undefined ? undefined : pending.get(key)
            if (key === undefined || call === undefined) return true
            pending.delete(key)
            call.done(
              text.length > limit
                ? Effect.fail(new Transport.ResponseTooLarge({ limit }))
                : Effect.succeed({ response: message.success })
            )
            return true
          }
          default:
            return true
        }
      }

      const channel = endpoint.connect({
        transport: "in-process",
        send: receive,
        onDrain: (resume) => resume(),
        services: options.services,
        principal: options.principal
      })

      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          closed = true
          channel.closeUnsafe()
          for (const { done } of pending.takeAll()) {
            done(Effect.fail(new Transport.ConnectionClosed({ evidence: "MaybeSent" })))
          }
        })
      )

      return {
        name: "in-process",
        hasHeaders: false,
        send: (request) =>
          Effect.callback<Transport.Incoming, Transport.Failure>((resume) => {
            if (closed) return resume(Effect.fail(new Transport.ConnectionClosed({ evidence: "NotSent" })))
            const key = JsonRpc.idKey(request.id)
            pending.set(key, { request, done: resume })
            request.sent()
            sending = request.id
            channel.receive(request.text)
            sending = undefined
            return Effect.sync(() => {
              if (!pending.delete(key)) return
              channel.receive(JsonRpc.encodeNotification(Revision.notification.cancelled, { requestId: request.id }))
            })
          })
      }
    })
  )

const wantsLog = ({ params }: Transport.Outgoing): boolean => {
  const meta = params["_meta"]
  return Json.isObject(meta) && meta[Revision.meta.logLevel] !== undefined
}

const requestIdOf = (id: Json.Value | undefined): JsonRpc.RequestId | undefined =>
  JsonRpc.isRequestId(id) ? id : undefined

/** The request that a notification belongs to: by its progress token, or by the subscription it is part of. */
const requestOf = (params: Json.Object): JsonRpc.RequestId | undefined => {
  const token = params[Revision.meta.progressToken]
  if (JsonRpc.isRequestId(token)) return token
  const meta = params["_meta"]
  const subscription = Json.isObject(meta) ? meta[Revision.meta.subscriptionId] : undefined
  return JsonRpc.isRequestId(subscription) ? subscription : undefined
}
