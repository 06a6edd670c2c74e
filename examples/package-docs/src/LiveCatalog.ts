/**
 * Keeps what the server lists true: the READMEs of direct dependencies come and go with their packages, and clients that
 * listen to a resource hear of its changes.
 */
import type { Resource } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import { PackageDocs } from "./PackageDocs.ts"
import { readme } from "./ResourceHandlers.ts"
import * as Resources from "./Resources.ts"

// How long the endpoint waits for the index, so that a client which lists at once finds all: longer than it takes to load.
const patience = "1 second"

/** Lists READMEs and tells of changes, for as long as the layer lives. */
export const layer: Layer.Layer<
  never,
  never,
  PackageDocs | McpServer.McpServer | McpEndpoint.McpEndpoint
> = Layer.effectDiscard(Effect.gen(function*() {
  const docs = yield* PackageDocs
  const server = yield* McpServer.McpServer
  const endpoint = yield* McpEndpoint.McpEndpoint
  const listed = yield* Deferred.make<void>()
  // By the names of their packages.
  const registered = new Map<string, Resource.Resource>()

  const listReadmes = Effect.gen(function*() {
    const wanted = new Map<string, Resource.Resource>()
    for (const info of yield* docs.list) {
      const text = info.direct ? yield* Effect.orElseSucceed(readme(info.name), () => undefined) : undefined
      if (text !== undefined) {
        wanted.set(info.name, Resources.readmeOf(info, Buffer.byteLength(text)))
      }
    }
    for (const [name, { declaration, uri }] of registered) {
      // What is listed about a README, such as its version, can be another as well.
      if (JSON.stringify(wanted.get(name)?.declaration) !== JSON.stringify(declaration)) {
        yield* server.unregister("resource", uri)
        registered.delete(name)
      }
    }
    for (const [name, resource] of wanted) {
      if (!registered.has(name)) {
        yield* Effect.orDie(server.register(McpServer.resourceHandler(resource, () => readme(name))))
        registered.set(name, resource)
      }
    }
  })
  const packageList = Effect.map(docs.list, Resources.packageList)

  const changes = yield* docs.changes
  yield* Effect.forkScoped(Effect.gen(function*() {
    yield* listReadmes
    let list = yield* packageList
    yield* Deferred.succeed(listed, undefined)
    while (true) {
      const { packages } = yield* PubSub.take(changes)
      yield* listReadmes
      const before = list
      list = yield* packageList
      if (list !== before) {
        yield* endpoint.resourceUpdated(Resources.Packages.uri)
      }
      for (const change of packages) {
        for (const uri of Resources.changedUris(change)) {
          yield* endpoint.resourceUpdated(uri)
        }
      }
    }
  }))
  yield* Effect.timeoutOption(Deferred.await(listed), patience)
}))
