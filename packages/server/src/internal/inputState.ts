/**
 * What goes from round to round of a request that asks for input: sealed, and bound to who asks, what for and until when
 * (spec: basic/patterns/mrtr).
 */
import * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { invalidParams, missingCapability, RpcError } from "./reply.ts"
import { maxRounds, noState, type Round, type RoundState } from "./round.ts"
import type { Sealer } from "./sealing.ts"

/** How long a client may take between rounds. */
const lifetimeMillis = 10 * 60 * 1000

/** The most characters of a sealed state. */
const maxStateLength = 16 * 1024

export interface InputRounds {
  /** What of earlier rounds comes with a request, or what is wrong with it. */
  readonly begin: (
    request: JsonRpc.Request,
    principal: string | undefined
  ) => RpcError | RoundState | Effect.Effect<RoundState, RpcError>
  /** The result that asks for what the round asked for. */
  readonly finish: (
    request: JsonRpc.Request,
    principal: string | undefined,
    round: Round
  ) => Effect.Effect<string, RpcError>
}

const invalidState = () => invalidParams("params.requestState is not valid")

export const makeInputRounds = (sealer: Sealer, resultMeta: string): InputRounds => {
  const binding = ({ method, params }: JsonRpc.Request, principal: string | undefined) =>
    Effect.map(sealer.digest(params["arguments"] ?? {}), (digest) => [
      "state",
      principal === undefined ? "" : `principal:${principal}`,
      method,
      String(params[Revision.latest.methods.get(method)?.routingName ?? ""] ?? ""),
      digest
    ])

  const reopen = (token: string, request: JsonRpc.Request, principal: string | undefined) =>
    Effect.gen(function*() {
      const payload = yield* Effect.mapError(
        sealer.open(token, yield* binding(request, principal)),
        invalidState
      )
      const now = yield* Clock.currentTimeMillis
      const state = payload as unknown as Payload
      return state.until < now ? yield* Effect.fail(invalidState()) : state
    })

  return {
    begin: (request, principal) => {
      const { inputResponses, requestState } = request.params
      const responses = readResponses(inputResponses)
      if (responses instanceof RpcError) return responses
      if (requestState === undefined || requestState === null) return { ...noState, answers: responses }
      if (typeof requestState !== "string") return invalidState()
      return Effect.map(reopen(requestState, request, principal), (state) => ({
        rounds: state.rounds,
        questions: state.questions,
        // Only what was asked for is answered; anything else is ignored.
        answers: { ...state.answers, ...pick(responses, state.asked) },
        steps: state.steps,
        kept: state.kept
      }))
    },
    finish: (request, principal, round) =>
      Effect.gen(function*() {
        if (round.missing !== undefined) return yield* Effect.fail(missingCapability(round.missing))
        const { requests, state } = round
        const asked = Object.keys(requests)
        if (state.rounds > maxRounds) {
          return yield* Effect.fail(
            new RpcError({
              code: Revision.codes.internalError,
              message: asked.length === 0
                ? `The request is not done after ${maxRounds} rounds`
                : `Input is still asked for after ${maxRounds} rounds: ${asked.join(", ")}`
            })
          )
        }
        const until = (yield* Clock.currentTimeMillis) + lifetimeMillis
        const payload: Payload = { ...state, asked, until }
        const token = yield* sealer.seal(payload as unknown as Json.Value, yield* binding(request, principal))
        if (token.length > maxStateLength) {
          return yield* Effect.fail(
            new RpcError({
              code: Revision.codes.internalError,
              message: `Answers and steps of this request are more than the ${maxStateLength} characters of a state`
            })
          )
        }
        const members = asked.length === 0 ? "" : `"inputRequests":${JSON.stringify(requests)},`
        const resultType = `"resultType":${JSON.stringify(Revision.resultType.inputRequired)}`
        return `{${members}"requestState":${JSON.stringify(token)},${resultType}${resultMeta}}`
      })
  }
}

interface Payload extends RoundState {
  /** The keys of the latest round. */
  readonly asked: ReadonlyArray<string>
  /** When it expires, in milliseconds of the clock. */
  readonly until: number
}

const readResponses = (value: Json.Value | undefined): Readonly<Record<string, Json.Object>> | RpcError => {
  if (value === undefined) return {}
  if (!Json.isObject(value)) return invalidParams("params.inputResponses must be an object")
  for (const [key, response] of Object.entries(value)) {
    if (!Json.isObject(response)) {
      return invalidParams(`params.inputResponses[${JSON.stringify(key)}] must be an object`)
    }
  }
  return value as Readonly<Record<string, Json.Object>>
}

const pick = (
  responses: Readonly<Record<string, Json.Object>>,
  keys: ReadonlyArray<string>
): Readonly<Record<string, Json.Object>> =>
  Object.fromEntries(keys.flatMap((key) => Object.hasOwn(responses, key) ? [[key, responses[key]!]] : []))
