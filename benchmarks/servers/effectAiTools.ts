/**
 * The tools of `effect/ai`'s server.
 */
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { filling } from "../Requests.ts"
import { extraNames } from "./settings.ts"

const Text = Schema.Struct({ text: Schema.String })

const echoTool = (name: string) =>
  Tool.make(name, { description: "Gives the text back.", parameters: Text, success: Text })

const named = Toolkit.make(
  Tool.make("echo", { description: "Gives the text back.", parameters: Text, success: Text }),
  Tool.make("measure", {
    description: "Gives the length of a text.",
    parameters: Text,
    success: Schema.Struct({ length: Schema.Finite })
  }),
  Tool.make("fill", {
    description: "Gives a text of a length.",
    parameters: Schema.Struct({ bytes: Schema.Finite }),
    success: Text
  }),
  Tool.make("progress", {
    description: "Reports progress.",
    parameters: Schema.Struct({ reports: Schema.Finite }),
    success: Schema.Struct({ reports: Schema.Finite }),
    dependencies: [McpSchema.McpRequestContext]
  })
)

const namedHandlers = named.toLayer(Effect.gen(function*() {
  const server = yield* McpServer.McpServer
  return {
    echo: ({ text }) => Effect.succeed({ text }),
    measure: ({ text }) => Effect.succeed({ length: text.length }),
    fill: ({ bytes }) => Effect.succeed({ text: filling(bytes) }),
    progress: ({ reports }) => {
      let i = 0
      return Effect.as(
        Effect.whileLoop({
          while: () => i < reports,
          body: () => server.notifications["notifications/progress"]({ progressToken: "token", progress: ++i }),
          step: () => {}
        }),
        { reports }
      ) as Effect.Effect<{ readonly reports: number }>
    }
  }
}))

const extra = Toolkit.make(...extraNames.map(echoTool))
const extraHandlers = extra.toLayer(
  Object.fromEntries(
    extraNames.map((name) => [name, ({ text }: { readonly text: string }) => Effect.succeed({ text })])
  )
)

export const registrations = Layer.mergeAll(
  McpServer.toolkit(named).pipe(Layer.provide(namedHandlers)),
  extraNames.length === 0 ? Layer.empty : McpServer.toolkit(extra).pipe(Layer.provide(extraHandlers))
)
