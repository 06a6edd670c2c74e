/**
 * The server's catalog as its service.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { DuplicateName, type Handler, type McpServer, type Provided } from "../McpServer.ts"
import type { Catalog } from "./catalog.ts"
import { makeRunner } from "./toolRunner.ts"

export const makeServer = (catalog: Catalog): McpServer["Service"] => ({
  register: <R>({ handle, tool }: Handler<R>) =>
    Effect.flatMap(Effect.context<Exclude<R, Provided>>(), (context) => {
      const added = catalog.addTool({
        tool,
        run: makeRunner(tool, handle as (input: unknown) => Effect.Effect<unknown, unknown>),
        context: context as Context.Context<never>
      })
      return added ? Effect.void : Effect.fail(new DuplicateName({ kind: "tool", name: tool.name }))
    }),
  unregister: (name) => Effect.sync(() => catalog.removeTool(name)),
  toolNames: Effect.sync(() => catalog.toolNames())
})
