/**
 * An HTTP request on its way in: its head was admitted, its body arrives, then it is served. One object for all three,
 * since each request has one.
 */
import * as Call from "@fairlead/protocol/Call"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Result from "effect/Result"
import type { HttpExchange, HttpRead, HttpRequest, HttpResponder } from "../Front.ts"
import type { RequestInfo } from "../RequestContext.ts"
import type { HeaderLookup } from "./dispatcher.ts"
import type { Arrival } from "./endpoint.ts"
import { HttpSink, type WriteWait } from "./eventStream.ts"
import type { Exchange } from "./exchange.ts"
import type { Accepted, Refusal } from "./httpChecks.ts"
import type { Sink } from "./sink.ts"

/** What arrivals need of their endpoint. */
export interface ArrivalHost {
  readonly maxBodyBytes: number
  readonly maxJsonDepth: number
  readonly tooLarge: Refusal
  readonly writeWait: WriteWait
  readonly serve: (arrival: Arrival) => Exchange | undefined
  /** How many requests arrive: admitted, and neither served nor abandoned. */
  arriving: number
}

export class HttpArrival implements HttpRead, Arrival {
  readonly _tag = "Read"
  readonly id = undefined
  readonly services = undefined

  private readonly host: ArrivalHost
  private readonly request: HttpRequest
  private readonly accepted: Accepted
  private isArriving = true
  private ownSink: Sink | undefined = undefined
  private body: Uint8Array | undefined = undefined

  constructor(host: ArrivalHost, request: HttpRequest, accepted: Accepted) {
    this.host = host
    this.request = request
    this.accepted = accepted
    host.arriving++
  }

  get maxBodyBytes(): number {
    return this.host.maxBodyBytes
  }

  get tooLarge(): Refusal {
    return this.host.tooLarge
  }

  abandon(): void {
    if (this.isArriving) this.host.arriving--
    this.isArriving = false
  }

  serve(body: Uint8Array, responder: HttpResponder): HttpExchange {
    this.abandon()
    const sink = new HttpSink(responder, this.accepted, this.host.writeWait)
    this.ownSink = sink
    this.body = body
    sink.exchange = this.host.serve(this)
    return sink
  }

  get sink(): Sink {
    return this.ownSink!
  }

  get header(): HeaderLookup {
    return this.request.header
  }

  get info(): Omit<RequestInfo, "correlation"> {
    const { header, method, url } = this.request
    return { transport: "http", method, url, header }
  }

  get correlation(): string | undefined {
    return this.request.header(Call.correlationHeader)
  }

  read(): Result.Result<JsonRpc.Message, JsonRpc.Invalid> {
    const body = this.body!
    // The front still knows this object when the body is long of no use.
    this.body = undefined
    let text: string
    try {
      text = textOf(body)
    } catch {
      return notUtf8
    }
    return JsonRpc.decode(text, this.host.maxJsonDepth)
  }
}

const notUtf8 = Result.fail<JsonRpc.Invalid>({
  id: undefined,
  error: { code: Revision.codes.parseError, message: "The body is not valid UTF-8" }
})

const utf8 = new TextDecoder("utf-8", { fatal: true })

const largeBytes = 4096

/** Node's own decoding of a large body takes an eighth of the time; where it had to replace something, both are asked. */
const textOf = (body: Uint8Array): string => {
  if (body.length < largeBytes || buffers?.isBuffer(body) !== true) return utf8.decode(body)
  const text = body.toString()
  return text.includes("\ufffd") || text.startsWith("\ufeff") ? utf8.decode(body) : text
}

const buffers = (globalThis as { readonly Buffer?: { readonly isBuffer: (u: unknown) => boolean } }).Buffer
