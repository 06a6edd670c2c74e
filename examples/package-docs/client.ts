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
import { HowDoI } from "./src/Prompts.ts"
import * as Resources from "./src/Resources.ts"
import { endpoint } from "./src/Server.ts"
import { ListPackages, ReadDoc, SearchDocs } from "./src/Tools.ts"

const question = process.argv.slice(2).join(" ") || "how do I run an effect with a timeout"
const served = endpoint.pipe(Layer.provide(PackageDocs.layer({ project: process.cwd() })))

const excerpt = (text: string, length: number) => `${text.slice(0, length).trim().replace(/^/gm, "  ")} …`

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
  yield* Console.log(`  --- ${page.title} ---\n${excerpt(page.text, 300)}\n`)

  const resources = yield* client.listResources
  yield* Console.log(`${resources.length} resources, such as ${resources.slice(0, 3).map(({ uri }) => uri).join(", ")}`)
  const name = first.package
  const files = yield* client.complete(Resources.Document, { argument: "path", value: "", context: { package: name } })
  yield* Console.log(`Documents of ${name}: ${files.values.slice(0, 5).join(", ")} (${files.total ?? "?"} in all)`)
  const { contents: [readme] } = yield* client.readResource(Resources.Readme, { package: name })
  if (readme !== undefined && "text" in readme) yield* Console.log(`${excerpt(String(readme.text), 120)}\n`)
  const { description, messages } = yield* client.getPrompt(HowDoI, { task: question })
  yield* Console.log(`Prompt: ${description ?? ""}, with ${messages.length - 1} pages of documentation`)
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
