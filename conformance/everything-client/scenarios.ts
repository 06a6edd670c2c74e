/**
 * What the client does in each scenario of the suite.
 */
import * as McpClient from "@fairlead/client/McpClient"
import * as NodeHttpTransport from "@fairlead/node/NodeHttpTransport"
import * as HttpRules from "@fairlead/protocol/HttpRules"
import type * as Json from "@fairlead/protocol/Json"
import * as Tool from "@fairlead/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

type Scenario = (client: McpClient.Client, context: Json.Object) => Effect.Effect<unknown, unknown>

const AddNumbers = Tool.make("add_numbers", { input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }) })

const listTools: Scenario = (client) => client.listTools

/** A tool as a server lists it, to be called with JSON: its headers are what its schema asks for. */
const listed = (tool: McpClient.ListedTool) => ({
  ...Tool.make(tool.name, { input: Schema.Record(Schema.String, Schema.Unknown) }),
  headers: Result.getOrThrow(HttpRules.plan(tool.inputSchema as Json.Object))
})

const callTool = (client: McpClient.Client, name: string, args: Json.Object) =>
  Effect.gen(function*() {
    const tool = (yield* client.listTools).find((tool) => tool.name === name)
    return tool === undefined ? yield* Effect.fail(`There is no tool ${name}`) : yield* client.call(listed(tool), args)
  })

const scenarios: Readonly<Record<string, Scenario>> = {
  "tools_call": (client) => Effect.andThen(client.listTools, client.call(AddNumbers, { a: 5, b: 3 })),
  "request-metadata": listTools,
  "json-schema-ref-no-deref": listTools,
  "json-schema-2020-12-preservation": (client) =>
    Effect.gen(function*() {
      const tools = yield* client.listTools
      const schema = tools.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema as Json.Object
      return yield* callTool(client, "json_schema_echo", { schema })
    }),
  "http-custom-headers": (client, { toolCalls }) =>
    Effect.gen(function*() {
      for (const call of toolCalls as ReadonlyArray<{ readonly name: string; readonly arguments: Json.Object }>) {
        yield* callTool(client, call.name, call.arguments)
      }
    }),
  "http-invalid-tool-headers": (client) =>
    Effect.flatMap(
      client.listTools,
      (tools) => Effect.forEach(tools, (tool) => Effect.exit(client.call(listed(tool), {})))
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
        capabilities: { elicitation: {}, roots: {}, sampling: {} }
      }).pipe(Layer.provide(NodeHttpTransport.layer({ url })))
    ),
    Effect.as(0),
    Effect.tapCause((cause) => Effect.logError("The scenario failed", cause)),
    Effect.catchCause(() => Effect.succeed(1)),
    Effect.runPromise
  )
