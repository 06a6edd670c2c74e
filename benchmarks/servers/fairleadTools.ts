/**
 * Fairlead's endpoint with the tools that every server of the benchmark has.
 */
import { Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { filling, identity } from "../Requests.ts"
import { Echo, echoTool, Text } from "./fairleadEcho.ts"
import { extraNames, limit } from "./settings.ts"

const Measure = Tool.make("measure", {
  description: "Gives the length of a text.",
  input: Text,
  output: Schema.Struct({ length: Schema.Finite })
})

const Fill = Tool.make("fill", {
  description: "Gives a text of a length.",
  input: Schema.Struct({ bytes: Schema.Finite }),
  output: Text
})

const Progress = Tool.make("progress", {
  description: "Reports progress.",
  input: Schema.Struct({ reports: Schema.Finite }),
  output: Schema.Struct({ reports: Schema.Finite })
})

/** What every server has. */
export const tools = Layer.mergeAll(
  McpServer.tool(Echo, ({ text }) => Effect.succeed({ text })),
  McpServer.tool(Measure, ({ text }) => Effect.succeed({ length: text.length })),
  McpServer.tool(Fill, ({ bytes }) => Effect.succeed({ text: filling(bytes) })),
  McpServer.tool(Progress, ({ reports }) => {
    let i = 0
    return Effect.as(
      Effect.whileLoop({
        while: () => i < reports,
        body: () => Invocation.progress({ progress: ++i }),
        step: () => {}
      }),
      { reports }
    )
  }),
  McpServer.handlers(
    extraNames.map((name) => McpServer.toolHandler(echoTool(name), ({ text }) => Effect.succeed({ text })))
  )
)

export const endpoint = tools.pipe(McpEndpoint.serve({
  ...identity,
  maxBodyBytes: limit,
  maxResponseBytes: limit,
  // The rows of listeners have more of them than servers have by default.
  listen: { maxListeners: 1024 }
}))
