/**
 * A channel that carries the messages of many requests, as stdio does: ids tell them apart, and a notification cancels
 * one. There is no HTTP here: no headers, no status.
 */
import * as Call from "@fairlead/protocol/Call"
import * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import { Slots } from "@fairlead/protocol/Slots"
import * as Result from "effect/Result"
import type { Channel, ChannelOptions } from "../Front.ts"
import type { Arrival } from "./endpoint.ts"
import type { Exchange } from "./exchange.ts"
import { failure, invalidRequest, overloaded } from "./reply.ts"

export interface ChannelHost {
  readonly serve: (arrival: Arrival) => Exchange | undefined
  readonly maxJsonDepth: number
  /** Hears that a client does not want an answer any more, and why. */
  readonly cancelled: (exchange: Exchange, reason: string | undefined) => void
}

/** The most characters of a client's reason that are kept. */
const maxReason = 200

export const makeChannel = (options: ChannelOptions, host: ChannelHost): Channel => {
  const inFlight = new Slots<Exchange>()
  let closed = false

  const send = (text: string) => {
    if (!closed) options.send(text)
  }

  const serve = (request: JsonRpc.Request): void => {
    const key = JsonRpc.idKey(request.id)
    if (inFlight.has(key)) {
      return send(failure(request.id, invalidRequest("A request with this id is running already")).text)
    }
    if (options.maxRequests !== undefined && inFlight.size >= options.maxRequests) {
      return send(failure(request.id, overloaded()).text)
    }
    host.serve({
      sink: {
        event: (message) => closed || options.send(message),
        onDrain: options.onDrain,
        streams: true,
        keepAlive: () => {},
        isShared: true,
        answer: ({ text }) => {
          // A request that was cancelled is not answered, so this is the one that has the id now.
          inFlight.delete(key)
          send(text)
        }
      },
      id: request.id,
      correlation: correlationOf(request.params),
      info: { transport: options.transport, method: undefined, url: undefined, header: noHeader },
      header: undefined,
      services: options.services,
      admitted: (exchange) => {
        inFlight.set(key, exchange)
      },
      read: () => Result.succeed(request)
    })
  }

  const cancel = (params: JsonRpc.Notification["params"]): void => {
    const id = params["requestId"]
    // A cancellation that names nothing is ignored (spec: basic/patterns/cancellation).
    if (!JsonRpc.isRequestId(id)) return
    const key = JsonRpc.idKey(id)
    const exchange = inFlight.get(key)
    if (exchange === undefined) return
    inFlight.delete(key)
    const { reason } = params
    host.cancelled(exchange, typeof reason === "string" ? reason.slice(0, maxReason) : undefined)
    exchange.interrupt("cancelled")
  }

  const closeUnsafe = () => {
    if (closed) return
    closed = true
    for (const exchange of inFlight.takeAll()) exchange.interrupt("disconnect")
  }

  return {
    receive: (text) => {
      if (closed) return
      const message = JsonRpc.decode(text, host.maxJsonDepth)
      if (Result.isFailure(message)) return send(failure(message.failure.id, message.failure.error).text)
      switch (message.success._tag) {
        case "Request":
          return serve(message.success)
        case "Notification":
          return message.success.method === Revision.notification.cancelled ? cancel(message.success.params) : undefined
        default:
          // Servers send no requests, so a response answers nothing.
          return undefined
      }
    },
    reject: (message) => send(failure(undefined, invalidRequest(message)).text),
    closeUnsafe
  }
}

const noHeader = () => undefined

const correlationOf = (params: Json.Object): Json.Value | undefined => {
  const meta = params["_meta"]
  return Json.isObject(meta) ? meta[Call.metaKeys.correlation] : undefined
}
