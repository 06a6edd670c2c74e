/**
 * A server that is asked over HTTP or over a channel in this process: what it offers must not depend on the way.
 */
import type { JsonRpc } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { endpointOf, serve } from "./serve.ts"
import { request } from "./wire.ts"

export type Way = "HTTP" | "a channel"
export const ways: ReadonlyArray<Way> = ["HTTP", "a channel"]

export interface Reply {
  /** The HTTP status, 200 for a channel. */
  readonly status: number
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly result: any
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly error: any
}

export interface AskOptions {
  readonly id?: JsonRpc.RequestId
  /** Who asks: a header for the endpoint's context function, or what the channel says. */
  readonly as?: string | undefined
}

export interface Asked {
  readonly ask: (
    method: string,
    params?: Record<string, unknown>,
    options?: AskOptions
  ) => Effect.Effect<Reply, Error>
  readonly server: McpServer.McpServer["Service"]
  readonly endpoint: McpEndpoint.McpEndpoint["Service"]
}

const replyOf = (status: number, text: string): Reply => {
  const { error, result } = JSON.parse(text) as { readonly error?: unknown; readonly result?: unknown }
  return { status, text, result, error }
}

/** The header that says who asks. */
export const whoHeader = "x-who"

/** The principal that a request names, as a context function. */
export const principalOf: NonNullable<McpEndpoint.Options["context"]> = ({ header }) =>
  Effect.succeed(Context.make(Invocation.Principal, header(whoHeader)) as Context.Context<never>)

/** Serves registrations and asks them, by way of a listener or of a channel. */
export const asked = <A, E, R, RC = never, RX = never>(
  way: Way,
  registrations: Layer.Layer<A, E, R>,
  options: Partial<McpEndpoint.Options<RC, RX>> = {}
) => way === "HTTP" ? overHttp(registrations, options) : overChannel(registrations, options)

const overHttp = <A, E, R, RC, RX>(
  registrations: Layer.Layer<A, E, R>,
  options: Partial<McpEndpoint.Options<RC, RX>>
) =>
  Effect.map(serve(registrations, options), ({ endpoint, send, server }): Asked => ({
    ask: (method, params, { as, id } = {}) =>
      Effect.map(
        send(request(method, params, id === undefined ? {} : { id }), { headers: { [whoHeader]: as } }),
        ({ status, text }) => replyOf(status, text)
      ),
    server,
    endpoint
  }))

const overChannel = <A, E, R, RC, RX>(
  registrations: Layer.Layer<A, E, R>,
  options: Partial<McpEndpoint.Options<RC, RX>>
) =>
  Effect.map(endpointOf(registrations, options), (services): Asked => {
    const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
    return {
      ask: (method, params, { as, id } = {}) =>
        Effect.gen(function*() {
          const answered = yield* Deferred.make<string>()
          const channel = endpoint.connect({
            transport: "in-process",
            send: (text) => {
              Deferred.doneUnsafe(answered, Effect.succeed(text))
              return true
            },
            onDrain: (resume) => resume(),
            services: as === undefined
              ? undefined
              : Context.make(Invocation.Principal, as) as Context.Context<never>
          })
          channel.receive(JSON.stringify(request(method, params, id === undefined ? {} : { id })))
          const text = yield* Deferred.await(answered)
          channel.closeUnsafe()
          return replyOf(200, text)
        }),
      server: Context.get(services, McpServer.McpServer),
      endpoint
    }
  })
