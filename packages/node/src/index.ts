/**
 * Serves an endpoint on Node: over HTTP with a listener of its own, or over stdio.
 *
 * @since 0.1.0
 */
export * as NodeMcpEndpoint from "./NodeMcpEndpoint.ts"
