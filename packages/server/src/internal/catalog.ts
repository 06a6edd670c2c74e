/**
 * What a server offers, and the texts that follow from it: lists and discovery are serialized when they are first asked
 * for after a change, not for each request.
 */
import type * as Capabilities from "@fairlead/protocol/Capabilities"
import type * as Json from "@fairlead/protocol/Json"
import type { CacheHint } from "@fairlead/protocol/Resource"
import * as Revision from "@fairlead/protocol/Revision"
import * as UriTemplate from "@fairlead/protocol/UriTemplate"
import { cacheMembers } from "./cacheHint.ts"
import type { Entry, Kind, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from "./entry.ts"

export interface Identity {
  readonly info: Capabilities.Implementation
  readonly instructions: string | undefined
  /** Whether results carry `info` in their metadata. */
  readonly showInfo: boolean
  /** Whether listeners are served: lists then say that they tell of changes. */
  readonly listens: boolean
  /** Whether handlers can send log messages. */
  readonly logs: boolean
  readonly extensions: Readonly<Record<string, Json.Object>>
  /** How long lists and discovery may be kept. */
  readonly cache: Readonly<Partial<Record<Kind | "discovery", CacheHint>>>
}

/** The entries of a kind as they are listed: in order, each with the text of its declaration. */
export interface Listing {
  readonly entries: ReadonlyArray<Entry>
  readonly texts: ReadonlyArray<string>
}

export interface Catalog {
  readonly identity: Identity
  /** `false` when the name is taken. */
  readonly add: (entry: Entry) => boolean
  /** Whether there was one. */
  readonly remove: (kind: Kind, name: string) => boolean
  /** Removes this one, and not another that has its name now. */
  readonly removeEntry: (entry: Entry) => void
  readonly tool: (name: string) => ToolEntry | undefined
  readonly prompt: (name: string) => PromptEntry | undefined
  readonly resource: (uri: string) => ResourceEntry | undefined
  readonly templateNamed: (template: string) => TemplateEntry | undefined
  /** The templates that match a URI, the most specific first. */
  readonly templates: (
    uri: string
  ) => Iterable<{ readonly entry: TemplateEntry; readonly values: UriTemplate.Values }>
  readonly names: (kind: Kind) => ReadonlyArray<string>
  readonly listing: (kind: Kind) => Listing
  readonly hasCapability: (name: string) => boolean
  readonly discovery: () => string
  /** The cache members of a kind's list. */
  readonly listHint: (kind: Kind) => string
  /** The end of a result object: how it ended, and its metadata. */
  readonly resultEnd: (meta: Json.Object | undefined) => string
  /** Tells of each entry that comes or goes. */
  readonly onChange: (listener: (entry: Entry) => void) => void
}

const kinds: ReadonlyArray<Kind> = ["tool", "resource", "resourceTemplate", "prompt"]

const complete = `"resultType":${JSON.stringify(Revision.resultType.complete)}`

export const makeCatalog = (identity: Identity): Catalog => {
  const byKind: Readonly<Record<Kind, Map<string, Entry>>> = {
    tool: new Map(),
    resource: new Map(),
    resourceTemplate: new Map(),
    prompt: new Map()
  }
  // Two templates of one shape match the same URIs.
  const shapes = new Set<string>()
  const listings = new Map<Kind, Listing>()
  const listeners: Array<(entry: Entry) => void> = []
  // What was offered once stays a capability: a list may be empty, its method stays.
  const offered = new Set<string>()
  let discovery: string | undefined
  let ordered: ReadonlyArray<TemplateEntry> | undefined

  const ownMeta: Json.Object = identity.showInfo
    ? { [Revision.meta.serverInfo]: identity.info as unknown as Json.Value }
    : {}
  const plainEnd = `${complete}${identity.showInfo ? `,"_meta":${JSON.stringify(ownMeta)}` : ""}}`
  const hints = Object.fromEntries(kinds.map((kind) => [kind, cacheMembers(identity.cache[kind])]))

  const changed = (entry: Entry) => {
    listings.delete(entry.kind)
    discovery = undefined
    if (entry.kind === "resourceTemplate") ordered = undefined
    for (const listener of listeners) listener(entry)
  }

  const orderedTemplates = () =>
    ordered ??= [...byKind.resourceTemplate.values() as IterableIterator<TemplateEntry>].sort((a, b) =>
      UriTemplate.Specificity(a.template.uriTemplate, b.template.uriTemplate)
    )

  const isTaken = (entry: Entry): boolean =>
    byKind[entry.kind].has(entry.name) ||
    (entry.kind === "resourceTemplate" && shapes.has(entry.template.uriTemplate.shape))

  const remove = (kind: Kind, name: string): boolean => {
    const entry = byKind[kind].get(name)
    if (entry === undefined) return false
    byKind[kind].delete(name)
    if (entry.kind === "resourceTemplate") shapes.delete(entry.template.uriTemplate.shape)
    changed(entry)
    return true
  }

  const names = (kind: Kind) => [...byKind[kind].keys()].sort(compare)

  const capabilities = (): Json.Object => {
    const listChanged = identity.listens ? { listChanged: true } : {}
    return {
      ...(offered.has("tools") ? { tools: listChanged } : {}),
      ...(offered.has("resources")
        ? { resources: identity.listens ? { ...listChanged, subscribe: true } : {} }
        : {}),
      ...(offered.has("prompts") ? { prompts: listChanged } : {}),
      ...(offered.has("completions") ? { completions: {} } : {}),
      ...(identity.logs ? { logging: {} } : {}),
      ...(Object.keys(identity.extensions).length > 0 ? { extensions: identity.extensions } : {})
    }
  }

  return {
    identity,
    add: (entry) => {
      if (isTaken(entry)) return false
      byKind[entry.kind].set(entry.name, entry)
      if (entry.kind === "resourceTemplate") shapes.add(entry.template.uriTemplate.shape)
      offered.add(capabilityOf[entry.kind])
      if ("completers" in entry && entry.completers.size > 0) offered.add("completions")
      changed(entry)
      return true
    },
    remove,
    removeEntry: (entry) => {
      if (byKind[entry.kind].get(entry.name) === entry) remove(entry.kind, entry.name)
    },
    tool: (name) => byKind.tool.get(name) as ToolEntry | undefined,
    prompt: (name) => byKind.prompt.get(name) as PromptEntry | undefined,
    resource: (uri) => byKind.resource.get(uri) as ResourceEntry | undefined,
    templateNamed: (template) => byKind.resourceTemplate.get(template) as TemplateEntry | undefined,
    templates: function*(uri) {
      for (const entry of orderedTemplates()) {
        const values = UriTemplate.match(entry.template.uriTemplate, uri)
        if (values !== undefined) yield { entry, values }
      }
    },
    names,
    listing: (kind) => {
      const known = listings.get(kind)
      if (known !== undefined) return known
      const entries = names(kind).map((name) => byKind[kind].get(name)!)
      const listing = { entries, texts: entries.map((entry) => JSON.stringify(entry.declaration)) }
      listings.set(kind, listing)
      return listing
    },
    hasCapability: (name) => offered.has(name),
    discovery: () =>
      discovery ??= [
        `{"supportedVersions":${JSON.stringify([Revision.latest.version])}`,
        `"capabilities":${JSON.stringify(capabilities())}`,
        ...(identity.instructions === undefined ? [] : [`"instructions":${JSON.stringify(identity.instructions)}`]),
        cacheMembers(identity.cache.discovery),
        plainEnd
      ].join(","),
    listHint: (kind) => hints[kind]!,
    resultEnd: (meta) =>
      meta === undefined ? plainEnd : `${complete},"_meta":${JSON.stringify({ ...meta, ...ownMeta })}}`,
    onChange: (listener) => {
      listeners.push(listener)
    }
  }
}

const capabilityOf: Readonly<Record<Kind, string>> = {
  tool: "tools",
  resource: "resources",
  resourceTemplate: "resources",
  prompt: "prompts"
}

const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0
