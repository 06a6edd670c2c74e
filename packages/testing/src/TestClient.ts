/**
 * A client of an endpoint in the same process, in one line, for tests of servers: calls take the way of the wire, and
 * every message of either end is checked against the published schema.
 *
 * @since 0.1.0
 */
import * as McpClient from "@fairlead/client/McpClient"
import * as McpClientError from "@fairlead/client/McpClientError"
import * as InProcess from "@fairlead/server/InProcess"
import type { McpEndpoint } from "@fairlead/server/McpEndpoint"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RecordingTransport from "./RecordingTransport.ts"
import * as Wire from "./Wire.ts"

/**
 * The options of {@link layer}: those of the in-process transport and those of the client.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options extends InProcess.Options {
  /** The options of the client. Default: none. */
  readonly client?: McpClient.Options | undefined
}

/**
 * A client of the endpoint. What the endpoint's layer gives beside the endpoint is there too, so that a test reaches the
 * services that the handlers use. A message that breaks the protocol makes its call die with `Wire.InvalidMessage`.
 *
 * **Example** (Testing a tool)
 *
 * ```ts
 * import { McpClient } from "@fairlead/client"
 * import { Tool } from "@fairlead/protocol"
 * import { McpEndpoint, McpServer } from "@fairlead/server"
 * import { TestClient } from "@fairlead/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Greet = Tool.make("greet", { input: Schema.Struct({ name: Schema.String }), output: Schema.String })
 *
 * const endpoint = McpServer.tool(Greet, ({ name }) => Effect.succeed(`Hello, ${name}!`)).pipe(
 *   McpEndpoint.serve({ name: "greeter", version: "1.0.0" })
 * )
 *
 * const program = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   console.log(yield* client.call(Greet, { name: "Ada" })) // Hello, Ada!
 * })
 *
 * await Effect.runPromise(program.pipe(Effect.provide(TestClient.layer(endpoint))))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <A, E, R>(
  endpoint: Layer.Layer<McpEndpoint | A, E, R>,
  options: Options = {}
): Layer.Layer<
  McpClient.McpClient | RecordingTransport.RecordingTransport | McpEndpoint | A,
  E | McpClientError.McpClientError,
  R
> =>
  McpClient.layer(options.client).pipe(
    Layer.provideMerge(RecordingTransport.layer(Wire.layer(transport(options)))),
    Layer.provideMerge(endpoint)
  )

/** A setting that cannot be used is the error of the client, as it is for the transports of its package. */
const transport = (options: InProcess.Options) =>
  Layer.catchTag(
    InProcess.layer(options),
    "InvalidConfig",
    (reason) => Layer.effectContext(Effect.fail(McpClientError.make(reason)))
  )
