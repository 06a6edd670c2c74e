/**
 * One HTTP request of a listener: its head goes to the endpoint, its body is read within the limit, and what the endpoint
 * answers is written.
 */
import type { HttpAdmission, HttpRead, HttpResponder } from "@fairlead/server/Front"
import type { McpEndpoint } from "@fairlead/server/McpEndpoint"
import * as Effect from "effect/Effect"
import type * as Http from "node:http"
import type { Duplex } from "node:stream"
import { lingerBytes, lingerMillis, type Refusals, textHeaders, versionHeader } from "./refusals.ts"

/** What a listener serves. */
export interface Site {
  readonly endpoint: McpEndpoint["Service"]
  readonly path: string
  /** The host name it is bound to, as it stands in a `Host` header. */
  readonly ownHost: string
  /** Whether `/healthz` and `/readyz` are served. */
  readonly health: boolean
}

/** What the `Expect` header of a request asks for. */
export type Expected = "continue" | "unknown" | undefined

export const onRequest = (
  site: Site,
  request: Http.IncomingMessage,
  response: Http.ServerResponse,
  expected: Expected
): void => {
  const { endpoint, health, path } = site
  const { headers, method = "GET", url = "/" } = request
  if (headers.host === undefined && request.httpVersion === "1.1") {
    return refuse(request, response, 400, { connection: "close" }, "The Host header is missing.")
  }
  const admission = admit(site, request)
  // Whoever asks first has sent no body, and need not send one that is refused.
  if (expected === "continue") {
    if (admission._tag === "Read") response.writeContinue()
    else response.setHeader("connection", "close")
  }
  // Host and Origin are checked on every path.
  const isRefusedAnywhere = admission._tag === "Refuse" && admission.status === 403
  if (expected === "unknown" && !isRefusedAnywhere) {
    if (admission._tag === "Read") admission.abandon()
    return refuse(request, response, 417, { connection: "close" }, "Only 100-continue can be expected here.")
  }
  const elsewhere = url !== path && pathOf(url) !== path
  if (elsewhere && !isRefusedAnywhere) {
    if (admission._tag === "Read") admission.abandon()
    if (health && method === "GET" && healthOf(endpoint, request, response, pathOf(url))) return
    return refuse(request, response, 404, {}, "Not found.")
  }
  if (admission._tag === "Refuse") {
    return refuse(request, response, admission.status, admission.headers, admission.body)
  }
  readBody(request, response, admission)
}

const admit = ({ endpoint, ownHost }: Site, request: Http.IncomingMessage): HttpAdmission => {
  const { headers, method = "GET", url = "/" } = request
  return endpoint.http({
    method,
    url,
    ownHost,
    header: (name) => {
      if (name === "host") return hostOf(request)
      const value = headers[name]
      return typeof value === "string" ? value : value?.join(", ")
    }
  })
}

/** A tunnel is refused as any method is that is not served, but Node gives no response for it. */
export const onConnect = (site: Site, refusals: Refusals) => (request: Http.IncomingMessage, socket: Duplex): void => {
  const admission = admit(site, request)
  if (admission._tag === "Read") admission.abandon()
  else refusals.refuse(socket, admission.status, admission.headers, admission.body)
}

/** `/healthz`: the process serves. `/readyz`: it serves new requests. */
const healthOf = (
  endpoint: McpEndpoint["Service"],
  request: Http.IncomingMessage,
  response: Http.ServerResponse,
  path: string
): boolean => {
  if (path !== "/healthz" && path !== "/readyz") return false
  const isFine = path === "/healthz" || Effect.runSync(endpoint.isReady)
  refuse(request, response, isFine ? 200 : 503, { "cache-control": "no-store" }, isFine ? "ok" : "not ready")
  return true
}

/** Two `Host` headers are none: Node would take the first, a proxy before it may have taken the other. */
const hostOf = ({ headers, rawHeaders }: Http.IncomingMessage): string | undefined => {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === "host") count++
  }
  return count === 1 ? headers.host : undefined
}

const pathOf = (url: string): string => {
  const end = url.search(/[?#]/)
  return end === -1 ? url : url.slice(0, end)
}

const refuse = (
  request: Http.IncomingMessage,
  response: Http.ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string
) => {
  response.writeHead(status, {
    ...body === "" ? versionHeader : textHeaders,
    ...headers,
    ...status === 204 ? {} : { "content-length": Buffer.byteLength(body) }
  })
  if (body !== "") response.write(body)
  // What is left of the request is read and dropped, so that the connection can go on.
  if (!isSending(request)) {
    request.resume()
    response.end()
    return
  }
  // Also where there is no body to write.
  response.flushHeaders()
  linger(request, response)
}

/** A connection that closes while its client still sends loses what the client has not read yet: the answer. */
const linger = (request: Http.IncomingMessage, response: Http.ServerResponse): void => {
  let dropped = 0
  const onData = (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > lingerBytes) giveUp()
  }
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const giveUp = () => {
    request.removeListener("data", onData)
    clearTimeout(timer)
    response.end(() => request.destroy())
  }
  const timer = setTimeout(giveUp, lingerMillis)
  request.on("data", onData)
  request.on("end", end)
  request.on("close", end)
}

/** Whether more of a request may come. */
const isSending = ({ complete, headers }: Http.IncomingMessage): boolean =>
  !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

const readBody = (request: Http.IncomingMessage, response: Http.ServerResponse, admission: HttpRead): void => {
  let first: Buffer | undefined
  let chunks: Array<Buffer> | undefined
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > admission.maxBodyBytes) {
      request.removeListener("data", onData)
      request.removeListener("end", onEnd)
      admission.abandon()
      const { body, headers, status } = admission.tooLarge
      return refuse(request, response, status, headers, body)
    }
    if (first === undefined) first = chunk
    else (chunks ??= [first]).push(chunk)
  }
  const onEnd = () => {
    const body = chunks === undefined ? first ?? empty : Buffer.concat(chunks, size)
    // The connection keeps the request, and with it this function, until the next one comes.
    first = undefined
    chunks = undefined
    serve(response, admission, body)
  }
  request.on("data", onData)
  request.on("end", onEnd)
  // Once it is served, or was refused, this says nothing new.
  request.on("close", () => admission.abandon())
}

const empty = Buffer.alloc(0)

const serve = (response: Http.ServerResponse, admission: HttpRead, body: Buffer): void => {
  // The client may have gone while its body was read.
  if (response.destroyed) return admission.abandon()
  const exchange = admission.serve(body, new Responder(response))
  if (response.writableEnded) return
  response.on("close", () => {
    if (!response.writableFinished) exchange.disconnect()
  })
}

class Responder implements HttpResponder {
  private readonly response: Http.ServerResponse

  constructor(response: Http.ServerResponse) {
    this.response = response
  }

  respond(status: number, headers: Readonly<Record<string, string>>, text: string): void {
    const { response } = this
    if (response.destroyed) return
    if (text === "") {
      response.writeHead(status, headers)
      response.end()
      return
    }
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) })
    response.end(text)
  }

  open(status: number, headers: Readonly<Record<string, string>>): void {
    this.response.writeHead(status, headers)
  }

  write(chunk: string): boolean {
    return this.response.write(chunk)
  }

  onDrain(resume: () => void): void {
    this.response.once("drain", resume)
  }

  end(chunk: string): void {
    this.response.end(chunk)
  }

  abort(): void {
    this.response.destroy()
  }
}
