/**
 * The checks of an HTTP request that need its head alone: Host, Origin, method, media types, declared size. A refusal is
 * a status and a short text, so that any client shows what is wrong (design: check order).
 */
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
}

export interface HttpPolicy {
  /** Host names in lower case, without port; undefined allows any. */
  readonly hosts: ReadonlySet<string> | undefined
  /** Origins in lower case. Loopback origins over http are allowed on any port when this is undefined. */
  readonly origins: ReadonlySet<string> | undefined
  readonly maxBodyBytes: number
}

export const refuse = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Refusal => ({
  status,
  headers,
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

const isAllowedHost = (policy: HttpPolicy, host: string | undefined): boolean => {
  if (policy.hosts === undefined) return true
  const name = host === undefined ? undefined : hostName(host)
  return name !== undefined && policy.hosts.has(name)
}

const isAllowedOrigin = (policy: HttpPolicy, origin: string): boolean => {
  const value = origin.trim().toLowerCase()
  if (policy.origins !== undefined) return policy.origins.has(value)
  const authority = /^http:\/\/([^/?#]*)$/.exec(value)?.[1]
  const name = authority === undefined ? undefined : hostName(authority)
  return name !== undefined && loopback.has(name)
}

export const checkHead = (
  policy: HttpPolicy,
  method: string,
  header: HeaderLookup
): Refusal | Accepted => {
  if (!isAllowedHost(policy, header("host"))) {
    return refuse(403, "The Host header is not allowed; the option allowedHosts lists those that are.")
  }
  const origin = header("origin")
  if (origin !== undefined && !isAllowedOrigin(policy, origin)) {
    return refuse(403, "The Origin header is not allowed; the option allowedOrigins lists those that are.")
  }
  if (method !== "POST") return refuse(405, "Only POST is served here.", { allow: "POST" })
  if (!isJsonMediaType(header("content-type"))) {
    return refuse(415, "The Content-Type must be application/json.")
  }
  const accepted = parseAccept(header("accept"))
  if (!accepted.json && !accepted.events) {
    return refuse(406, "Accept must allow application/json or text/event-stream.")
  }
  const length = header("content-length")
  if (length !== undefined && Number(length) > policy.maxBodyBytes) return bodyTooLarge(policy.maxBodyBytes)
  return accepted
}

export const bodyTooLarge = (limit: number): Refusal =>
  refuse(413, `The body is larger than ${limit} bytes.`, { connection: "close" })

const isJsonMediaType = (value: string | undefined): boolean =>
  value === "application/json" ||
  (value !== undefined && value.split(";", 1)[0]!.trim().toLowerCase() === "application/json")

// A handful of values make up nearly all traffic.
const knownAccepts = new Map<string, Accepted>()
const both: Accepted = { json: true, events: true }

const parseAccept = (value: string | undefined): Accepted => {
  if (value === undefined || value.trim() === "") return both
  const known = knownAccepts.get(value)
  if (known !== undefined) return known
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
