/**
 * A tool that deploys, but not without asking: it builds once, asks whether and when, and releases. Between the questions
 * nothing runs, so the server may be restarted there.
 */
import { Tool } from "@fairlead/protocol"
import { Input, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Path from "node:path"

const Artifact = Schema.Struct({ name: Schema.String, digest: Schema.String })

/** What builds and releases. */
export class Pipeline extends Context.Service<Pipeline, {
  readonly build: (service: string, version: string) => Effect.Effect<typeof Artifact.Type>
  readonly release: (artifact: typeof Artifact.Type, when: string) => Effect.Effect<string>
}>()("@fairlead/example-deploy-approval/Pipeline") {}

/** The deployment was not approved. */
export class NotApproved extends Schema.TaggedError<NotApproved>()("NotApproved", { reason: Schema.String }) {
  override get message(): string {
    return `Not deployed: ${this.reason}`
  }
}

export const Deploy = Tool.make("deploy", {
  description: "Builds a service, asks for approval, and releases it.",
  input: Schema.Struct({ service: Schema.NonEmptyString, version: Schema.NonEmptyString }),
  output: Schema.Struct({ release: Schema.String, digest: Schema.String, when: Schema.String }),
  failure: NotApproved,
  annotations: { destructive: true, idempotent: false }
})

const deploy = McpServer.tool(Deploy, ({ service, version }) =>
  Effect.gen(function*() {
    const pipeline = yield* Pipeline
    yield* Invocation.progress({ progress: 1, total: 3, message: "Building" })
    // However often the handler starts again, this is built once.
    const artifact = yield* Input.step("build", Artifact, pipeline.build(service, version))

    yield* Invocation.progress({ progress: 2, total: 3, message: "Waiting for approval" })
    const { approve, note } = yield* Input.form("approval", {
      message: `Deploy ${artifact.name} (${artifact.digest}) to production?`,
      schema: Schema.Struct({ approve: Schema.Boolean, note: Schema.optionalKey(Schema.String) })
    })
    if (!approve) return yield* new NotApproved({ reason: note ?? "no reason was given" })
    const { when } = yield* Input.form("window", {
      message: "When?",
      schema: Schema.Struct({ when: Schema.Literals(["now", "tonight"]) })
    })

    yield* Invocation.progress({ progress: 3, total: 3, message: "Releasing" })
    const release = yield* pipeline.release(artifact, when)
    return { release, digest: artifact.digest, when }
  }).pipe(Effect.catchTags({
    Declined: () => Effect.fail(new NotApproved({ reason: "it was declined" })),
    Dismissed: () => Effect.fail(new NotApproved({ reason: "nobody answered" }))
  })))

/** The endpoint. `keyFile` holds the key that seals what goes through the client; it is made when it is not there. */
export const endpoint = (keyFile: string) =>
  deploy.pipe(McpEndpoint.serve({
    name: "deploy-approval",
    version: "0.1.0",
    stateKeys: [readKey(keyFile)]
  }))

const readKey = (file: string): Redacted.Redacted<Uint8Array> => {
  if (!Fs.existsSync(file)) {
    Fs.mkdirSync(Path.dirname(file), { recursive: true })
    Fs.writeFileSync(file, Crypto.randomBytes(32), { mode: 0o600, flag: "wx" })
  }
  return Redacted.make(new Uint8Array(Fs.readFileSync(file)))
}
