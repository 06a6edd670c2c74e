/** What `officialServer.ts` has beyond calls of tools, on a server of ours. */
import { Content } from "@fairlead/protocol"
import { Input, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import { Deferred, Effect, Layer, Schema } from "effect"
import * as Official from "./officialServer.ts"

const starting = (names: ReadonlyArray<string>) => (value: string) =>
  Effect.succeed(names.filter((name) => name.startsWith(value)))

const registrations = (endpoint: Deferred.Deferred<McpEndpoint.McpEndpoint["Service"]>) =>
  Layer.mergeAll(
    McpServer.tool(Official.Ask, () =>
      Input.form("name", { message: "Who are you?", schema: Schema.Struct({ name: Schema.String }) }).pipe(
        Effect.orDie,
        Effect.map(({ name }) => [Content.text(`Hello, ${name}!`)])
      )),
    McpServer.tool(Official.Touch, () =>
      Deferred.await(endpoint).pipe(
        Effect.flatMap((endpoint) =>
          endpoint.resourceUpdated(Official.Guide.uri)
        ),
        Effect.as([Content.text("touched")])
      )),
    McpServer.tool(Official.Tell, () => Effect.as(Invocation.log("warning", "careful"), [Content.text("told")])),
    McpServer.resource(Official.Guide, () => Effect.succeed("the guide")),
    McpServer.resourceTemplate(Official.Page, ({ name }) => Effect.succeed(`page ${name}`), {
      complete: { name: starting(["layers", "layout", "streams"]) }
    }),
    McpServer.prompt(Official.Review, ({ code }) => Effect.succeed(`Review ${code}`), {
      complete: { code: starting(["client", "server"]) }
    })
  )

/** The endpoint; the tool that tells of a change needs the endpoint that serves it. */
export const layerOurs = Layer.unwrap(Effect.map(
  Deferred.make<McpEndpoint.McpEndpoint["Service"]>(),
  (endpoint) =>
    Layer.effectDiscard(Effect.flatMap(McpEndpoint.McpEndpoint, (made) => Deferred.succeed(endpoint, made))).pipe(
      Layer.provideMerge(McpEndpoint.serve({ name: "ours", version: "1.0.0", logging: true })(registrations(endpoint)))
    )
))
