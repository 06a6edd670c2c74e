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
 * Does the work of requests with an idempotency key once: the same caller, tool, key and arguments get the recorded
 * result, a call that comes while the first still runs waits for it, and the same key with other arguments is refused.
 *
 * @since 0.1.0
 */
export * as Idempotency from "./Idempotency.ts"

/**
 * A transport to an endpoint in the same process: the same messages as on a wire, encoded and decoded, without a socket
 * or a child. For tests, and for programs made of several servers.
 *
 * @since 0.1.0
 */
export * as InProcess from "./InProcess.ts"

/**
 * Asks the client for input in the middle of a request, in straight-line code: a form, a visit to a URL, a sample of a
 * language model, the roots of the file system. For tools, prompts and reads of resources.
 *
 * @since 0.1.0
 */
export * as Input from "./Input.ts"

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
 * What a server offers, registered by layers: `McpServer.tool(Search, handler)`, `McpServer.resource(...)`,
 * `McpServer.prompt(...)`. Layers are merged and handed to `McpEndpoint.serve`, so that a port opens when every
 * registration is in place. The same registrations can come and go while the server runs, by layers of their own or by
 * the `McpServer` service; listeners hear of it.
 *
 * @since 0.1.0
 */
export * as McpServer from "./McpServer.ts"

/**
 * Effects around requests: they see what is asked, can refuse it, answer in its place, time it and look at what came of
 * it. An endpoint runs the list of its `middleware` option in order, the first one outermost, after the checks of the
 * request and inside its deadline. Around a listen `next` lasts as long as the stream; interrupting it ends the stream
 * with its result.
 *
 * @since 0.1.0
 */
export * as Middleware from "./Middleware.ts"

/**
 * Changes that listeners hear of, between the processes that serve the same things. Without this service an endpoint
 * tells its own listeners; with a layer of it, every process that has one tells its listeners what any of them publishes.
 *
 * @since 0.1.0
 */
export * as Notifications from "./Notifications.ts"

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
export * as WebHandler from "./WebHandler.ts"
