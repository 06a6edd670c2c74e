import { describe, expect, it } from "@effect/vitest"
import { McpClient } from "@fairlead/client"
import { ContractServer, TestClient } from "@fairlead/testing"
import { Effect, Fiber } from "effect"

describe("ContractServer", () => {
  it.effect("tells how far a held call has come", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const answered = yield* Effect.forkChild(client.call(ContractServer.Hold, { key: "a" }))
      yield* client.call(ContractServer.Await, { key: "a", event: "started" })
      const interrupted = yield* Effect.forkChild(client.call(ContractServer.Hold, { key: "b" }))
      yield* client.call(ContractServer.Await, { key: "b", event: "started" })
      expect(yield* client.call(ContractServer.Stats, {})).toEqual({ held: 2, keys: ["a", "b"] })
      yield* client.call(ContractServer.Release, { key: "a" })
      expect(yield* Fiber.join(answered)).toEqual({ key: "a" })
      yield* client.call(ContractServer.Await, { key: "a", event: "answered" })
      yield* Fiber.interrupt(interrupted)
      yield* client.call(ContractServer.Await, { key: "b", event: "interrupted" })
      expect(yield* client.call(ContractServer.Stats, {})).toEqual({ held: 0, keys: ["a", "b"] })
    }).pipe(Effect.provide(TestClient.layer(ContractServer.layer))))

  it.effect("shares nothing between two of its layers", () =>
    Effect.gen(function*() {
      const keysOf = (key: string) =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          yield* client.call(ContractServer.Release, { key })
          return (yield* client.call(ContractServer.Stats, {})).keys
        }).pipe(Effect.provide(TestClient.layer(ContractServer.layer)))
      expect(yield* keysOf("a")).toEqual(["a"])
      expect(yield* keysOf("b")).toEqual(["b"])
    }))
})
