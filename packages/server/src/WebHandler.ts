/**
 * The endpoint as a function from `Request` to `Response`, streaming included, for every runtime that serves fetch.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import type { HttpExchange, HttpRead, HttpRefusal } from "./Front.ts"
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
      // Nobody reads this: the client has closed its side, or the host has read the body.
      return new Response(null, { status: 400 })
  }
}

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
  new Promise((resolve) => {
    let controller: ReadableStreamDefaultController<Uint8Array> | undefined = undefined
    let drained: (() => void) | undefined = undefined
    let exchange: HttpExchange | undefined = undefined

    const onAbort = () => {
      exchange?.disconnect()
      resolve(new Response(null, { status: 400 }))
      // Whoever still holds the stream waits for nothing.
      controller?.error(signal.reason)
      controller = undefined
    }
    const over = () => signal.removeEventListener("abort", onAbort)

    const enqueue = (chunk: string) => {
      if (chunk !== "") controller?.enqueue(encoder.encode(chunk))
    }

    exchange = admission.serve(body, {
      respond: (status, headers, text) => {
        over()
        resolve(new Response(text === "" ? null : text, { status, headers }))
      },
      open: (status, headers) => {
        const stream = new ReadableStream<Uint8Array>({
          start: (it) => {
            controller = it
          },
          pull: () => {
            const resume = drained
            drained = undefined
            resume?.()
          },
          cancel: () => {
            over()
            controller = undefined
            exchange?.disconnect()
          }
        })
        resolve(new Response(stream, { status, headers }))
      },
      write: (chunk) => {
        enqueue(chunk)
        return (controller?.desiredSize ?? 1) > 0
      },
      onDrain: (resume) => {
        drained = resume
      },
      abort: () => {
        over()
        controller?.error(new Error("The client does not read"))
        controller = undefined
      },
      end: (chunk) => {
        over()
        enqueue(chunk)
        controller?.close()
      }
    })
    if (signal.aborted) onAbort()
    else signal.addEventListener("abort", onAbort, { once: true })
  })
