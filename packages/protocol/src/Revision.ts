/**
 * The revision of the protocol that both ends speak, as data: methods, notifications, `_meta` keys, error codes and
 * their HTTP status. It is open at the points where an extension adds to it.
 *
 * Not included: the shapes of messages (`Messages`) and the HTTP headers (`HttpRules`).
 *
 * @since 0.1.0
 */
import { codes as jsonRpcCodes } from "./JsonRpc.ts"
import { definition as newest } from "./revision/current.ts"
import type { Extension, Revision } from "./revision/Definition.ts"

export type {
  /**
   * What an extension adds to a revision.
   *
   * @category models
   * @since 0.1.0
   */
  Extension,
  /**
   * A request method.
   *
   * @category models
   * @since 0.1.0
   */
  Method,
  /**
   * A notification.
   *
   * @category models
   * @since 0.1.0
   */
  Notification,
  /**
   * A revision of the protocol.
   *
   * @category models
   * @since 0.1.0
   */
  Revision
} from "./revision/Definition.ts"

/**
 * The newest revision: the one that is spoken.
 *
 * @category revisions
 * @since 0.1.0
 */
export const latest: Revision = newest.definition

/**
 * The names of the request methods.
 *
 * @category constants
 * @since 0.1.0
 */
export const method = newest.method

/**
 * The names of what a server can ask for in the middle of a request (spec: basic/patterns/mrtr).
 *
 * @category constants
 * @since 0.1.0
 */
export const inputMethod = newest.inputMethod

/**
 * The names of the notifications.
 *
 * @category constants
 * @since 0.1.0
 */
export const notification = newest.notification

/**
 * The keys of `_meta` that the revision defines (spec: basic, _meta).
 *
 * @category constants
 * @since 0.1.0
 */
export const meta = newest.meta

/**
 * The values of `resultType` without extensions (spec: basic, resultType).
 *
 * @category constants
 * @since 0.1.0
 */
export const resultType = newest.resultType

/**
 * All error codes: those of JSON-RPC and those of the revision (spec: basic, Error Codes).
 *
 * @category constants
 * @since 0.1.0
 */
export const codes = { ...jsonRpcCodes, ...newest.codes } as const

/**
 * The HTTP status that an error is answered with while the status is still open. The spec fixes it for -32601 (404),
 * -32020, -32021 and -32022 (400); a text that is no message is 400 too. All others are 200: the request was served.
 *
 * @category errors
 * @since 0.1.0
 */
export const httpStatusOf = (code: number): number => newest.httpStatus.get(code) ?? 200

/**
 * A revision with what an extension adds. What the revision defines itself stays as it is: an extension that defines
 * the same method, notification or key again changes nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const extend = (self: Revision, extension: Extension): Revision => ({
  version: self.version,
  methods: new Map([...(extension.methods ?? []), ...self.methods]),
  notifications: new Map([...(extension.notifications ?? []), ...self.notifications]),
  resultTypes: new Set([...self.resultTypes, ...(extension.resultTypes ?? [])]),
  listenFilters: new Set([...self.listenFilters, ...(extension.listenFilters ?? [])]),
  metaKeys: new Set([...self.metaKeys, ...(extension.metaKeys ?? [])])
})

const label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
const metaKeyPattern = new RegExp(`^(?:${label}(?:\\.${label})*/)?(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)

/**
 * Whether a key of `_meta` has the form that the spec gives it: an optional prefix of dot-separated labels and a slash,
 * then a name (spec: basic, _meta).
 *
 * @category guards
 * @since 0.1.0
 */
export const isMetaKey = (key: string): boolean => key !== "" && metaKeyPattern.test(key)

/**
 * Whether a key of `_meta` is reserved: its prefix has `modelcontextprotocol` or `mcp` as second label, or it is one of
 * the keys without a prefix that the spec defines (spec: basic, _meta).
 *
 * @category guards
 * @since 0.1.0
 */
export const isReservedMetaKey = (key: string): boolean => {
  if (latest.metaKeys.has(key)) return true
  const slash = key.indexOf("/")
  const second = slash === -1 ? undefined : key.slice(0, slash).split(".")[1]
  return second === "modelcontextprotocol" || second === "mcp"
}

/**
 * Whether an extension identifier has the form that the spec gives it: like a key of `_meta`, with a prefix (spec:
 * basic/versioning, Extension Negotiation).
 *
 * @category guards
 * @since 0.1.0
 */
export const isExtensionId = (id: string): boolean => id.includes("/") && !id.endsWith("/") && isMetaKey(id)
