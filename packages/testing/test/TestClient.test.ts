import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import { McpClient } from "@fairlead/client"
import { Call, Tool } from "@fairlead/protocol"
import { Invocation, McpEndpoint, McpServer, Middleware } from "@fairlead/server"
import { RecordingTransport, TestClient, Wire } from "@fairlead/testing"
import { Cause, Context, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"

class Tenant extends Context.Service<Tenant, { readonly name: string }>()("test/Tenant") {}
class Store extends Context.Service<Store, { readonly greeted: Array<string> }>()("test/Store") {}

const Greet = Tool.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ text: Schema.String, principal: Schema.NullOr(Schema.String) })
})

const greeter = McpServer.tool(Greet, ({ name }) =>
  Effect.gen(function*() {
    const { greeted } = yield* Store
    greeted.push(name)
    const { name: tenant } = yield* Tenant
    const { principal } = yield* Invocation.Invocation
    return { text: `Hello, ${name} of ${tenant}!`, principal: principal ?? null }
  }))

const Slow = Tool.make("slow")
const slow = McpServer.tool(Slow, () => Effect.never).pipe(McpEndpoint.serve({ name: "slow", version: "1.0.0" }))

const endpoint = greeter.pipe(
  McpEndpoint.serve({
    name: "greeter",
    version: "1.0.0",
    context: () => Effect.succeed(Context.make(Tenant, { name: "nobody" }))
  }),
  Layer.provideMerge(Layer.sync(Store, () => ({ greeted: [] })))
)

describe("TestClient.layer", () => {
  it.effect("calls an endpoint in the same process, and gives what its layer gives", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      expect(yield* client.call(Greet, { name: "Ada" })).toEqual({ text: "Hello, Ada of nobody!", principal: null })
      expect((yield* Store).greeted).toEqual(["Ada"])
      expect((yield* (yield* RecordingTransport.RecordingTransport).entries).length).toBe(3)
    }).pipe(Effect.provide(TestClient.layer(endpoint))))

  it.effect("gives requests a principal and services of the test's own", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      expect(yield* client.call(Greet, { name: "Ada" })).toEqual({ text: "Hello, Ada of Acme!", principal: "ada" })
    }).pipe(Effect.provide(TestClient.layer(endpoint, {
      principal: "ada",
      services: Context.make(Tenant, { name: "Acme" }) as Context.Context<never>
    }))))

  it.effect("gives a principal beside what the context function gives", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      expect(yield* client.call(Greet, { name: "Ada" })).toEqual({ text: "Hello, Ada of nobody!", principal: "ada" })
    }).pipe(Effect.provide(TestClient.layer(endpoint, { principal: "ada" }))))

  it.effect.each<readonly [string, <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>]>([
    ["a deadline", Call.withDeadline("1 second")],
    ["a timeout", Call.withTimeout("1 second")]
  ])("ends at %s as over any transport, though the server has it too", ([_name, bounded]) =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      for (const millis of [1000, 1500]) {
        const call = yield* Effect.forkChild(Effect.flip(bounded(client.call(Slow, {}))))
        yield* TestClock.adjust(millis)
        const error = yield* Fiber.join(call)
        expect(error._tag === "McpClientError" && error.code).toBe("timed_out.maybe_sent")
      }
    }).pipe(Effect.provide(TestClient.layer(slow))))

  it.live("ends at a deadline in real time, many at once", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const errors = yield* Effect.all(
        Array.from({ length: 100 }, () => Effect.flip(client.call(Slow, {}).pipe(Call.withDeadline("30 millis")))),
        { concurrency: "unbounded" }
      )
      expect(new Set(errors.map((error) => error._tag === "McpClientError" && error.code))).toEqual(
        new Set(["timed_out.maybe_sent"])
      )
    }).pipe(Effect.provide(TestClient.layer(slow))))

  it.effect("makes a call die whose answer breaks the protocol", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const exit = yield* Effect.exit(client.call(Broken, {}))
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBeInstanceOf(Wire.InvalidMessage)
    }).pipe(Effect.provide(TestClient.layer(
      McpServer.tool(Broken, () => Effect.succeed([])).pipe(
        McpEndpoint.serve({
          name: "broken",
          version: "1.0.0",
          middleware: [({ kind }, next) => kind === "tool" ? Effect.succeed(Middleware.answer({})) : next]
        })
      )
    ))))

  it.effect("fails with the client's error for a limit that cannot be used", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Layer.build(TestClient.layer(endpoint, { maxResponseLength: 0 })))
      expect(error).toMatchObject({ code: "invalid_config", reason: { field: "maxResponseLength" } })
    }))

  it("states what it gives, how it fails and what it needs", () => {
    const layer = TestClient.layer(endpoint)
    expectTypeOf<Layer.Success<typeof layer>>().toEqualTypeOf<
      | McpClient.McpClient
      | RecordingTransport.RecordingTransport
      | McpEndpoint.McpEndpoint
      | McpServer.McpServer
      | Store
    >()
    expectTypeOf<Layer.Services<typeof layer>>().toEqualTypeOf<never>()
  })
})

const Broken = Tool.make("broken")
