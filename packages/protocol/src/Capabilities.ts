/**
 * What the two ends say of themselves: name and version, and the capabilities that a client declares on each request
 * and a server in its discovery.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Icon } from "./Content.ts"
import { AnyObject, mapOf, open } from "./internal/open.ts"

/**
 * Name and version of a client or a server. It is not verified: for display and logs only (spec: basic, _meta).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Implementation = open({
  name: Schema.String,
  version: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  websiteUrl: Schema.optionalKey(Schema.String),
  icons: Schema.optionalKey(Schema.Array(Icon))
})

/**
 * Name and version of a client or a server.
 *
 * @category models
 * @since 0.1.0
 */
export type Implementation = typeof Implementation.Type

const Settings = Schema.optionalKey(AnyObject)
const SettingsById = Schema.optionalKey(mapOf(AnyObject))

/**
 * What a client can do for a server, declared on every request; the empty object is none (spec: basic, _meta).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ClientCapabilities = open({
  elicitation: Schema.optionalKey(open({ form: Settings, url: Settings })),
  /** @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional. */
  sampling: Schema.optionalKey(open({ context: Settings, tools: Settings })),
  /** @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional. */
  roots: Settings,
  experimental: SettingsById,
  extensions: SettingsById
})

/**
 * What a client can do for a server.
 *
 * @category models
 * @since 0.1.0
 */
export type ClientCapabilities = typeof ClientCapabilities.Type

/**
 * What a server offers.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ServerCapabilities = open({
  tools: Schema.optionalKey(open({ listChanged: Schema.optionalKey(Schema.Boolean) })),
  resources: Schema.optionalKey(open({
    listChanged: Schema.optionalKey(Schema.Boolean),
    subscribe: Schema.optionalKey(Schema.Boolean)
  })),
  prompts: Schema.optionalKey(open({ listChanged: Schema.optionalKey(Schema.Boolean) })),
  completions: Settings,
  /** @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional. */
  logging: Settings,
  experimental: SettingsById,
  extensions: SettingsById
})

/**
 * What a server offers.
 *
 * @category models
 * @since 0.1.0
 */
export type ServerCapabilities = typeof ServerCapabilities.Type

/**
 * What of `required` is not in `declared`, as the object that an error names it by; `undefined` when nothing is
 * missing. A required object is there when it is declared as an object; an elicitation declared empty is form mode
 * (spec: client/elicitation, Capabilities).
 *
 * @category comparisons
 * @since 0.1.0
 */
export const missing = (
  required: ClientCapabilities,
  declared: ClientCapabilities
): ClientCapabilities | undefined => {
  const elicitation = declared.elicitation
  const normalized = elicitation !== undefined && elicitation.form === undefined && elicitation.url === undefined
    ? { ...declared, elicitation: { ...elicitation, form: {} } }
    : declared
  const lacking = missingMembers(required, normalized)
  return Object.keys(lacking).length === 0 ? undefined : lacking
}

type Members = { readonly [key: string]: unknown }

const isMembers = (u: unknown): u is Members => typeof u === "object" && u !== null && !Array.isArray(u)

const missingMembers = (required: Members, declared: Members): Members =>
  Object.fromEntries(
    Object.entries(required).flatMap(([key, value]) => {
      const has = Object.hasOwn(declared, key) ? declared[key] : undefined
      if (!isMembers(value)) return has === undefined ? [[key, value]] : []
      if (!isMembers(has)) return [[key, value]]
      const inner = missingMembers(value, has)
      return Object.keys(inner).length > 0 ? [[key, inner]] : []
    })
  )
