/** How long connecting may take by default; in a process of its own, since undici keeps its first timer. */
import { expect, it, vi } from "@effect/vitest"
import { McpClient } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeHttpTransport } from "@fairlead/node"
import { Effect, Fiber, Layer } from "effect"
import { once } from "node:events"
import * as net from "node:net"

it.live(
  verifies("client/default/connect_timeout", "snodo/default/connect_timeout")("connecting may take 10 seconds"),
  () =>
    Effect.gen(function*() {
      const silent = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = net.createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
      )
      const { port } = silent.address() as net.AddressInfo
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })),
        () => Effect.sync(() => vi.useRealTimers())
      )
      const context = yield* Layer.build(
        McpClient.layer().pipe(Layer.provide(NodeHttpTransport.layer({ url: `https://127.0.0.1:${port}/` })))
      )
      const connected = once(silent, "connection")
      const client = yield* Effect.provide(McpClient.McpClient, context)
      const fiber = yield* Effect.forkChild(Effect.flip(client.listTools))
      yield* Effect.promise(() => connected)
      yield* Effect.promise(() => vi.advanceTimersByTimeAsync(9000))
      expect(fiber.pollUnsafe()).toBeUndefined()
      yield* Effect.promise(() => vi.advanceTimersByTimeAsync(3000))
      expect(yield* Fiber.join(fiber)).toMatchObject({ reason: { _tag: "TimedOut", bound: "connect", millis: 10_000 } })
    })
)
