/** The ways to a server in a child process, by hand: what it offers must not depend on the way. */
import { type Json, JsonRpc, Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { run } from "./child.ts"

/** A message as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Received = any

export interface Ask {
  readonly method: string
  readonly params?: Json.Object
  readonly id?: JsonRpc.RequestId
  readonly meta?: Json.Object
}

/** A request that is still open. */
export interface Opened {
  readonly messages: () => ReadonlyArray<Received>
  readonly until: (condition: () => boolean) => Effect.Effect<void>
  /** Does not want an answer any more. */
  readonly cancel: () => void
}

export interface Peer {
  /** Sends a request and gives all that came of it: notifications, then the answer. */
  readonly send: (ask: Ask) => Effect.Effect<ReadonlyArray<Received>>
  /** Sends a text that need not be a request, and gives the answer. */
  readonly raw: (text: string) => Effect.Effect<Received>
  readonly open: (ask: Ask) => Effect.Effect<Opened>
  readonly stderr: () => string
  /** Waits until a text stands in the standard error, from a place on. */
  readonly untilStderr: (text: string, from: number) => Effect.Effect<void>
}

export type Way = "HTTP" | "stdio"
export const ways: ReadonlyArray<Way> = ["HTTP", "stdio"]

const requestOf = ({ id, meta = {}, method, params = {} }: Ask) =>
  TestRequest.make(method, params, { meta, ...(id === undefined ? {} : { id }) })

const belongsTo = (id: JsonRpc.RequestId) => (message: Received): boolean => {
  const { params } = message
  return message.method === undefined
    ? message.id === id
    : [params._meta?.[Revision.meta.subscriptionId], params.progressToken, params.requestId].includes(id)
}

const overStdio = (fixture: string, args: ReadonlyArray<string>): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.map(run(fixture, ["stdio", ...args]), (child) => {
    let ids = 1000
    const open = (ask: Ask): Opened & { readonly id: JsonRpc.RequestId } => {
      const id = ask.id ?? ids++
      const before = child.messages().length
      child.write(`${requestOf({ ...ask, id }).body}\n`)
      return {
        id,
        messages: () => child.messages().slice(before).filter(belongsTo(id)),
        until: child.until,
        cancel: () =>
          child.write(`${JsonRpc.encodeNotification(Revision.notification.cancelled, { requestId: id as never })}\n`)
      }
    }
    return {
      send: (ask) =>
        Effect.suspend(() => {
          const { messages, until } = open(ask)
          return Effect.map(until(() => messages().some(({ method }) => method === undefined)), messages)
        }),
      raw: (text) =>
        Effect.suspend(() => {
          const before = child.messages().length
          child.write(`${text}\n`)
          return Effect.map(
            child.until(() => child.messages().length > before),
            () => child.messages()[before]
          )
        }),
      open: (ask) => Effect.sync(() => open(ask)),
      stderr: child.stderr,
      untilStderr: (text, from) => child.until(() => child.stderr().includes(text, from))
    }
  })

const overHttp = (fixture: string, args: ReadonlyArray<string>): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* run(fixture, ["http", ...args])
    const urlOf = () => /http:\/\/\S+/.exec(child.stdout().toString())?.[0]
    yield* child.until(() => urlOf() !== undefined)
    const url = urlOf()!
    let ids = 1000
    const open = (ask: Ask): Effect.Effect<Opened> =>
      Effect.promise(async () => {
        const { body, headers } = requestOf({ ...ask, id: ask.id ?? ids++ })
        const controller = new AbortController()
        const response = await fetch(url, { method: "POST", headers, body, signal: controller.signal })
        const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
        const listeners = new Set<() => void>()
        let text = ""
        const read = async () => {
          const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
          for (let next = await reader.read(); !next.done; next = await reader.read()) {
            text += next.value
            for (const look of listeners) look()
          }
          if (!isStream) text = `data: ${text}\n\n`
          for (const look of listeners) look()
        }
        read().catch(() => {})
        const messages = () =>
          text.split("\n\n").slice(0, -1).filter((event) => event.startsWith("data: ")).map((event) =>
            JSON.parse(event.slice("data: ".length)) as Received
          )
        const until = (condition: () => boolean) =>
          Effect.callback<void>((resume) => {
            const look = () => {
              if (!condition()) return
              listeners.delete(look)
              resume(Effect.void)
            }
            listeners.add(look)
            look()
            return Effect.sync(() => listeners.delete(look))
          })
        return { messages, until, cancel: () => controller.abort() }
      })
    return {
      send: (ask) =>
        Effect.flatMap(
          open(ask),
          ({ messages, until }) =>
            Effect.map(until(() => messages().some(({ method }) => method === undefined)), messages)
        ),
      raw: (text) =>
        Effect.promise(async () => {
          const { headers } = TestRequest.make("tools/list")
          const response = await fetch(url, { method: "POST", headers, body: text })
          return await response.json() as Received
        }),
      open,
      stderr: child.stderr,
      untilStderr: (text, from) => child.until(() => child.stderr().includes(text, from))
    }
  })

/** Starts a fixture that serves over either way, as its first argument says. */
export const peer = (way: Way, fixture: string, args: ReadonlyArray<string> = []) =>
  way === "HTTP" ? overHttp(fixture, args) : overStdio(fixture, args)
