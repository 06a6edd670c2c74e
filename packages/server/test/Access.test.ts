import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { HttpRules, Prompt, Resource, Revision, Tool } from "@fairlead/protocol"
import { Invocation, type McpEndpoint, McpServer } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { asked, principalOf, ways } from "./support/ask.ts"
import { serve } from "./support/serve.ts"
import { headersOf, request } from "./support/wire.ts"

const { codes } = Revision

/** Counts what runs of it: handlers, decoders, completers. */
const counted = () => {
  let runs = 0
  const count = Effect.sync(() => void runs++)
  const Text = Schema.String.pipe(Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((text: string) => {
      runs++
      return text
    }),
    encode: SchemaGetter.passthrough()
  }))
  const x = Schema.Struct({ x: Text })
  const complete = { x: () => Effect.as(count, ["x"]) }
  const layer = Layer.mergeAll(
    McpServer.tool(Tool.make("tool", { input: x }), () => Effect.as(count, [])),
    McpServer.tool(
      Tool.make("needy", { input: x, requiredCapabilities: { sampling: {} } }),
      () => Effect.as(count, [])
    ),
    McpServer.tool(
      Tool.make("headed", { input: Schema.Struct({ x: Text.annotate({ "x-mcp-header": "X" }) }) }),
      () => Effect.as(count, [])
    ),
    McpServer.resource(Resource.make("docs://fixed", { name: "fixed" }), () => Effect.as(count, "")),
    McpServer.resourceTemplate(
      Resource.template("docs://pages/{x}", { name: "page", params: x }),
      () => Effect.as(count, ""),
      { complete }
    ),
    McpServer.prompt(Prompt.make("prompt", { args: x }), () => Effect.as(count, ""), { complete })
  )
  return { layer, runs: () => runs }
}

type Ask = readonly [method: string, params: Record<string, unknown>]

const args = { arguments: { x: "a" } }
const completing = (ref: object): Ask => ["completion/complete", { ref, argument: { name: "x", value: "" } }]
/** What is there, and the same for what is not, with a name of the same length. */
const asks: ReadonlyArray<readonly [what: string, there: Ask, unknown: Ask]> = [
  ["a tool", ["tools/call", { name: "tool", ...args }], ["tools/call", { name: "nope", ...args }]],
  ["a tool with wrong arguments", ["tools/call", { name: "tool", arguments: [] }], ["tools/call", { name: "nope" }]],
  ["a tool that needs a capability", ["tools/call", { name: "needy", ...args }], ["tools/call", { name: "nope" }]],
  ["a tool with header parameters", ["tools/call", { name: "headed", ...args }], ["tools/call", { name: "nope" }]],
  ["a resource", ["resources/read", { uri: "docs://fixed" }], ["resources/read", { uri: "docs://nobody" }]],
  [
    "a resource of a template",
    ["resources/read", { uri: "docs://pages/1" }],
    ["resources/read", { uri: "nope://pages/1" }]
  ],
  ["a prompt", ["prompts/get", { name: "prompt", ...args }], ["prompts/get", { name: "nobody", ...args }]],
  ["a prompt without its arguments", ["prompts/get", { name: "prompt" }], ["prompts/get", { name: "nobody" }]],
  [
    "the completion of a prompt",
    completing({ type: "ref/prompt", name: "prompt" }),
    completing({ type: "ref/prompt", name: "nobody" })
  ],
  [
    "the completion of a template",
    completing({ type: "ref/resource", uri: "docs://pages/{x}" }),
    completing({ type: "ref/resource", uri: "nope://pages/{x}" })
  ],
  [
    "the completion of a URI",
    completing({ type: "ref/resource", uri: "docs://pages/1" }),
    completing({ type: "ref/resource", uri: "nope://pages/1" })
  ]
]

const policies: ReadonlyArray<readonly [string, McpEndpoint.AccessPolicy]> = [
  ["hidden", { visible: () => false }],
  ["denied", { callable: () => false }],
  ["hidden and said to be callable", { visible: () => false, callable: () => true }]
]

describe("what is not for the caller", () => {
  const each = policies.flatMap(([how, policy]) =>
    asks.flatMap(([what, there, unknown]) => ways.map((way) => ({ how, policy, what, there, unknown, way })))
  )
  it.effect.each(each)(
    verifies("TOOL-15", "RES-10", "PROMPT-7", "COMP-5", "CACHE-8", "TOOL-11")(
      "is as if it did not exist, to the byte, and nothing of it runs: $what, $how, over $way"
    ),
    ({ policy, there, unknown, way }) =>
      Effect.gen(function*() {
        const { layer, runs } = counted()
        const open = yield* asked(way, layer)
        const closed = yield* asked(way, layer, { access: () => policy })
        const refused = yield* closed.ask(...there)
        assert.strictEqual(refused.error?.code, codes.invalidParams)
        assert.strictEqual(refused.status, 200)
        assert.strictEqual(runs(), 0)
        const expected = yield* open.ask(...unknown)
        // A URI comes back as it was asked for; nothing else tells one from the other.
        const uriOf = ([, { uri }]: Ask) => typeof uri === "string" ? uri : "\u0000"
        assert.strictEqual(
          refused.text.replaceAll(uriOf(there), "U"),
          expected.text.replaceAll(uriOf(unknown), "U")
        )
        assert.strictEqual((yield* closed.ask(...unknown)).text, expected.text)
      })
  )

  it.effect("is there for others", () =>
    Effect.gen(function*() {
      const { layer, runs } = counted()
      const { ask } = yield* asked("a channel", layer, {
        access: () => ({ visible: () => true, callable: () => true })
      })
      let before = 0
      for (const [what, there] of asks) {
        const { error, result } = yield* ask(...there)
        if (what.includes("capability") || what.includes("without") || what.includes("wrong")) {
          assert.isDefined(error, what)
        } else {
          assert.isDefined(result, what)
          assert.isAbove(runs(), before)
        }
        before = runs()
      }
    }))

  it.effect("does not show by a header that is missing either", () =>
    Effect.gen(function*() {
      const { layer } = counted()
      const { send } = yield* serve(layer, { access: () => ({ visible: ({ name }) => name !== "headed" }) })
      const call = (name: string) => request("tools/call", { name, ...args })
      const texts = new Set<string>()
      for (const name of ["headed", "nobody"]) {
        for (const value of [undefined, "wrong", "a"]) {
          const headers = { ...headersOf(call(name)), [`${HttpRules.headerNames.parameterPrefix}x`]: value }
          texts.add((yield* send(call(name), { headers })).text)
        }
      }
      assert.strictEqual(texts.size, 1)
    }))

  it.effect(verifies("RES-10", "CACHE-8")("is not reached through another template"), () =>
    Effect.gen(function*() {
      let runs = 0
      const any = McpServer.resourceTemplate(
        Resource.template("docs://{+path}", { name: "any" }),
        () => Effect.sync(() => String(runs++)),
        { complete: { path: () => Effect.sync(() => [String(runs++)]) } }
      )
      const { ask } = yield* asked("HTTP", Layer.mergeAll(counted().layer, any), {
        access: () => ({ visible: ({ name }) => name === "docs://{+path}" })
      })
      for (const uri of ["docs://fixed", "docs://pages/1"]) {
        assert.deepStrictEqual((yield* ask("resources/read", { uri })).error, {
          code: codes.invalidParams,
          message: "Unknown resource",
          data: { uri }
        })
      }
      const ref = { type: "ref/resource", uri: "docs://pages/1" }
      assert.isDefined((yield* ask("completion/complete", { ref, argument: { name: "path", value: "" } })).error)
      assert.strictEqual(runs, 0)
      assert.isDefined((yield* ask("resources/read", { uri: "docs://other" })).result)
    }))
})

describe("a list", () => {
  it.effect.each(ways)(
    verifies("TOOL-2", "CACHE-8", "STATE-7", "RES-1", "PROMPT-1")(
      "has what the caller may see, called or not; over %s"
    ),
    (way) =>
      Effect.gen(function*() {
        const server = yield* asked(way, counted().layer, {
          context: principalOf,
          access: ({ principal }) => ({
            visible: ({ kind, name }) =>
              principal === "root" || (principal === "alice" && kind !== "prompt" && name !== "needy"),
            callable: () => principal === "root"
          })
        })
        const listed = (as?: string) =>
          Effect.forEach(["tools", "resources", "resources/templates", "prompts"], (list) =>
            Effect.map(server.ask(`${list}/list`, {}, { as }), ({ result }) => {
              const items = result[list === "resources/templates" ? "resourceTemplates" : list]
              assert.strictEqual(result.cacheScope, "private")
              return items.map((item: Record<string, string>) =>
                item["uri"] ?? item["uriTemplate"] ?? item["name"]
              )
            }))
        const all = [["headed", "needy", "tool"], ["docs://fixed"], ["docs://pages/{x}"], ["prompt"]]
        assert.deepStrictEqual(yield* listed("root"), all)
        assert.deepStrictEqual(yield* listed("alice"), [["headed", "tool"], ["docs://fixed"], ["docs://pages/{x}"], []])
        assert.deepStrictEqual(yield* listed(), [[], [], [], []])
        // What one caller saw changes nothing for the next.
        assert.deepStrictEqual(yield* listed("root"), all)
        // The capabilities are the same for everybody.
        const discovered = yield* Effect.forEach(["root", undefined], (as) => server.ask("server/discover", {}, { as }))
        assert.strictEqual(discovered[0]!.text, discovered[1]!.text)
      })
  )
})

describe("a policy", () => {
  it.effect("sees the services of the request, who asks and its correlation", () =>
    Effect.gen(function*() {
      class Tenant extends Context.Service<Tenant, { readonly name: string }>()("Tenant") {}
      const seen: Array<unknown> = []
      const { send } = yield* serve(counted().layer, {
        context: ({ header }) =>
          Effect.succeed(
            Context.make(Tenant, { name: "acme" }).pipe(Context.add(Invocation.Principal, header("x-user")))
          ),
        access: ({ correlation, principal, services }) => {
          seen.push([correlation, principal, Context.get(services, Tenant).name])
          return {}
        }
      })
      const headers = { "x-correlation-id": "c-1", "x-user": "alice" }
      for (const [, [method, params]] of asks) yield* send(request(method, params), { headers })
      yield* send(request("tools/list"), { headers })
      assert.strictEqual(seen.length, asks.length + 1)
      for (const one of seen) assert.deepStrictEqual(one, ["c-1", "alice", "acme"])
    }))

  it.effect("of an endpoint without a context function has nobody and no services", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const { ask } = yield* asked("HTTP", counted().layer, {
        access: ({ principal, services }) => {
          seen.push(principal, services.mapUnsafe.size)
          return {}
        }
      })
      yield* ask("tools/list")
      assert.deepStrictEqual(seen, [undefined, 0])
    }))

  it.effect("sees what each thing is: kind, name and declaration", () =>
    Effect.gen(function*() {
      const seen = new Map<string, McpEndpoint.AccessItem>()
      const { ask } = yield* asked("HTTP", counted().layer, {
        access: () => ({
          visible: (item) => {
            seen.set(`${item.kind} ${item.name}`, item)
            return true
          }
        })
      })
      for (const list of ["tools", "resources", "resources/templates", "prompts"]) yield* ask(`${list}/list`)
      assert.deepStrictEqual([...seen.keys()], [
        "tool headed",
        "tool needy",
        "tool tool",
        "resource docs://fixed",
        "resourceTemplate docs://pages/{x}",
        "prompt prompt"
      ])
      assert.deepStrictEqual(seen.get("resource docs://fixed")?.declaration, { uri: "docs://fixed", name: "fixed" })
    }))

  it.effect("is not asked whether what it hides is callable", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const { send } = yield* serve(counted().layer, {
        access: () => ({
          visible: ({ name }) => name !== "tool",
          callable: ({ name }) => {
            asked.push(name)
            return true
          }
        })
      })
      yield* send(request("tools/call", { name: "tool", ...args }))
      yield* send(request("prompts/get", { name: "prompt", ...args }))
      yield* send(request("prompts/list"))
      assert.deepStrictEqual(asked, ["prompt"])
    }))

  const fail = (): never => {
    throw new Error("hunter2")
  }
  const faults: ReadonlyArray<readonly [string, () => McpEndpoint.AccessPolicy]> = [
    ["itself", fail],
    ["on what is visible", () => ({ visible: fail })],
    ["on what is callable", () => ({ callable: fail })]
  ]
  const broken = faults.flatMap(([where, access]) =>
    [undefined, principalOf].map((context) => ({
      where,
      access,
      context,
      how: context === undefined ? "without" : "with"
    }))
  )
  it.effect.each(broken)(
    verifies("CACHE-8", "TOOL-15")(
      "that throws, $where, gives nothing away and is in the log; $how a context function"
    ),
    ({ access, context, where }) =>
      Effect.gen(function*() {
        const { layer, runs } = counted()
        const server = yield* serve(layer, { access, ...(context === undefined ? {} : { context }) })
        for (const [, [method, params]] of asks) {
          const { json, status } = yield* server.send(request(method, params))
          assert.deepStrictEqual([status, json.error], [200, { code: codes.internalError, message: "Internal error" }])
        }
        assert.strictEqual(runs(), 0)
        assert.strictEqual(server.logs.length, asks.length)
        assert.include(Cause.pretty(server.logs[0]!.cause), "hunter2")
        const list = yield* server.send(request("tools/list"))
        assert.strictEqual(list.json.error?.code, where === "on what is callable" ? undefined : codes.internalError)
        assert.strictEqual((yield* server.send(request("server/discover"))).status, 200)
      })
  )
})
