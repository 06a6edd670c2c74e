/**
 * What a server offers, and the texts that follow from it: lists and discovery are serialized when they are first asked
 * for after a change, not for each request.
 */
import type * as Capabilities from "@fairlead/protocol/Capabilities"
import type * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import type * as Tool from "@fairlead/protocol/Tool"
import type * as Context from "effect/Context"
import type { Runner } from "./toolRunner.ts"

export interface ToolEntry {
  readonly tool: Tool.Any
  readonly run: Runner
  /** The services the handler was registered with. */
  readonly context: Context.Context<never>
}

export interface Identity {
  readonly info: Capabilities.Implementation
  readonly instructions: string | undefined
  /** Whether results carry `info` in their metadata. */
  readonly showInfo: boolean
}

export interface Catalog {
  readonly identity: Identity
  /** `false` when the name is taken. */
  readonly addTool: (entry: ToolEntry) => boolean
  /** Whether there was one. */
  readonly removeTool: (name: string) => boolean
  readonly tool: (name: string) => ToolEntry | undefined
  readonly toolNames: () => ReadonlyArray<string>
  readonly hasCapability: (name: string) => boolean
  readonly discovery: () => string
  readonly toolList: () => string
  /** The end of a result object: how it ended, and its metadata. */
  readonly resultEnd: (meta: Json.Object | undefined) => string
}

const complete = `"resultType":${JSON.stringify(Revision.resultType.complete)}`
const notCached = "\"ttlMs\":0,\"cacheScope\":\"private\""

export const makeCatalog = (identity: Identity): Catalog => {
  const tools = new Map<string, ToolEntry>()
  // Whoever has had a tool keeps the capability: a list may be empty, its method stays.
  let offersTools = false
  let discovery: string | undefined
  let toolList: string | undefined

  const changed = () => {
    discovery = undefined
    toolList = undefined
  }

  const ownMeta: Json.Object = identity.showInfo
    ? { [Revision.meta.serverInfo]: identity.info as unknown as Json.Value }
    : {}
  const plainEnd = `${complete}${identity.showInfo ? `,"_meta":${JSON.stringify(ownMeta)}` : ""}}`

  const resultEnd = (meta: Json.Object | undefined) =>
    meta === undefined ? plainEnd : `${complete},"_meta":${JSON.stringify({ ...meta, ...ownMeta })}}`

  const names = () => [...tools.keys()].sort()

  return {
    identity,
    addTool: (entry) => {
      if (tools.has(entry.tool.name)) return false
      tools.set(entry.tool.name, entry)
      offersTools = true
      changed()
      return true
    },
    removeTool: (name) => {
      const existed = tools.delete(name)
      if (existed) changed()
      return existed
    },
    tool: (name) => tools.get(name),
    toolNames: names,
    hasCapability: (name) => name === "tools" && offersTools,
    discovery: () =>
      discovery ??= [
        `{"supportedVersions":${JSON.stringify([Revision.latest.version])}`,
        `"capabilities":${JSON.stringify(offersTools ? { tools: {} } : {})}`,
        ...(identity.instructions === undefined ? [] : [`"instructions":${JSON.stringify(identity.instructions)}`]),
        notCached,
        plainEnd
      ].join(","),
    toolList: () =>
      toolList ??= `{"tools":[${
        names().map((name) => JSON.stringify(tools.get(name)!.tool.declaration)).join(",")
      }],${notCached},${plainEnd}`,
    resultEnd
  }
}
