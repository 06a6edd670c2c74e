/**
 * Asks the package-docs server a question over all three transports and prints the answers:
 *
 *     npm run example -- "how do I run an effect with a timeout"
 *
 * It starts its own servers, so nothing has to run before.
 */
import { NodeHttpClient, NodeRuntime, NodeServices } from "@effect/platform-node"
import { HttpTransport, McpClient, StdioTransport } from "@fairlead/client"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Call, type Transport } from "@fairlead/protocol"
import { InProcess } from "@fairlead/server"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { PackageDocs } from "./src/PackageDocs.ts"
import { endpoint } from "./src/Server.ts"
import { ListPackages, ReadDoc, SearchDocs } from "./src/Tools.ts"

const question = process.argv.slice(2).join(" ") || "how do I run an effect with a timeout"
const served = endpoint.pipe(Layer.provide(PackageDocs.layer({ project: process.cwd() })))

/** The same program over every transport: only the layer below differs. */
const ask = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const { packages } = yield* client.call(ListPackages, {})
  yield* Console.log(`${packages.length} packages, asked: ${question}`)
  const { hits } = yield* client.call(SearchDocs, { query: question, limit: 3 })
  for (const hit of hits) yield* Console.log(`  ${hit.title}  (${hit.package} ${hit.version})\n    ${hit.snippet}`)
  const first = hits[0]
  if (first === undefined) return
  const page = yield* client.call(ReadDoc, { page: first.page })
  yield* Console.log(`  --- ${page.title} ---\n${page.text.slice(0, 300).replace(/^/gm, "  ")}\n`)
}).pipe(
  Effect.catchTag("PageNotFound", (error) => Console.error(error.message)),
  Call.withDeadline("1 minute")
)

const http = Layer.unwrap(Effect.map(NodeMcpEndpoint.HttpListener, ({ url }) => HttpTransport.layer({ url }))).pipe(
  Layer.provide(NodeMcpEndpoint.layerHttp()),
  Layer.provide(served),
  Layer.provide(NodeHttpClient.layerUndici)
)

const stdio = StdioTransport.layer({
  command: process.execPath,
  args: [...process.execArgv, new URL("main.ts", import.meta.url).pathname, "--stdio"]
}).pipe(Layer.provide(NodeServices.layer))

const inProcess = InProcess.layer().pipe(Layer.provide(served))

const over = <E>(name: string, transport: Layer.Layer<Transport.Transport, E>) =>
  Console.log(`\n== ${name}`).pipe(
    Effect.andThen(ask),
    Effect.provide(McpClient.layer().pipe(Layer.provide(transport)))
  )

NodeRuntime.runMain(
  over("in-process", inProcess).pipe(
    Effect.andThen(over("HTTP", http)),
    Effect.andThen(over("stdio", stdio))
  )
)
