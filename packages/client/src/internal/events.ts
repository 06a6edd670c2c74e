/**
 * An answer that comes as an event stream (spec: basic/transports/streamable-http, Receiving): notifications first, then
 * the response. Comments, other event types and data that is no message are skipped.
 */
import { isLongerThan } from "@fairlead/protocol/Bytes"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import { type Failure, type Outgoing, ResponseTooLarge } from "@fairlead/protocol/Transport"
import * as Sse from "effect/encoding/Sse"
import * as Result from "effect/Result"
import { belongsTo, decode, malformed } from "./answers.ts"

export type Outcome = Result.Result<JsonRpc.Response, Failure>

export interface Reader {
  /** Takes the next bytes; gives the end of the call once it is there. */
  readonly feed: (bytes: Uint8Array) => Outcome | undefined
  /** The stream has ended. An answer that only lacks its blank line counts. */
  readonly end: () => Outcome | undefined
  /** How many events were skipped because they are no messages. */
  readonly skipped: () => number
}

// The parser counts the field names of a pending event as well; an event itself is measured when it is whole.
const slack = 1024

export const makeReader = (request: Outgoing, maxBytes: number): Reader => {
  const decoder = new TextDecoder()
  const key = JsonRpc.idKey(request.id)
  let outcome: Outcome | undefined
  let skipped = 0

  const tooLarge = () => {
    outcome ??= Result.fail(new ResponseTooLarge({ limit: maxBytes }))
  }

  const take = (data: string) => {
    if (isLongerThan(data, maxBytes)) return tooLarge()
    const decoded = decode(data)
    if (Result.isFailure(decoded)) {
      const { error, id } = decoded.failure
      if (id !== undefined && JsonRpc.idKey(id) === key) outcome = Result.fail(malformed(error.message))
      else skipped++
      return
    }
    const message = decoded.success
    switch (message._tag) {
      case "Notification":
        return request.notify(message)
      case "Request":
        // A server sends no requests; an answer to one could not be sent either.
        skipped++
        return
      default:
        outcome = belongsTo(message, request.id)
          ? Result.succeed(message)
          : Result.fail(malformed("the id is not the id of the request"))
    }
  }

  const parser = Sse.makeParser((event) => {
    if (outcome === undefined && event._tag === "Event" && event.event === "message") take(event.data)
  }, { maxEventSize: maxBytes + slack })

  const feedText = (text: string): Outcome | undefined => {
    if (outcome === undefined && parser.feed(text) !== undefined) tooLarge()
    return outcome
  }

  return {
    feed: (bytes) => feedText(decoder.decode(bytes, { stream: true })),
    end: () => feedText(`${decoder.decode()}\n\n`),
    skipped: () => skipped
  }
}
