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
import { failure, invalidRequest, overloaded, type Reply } from "./reply.ts"
import type { Sink } from "./sink.ts"

export interface ChannelHost {
  readonly serve: (arrival: Arrival) => Exchange | undefined
  readonly maxJsonDepth: number
  readonly maxMessageBytes: number
  /** Hears that a client does not want an answer any more, and why. */
  readonly cancelled: (exchange: Exchange, reason: string | undefined) => void
}

/** The most characters of a client's reason that are kept. */
const maxReason = 200

export const makeChannel = (options: ChannelOptions, host: ChannelHost): Channel => {
  const inFlight = new Slots<Exchange>()
  let closed = false

  const send = (text: string): boolean => closed || options.send(text)
  const line: Line = { options, inFlight, send }

  const serve = (request: JsonRpc.Request): void => {
    const key = JsonRpc.idKey(request.id)
    if (inFlight.has(key)) {
      send(failure(request.id, invalidRequest("A request with this id is running already")).text)
      return
    }
    if (options.maxRequests !== undefined && inFlight.size >= options.maxRequests) {
      send(failure(request.id, overloaded()).text)
      return
    }
    host.serve(new ChannelArrival(line, key, request))
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
      if (Result.isFailure(message)) return void send(failure(message.failure.id, message.failure.error).text)
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
    maxMessageBytes: host.maxMessageBytes,
    reject: (message) => void send(failure(undefined, invalidRequest(message)).text),
    closeUnsafe
  }
}

/** What the requests of a channel share. */
interface Line {
  readonly options: ChannelOptions
  readonly inFlight: Slots<Exchange>
  readonly send: (text: string) => boolean
}

/** A request of a channel, and where its answer goes. One object, since each request has one. */
class ChannelArrival implements Arrival, Sink {
  readonly streams = true
  readonly isShared = true
  readonly header = undefined

  private readonly line: Line
  private readonly key: string
  private readonly request: JsonRpc.Request

  constructor(line: Line, key: string, request: JsonRpc.Request) {
    this.line = line
    this.key = key
    this.request = request
  }

  get sink(): Sink {
    return this
  }

  get id(): JsonRpc.RequestId {
    return this.request.id
  }

  get correlation(): Json.Value | undefined {
    return correlationOf(this.request.params)
  }

  get info(): Arrival["info"] {
    return { transport: this.line.options.transport, method: undefined, url: undefined, header: noHeader }
  }

  get services(): Arrival["services"] {
    return this.line.options.services
  }

  get principal(): string | undefined {
    return this.line.options.principal
  }

  admitted(exchange: Exchange): void {
    this.line.inFlight.set(this.key, exchange)
  }

  read(): Result.Result<JsonRpc.Message> {
    return Result.succeed(this.request)
  }

  event(message: string): boolean {
    return this.line.send(message)
  }

  onDrain(resume: () => void): void {
    this.line.options.onDrain(resume)
  }

  keepAlive(): void {}

  answer({ text }: Reply): void {
    // A request that was cancelled is not answered, so this is the one that has the id now.
    this.line.inFlight.delete(this.key)
    this.line.send(text)
  }
}

const noHeader = () => undefined

const correlationOf = (params: Json.Object): Json.Value | undefined => {
  const meta = params["_meta"]
  return Json.isObject(meta) ? meta[Call.metaKeys.correlation] : undefined
}
