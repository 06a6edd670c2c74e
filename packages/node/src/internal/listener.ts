/**
 * The HTTP listener: a `node:http` server whose requests go to an endpoint.
 */
import type { HttpExchange, HttpRead } from "@fairlead/server/Front"
import type { McpEndpoint } from "@fairlead/server/McpEndpoint"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { HttpOptions } from "../NodeMcpEndpoint.ts"

export type ListenFailure =
  | { readonly _tag: "Config"; readonly field: string; readonly reason: string }
  | { readonly _tag: "Loopback"; readonly host: string }
  | { readonly _tag: "Bind"; readonly host: string; readonly port: number; readonly code: string }

const headersTimeout = 10_000
const requestTimeout = 30_000
/** How long answers may take to leave once the endpoint has stopped. */
const flushTimeout = 1000

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)

/** A response under way. It is emptied when it is over: a set may hold what was in it for a while. */
interface Answering {
  response: Http.ServerResponse | undefined
}

export const listen = Effect.fnUntraced(function*(
  endpoint: McpEndpoint["Service"],
  options: HttpOptions
): Effect.fn.Return<
  { readonly host: string; readonly port: number; readonly url: string },
  ListenFailure,
  Scope.Scope
> {
  const { host = "127.0.0.1", path = "/mcp", port = 0 } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    return yield* Effect.fail<ListenFailure>({ _tag: "Config", field: "port", reason: "it is not a port number" })
  }
  if (!/^\/[^?#\s]*$/.test(path)) {
    return yield* Effect.fail<ListenFailure>({ _tag: "Config", field: "path", reason: "it is not an absolute path" })
  }
  if (!isLoopback(host) && options.allowUnauthenticated !== true) {
    return yield* Effect.fail<ListenFailure>({ _tag: "Loopback", host })
  }

  if (!isLoopback(host) && endpoint.sealsAlone) {
    yield* Effect.logWarning(
      "Input rounds and pages of lists are sealed with a key of this process; give the endpoint stateKeys to share them"
    )
  }

  const server = Http.createServer({ headersTimeout, requestTimeout })
  const answering = new Set<Answering>()
  const serveRequest = (expectsContinue: boolean) => (request: Http.IncomingMessage, response: Http.ServerResponse) => {
    const place: Answering = { response }
    answering.add(place)
    response.on("close", () => {
      answering.delete(place)
      place.response = undefined
    })
    onRequest(endpoint, path, request, response, expectsContinue)
  }
  server.on("request", serveRequest(false))
  server.on("checkContinue", serveRequest(true))

  yield* Effect.acquireRelease(
    Effect.callback<void, ListenFailure>((resume) => {
      const onError = (error: NodeJS.ErrnoException) =>
        resume(Effect.fail({ _tag: "Bind", host, port, code: error.code ?? "unknown" }))
      server.once("error", onError)
      server.listen({ host, port }, () => {
        server.removeListener("error", onError)
        resume(Effect.void)
      })
    }),
    () => Effect.flatMap(endpoint.stop, () => close(server, answering))
  )

  const address = server.address() as AddressInfo
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address
  return { host: address.address, port: address.port, url: `http://${name}:${address.port}${path}` }
})

/**
 * The endpoint has stopped by now: every request has its answer or is beyond its grace. Answers that are still on their
 * way to a slow client get a moment; idle connections do not.
 */
const close = (server: Http.Server, answering: ReadonlySet<Answering>) =>
  Effect.callback<void>((resume) => {
    const leaving = new Set(
      [...answering].flatMap(({ response }) => response?.writableEnded === true ? [response] : [])
    )
    const end = () => {
      clearTimeout(timer)
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    }
    // Not before: Node takes a connection for idle as soon as its answer is written, and cuts what has not left.
    const timer = setTimeout(end, flushTimeout)
    if (leaving.size === 0) return end()
    for (const response of leaving) {
      response.on("close", () => {
        leaving.delete(response)
        if (leaving.size === 0) end()
      })
    }
  })

const onRequest = (
  endpoint: McpEndpoint["Service"],
  path: string,
  request: Http.IncomingMessage,
  response: Http.ServerResponse,
  expectsContinue: boolean
): void => {
  const { headers, method = "GET", url = "/" } = request
  const admission = endpoint.http({
    method,
    url,
    header: (name) => {
      if (name === "host") return hostOf(request)
      const value = headers[name]
      return typeof value === "string" ? value : value?.join(", ")
    }
  })
  // Whoever asks first has sent no body, and need not send one that is refused.
  if (expectsContinue) {
    if (admission._tag === "Read") response.writeContinue()
    else response.setHeader("connection", "close")
  }
  // Host and Origin are checked on every path.
  const elsewhere = url !== path && pathOf(url) !== path
  if (elsewhere && !(admission._tag === "Refuse" && admission.status === 403)) {
    return refuse(request, response, 404, { "content-type": "text/plain; charset=utf-8" }, "Not found.")
  }
  if (admission._tag === "Refuse") {
    return refuse(request, response, admission.status, admission.headers, admission.body)
  }
  readBody(request, response, admission)
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
  // What is left of the request is read and dropped, so that the connection can go on.
  request.resume()
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    ...headers,
    "content-length": Buffer.byteLength(body)
  })
  response.end(body)
}

const readBody = (request: Http.IncomingMessage, response: Http.ServerResponse, admission: HttpRead): void => {
  let first: Buffer | undefined
  let chunks: Array<Buffer> | undefined
  let size = 0
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > admission.maxBodyBytes) {
      request.removeListener("data", onData)
      request.removeListener("end", onEnd)
      const { body, headers, status } = admission.tooLarge
      return refuse(request, response, status, headers, body)
    }
    if (first === undefined) first = chunk
    else (chunks ??= [first]).push(chunk)
  }
  const onEnd = () => serve(response, admission, chunks === undefined ? first ?? empty : Buffer.concat(chunks, size))
  request.on("data", onData)
  request.on("end", onEnd)
}

const empty = Buffer.alloc(0)

const serve = (response: Http.ServerResponse, admission: HttpRead, body: Buffer): void => {
  // The client may have gone while its body was read.
  if (response.destroyed) return
  const exchange: HttpExchange = admission.serve(body, {
    respond: (status, headers, text) => {
      if (response.destroyed) return
      if (text === "") {
        response.writeHead(status, headers)
        response.end()
        return
      }
      response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) })
      response.end(text)
    },
    open: (status, headers) => {
      response.writeHead(status, headers)
    },
    write: (chunk) => response.write(chunk),
    onDrain: (resume) => {
      response.once("drain", resume)
    },
    end: (chunk) => {
      response.end(chunk)
    }
  })
  if (response.writableEnded) return
  response.on("close", () => {
    if (!response.writableFinished) exchange.disconnect()
  })
}
