/**
 * What the cases of the contract suite work with: connections to the contract server and to the raw peer, clients over
 * them, and ways to watch a call.
 */
import type { ToolFailed } from "@fairlead/client/CallEnding"
import * as McpClient from "@fairlead/client/McpClient"
import * as McpClientError from "@fairlead/client/McpClientError"
import type * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import * as Transport from "@fairlead/protocol/Transport"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as ContractServer from "../../ContractServer.ts"
import type * as RawPeer from "../../RawPeer.ts"
import * as RecordingTransport from "../../RecordingTransport.ts"
import * as TestRequest from "../../TestRequest.ts"
import * as Wire from "../../Wire.ts"
import { equal, fail, oneOf } from "./assert.ts"

/** The limit that transports are made with. */
export const maxResponseBytes = 256 * 1024

/** A transport that is connected, and the record of what went through it. */
export interface Connection {
  readonly transport: Transport.Transport["Service"]
  readonly recording: RecordingTransport.RecordingTransport["Service"]
}

export interface Environment {
  readonly channel: RawPeer.ChannelKind
  /** The connection to the contract server that most cases share. */
  readonly server: Effect.Effect<Connection>
  /** A connection to the contract server of one's own. */
  readonly freshServer: Effect.Effect<Connection, unknown, Scope.Scope>
  /** A connection to the raw peer of one's own. */
  readonly freshRaw: Effect.Effect<Connection, unknown, Scope.Scope>
  readonly unreachable: Layer.Layer<Transport.Transport, unknown>
  /** What the process holds open: the kinds of its sockets, pipes and children. */
  readonly resources: () => ReadonlyArray<string>
}

export interface Case {
  readonly id: string
  readonly title: string
  readonly needs: "server" | "raw" | "unreachable"
  readonly run: (environment: Environment) => Effect.Effect<void, unknown, Scope.Scope>
}

const liveClock = Context.get(Context.empty(), Clock.Clock)

/** A connection whose messages are recorded and, where the peer keeps to the protocol, checked against the schema. */
export const connect = (
  layer: Layer.Layer<Transport.Transport, unknown>,
  options: { readonly checked: boolean }
): Effect.Effect<Connection, unknown, Scope.Scope> =>
  Layer.build(RecordingTransport.layer(options.checked ? Wire.layer(layer) : layer)).pipe(
    // Also where the clients of a case live in a time of their own.
    Effect.provideService(Clock.Clock, liveClock),
    Effect.map((context) => ({
      transport: Context.get(context, Transport.Transport),
      recording: Context.get(context, RecordingTransport.RecordingTransport)
    }))
  )

/** A client over a connection. */
export const clientOf = ({ transport }: Connection): Effect.Effect<
  McpClient.Client,
  McpClientError.McpClientError,
  Scope.Scope
> => Effect.provideService(McpClient.make(), Transport.Transport, transport)

/** Time that stands still, and moves when it is told to. Only clients live in it: transports and servers do not. */
export const withTestClock = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provide(self, TestClock.layer()) as Effect.Effect<A, E, R>

/** A key for a held call that no other case uses. */
export const freshKey = Effect.sync(() => crypto.randomUUID())

/** A call that the server holds until it is released. */
export const hold = (client: McpClient.Client, key: string) => client.call(ContractServer.Hold, { key })

/** Starts a call that the server holds, and waits until its handler has started. */
export const startHeld = Effect.fnUntraced(function*<A, E>(
  client: McpClient.Client,
  key: string,
  call: Effect.Effect<A, E>
) {
  const fiber = yield* Effect.forkScoped(call, { startImmediately: true })
  yield* client.call(ContractServer.Await, { key, event: "started" })
  return fiber
})

/** Waits until the server has interrupted the handler of a held call. */
export const awaitInterrupted = (client: McpClient.Client, key: string) =>
  client.call(ContractServer.Await, { key, event: "interrupted" })

/** An ordinary call, to show that the connection still works. */
export const nextCallWorks = (client: McpClient.Client) =>
  Effect.map(client.call(ContractServer.Echo, { text: "next" }), ({ text }) => equal(text, "next", "the next call"))

/** The error of a call that must not succeed. */
export const errorOf = <A, E>(exit: Exit.Exit<A, E>): McpClientError.McpClientError => {
  if (Exit.isSuccess(exit)) return fail(`the call succeeded with ${JSON.stringify(exit.value)}`)
  for (const reason of exit.cause.reasons) {
    if (reason._tag === "Fail" && McpClientError.isMcpClientError(reason.error)) return reason.error
    if (reason._tag === "Die") throw reason.defect
  }
  return fail(`the call failed with something else than McpClientError: ${JSON.stringify(exit.cause)}`)
}

/** Checks tag and evidence of an error. */
export const expectError = <A, E>(
  exit: Exit.Exit<A, E>,
  tags: McpClientError.Reason["_tag"] | ReadonlyArray<McpClientError.Reason["_tag"]>,
  evidence: Transport.Evidence | ReadonlyArray<Transport.Evidence>
): McpClientError.McpClientError => {
  const error = errorOf(exit)
  oneOf(error.reason._tag, typeof tags === "string" ? [tags] : tags, "the reason")
  oneOf(error.evidence, typeof evidence === "string" ? [evidence] : evidence, `the evidence of ${error.reason._tag}`)
  return error
}

/** A request below the client, for what a client would never send. */
export const send = Effect.fnUntraced(function*(
  { transport }: Connection,
  method: string,
  params: Json.Object,
  options: { readonly id?: JsonRpc.RequestId; readonly meta?: Json.Object } = {}
) {
  const id = options.id ?? `contract-${crypto.randomUUID()}`
  const full: Json.Object = { ...params, _meta: TestRequest.metaOf(options.meta) }
  const record = { left: 0, notifications: [] as Array<JsonRpc.Notification> }
  const answer = transport.send({
    id,
    method,
    params: full,
    text: JsonRpc.encodeRequest(id, method, full),
    headers: [],
    sent: () => {
      record.left++
    },
    notify: (notification) => {
      record.notifications.push(notification)
    }
  })
  return { id, record, answer }
})

/** The answer to a tool call below the client. */
export const sendTool = Effect.fnUntraced(function*(
  connection: Connection,
  name: string,
  args: Json.Value,
  options: { readonly id?: JsonRpc.RequestId; readonly meta?: Json.Object } = {}
) {
  const { answer } = yield* send(connection, Revision.method.callTool, { name, arguments: args }, options)
  return (yield* answer).response
})

/** A tool that the raw peer is told its behaviour by. */
export const behaviour = (name: RawPeer.Behaviour) => Tool.make(name)

export const rawCall = (client: McpClient.Client, name: RawPeer.Behaviour) => client.call(behaviour(name), {})

/** The text that an answer of the raw peer has. */
export const expectText = (content: Tool.Output<ReturnType<typeof behaviour>>, text: string): void => {
  equal(content.map((block) => block.type === "text" ? block.text : block.type), [text], "the answer")
}

export const isToolFailed = (u: unknown): u is ToolFailed =>
  typeof u === "object" && u !== null && "_tag" in u && u._tag === "ToolFailed"
