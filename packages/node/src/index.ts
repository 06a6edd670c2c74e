/**
 * The HTTP transport for Node, on undici's dispatcher: it behaves as `HttpTransport` does, at a fraction of the cost, and
 * has what only Node can give: a pool of connections of its own, a private certificate authority, a bound on connecting,
 * a say in the addresses that are dialled (spec: basic/transports/streamable-http).
 *
 * @since 0.1.0
 */
export * as NodeHttpTransport from "./NodeHttpTransport.ts"

/**
 * Serves an endpoint on Node: over HTTP with a listener of its own, or over stdio.
 *
 * @since 0.1.0
 */
export * as NodeMcpEndpoint from "./NodeMcpEndpoint.ts"
