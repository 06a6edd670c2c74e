import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Resource, Revision, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer, Notifications } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { about, allLists, listenTo, pipeTo } from "./support/listening.ts"
import { collectLogs, endpointOf, turns, until } from "./support/serve.ts"

const { notification } = Revision

const everything = McpServer.handlers([
  McpServer.toolHandler(Tool.make("ping"), () => Effect.succeed([])),
  McpServer.resourceHandler(Resource.make("docs://manual", { name: "manual" }), () => Effect.succeed("Read."))
])
const other = McpServer.toolHandler(Tool.make("other"), () => Effect.succeed([]))

const updated = (uri: string): Notifications.Change => ({ _tag: "ResourceUpdated", uri })

/** An endpoint with somebody who listens. */
const listening = (shared: Notifications.Notifications["Service"] | undefined) =>
  Effect.gen(function*() {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer((exit) => Scope.close(scope, exit))
    const services = yield* Scope.provide(
      shared === undefined
        ? endpointOf(everything)
        : Effect.provideService(endpointOf(everything), Notifications.Notifications, shared),
      scope
    )
    const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
    // What the registrations published is over.
    yield* turns()
    const pipe = pipeTo(endpoint)
    pipe.send(listenTo({ ...allLists, resourceSubscriptions: ["docs://manual"] }))
    return {
      endpoint,
      server: Context.get(services, McpServer.McpServer),
      told: () => pipe.messages().slice(1).map(about),
      close: Scope.close(scope, Exit.void)
    }
  })

const memory = Effect.map(
  Layer.build(Notifications.layerMemory),
  (services) => Context.get(services, Notifications.Notifications)
)

describe("without the service", () => {
  it.effect("an endpoint tells its own listeners alone", () =>
    Effect.gen(function*() {
      const one = yield* listening(undefined)
      const two = yield* listening(undefined)
      yield* one.server.register(other)
      yield* one.endpoint.resourceUpdated("docs://manual")
      yield* turns()
      assert.lengthOf(one.told(), 2)
      assert.lengthOf(two.told(), 0)
    }))
})

describe("layerMemory", () => {
  it.effect(
    verifies("SUB-13", "RES-9", "TOOL-14", "http/notify")("what one endpoint tells, the listeners of all hear once"),
    () =>
      Effect.gen(function*() {
        const shared = yield* memory
        const one = yield* listening(shared)
        const two = yield* listening(shared)
        yield* turns()
        const [before, beforeTwo] = [one.told().length, two.told().length]
        yield* one.endpoint.resourceUpdated("docs://manual")
        yield* two.server.register(other)
        yield* one.endpoint.resourceUpdated("docs://elsewhere")
        const expected = [`${notification.resourceUpdated} docs://manual`, notification.toolsListChanged]
        yield* until(() => one.told().length >= before + 2 && two.told().length >= beforeTwo + 2)
        yield* turns()
        assert.sameMembers(one.told().slice(before), expected)
        assert.sameMembers(two.told().slice(beforeTwo), expected)
      })
  )

  it.effect("whoever is not an endpoint can publish: a job that changes a resource", () =>
    Effect.gen(function*() {
      const shared = yield* memory
      const one = yield* listening(shared)
      yield* shared.publish(updated("docs://manual"))
      yield* until(() => one.told().length === 1)
    }))

  it.effect("an endpoint that has closed hears nothing, and holds nobody up", () =>
    Effect.gen(function*() {
      const shared = yield* memory
      const one = yield* listening(shared)
      const two = yield* listening(shared)
      yield* turns()
      yield* one.close
      const [told, before] = [one.told().length, two.told().length]
      for (let i = 0; i < 3000; i++) yield* shared.publish(updated("docs://manual"))
      yield* until(() => two.told().length === before + 3000)
      assert.strictEqual(one.told().length, told)
    }))

  it.effect("keeps the order of what one publishes", () =>
    Effect.gen(function*() {
      const shared = yield* memory
      const heard: Array<Notifications.Change> = []
      yield* shared.subscribe((change) =>
        Effect.sync(() => {
          heard.push(change)
        })
      )
      for (let i = 0; i < 100; i++) yield* shared.publish(updated(`docs://${i}`))
      yield* until(() => heard.length === 100)
      assert.deepStrictEqual(heard, Array.from({ length: 100 }, (_, i) => updated(`docs://${i}`)))
    }))

  it.effect("a subscriber hears of what is published once it has subscribed, until its scope closes", () =>
    Effect.gen(function*() {
      const shared = yield* memory
      const heard: Array<Notifications.Change> = []
      yield* shared.publish(updated("docs://before"))
      const scope = yield* Scope.make()
      yield* Scope.provide(
        shared.subscribe((change) =>
          Effect.sync(() => {
            heard.push(change)
          })
        ),
        scope
      )
      yield* shared.publish(updated("docs://while"))
      yield* until(() => heard.length === 1)
      yield* Scope.close(scope, Exit.void)
      yield* shared.publish(updated("docs://after"))
      yield* turns()
      assert.deepStrictEqual(heard, [updated("docs://while")])
    }))

  it.effect("at most 1,024 changes wait for a slow subscriber; then publishing waits, and goes on with it", () =>
    Effect.gen(function*() {
      const shared = yield* memory
      const release = yield* Deferred.make<void>()
      let heard = 0
      yield* shared.subscribe(() =>
        Effect.andThen(
          Deferred.await(release),
          Effect.sync(() => {
            heard++
          })
        )
      )
      let published = 0
      const publishing = yield* Effect.forkChild(Effect.gen(function*() {
        while (published < 3000) {
          yield* shared.publish(updated("docs://manual"))
          published++
        }
      }))
      yield* turns(100)
      assert.isAtLeast(published, 1024)
      // Those that wait, and those that the subscriber has in hand.
      assert.isAtMost(published, 2 * 1024 + 1)
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(publishing)
      yield* until(() => heard === 3000)
    }))

  it.effect("a subscriber that dies misses that change alone, and holds nobody up", () =>
    Effect.gen(function*() {
      const { layer, logs } = collectLogs()
      const shared = yield* memory
      let heard = 0
      let died = 0
      yield* Effect.provide(
        shared.subscribe(() =>
          Effect.suspend(() => {
            died++
            return died % 2 === 1 ? Effect.die(new Error("broken")) : Effect.void
          })
        ),
        layer
      )
      yield* shared.subscribe(() =>
        Effect.sync(() => {
          heard++
        })
      )
      for (let i = 0; i < 2000; i++) yield* shared.publish(updated("docs://manual"))
      yield* until(() => heard === 2000 && died === 2000)
      assert.lengthOf(logs, 1000)
    }))
})

describe("a service of one's own", () => {
  it.effect("gets what the endpoint tells, and its changes reach the listeners", () =>
    Effect.gen(function*() {
      const published: Array<Notifications.Change> = []
      let tell: (change: Notifications.Change) => Effect.Effect<void> = () => Effect.void
      const one = yield* listening({
        publish: (change) =>
          Effect.sync(() => {
            published.push(change)
          }),
        subscribe: (listener) =>
          Effect.sync(() => {
            tell = listener
          })
      })
      published.length = 0
      yield* one.endpoint.resourceUpdated("docs://manual")
      yield* one.server.register(other)
      yield* until(() => published.length === 2)
      // It is the service that tells: it has not yet.
      assert.deepStrictEqual(one.told(), [])
      assert.deepStrictEqual(published, [updated("docs://manual"), { _tag: "ListChanged", kind: "tool" }])
      yield* tell({ _tag: "ListChanged", kind: "resourceTemplate" })
      assert.deepStrictEqual(one.told(), [notification.resourcesListChanged])
    }))

  it.effect("that cannot publish fails no registration", () =>
    Effect.gen(function*() {
      const one = yield* listening({
        publish: () => Effect.die(new Error("no connection")),
        subscribe: () => Effect.void
      })
      yield* one.server.register(other)
      assert.deepStrictEqual(yield* one.server.names("tool"), ["other", "ping"])
    }))
})
