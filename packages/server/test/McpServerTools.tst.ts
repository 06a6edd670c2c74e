import { Tool } from "@fairlead/protocol"
import { Invocation, McpServer } from "@fairlead/server"
import { Context, Effect, type Layer, type Scope } from "effect"
import { expectTypeOf } from "vitest"

class First extends Context.Service<First, { readonly first: number }>()("test/First") {}
class Second extends Context.Service<Second, { readonly second: number }>()("test/Second") {}

const A = Tool.make("a")
const B = Tool.make("b")
const C = Tool.make("c")
const D = Tool.make("d")

// Handlers with different requirements go into one list: the layer needs what any of them needs.
const many = McpServer.handlers([
  McpServer.toolHandler(A, () => Effect.succeed([])),
  McpServer.toolHandler(B, () => Effect.as(First, [])),
  McpServer.toolHandler(C, () => Effect.as(Effect.all([First, Second]), [])),
  McpServer.toolHandler(D, () => Effect.as(Effect.andThen(Invocation.Invocation, Effect.scope), []))
])
expectTypeOf<Layer.Services<typeof many>>().toEqualTypeOf<McpServer.McpServer | First | Second>()
expectTypeOf<Layer.Services<typeof many>>().not.toEqualTypeOf<Scope.Scope>()

const none = McpServer.handlers([McpServer.toolHandler(A, () => Effect.succeed([]))])
expectTypeOf<Layer.Services<typeof none>>().toEqualTypeOf<McpServer.McpServer>()

declare const list: ReadonlyArray<McpServer.Handler<First>>
expectTypeOf<Layer.Services<ReturnType<typeof McpServer.handlers<typeof list>>>>().toEqualTypeOf<
  McpServer.McpServer | First
>()
