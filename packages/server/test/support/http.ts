/**
 * An HTTP client on real sockets that sends what it is told, right or wrong.
 */
import type { Json } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import * as Http from "node:http"
import * as Net from "node:net"
import { headersOf } from "./wire.ts"

export interface Answer {
  readonly status: number
  readonly headers: Http.IncomingHttpHeaders
  readonly text: string
  /** The body as JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any
  /** The messages of an event stream. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly events: ReadonlyArray<any>
}

export interface SendOptions {
  readonly method?: string
  readonly path?: string
  /** Over those of the message; `undefined` leaves one out. */
  readonly headers?: Record<string, string | ReadonlyArray<string> | undefined>
  readonly agent?: Http.Agent
}

/** A text or bytes are sent as they are, an object as JSON with the headers that repeat it. */
export type Body = string | Uint8Array | Json.Object

const isBytes = (body: Body): body is string | Uint8Array => typeof body === "string" || body instanceof Uint8Array

const headersFor = (body: Body, options: SendOptions): Http.OutgoingHttpHeaders => {
  const all = { ...headersOf(isBytes(body) ? {} : body), ...options.headers }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Http.OutgoingHttpHeaders
}

/** Begins a request; nothing of the body is sent. */
export const begin = (url: string, body: Body, options: SendOptions = {}): Http.ClientRequest => {
  const target = new URL(url)
  return Http.request({
    host: target.hostname.replace(/^\[|\]$/g, ""),
    port: target.port,
    path: options.path ?? target.pathname,
    method: options.method ?? "POST",
    headers: headersFor(body, options),
    agent: options.agent ?? false
  })
}

const bytesOf = (body: Body): string | Uint8Array => isBytes(body) ? body : JSON.stringify(body)

export const answerOf = (response: Http.IncomingMessage, text: string): Answer => ({
  status: response.statusCode ?? 0,
  headers: response.headers,
  text,
  get json() {
    return JSON.parse(text)
  },
  get events() {
    return eventsOf(text)
  }
})

export const eventsOf = (text: string): ReadonlyArray<unknown> =>
  text.split("\n\n").filter((event) => event !== "").map((event) => {
    if (!event.startsWith("data: ")) throw new Error(`Not a data event: ${event}`)
    return JSON.parse(event.slice("data: ".length)) as unknown
  })

/** Sends a request and reads the whole answer. Interrupting it closes the connection. */
export const send = (url: string, body: Body, options: SendOptions = {}): Effect.Effect<Answer, Error> =>
  Effect.callback<Answer, Error>((resume) => {
    const request = begin(url, body, options)
    request.on("error", (error) => resume(Effect.fail(error)))
    request.on("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => {
        text += chunk
      })
      response.on("error", (error) => resume(Effect.fail(error)))
      response.on("end", () => resume(Effect.succeed(answerOf(response, text))))
    })
    request.end(bytesOf(body))
    return Effect.sync(() => request.destroy())
  })

export interface Stream {
  readonly response: Http.IncomingMessage
  /** What has arrived so far. */
  readonly text: () => string
  /** Closes the connection without reading on. */
  readonly destroy: () => void
}

/** Sends a request and waits for the head of the answer. */
export const open = (url: string, body: Body, options: SendOptions & {
  /** Leaves the body of the answer unread. */
  readonly paused?: boolean
} = {}): Effect.Effect<Stream, Error> =>
  Effect.callback<Stream, Error>((resume) => {
    const request = begin(url, body, options)
    request.on("error", (error) => resume(Effect.fail(error)))
    request.on("response", (response) => {
      let text = ""
      response.on("error", () => {})
      if (options.paused !== true) {
        response.setEncoding("utf8")
        response.on("data", (chunk: string) => {
          text += chunk
        })
      }
      resume(Effect.succeed({ response, text: () => text, destroy: () => void request.destroy() }))
    })
    request.end(bytesOf(body))
  })

/** Writes bytes to a connection and reads all that comes until it ends. */
export const raw = (
  url: string,
  chunks: ReadonlyArray<string | Uint8Array>
): Effect.Effect<string, Error> =>
  Effect.callback<string, Error>((resume) => {
    const target = new URL(url)
    const socket = Net.connect(Number(target.port), target.hostname)
    let text = ""
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      text += chunk
    })
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.on("close", () => resume(Effect.succeed(text)))
    for (const chunk of chunks) socket.write(chunk)
    return Effect.sync(() => socket.destroy())
  })

/** A request as the bytes of HTTP/1.1. */
export const rawRequest = (body: string, headers: Record<string, string>, method = "POST"): string =>
  [
    `${method} /mcp HTTP/1.1`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "",
    body
  ].join("\r\n")
