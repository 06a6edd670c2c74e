/**
 * The server that the contract suite calls. A transport under test is connected to an endpoint of this layer; its tools
 * answer, hold, fail and die on demand, and tell what the server has seen of a call.
 *
 * @since 0.1.0
 */
export * as ContractServer from "./ContractServer.ts"

/**
 * A peer that breaks the protocol on demand: the name of the tool that is called says how. It is one function from a
 * request to what is written, so it can stand behind any transport: `fetch` serves it to HTTP, `lines` to byte streams.
 *
 * @since 0.1.0
 */
export * as RawPeer from "./RawPeer.ts"

/**
 * A transport that keeps what passes through it, for tests that look at the wire: each request as the text that was
 * sent, each notification, answer and failure.
 *
 * @since 0.1.0
 */
export * as RecordingTransport from "./RecordingTransport.ts"

/**
 * A client of an endpoint in the same process, in one line, for tests of servers: calls take the way of the wire, and
 * every message of either end is checked against the published schema.
 *
 * @since 0.1.0
 */
export * as TestClient from "./TestClient.ts"

/**
 * Builds the requests that a client of the protocol would send over HTTP, for tests of servers that want to change one
 * thing about them: metadata, both media types and the routing headers are there unless overridden.
 *
 * @since 0.1.0
 */
export * as TestRequest from "./TestRequest.ts"

/**
 * What every transport must do, as a suite of tests: order, concurrency, evidence, deadlines, cancellation, limits,
 * malformed answers, progress, close and leaks. It is a function of a transport, and registers its tests with whatever
 * runner you give it: `@effect/vitest`, `vitest` and `node:test` all fit.
 *
 * @since 0.1.0
 */
export * as TransportContract from "./TransportContract.ts"

/**
 * Checks messages against the published schema of the protocol, so that a test sees what a tolerant peer would let
 * pass. `check` takes one message; `layer` puts the check round a transport, where it costs a test one line.
 *
 * @since 0.1.0
 */
export * as Wire from "./Wire.ts"
