import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Resource, Revision } from "@fairlead/protocol"
import { McpServer } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { asked, ways } from "./support/ask.ts"
import { serve } from "./support/serve.ts"
import { headersOf, request } from "./support/wire.ts"

const { codes, meta } = Revision
const serverInfo = { [meta.serverInfo]: { name: "test", version: "1.2.3" } }

const fixed = (uri: string, options: Partial<Resource.Options> = {}) => Resource.make(uri, { name: uri, ...options })
const text = (uri: string, answer: Resource.Answer = uri) =>
  McpServer.resource(fixed(uri), () => Effect.succeed(answer))

/** A template that answers with its own text and its parameters. */
const echo = <Params extends Schema.Top = Schema.$Record<Schema.String, Schema.String>>(
  uriTemplate: string,
  params?: Params
) =>
  McpServer.resourceTemplate(
    Resource.template(uriTemplate, { name: uriTemplate, params }),
    (params) => Effect.succeed(`${uriTemplate} ${JSON.stringify(params)}`)
  ) as Layer.Layer<never, never, McpServer.McpServer>

const read = "resources/read"

describe("a read", () => {
  it.effect(
    verifies("HDR-9", "RES-4")("of a URI beyond ASCII is routed by its header in base64 form"),
    () =>
      Effect.gen(function*() {
        const uri = "note://测试/ä b".replace(" ", "%20")
        const server = yield* serve(
          McpServer.resource(Resource.make(uri, { name: "note" }), () => Effect.succeed("Noted."))
        )
        const message = request("resources/read", { uri })
        assert.match(headersOf(message)["mcp-name"]!, /^=\?base64\?/)
        assert.strictEqual((yield* server.send(message)).json.result.contents[0].uri, uri)
        const other = yield* server.send(message, { headers: { "mcp-name": "=?base64?bm90ZTovLw==?=" } })
        assert.strictEqual(other.json.error.code, codes.headerMismatch)
      })
  )

  it.effect.each(ways)(
    verifies("RES-4", "CACHE-1", "META-14", "BASE-7")(
      "of a text has the URI, the media type and the cache members, over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const layer = McpServer.resource(
          fixed("docs://a", { mimeType: "text/plain" }),
          () => Effect.succeed("Ä\n\u2028")
        )
        const { ask } = yield* asked(way, layer)
        assert.deepStrictEqual((yield* ask(read, { uri: "docs://a" })).result, {
          contents: [{ uri: "docs://a", mimeType: "text/plain", text: "Ä\n\u2028" }],
          ttlMs: 0,
          cacheScope: "private",
          resultType: "complete",
          _meta: serverInfo
        })
      })
  )

  it.effect.each(ways)(verifies("RES-4", "RES-10")("of bytes is base64, over %s"), (way) =>
    Effect.gen(function*() {
      const layer = McpServer.resource(
        fixed("docs://a", { mimeType: "image/png" }),
        () => Effect.succeed(new Uint8Array([0, 1, 254, 255]))
      )
      const { ask } = yield* asked(way, layer)
      assert.deepStrictEqual((yield* ask(read, { uri: "docs://a" })).result.contents, [
        { uri: "docs://a", mimeType: "image/png", blob: "AAH+/w==" }
      ])
    }))

  it.effect(
    verifies("RES-4")("can have several contents, of texts and bytes, with metadata"),
    () =>
      Effect.gen(function*() {
        const contents: Resource.Answer = [
          { uri: "docs://a/1", text: "one", mimeType: "text/x", _meta: { "com.example/a": 1 } },
          { uri: "docs://a/2", blob: new Uint8Array() }
        ]
        const { ask } = yield* asked("HTTP", text("docs://a", contents))
        assert.deepStrictEqual((yield* ask(read, { uri: "docs://a" })).result.contents, [
          { uri: "docs://a/1", text: "one", mimeType: "text/x", _meta: { "com.example/a": 1 } },
          { uri: "docs://a/2", blob: "" }
        ])
      })
  )

  it.effect("has nothing but an empty text where the answer is one", () =>
    Effect.gen(function*() {
      const { ask } = yield* asked("HTTP", text("docs://a", ""))
      assert.deepStrictEqual((yield* ask(read, { uri: "docs://a" })).result.contents, [{ uri: "docs://a", text: "" }])
    }))

  it.effect.each(
    [
      ["nothing", undefined, 0, "private"],
      ["an hour for everybody", { ttl: "1 hour", scope: "public" }, 3_600_000, "public"],
      ["a fraction", { ttl: 0.9 }, 0, "private"],
      ["less than nothing", { ttl: -5 }, 0, "private"],
      ["for ever", { ttl: Infinity }, Number.MAX_SAFE_INTEGER, "private"]
    ] as const
  )(
    verifies("CACHE-1", "CACHE-8")("can be kept as its definition says: %s"),
    ([, cache, ttlMs, cacheScope]) =>
      Effect.gen(function*() {
        const options = { name: "a", ...(cache === undefined ? {} : { cache }) }
        const { ask } = yield* asked(
          "HTTP",
          Layer.mergeAll(
            McpServer.resource(Resource.make("docs://a", options), () => Effect.succeed("")),
            McpServer.resourceTemplate(Resource.template("docs://t/{x}", options), () => Effect.succeed(""))
          )
        )
        for (const uri of ["docs://a", "docs://t/1"]) {
          const { result } = yield* ask(read, { uri })
          assert.deepStrictEqual([result.ttlMs, result.cacheScope], [ttlMs, cacheScope])
        }
      })
  )

  it.effect(
    verifies("RES-4")("gives the handler of a template its parameters, decoded, and the URI as it was sent"),
    () =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const Page = Resource.template("docs://{book}/{page}{?draft,limit}", {
          name: "page",
          params: Schema.Struct({
            book: Schema.String,
            page: Schema.Int,
            draft: Schema.optionalKey(Schema.Boolean),
            limit: Schema.optional(Schema.Int)
          })
        })
        const layer = McpServer.resourceTemplate(Page, (params, uri) =>
          Effect.sync(() => {
            seen.push(params, uri)
            return ""
          }))
        const { ask } = yield* asked("HTTP", layer)
        const uri = "DOCS://a%2fb/7?limit=3&draft=true"
        const { result } = yield* ask(read, { uri })
        assert.deepStrictEqual(seen, [{ book: "a/b", page: 7, draft: true, limit: 3 }, uri])
        assert.strictEqual(result.contents[0].uri, uri)
        yield* ask(read, { uri: "docs://b/1" })
        assert.deepStrictEqual(seen[2], { book: "b", page: 1 })
      })
  )

  it.effect("has the services of its layer and of its request, also to decode its parameters", () =>
    Effect.gen(function*() {
      class Shelf extends Context.Service<Shelf, { readonly name: string }>()("Shelf") {}
      class Tenant extends Context.Service<Tenant, { readonly name: string }>()("Tenant") {}
      const Id = Schema.String.pipe(Schema.decodeTo(Schema.String, {
        decode: SchemaGetter.transformEffect((id: string) => Effect.map(Tenant, ({ name }) => `${name}-${id}`)),
        encode: SchemaGetter.passthrough()
      }))
      const Book = Resource.template("docs://{id}", { name: "book", params: Schema.Struct({ id: Id }) })
      const layer = McpServer.resourceTemplate(
        Book,
        ({ id }) => Effect.map(Shelf, (shelf) => `${shelf.name} ${id}`)
      ).pipe(Layer.provide(Layer.succeed(Shelf, { name: "upper" })))
      const { send } = yield* serve(layer, {
        context: ({ header }) => Effect.succeed(Context.make(Tenant, { name: header("x-tenant") ?? "none" }))
      })
      const answer = yield* send(request(read, { uri: "docs://7" }), { headers: { "x-tenant": "acme" } })
      assert.strictEqual(answer.json.result.contents[0].text, "upper acme-7")
    }))
})

describe("which resource answers", () => {
  const answering = (layer: Layer.Layer<never, never, McpServer.McpServer>, uri: string) =>
    Effect.gen(function*() {
      const { ask } = yield* asked("HTTP", layer)
      const { error, result } = yield* ask(read, { uri })
      return error === undefined ? result.contents[0].text as string : error.message as string
    })

  it.effect(verifies("RES-3")("is the one with that URI, before any template"), () =>
    Effect.gen(function*() {
      const layer = Layer.mergeAll(echo("docs://{x}"), text("docs://a", "fixed"), echo("docs://a{?q}"))
      assert.strictEqual(yield* answering(layer, "docs://a"), "fixed")
      assert.strictEqual(yield* answering(layer, "docs://b"), "docs://{x} {\"x\":\"b\"}")
    }))

  const ranked: ReadonlyArray<readonly [string, ReadonlyArray<string>, string, string]> = [
    ["has more text of its own", ["docs://{x}", "docs://a-{x}"], "docs://a-b", "docs://a-{x}"],
    ["stays in a segment", ["docs://{+x}", "docs://{x}"], "docs://a", "docs://{x}"],
    ["is no list", ["docs:/{/x*}", "docs:/{/x}"], "docs://a", "docs:/{/x}"],
    ["comes first as text", ["docs://x{?b}", "docs://x{?a}"], "docs://x", "docs://x{?a}"]
  ]
  it.effect.each(ranked)(
    verifies("RES-3")("is, of templates, the one that %s, in whatever order they came"),
    ([, templates, uri, winner]) =>
      Effect.gen(function*() {
        const layers = templates.map((template) =>
          echo(template, template.includes("*") ? Schema.Struct({ x: Schema.Array(Schema.String) }) : undefined)
        )
        for (const order of [layers, layers.toReversed()]) {
          const merged = order.reduce((all, layer) => Layer.provideMerge(layer, all), Layer.empty as never)
          assert.isTrue((yield* answering(merged, uri)).startsWith(`${winner} `))
        }
      })
  )

  it.effect("is none, where the parameters of the first template cannot be decoded", () =>
    Effect.gen(function*() {
      const layer = Layer.mergeAll(echo("docs://a-{x}", Schema.Struct({ x: Schema.Int })), echo("docs://{x}"))
      assert.strictEqual(yield* answering(layer, "docs://a-b"), "Unknown resource")
    }))
})

describe("a resource that is not there", () => {
  it.effect.each(ways)(
    verifies("RES-5@server", "RES-10", "BASE-14")(
      "gets -32602 with its URI, the same bytes for every reason, and no handler runs; over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        let runs = 0
        const layer = Layer.mergeAll(
          McpServer.resource(fixed("docs://missing"), () => Effect.fail(new Resource.NotFound())),
          McpServer.resource(fixed("docs://empty"), () => Effect.succeed([])),
          McpServer.resourceTemplate(
            Resource.template("docs://pages/{n}", { name: "n", params: Schema.Struct({ n: Schema.Int }) }),
            ({ n }) =>
              Effect.suspend(() => {
                runs++
                return n > 9 ? Effect.fail(new Resource.NotFound()) : Effect.succeed("")
              })
          )
        )
        const { ask } = yield* asked(way, layer)
        const uris = [
          "docs://missing",
          "docs://empty",
          "docs://nobody",
          "docs://pages/x",
          "docs://pages/1.5",
          "docs://pages/%zz",
          "docs://pages/1/2",
          `docs://pages/${"1".repeat(5000)}`,
          "docs://a b",
          "__proto__",
          "constructor",
          "",
          "docs://MISSING",
          "docs://missing/"
        ]
        for (const uri of uris) {
          const { error, status, text } = yield* ask(read, { uri })
          assert.strictEqual(status, 200)
          assert.deepStrictEqual(error, { code: codes.invalidParams, message: "Unknown resource", data: { uri } })
          assert.strictEqual(
            text.replaceAll(JSON.stringify(uri), "U"),
            (yield* ask(read, { uri: "nobody:here" })).text.replaceAll("\"nobody:here\"", "U")
          )
        }
        assert.strictEqual(runs, 0)
        assert.strictEqual((yield* ask(read, { uri: "docs://pages/10" })).error.message, "Unknown resource")
        assert.strictEqual(runs, 1)
      })
  )

  it.effect(
    verifies("RES-10")("is what a path out of its folder asks for, where parameters are segments"),
    () =>
      Effect.gen(function*() {
        let runs = 0
        const File = Resource.template("file:///docs/{name}", {
          name: "file",
          params: Schema.Struct({ name: Resource.Segment })
        })
        const layer = McpServer.resourceTemplate(File, ({ name }) => Effect.sync(() => `${runs++} ${name}`))
        const { ask } = yield* asked("HTTP", layer)
        for (const name of ["..", "%2e%2e", "..%2Fetc", "..%5Cetc", "%2Fetc", "a%00", "../etc"]) {
          const uri = `file:///docs/${name}`
          assert.deepStrictEqual((yield* ask(read, { uri })).error.data, { uri })
        }
        assert.strictEqual(runs, 0)
        assert.isDefined((yield* ask(read, { uri: "file:///docs/a.md" })).result)
      })
  )

  it.effect.each([undefined, null, 1, {}, []])(
    verifies("RES-10")("is not what the uri %j asks for: that is -32602"),
    (uri) =>
      Effect.gen(function*() {
        const { ask } = yield* asked("a channel", text("docs://a"))
        const { error } = yield* ask(read, { uri })
        assert.deepStrictEqual(error, { code: codes.invalidParams, message: "params.uri must be a string" })
      })
  )
})

describe("a fault", () => {
  const secret = "hunter2"
  it.effect.each<readonly [string, () => Effect.Effect<Resource.Answer, Resource.NotFound>]>([
    ["dies", () => Effect.die(new Error(secret))],
    [
      "throws before it gives an effect",
      () => {
        throw new Error(secret)
      }
    ],
    ["fails with what it does not declare", () => Effect.fail(new Error(secret)) as never],
    ["answers with what is no content", () => Effect.succeed([{ uri: "docs://a", secret }]) as never],
    ["answers with nothing", () => Effect.succeed(undefined) as never]
  ])(
    verifies("RES-5@server")("of a handler that %s is -32603 with a fixed text; the cause is in the log"),
    ([, handle]) =>
      Effect.gen(function*() {
        const template = Resource.template("docs://t/{x}", { name: "t" })
        const server = yield* serve(
          Layer.mergeAll(McpServer.resource(fixed("docs://a"), handle), McpServer.resourceTemplate(template, handle))
        )
        for (const uri of ["docs://a", "docs://t/1"]) {
          const { json, status } = yield* server.send(request(read, { uri }))
          assert.strictEqual(status, 200)
          assert.deepStrictEqual(json.error, { code: codes.internalError, message: "Internal error" })
        }
        assert.strictEqual(server.logs.length, 2)
        for (const { cause, level } of server.logs) {
          assert.strictEqual(level, "Error")
          assert.isAbove(Cause.pretty(cause).length, 0)
        }
      })
  )
})

describe("the lists of resources", () => {
  const icons = [{ src: "https://example.com/a.png", mimeType: "image/png", sizes: ["48x48"], theme: "light" }] as const
  const annotations = { audience: ["user"], priority: 1, lastModified: "2026-07-28T00:00:00Z" } as const
  const common = {
    name: "a",
    title: "A",
    description: "The a.",
    mimeType: "text/plain",
    annotations,
    icons,
    meta: { "com.example/a": [1] }
  } as const

  it.effect.each(ways)(
    verifies("RES-1", "RES-2", "RES-3", "RES-6", "ICON-1", "CACHE-1")(
      "give the declarations as they were made, over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(
          way,
          Layer.mergeAll(
            McpServer.resource(Resource.make("docs://a", { ...common, size: 7 }), () => Effect.succeed("")),
            McpServer.resourceTemplate(Resource.template("docs://a/{x}", common), () => Effect.succeed(""))
          )
        )
        const { meta: _meta, ...rest } = common
        const end = { ttlMs: 0, cacheScope: "private", resultType: "complete", _meta: serverInfo }
        assert.deepStrictEqual((yield* ask("resources/list")).result, {
          resources: [{ uri: "docs://a", ...rest, _meta, size: 7 }],
          ...end
        })
        assert.deepStrictEqual((yield* ask("resources/templates/list")).result, {
          resourceTemplates: [{ uriTemplate: "docs://a/{x}", ...rest, _meta }],
          ...end
        })
      })
  )

  it.effect.each(ways)(
    verifies("RES-1", "DISC-3", "VER-12@server", "BASE-19")(
      "both answer once there is a resource or a template, over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        for (const layer of [text("docs://a"), echo("docs://{x}")]) {
          const { ask } = yield* asked(way, layer)
          const { capabilities } = (yield* ask("server/discover")).result
          assert.deepStrictEqual(capabilities, { resources: { listChanged: true, subscribe: true } })
          assert.isArray((yield* ask("resources/list")).result.resources)
          assert.isArray((yield* ask("resources/templates/list")).result.resourceTemplates)
        }
      })
  )

  it.effect.each(ways)(
    verifies("DISC-3", "VER-12@server", "BASE-19")("are unknown methods where there is none, as is reading; over %s"),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, Layer.empty)
        assert.deepStrictEqual((yield* ask("server/discover")).result.capabilities, {})
        for (const method of ["resources/list", "resources/templates/list", read]) {
          const { error, status } = yield* ask(method, { uri: "docs://a" })
          assert.strictEqual(error.code, codes.methodNotFound)
          assert.strictEqual(status, way === "HTTP" ? 404 : 200)
        }
      })
  )

  it.effect("do not promise changes where nobody can listen", () =>
    Effect.gen(function*() {
      const { ask } = yield* asked("HTTP", text("docs://a"), { listen: false })
      assert.deepStrictEqual((yield* ask("server/discover")).result.capabilities, { resources: {} })
    }))
})
