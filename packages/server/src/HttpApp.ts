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
import type { HttpExchange, HttpRead, HttpResponder } from "./Front.ts"
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
    let served: Answer | undefined
    let isGone = false
    const stopReading = readBody(request.source, admission.maxBodyBytes, (body) => {
      switch (body._tag) {
        case "Body":
          served = new Answer(request.source, resume)
          served.serve(admission, body.bytes)
          // What the handler did at once may have made the client go away.
          return isGone ? served.disconnect() : undefined
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
      if (served === undefined) admission.abandon()
      else served.disconnect()
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
class Answer implements HttpResponder {
  private readonly source: object
  private readonly resume: (response: Effect.Effect<HttpServerResponse.HttpServerResponse>) => void
  private exchange: HttpExchange | undefined = undefined
  private waiting = ""
  private ended = false
  private drained: (() => void) | undefined = undefined
  private pull: ((chunk: Effect.Effect<readonly [Uint8Array], Cause.Done>) => void) | undefined = undefined

  constructor(source: object, resume: (response: Effect.Effect<HttpServerResponse.HttpServerResponse>) => void) {
    this.source = source
    this.resume = resume
  }

  serve(admission: HttpRead, body: Uint8Array): void {
    this.exchange = admission.serve(body, this)
  }

  disconnect(): void {
    this.exchange?.disconnect()
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: string): void {
    this.resume(Effect.succeed(whole(status, headers, body)))
  }

  open(status: number, headers: Readonly<Record<string, string>>): void {
    const body = Stream.fromPull(Effect.succeed(this.nextChunk)).pipe(
      Stream.ensuring(Effect.sync(() => this.disconnect()))
    )
    this.resume(Effect.succeed(HttpServerResponse.stream(body, {
      status,
      headers,
      contentType: headers["content-type"]
    })))
  }

  write(chunk: string): boolean {
    this.offer(chunk)
    return this.waiting === ""
  }

  onDrain(resume: () => void): void {
    this.drained = resume
  }

  abort(): void {
    this.ended = true
    this.waiting = ""
    this.pull?.(Cause.done())
    breakOff(this.source)
  }

  end(chunk: string): void {
    this.ended = true
    this.offer(chunk)
    this.pull?.(Cause.done())
  }

  private get nextChunk(): Effect.Effect<readonly [Uint8Array], Cause.Done> {
    return Effect.callback((resume) => {
      // A pull says that the chunk before was accepted.
      const resumeWriter = this.drained
      this.drained = undefined
      resumeWriter?.()
      if (this.waiting !== "") return resume(this.take())
      if (this.ended) return resume(Cause.done())
      this.pull = resume
    })
  }

  private take(): Effect.Effect<readonly [Uint8Array]> {
    const chunk = encoder.encode(this.waiting)
    this.waiting = ""
    return Effect.succeed([chunk] as const)
  }

  private offer(chunk: string): void {
    this.waiting += chunk
    if (this.pull === undefined || this.waiting === "") return
    const resume = this.pull
    this.pull = undefined
    resume(this.take())
  }
}
