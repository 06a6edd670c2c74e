/** A transport in memory whose answers the test writes. */
import * as McpClient from "@fairlead/client/McpClient"
import type * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import { type Failure, type Incoming, type Outgoing, Transport } from "@fairlead/protocol/Transport"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

export type Answer = (request: Outgoing) => Effect.Effect<Incoming, Failure>

export interface Scripted {
  readonly requests: Array<Outgoing>
  /** How many sends were interrupted. */
  interrupted: number
  readonly client: McpClient.Client
}

/** A client over a transport that answers with `answer`; `sent` is called first. */
export const scripted = (answer: Answer, options: McpClient.Options & { readonly hasHeaders?: boolean } = {}) =>
  Effect.gen(function*() {
    const requests: Array<Outgoing> = []
    const state = { requests, interrupted: 0 }
    const client = yield* Effect.provideService(McpClient.make(options), Transport, {
      name: "scripted",
      hasHeaders: options.hasHeaders ?? false,
      send: (request) =>
        Effect.suspend(() => {
          requests.push(request)
          return answer(request)
        }).pipe(Effect.onInterrupt(() =>
          Effect.sync(() => {
            state.interrupted++
          })
        ))
    })
    return Object.assign(state, { client })
  })

export const success = (request: Outgoing, result: Json.Object): Incoming => ({
  response: { _tag: "Success", id: request.id, result }
})

/** Answers each request with a result. */
export const results = (result: (request: Outgoing) => Json.Object): Answer => (request) =>
  Effect.sync(() => {
    request.sent()
    return success(request, result(request))
  })

/** Answers each request with an error. */
export const failures = (error: JsonRpc.ErrorObject, extra: Partial<Incoming> = {}): Answer => (request) =>
  Effect.sync(() => {
    request.sent()
    return { ...extra, response: { _tag: "Failure" as const, id: request.id, error } }
  })

/** Never answers; `reached` says when the request is there. */
export const silent = (options: { readonly sent: boolean }) => {
  const reached = Deferred.makeUnsafe<void>()
  const answer: Answer = (request) =>
    Effect.suspend(() => {
      if (options.sent) request.sent()
      Deferred.doneUnsafe(reached, Effect.void)
      return Effect.never
    })
  return { answer, reached: Deferred.await(reached) }
}

export const hits = (...titles: ReadonlyArray<string>): Json.Object => ({
  resultType: "complete",
  content: [{ type: "text", text: JSON.stringify({ titles }) }],
  structuredContent: { titles }
})

export const progressOf = (
  request: Outgoing,
  progress: number,
  token: Json.Value = metaOf(request)["progressToken"]!
) => ({
  _tag: "Notification" as const,
  method: "notifications/progress",
  params: { progressToken: token, progress }
})

export const metaOf = (request: Outgoing): Json.Object => request.params["_meta"] as Json.Object
