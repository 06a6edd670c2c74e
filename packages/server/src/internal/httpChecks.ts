/**
 * The checks of an HTTP request that need its head alone: Host, Origin, method, media types, declared size. A refusal is
 * a status and a short text, so that any client shows what is wrong (design: check order).
 */
import * as Revision from "@fairlead/protocol/Revision"
import type { HeaderLookup } from "./dispatcher.ts"

/** An answer before the body is read. */
export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The forms of answer that the client takes. */
export interface Accepted {
  readonly json: boolean
  readonly events: boolean
  /** Headers of every answer, where a browser of another origin asks. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface HttpPolicy {
  /** Host names in lower case, without port; undefined allows any. */
  readonly hosts: ReadonlySet<string> | undefined
  /** Origins in lower case. When this is undefined, those over http of loopback and of the bind host, on any port. */
  readonly origins: ReadonlySet<string> | undefined
  readonly maxBodyBytes: number
}

export const refuse = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Refusal => ({
  status,
  headers: { "mcp-protocol-version": Revision.latest.version, ...headers },
  body
})

export const isRefusal = (u: Refusal | Accepted): u is Refusal => "status" in u

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

export const loopbackHosts: ReadonlySet<string> = loopback

/** `Host` without its port, in lower case; undefined when it is not one host. */
export const hostName = (host: string): string | undefined => {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/?#@\\[\]]+)(?::(\d{1,5}))?$/i.exec(host.trim())
  return match === null ? undefined : match[1]!.toLowerCase()
}

// A server is asked for under a handful of names.
const knownHosts = new Map<string, string | undefined>()

const knownHostName = (host: string): string | undefined => {
  if (knownHosts.has(host)) return knownHosts.get(host)
  const name = hostName(host)
  if (knownHosts.size < 64 && host.length <= 256) knownHosts.set(host, name)
  return name
}

const isAllowedHost = (policy: HttpPolicy, host: string | undefined, own: string | undefined): boolean => {
  if (policy.hosts === undefined) return true
  const name = host === undefined ? undefined : knownHostName(host)
  return name !== undefined && (policy.hosts.has(name) || name === own)
}

const isAllowedOrigin = (policy: HttpPolicy, origin: string, own: string | undefined): boolean => {
  const value = origin.trim().toLowerCase()
  if (policy.origins !== undefined) return policy.origins.has(value)
  const authority = /^http:\/\/([^/?#]*)$/.exec(value)?.[1]
  const name = authority === undefined ? undefined : hostName(authority)
  return name !== undefined && (loopback.has(name) || name === own)
}

/** What of the head is needed. */
export interface Head {
  readonly method: string
  readonly header: HeaderLookup
  readonly ownHost?: string | undefined
  readonly canStream?: boolean | undefined
}

export const checkHead = (policy: HttpPolicy, head: Head): Refusal | Accepted => {
  const { header, method } = head
  const host = header("host")
  if (!isAllowedHost(policy, host, head.ownHost)) {
    return refuse(403, `The Host ${quoted(host)} is not allowed; the option allowedHosts lists those that are.`)
  }
  const origin = header("origin")
  if (origin === undefined) return checkRequest(policy, head)
  if (!isAllowedOrigin(policy, origin, head.ownHost)) {
    return refuse(403, `The Origin ${quoted(origin)} is not allowed; the option allowedOrigins lists those that are.`)
  }
  const cors = { "access-control-allow-origin": origin, "access-control-expose-headers": exposed, vary: "origin" }
  if (method === "OPTIONS" && header("access-control-request-method") !== undefined) {
    return refuse(204, "", {
      ...cors,
      "access-control-allow-methods": "POST",
      "access-control-allow-headers": allowedHeaders(header("access-control-request-headers") ?? ""),
      "access-control-max-age": "600"
    })
  }
  const checked = checkRequest(policy, head)
  return isRefusal(checked)
    ? { ...checked, headers: { ...checked.headers, ...cors } }
    : { ...checked, headers: cors }
}

const checkRequest = (policy: HttpPolicy, { canStream = true, header, method }: Head): Refusal | Accepted => {
  if (method !== "POST") return refuse(405, "Only POST is served here.", { allow: "POST" })
  if (!isJsonMediaType(header("content-type"))) {
    return refuse(415, "The Content-Type must be application/json.")
  }
  const accepted = parseAccept(header("accept"))
  if (!accepted.json && !(accepted.events && canStream)) {
    return refuse(406, "Accept must allow application/json or text/event-stream.")
  }
  const length = header("content-length")
  if (length !== undefined && Number(length) > policy.maxBodyBytes) return bodyTooLarge(policy.maxBodyBytes)
  return canStream ? accepted : { json: true, events: false }
}

/** A header as part of a message: printable, and not long. */
const quoted = (value: string | undefined): string =>
  value === undefined ? "header is missing, which" : JSON.stringify(value.replace(/[^\x20-\x7e]/g, "?").slice(0, 100))

const exposed = "www-authenticate, mcp-protocol-version, retry-after"
const crossOriginHeaders = new Set([
  "accept",
  "authorization",
  "baggage",
  "content-type",
  "traceparent",
  "tracestate",
  "x-correlation-id"
])

/** Of the headers a browser asks for, those that clients send: the family of `mcp-param-*` has no end. */
const allowedHeaders = (requested: string): string =>
  requested.split(",").map((name) => name.trim().toLowerCase())
    .filter((name) => crossOriginHeaders.has(name) || /^mcp-[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name))
    .join(", ")

export const bodyTooLarge = (limit: number): Refusal =>
  refuse(413, `The body is larger than ${limit} bytes.`, { connection: "close" })

const isJsonMediaType = (value: string | undefined): boolean =>
  value === "application/json" ||
  (value !== undefined && value.split(";", 1)[0]!.trim().toLowerCase() === "application/json")

// A handful of values make up nearly all traffic.
const knownAccepts = new Map<string, Accepted>()
const both: Accepted = { json: true, events: true }

const parseAccept = (value: string | undefined): Accepted => {
  const known = value === undefined ? both : knownAccepts.get(value)
  if (known !== undefined) return known
  if (value === undefined || value.trim() === "") return both
  const ranges = value.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => /^q\s*=/.test(parameter))
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(quality.indexOf("=") + 1)) }
  })
  // The most specific range that matches says whether the type is wanted.
  const wants = (type: string) => {
    const candidates = [type, `${type.slice(0, type.indexOf("/"))}/*`, "*/*"]
    const range = candidates.flatMap((candidate) => ranges.find((range) => range.type === candidate) ?? [])[0]
    return range !== undefined && range.quality > 0
  }
  const accepted = { json: wants("application/json"), events: wants("text/event-stream") }
  if (knownAccepts.size < 64) knownAccepts.set(value, accepted)
  return accepted
}
