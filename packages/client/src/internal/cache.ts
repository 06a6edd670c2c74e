/**
 * Answers that a server lets its clients keep (spec: server/utilities/caching): bounded, the least recently used go
 * first, and what a notification says has changed goes at once.
 */
import * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import type * as Effect from "effect/Effect"
import type { Notification } from "../Subscription.ts"

interface Entry {
  readonly method: string
  readonly uri: Json.Value | undefined
  readonly result: Json.Object
  readonly until: number
}

const { method: names } = Revision

export class Cache {
  /** Whose answers those are that are not public; absent where those are not kept. */
  readonly context: Effect.Effect<string> | undefined
  readonly #maxEntries: number
  /** The one used last comes last. */
  readonly #entries = new Map<string, Entry>()
  /** How often something was dropped: what was asked for before that is not kept. */
  epoch = 0

  constructor(maxEntries: number, context: Effect.Effect<string> | undefined) {
    this.#maxEntries = maxEntries
    this.context = context
  }

  get(method: string, params: Json.Object, whose: string | undefined, now: number): Json.Object | undefined {
    for (const key of keysOf(method, params, whose)) {
      const entry = this.#entries.get(key)
      if (entry === undefined) continue
      this.#entries.delete(key)
      if (entry.until <= now) continue
      this.#entries.set(key, entry)
      return entry.result
    }
    return undefined
  }

  set(method: string, params: Json.Object, whose: string | undefined, now: number, result: Json.Object): void {
    const { cacheScope, ttlMs } = result
    if (typeof ttlMs !== "number" || !(ttlMs > 0)) return
    const [shared, own] = keysOf(method, params, whose)
    const key = cacheScope === "public" ? shared : own
    if (key === undefined) return
    this.#entries.delete(key)
    this.#entries.set(key, { method, uri: params["uri"], result, until: now + ttlMs })
    if (this.#entries.size <= this.#maxEntries) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  /** Drops one answer. */
  drop(method: string, params: Json.Object, whose: string | undefined): void {
    for (const key of keysOf(method, params, whose)) this.#entries.delete(key)
  }

  /** Drops all pages of a list: a cursor that one of them gave is not taken any more. */
  dropPages(method: string): void {
    this.epoch++
    for (const [key, entry] of this.#entries) if (entry.method === method) this.#entries.delete(key)
  }

  /** Drops what has changed. */
  invalidate(notification: Notification): void {
    this.epoch++
    for (const [key, entry] of this.#entries) if (isAbout(notification, entry)) this.#entries.delete(key)
  }
}

/** The key of a public answer, and that of an answer for one caller. */
const keysOf = (
  method: string,
  params: Json.Object,
  whose: string | undefined
): readonly [shared: string] | readonly [shared: string, own: string] => {
  const request = `${method} ${Json.stringify(params)}`
  return whose === undefined ? [`* ${request}`] : [`* ${request}`, `${Json.stringify(whose)} ${request}`]
}

const isAbout = (notification: Notification, { method, uri }: Entry): boolean => {
  switch (notification._tag) {
    case "ToolsListChanged":
      return method === names.listTools
    case "PromptsListChanged":
      return method === names.listPrompts
    case "ResourcesListChanged":
      return method === names.listResources || method === names.listResourceTemplates
    case "ResourceUpdated":
      // It can be one below a resource that was read.
      return typeof uri === "string" && notification.uri.startsWith(uri)
    case "Missed":
      return true
  }
}
