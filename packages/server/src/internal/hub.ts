/**
 * The listeners of an endpoint. A listener is a record, not a fiber; a notification is serialized once and only its
 * subscription id differs; a listener whose client does not read gets each change once, when it reads again.
 */
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Timer from "@fairlead/protocol/Timer"
import type * as Context from "effect/Context"
import type { Change } from "../Notifications.ts"
import type { Kind } from "./entry.ts"
import { invalidParams, type RpcError } from "./reply.ts"
import type { Sink } from "./sink.ts"

/** What a listener asks to hear of, and what of it is honoured. */
export interface Filter {
  readonly toolsListChanged?: true
  readonly promptsListChanged?: true
  readonly resourcesListChanged?: true
  readonly resourceSubscriptions?: ReadonlyArray<string>
}

type ListFilter = Exclude<keyof Filter, "resourceSubscriptions">

/** A request to listen. */
export interface Listening {
  readonly id: JsonRpc.RequestId
  readonly filter: Filter
  readonly sink: Sink
  /** How many changes there were when the request came: later ones are told after the acknowledgement. */
  readonly since: number
  /** Whether the caller may hear of a change; absent: of all. */
  readonly hears: ((change: Change) => boolean) | undefined
}

export interface Listener {
  readonly close: () => void
  /** What it is told with its last answer. */
  readonly id: JsonRpc.RequestId
}

export interface Hub {
  /** Acknowledges and begins to tell. */
  readonly listen: (listening: Listening) => Listener
  /** How many changes there were. */
  readonly changes: () => number
  readonly publish: (change: Change) => void
  readonly size: () => number
}

/** The most resources that one listener watches. */
export const maxSubscriptions = 1000

/** How many changes are kept for listeners that are opening; one that took longer is told that all may have changed. */
const maxRecent = 1024

const { notification } = Revision

const listMethod: Readonly<Record<Kind, string>> = {
  tool: notification.toolsListChanged,
  prompt: notification.promptsListChanged,
  resource: notification.resourcesListChanged,
  resourceTemplate: notification.resourcesListChanged
}

const listFilter: Readonly<Record<Kind, ListFilter>> = {
  tool: "toolsListChanged",
  prompt: "promptsListChanged",
  resource: "resourcesListChanged",
  resourceTemplate: "resourcesListChanged"
}

/** The kind by which the change of a list is told. */
const kindOf: Readonly<Record<ListFilter, Kind>> = {
  toolsListChanged: "tool",
  promptsListChanged: "prompt",
  resourcesListChanged: "resource"
}

const listFilters = Object.keys(kindOf) as ReadonlyArray<ListFilter>

/** Reads a filter; what is offered decides what of it is honoured. */
export const readFilter = (
  value: Json.Value | undefined,
  offers: (capability: string) => boolean
): Filter | RpcError => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return invalidParams("params.notifications must be an object")
  }
  const wanted = value as Json.Object
  for (const key of listFilters) {
    if (wanted[key] !== undefined && typeof wanted[key] !== "boolean") {
      return invalidParams(`params.notifications.${key} must be a boolean`)
    }
  }
  const uris = wanted["resourceSubscriptions"] ?? []
  if (!Array.isArray(uris) || uris.some((uri) => typeof uri !== "string")) {
    return invalidParams("params.notifications.resourceSubscriptions must be a list of URIs")
  }
  if (uris.length > maxSubscriptions) {
    return invalidParams(`params.notifications.resourceSubscriptions has more than ${maxSubscriptions} URIs`)
  }
  return {
    ...(wanted["toolsListChanged"] === true && offers("tools") ? { toolsListChanged: true } : {}),
    ...(wanted["promptsListChanged"] === true && offers("prompts") ? { promptsListChanged: true } : {}),
    ...(wanted["resourcesListChanged"] === true && offers("resources") ? { resourcesListChanged: true } : {}),
    ...(uris.length > 0 && offers("resources") ? { resourceSubscriptions: uris as ReadonlyArray<string> } : {})
  }
}

interface Open {
  readonly subscription: string
  readonly sink: Sink
  readonly filter: Filter
  readonly uris: ReadonlySet<string>
  readonly hears: Listening["hears"]
  /** Messages to send when the client reads again, each once. */
  readonly pending: Set<string>
  blocked: boolean
}

export const makeHub = (context: Context.Context<never>, keepAliveMillis: number): Hub => {
  const listeners = new Set<Open>()
  let stopKeepAlive: (() => void) | undefined
  /** The latest changes: the nth stands at n modulo their number. */
  const recent: Array<Change> = []
  let changes = 0

  /** A message in two halves, between which the subscription id stands. */
  const render = (change: Change): readonly [string, string] => {
    const [method, own] = change._tag === "ListChanged"
      ? [listMethod[change.kind], ""] as const
      : [notification.resourceUpdated, `"uri":${JSON.stringify(change.uri)},`] as const
    return [
      `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":{${own}"_meta":{${
        JSON.stringify(Revision.meta.subscriptionId)
      }:`,
      "}}}"
    ]
  }

  const isWanted = ({ filter, hears, uris }: Open, change: Change): boolean =>
    (change._tag === "ListChanged" ? filter[listFilter[change.kind]] === true : uris.has(change.uri)) &&
    hears?.(change) !== false

  const flush = (listener: Open) => {
    listener.blocked = false
    for (const message of listener.pending) {
      listener.pending.delete(message)
      send(listener, message)
      if (listener.blocked) return
    }
  }

  const send = (listener: Open, message: string) => {
    if (listener.blocked) {
      listener.pending.add(message)
      return
    }
    if (listener.sink.event(message)) return
    listener.blocked = true
    listener.sink.onDrain(() => flush(listener))
  }

  /** A change that came while the listener was opening is not lost: its client may have listed or read before. */
  const tellSince = (listener: Open, since: number) => {
    if (since === changes) return
    const messages = new Set<string>()
    for (const change of changes - since > maxRecent ? possible(listener) : changesSince(since)) {
      if (!isWanted(listener, change)) continue
      const [head, tail] = render(change)
      messages.add(head + listener.subscription + tail)
    }
    for (const message of messages) send(listener, message)
  }

  const changesSince = (since: number): ReadonlyArray<Change> =>
    Array.from({ length: changes - since }, (_, i) => recent[(since + i) % maxRecent]!)

  /** All that a listener can be told of. */
  const possible = ({ uris }: Open): ReadonlyArray<Change> => [
    ...listFilters.map((key): Change => ({ _tag: "ListChanged", kind: kindOf[key] })),
    ...[...uris].map((uri): Change => ({ _tag: "ResourceUpdated", uri }))
  ]

  const keepAlive = () => {
    stopKeepAlive = undefined
    for (const { sink } of listeners) sink.keepAlive()
    scheduleKeepAlive()
  }

  const scheduleKeepAlive = () => {
    if (stopKeepAlive !== undefined || listeners.size === 0) return
    stopKeepAlive = Timer.after(context, keepAliveMillis, keepAlive)
  }

  return {
    listen: ({ filter, hears, id, since, sink }) => {
      const listener: Open = {
        subscription: JSON.stringify(id),
        sink,
        filter,
        uris: new Set(filter.resourceSubscriptions ?? []),
        hears,
        pending: new Set(),
        blocked: false
      }
      const acknowledged = JsonRpc.encodeNotification(notification.acknowledged, {
        notifications: filter as Json.Object,
        _meta: { [Revision.meta.subscriptionId]: id }
      })
      listeners.add(listener)
      send(listener, acknowledged)
      tellSince(listener, since)
      scheduleKeepAlive()
      return {
        id,
        close: () => {
          listeners.delete(listener)
          listener.pending.clear()
          if (listeners.size === 0) {
            stopKeepAlive?.()
            stopKeepAlive = undefined
          }
        }
      }
    },
    changes: () => changes,
    publish: (change) => {
      recent[changes++ % maxRecent] = change
      if (listeners.size === 0) return
      const [head, tail] = render(change)
      for (const listener of listeners) {
        if (isWanted(listener, change)) send(listener, head + listener.subscription + tail)
      }
    },
    size: () => listeners.size
  }
}
