import { describe, expect, it } from "@effect/vitest"
import { McpClient } from "@fairlead/client"
import { Call, Transport } from "@fairlead/protocol"
import { InProcess } from "@fairlead/server"
import { ContractServer, RecordingTransport, Wire } from "@fairlead/testing"
import { Cause, Effect, Exit, Fiber, Layer } from "effect"

const recorded = McpClient.layer().pipe(
  Layer.provideMerge(RecordingTransport.layer(InProcess.layer())),
  Layer.provide(ContractServer.layer)
)

const tags = (entries: ReadonlyArray<RecordingTransport.Entry>) => entries.map((entry) => entry._tag)

describe("RecordingTransport", () => {
  it.effect("keeps requests, the moment they leave, notifications and answers, in order", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const recording = yield* RecordingTransport.RecordingTransport
      yield* client.call(ContractServer.Progress, { count: 2, label: "x" }).pipe(
        Call.withProgress(() => Effect.void),
        Call.withCorrelation("order-42")
      )
      const entries = yield* recording.entries
      expect(tags(entries)).toEqual(["Sent", "Left", "Notified", "Notified", "Answered"])
      expect(entries[0]).toMatchObject({ method: "tools/call", headers: [["x-correlation-id", "order-42"]] })
      expect(JSON.parse((entries[0] as RecordingTransport.Sent).text)).toMatchObject({
        params: { name: "progress", arguments: { count: 2, label: "x" } }
      })
      expect(entries[4]).toMatchObject({ method: "tools/call", response: { _tag: "Success" } })
      expect(new Set(entries.map(({ id }) => id)).size).toBe(1)
      yield* recording.check
    }).pipe(Effect.provide(recorded)))

  it.effect("keeps what ended without an answer, and counts what is under way", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const recording = yield* RecordingTransport.RecordingTransport
      const held = yield* Effect.forkChild(client.call(ContractServer.Hold, { key: "a" }))
      yield* client.call(ContractServer.Await, { key: "a", event: "started" })
      expect(yield* recording.pending).toBe(1)
      yield* recording.clear
      yield* Fiber.interrupt(held)
      expect(yield* recording.entries).toMatchObject([{ _tag: "Ended", failure: undefined }])
      expect(yield* recording.pending).toBe(0)
      const failing = RecordingTransport.make({
        name: "memory",
        hasHeaders: false,
        send: () => Effect.fail(new Transport.ConnectFailed({}))
      })
      yield* Effect.exit(failing.transport.send({
        id: 1,
        method: "x",
        params: {},
        text: "{}",
        headers: [],
        sent: () => {},
        notify: () => {}
      }))
      expect(yield* failing.recording.entries).toMatchObject([
        { _tag: "Sent" },
        { _tag: "Ended", failure: { _tag: "ConnectFailed" } }
      ])
    }).pipe(Effect.provide(recorded)))

  it.effect("finds the first message that breaks the protocol", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const recording = yield* RecordingTransport.RecordingTransport
      yield* client.call(ContractServer.Say, { text: "x" })
      const exit = yield* Effect.exit(recording.check)
      const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
      expect(defect).toBeInstanceOf(Wire.InvalidMessage)
      expect(defect).toMatchObject({ from: "server" })
    }).pipe(
      Effect.provide(
        McpClient.layer().pipe(Layer.provideMerge(RecordingTransport.layer(Layer.succeed(Transport.Transport, {
          name: "memory",
          hasHeaders: false,
          send: ({ id }) => Effect.succeed({ response: { _tag: "Success", id, result: { content: [] } } })
        }))))
      )
    ))
})
