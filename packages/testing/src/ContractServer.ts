/**
 * The server that the contract suite calls. A transport under test is connected to an endpoint of this layer; its tools
 * answer, hold, fail and die on demand, and tell what the server has seen of a call.
 *
 * @since 0.1.0
 */
import * as Call from "@fairlead/protocol/Call"
import * as Content from "@fairlead/protocol/Content"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Tool from "@fairlead/protocol/Tool"
import * as Invocation from "@fairlead/server/Invocation"
import * as McpEndpoint from "@fairlead/server/McpEndpoint"
import * as McpServer from "@fairlead/server/McpServer"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"

/**
 * What a defect of the server holds. It must never be seen by a client.
 *
 * @category constants
 * @since 0.1.0
 */
export const secret = "the-secret-of-the-contract-server"

/**
 * Answers with the text it got.
 *
 * @category tools
 * @since 0.1.0
 */
export const Echo = Tool.make("echo", {
  input: Schema.Struct({ text: Schema.String }),
  output: Schema.Struct({ text: Schema.String }),
  annotations: { readOnly: true }
})

/**
 * Answers with the JSON value it got, every digit of its numbers kept.
 *
 * @category tools
 * @since 0.1.0
 */
export const Mirror = Tool.make("mirror", {
  input: Schema.Struct({ value: Schema.Unknown }),
  output: Schema.Struct({ value: Schema.Unknown })
})

/**
 * Answers with as many characters as it is told, all of them ASCII.
 *
 * @category tools
 * @since 0.1.0
 */
export const Big = Tool.make("big", {
  input: Schema.Struct({ length: Schema.Int }),
  output: Schema.String
})

const Key = Schema.Struct({ key: Schema.String })

/**
 * Answers when {@link Release} is called with the same key, or never.
 *
 * @category tools
 * @since 0.1.0
 */
export const Hold = Tool.make("hold", { input: Key, output: Key })

/**
 * Lets a held call answer.
 *
 * @category tools
 * @since 0.1.0
 */
export const Release = Tool.make("release", { input: Key, output: Key })

/**
 * Answers when a held call has come that far: its handler has started, was interrupted, or has answered.
 *
 * @category tools
 * @since 0.1.0
 */
export const Await = Tool.make("await", {
  input: Schema.Struct({ key: Schema.String, event: Schema.Literals(["started", "interrupted", "answered"]) }),
  output: Key
})

/**
 * How many calls are held, and which keys were ever seen.
 *
 * @category tools
 * @since 0.1.0
 */
export const Stats = Tool.make("stats", {
  output: Schema.Struct({ held: Schema.Int, keys: Schema.Array(Schema.String) })
})

/**
 * Reports progress a number of times, with growing values and a message, and answers with the number: at once, or when
 * {@link Release} is called with the key.
 *
 * @category tools
 * @since 0.1.0
 */
export const Progress = Tool.make("progress", {
  input: Schema.Struct({ count: Schema.Int, label: Schema.String, key: Schema.optionalKey(Schema.String) }),
  output: Schema.Struct({ count: Schema.Int })
})

/**
 * The typed failure of {@link Decline}.
 *
 * @category errors
 * @since 0.1.0
 */
export class Declined extends Schema.TaggedError<Declined>()("Declined", { why: Schema.String }) {}

/**
 * Fails with its typed failure.
 *
 * @category tools
 * @since 0.1.0
 */
export const Decline = Tool.make("decline", {
  input: Schema.Struct({ why: Schema.String }),
  output: Schema.String,
  failure: Declined
})

/**
 * Fails with one sentence and without structured output.
 *
 * @category tools
 * @since 0.1.0
 */
export const Complain = Tool.make("complain", { input: Schema.Struct({ text: Schema.String }) })

/**
 * Dies with {@link secret}.
 *
 * @category tools
 * @since 0.1.0
 */
export const Die = Tool.make("die", { output: Schema.String })

/**
 * Answers with a structured null.
 *
 * @category tools
 * @since 0.1.0
 */
export const Nothing = Tool.make("nothing", { output: Schema.Null })

/**
 * Answers with a text and no structured output.
 *
 * @category tools
 * @since 0.1.0
 */
export const Say = Tool.make("say", { input: Schema.Struct({ text: Schema.String }) })

/**
 * What a handler sees of its call: by `Invocation` what the wire carried, by `Call.Current` what its own calls to other
 * servers would carry.
 *
 * @category tools
 * @since 0.1.0
 */
export const Inspect = Tool.make("inspect", {
  output: Schema.Struct({
    requestId: Schema.Unknown,
    correlation: Schema.String,
    idempotencyKey: Schema.NullOr(Schema.String),
    metaKeys: Schema.Array(Schema.String),
    meta: Schema.Unknown,
    remainingMillis: Schema.Finite,
    call: Schema.Struct({
      correlation: Schema.NullOr(Schema.String),
      hasDeadline: Schema.Boolean,
      cancellation: Schema.Int,
      idempotencyKey: Schema.NullOr(Schema.String),
      hasTimeout: Schema.Boolean,
      hasProgress: Schema.Boolean,
      hasMeta: Schema.Boolean
    })
  })
})

interface Held {
  readonly started: Deferred.Deferred<void>
  readonly interrupted: Deferred.Deferred<void>
  readonly answered: Deferred.Deferred<void>
  readonly released: Deferred.Deferred<void>
}

class State extends Context.Service<State, { held: number; readonly keys: Map<string, Held> }>()(
  "@fairlead/testing/ContractServer/State"
) {}

const heldOf = (key: string): Effect.Effect<Held, never, State> =>
  Effect.map(State, ({ keys }) => {
    const known = keys.get(key)
    if (known !== undefined) return known
    const made: Held = {
      started: Deferred.makeUnsafe(),
      interrupted: Deferred.makeUnsafe(),
      answered: Deferred.makeUnsafe(),
      released: Deferred.makeUnsafe()
    }
    keys.set(key, made)
    return made
  })

const hold = (key: string) =>
  Effect.flatMap(Effect.all([State, heldOf(key)]), ([state, held]) => {
    state.held++
    return Deferred.succeed(held.started, undefined).pipe(
      Effect.andThen(Deferred.await(held.released)),
      Effect.onInterrupt(() => Deferred.succeed(held.interrupted, undefined)),
      Effect.ensuring(Effect.sync(() => state.held--)),
      Effect.andThen(Deferred.succeed(held.answered, undefined)),
      Effect.as({ key })
    )
  })

const inspect = Effect.gen(function*() {
  const invocation = yield* Invocation.Invocation
  const call = yield* Call.Current
  return {
    requestId: invocation.requestId satisfies JsonRpc.RequestId,
    correlation: invocation.correlation,
    idempotencyKey: invocation.idempotencyKey ?? null,
    metaKeys: Object.keys(invocation.meta),
    meta: invocation.meta,
    remainingMillis: Duration.toMillis(yield* invocation.remaining),
    call: {
      correlation: call.correlation ?? null,
      hasDeadline: call.deadline !== undefined,
      cancellation: call.cancellation.length,
      idempotencyKey: call.idempotencyKey ?? null,
      hasTimeout: call.timeout !== undefined,
      hasProgress: call.progress !== undefined,
      hasMeta: call.meta !== undefined
    }
  }
})

const report = Effect.fnUntraced(function*(count: number, label: string, key: string | undefined) {
  for (let progress = 1; progress <= count; progress++) {
    yield* Invocation.progress({ progress, total: count, message: `${label} ${progress}` })
  }
  if (key !== undefined) yield* Effect.flatMap(heldOf(key), ({ released }) => Deferred.await(released))
  return { count }
})

/**
 * The tools, registered.
 *
 * @category layers
 * @since 0.1.0
 */
export const registrations: Layer.Layer<never, never, McpServer.McpServer> = McpServer.handlers([
  McpServer.toolHandler(Echo, ({ text }) => Effect.succeed({ text })),
  McpServer.toolHandler(Mirror, ({ value }) => Effect.succeed({ value })),
  McpServer.toolHandler(Big, ({ length }) => Effect.succeed("x".repeat(length))),
  McpServer.toolHandler(Hold, ({ key }) => hold(key)),
  McpServer.toolHandler(
    Release,
    ({ key }) =>
      Effect.flatMap(heldOf(key), ({ released }) => Effect.as(Deferred.succeed(released, undefined), { key }))
  ),
  McpServer.toolHandler(
    Await,
    ({ event, key }) => Effect.flatMap(heldOf(key), (held) => Effect.as(Deferred.await(held[event]), { key }))
  ),
  McpServer.toolHandler(Stats, () => Effect.map(State, ({ held, keys }) => ({ held, keys: [...keys.keys()] }))),
  McpServer.toolHandler(Progress, ({ count, key, label }) => report(count, label, key)),
  McpServer.toolHandler(Decline, ({ why }) => Effect.fail(new Declined({ why }))),
  McpServer.toolHandler(Complain, ({ text }) => Effect.fail(Tool.error(text))),
  McpServer.toolHandler(Die, () => Effect.die(new Error(secret))),
  McpServer.toolHandler(Nothing, () => Effect.succeed(null)),
  McpServer.toolHandler(Say, ({ text }) => Effect.succeed([Content.text(text)])),
  McpServer.toolHandler(Inspect, () => inspect)
]).pipe(Layer.provide(Layer.sync(State, () => ({ held: 0, keys: new Map<string, Held>() }))))

/**
 * The endpoint of these tools. It logs nothing; its limits are wide, so that those of the transport show.
 *
 * **Example** (An HTTP server for the suite)
 *
 * ```ts
 * import { NodeMcpEndpoint } from "@fairlead/node"
 * import { ContractServer } from "@fairlead/testing"
 * import { Layer } from "effect"
 *
 * export const Listener = NodeMcpEndpoint.layerHttp().pipe(Layer.provide(ContractServer.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<McpEndpoint.McpEndpoint | McpServer.McpServer, McpEndpoint.InvalidConfig> =
  registrations.pipe(
    McpEndpoint.serve({
      name: "contract",
      version: "0.0.0",
      maxBodyBytes: 8 * 1024 * 1024,
      maxResponseBytes: 8 * 1024 * 1024,
      requestTimeout: "10 minutes",
      cancellationGrace: "500 millis"
    }),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
  )
