/** What it takes to provoke the reasons of errors: connections that tell what their server has seen, and ways to fail. */
import { assert } from "@effect/vitest"
import { type Continuation, InputHandlers, McpClient, type McpClientError } from "@fairlead/client"
import { Call, JsonRpc, Revision, Tool, Transport } from "@fairlead/protocol"
import { RawPeer } from "@fairlead/testing"
import { Context, Effect, Exit, Fiber, Layer, Schema, Scope } from "effect"

export type Reason = McpClientError.Reason["_tag"]
export type Error = McpClientError.McpClientError

/** A client that is connected, and the correlations that its server has seen. */
interface Connection {
  readonly client: McpClient.Client
  readonly seen: () => ReadonlyArray<string>
  /** Ends the transport alone. */
  readonly stop: Effect.Effect<void>
}

interface Options {
  readonly client?: McpClient.Options
  readonly handlers?: Layer.Layer<InputHandlers.Form>
}

export type Connect = (options?: Options) => Effect.Effect<Connection, unknown, Scope.Scope>

/** One way to provoke a reason, and what the error has to say. */
export interface Way {
  readonly name: string
  readonly kind: McpClientError.Kind
  readonly evidence: Transport.Evidence
  readonly code: string
  /** Whether it may be sent again: as it is, and when doing it twice is the same as once. */
  readonly retryable: readonly [plain: boolean, idempotent: boolean]
  /** Fields of the reason. */
  readonly fields?: object
  readonly run: Effect.Effect<
    { readonly error: unknown; readonly connection?: Connection | undefined },
    unknown,
    Scope.Scope
  >
}

/** The ways to provoke a reason, or why it cannot occur. */
export type Row = ReadonlyArray<Way> | string
export type Rows = { readonly [R in Reason]: Row }

export const correlationOf = (text: string): ReadonlyArray<string> => {
  const message = JsonRpc.decode(text)
  if (message._tag === "Failure" || message.success._tag !== "Request") return []
  const correlation = (message.success.params["_meta"] as Record<string, unknown>)[Call.metaKeys.correlation]
  return [String(correlation)]
}

/** Connects a client to a transport of its own scope. */
export const connected = Effect.fnUntraced(function*(
  transport: Layer.Layer<Transport.Transport, unknown>,
  seen: () => ReadonlyArray<string>,
  { client, handlers }: Options
) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const service = Context.get(yield* Layer.buildWithScope(transport, scope), Transport.Transport)
  const made = yield* McpClient.make(client).pipe(
    Effect.provideService(Transport.Transport, service),
    Effect.provide(handlers ?? Layer.empty)
  )
  return { client: made, seen, stop: Scope.close(scope, Exit.void) }
})

export const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    for (let i = 0; i < 2000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
    return condition()
  })

export const way = (
  name: string,
  [kind, evidence, code, plain = false, idempotent = plain]: readonly [
    McpClientError.Kind,
    Transport.Evidence,
    string,
    boolean?,
    boolean?
  ],
  run: Way["run"],
  fields?: object
): Way => ({
  name,
  kind,
  evidence,
  code,
  retryable: [plain, idempotent],
  run,
  ...(fields === undefined ? {} : { fields })
})

/** A way that begins with a connection. */
export const over = (
  connect: Connect,
  use: (connection: Connection) => Effect.Effect<unknown, unknown, Scope.Scope>,
  options?: Options
): Way["run"] =>
  Effect.flatMap(connect(options), (connection) => Effect.map(use(connection), (error) => ({ error, connection })))

/** A way in which there is no connection at all. */
export const without = (made: Effect.Effect<unknown, unknown, Scope.Scope>): Way["run"] =>
  Effect.map(Effect.flip(made), (error) => ({ error }))

export const call = ({ client }: Connection, name: string, args = {}) => Effect.flip(client.callDiscovered(name, args))

/** The call is with the server, which does not answer. */
export const held = Effect.fnUntraced(function*(
  connection: Connection,
  carried: (call: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>,
  end: Effect.Effect<unknown, unknown>
) {
  const fiber = yield* Effect.forkScoped(carried(call(connection, "silence")))
  assert.isTrue(yield* until(() => connection.seen().length > 0))
  yield* end
  return yield* Fiber.join(fiber)
})

export const cancelledBy = (
  connection: Connection,
  use: (
    call: Effect.Effect<unknown, unknown>,
    cancel: Effect.Effect<void>
  ) => Effect.Effect<unknown, unknown, Scope.Scope>,
  name = "silence"
) =>
  Effect.flatMap(
    Call.makeCancellationToken,
    (token) => use(call(connection, name).pipe(Call.withCancellation(token)), token.cancel)
  )

/** Handlers that say when they have been asked, and never answer. */
const pondering = () => {
  let asked = false
  return {
    handlers: InputHandlers.form(() =>
      Effect.andThen(
        Effect.sync(() => {
          asked = true
        }),
        Effect.never
      )
    ),
    asked: until(() => asked)
  }
}

const continuation: Continuation.Continuation = {
  method: Revision.method.callTool,
  name: "asks",
  params: { name: "asks", arguments: {} },
  headers: [],
  requests: { name: { method: Revision.inputMethod.elicit, params: {} } },
  correlation: Call.makeCorrelationUnsafe()
}

/** A tool that is declared otherwise than its server declares it. */
const Otherwise = Tool.make("good", { output: Schema.Struct({ n: Schema.Int }) })

export const maxResponseBytes = 10_000

/** What is the same over every transport. */
export const ways = (connect: Connect) => ({
  badSetting: way(
    "a bad setting of the client",
    ["Configuration", "NotSent", "invalid_config"],
    without(connect({ client: { maxPages: 0 } })),
    { field: "maxPages" }
  ),
  timedOut: [
    way(
      "a deadline that has passed",
      ["Timeout", "NotSent", "timed_out.not_sent", true],
      over(connect, ({ client, ...rest }) =>
        Effect.suspend(() => {
          const late = client.with({ deadline: "1 millis" })
          return Effect.andThen(Effect.sleep("10 millis"), call({ ...rest, client: late }, "good"))
        })),
      { bound: "deadline" }
    ),
    way(
      "a timeout while the server has the call",
      ["Timeout", "MaybeSent", "timed_out.maybe_sent", false, true],
      over(connect, (connection) =>
        // The first call opens what has to be opened.
        Effect.andThen(
          connection.client.callDiscovered("good", {}),
          call(connection, "silence").pipe(Call.withTimeout("1 second"))
        )),
      { bound: "timeout", millis: 1000 }
    ),
    way(
      "a deadline while the caller is asked",
      ["Timeout", "Completed", "timed_out.completed"],
      Effect.suspend(() => {
        const { handlers } = pondering()
        return over(connect, (connection) =>
          // The first call opens what has to be opened.
          Effect.andThen(
            connection.client.callDiscovered("good", {}),
            call(connection, "asks").pipe(Call.withDeadline("1 second"))
          ), { handlers })
      }),
      { bound: "deadline" }
    )
  ],
  cancelled: [
    way(
      "a token before the call",
      ["Cancellation", "NotSent", "cancelled.not_sent"],
      over(connect, (connection) => cancelledBy(connection, (call, cancel) => Effect.andThen(cancel, call)))
    ),
    way(
      "a token while the server has the call",
      ["Cancellation", "MaybeSent", "cancelled.maybe_sent"],
      over(
        connect,
        (connection) =>
          Effect.flatMap(
            Call.makeCancellationToken,
            (token) => held(connection, Call.withCancellation(token), token.cancel)
          )
      )
    ),
    way(
      "the end of the client while the server has the call",
      ["Cancellation", "MaybeSent", "cancelled.maybe_sent"],
      over(connect, (connection) => held(connection, (call) => call, connection.client.close))
    ),
    way(
      "a token while the caller is asked",
      ["Cancellation", "Completed", "cancelled.completed"],
      Effect.suspend(() => {
        const { asked, handlers } = pondering()
        return over(connect, (connection) =>
          cancelledBy(connection, (call, cancel) =>
            Effect.gen(function*() {
              const fiber = yield* Effect.forkScoped(call)
              assert.isTrue(yield* asked)
              yield* cancel
              return yield* Fiber.join(fiber)
            }), "asks"), { handlers })
      })
    )
  ],
  tooLarge: way(
    "an answer of one byte too many",
    ["TooLarge", "MaybeSent", "response_too_large"],
    over(connect, (connection) => call(connection, "sized", { bytes: maxResponseBytes + 1 })),
    { limit: maxResponseBytes }
  ),
  unknownTool: way(
    "a tool that is not there",
    ["Protocol", "Completed", "rpc_error.-32602"],
    over(connect, (connection) => call(connection, "nothing-of-that-name")),
    { code: -32602 }
  ),
  otherForm: way(
    "an answer of another form than the definition says",
    ["Protocol", "MaybeSent", "malformed_response"],
    over(connect, ({ client }) => Effect.flip(client.call(Otherwise, {})))
  ),
  invalidArguments: [
    way(
      "metadata with a reserved key",
      ["InvalidInput", "NotSent", "invalid_arguments"],
      over(
        connect,
        (connection) => call(connection, "good").pipe(Call.withMeta({ [Revision.meta.protocolVersion]: "x" }))
      )
    ),
    way(
      "a raw call without the name of its header",
      ["InvalidInput", "NotSent", "invalid_arguments"],
      over(connect, ({ client }) => Effect.flip(client.callRaw(Revision.method.callTool, undefined, {})))
    )
  ],
  invalidResponses: way(
    "a continuation with too few responses",
    ["InvalidInput", "NotSent", "invalid_input_responses"],
    over(connect, ({ client }) => Effect.flip(client.resumeRaw(continuation, {})), {
      client: { inputMethods: ["form"] }
    })
  ),
  listing: way(
    "more items than the client takes",
    ["TooLarge", "Completed", "listing_limit_exceeded"],
    over(connect, ({ client }) => Effect.flip(client.listTools), { client: { maxItems: 1 } }),
    { what: "items", limit: 1 }
  )
})

/** What only a peer does that breaks the protocol, or speaks another one. */
export const broken = (connect: Connect, ...names: ReadonlyArray<RawPeer.Behaviour>): ReadonlyArray<Way> =>
  names.map((name) =>
    way(
      `a peer's ${name}`,
      ["Protocol", "MaybeSent", "malformed_response"],
      over(connect, (connection) => call(connection, name))
    )
  )

export const foreign = (connect: Connect) => ({
  version: way(
    "a server of another version",
    ["Protocol", "Completed", "unsupported_version"],
    over(connect, (connection) => call(connection, "other-version")),
    { supported: [RawPeer.peerText] }
  ),
  input: way(
    "a request for input that nobody knows",
    ["Protocol", "Completed", "unsupported_input_request"],
    over(connect, (connection) => call(connection, "asks-for-the-unknown")),
    { method: RawPeer.peerText }
  )
})
