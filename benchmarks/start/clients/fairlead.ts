/**
 * A minimal client of Fairlead over fetch.
 */
import * as HttpTransport from "@fairlead/client/HttpTransport"
import * as McpClient from "@fairlead/client/McpClient"
import * as Tool from "@fairlead/protocol/Tool"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Text = Schema.Struct({ text: Schema.String })
const Echo = Tool.make("echo", { input: Text, output: Text })

export const echo = (url: string, text: string): Promise<string> =>
  Effect.gen(function*() {
    const client = yield* McpClient.McpClient
    return (yield* client.call(Echo, { text })).text
  }).pipe(
    Effect.provide(
      McpClient.layer().pipe(
        Layer.provide(HttpTransport.layer({ url })),
        Layer.provide(FetchHttpClient.layer)
      )
    ),
    Effect.runPromise
  )
