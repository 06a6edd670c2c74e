/**
 * Serves the deployment tool on http://127.0.0.1:3002/mcp, with a pipeline that only pretends:
 *
 *     npm run scratch -- examples/deploy-approval/main.ts [port] [directory]
 *
 * The directory keeps the key and a log of what was built and released.
 */
import { NodeRuntime } from "@effect/platform-node"
import { NodeMcpEndpoint } from "@fairlead/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { endpoint, Pipeline } from "./src/Server.ts"

const port = Number(process.argv[2] ?? 3002)
const directory = process.argv[3] ?? Path.join(import.meta.dirname, ".cache")

const note = (line: string) => Effect.sync(() => Fs.appendFileSync(Path.join(directory, "pipeline.log"), `${line}\n`))

const pipeline = Layer.succeed(Pipeline, {
  build: (service, version) =>
    Effect.gen(function*() {
      yield* Effect.sleep("50 millis")
      const digest = Crypto.createHash("sha256").update(`${service}@${version}`).digest("hex").slice(0, 12)
      yield* note(`built ${service}@${version}`)
      return { name: `${service}@${version}`, digest }
    }),
  release: ({ name }, when) => Effect.as(note(`released ${name} ${when}`), `release-of-${name}`)
})

Fs.mkdirSync(directory, { recursive: true })
NodeRuntime.runMain(
  endpoint(Path.join(directory, "state.key")).pipe(
    Layer.provide(pipeline),
    NodeMcpEndpoint.launchHttp({ port })
  )
)
