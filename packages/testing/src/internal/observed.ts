/**
 * A transport with an observer round each request.
 */
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import { type Failure, type Outgoing, Transport } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** What hears of one request. */
export interface Observer {
  /** Runs before the request is handed to the transport. */
  readonly before?: Effect.Effect<void> | undefined
  /** The first byte may leave now. */
  readonly sent?: (() => void) | undefined
  readonly notification?: ((notification: JsonRpc.Notification) => void) | undefined
  readonly answer?: ((response: JsonRpc.Response) => void) | undefined
  /** The request failed, or it was interrupted. */
  readonly ended?: ((failure: Failure | undefined) => void) | undefined
  /** Runs after the answer has come, before it is handed on. */
  readonly after?: Effect.Effect<void> | undefined
}

export const observed = (
  transport: Transport["Service"],
  observe: (request: Outgoing) => Observer
): Transport["Service"] =>
  Transport.of({
    name: transport.name,
    hasHeaders: transport.hasHeaders,
    close: transport.close,
    send: (request) =>
      Effect.suspend(() => {
        const observer = observe(request)
        const send = Effect.suspend(() =>
          transport.send({
            ...request,
            sent: () => {
              observer.sent?.()
              request.sent()
            },
            notify: (notification) => {
              observer.notification?.(notification)
              request.notify(notification)
            }
          })
        )
        const heard = Effect.onExit(send, (exit) =>
          Effect.sync(() => {
            if (Exit.isSuccess(exit)) return observer.answer?.(exit.value.response)
            const reason = exit.cause.reasons.find((reason) => reason._tag === "Fail")
            observer.ended?.(reason?.error)
          }))
        const before = observer.before ?? Effect.void
        const after = observer.after ?? Effect.void
        return Effect.andThen(before, Effect.tap(heard, () => after))
      })
  })
