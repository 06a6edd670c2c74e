/**
 * What a revision of the Model Context Protocol consists of, as data. Each revision has a folder of its own beside this
 * file; nothing outside those folders names one.
 *
 * @since 0.1.0
 */

/**
 * A request method.
 *
 * @category models
 * @since 0.1.0
 */
export interface Method {
  /** The parameter that the routing header repeats, where the method has one. */
  readonly routingName?: string | undefined
  /** Whether its complete results carry `ttlMs` and `cacheScope`. */
  readonly cacheable?: boolean | undefined
  /** The member of the result that holds the items, where the method is paginated. */
  readonly items?: string | undefined
  /** Whether the server may answer it by asking for input. */
  readonly asksForInput?: boolean | undefined
  /** The server capability that must be declared for the method to exist. */
  readonly capability?: string | undefined
  /** Whether it is answered by a stream of notifications that stays open. */
  readonly streams?: boolean | undefined
}

/**
 * A notification.
 *
 * @category models
 * @since 0.1.0
 */
export interface Notification {
  /** Who may send it. */
  readonly from: "client" | "server" | "both"
  /** The member of the listen filter that asks for it, where it travels on listen streams. */
  readonly filter?: string | undefined
}

/**
 * A revision of the protocol.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision {
  /** The version string, as it stands in headers and metadata. */
  readonly version: string
  readonly methods: ReadonlyMap<string, Method>
  readonly notifications: ReadonlyMap<string, Notification>
  /** The values of `resultType` that are understood. */
  readonly resultTypes: ReadonlySet<string>
  /** The keys of the listen filter. */
  readonly listenFilters: ReadonlySet<string>
  /** The keys of `_meta` that the revision defines. */
  readonly metaKeys: ReadonlySet<string>
}

/**
 * What an extension adds to a revision, at the points that the revision leaves open (spec: basic/versioning, Extension
 * Negotiation). Its `_meta` keys and names stand under its own prefix.
 *
 * @category models
 * @since 0.1.0
 */
export interface Extension {
  /** The identifier, such as `com.example/feature`; the prefix is mandatory. */
  readonly id: string
  /** What is advertised under the identifier. Default: the empty object. */
  readonly settings?: { readonly [key: string]: unknown } | undefined
  readonly methods?: ReadonlyMap<string, Method> | undefined
  readonly notifications?: ReadonlyMap<string, Notification> | undefined
  readonly resultTypes?: ReadonlySet<string> | undefined
  readonly listenFilters?: ReadonlySet<string> | undefined
  readonly metaKeys?: ReadonlySet<string> | undefined
}
