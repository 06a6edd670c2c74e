/**
 * A server under soak, as a process: `server.ts <front>`. It tells its figures over the channel to its parent.
 */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { NodeMcpEndpoint } from "@fairlead/node"
import { HttpApp, McpEndpoint } from "@fairlead/server"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Http from "node:http"
import { counted, figures } from "./Figures.ts"
import { served } from "./Tools.ts"

export type Front = "listener" | "router" | "stdio"

/** What a server says to its parent. */
export type Message = { readonly op: "ready"; readonly port: number } | {
  readonly op: "figures"
  readonly figures: Awaited<ReturnType<typeof figures>>
}

const tell = (message: Message) => void process.send?.(message)

const ready = (port: number) =>
  Effect.sync(() => {
    process.on("message", () => {
      void figures().then((all) => tell({ op: "figures", figures: all }))
    })
    process.on("disconnect", () => process.exit(1))
    // It must not keep the process alive.
    process.channel?.unref()
    tell({ op: "ready", port })
  })

const listener = Effect.scoped(
  Effect.flatMap(
    Layer.build(NodeMcpEndpoint.layerHttp()),
    (services) =>
      Effect.flatMap(NodeMcpEndpoint.HttpListener, ({ died, port }) => Effect.andThen(ready(port), died)).pipe(
        Effect.provideContext(services)
      )
  )
).pipe(Effect.provide(served))

const router = Layer.launch(
  Layer.effectDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) => ready("port" in address ? address.port : 0))
  ).pipe(
    Layer.provideMerge(
      McpEndpoint.drainFirst(HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true }))
    ),
    Layer.provide(served),
    Layer.provide(NodeHttpServer.layer(Http.createServer, { port: 0, host: "127.0.0.1" }))
  )
)

const stdio = NodeMcpEndpoint.launchStdio(Layer.provideMerge(Layer.effectDiscard(ready(0)), served))

const programs: Record<Front, Effect.Effect<unknown, unknown>> = { listener, router, stdio }

// What handlers die of is no news here.
const quiet = Logger.layer([])

NodeRuntime.runMain(counted(Effect.provide(programs[process.argv[2] as Front], quiet)))
