/**
 * Every reason that a call can fail with, provoked over every transport, on real sockets and children: what the error
 * says of itself, whether the server saw the call, under which correlation, and how often `retry` makes it again.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, expect, it } from "@effect/vitest"
import { HttpTransport, McpClient, McpClientError, StdioTransport } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeHttpTransport } from "@fairlead/node"
import { Call, Content, Tool, type Transport } from "@fairlead/protocol"
import { InProcess, Input, McpEndpoint, McpServer } from "@fairlead/server"
import { RawPeer } from "@fairlead/testing"
import { Context, Effect, Fiber, Layer, Schedule, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import * as net from "node:net"
import {
  broken,
  call,
  cancelledBy,
  type Connect,
  connected,
  correlationOf,
  type Error,
  foreign,
  held,
  maxResponseBytes,
  over,
  type Reason,
  type Row,
  type Rows,
  until,
  type Way,
  way,
  ways,
  without
} from "./support/reasons.ts"
import { fixture, layerFetch, layerNothing, Url } from "./support/servers.ts"

type HttpLayer = (options: HttpTransport.Options) => Layer.Layer<Transport.Transport, Error>

/** The raw peer; a tool called `status` is answered with the status, the headers and the body of its arguments. */
const rawFetch = (seen: Array<string>) => async (request: Request): Promise<Response> => {
  const text = await request.clone().text()
  const header = request.headers.get(Call.correlationHeader)
  for (const correlation of correlationOf(text)) {
    seen.push(correlation === header ? correlation : `${correlation} is not ${header} of the header`)
  }
  const message = JSON.parse(text)
  if (message.params?.name !== "status") return RawPeer.fetch(request)
  const { body, headers, status } = message.params.arguments
  return new Response(body === undefined ? null : JSON.stringify({ jsonrpc: "2.0", id: message.id, error: body }), {
    status,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) }
  })
}

const http = (layer: HttpLayer): { readonly connect: Connect; readonly rows: Rows } => {
  const connecting = (more: Partial<HttpTransport.Options>): Connect => (options = {}) =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const url = Context.get(yield* Layer.build(layerFetch(rawFetch(seen))), Url)
      return yield* connected(layer({ url, maxResponseBytes, ...more }), () => seen, options)
    })
  const connect = connecting({})
  const common = ways(connect)
  const { input, version } = foreign(connect)
  const refused = (options: HttpTransport.Options) => without(Layer.build(layer(options)))
  const computing = connecting({ headers: Effect.never })
  const status = (
    status: number,
    retryable: boolean,
    fields: object = {},
    headers: { readonly [name: string]: string } = {}
  ) =>
    way(
      `${status} without a message`,
      ["Rejected", "Completed", `http_status.${status}`, retryable],
      over(connect, (connection) => call(connection, "status", { status, headers })),
      { status, ...fields }
    )
  const rpc = (status: number, retryable: boolean) =>
    way(
      `an error with status ${status}`,
      ["Protocol", "Completed", "rpc_error.-32603", retryable],
      over(connect, (connection) =>
        call(connection, "status", {
          status,
          headers: { "retry-after": "0" },
          body: { code: -32603, message: RawPeer.peerText }
        })),
      { code: -32603, status, text: RawPeer.peerText, retryAfter: "0" }
    )
  const lost = (name: RawPeer.Behaviour) =>
    way(
      `a peer's ${name}`,
      ["Unreachable", "MaybeSent", "connection_closed.maybe_sent", false, true],
      over(connect, (connection) => call(connection, name))
    )
  return {
    connect,
    rows: {
      InvalidConfig: [
        common.badSetting,
        way(
          "a bad setting of the transport",
          ["Configuration", "NotSent", "invalid_config"],
          refused({ url: "ftp://127.0.0.1/" }),
          { field: "url" }
        ),
        way(
          "headers that cannot be computed",
          ["Configuration", "NotSent", "invalid_config"],
          over(connecting({ headers: Effect.fail("no token") }), (connection) => call(connection, "good")),
          { field: "headers" }
        )
      ],
      ConnectFailed: [
        way(
          "a refused port",
          ["Unreachable", "NotSent", "connect_failed", true],
          Effect.gen(function*() {
            const url = Context.get(yield* Layer.build(layerNothing), Url)
            const connection = yield* connected(layer({ url }), () => [], {})
            return { error: yield* call(connection, "good"), connection }
          }),
          { detail: "ECONNREFUSED" }
        )
      ],
      Refused: [
        way(
          "headers on plain http to another machine",
          ["Unreachable", "NotSent", "refused"],
          refused({ url: "http://example.com/mcp", headers: [["authorization", "Bearer token"]] })
        ),
        way(
          "a host that a filter refuses",
          ["Unreachable", "NotSent", "refused"],
          refused({ url: "https://example.com/mcp", allowHost: () => false })
        )
      ],
      TimedOut: [
        ...common.timedOut,
        way(
          "a deadline while headers are computed",
          ["Timeout", "NotSent", "timed_out.not_sent", true],
          over(computing, (connection) => call(connection, "good").pipe(Call.withDeadline("50 millis"))),
          { bound: "deadline" }
        )
      ],
      Cancelled: [
        ...common.cancelled,
        way(
          "a token while headers are computed",
          ["Cancellation", "NotSent", "cancelled.not_sent"],
          over(computing, (connection) =>
            cancelledBy(connection, (call, cancel) =>
              Effect.gen(function*() {
                const fiber = yield* Effect.forkScoped(call, { startImmediately: true })
                yield* cancel
                return yield* Fiber.join(fiber)
              }), "good"))
        )
      ],
      ConnectionClosed: [lost("close"), lost("close-midway")],
      ResponseTooLarge: [common.tooLarge],
      TooManyPendingCalls: "each call has an exchange of its own, and waits for a connection within its bounds",
      HttpStatus: [
        status(401, false, { wwwAuthenticate: "Bearer scope=\"read\"" }, {
          "www-authenticate": "Bearer scope=\"read\""
        }),
        status(403, false),
        status(404, false),
        status(302, false, { location: "https://example.com/" }, { location: "https://example.com/" }),
        status(429, true, { retryAfter: "0" }, { "retry-after": "0" }),
        status(500, false),
        status(503, true, { retryAfter: "0" }, { "retry-after": "0" })
      ],
      RpcError: [common.unknownTool, rpc(200, false), rpc(400, false), rpc(429, true), rpc(500, false), rpc(503, true)],
      MalformedResponse: [
        common.otherForm,
        ...broken(
          connect,
          "not-json",
          "batch",
          "other-id",
          "id-of-another-type",
          "result-and-error",
          "unknown-result-type"
        )
      ],
      UnsupportedVersion: [version],
      UnsupportedInputRequest: [input],
      InvalidArguments: common.invalidArguments,
      InvalidInputResponses: [common.invalidResponses],
      ListingLimitExceeded: [common.listing]
    }
  }
}

const noDestination = "there is no destination: nothing is dialled"
const noStatus = "there are no statuses"

const stdio = (): { readonly connect: Connect; readonly rows: Rows } => {
  const connecting = (more: Partial<StdioTransport.Options>): Connect => (options = {}) =>
    Effect.suspend(() => {
      // The peer repeats what comes in.
      let errors = ""
      const transport = StdioTransport.layer({
        ...fixture("rawPeer"),
        maxResponseBytes,
        stderr: (text) =>
          Effect.sync(() => {
            errors += text
          }),
        ...more
      }).pipe(Layer.provide(NodeServices.layer))
      return connected(transport, () => errors.split("\n").slice(0, -1).flatMap(correlationOf), options)
    })
  const connect = connecting({})
  const common = ways(connect)
  const { input, version } = foreign(connect)
  const spawned = (options: StdioTransport.Options) =>
    without(Layer.build(StdioTransport.layer(options).pipe(Layer.provide(NodeServices.layer))))
  const lost = ["Unreachable", "MaybeSent", "connection_closed.maybe_sent", false, true] as const
  return {
    connect,
    rows: {
      InvalidConfig: [
        common.badSetting,
        way(
          "a bad setting of the transport",
          ["Configuration", "NotSent", "invalid_config"],
          spawned({ command: "" }),
          { field: "command" }
        )
      ],
      ConnectFailed: [
        way(
          "a program that is not there",
          ["Unreachable", "NotSent", "connect_failed", true],
          spawned({ command: "/no/such/program" }),
          { detail: "NotFound" }
        )
      ],
      Refused: noDestination,
      TimedOut: common.timedOut,
      Cancelled: [
        ...common.cancelled,
        way(
          "the end of the transport while the server has the call",
          ["Cancellation", "MaybeSent", "cancelled.maybe_sent"],
          over(connect, (connection) => held(connection, (call) => call, connection.stop))
        )
      ],
      ConnectionClosed: [
        way("a child that ends", lost, over(connect, (connection) => call(connection, "close")), { exitCode: 3 }),
        way("a child that ends in its answer", lost, over(connect, (connection) => call(connection, "close-midway")), {
          exitCode: 3
        }),
        way(
          "a child that has ended",
          ["Unreachable", "NotSent", "connection_closed.not_sent", true],
          over(connect, (connection) => Effect.andThen(call(connection, "close"), call(connection, "good"))),
          { exitCode: 3 }
        )
      ],
      ResponseTooLarge: [
        common.tooLarge,
        way(
          "a line of one byte too many",
          ["TooLarge", "MaybeSent", "response_too_large"],
          over(connecting({ maxLineBytes: 1000 }), (connection) => call(connection, "sized", { bytes: 1001 })),
          { limit: 1000 }
        )
      ],
      TooManyPendingCalls: [
        way(
          "one call more than may wait",
          ["Overloaded", "NotSent", "too_many_pending_calls", true],
          over(connecting({ maxPendingCalls: 1 }), (connection) =>
            Effect.andThen(
              Effect.forkScoped(call(connection, "silence"), { startImmediately: true }),
              call(connection, "good")
            )),
          { limit: 1 }
        )
      ],
      HttpStatus: noStatus,
      RpcError: [
        common.unknownTool,
        way(
          "an error of the server's own, whose id it does not know",
          ["Protocol", "Completed", "rpc_error.-32603"],
          over(connect, (connection) => call(connection, "error-with-null-id")),
          { code: -32603, text: RawPeer.peerText }
        )
      ],
      MalformedResponse: [
        common.otherForm,
        ...broken(connect, "no-version", "result-and-error", "result-not-an-object", "unknown-result-type")
      ],
      UnsupportedVersion: [version],
      UnsupportedInputRequest: [input],
      InvalidArguments: common.invalidArguments,
      InvalidInputResponses: [common.invalidResponses],
      ListingLimitExceeded: [common.listing]
    }
  }
}

/** What the raw peer does of all this without breaking the protocol, on an endpoint. */
const registrations = Layer.mergeAll(
  McpServer.tool(Tool.make("good"), () => Effect.succeed([Content.text("good")])),
  McpServer.tool(Tool.make("silence"), () => Effect.never),
  McpServer.tool(
    Tool.make("sized", { input: Schema.Struct({ bytes: Schema.Int }) }),
    ({ bytes }) => Effect.succeed([Content.text("x".repeat(bytes))])
  ),
  McpServer.tool(Tool.make("die"), () => Effect.die("a secret")),
  McpServer.tool(Tool.make("asks"), () =>
    Effect.map(
      Effect.orDie(Input.form("name", { message: "Who?", schema: Schema.Struct({ name: Schema.String }) })),
      ({ name }) => [Content.text(name)]
    ))
)

const inProcess = (): { readonly connect: Connect; readonly rows: Rows } => {
  const connect: Connect = (options = {}) =>
    Effect.suspend(() => {
      const seen: Array<string> = []
      const endpoint = Layer.effect(
        McpEndpoint.McpEndpoint,
        Effect.map(McpEndpoint.McpEndpoint, (endpoint) => ({
          ...endpoint,
          connect: (options: Parameters<typeof endpoint.connect>[0]) => {
            const channel = endpoint.connect(options)
            const receive = (text: string) => {
              seen.push(...correlationOf(text))
              channel.receive(text)
            }
            return { ...channel, receive }
          }
        }))
      ).pipe(Layer.provide(registrations.pipe(McpEndpoint.serve({ name: "reasons", version: "1.0.0" }))))
      return connected(InProcess.layer({ maxResponseLength: maxResponseBytes }).pipe(Layer.provide(endpoint)), () =>
        seen, options)
    })
  const common = ways(connect)
  return {
    connect,
    rows: {
      InvalidConfig: [common.badSetting],
      ConnectFailed: noDestination,
      Refused: noDestination,
      TimedOut: common.timedOut,
      Cancelled: common.cancelled,
      ConnectionClosed: [
        way(
          "the end of the transport while the server has the call",
          ["Unreachable", "MaybeSent", "connection_closed.maybe_sent", false, true],
          over(connect, (connection) => held(connection, (call) => call, connection.stop))
        ),
        way(
          "a transport that has ended",
          ["Unreachable", "NotSent", "connection_closed.not_sent", true],
          over(connect, (connection) => Effect.andThen(connection.stop, call(connection, "good")))
        )
      ],
      ResponseTooLarge: [common.tooLarge],
      TooManyPendingCalls: "the channel has no bound: an endpoint that has no room answers with an error",
      HttpStatus: noStatus,
      RpcError: [
        common.unknownTool,
        way(
          "a handler that dies",
          ["Protocol", "Completed", "rpc_error.-32603"],
          over(connect, (connection) => call(connection, "die")),
          { code: -32603 }
        )
      ],
      MalformedResponse: [common.otherForm],
      UnsupportedVersion: "both ends are of the same packages and speak the same version",
      UnsupportedInputRequest: "an endpoint asks for nothing that its client has not declared",
      InvalidArguments: common.invalidArguments,
      InvalidInputResponses: [common.invalidResponses],
      ListingLimitExceeded: [common.listing]
    }
  }
}

const portable = http((options) => HttpTransport.layer(options).pipe(Layer.provide(FetchHttpClient.layer)))
const onDispatcher = http(NodeHttpTransport.layer)

/** A port that takes connections and never says a word. */
const silentPort = Effect.map(
  Effect.acquireRelease(
    Effect.promise(() => {
      const sockets = new Set<net.Socket>()
      const server = net.createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
      })
      return new Promise<{ server: net.Server; sockets: Set<net.Socket> }>((resolve) =>
        server.listen(0, "127.0.0.1", () => resolve({ server, sockets }))
      )
    }),
    ({ server, sockets }) =>
      Effect.promise(() => {
        for (const socket of sockets) socket.destroy()
        return new Promise((resolve) => server.close(resolve))
      })
  ),
  ({ server }) => (server.address() as net.AddressInfo).port
)

const more = (row: Row, ...ways: ReadonlyArray<Way>): Row => typeof row === "string" ? row : [...row, ...ways]

const table: Record<"HttpTransport" | "NodeHttpTransport" | "StdioTransport" | "InProcess", Rows> = {
  HttpTransport: portable.rows,
  NodeHttpTransport: {
    ...onDispatcher.rows,
    Cancelled: more(
      onDispatcher.rows.Cancelled,
      way(
        "the end of the transport while the server has the call",
        ["Cancellation", "MaybeSent", "cancelled.maybe_sent"],
        over(onDispatcher.connect, (connection) => held(connection, (call) => call, connection.stop))
      )
    ),
    Refused: more(
      onDispatcher.rows.Refused,
      way(
        "an address that a filter refuses",
        ["Unreachable", "NotSent", "refused"],
        Effect.gen(function*() {
          const layer = NodeHttpTransport.layer({ url: "http://127.0.0.1:1/mcp", allowAddress: () => false })
          const connection = yield* connected(layer, () => [], {})
          return { error: yield* call(connection, "good"), connection }
        })
      )
    ),
    TimedOut: more(
      onDispatcher.rows.TimedOut,
      way(
        "a handshake that takes too long",
        ["Timeout", "NotSent", "timed_out.not_sent", true],
        Effect.gen(function*() {
          const url = `https://127.0.0.1:${yield* silentPort}/mcp`
          const connection = yield* connected(
            NodeHttpTransport.layer({ url, connectTimeout: "100 millis" }),
            () => [],
            {}
          )
          return { error: yield* call(connection, "good"), connection }
        }),
        { bound: "connect", millis: 100 }
      )
    )
  },
  StdioTransport: stdio().rows,
  InProcess: inProcess().rows
}

/** How often a call is made that always fails so, when it may be made once more. */
const attempts = Effect.fnUntraced(function*(error: Error, idempotent: boolean) {
  let count = 0
  const failing = Effect.suspend(() => {
    count++
    return Effect.fail(error)
  })
  yield* Effect.flip(McpClient.retry(failing, { idempotent, schedule: Schedule.recurs(1) }))
  return count
})

describe.each(Object.entries(table))("%s", (_transport, rows) => {
  for (const [reason, row] of Object.entries(rows) as ReadonlyArray<[Reason, Row]>) {
    if (typeof row === "string") {
      it.skip(`${reason} [cannot occur: ${row}]`, () => {})
      continue
    }
    describe.concurrent(reason, () => {
      it("is provoked", () => expect(row.length).toBeGreaterThan(0))
      it.live.each(row.map((way) => [way.name, way] as const))(
        verifies("client/reason", "client/evidence", "client/kind", "client/is_retryable")("%s"),
        ([, { code, evidence, fields = {}, kind, retryable, run }]) =>
          Effect.gen(function*() {
            const { connection, error } = yield* run
            assert(McpClientError.isMcpClientError(error))
            expect({ reason: error.reason._tag, kind: error.kind, evidence: error.evidence, code: error.code })
              .toEqual({ reason, kind, evidence, code })
            expect(error.reason).toMatchObject(fields)
            expect(error.message).not.toContain(RawPeer.peerText)
            for (const [i, idempotent] of [false, true].entries()) {
              expect(error.isRetryable({ idempotent })).toBe(retryable[i])
              expect(yield* attempts(error, idempotent)).toBe(retryable[i] === true ? 2 : 1)
            }
            if (connection === undefined) return expect(error.evidence).toBe("NotSent")
            const { client, seen } = connection
            if (evidence === "NotSent") {
              // What had been sent would be there before this.
              yield* Effect.ignore(client.callDiscovered("good", {}).pipe(Call.withDeadline("1 second")))
              expect(seen()).not.toContain(error.correlation)
            } else {
              expect(yield* until(() => seen().includes(error.correlation))).toBe(true)
            }
          }),
        30_000
      )
    })
  }
})
