/**
 * The endpoint as a function from `Request` to `Response`, streaming included, for every runtime that serves fetch.
 *
 * @since 0.1.0
 */
import * as Revision from "@fairlead/protocol/Revision"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { HttpExchange, HttpRead, HttpRefusal, HttpResponder } from "./Front.ts"
import { readWeb } from "./internal/readBody.ts"
import { McpEndpoint } from "./McpEndpoint.ts"

/**
 * A handler for web requests. It does not reject.
 *
 * @category models
 * @since 0.1.0
 */
export type WebHandler = (request: Request) => Promise<Response>

/**
 * Makes the handler of the endpoint. A request whose `signal` aborts, or whose response body is cancelled, is
 * interrupted.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<WebHandler, never, McpEndpoint> = Effect.map(
  McpEndpoint,
  (endpoint) => handlerOf(endpoint, true)
)

/**
 * Makes a handler for hosts that send a response only when it is whole: progress is left out, and requests that need a
 * stream, such as listening, get 406.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeBuffered: Effect.Effect<WebHandler, never, McpEndpoint> = Effect.map(
  McpEndpoint,
  (endpoint) => handlerOf(endpoint, false)
)

const handlerOf = (endpoint: McpEndpoint["Service"], canStream: boolean): WebHandler => async (request) => {
  const { headers } = request
  const { host, target } = partsOf(request.url)
  const admission = endpoint.http({
    method: request.method,
    url: target,
    // A web request need not say `Host`: its URL does.
    header: (name) => headers.get(name) ?? (name === "host" ? host : undefined),
    canStream
  })
  if (admission._tag === "Refuse") return refusalOf(admission)
  const body = await readWeb(request, admission.maxBodyBytes, request.signal)
  switch (body._tag) {
    case "Body":
      return serve(admission, body.bytes, request.signal)
    case "TooLarge":
      admission.abandon()
      return refusalOf(admission.tooLarge)
    case "Gone":
      admission.abandon()
      return gone()
  }
}

/** Nobody reads this: the client has closed its side, or the host has read the body. */
const gone = (): Response =>
  new Response(null, { status: 400, headers: { "mcp-protocol-version": Revision.latest.version } })

/** The host and the target of a request. Its URL is in normal form already, so nothing is left to parse. */
const partsOf = (url: string): { readonly host: string; readonly target: string } => {
  const start = url.indexOf("://") + 3
  const path = url.indexOf("/", start)
  const fragment = url.indexOf("#", path)
  return {
    host: url.slice(start, path),
    target: fragment === -1 ? url.slice(path) : url.slice(path, fragment)
  }
}

const refusalOf = ({ body, headers, status }: Omit<HttpRefusal, "_tag">): Response =>
  new Response(body === "" ? null : body, { status, headers })

/**
 * A handler with the endpoint's layer, and the effect-free way to close it: for hosts that know nothing of Effect. The
 * layer is built with the first request; when it cannot be built, every request rejects with its error.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromLayer = <A, E>(layer: Layer.Layer<McpEndpoint | A, E>): {
  readonly handler: WebHandler
  /** Closes the layer: requests under way get their grace, then they are interrupted. */
  readonly dispose: () => Promise<void>
} => {
  const runtime = ManagedRuntime.make(Layer.effect(Made, make).pipe(Layer.provide(layer)))
  // Asking the runtime costs a fiber, so it is asked once.
  let made: WebHandler | undefined
  return {
    handler: async (request) => {
      made ??= await runtime.runPromise(Made)
      return made(request)
    },
    dispose: () => {
      made = undefined
      return runtime.dispose()
    }
  }
}

class Made extends Context.Service<Made, WebHandler>()("@fairlead/server/WebHandler/Made") {}

const encoder = new TextEncoder()

const serve = (admission: HttpRead, body: Uint8Array, signal: AbortSignal): Promise<Response> =>
  new Promise((resolve) => new Answer(resolve, signal).serve(admission, body))

/** The answer of an exchange as a response. */
class Answer implements HttpResponder {
  private readonly resolve: (response: Response) => void
  private readonly signal: AbortSignal
  private controller: ReadableStreamDefaultController<Uint8Array> | undefined = undefined
  private drained: (() => void) | undefined = undefined
  private exchange: HttpExchange | undefined = undefined
  private isOver = false
  private stopListening: (() => void) | undefined = undefined

  constructor(resolve: (response: Response) => void, signal: AbortSignal) {
    this.resolve = resolve
    this.signal = signal
  }

  serve(admission: HttpRead, body: Uint8Array): void {
    const { signal } = this
    this.exchange = admission.serve(body, this)
    if (signal.aborted) return this.onAbort()
    // Most answers are there by now: listening costs as much as the checks of a request.
    if (this.isOver) return
    const onAbort = () => this.onAbort()
    signal.addEventListener("abort", onAbort, { once: true })
    this.stopListening = () => signal.removeEventListener("abort", onAbort)
  }

  respond(status: number, headers: Readonly<Record<string, string>>, text: string): void {
    this.over()
    this.resolve(new Response(text === "" ? null : text, { status, headers }))
  }

  open(status: number, headers: Readonly<Record<string, string>>): void {
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller
      },
      pull: () => {
        const resume = this.drained
        this.drained = undefined
        resume?.()
      },
      cancel: () => {
        this.over()
        this.controller = undefined
        this.exchange?.disconnect()
      }
    })
    this.resolve(new Response(stream, { status, headers }))
  }

  write(chunk: string): boolean {
    this.enqueue(chunk)
    return (this.controller?.desiredSize ?? 1) > 0
  }

  onDrain(resume: () => void): void {
    this.drained = resume
  }

  abort(): void {
    this.over()
    this.controller?.error(new Error("The client does not read"))
    this.controller = undefined
  }

  end(chunk: string): void {
    this.over()
    this.enqueue(chunk)
    this.controller?.close()
  }

  private enqueue(chunk: string): void {
    if (chunk !== "") this.controller?.enqueue(encoder.encode(chunk))
  }

  private onAbort(): void {
    this.exchange?.disconnect()
    this.resolve(gone())
    // Whoever still holds the stream waits for nothing.
    this.controller?.error(this.signal.reason)
    this.controller = undefined
  }

  private over(): void {
    this.isOver = true
    this.stopListening?.()
  }
}
