/**
 * A client that is asked for input, by hand: each round is a request of its own.
 */
import { type Json, type JsonRpc, Revision } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import type { Answer } from "./http.ts"
import { type Message, request } from "./wire.ts"

/** Everything that a client can declare. */
export const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} }

export interface More {
  readonly responses?: unknown
  readonly state?: unknown
  readonly capabilities?: unknown
  readonly id?: JsonRpc.RequestId
  readonly meta?: Record<string, unknown>
}

/** A request as one round of it. */
export const round = (method: string, params: Record<string, unknown>, more: More = {}): Message =>
  request(method, { ...params, inputResponses: more.responses, requestState: more.state }, {
    ...(more.id === undefined ? {} : { id: more.id }),
    meta: { [Revision.meta.clientCapabilities]: more.capabilities ?? everything, ...more.meta }
  })

/** A call of a tool as one round of it. */
export const callRound = (name: string, more: More & { readonly args?: unknown } = {}): Message =>
  round("tools/call", { name, arguments: more.args }, more)

export const accept = (content?: Json.Object): Json.Object => ({
  action: "accept",
  ...(content === undefined ? {} : { content })
})

/** What a result asks for, by key; fails for any other answer. */
// oxlint-disable-next-line typescript/no-explicit-any
export const askedBy = ({ json, text }: Answer): Record<string, { readonly method: string; readonly params: any }> => {
  if (json.result?.resultType !== Revision.resultType.inputRequired) throw new Error(`Asks for nothing: ${text}`)
  return json.result.inputRequests ?? {}
}

/** The text of a finished call. */
export const textOf = ({ json, text }: Answer): string => {
  if (json.result?.resultType !== Revision.resultType.complete) throw new Error(`Not complete: ${text}`)
  return json.result.content[0].text
}

export interface Played {
  /** The keys of each round that asked. */
  readonly asked: ReadonlyArray<ReadonlyArray<string>>
  readonly last: Answer
}

/** Plays a request to its end: each key is answered as the table says; a key without an answer is left out. */
export const play = (
  send: (message: Message) => Effect.Effect<Answer, Error>,
  make: (more: More) => Message,
  answers: Readonly<Record<string, unknown>>,
  most = 20
): Effect.Effect<Played, Error> =>
  Effect.gen(function*() {
    const asked: Array<ReadonlyArray<string>> = []
    let last = yield* send(make({}))
    while (last.json.result?.resultType === Revision.resultType.inputRequired && asked.length < most) {
      const keys = Object.keys(last.json.result.inputRequests ?? {})
      asked.push(keys)
      const responses = Object.fromEntries(
        keys.flatMap((key) => Object.hasOwn(answers, key) ? [[key, answers[key]]] : [])
      )
      last = yield* send(make({ responses, state: last.json.result.requestState }))
    }
    return { asked, last }
  })
