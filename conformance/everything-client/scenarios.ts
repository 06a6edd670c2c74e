/**
 * What the client does in each scenario of the suite.
 */
import * as InputHandlers from "@fairlead/client/InputHandlers"
import * as McpClient from "@fairlead/client/McpClient"
import * as NodeHttpTransport from "@fairlead/node/NodeHttpTransport"
import type * as Json from "@fairlead/protocol/Json"
import * as Tool from "@fairlead/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

type Scenario = (client: McpClient.Client, context: Json.Object) => Effect.Effect<unknown, unknown>

const AddNumbers = Tool.make("add_numbers", { input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }) })

const listTools: Scenario = (client) => client.listTools

/** A tool that the server lists, and that its list must have. */
const listed = (client: McpClient.Client, name: string) =>
  Effect.flatMap(
    client.listTools,
    (tools) => Effect.fromNullishOr(tools.find((tool) => tool.name === name))
  )

const scenarios: Readonly<Record<string, Scenario>> = {
  "tools_call": (client) => Effect.andThen(client.listTools, client.call(AddNumbers, { a: 5, b: 3 })),
  "request-metadata": listTools,
  "json-schema-ref-no-deref": listTools,
  "json-schema-2020-12-preservation": (client) =>
    Effect.gen(function*() {
      const { inputSchema } = yield* listed(client, "json_schema_2020_12_tool")
      const echo = yield* listed(client, "json_schema_echo")
      return yield* client.callDiscovered(echo, { schema: inputSchema as Json.Object })
    }),
  "http-standard-headers": (client) =>
    Effect.gen(function*() {
      for (const tool of yield* client.listTools) yield* client.callDiscovered(tool, {})
      for (const { uri } of yield* client.listResources) yield* client.readResource(uri)
      for (const { name } of yield* client.listPrompts) yield* client.getPrompt(name)
    }),
  "http-custom-headers": (client, { toolCalls }) =>
    Effect.gen(function*() {
      for (const call of toolCalls as ReadonlyArray<{ readonly name: string; readonly arguments: Json.Object }>) {
        yield* client.callDiscovered(yield* listed(client, call.name), call.arguments)
      }
    }),
  // Those whose annotations are not valid are not in the list.
  "http-invalid-tool-headers": (client) =>
    Effect.flatMap(client.listTools, Effect.forEach((tool) => client.callDiscovered(tool, {}))),
  // All at once, so that a state that wandered from one call to another would show.
  "sep-2322-client-request-state": (client) =>
    Effect.flatMap(
      client.listTools,
      Effect.forEach((tool) => client.callDiscovered(tool, {}), { concurrency: "unbounded" })
    )
}

/** The exit code of a scenario; 1 for one that is not here. */
export const run = (name: string, url: string, context: Json.Object): Promise<number> =>
  McpClient.McpClient.pipe(
    Effect.flatMap((client) =>
      scenarios[name]?.(client, context) ?? Effect.fail(`There is no such scenario here: ${name}`)
    ),
    Effect.provide(
      McpClient.layer({
        info: { name: "everything-client", version: "1.0.0" },
        capabilities: { roots: {}, sampling: {} }
      }).pipe(
        Layer.provide(InputHandlers.form(() => Effect.succeed(InputHandlers.accept({ confirmed: true })))),
        Layer.provide(NodeHttpTransport.layer({ url }))
      )
    ),
    Effect.as(0),
    Effect.tapCause((cause) => Effect.logError("The scenario failed", cause)),
    Effect.catchCause(() => Effect.succeed(1)),
    Effect.runPromise
  )
