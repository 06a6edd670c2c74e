/**
 * Serves the documentation of the packages installed in a project, over HTTP or stdio:
 *
 *     npm start                              this project, on http://127.0.0.1:3000/mcp
 *     npm start -- --port 8080 --project ../app
 *     node main.ts --stdio                   for hosts that start servers themselves
 */
import { NodeRuntime } from "@effect/platform-node"
import { NodeMcpEndpoint } from "@fairlead/node"
import { McpServer } from "@fairlead/server"
import * as Console from "effect/Console"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import { PackageDocs } from "./src/PackageDocs.ts"
import { endpoint } from "./src/Server.ts"

const usage = "Usage: package-docs [--stdio] [--port 3000] [--project DIRECTORY] [--cache DIRECTORY]"

class UsageError extends Data.TaggedError("UsageError")<{ readonly message: string }> {}

const options = Effect.try({
  try: () => {
    const { values } = parseArgs({
      options: {
        stdio: { type: "boolean", default: false },
        port: { type: "string", default: "3000" },
        project: { type: "string", default: process.cwd() },
        cache: { type: "string" }
      }
    })
    const project = Path.resolve(values.project)
    if (!Fs.existsSync(project)) throw new Error(`There is no directory ${project}`)
    return { ...values, port: Number(values.port), project }
  },
  catch: (cause) => new UsageError({ message: `${cause instanceof Error ? cause.message : cause}\n${usage}` })
})

const offered = [["Tools", "tool"], ["Templates", "resourceTemplate"], ["Prompts", "prompt"]] as const

const welcome = Effect.gen(function*() {
  const server = yield* McpServer.McpServer
  const { url } = yield* NodeMcpEndpoint.HttpListener
  const docs = yield* PackageDocs
  yield* Console.log(`Serving package documentation on ${url}`)
  for (const [what, kind] of offered) {
    yield* Console.log(`${`${what}:`.padEnd(10)} ${(yield* server.names(kind)).join(", ")}`)
  }
  yield* Console.log("Try:       npm run example -- \"how do I run an effect with a timeout\"")
  const { milliseconds, pages, reused, indexed } = yield* docs.stats
  yield* Console.log(
    `Ready: ${pages} pages of ${reused + indexed.length} packages in ${(milliseconds / 1000).toFixed(1)} s; ` +
      "changed packages are indexed again. Stop with Ctrl-C."
  )
  if (pages === 0) yield* Console.error("There are no packages yet; what is installed in the project will be indexed.")
  const problems = yield* docs.problems
  if (problems.length > 0) yield* Console.error(`${problems.length} packages were skipped; list_packages names them.`)
})

const main = Effect.gen(function*() {
  const { cache, port, project, stdio } = yield* options
  const docs = PackageDocs.layer({ project, cache, watch: true })
  const served = endpoint.pipe(Layer.provideMerge(docs))
  if (stdio) return yield* NodeMcpEndpoint.launchStdio(served)
  return yield* Layer.launch(
    Layer.effectDiscard(welcome).pipe(
      Layer.provide(NodeMcpEndpoint.layerHttp({ port })),
      Layer.provide(served)
    )
  )
})

NodeRuntime.runMain(
  main.pipe(Effect.catch((error) =>
    Effect.andThen(
      Console.error(
        error._tag === "StartError" && error.reason._tag === "BindFailed"
          ? `${error.message}. Choose another one with --port.`
          : error.message
      ),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )
  ))
)
