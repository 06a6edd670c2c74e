/**
 * Runs the official conformance suite against what this repository has, and compares with what is expected to pass:
 *
 *     npm run conformance
 *
 * A scenario passes when no check failed and at least as many succeeded as `expected.json` says: a scenario without a
 * single successful check is not a pass. The last two lines count the scored scenarios; the exit code is 1 when an
 * expected one does not pass.
 */
import { NodeMcpEndpoint } from "@fairlead/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { execFile } from "node:child_process"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Os from "node:os"
import * as Path from "node:path"
import { endpoint } from "./everything-server.ts"

interface Expected {
  /** The number of scored scenarios of the suite. */
  readonly scored: { readonly server: number; readonly client: number }
  /** Scored scenarios that pass, with the least number of successful checks. */
  readonly server: Readonly<Record<string, number>>
  readonly client: Readonly<Record<string, number>>
  /** Scenarios that pass but are not scored. */
  readonly unscored: {
    readonly server: Readonly<Record<string, number>>
    readonly client: Readonly<Record<string, number>>
  }
}

interface Check {
  readonly id: string
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO"
  readonly errorMessage?: string
}

const here = import.meta.dirname
const expected: Expected = JSON.parse(Fs.readFileSync(Path.join(here, "expected.json"), "utf8"))
// Asked for inside this folder: the suite is a dependency of this workspace.
const suite = Path.join(
  Path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
  "dist/index.js"
)
const requirements = "2026-07-28"

const run = (args: ReadonlyArray<string>) =>
  Effect.callback<void>((resume) => {
    const child = execFile(process.execPath, [suite, ...args], { maxBuffer: 64 * 1024 * 1024, timeout: 300_000 }, () =>
      resume(Effect.void))
    return Effect.sync(() =>
      child.kill()
    )
  })

/** The checks of each scenario, from the files that the suite wrote; a client's scenarios can lie in folders. */
const readChecks = (output: string): ReadonlyMap<string, ReadonlyArray<Check>> =>
  new Map(
    Fs.readdirSync(output, { recursive: true, encoding: "utf8" })
      .filter((file) => Path.basename(file) === "checks.json")
      .map((file) => {
        const scenario = Path.dirname(file).replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T[^/]*$/, "")
        return [scenario, JSON.parse(Fs.readFileSync(Path.join(output, file), "utf8"))] as const
      })
  )

const count = (checks: ReadonlyArray<Check>, status: Check["status"]) =>
  checks.filter((check) => check.status === status).length

const passes = (checks: ReadonlyArray<Check> | undefined, least: number) =>
  checks !== undefined && count(checks, "FAILURE") === 0 && count(checks, "SUCCESS") >= least

const judge = (results: ReadonlyMap<string, ReadonlyArray<Check>>, wanted: Readonly<Record<string, number>>) => {
  let broken = 0
  for (const [scenario, least] of Object.entries(wanted)) {
    const checks = results.get(scenario)
    if (passes(checks, least)) continue
    broken++
    console.log(`not ok: ${scenario} has ${count(checks ?? [], "SUCCESS")} of ${least} successful checks`)
    for (const check of checks ?? []) {
      if (check.status === "FAILURE") console.log(`    ${check.id}: ${check.errorMessage ?? ""}`)
    }
  }
  return broken
}

/** Prints every scenario of one side and what is broken; gives how many are. */
const report = (side: "server" | "client", results: ReadonlyMap<string, ReadonlyArray<Check>>) => {
  const wanted = { ...expected[side], ...expected.unscored[side] }
  for (const [scenario, checks] of [...results].sort(([a], [b]) => a.localeCompare(b))) {
    const state = passes(checks, 1)
      ? (scenario in wanted ? "pass" : "pass, not in expected.json")
      : scenario in wanted
      ? "FAIL"
      : "not yet"
    console.log(`${scenario}: ${state} (${count(checks, "SUCCESS")}/${checks.length})`)
  }
  return judge(results, wanted)
}

const passed = (side: "server" | "client", results: ReadonlyMap<string, ReadonlyArray<Check>>) =>
  Object.entries(expected[side]).filter(([name, least]) => passes(results.get(name), least)).length

/** The suite splits the command at spaces and gives it to a shell: one file says it all. */
const clientCommand = (folder: string): string => {
  const file = Path.join(folder, "client.sh")
  const words = [process.execPath, "--conditions=@fairlead/source", Path.join(here, "everything-client.ts")]
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  Fs.writeFileSync(file, `#!/bin/sh\nexec ${quoted.join(" ")} "$@"\n`, { mode: 0o755 })
  return file
}

const main = Effect.gen(function*() {
  const { url } = yield* NodeMcpEndpoint.HttpListener
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "conformance-"))),
    (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true }))
  )
  const output = { server: Path.join(folder, "server"), client: Path.join(folder, "client") }
  // The suite's check of DNS rebinding needs the name.
  const named = url.replace("127.0.0.1", "localhost")
  yield* run(["server", "--url", named, "--requirements", requirements, "-o", output.server])
  // All clients start at once: on few cores the last of them waits for long.
  const patience = ["--timeout", "120000"]
  yield* run([
    "client",
    "--command",
    clientCommand(folder),
    "--requirements",
    requirements,
    ...patience,
    "-o",
    output.client
  ])

  const server = readChecks(output.server)
  const client = readChecks(output.client)
  const broken = report("server", server) + report("client", client)
  console.log(`server: ${passed("server", server)}/${expected.scored.server}`)
  console.log(`client: ${passed("client", client)}/${expected.scored.client}`)
  return broken
})

const broken = await Effect.runPromise(
  Effect.scoped(main).pipe(
    Effect.provide(NodeMcpEndpoint.layerHttp({ host: "localhost" }).pipe(Layer.provide(endpoint)))
  )
)
process.exitCode = broken === 0 ? 0 : 1
