import { Tool } from "@fairlead/protocol"
import { Idempotency, Invocation, McpEndpoint, McpServer, Middleware } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { RateLimiter } from "effect/persistence/RateLimiter"
import type * as Scope from "effect/Scope"
import { expectTypeOf } from "vitest"

class Tenant extends Context.Service<Tenant, { readonly name: string }>()("test/Tenant") {}
class Quota extends Context.Service<Quota, { readonly left: number }>()("test/Quota") {}
class Database extends Context.Service<Database, { readonly url: string }>()("test/Database") {}

const ping = McpServer.tool(Tool.make("ping"), () => Effect.succeed([]))
const info = { name: "test", version: "1.0.0" }

const plain: Middleware.Middleware = (_, next) => next
const needsTenant: Middleware.Middleware<Tenant> = (_, next) => Effect.andThen(Tenant, next)
const needsQuota: Middleware.Middleware<Quota> = (_, next) => Effect.andThen(Quota, next)

// What middleware needs is needed from outside.
const one = ping.pipe(McpEndpoint.serve({ ...info, middleware: [needsTenant] }))
expectTypeOf<Layer.Services<typeof one>>().toEqualTypeOf<Tenant>()

// Of several, all that any of them needs.
const two = ping.pipe(McpEndpoint.serve({ ...info, middleware: [plain, needsTenant, needsQuota] }))
expectTypeOf<Layer.Services<typeof two>>().toEqualTypeOf<Tenant | Quota>()

const builtIn = ping.pipe(McpEndpoint.serve({
  ...info,
  middleware: [
    Middleware.timeout("1 second"),
    Middleware.concurrency(2),
    Middleware.rateLimit({ limit: 1, window: "1 second" }),
    Idempotency.middleware()
  ]
}))
expectTypeOf<Layer.Services<typeof builtIn>>().toEqualTypeOf<RateLimiter | Idempotency.IdempotencyStore>()

// What the context function gives is taken out; what it needs itself stays.
const given = ping.pipe(McpEndpoint.serve({
  ...info,
  context: () => Effect.map(Database, ({ url }) => Context.make(Tenant, { name: url })),
  middleware: [needsTenant, needsQuota]
}))
expectTypeOf<Layer.Services<typeof given>>().toEqualTypeOf<Quota | Database>()

// The request and its scope are always there.
const own = ping.pipe(McpEndpoint.serve({
  ...info,
  middleware: [(request, next) =>
    Effect.gen(function*() {
      yield* Invocation.log("info", request.method)
      yield* Effect.addFinalizer(() => Effect.void)
      return yield* next
    })]
}))
expectTypeOf<Layer.Services<typeof own>>().toEqualTypeOf<never>()
expectTypeOf<Layer.Services<typeof own>>().not.toEqualTypeOf<Scope.Scope>()

// Handlers and middleware that need the same thing need it once.
const both = McpServer.tool(Tool.make("quota"), () => Effect.as(Quota, [])).pipe(
  McpEndpoint.serve({ ...info, middleware: [needsQuota] })
)
expectTypeOf<Layer.Services<typeof both>>().toEqualTypeOf<Quota>()

// `only` needs what its middleware needs.
expectTypeOf(Middleware.only(["tool"], needsTenant)).toEqualTypeOf<Middleware.Middleware<Tenant>>()

// Middleware has no failure of its own: it refuses, or fails with what is told to the client.
// @ts-expect-error
export const failing: Middleware.Middleware = () => Effect.fail("no")
export const rejecting: Middleware.Middleware = () => Effect.fail(new Middleware.Rejected({ message: "no" }))

// It answers with an answer, not with anything.
// @ts-expect-error
export const odd: Middleware.Middleware = () => Effect.succeed({ content: [] })

// There are four kinds.
// @ts-expect-error
Middleware.only(["tools"], plain)

// A duration in an object would be limits by name.
Middleware.timeout({ search: { seconds: 5 }, fetch: "1 minute" })
// @ts-expect-error
Middleware.timeout({ search: "soon" })
