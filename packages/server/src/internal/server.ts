/**
 * The server's catalog as its service.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { DuplicateName, type Handler, type McpServer, type Provided } from "../McpServer.ts"
import type { Catalog } from "./catalog.ts"

export const makeServer = (catalog: Catalog): McpServer["Service"] => ({
  register: <R>({ entry, kind, name }: Handler<R>) =>
    Effect.flatMap(
      Effect.context<Exclude<R, Provided>>(),
      (context) =>
        catalog.add(entry(context as Context.Context<never>))
          ? Effect.void
          : Effect.fail(new DuplicateName({ kind, name }))
    ),
  unregister: (kind, name) => Effect.sync(() => catalog.remove(kind, name)),
  names: (kind) => Effect.sync(() => catalog.names(kind))
})
