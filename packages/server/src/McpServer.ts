/**
 * What a server offers, registered by layers: `McpServer.tool(Search, handler)`. Layers are merged and handed to
 * `McpEndpoint.serve`, so that a port opens when every registration is in place.
 *
 * Not included: how it is reached (`McpEndpoint` and the fronts around it).
 *
 * @since 0.1.0
 */
import type * as Tool from "@fairlead/protocol/Tool"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Invocation } from "./Invocation.ts"

/**
 * A name that is taken already; the one who has it keeps it.
 *
 * @category errors
 * @since 0.1.0
 */
export class DuplicateName extends Data.TaggedError("DuplicateName")<{
  readonly kind: "tool"
  readonly name: string
}> {
  override get message(): string {
    return `There is a ${this.kind} named ${JSON.stringify(this.name)} already`
  }
}

/**
 * The catalog of a server: what is registered now, and ways to change it while it serves.
 *
 * @category services
 * @since 0.1.0
 */
export class McpServer extends Context.Service<McpServer, {
  /** Registers a handler until it is unregistered. Fails with `DuplicateName` when the name is taken. */
  readonly register: <R>(handler: Handler<R>) => Effect.Effect<void, DuplicateName, Exclude<R, Provided>>
  /** Removes a tool; says whether there was one. Calls under way go on. */
  readonly unregister: (name: string) => Effect.Effect<boolean>
  /** The names of the registered tools, in order. */
  readonly toolNames: Effect.Effect<ReadonlyArray<string>>
}>()("@fairlead/server/McpServer") {}

/**
 * What every handler has without asking for it: the request it serves, and a scope that closes with the request.
 *
 * @category models
 * @since 0.1.0
 */
export type Provided = Invocation | Scope.Scope

/**
 * A tool with its handler.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handler<out R> {
  readonly tool: Tool.Any
  /** Takes the decoded input; the types are those of the tool. */
  readonly handle: (input: never) => Effect.Effect<unknown, unknown, R>
}

/**
 * The services that a handler needs.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Services<H extends Handler<unknown>> = H extends Handler<infer R> ? R : never

/**
 * Pairs a tool with its handler, for {@link tools} and `McpServer.register`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const handler = <T extends Tool.Any, R = never>(
  tool: T,
  handle: (input: Tool.Input<T>) => Effect.Effect<Tool.Answer<T>, Tool.Failure<T> | Tool.ToolError, R>
): Handler<R | Tool.ServerServices<T>> => ({ tool, handle })

/**
 * Registers the handler of a tool for as long as the layer lives. A taken name dies with `DuplicateName`.
 *
 * The handler gets the decoded input and answers with the output, or with `Tool.reply` when it has content or metadata
 * of its own. It may fail with the tool's failure, or with `Tool.error` for one sentence. Its requirements come from the
 * layers around it or, for what differs from request to request, from the endpoint's context function; per-request
 * services win. It runs in a fiber of its own, which is interrupted when the client goes away or the deadline passes: use
 * `Effect.ensuring` for what has to happen then (a generator's `finally` does not run on interruption).
 *
 * **Example** (A tool and its handler)
 *
 * ```ts
 * import { Tool } from "@fairlead/protocol"
 * import { McpServer } from "@fairlead/server"
 * import { Effect, Schema } from "effect"
 *
 * const Add = Tool.make("add", {
 *   description: "Adds two numbers.",
 *   input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   output: Schema.Struct({ sum: Schema.Finite })
 * })
 *
 * export const layer = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const tool = <T extends Tool.Any, R = never>(
  tool: T,
  handle: (input: Tool.Input<T>) => Effect.Effect<Tool.Answer<T>, Tool.Failure<T> | Tool.ToolError, R>
): Layer.Layer<never, never, McpServer | Exclude<R | Tool.ServerServices<T>, Provided>> =>
  tools([handler(tool, handle)])

/**
 * Registers many handlers in one layer: thousands cost no more than a loop.
 *
 * @category layers
 * @since 0.1.0
 */
export const tools = <const Handlers extends ReadonlyArray<Handler<unknown>>>(
  handlers: Handlers
): Layer.Layer<never, never, McpServer | Exclude<Services<Handlers[number]>, Provided>> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const server = yield* McpServer
    for (const entry of handlers) {
      yield* Effect.acquireRelease(
        Effect.orDie(server.register(entry)),
        () => server.unregister(entry.tool.name)
      )
    }
  })) as Layer.Layer<never, never, McpServer | Exclude<Services<Handlers[number]>, Provided>>
