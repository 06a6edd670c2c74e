/** What the types of the client say; checked by the compiler alone. */
import type * as CallEnding from "@fairlead/client/CallEnding"
import * as HttpTransport from "@fairlead/client/HttpTransport"
import * as McpClient from "@fairlead/client/McpClient"
import type * as McpClientError from "@fairlead/client/McpClientError"
import * as StdioTransport from "@fairlead/client/StdioTransport"
import type * as Content from "@fairlead/protocol/Content"
import type * as Json from "@fairlead/protocol/Json"
import * as Tool from "@fairlead/protocol/Tool"
import type { Transport } from "@fairlead/protocol/Transport"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpClient } from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { expectTypeOf } from "vitest"
import { Greet, type IndexUnavailable, Search } from "./support/tools.ts"

declare const client: McpClient.Client

type Titles = { readonly titles: ReadonlyArray<string> }

// A typed call: output, every error it can end with, no services.
expectTypeOf(client.call(Search, { query: "a" })).toEqualTypeOf<
  Effect.Effect<
    Titles,
    | McpClientError.McpClientError
    | CallEnding.ToolFailed
    | CallEnding.InputRequired<CallEnding.Succeeded<Titles> | CallEnding.ToolFailed<IndexUnavailable>>
    | IndexUnavailable
  >
>()
expectTypeOf(client.callResult(Search, { query: "a", limit: 3 })).toEqualTypeOf<
  Effect.Effect<
    CallEnding.CallEnding<Titles, IndexUnavailable>,
    McpClientError.McpClientError
  >
>()

// The arguments are those of the tool.
// @ts-expect-error: there is no such argument
client.call(Search, { q: "a" })
// @ts-expect-error: a number is no text
client.call(Search, { query: 1 })
// @ts-expect-error: the query is missing
client.call(Search, {})

// @ts-expect-error: there is something to give
client.call(Search)

// What has nothing to give needs no arguments.
client.call(Tool.make("tide"))
client.callResult(Tool.make("tide"), {})

// A tool without output gives content, and has no failure of its own.
expectTypeOf(client.call(Greet, { name: "Ada" })).toEqualTypeOf<
  Effect.Effect<
    ReadonlyArray<Content.Block>,
    | McpClientError.McpClientError
    | CallEnding.ToolFailed
    | CallEnding.InputRequired<CallEnding.Succeeded<ReadonlyArray<Content.Block>> | CallEnding.ToolFailed<never>>
  >
>()

// A tool whose arguments nobody declared takes none.
client.call(Tool.make("none"), {})

// The services of the schemas are required: encoding the input, decoding the output and the failure; nothing else.
class In extends Context.Service<In, string>()("In") {}
class Out extends Context.Service<Out, string>()("Out") {}
class Bad extends Context.Service<Bad, string>()("Bad") {}
declare const input: Schema.Codec<{ readonly a: string }, { readonly a: string }, Bad, In>
declare const output: Schema.Codec<string, string, Out, Bad>
const Needy = Tool.make("needy", { input, output })
expectTypeOf(client.callResult(Needy, { a: "" })).toEqualTypeOf<
  Effect.Effect<
    CallEnding.CallEnding<string>,
    McpClientError.McpClientError,
    In | Out
  >
>()

// The failure of a tool is typed, in both forms.
export const handled = client.call(Search, { query: "a" }).pipe(
  Effect.catchTag("IndexUnavailable", (error) => Effect.succeed(error.retryAfterSeconds)),
  Effect.catchTag("ToolFailed", (error) => {
    expectTypeOf(error.structured).toEqualTypeOf<Option.Option<Json.Value>>()
    return Effect.succeed(error.text)
  }),
  Effect.catchTag("InputRequired", (error) => Effect.succeed(Object.keys(error.requests))),
  Effect.catchReason("McpClientError", "TimedOut", (reason) => Effect.succeed(reason.millis))
)

// The sets of kinds and reasons.
export const exhaustive = (error: McpClientError.McpClientError): string => {
  switch (error.kind) {
    case "Configuration":
    case "Unreachable":
    case "Timeout":
    case "Cancellation":
    case "Overloaded":
    case "Rejected":
    case "Protocol":
    case "InvalidInput":
    case "TooLarge":
      return error.code
    default:
      return error.kind satisfies never
  }
}

// Layers say what they need.
expectTypeOf(McpClient.layer()).toEqualTypeOf<
  Layer.Layer<McpClient.McpClient, McpClientError.McpClientError, Transport>
>()
expectTypeOf(McpClient.make()).toEqualTypeOf<
  Effect.Effect<McpClient.Client, McpClientError.McpClientError, Transport | Scope.Scope>
>()
class Docs extends Context.Service<Docs, McpClient.Client>()("Docs") {}
expectTypeOf(McpClient.layerFor(Docs)).toEqualTypeOf<
  Layer.Layer<Docs, McpClientError.McpClientError, Transport>
>()
class Wrong extends Context.Service<Wrong, number>()("Wrong") {}
// @ts-expect-error: the service of the tag is no client
McpClient.layerFor(Wrong)

expectTypeOf(HttpTransport.layer({ url: "https://example.com", headers: [["a", "b"]] })).toEqualTypeOf<
  Layer.Layer<Transport, McpClientError.McpClientError, HttpClient>
>()
declare const token: Effect.Effect<ReadonlyArray<readonly [string, string]>, Error, In>
expectTypeOf(HttpTransport.layer({ url: "https://example.com", headers: token })).toEqualTypeOf<
  Layer.Layer<Transport, McpClientError.McpClientError, HttpClient | In>
>()
expectTypeOf(StdioTransport.layer({ command: "docs" })).toEqualTypeOf<
  Layer.Layer<Transport, McpClientError.McpClientError, ChildProcessSpawner>
>()
// @ts-expect-error: the timeout belongs to the client
HttpTransport.layer({ url: "https://example.com", timeout: "1 second" })
// @ts-expect-error: there is no shell
StdioTransport.layer({ command: "docs", shell: true })

// A handle takes durations.
expectTypeOf(client.with({ deadline: "2 seconds", timeout: 500, meta: { a: 1 } })).toEqualTypeOf<McpClient.Client>()
// @ts-expect-error: no duration
client.with({ deadline: "soon" })
