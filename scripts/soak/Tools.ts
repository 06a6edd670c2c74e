/**
 * The tools that the soak calls: one for each way in which a request can live and end.
 */
import { Content, Resource, Tool } from "@fairlead/protocol"
import { Input, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** The limits of the servers: low, so that the soak reaches them. */
export const limits = {
  maxBodyBytes: 8192,
  maxResponseBytes: 16_384,
  maxJsonDepth: 64,
  requestTimeout: 2000,
  cancellationGrace: 50,
  writeTimeout: 500,
  maxConcurrentRequests: 100,
  maxArrivingRequests: 100,
  listen: { maxListeners: 16, keepAlive: 100 }
} as const

export const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }), output: Schema.String })
/** Reports as often as it is told, then answers. */
export const Count = Tool.make("count", { input: Schema.Struct({ to: Schema.Int }), output: Schema.Int })
export const Refuse = Tool.make("refuse")
export const Die = Tool.make("die")
/** Answers with more than may be answered. */
export const Large = Tool.make("large")
/** Runs until it is interrupted. It reports once, so that its client sees it run. */
export const Hang = Tool.make("hang")
/** Goes on beyond its grace, whoever wants it to end. */
export const Stubborn = Tool.make("stubborn")
/** Asks for a name. */
export const Ask = Tool.make("ask", { output: Schema.String })
/** Changes the list of tools and the manual. */
export const Change = Tool.make("change")
/** A handler with resources of its own: a fiber, a timer and a finalizer. */
export const Scoped = Tool.make("scoped")

export const manual = "docs://manual"

const report = Invocation.progress({ progress: 1 })
const text = (value: string) => [Content.text(value)]

const extra = McpServer.toolHandler(Tool.make("extra"), () => Effect.succeed([]))

// A tool that needs the endpoint it is served by gets it when that is there.
let endpoint: McpEndpoint.McpEndpoint["Service"] | undefined

const tools = Layer.mergeAll(
  McpServer.tool(Echo, ({ text }) => Effect.succeed(text)),
  McpServer.tool(Count, ({ to }) =>
    Effect.gen(function*() {
      for (let progress = 1; progress <= to; progress++) {
        yield* Invocation.progress({ progress, message: "x".repeat(100) })
        if (progress % 16 === 0) yield* Effect.sleep(1)
      }
      return to
    })),
  McpServer.tool(Refuse, () => Effect.fail(Tool.error("no"))),
  McpServer.tool(Die, () => Effect.die(new Error("died"))),
  McpServer.tool(Large, () => Effect.succeed(text("x".repeat(limits.maxResponseBytes)))),
  McpServer.tool(Hang, () => Effect.andThen(report, Effect.never)),
  McpServer.tool(
    Stubborn,
    () => Effect.as(Effect.uninterruptible(Effect.andThen(report, Effect.sleep(2 * limits.cancellationGrace))), [])
  ),
  McpServer.tool(
    Ask,
    () =>
      Effect.orDie(Input.form("name", { message: "Who?", schema: Schema.Struct({ name: Schema.String }) })).pipe(
        Effect.map(({ name }) => name)
      )
  ),
  McpServer.tool(Change, () =>
    Effect.gen(function*() {
      const server = yield* McpServer.McpServer
      if (!(yield* server.unregister("tool", "extra"))) yield* Effect.ignore(server.register(extra))
      yield* endpoint!.resourceUpdated(manual)
      return []
    })),
  McpServer.tool(Scoped, () =>
    Effect.gen(function*() {
      yield* Effect.forkScoped(Effect.never)
      yield* Effect.forkScoped(Effect.sleep("1 minute"))
      yield* Effect.addFinalizer(() => Effect.yieldNow)
      yield* Effect.sleep(1)
      return []
    })),
  McpServer.resource(Resource.make(manual, { name: "manual" }), () => Effect.succeed("Read."))
)

/** The endpoint that is soaked. */
export const served = Layer.effectDiscard(Effect.map(McpEndpoint.McpEndpoint, (it) => {
  endpoint = it
})).pipe(
  Layer.provideMerge(tools.pipe(McpEndpoint.serve({ name: "soak", version: "1.0.0", ...limits })))
)
