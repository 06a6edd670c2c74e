/** What a client keeps of a server's answers, and for whom. */
import { assert, describe, expect, it } from "@effect/vitest"
import * as InputHandlers from "@fairlead/client/InputHandlers"
import type * as McpClient from "@fairlead/client/McpClient"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as Revision from "@fairlead/protocol/Revision"
import type { Outgoing } from "@fairlead/protocol/Transport"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { TestClock } from "effect/testing"
import { scripted, success } from "../support/transport.ts"

const meta = (request: Outgoing) => ({ _meta: { [Revision.meta.subscriptionId]: request.id as number } })

/** A server whose answers may be kept for a second, and that stays to be listened to. */
const server = (options: McpClient.Options, hint: Json.Object = { ttlMs: 1000, cacheScope: "public" }) => {
  let listening: Outgoing | undefined
  return Effect.map(
    scripted((request) => {
      request.sent()
      if (request.method === Revision.method.listen) {
        listening = request
        request.notify({
          _tag: "Notification",
          method: Revision.notification.acknowledged,
          params: { notifications: {}, ...meta(request) }
        })
        return Effect.never
      }
      return Effect.succeed(success(request, {
        ...hint,
        tools: [],
        prompts: [],
        resources: [],
        resourceTemplates: [],
        contents: [],
        supportedVersions: [Revision.latest.version],
        capabilities: {}
      }))
    }, options),
    (made) => ({
      ...made,
      tell: (method: string, params: Json.Object = {}) =>
        listening!.notify({ _tag: "Notification", method, params: { ...params, ...meta(listening!) } })
    })
  )
}

const sends = (requests: ReadonlyArray<Outgoing>) =>
  requests.map(({ method, params }) => String(params["uri"] ?? method))

describe("answers", () => {
  it.effect(verifies("CACHE-3")("are not kept unless it is asked for"), () =>
    Effect.gen(function*() {
      const { client, requests } = yield* server({})
      yield* client.listTools
      yield* client.listTools
      expect(requests.length).toBe(2)
    }))

  it.effect(
    verifies("CACHE-2", "CACHE-3")("are kept by method and parameters, until their time is over"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* server({ cache: true })
        for (let i = 0; i < 3; i++) {
          yield* client.discover
          yield* client.listTools
          yield* client.readResource("a:b")
          yield* client.listPage("tools", "2")
        }
        expect(sends(requests)).toEqual(["server/discover", "tools/list", "a:b", "tools/list"])
        yield* TestClock.adjust("999 millis")
        yield* client.listTools
        expect(requests.length).toBe(4)
        yield* TestClock.adjust("1 millis")
        yield* client.listTools
        expect(requests.length).toBe(5)
      })
  )

  it.effect.each<Json.Object>([
    {},
    { ttlMs: 0, cacheScope: "public" },
    { ttlMs: -5, cacheScope: "public" },
    { ttlMs: 1000, cacheScope: "private" },
    { ttlMs: 1000 }
  ])("with the hint %j are not kept for nobody in particular", (hint) =>
    Effect.gen(function*() {
      const { client, requests } = yield* server({ cache: true }, hint)
      yield* client.listTools
      yield* client.listTools
      expect(requests.length).toBe(2)
    }))

  it.effect(
    verifies("CACHE-5@client")("that are private are kept for each caller apart"),
    () =>
      Effect.gen(function*() {
        let who = "ada"
        const { client, requests } = yield* server(
          { cache: { context: Effect.sync(() => who) } },
          { ttlMs: 1000, cacheScope: "private" }
        )
        for (const each of ["ada", "bob", "ada", "bob"]) {
          who = each
          yield* client.listTools
        }
        expect(requests.length).toBe(2)
      })
  )

  it.effect("of calls with metadata of their own are not kept", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* server({ cache: true })
      const list = client.listTools.pipe(Call.withMeta({ "com.example/a": 1 }))
      yield* list
      yield* list
      expect(requests.length).toBe(2)
    }))

  it.effect(
    verifies("MRTR-23", "CACHE-2")("to rounds of input are not kept, nor is the question"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* Effect.provide(
          scripted((request) =>
            Effect.sync(() => {
              request.sent()
              const hint = { ttlMs: 1000, cacheScope: "public" }
              const form = { message: "Who?", requestedSchema: { type: "object" } }
              return success(
                request,
                request.params["requestState"] === undefined && request.params["uri"] === "a:d"
                  ? { ...hint, resultType: "input_required", requestState: "s" }
                  : request.params["inputResponses"] === undefined && request.params["uri"] === "a:b"
                  ? {
                    ...hint,
                    resultType: "input_required",
                    inputRequests: { a: { method: "elicitation/create", params: form } }
                  }
                  : { ...hint, contents: [] }
              )
            }), { cache: true }),
          InputHandlers.form(() => Effect.succeed(InputHandlers.decline))
        )
        yield* client.readResource("a:c")
        yield* client.readResource("a:c")
        expect(requests.length).toBe(1)
        yield* client.readResource("a:b")
        expect(requests.length).toBe(3)
        yield* client.readResource("a:b")
        expect(requests.length).toBe(5)
        for (const sends of [7, 9]) {
          const fiber = yield* Effect.forkChild(client.readResource("a:d"))
          yield* TestClock.adjust("250 millis")
          yield* Fiber.join(fiber)
          expect(requests.length).toBe(sends)
        }
      })
  )

  it.effect(
    verifies("CACHE-4")("are asked for again when they are needed, and never by themselves"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* server({ cache: true })
        yield* client.listTools
        yield* TestClock.adjust("1 day")
        expect(requests.length).toBe(1)
        yield* client.listTools
        expect(requests.length).toBe(2)
      })
  )

  it.effect("are bounded: the least recently used go first", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* server({ cache: { maxEntries: 2 } })
      for (const uri of ["a:1", "a:2", "a:1", "a:3", "a:1", "a:2"]) yield* client.readResource(uri)
      expect(sends(requests)).toEqual(["a:1", "a:2", "a:3", "a:2"])
      const error = yield* Effect.flip(server({ cache: { maxEntries: 0 } }))
      assert(error.reason._tag === "InvalidConfig")
      expect(error.reason.field).toBe("cache")
    }))

  it.effect(
    verifies("CACHE-7@client")(
      "of a list are dropped together when a cursor is not taken any more, and it is read anew"
    ),
    () =>
      Effect.gen(function*() {
        let catalog = 1
        const { client, requests } = yield* scripted((request) => {
          request.sent()
          const { cursor } = request.params
          if (cursor !== undefined && cursor !== String(catalog)) {
            const error = { code: Revision.codes.invalidParams, message: "The cursor is of an older list" }
            return Effect.succeed({ response: { _tag: "Failure", id: request.id, error } as const })
          }
          return Effect.succeed(success(request, {
            ttlMs: cursor === undefined ? 1000 : 10,
            cacheScope: "public",
            tools: [{ name: `${cursor ?? "first"} of ${catalog}`, inputSchema: {} }],
            ...(cursor === undefined ? { nextCursor: String(catalog) } : {})
          }))
        }, { cache: true })
        const names = Effect.map(client.listTools, (tools) => tools.map(({ name }) => name))
        yield* names
        catalog = 2
        // The second page is stale, the first is kept and has the old cursor.
        yield* TestClock.adjust("10 millis")
        expect(yield* names).toEqual(["first of 2", "2 of 2"])
        expect(requests.length).toBe(5)
        // A page by hand drops them too, and what came of it is the caller's to see.
        expect((yield* Effect.flip(client.listPage("tools", "1"))).code).toBe("rpc_error.-32602")
        yield* names
        expect(requests.length).toBe(8)
      })
  )

  it.effect(
    verifies("CACHE-7@client")("are not asked for again and again where no cursor is ever taken"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted((request) => {
          request.sent()
          const error = { code: Revision.codes.invalidParams, message: "No" }
          return Effect.succeed(
            request.params["cursor"] === undefined
              ? success(request, { ttlMs: 1000, cacheScope: "public", tools: [], nextCursor: "a" })
              : { response: { _tag: "Failure", id: request.id, error } as const }
          )
        }, { cache: true })
        expect((yield* Effect.flip(client.listTools)).code).toBe("rpc_error.-32602")
        expect(requests.length).toBe(4)
      })
  )

  it.effect(
    verifies("CACHE-6", "SUB-15", "GAP-22")("that have changed are dropped when a subscription says so"),
    () =>
      Effect.gen(function*() {
        const { client, requests, tell } = yield* server({ cache: true })
        yield* client.listen({ toolsListChanged: true, resourceSubscriptions: ["a:b"] })
        const all = Effect.gen(function*() {
          requests.length = 0
          yield* client.listTools
          yield* client.listPage("tools", "2")
          yield* client.listPrompts
          yield* client.listResources
          yield* client.listResourceTemplates
          yield* client.readResource("a:b")
          yield* client.readResource("a:c")
          return sends(requests)
        })
        yield* all
        expect(yield* all).toEqual([])
        tell(Revision.notification.toolsListChanged)
        expect(yield* all).toEqual(["tools/list", "tools/list"])
        tell(Revision.notification.promptsListChanged)
        expect(yield* all).toEqual(["prompts/list"])
        tell(Revision.notification.resourcesListChanged)
        expect(yield* all).toEqual(["resources/list", "resources/templates/list"])
        tell(Revision.notification.resourceUpdated, { uri: "a:b/c" })
        expect(yield* all).toEqual(["a:b"])
      })
  )
})
