/**
 * The endpoint as an Effect HTTP app: mount it in an `HttpRouter` beside your other routes, at any path. It reads bodies
 * itself, within the endpoint's limit, and hears of clients that go away.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { HttpExchange, HttpResponder } from "./Front.ts"
import { breakOff, readBody } from "./internal/readBody.ts"
import { McpEndpoint } from "./McpEndpoint.ts"

/**
 * Answers the current HTTP request. It is interruptible, also where it is served without a router.
 *
 * @category apps
 * @since 0.1.0
 */
export const app: Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  McpEndpoint | HttpServerRequest
> = Effect.interruptible(
  Effect.flatMap(McpEndpoint, (endpoint) => Effect.flatMap(HttpServerRequest, (request) => answer(endpoint, request)))
)

/**
 * A route for an `HttpRouter`: every method at the path, so that other methods than POST get their 405.
 *
 * **Example** (Beside other routes)
 *
 * ```ts
 * import { HttpApp } from "@fairlead/server"
 * import type { McpEndpoint } from "@fairlead/server"
 * import { Layer } from "effect"
 * import { HttpRouter, HttpServerResponse } from "effect/http"
 *
 * export const routes = <E, R>(endpoint: Layer.Layer<McpEndpoint.McpEndpoint, E, R>) =>
 *   Layer.mergeAll(
 *     HttpRouter.add("GET", "/", HttpServerResponse.text("Hello")),
 *     HttpApp.route("/mcp")
 *   ).pipe(Layer.provide(endpoint))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const route = (path: HttpRouter.PathInput): Layer.Layer<never, never, McpEndpoint | HttpRouter.HttpRouter> =>
  HttpRouter.use((router) =>
    Effect.flatMap(McpEndpoint, (endpoint) => router.add("*", path, (request) => answer(endpoint, request)))
  )

/** Reads and serves in one step of the fiber: each further one costs as much as a check of the request. */
const answer = (
  endpoint: McpEndpoint["Service"],
  request: HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const headers = request.headers
  const admission = endpoint.http({
    method: request.method,
    url: request.originalUrl,
    header: (name) => headers[name]
  })
  if (admission._tag === "Refuse") return Effect.succeed(whole(admission.status, admission.headers, admission.body))
  return Effect.callback<HttpServerResponse.HttpServerResponse>((resume) => {
    let disconnect: (() => void) | undefined = undefined
    let isGone = false
    const stopReading = readBody(request.source, admission.maxBodyBytes, (body) => {
      switch (body._tag) {
        case "Body":
          disconnect = serve(request.source, (responder) => admission.serve(body.bytes, responder), resume)
          // What the handler did at once may have made the client go away.
          return isGone ? disconnect() : undefined
        case "TooLarge": {
          admission.abandon()
          const { body: text, headers, status } = admission.tooLarge
          return resume(Effect.succeed(whole(status, headers, text)))
        }
        case "Gone":
          admission.abandon()
          return resume(Effect.interrupt)
        case "Unreadable":
          admission.abandon()
          return resume(Effect.die(body.defect))
      }
    })
    return Effect.sync(() => {
      isGone = true
      stopReading()
      if (disconnect === undefined) admission.abandon()
      else disconnect()
    })
  })
}

const whole = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string
): HttpServerResponse.HttpServerResponse => {
  if (body === "") return HttpServerResponse.empty({ status, headers })
  const contentType = headers["content-type"] ?? "text/plain"
  return status === 200
    ? HttpServerResponse.setBody(emptyOf(headers), HttpBody.text(body, contentType))
    : HttpServerResponse.text(body, { status, headers, contentType })
}

// The headers of answers are a few objects that never change.
const empties = new WeakMap<Readonly<Record<string, string>>, HttpServerResponse.HttpServerResponse>()

/** A response without its body: headers are checked and copied once, not for each answer. */
const emptyOf = (headers: Readonly<Record<string, string>>): HttpServerResponse.HttpServerResponse => {
  const known = empties.get(headers)
  if (known !== undefined) return known
  const made = HttpServerResponse.empty({ status: 200, headers })
  empties.set(headers, made)
  return made
}

const encoder = new TextEncoder()

/** The answer of an exchange as a response: whole, or a stream that is pulled as fast as the client reads. */
const serve = (
  source: object,
  begin: (responder: HttpResponder) => HttpExchange,
  resume: (response: Effect.Effect<HttpServerResponse.HttpServerResponse>) => void
): () => void => {
  let exchange: HttpExchange | undefined = undefined
  let waiting = ""
  let ended = false
  let drained: (() => void) | undefined = undefined
  let pull: ((chunk: Effect.Effect<readonly [Uint8Array], Cause.Done>) => void) | undefined = undefined

  const take = (): Effect.Effect<readonly [Uint8Array], Cause.Done> => {
    const chunk = encoder.encode(waiting)
    waiting = ""
    return Effect.succeed([chunk] as const)
  }

  const offer = (chunk: string) => {
    waiting += chunk
    if (pull === undefined || waiting === "") return
    const resumePull = pull
    pull = undefined
    resumePull(take())
  }

  const nextChunk = Effect.callback<readonly [Uint8Array], Cause.Done>((resumePull) => {
    // A pull says that the chunk before was accepted.
    const resumeWriter = drained
    drained = undefined
    resumeWriter?.()
    if (waiting !== "") return resumePull(take())
    if (ended) return resumePull(Cause.done())
    pull = resumePull
  })

  exchange = begin({
    respond: (status, headers, body) => resume(Effect.succeed(whole(status, headers, body))),
    open: (status, headers) => {
      const body = Stream.fromPull(Effect.succeed(nextChunk)).pipe(
        Stream.ensuring(Effect.sync(() => exchange?.disconnect()))
      )
      resume(Effect.succeed(HttpServerResponse.stream(body, {
        status,
        headers,
        contentType: headers["content-type"]
      })))
    },
    write: (chunk) => {
      offer(chunk)
      return waiting === ""
    },
    onDrain: (callback) => {
      drained = callback
    },
    abort: () => {
      ended = true
      waiting = ""
      if (pull !== undefined) pull(Cause.done())
      breakOff(source)
    },
    end: (chunk) => {
      ended = true
      offer(chunk)
      if (pull !== undefined) pull(Cause.done())
    }
  })
  return () => exchange?.disconnect()
}
