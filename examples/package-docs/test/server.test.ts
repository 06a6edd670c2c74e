import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { HttpTransport, McpClient, StdioTransport } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeMcpEndpoint } from "@fairlead/node"
import type { Transport } from "@fairlead/protocol"
import { InProcess } from "@fairlead/server"
import { Client as OfficialClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as Path from "node:path"
import { PackageDocs } from "../src/PackageDocs.ts"
import { endpoint } from "../src/Server.ts"
import { ListPackages, PackageExports, ReadDoc, SearchDocs } from "../src/Tools.ts"

const root = Path.resolve(import.meta.dirname, "../../..")
const main = Path.join(import.meta.dirname, "../main.ts")
const args = ["--conditions=@fairlead/source", main, "--stdio", "--project", root]
const silent = { write: () => true }
const served = endpoint.pipe(Layer.provide(PackageDocs.layer({ project: root, progress: silent })))

const transports: ReadonlyArray<readonly [string, Layer.Layer<Transport.Transport, unknown>]> = [
  ["in-process", InProcess.layer().pipe(Layer.provide(served))],
  [
    "HTTP",
    Layer.unwrap(Effect.map(NodeMcpEndpoint.HttpListener, ({ url }) => HttpTransport.layer({ url }))).pipe(
      Layer.provide(NodeMcpEndpoint.layerHttp()),
      Layer.provide(served),
      Layer.provide(NodeHttpClient.layerUndici)
    )
  ],
  ["stdio", StdioTransport.layer({ command: process.execPath, args }).pipe(Layer.provide(NodeServices.layer))]
]

const answers = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const { packages } = yield* client.call(ListPackages, {})
  const { hits } = yield* client.call(SearchDocs, { query: "how do I run an effect with a timeout", limit: 5 })
  const page = yield* client.call(ReadDoc, { page: "effect/Effect#timeout" })
  const exported = yield* client.call(PackageExports, { package: "effect/Duration", filter: "seconds", limit: 5 })
  const missing = yield* Effect.flip(client.call(ReadDoc, { page: "effect/Effect#tiemout" }))
  return { packages, hits, page, exported, missing }
})

describe("the package-docs server", () => {
  for (const [name, transport] of transports) {
    it.live(`answers over ${name}`, () =>
      Effect.gen(function*() {
        const { exported, hits, missing, packages, page } = yield* answers
        assert.isTrue(packages.some(({ direct, name, version }) => name === "effect" && direct && version !== ""))
        assert.isTrue(hits.some((hit) => hit.page === "effect/Effect#timeout"))
        assert.include(page.text, "timeout")
        assert.isTrue(exported.exports.some((entry) => entry.name === "seconds"))
        assert.strictEqual(missing._tag, "PageNotFound")
      }).pipe(Effect.provide(McpClient.layer({ timeout: "2 minutes" }).pipe(Layer.provide(transport)))), 180_000)
  }

  it.live(
    verifies("snodo/promise/example_three_transports")(
      "is asked by the example, with the same answers over every transport"
    ),
    () =>
      Effect.promise(async () => {
        const program = Path.join(import.meta.dirname, "../client.ts")
        const child = spawn(process.execPath, [args[0]!, program, "how do I run an effect with a timeout"], {
          cwd: root
        })
        let stdout = ""
        child.stdout.on("data", (chunk: Buffer) => {
          stdout += chunk.toString()
        })
        child.stderr.resume()
        assert.deepStrictEqual(await once(child, "close"), [0, null])
        const sections = stdout.split(/^== (.*)$/m).slice(1).map((part) => part.trim())
        const [inProcess, first, http, second, stdio, third] = sections
        assert.deepStrictEqual([inProcess, http, stdio, sections.length], ["in-process", "HTTP", "stdio", 6])
        assert.include(first, "--- Effect.timeout ---")
        assert.deepStrictEqual([second, third], [first, first])
      }),
    180_000
  )

  const officialClient = () =>
    new OfficialClient({ name: "official", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } })

  const askOfficially = async (client: OfficialClient) => {
    const { tools } = await client.listTools()
    assert.deepStrictEqual(tools.map((tool) => tool.name), [
      "list_packages",
      "package_exports",
      "read_doc",
      "search_docs"
    ])
    const result = await client.callTool({
      name: "search_docs",
      arguments: { query: "Schema optional with default", limit: 3 }
    })
    assert.isUndefined(result.isError)
    assert.lengthOf((result.structuredContent as { hits: ReadonlyArray<unknown> }).hits, 3)
    const refused = await client.callTool({ name: "search_docs", arguments: { query: 1 } })
    assert.isTrue(refused.isError)
    await client.close()
  }

  it.live("is used by the official client over HTTP", () =>
    Effect.gen(function*() {
      const { url } = yield* NodeMcpEndpoint.HttpListener
      yield* Effect.promise(async () => {
        const client = officialClient()
        await client.connect(new StreamableHTTPClientTransport(new URL(url)))
        await askOfficially(client)
      })
    }).pipe(Effect.provide(NodeMcpEndpoint.layerHttp().pipe(Layer.provide(served)))), 180_000)

  it.live("is used by the official client over stdio", () =>
    Effect.promise(async () => {
      const client = officialClient()
      await client.connect(new StdioClientTransport({ command: process.execPath, args }))
      await askOfficially(client)
    }), 180_000)

  it.live("says what it serves and how to try it, and stops on SIGINT", () =>
    Effect.promise(async () => {
      const child = spawn(process.execPath, [args[0]!, main, "--port", "0", "--project", root])
      let stdout = ""
      child.stdout.on("data", (chunk: Buffer) => {
        stdout += chunk.toString()
        if (stdout.includes("Stop with Ctrl-C.")) child.kill("SIGINT")
      })
      child.stderr.resume()
      await once(child, "close")
      for (
        const line of [
          /^Serving package documentation on http:\/\/127\.0\.0\.1:[1-9]\d*\/mcp$/m,
          /^Tools: +list_packages, package_exports, read_doc, search_docs$/m,
          /^Templates: .*npm:\/\/\{\+package\}\/readme/m,
          /^Prompts: +explain_export, how_do_i, what_changed$/m,
          /^Try: +npm run example -- "/m,
          /^Ready: [1-9]\d* pages of [1-9]\d* packages in /m
        ]
      ) assert.match(stdout, line)
    }), 180_000)

  it.live("refuses options that make no sense", () =>
    Effect.forEach(
      [
        ["--nope", /Usage: package-docs/],
        ["--project=/no/such/directory", /^There is no directory \/no\/such\/directory\nUsage/],
        ["--port=70000", /not a port number/]
      ] as const,
      ([option, message]) =>
        Effect.promise(async () => {
          const child = spawn(process.execPath, [args[0]!, main, option])
          let stderr = ""
          child.stderr.on("data", (chunk: Buffer) => {
            stderr += chunk.toString()
          })
          assert.deepStrictEqual(await once(child, "close"), [1, null])
          assert.match(stderr, message)
        })
    ), 60_000)

  it.live("says clearly that its port is in use", () =>
    Effect.gen(function*() {
      const { port } = yield* NodeMcpEndpoint.HttpListener
      const [code, stderr] = yield* Effect.promise(async () => {
        const child = spawn(process.execPath, [args[0]!, main, "--port", String(port), "--project", root])
        let stderr = ""
        child.stderr.on("data", (chunk: Buffer) => {
          stderr += chunk.toString()
        })
        const [code] = await once(child, "close")
        return [code as number, stderr] as const
      })
      assert.strictEqual(code, 1)
      assert.include(
        stderr,
        `Could not listen on 127.0.0.1:${port}: the port is in use. Choose another one with --port.`
      )
    }).pipe(Effect.provide(NodeMcpEndpoint.layerHttp().pipe(Layer.provide(served)))), 60_000)
})
