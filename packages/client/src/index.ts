/**
 * The three endings of a tool call that the server answered: it succeeded, the tool failed, or the server needs input
 * first. `McpClient.callResult` gives them as values; `McpClient.call` fails with the last two.
 *
 * @since 0.1.0
 */
export * as CallEnding from "./CallEnding.ts"

/**
 * The output of a call or one error: for callers that need the output and want to know, where there is none, whether the
 * call failed, the tool refused, or input is needed. None of it decides to try again.
 *
 * @since 0.1.0
 */
export * as CallOutput from "./CallOutput.ts"

/**
 * A call that waits for input, as data: what it was, what was asked, and the server's state. It holds no client and no
 * connection, so it can be stored and continued in another process, by `McpClient.resume`.
 *
 * @since 0.1.0
 */
export * as Continuation from "./Continuation.ts"

/**
 * What every HTTP transport of the client shares, whatever moves its bytes: the settings that they have in common, the
 * headers of a request, and how an answer is read. It knows no socket: bytes are pushed in, and the end of the call comes
 * out as soon as it is there (spec: basic/transports/streamable-http). `HttpTransport` and `NodeHttpTransport` are made
 * of it; it is for those who write a transport of their own.
 *
 * @since 0.1.0
 */
export * as HttpExchange from "./HttpExchange.ts"

/**
 * The portable HTTP transport: one POST a request, answered by JSON or by an event stream, on whatever `HttpClient` of
 * effect/http the program has (spec: basic/transports/streamable-http).
 *
 * @since 0.1.0
 */
export * as HttpTransport from "./HttpTransport.ts"

/**
 * What answers when a server asks for input in the middle of a call: one handler for forms, one for visits to a URL, one
 * for samples of a language model, one for the roots. Each is a layer beside the client's; a client that is made with
 * some declares their capabilities and answers by itself, round after round (spec: basic/patterns/mrtr).
 *
 * @since 0.1.0
 */
export * as InputHandlers from "./InputHandlers.ts"

/**
 * The client: typed calls of a server's tools, prompts and resources, under deadlines, cancellation and correlation that
 * follow the fiber. It sends through a `Transport`, which the layers of `HttpTransport` and `StdioTransport` give.
 *
 * @since 0.1.0
 */
export * as McpClient from "./McpClient.ts"

/**
 * The one error of the client. Its `reason` says what happened, its `kind` what sort of trouble that is, and its
 * `evidence` whether the server may have acted on the request.
 *
 * @since 0.1.0
 */
export * as McpClientError from "./McpClientError.ts"

/**
 * The stdio transport: the server is a child process, requests go to its standard input and answers come from its
 * standard output, any number at once (spec: basic/transports/stdio). It runs on the `ChildProcessSpawner` of
 * effect/process.
 *
 * @since 0.1.0
 */
export * as StdioTransport from "./StdioTransport.ts"

/**
 * What `McpClient.listen` opens: a stream of what changes at a server (spec: basic/patterns/subscriptions). The same
 * change waits once, however often it came; when more different ones wait than the buffer holds, they become one
 * {@link Missed}.
 *
 * @since 0.1.0
 */
export * as Subscription from "./Subscription.ts"
