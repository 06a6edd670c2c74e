/**
 * Listening to an endpoint through each of its fronts: what a listener is told must not depend on the way.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { type JsonRpc, Revision } from "@fairlead/protocol"
import { HttpApp, McpEndpoint, McpServer, WebHandler } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import { open } from "./http.ts"
import { endpointOf, serve, until } from "./serve.ts"
import { headersOf, type Message, request } from "./wire.ts"

/** A message as JSON. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Received = any

export interface Stream {
  /** The HTTP status; 200 for a channel. */
  readonly status: number
  /** What came so far: a message each, comments left out. */
  readonly texts: () => ReadonlyArray<string>
  readonly messages: () => ReadonlyArray<Received>
  /** Everything that came, as it came. */
  readonly text: () => string
  /** Whether nothing more can come. */
  readonly isOver: () => boolean
  /** The client goes away. */
  readonly disconnect: () => void
}

export interface Fronted {
  readonly endpoint: McpEndpoint.McpEndpoint["Service"]
  readonly server: McpServer.McpServer["Service"]
  readonly listen: (message: Message) => Effect.Effect<Stream, Error>
}

export interface Front {
  readonly name: string
  /** Whether it is HTTP. */
  readonly isHttp: boolean
  readonly make: <A, E, R, RC = never, RX = never>(
    registrations: Layer.Layer<A, E, R>,
    options?: Partial<McpEndpoint.Options<RC, RX>>
  ) => Effect.Effect<Fronted, unknown, Scope.Scope | Exclude<R, McpServer.McpServer> | RX>
}

export type Filter = Readonly<Record<string, unknown>>

/** A request to listen. */
export const listenTo = (
  notifications: unknown,
  options: { readonly id?: JsonRpc.RequestId; readonly meta?: Record<string, unknown> } = {}
): Message => request(Revision.method.listen, { notifications }, options)

/** Every list. */
export const allLists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }

/** The messages of an event stream. */
export const textsOf = (text: string): ReadonlyArray<string> =>
  text.split("\n\n").slice(0, -1).filter((event) => event !== ":").map((event) => {
    if (!event.startsWith("data: ")) throw new Error(`Not a data event: ${event}`)
    return event.slice("data: ".length)
  })

/** What a message is about: its method, and the URI if it has one; an answer by what it is. */
export const about = ({ error, method, params, result }: Received): string =>
  result !== undefined
    ? result.resultType
    : error !== undefined
    ? String(error.code)
    : params.uri === undefined
    ? method
    : `${method} ${params.uri}`

/** Waits until a stream has so many messages, and no other. */
export const received = (stream: Stream, count: number): Effect.Effect<ReadonlyArray<Received>> =>
  Effect.map(until(() => stream.texts().length >= count), stream.messages)

const parsed = (texts: () => ReadonlyArray<string>) => () => texts().map((text) => JSON.parse(text) as Received)

const overHttp = (url: string) => (message: Message): Effect.Effect<Stream, Error> =>
  Effect.map(open(url, message), ({ destroy, response, text }) => {
    const texts = () => textsOf(text())
    return {
      status: response.statusCode ?? 0,
      texts,
      messages: parsed(texts),
      text,
      isOver: () => response.complete,
      disconnect: destroy
    }
  })

const listener: Front = {
  name: "the listener",
  isHttp: true,
  make: (registrations, options) =>
    Effect.map(serve(registrations, options), ({ endpoint, server, url }) => ({
      endpoint,
      server,
      listen: overHttp(url)
    })) as never
}

const router: Front = {
  name: "a router",
  isHttp: true,
  make: (registrations, options) =>
    Effect.gen(function*() {
      const app = HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(() => Http.createServer(), { port: 0, host: "127.0.0.1" }))
      )
      const services = yield* endpointOf(registrations, options)
      const { address } = Context.get(
        yield* Effect.provide(Layer.build(app), services),
        HttpServer.HttpServer
      )
      // The server of the router would wait for open streams first.
      yield* Effect.addFinalizer(() => Context.get(services, McpEndpoint.McpEndpoint).stop)
      return {
        endpoint: Context.get(services, McpEndpoint.McpEndpoint),
        server: Context.get(services, McpServer.McpServer),
        listen: overHttp(`http://127.0.0.1:${"port" in address ? address.port : 0}/mcp`)
      }
    }) as never
}

const web: Front = {
  name: "a web handler",
  isHttp: true,
  make: (registrations, options) =>
    Effect.gen(function*() {
      const services = yield* endpointOf(registrations, options)
      const handler = yield* Effect.provide(WebHandler.make, services)
      return {
        endpoint: Context.get(services, McpEndpoint.McpEndpoint),
        server: Context.get(services, McpServer.McpServer),
        listen: overWeb(handler)
      }
    }) as never
}

const overWeb = (handler: WebHandler.WebHandler) => (message: Message): Effect.Effect<Stream> =>
  Effect.promise(async () => {
    const response = await handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: headersOf(message),
        body: JSON.stringify(message)
      })
    )
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    let over = false
    const read = async (): Promise<void> => {
      const { done, value } = await reader.read()
      if (done) over = true
      else {
        text += value
        await read()
      }
    }
    read().catch(() => {
      over = true
    })
    const texts = () => textsOf(text)
    return {
      status: response.status,
      texts,
      messages: parsed(texts),
      text: () => text,
      isOver: () => over,
      disconnect: () => void reader.cancel()
    }
  })

/** A channel whose client can stop reading. */
export interface Pipe {
  readonly texts: () => ReadonlyArray<string>
  readonly messages: () => ReadonlyArray<Received>
  readonly send: (message: unknown) => void
  readonly pause: () => void
  readonly resume: () => void
  readonly close: () => void
}

export const pipeTo = (
  endpoint: McpEndpoint.McpEndpoint["Service"],
  services: Context.Context<never> | undefined = undefined
): Pipe => {
  const lines: Array<string> = []
  let paused = false
  let resumes: Array<() => void> = []
  const channel = endpoint.connect({
    transport: "pipe",
    send: (text) => {
      lines.push(text)
      return !paused
    },
    onDrain: (resume) => {
      resumes.push(resume)
    },
    services
  })
  const texts = () => [...lines]
  return {
    texts,
    messages: parsed(texts),
    send: (message) => channel.receive(JSON.stringify(message)),
    pause: () => {
      paused = true
    },
    resume: () => {
      paused = false
      const callbacks = resumes
      resumes = []
      for (const resume of callbacks) resume()
    },
    close: channel.closeUnsafe
  }
}

const channel: Front = {
  name: "a channel",
  isHttp: false,
  make: (registrations, options) =>
    Effect.map(endpointOf(registrations, options), (services) => {
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      return {
        endpoint,
        server: Context.get(services, McpServer.McpServer),
        listen: (message: Message) =>
          Effect.sync((): Stream => {
            const pipe = pipeTo(endpoint)
            pipe.send(message)
            return {
              status: 200,
              texts: pipe.texts,
              messages: pipe.messages,
              text: () => pipe.texts().join("\n"),
              // The channel stays; what is over is the request.
              isOver: () => pipe.messages().some(({ id }) => id !== undefined),
              disconnect: pipe.close
            }
          })
      }
    }) as never
}

export const fronts: ReadonlyArray<Front> = [listener, router, web, channel]
