/**
 * The endpoint as an Effect HTTP app: mount it in an `HttpRouter` beside your other routes, at any path. It reads bodies
 * itself, within the endpoint's limit, and hears of clients that go away.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import type { HttpExchange, HttpResponder } from "./Front.ts"
import { type BodyResult, readBody } from "./internal/readBody.ts"
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
> = Effect.interruptible(Effect.flatMap(McpEndpoint, (endpoint) =>
  Effect.flatMap(HttpServerRequest, (request) => {
    const headers = request.headers
    const admission = endpoint.http({
      method: request.method,
      url: request.originalUrl,
      header: (name) => headers[name]
    })
    if (admission._tag === "Refuse") return Effect.succeed(whole(admission.status, admission.headers, admission.body))
    return Effect.flatMap(readBody(request.source, admission.maxBodyBytes), (body: BodyResult) => {
      switch (body._tag) {
        case "Body":
          return serve((responder) => admission.serve(body.bytes, responder))
        case "TooLarge": {
          admission.abandon()
          const { body: text, headers, status } = admission.tooLarge
          return Effect.succeed(whole(status, headers, text))
        }
        case "Gone":
          admission.abandon()
          return Effect.interrupt
      }
    }).pipe(Effect.onInterrupt(() => Effect.sync(admission.abandon)))
  })))

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
    Effect.flatMap(McpEndpoint, (endpoint) => router.add("*", path, Effect.provideService(app, McpEndpoint, endpoint)))
  )

const whole = (
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string
): HttpServerResponse.HttpServerResponse =>
  body === ""
    ? HttpServerResponse.empty({ status, headers })
    : HttpServerResponse.text(body, { status, headers, contentType: headers["content-type"] ?? "text/plain" })

const encoder = new TextEncoder()

/** The answer of an exchange as a response: whole, or a stream that is pulled as fast as the client reads. */
const serve = (
  begin: (responder: HttpResponder) => HttpExchange
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.callback<HttpServerResponse.HttpServerResponse>((resume) => {
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
      },
      end: (chunk) => {
        ended = true
        offer(chunk)
        if (pull !== undefined) pull(Cause.done())
      }
    })
    return Effect.sync(() => exchange?.disconnect())
  })
