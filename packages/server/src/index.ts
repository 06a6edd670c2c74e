/**
 * Between an endpoint and what brings its requests in. A front knows sockets or pipes and nothing of the protocol; the
 * endpoint knows the protocol and no socket. Both push: bytes in, calls on a responder out.
 *
 * @since 0.1.0
 */
export * as Front from "./Front.ts"

/**
 * The endpoint as an Effect HTTP app: mount it in an `HttpRouter` beside your other routes, at any path. It reads bodies
 * itself, within the endpoint's limit, and hears of clients that go away.
 *
 * @since 0.1.0
 */
export * as HttpApp from "./HttpApp.ts"

/**
 * A transport to an endpoint in the same process: the same messages as on a wire, encoded and decoded, without a socket
 * or a child. For tests, and for programs made of several servers.
 *
 * @since 0.1.0
 */
export * as InProcess from "./InProcess.ts"

/**
 * What a handler knows of the request it serves, and what it can tell the client while it runs.
 *
 * @since 0.1.0
 */
export * as Invocation from "./Invocation.ts"

/**
 * Serves what is registered. `serve` makes the endpoint: it has no socket of its own; the fronts around it bring the
 * requests in: `HttpApp` (an Effect HTTP app), `WebHandler` (`Request` to `Response`), `InProcess`, and in
 * `@fairlead/node` the HTTP listener and stdio.
 *
 * @since 0.1.0
 */
export * as McpEndpoint from "./McpEndpoint.ts"

/**
 * What a server offers, registered by layers: `McpServer.tool(Search, handler)`. Layers are merged and handed to
 * `McpEndpoint.serve`, so that a port opens when every registration is in place.
 *
 * @since 0.1.0
 */
export * as McpServer from "./McpServer.ts"

/**
 * What an endpoint's context function works with: what is known of a request before it is dispatched, and the error that
 * turns it away.
 *
 * @since 0.1.0
 */
export * as RequestContext from "./RequestContext.ts"

/**
 * The endpoint as a function from `Request` to `Response`, streaming included, for every runtime that serves fetch.
 *
 * @since 0.1.0
 */
export * as Idempotency from "./Idempotency.ts"
export * as Input from "./Input.ts"
export * as Middleware from "./Middleware.ts"
export * as Notifications from "./Notifications.ts"
export * as WebHandler from "./WebHandler.ts"
