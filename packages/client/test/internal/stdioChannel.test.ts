import { describe, expect, it } from "@effect/vitest"
import { ConnectionClosed } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Stream from "effect/Stream"
import { Channel } from "../../src/internal/stdioChannel.ts"

describe("what is written", () => {
  it.effect("a frame that comes while the writer begins to wait leaves", () =>
    Effect.gen(function*() {
      // Each step of the writer takes a turn of its own, and the frame comes in any of them.
      for (let before = 0; before < 40; before++) {
        const channel = new Channel({ maxPendingCalls: 1, maxLineBytes: 100, maxResponseBytes: 100 }, () => {})
        let written = 0
        const writer = yield* Stream.runForEach(channel.output, () => Effect.sync(() => written++)).pipe(
          Effect.provideService(Scheduler.MaxOpsBeforeYield, 3),
          Effect.forkChild
        )
        for (let i = 0; i < before; i++) yield* Effect.yieldNow
        const call = yield* Effect.forkChild(Effect.exit(channel.send({
          id: 1,
          method: "tools/call",
          params: {},
          text: "{}",
          headers: [],
          sent: () => {},
          notify: () => {}
        })))
        for (let i = 0; i < 200; i++) yield* Effect.yieldNow
        expect([before, written]).toEqual([before, 1])
        channel.end((evidence) => new ConnectionClosed({ evidence }))
        yield* Fiber.join(call)
        yield* Fiber.join(writer)
      }
    }))
})
