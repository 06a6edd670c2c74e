/**
 * A minimal client of `effect/ai` over fetch.
 */
import * as McpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

export const echo = (url: string, text: string): Promise<string> =>
  Effect.gen(function*() {
    const client = yield* McpClient.McpClient
    const tool = (yield* client.listTools()).find(({ name }) => name === "echo")!
    const schema = Schema.Struct({ text: Schema.String })
    return (yield* client.callTool({ tool, schema, arguments: { text } })).text
  }).pipe(
    Effect.provide(
      McpClient.layerHttp({ name: "bench", version: "1.0.0", url, protocol: McpProtocol.v2026_07_28 }).pipe(
        Layer.provide(FetchHttpClient.layer)
      )
    ),
    Effect.runPromise
  )
