/** What a client's listening holds at its server, over every transport; and how it is opened again on real connections. */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { assert, describe, expect, it } from "@effect/vitest"
import { HttpTransport, McpClient, McpClientError, StdioTransport, Subscription } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeHttpTransport } from "@fairlead/node"
import { Call, Revision, type Transport } from "@fairlead/protocol"
import { Effect, Fiber, Layer, Option, Schedule, Stream } from "effect"
import { event, events, peer, result } from "../../client/test/support/peer.ts"
import { Manual, Touch } from "./support/script.ts"
import { transports } from "./support/scripted.ts"
import { fixture } from "./support/servers.ts"

const filter = { resourceSubscriptions: [Manual.uri] }
const updated = new Subscription.ResourceUpdated({ uri: Manual.uri })

const clientOf = Effect.fnUntraced(function*(transport: Layer.Layer<Transport.Transport, unknown>) {
  const services = yield* Layer.build(transport)
  return yield* Effect.provideContext(McpClient.make(), services)
})

/** Listens once more while the server is not done yet with what has ended; at most two can. */
const listenSoon = (client: McpClient.Client) =>
  client.listen(filter).pipe(
    Effect.retry({
      while: (error) => error.reason._tag !== "TimedOut",
      times: 200,
      schedule: Schedule.spaced("10 millis")
    })
  )

describe.each(Object.entries(transports))("%s", (_name, transport) => {
  it.live(
    verifies("client/promise/next_terminal_releases", "SUB-10")("what ends a stream frees its place at the server"),
    () =>
      Effect.gen(function*() {
        const client = yield* clientOf(transport)
        yield* client.listen(filter)
        type Open = ReturnType<typeof listenSoon>
        const ways: ReadonlyArray<(open: Open) => Effect.Effect<unknown, unknown>> = [
          (open) => Effect.scoped(open),
          (open) =>
            // Where the machine is slow the deadline ends the opening already.
            Effect.exit(
              Effect.scoped(
                Effect.flatMap(Call.withDeadline(open, "300 millis"), ({ stream }) => Stream.runDrain(stream))
              )
            ),
          (open) =>
            Effect.scoped(
              Effect.flatMap(Call.makeCancellationToken, (token) =>
                Effect.flatMap(
                  Call.withCancellation(open, token),
                  ({ stream }) => Effect.andThen(token.cancel, Effect.flip(Stream.runDrain(stream)))
                ))
            ),
          (open) =>
            Effect.gen(function*() {
              const fiber = yield* Effect.forkChild(Effect.scoped(Effect.andThen(open, Effect.never)))
              yield* Effect.sleep("50 millis")
              yield* Fiber.interrupt(fiber)
            })
        ]
        for (const way of [...ways, ...ways]) {
          yield* way(listenSoon(client))
          yield* client.call(Touch, {})
        }
        const last = yield* listenSoon(client)
        const full = yield* Effect.flip(client.listen(filter))
        expect(["rpc_error.-32603", "http_status.503"]).toContain(full.code)
        yield* client.call(Touch, {})
        expect(yield* last.next("10 seconds")).toEqual(Option.some(updated))
      }),
    30_000
  )
})

describe("a connection that breaks", () => {
  const reconnect = { base: "10 millis", cap: "100 millis", attempts: 50 } as const

  const http = Effect.fnUntraced(function*(transport: (url: string) => Layer.Layer<Transport.Transport, unknown>) {
    const target = yield* peer((request, response) => {
      const turn = target.received.length
      const meta = { _meta: { [Revision.meta.subscriptionId]: request.message.id } }
      const say = (method: string, params: object) =>
        response.write(event({ jsonrpc: "2.0", method, params: { ...params, ...meta } }))
      // The second attempt is refused, as by a server that starts.
      if (turn === 2) return response.writeHead(503).end()
      events(response)
      say(Revision.notification.acknowledged, { notifications: filter })
      say(Revision.notification.resourceUpdated, { uri: `docs://manual/${turn}` })
      if (turn === 1) setTimeout(() => response.destroy(), 20)
      else setTimeout(() => response.end(event(result(request, { resultType: "complete", ...meta }))), 20)
    })
    const client = yield* clientOf(transport(target.url))
    const subscription = yield* client.listen(filter, { reconnect })
    expect(yield* Stream.runCollect(subscription.stream)).toEqual([
      new Subscription.ResourceUpdated({ uri: "docs://manual/1" }),
      new Subscription.Missed(),
      new Subscription.ResourceUpdated({ uri: "docs://manual/3" })
    ])
    expect(target.received.length).toBe(3)
  })

  it.live.each<readonly [string, (url: string) => Layer.Layer<Transport.Transport, unknown>]>([
    ["HttpTransport", (url) => HttpTransport.layer({ url }).pipe(Layer.provide(NodeHttpClient.layerUndici))],
    ["NodeHttpTransport", (url) => NodeHttpTransport.layer({ url })]
  ])(verifies("SUB-9", "SUB-11")("is made anew, and the gap is told: %s"), ([, transport]) => http(transport))

  it.live(
    verifies("SUB-11")("is made anew with a child that is started again, and the gap is told"),
    () =>
      Effect.gen(function*() {
        const transport = StdioTransport.layer({
          ...fixture("listenServer"),
          restart: { base: "10 millis", attempts: 3 }
        }).pipe(Layer.provide(NodeServices.layer))
        const client = yield* clientOf(transport)
        const subscription = yield* client.listen({ toolsListChanged: true }, {
          reconnect: { base: "50 millis", cap: "200 millis", attempts: 200 }
        })
        yield* client.callDiscovered("change", { what: "add" })
        expect(yield* subscription.next("10 seconds")).toEqual(Option.some(new Subscription.ToolsListChanged()))
        expect(yield* Effect.flip(client.callDiscovered("change", { what: "exit" }))).toMatchObject({
          code: "connection_closed.maybe_sent",
          reason: { exitCode: 5 }
        })
        expect(yield* subscription.next("20 seconds")).toEqual(Option.some(new Subscription.Missed()))
        yield* client.callDiscovered("change", { what: "add" })
        expect(yield* subscription.next("10 seconds")).toEqual(Option.some(new Subscription.ToolsListChanged()))
      }),
    40_000
  )

  it.live("is lost where nobody asked for more", () =>
    Effect.gen(function*() {
      const target = yield* peer((request, response) => {
        const meta = { _meta: { [Revision.meta.subscriptionId]: request.message.id } }
        events(response)
        response.write(event({
          jsonrpc: "2.0",
          method: Revision.notification.acknowledged,
          params: { notifications: filter, ...meta }
        }))
        setTimeout(() => response.destroy(), 20)
      })
      const client = yield* clientOf(NodeHttpTransport.layer({ url: target.url }))
      const subscription = yield* client.listen(filter)
      const error = yield* Effect.flip(subscription.next("10 seconds"))
      assert(McpClientError.isMcpClientError(error))
      expect(error.code).toBe("connection_closed.maybe_sent")
      expect(target.received.length).toBe(1)
    }))
})
