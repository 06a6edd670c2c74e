import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Prompt, Resource, Revision, Tool } from "@fairlead/protocol"
import { McpEndpoint, McpServer } from "@fairlead/server"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { vi } from "vitest"
import { type Asked, asked, principalOf, type Way, ways } from "./support/ask.ts"
import { endpointOf, until } from "./support/serve.ts"

const { codes } = Revision

interface Kind {
  readonly kind: McpServer.Kind
  readonly method: string
  readonly items: string
  readonly handler: (name: string) => McpServer.Handler<never>
  /** The name of the nth item, which is the key of its declaration too. */
  readonly nameOf: (n: string) => string
  readonly key: string
}

const kinds: ReadonlyArray<Kind> = [
  {
    kind: "tool",
    method: "tools/list",
    items: "tools",
    handler: (name) => McpServer.toolHandler(Tool.make(name), () => Effect.succeed([])),
    nameOf: (n) => n,
    key: "name"
  },
  {
    kind: "resource",
    method: "resources/list",
    items: "resources",
    handler: (uri) => McpServer.resourceHandler(Resource.make(uri, { name: uri }), () => Effect.succeed("")),
    nameOf: (n) => `docs://${n}`,
    key: "uri"
  },
  {
    kind: "resourceTemplate",
    method: "resources/templates/list",
    items: "resourceTemplates",
    handler: (uri) => McpServer.templateHandler(Resource.template(uri, { name: uri }), () => Effect.succeed("")),
    nameOf: (n) => `docs://${n}/{x}`,
    key: "uriTemplate"
  },
  {
    kind: "prompt",
    method: "prompts/list",
    items: "prompts",
    handler: (name) => McpServer.promptHandler(Prompt.make(name), () => Effect.succeed("")),
    nameOf: (n) => n,
    key: "name"
  }
]
const [tools] = kinds as [Kind]

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `t${String(i).padStart(5, "0")}`)
const layerOf = (kind: Kind, names: ReadonlyArray<string>) =>
  McpServer.handlers(names.map((name) => kind.handler(kind.nameOf(name))))
/** The same names of every kind. */
const everything = (names: ReadonlyArray<string>) =>
  McpServer.handlers(kinds.flatMap((kind) => names.map((name) => kind.handler(kind.nameOf(name)))))

const page = (server: Asked, kind: Kind, cursor?: unknown, as?: string) =>
  Effect.map(server.ask(kind.method, { cursor }, { as }), ({ error, result, text }) => ({
    error,
    text,
    names: result?.[kind.items].map((item: Record<string, string>) => item[kind.key]) as ReadonlyArray<string>,
    next: result?.nextCursor as string | undefined
  }))

const walk = (server: Asked, kind: Kind, as?: string) =>
  Effect.gen(function*() {
    const pages: Array<ReadonlyArray<string>> = []
    let cursor: string | undefined
    do {
      const { names, next } = yield* page(server, kind, cursor, as)
      pages.push(names)
      cursor = next
    } while (cursor !== undefined)
    return pages
  })

const invalid = { code: codes.invalidParams, message: "The cursor is not valid" }

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

/** What sealing asks of Web Crypto, counted while an effect runs. */
const countingCrypto = <A, E, R>(effect: (count: () => number) => Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => (["encrypt", "decrypt", "digest"] as const).map((name) => vi.spyOn(crypto.subtle, name))),
    (spies) => effect(() => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)),
    (spies) => Effect.sync(() => spies.forEach((spy) => spy.mockRestore()))
  )

describe("a list", () => {
  const each = kinds.flatMap((kind) => ways.map((way) => ({ way, kind, what: kind.items })))
  it.effect.each(each)(
    verifies("PAGE-1", "PAGE-3", "CACHE-7@server", "TOOL-3", "PROMPT-6@server", "STATE-5@server")(
      "of $what is in pages that show each item exactly once, in the order of the names; over $way"
    ),
    ({ kind, way }) =>
      Effect.gen(function*() {
        const names = numbered(7)
        const server = yield* asked(
          way,
          layerOf(kind, ["t00003", "t00001", ...names.filter((n) => !/[13]$/.test(n))]),
          {
            pageSize: 3,
            cache: { [kind.kind]: { ttl: "1 minute", scope: "public" } }
          }
        )
        const pages = yield* walk(server, kind)
        assert.deepStrictEqual(pages.map((names) => names.length), [3, 3, 1])
        assert.deepStrictEqual(pages.flat(), names.map(kind.nameOf))
        // All pages of a list can be shared or none.
        const first = (yield* server.ask(kind.method)).result
        const second = (yield* server.ask(kind.method, { cursor: first.nextCursor })).result
        for (const { cacheScope, ttlMs } of [first, second]) {
          assert.deepStrictEqual([cacheScope, ttlMs], ["public", 60_000])
        }
      })
  )

  it.effect("has a hundred items a page, and a full last page is the last", () =>
    Effect.gen(function*() {
      for (const [count, lengths] of [[100, [100]], [101, [100, 1]], [200, [100, 100]], [0, [0]]] as const) {
        const server = yield* asked("a channel", Layer.mergeAll(layerOf(tools, ["z"]), layerOf(tools, numbered(count))))
        yield* server.server.unregister("tool", "z")
        assert.deepStrictEqual((yield* walk(server, tools)).map((names) => names.length), [...lengths])
      }
    }))

  it.effect("is in the order of UTF-16 code units, whatever the locale", () =>
    Effect.gen(function*() {
      const names = ["a", "B", "ä", "Z", "z", "😀", "\uffee", "1", "10", "2"]
      const server = yield* asked("a channel", layerOf(kinds[3]!, names))
      assert.deepStrictEqual((yield* page(server, kinds[3]!)).names, [...names].sort())
    }))

  it.effect.each([0, -1, 1.5, NaN, Infinity])("cannot have pages of %s items", (pageSize) =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(endpointOf(Layer.empty, { pageSize }))
      const error = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
      assert.deepInclude(error, {
        error: new McpEndpoint.InvalidConfig({ field: "pageSize", reason: "it must be a whole number above 0" })
      })
    }))
})

describe("a cursor", () => {
  const two = (way: Way, kind = tools, options: Partial<McpEndpoint.Options> = {}) =>
    asked(way, everything(numbered(4)), {
      pageSize: 2,
      ...options
    }).pipe(Effect.bindTo("server"), Effect.bind("first", ({ server }) => page(server, kind)))

  it.effect.each(ways)(
    verifies("PAGE-1", "PAGE-3")("that was forged is -32602, over %s"),
    (way) =>
      Effect.gen(function*() {
        const { first, server } = yield* two(way)
        const { next = "" } = first
        assert.match(next, /^[A-Za-z0-9_-]+$/)
        const flipped = [...next].map((char, i) => `${next.slice(0, i)}${char === "A" ? "B" : "A"}${next.slice(i + 1)}`)
        const forged = [
          "",
          "0",
          "2",
          "bogus",
          "null",
          `${next}=`,
          `${next}A`,
          next.slice(1),
          next.slice(0, -1),
          ` ${next}`,
          next.toLowerCase(),
          btoa("2"),
          ...flipped
        ]
        for (const cursor of forged) assert.deepStrictEqual((yield* page(server, tools, cursor)).error, invalid, cursor)
        for (const cursor of [null, 1, {}, [], true, [next]]) {
          assert.deepStrictEqual((yield* page(server, tools, cursor)).error, invalid)
        }
        assert.isDefined((yield* page(server, tools, next)).names)
      })
  )

  it.effect("can be used again, and gives the same page", () =>
    Effect.gen(function*() {
      const { first, server } = yield* two("HTTP")
      const again = yield* page(server, tools, first.next)
      assert.strictEqual((yield* page(server, tools, first.next)).text, again.text)
    }))

  it.effect(verifies("PAGE-3")("of another list is -32602"), () =>
    Effect.gen(function*() {
      for (const kind of kinds) {
        const { first, server } = yield* two("a channel", kind)
        for (const other of kinds) {
          const { error, names } = yield* page(server, other, first.next)
          if (other === kind) assert.strictEqual(names.length, 2)
          else assert.deepStrictEqual(error, invalid)
        }
      }
    }))

  it.effect(
    verifies("PAGE-3")("of another server is -32602, also if that offers the same"),
    () =>
      Effect.gen(function*() {
        const [one, other] = [yield* two("a channel"), yield* two("a channel")]
        assert.deepStrictEqual((yield* page(other.server, tools, one.first.next)).error, invalid)
      })
  )

  it.effect(
    verifies("STATE-3")("of a replica with the same keys is as good as one's own; the first key seals and all open"),
    () =>
      Effect.gen(function*() {
        const one = yield* two("a channel", tools, { stateKeys: [key(1)] })
        const same = yield* two("a channel", tools, { stateKeys: [key(1)] })
        const rotated = yield* two("a channel", tools, { stateKeys: [key(2), key(1)] })
        const dropped = yield* two("a channel", tools, { stateKeys: [key(2)] })
        for (const { server } of [same, rotated]) {
          assert.deepStrictEqual((yield* page(server, tools, one.first.next)).names, numbered(4).slice(2))
        }
        assert.deepStrictEqual((yield* page(dropped.server, tools, one.first.next)).error, invalid)
        assert.deepStrictEqual((yield* page(dropped.server, tools, rotated.first.next)).names, numbered(4).slice(2))
      })
  )

  it.effect("of a replica with the same keys that offers something else is -32602, after as many changes too", () =>
    Effect.gen(function*() {
      const one = yield* asked("a channel", layerOf(tools, ["a", "b", "c"]), { pageSize: 2, stateKeys: [key(1)] })
      const other = yield* asked("a channel", layerOf(tools, ["a", "aa", "b"]), { pageSize: 2, stateKeys: [key(1)] })
      const { next } = yield* page(one, tools)
      assert.deepStrictEqual((yield* page(other, tools, next)).error, invalid)
    }))

  it.effect.each(ways)(
    verifies("PAGE-3", "STATE-7")("is outdated by a change of its list, and by no other; over %s"),
    (way) =>
      Effect.gen(function*() {
        for (const kind of kinds) {
          const { first, server } = yield* two(way, kind)
          for (const other of kinds) {
            if (other !== kind) yield* server.server.register(other.handler(other.nameOf("new")))
          }
          assert.strictEqual((yield* page(server, kind, first.next)).names.length, 2)
          yield* server.server.register(kind.handler(kind.nameOf("new")))
          assert.deepStrictEqual((yield* page(server, kind, first.next)).error, invalid)
          const fresh = yield* page(server, kind)
          yield* server.server.unregister(kind.kind, kind.nameOf("t00000"))
          assert.deepStrictEqual((yield* page(server, kind, fresh.next)).error, invalid)
          assert.deepStrictEqual(
            (yield* walk(server, kind)).flat(),
            [...numbered(4).slice(1), "new"].map(kind.nameOf).sort()
          )
        }
      })
  )

  it.effect.each(ways)(
    verifies("PAGE-3", "CACHE-8")("of one who sees something else is -32602, over %s"),
    (way) =>
      Effect.gen(function*() {
        const server = yield* asked(way, layerOf(tools, numbered(8)), {
          pageSize: 2,
          context: principalOf,
          access: ({ principal }) => ({
            visible: ({ name }) => principal === "alice" || Number(name.slice(1)) % 2 === 0
          })
        })
        const { next } = yield* page(server, tools, undefined, "alice")
        assert.deepStrictEqual((yield* page(server, tools, next, "bob")).error, invalid)
        assert.deepStrictEqual((yield* page(server, tools, next)).error, invalid)
        assert.deepStrictEqual((yield* page(server, tools, next, "alice")).names, ["t00002", "t00003"])
        assert.deepStrictEqual((yield* walk(server, tools, "alice")).flat(), numbered(8))
        assert.deepStrictEqual((yield* walk(server, tools, "bob")).flat(), ["t00000", "t00002", "t00004", "t00006"])
      })
  )
})

describe("a cursor", () => {
  it.effect.each(ways)(
    verifies("PAGE-3", "CACHE-8")("does not tell of a change that its caller may not see, over %s"),
    (way) =>
      Effect.gen(function*() {
        const server = yield* asked(way, layerOf(tools, [...numbered(6), "secret"]), {
          pageSize: 2,
          access: () => ({ visible: ({ name }) => !name.startsWith("secret") })
        })
        const { next } = yield* page(server, tools)
        yield* server.server.register(tools.handler("secret-too"))
        yield* server.server.unregister("tool", "secret")
        assert.deepStrictEqual((yield* page(server, tools, next)).names, ["t00002", "t00003"])
        yield* server.server.register(tools.handler("t00009"))
        assert.deepStrictEqual((yield* page(server, tools, next)).error, invalid)
      })
  )
})

describe("while a page is sealed", () => {
  /** Holds the next call of a method of Web Crypto until it is released. */
  const holding = (name: "encrypt" | "digest") => {
    const own = crypto.subtle[name].bind(crypto.subtle) as (...args: ReadonlyArray<unknown>) => Promise<ArrayBuffer>
    let release = () => {}
    let held = false
    const spy = vi.spyOn(crypto.subtle, name).mockImplementation(
      (async (...args: ReadonlyArray<unknown>) => {
        if (!held) {
          held = true
          await new Promise<void>((resolve) => {
            release = resolve
          })
        }
        return own(...args)
      }) as never
    )
    return { isHeld: () => held, release: () => release(), restore: () => spy.mockRestore() }
  }

  it.effect("a change of the list does not leave the old page behind", () =>
    Effect.gen(function*() {
      const server = yield* asked("a channel", layerOf(tools, numbered(3)), { pageSize: 2 })
      const hold = holding("encrypt")
      yield* Effect.addFinalizer(() => Effect.sync(hold.restore))
      const old = yield* Effect.forkChild(page(server, tools))
      yield* until(hold.isHeld)
      yield* server.server.register(tools.handler("a"))
      assert.deepStrictEqual((yield* page(server, tools)).names, ["a", "t00000"])
      hold.release()
      const { next } = yield* Fiber.join(old)
      assert.deepStrictEqual((yield* page(server, tools)).names, ["a", "t00000"])
      assert.deepStrictEqual((yield* page(server, tools, next)).error, invalid)
      assert.deepStrictEqual((yield* walk(server, tools)).flat(), ["a", ...numbered(3)])
    }))

  it.effect("a change of the list does not give the old page a cursor into the new one", () =>
    Effect.gen(function*() {
      const server = yield* asked("a channel", layerOf(tools, numbered(3)), { pageSize: 2, access: () => ({}) })
      const hold = holding("digest")
      yield* Effect.addFinalizer(() => Effect.sync(hold.restore))
      const old = yield* Effect.forkChild(page(server, tools))
      yield* until(hold.isHeld)
      // As many items as before, so that only their names differ.
      yield* server.server.register(tools.handler("a"))
      yield* server.server.unregister("tool", "t00002")
      hold.release()
      const { names, next } = yield* Fiber.join(old)
      assert.deepStrictEqual(names, ["t00000", "t00001"])
      assert.deepStrictEqual((yield* page(server, tools, next)).error, invalid)
    }))
})

describe("what a list costs", () => {
  it.effect("is not that templates are compared each with each, as they come", () =>
    Effect.gen(function*() {
      const server = yield* asked("a channel", layerOf(kinds[2]!, numbered(5000)))
      assert.strictEqual((yield* server.server.names("resourceTemplate")).length, 5000)
      const { result } = yield* server.ask("resources/read", { uri: "docs://t04999/1" })
      assert.strictEqual(result.contents[0].text, "")
    }))

  it.effect("is no crypto for a list of one page, with and without a policy", () =>
    Effect.gen(function*() {
      for (const access of [undefined, () => ({ visible: () => true })]) {
        const server = yield* asked("HTTP", layerOf(tools, numbered(100)), access === undefined ? {} : { access })
        yield* countingCrypto((count) =>
          Effect.gen(function*() {
            for (let i = 0; i < 3; i++) assert.strictEqual((yield* page(server, tools)).names.length, 100)
            assert.strictEqual(count(), 0)
          })
        )
      }
    }))

  it.effect("of ten thousand is a page that is made once, and once more after a change", () =>
    Effect.gen(function*() {
      const server = yield* asked("HTTP", layerOf(tools, numbered(10_000)))
      yield* countingCrypto((count) =>
        Effect.gen(function*() {
          const first = yield* page(server, tools)
          const made = count()
          assert.isAbove(made, 0)
          for (let i = 0; i < 5; i++) assert.strictEqual((yield* page(server, tools)).text, first.text)
          assert.strictEqual(count(), made)
          yield* server.server.register(tools.handler("a"))
          assert.strictEqual((yield* page(server, tools)).names[0], "a")
          assert.isAbove(count(), made)
        })
      )
      const pages = yield* walk(server, tools)
      assert.strictEqual(pages.length, 101)
      assert.deepStrictEqual(pages.flat(), ["a", ...numbered(10_000)])
    }))

  it.effect("is asking a policy once for each item, and reading no declaration twice", () =>
    Effect.gen(function*() {
      let asks = 0
      const server = yield* asked("a channel", layerOf(tools, numbered(50)), {
        pageSize: 10,
        access: () => ({
          visible: () => {
            asks++
            return true
          }
        })
      })
      const { next } = yield* page(server, tools)
      assert.strictEqual(asks, 50)
      yield* page(server, tools, next)
      assert.strictEqual(asks, 100)
    }))
})

describe("how long a list may be kept", () => {
  it.effect.each(ways)(
    verifies("CACHE-1", "DISC-2")(
      "is said by all of them, discovery and reads: private and stale at once by default; over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const { ask } = yield* asked(way, everything(["a"]))
        for (const method of ["server/discover", ...kinds.map(({ method }) => method), "resources/read"]) {
          const { result } = yield* ask(method, method === "resources/read" ? { uri: "docs://a" } : {})
          assert.deepStrictEqual([method, result.ttlMs, result.cacheScope], [method, 0, "private"])
        }
        for (const method of ["tools/call", "prompts/get"]) {
          const { result } = yield* ask(method, { name: "a" })
          assert.notProperty(result, "ttlMs")
          assert.notProperty(result, "cacheScope")
        }
      })
  )

  it.effect.each(ways)(verifies("CACHE-1")("is set for each by its kind, over %s"), (way) =>
    Effect.gen(function*() {
      const { ask } = yield* asked(way, everything(["a"]), {
        cache: {
          discovery: { ttl: "1 hour", scope: "public" },
          tool: { ttl: "1 second" },
          resource: { ttl: "2 seconds", scope: "public" },
          resourceTemplate: { scope: "public" },
          prompt: { ttl: -1, scope: "private" }
        }
      })
      const expected: ReadonlyArray<readonly [string, number, string]> = [
        ["server/discover", 3_600_000, "public"],
        ["tools/list", 1000, "private"],
        ["resources/list", 2000, "public"],
        ["resources/templates/list", 0, "public"],
        ["prompts/list", 0, "private"]
      ]
      for (const [method, ttlMs, cacheScope] of expected) {
        const { result } = yield* ask(method)
        assert.deepStrictEqual([method, result.ttlMs, result.cacheScope], [method, ttlMs, cacheScope])
      }
    }))

  it.effect.each(["tool", "resource", "resourceTemplate", "prompt"] as const)(
    verifies("CACHE-8", "CACHE-7@server")("cannot be public where a policy decides who sees it: a list of the kind %s"),
    (kind) =>
      Effect.gen(function*() {
        const cache = { [kind]: { scope: "public" } } as const
        const exit = yield* Effect.exit(endpointOf(Layer.empty, { cache, access: () => ({}) }))
        const error = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
        assert.deepInclude(error, {
          error: new McpEndpoint.InvalidConfig({
            field: `cache.${kind}`,
            reason: "a list that depends on the caller is not public"
          })
        })
        // Without a policy, or private, it is fine; so is discovery, which is the same for all.
        yield* endpointOf(Layer.empty, { cache })
        yield* endpointOf(Layer.empty, {
          cache: { [kind]: { ttl: 1 }, discovery: { scope: "public" } },
          access: () => ({})
        })
      })
  )
})
