/**
 * The server's catalog as its service.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { DuplicateName, type Handler, type McpServer, type Provided } from "../McpServer.ts"
import type { Catalog } from "./catalog.ts"
import type { Entry } from "./entry.ts"

export const makeServer = (catalog: Catalog): McpServer["Service"] => {
  const add = <R>({ entry, kind, name }: Handler<R>): Effect.Effect<Entry, DuplicateName, Exclude<R, Provided>> =>
    Effect.flatMap(Effect.context<Exclude<R, Provided>>(), (context) => {
      const added = entry(context as Context.Context<never>)
      return catalog.add(added) ? Effect.succeed(added) : Effect.fail(new DuplicateName({ kind, name }))
    })
  return {
    register: (handler) => Effect.asVoid(add(handler)),
    registerScoped: (handler) =>
      Effect.asVoid(Effect.acquireRelease(add(handler), (entry) => Effect.sync(() => catalog.removeEntry(entry)))),
    unregister: (kind, name) => Effect.sync(() => catalog.remove(kind, name)),
    names: (kind) => Effect.sync(() => catalog.names(kind))
  }
}
