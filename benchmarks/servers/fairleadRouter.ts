/**
 * Fairlead mounted in an `HttpRouter` of Effect's HTTP server.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { HttpApp } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServer } from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Http from "node:http"
import { serve } from "../harness/agent.ts"
import { endpoint } from "./fairleadTools.ts"

const program = Layer.effectDiscard(
  Effect.map(HttpServer, ({ address }) => serve({ port: "port" in address ? address.port : 0 }))
).pipe(
  Layer.provide(HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true })),
  Layer.provide(endpoint),
  Layer.provide(NodeHttpServer.layer(() => Http.createServer(), { port: 0, host: "127.0.0.1" }))
)

Effect.runFork(Layer.launch(program))
