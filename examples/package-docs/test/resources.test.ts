import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { HttpTransport, McpClient, type McpClientError, type Subscription } from "@fairlead/client"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, type Prompt } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { PackageDocs } from "../src/PackageDocs.ts"
import { changesSince, ExplainExport, HowDoI, WhatChanged } from "../src/Prompts.ts"
import * as Resources from "../src/Resources.ts"
import { endpoint } from "../src/Server.ts"
import { ListPackages, SearchDocs } from "../src/Tools.ts"
import { project, shapes } from "./fixture.ts"

const wheels = (version: string, readme: string) => ({
  "node_modules/@round/wheels/package.json": JSON.stringify({
    name: "@round/wheels",
    version,
    description: "Wheels that are round",
    types: "./index.d.ts"
  }),
  "node_modules/@round/wheels/README.md": readme,
  "node_modules/@round/wheels/index.d.ts": "/** Turns the wheel. */\nexport declare function turn(): void;\n"
})

const files: Record<string, string> = {
  ...shapes,
  ...wheels("2.0.0", "# Wheels\n\nThey turn.\n"),
  "package.json": JSON.stringify({
    name: "app",
    dependencies: { shapes: "1.0.0", "@round/wheels": "2.0.0", later: "1" }
  }),
  "node_modules/far/package.json": JSON.stringify({ name: "far", version: "1.0.0" }),
  "node_modules/far/README.md": "# Far\n",
  "node_modules/shapes/CHANGELOG.md":
    "# shapes\n\n## 1.2.3\n\n### Fixes\n\nFurlongs everywhere.\n\n## 1.2.3-rc.1\n\nMiles.\n\n## 1.1.0\n\nAcres.\n"
}

// A project on disk and a client of a server of it, over HTTP.
const withClient = <A, E>(
  program: (fixture: Effect.Success<ReturnType<typeof project>>, client: McpClient.Client) => Effect.Effect<A, E, Scope>
) =>
  Effect.gen(function*() {
    const fixture = yield* project(files)
    const served = endpoint.pipe(Layer.provide(PackageDocs.layer({
      project: fixture.directory,
      cache: fixture.cache,
      watch: true
    })))
    const transport = Layer.unwrap(
      Effect.map(NodeMcpEndpoint.HttpListener, ({ url }) => HttpTransport.layer({ url }))
    ).pipe(Layer.provide(NodeMcpEndpoint.layerHttp()), Layer.provide(served), Layer.provide(NodeHttpClient.layerUndici))
    return yield* Effect.gen(function*() {
      return yield* program(fixture, yield* McpClient.McpClient)
    }).pipe(Effect.provide(McpClient.layer().pipe(Layer.provide(transport))))
  })
type Scope = Effect.Services<ReturnType<typeof project>>

const textOf = (result: McpClient.ReadResult): string => {
  const [first] = result.contents
  return first !== undefined && "text" in first ? String(first.text) : ""
}

const read = (client: McpClient.Client, uri: string) => Effect.map(client.readResource(uri), textOf)

describe("resources", () => {
  it.live("the list has the packages and the READMEs of direct dependencies, also when asked at once", () =>
    withClient((_, client) =>
      Effect.gen(function*() {
        const listed = yield* client.listResources
        assert.deepStrictEqual(listed.map(({ uri }) => uri), [
          "npm://@round/wheels/readme",
          "npm://packages",
          "npm://shapes/readme"
        ])
        assert.deepInclude(listed[0], { title: "@round/wheels 2.0.0", size: 21 })
        assert.deepStrictEqual(
          (yield* client.listResourceTemplates).map(({ uriTemplate }) => uriTemplate),
          [
            "npm://{+module}/exports",
            "npm://{+package}/docs/{+path}",
            "npm://{+package}/package.json",
            "npm://{+package}/readme",
            "npm://{+page}"
          ]
        )
      })
    ))

  it.live("are read by their URIs, those of scoped packages in either spelling", () =>
    withClient((_, client) =>
      Effect.gen(function*() {
        assert.include(yield* read(client, "npm://packages"), "- `@round/wheels` 2.0.0 (direct): Wheels that are round")
        assert.include(yield* read(client, "npm://packages"), "- `far` 1.0.0")
        assert.include(yield* read(client, "npm://shapes/readme"), "Computes areas.")
        assert.include(yield* read(client, "npm://far/readme"), "# Far")
        for (const uri of ["npm://@round/wheels/readme", "npm://%40round%2Fwheels/readme"]) {
          assert.strictEqual(yield* read(client, uri), "# Wheels\n\nThey turn.\n")
        }
        const typed = yield* client.readResource(Resources.Manifest, { package: "@round/wheels" })
        assert.deepInclude(typed.contents[0], { uri: "npm://@round/wheels/package.json", mimeType: "application/json" })
        assert.deepInclude(JSON.parse(textOf(typed)), { version: "2.0.0" })
        assert.include(yield* read(client, "npm://shapes/docs/docs/units.md"), "furlongs")
        assert.include(yield* read(client, "npm://shapes/docs/CHANGELOG.md"), "Acres")
        assert.include(
          yield* read(client, "npm://shapes/exports"),
          "- `area` (function): Computes the area of a shape."
        )
        const circle = yield* read(client, "npm://shapes/Circle/exports")
        assert.include(circle, "`make`")
        assert.notInclude(circle, "`area`")
        assert.include(yield* read(client, "npm://shapes/Circle#make"), "when corners are not wanted")
        assert.include(yield* read(client, "npm://shapes/README.md#usage"), "Call `area`")
      })
    ))

  it.live("are none for what is not there, nor for files that are no documentation", () =>
    withClient((_, client) =>
      Effect.forEach([
        "npm://none/readme",
        "npm://none/package.json",
        "npm://none/exports",
        "npm://shapes/docs/none.md",
        "npm://shapes/docs/dist/index.d.ts",
        "npm://shapes/docs/../../package.json",
        "npm://../package.json",
        "npm://shapes/docs/README.md#usage",
        "npm://area",
        "npm://shapes#none"
      ], (uri) =>
        Effect.gen(function*() {
          assert.match(yield* refusal(client.readResource(uri)), /^-32602 /, uri)
        }))
    ))

  it.live("of a package with very many exports are its modules", () =>
    Effect.sync(() => {
      const info = (module: string, i: number) => ({
        name: `e${i}`,
        module,
        kind: "const",
        signature: "",
        summary: "",
        page: `${module}#e${i}`
      })
      const all = Array.from({ length: 600 }, (_, i) => info(`p/m${i % 2}`, i))
      const text = Resources.exportList("p", all)
      assert.include(text, "- `p/m1`: 300 exports, npm://p/m1/exports")
      assert.notInclude(text, "e599")
      assert.include(Resources.exportList("p/m0", all.slice(0, 1)), "`e0`")
    }))

  it.live("parameters are completed, paths for the package that is known", () =>
    withClient((_, client) =>
      Effect.gen(function*() {
        const packages = yield* client.complete(Resources.Readme, { argument: "package", value: "s" })
        assert.deepStrictEqual(packages, { values: ["shapes", "@round/wheels"], total: 2 })
        const path = { argument: "path", value: "" } as const
        assert.deepStrictEqual((yield* client.complete(Resources.Document, path)).values, [])
        assert.deepStrictEqual(
          (yield* client.complete(Resources.Document, { ...path, context: { package: "shapes" } })).values,
          ["CHANGELOG.md", "README.md", "docs/units.md", "package.json"]
        )
        assert.deepStrictEqual(
          (yield* client.complete(Resources.Document, { ...path, value: "units", context: { package: "shapes" } }))
            .values,
          ["docs/units.md"]
        )
        assert.deepStrictEqual(
          (yield* client.complete(Resources.Exports, { argument: "module", value: "shapes/" })).values,
          ["shapes/Circle", "shapes/area", "shapes/index"]
        )
        assert.deepStrictEqual(
          (yield* client.complete(Resources.Page, { argument: "page", value: "shapes/Circle#" })).values,
          ["shapes/Circle#delete", "shapes/Circle#make"]
        )
      })
    ))
})

// What the server answered that it did not do.
const refusal = (effect: Effect.Effect<unknown, McpClientError.McpClientError | { readonly _tag: "InputRequired" }>) =>
  Effect.map(Effect.flip(effect), (error) =>
    error._tag === "McpClientError" && error.reason._tag === "RpcError"
      ? `${error.reason.code} ${error.reason.text}`
      : error._tag)

const messages = (result: { readonly messages: ReadonlyArray<Prompt.Message> }) =>
  result.messages.map(({ content }) =>
    content.type === "resource"
      ? `${(content.resource as { uri: string }).uri}\n${(content.resource as { text: string }).text}`
      : Content.textOf([content])
  )

describe("prompts", () => {
  it.live("bring the pages they are about along", () =>
    withClient((_, client) =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* client.listPrompts).map(({ name }) => name), [
          "explain_export",
          "how_do_i",
          "what_changed"
        ])
        const [task, page] = messages(
          yield* client.getPrompt(ExplainExport, { package: "shapes/Circle", export: "make" })
        )
        assert.include(task, "Explain `make` of `shapes/Circle`, in version 1.2.3 of shapes")
        assert.match(page!, /^npm:\/\/shapes\/Circle#make\n[^]*when corners are not wanted/)

        const [question, first] = messages(
          yield* client.getPrompt(HowDoI, { task: "How do I turn the wheel?", package: "@round/wheels" })
        )
        assert.include(question, "How do I turn the wheel with @round/wheels? ")
        assert.match(first!, /^npm:\/\/@round\/wheels#turn\n/)
        const nothing = messages(yield* client.getPrompt(HowDoI, { task: "qqqqqqq" }))
        assert.lengthOf(nothing, 1)
        assert.include(nothing[0], "says nothing about it")

        const [, changes] = messages(yield* client.getPrompt(WhatChanged, { package: "shapes", from: "1.2.3-rc.1" }))
        assert.include(changes, "Furlongs everywhere.")
        assert.notInclude(changes, "Miles")
        const [none] = messages(yield* client.getPrompt(WhatChanged, { package: "far" }))
        assert.include(none, "ships no changelog")
      })
    ))

  it.live("say what is wrong with their arguments", () =>
    withClient((_, client) =>
      Effect.gen(function*() {
        const missing = yield* refusal(client.getPrompt("explain_export", { package: "shapes" }))
        assert.match(missing, /^-32602 .*export/)
        const unknown = yield* refusal(client.getPrompt(ExplainExport, { package: "shape", export: "make" }))
        assert.include(unknown, "There is no package \"shape\" in the project's node_modules; similar: shapes")
        const noPage = yield* refusal(client.getPrompt(ExplainExport, { package: "shapes", export: "none" }))
        assert.include(noPage, "There is no page")
        const from = yield* refusal(client.getPrompt("what_changed", { package: "shapes", from: "yesterday" }))
        assert.match(from, /^-32602 .*from/)
      })
    ))

  it.live("arguments are completed", () =>
    withClient((_, client) =>
      Effect.gen(function*() {
        const complete = (argument: "export" | "package", value: string, context?: { package: string }) =>
          Effect.map(
            client.complete(ExplainExport, { argument, value, ...(context === undefined ? {} : { context }) }),
            ({ values }) => values
          )
        assert.deepStrictEqual(yield* complete("package", "shapes/C"), ["shapes/Circle"])
        assert.deepStrictEqual(yield* complete("export", "a"), [])
        assert.deepStrictEqual(
          yield* complete("export", "ar", { package: "shapes" }),
          ["area", "Square", "Tools.sharpen", "oldArea"]
        )
        assert.deepStrictEqual(
          (yield* client.complete(WhatChanged, { argument: "from", value: "1.2", context: { package: "shapes" } }))
            .values,
          ["1.2.3", "1.2.3-rc.1"]
        )
      })
    ))

  it("a changelog is cut at the version and at a length", () => {
    const changelog =
      "# p\n\n## [2.0.0](x)\n\nNew.\n\n### Patch Changes\n\nTen.\n\n## v1.10.0\n\nOld.\n\n## 1.9.0\n\nOlder.\n"
    assert.include(changesSince(changelog, "1.10.0", 1000), "Ten.")
    assert.notInclude(changesSince(changelog, "1.10.0", 1000), "Old.")
    assert.include(changesSince(changelog, "v1.9.0", 1000), "Old.")
    assert.include(changesSince(changelog, undefined, 1000), "Older.")
    assert.match(changesSince(changelog, undefined, 25), /… cut$/)
  })
})

// What is heard until nothing has come for a second. A README that is listed anew changes the list twice.
const heard = (subscription: Subscription.Subscription) =>
  Effect.gen(function*() {
    const out: Array<string> = []
    for (let wait = 20;; wait = 1) {
      const next = yield* subscription.next(`${wait} seconds`)
      if (Option.isNone(next)) return [...new Set(out)].sort()
      out.push(next.value._tag === "ResourceUpdated" ? next.value.uri : next.value._tag)
    }
  })

describe("changes in node_modules", () => {
  const resourceSubscriptions = [
    "npm://packages",
    "npm://@round/wheels/readme",
    "npm://@round/wheels/package.json",
    "npm://@round/wheels/exports",
    "npm://@round/wheels/docs/README.md",
    "npm://@round/wheels#turn",
    "npm://shapes/readme",
    "npm://shapes/docs/docs/units.md",
    "npm://shapes/Circle/exports",
    "npm://shapes/Circle#make",
    "npm://later/readme"
  ]

  it.live(
    "are heard of by listeners, exactly what changed",
    () =>
      withClient((fixture, client) =>
        Effect.gen(function*() {
          yield* client.listResources
          const subscription = yield* client.listen({ resourcesListChanged: true, resourceSubscriptions })
          const change = (make: () => void) =>
            Effect.gen(function*() {
              make()
              return yield* heard(subscription)
            })

          // A file of a package, changed in place.
          assert.deepStrictEqual(
            yield* change(() => fixture.write({ "node_modules/shapes/docs/units.md": "# Units\n\nIn cubits.\n" })),
            ["npm://shapes/docs/docs/units.md"]
          )
          assert.include(yield* read(client, "npm://shapes/docs/docs/units.md"), "cubits")
          const { hits } = yield* client.call(SearchDocs, { query: "cubits" })
          assert.strictEqual(hits[0]?.page, "shapes/docs/units.md#units")

          // A package in another version; its texts name the version.
          assert.deepStrictEqual(
            yield* change(() => {
              fixture.remove("node_modules/@round/wheels")
              fixture.write(wheels("2.1.0", "# Wheels\n\nThey roll.\n"))
            }),
            [
              "ResourcesListChanged",
              "npm://@round/wheels#turn",
              "npm://@round/wheels/docs/README.md",
              "npm://@round/wheels/exports",
              "npm://@round/wheels/package.json",
              "npm://@round/wheels/readme",
              "npm://packages"
            ]
          )
          assert.include(yield* read(client, "npm://@round/wheels/readme"), "roll")

          // A package that comes, in many steps as an installation makes it, is heard of once.
          assert.deepStrictEqual(
            yield* change(() => {
              fixture.write({
                "node_modules/later/package.json": JSON.stringify({ name: "later", version: "1.0.0" }),
                "node_modules/later/README.md": "# Later\n"
              })
              for (let i = 0; i < 200; i++) {
                fixture.write({ [`node_modules/later/docs/page-${i}.md`]: `# Page ${i}\n\nText.\n` })
              }
              fixture.write({ "node_modules/.package-lock.json": "{}" })
            }),
            ["ResourcesListChanged", "npm://later/readme", "npm://packages"]
          )
          assert.include((yield* client.listResources).map(({ uri }) => uri), "npm://later/readme")
          assert.lengthOf(
            (yield* client.complete(Resources.Document, {
              argument: "path",
              value: "docs/",
              context: { package: "later" }
            })).values,
            100
          )

          // A package that goes.
          assert.deepStrictEqual(
            yield* change(() => fixture.remove("node_modules/later")),
            ["ResourcesListChanged", "npm://later/readme", "npm://packages"]
          )
          assert.match(yield* refusal(client.readResource("npm://later/readme")), /^-32602 /)
          assert.deepStrictEqual(Fs.readdirSync(fixture.cache).sort(), [
            "@round+wheels.docs",
            "far.docs",
            "shapes.docs"
          ])

          // What is written beside the packages is nobody's business.
          assert.deepStrictEqual(
            yield* change(() => fixture.write({ "node_modules/.vite/deps.json": "{}", "src/main.ts": "" })).pipe(
              Effect.timeoutOption("2 seconds"),
              Effect.map(Option.getOrElse(() => []))
            ),
            []
          )
        })
      ),
    60_000
  )

  it.live(
    "of a broken package are reported, and it is taken up when it is whole again",
    () =>
      withClient((fixture, client) =>
        Effect.gen(function*() {
          yield* client.listResources
          const subscription = yield* client.listen({ resourceSubscriptions: ["npm://packages"] })
          fixture.write({ "node_modules/far/package.json": "{" })
          assert.deepStrictEqual(yield* heard(subscription), ["npm://packages"])
          assert.deepStrictEqual((yield* client.call(ListPackages, {})).skipped.map((problem) => problem.package), [
            "far"
          ])
          fixture.write({ "node_modules/far/package.json": JSON.stringify({ name: "far", version: "1.0.1" }) })
          assert.deepStrictEqual(yield* heard(subscription), ["npm://packages"])
          assert.deepStrictEqual((yield* client.call(ListPackages, {})).skipped, [])
          assert.isTrue(Fs.existsSync(Path.join(fixture.cache, "far.docs")))
        })
      ),
    60_000
  )
})
