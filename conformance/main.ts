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
  readonly unscored: Readonly<Record<string, number>>
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

/** The checks of each scenario, from the files that the suite wrote. */
const readChecks = (output: string): ReadonlyMap<string, ReadonlyArray<Check>> =>
  new Map(
    Fs.readdirSync(output).map((folder) => {
      const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d{2}-\d{2}T.*$/, "")
      const file = Path.join(output, folder, "checks.json")
      return [scenario, Fs.existsSync(file) ? JSON.parse(Fs.readFileSync(file, "utf8")) : []] as const
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

const main = Effect.gen(function*() {
  const { url } = yield* NodeMcpEndpoint.HttpListener
  const output = yield* Effect.acquireRelease(
    Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "conformance-"))),
    (folder) => Effect.sync(() => Fs.rmSync(folder, { recursive: true, force: true }))
  )
  // The suite's check of DNS rebinding needs the name.
  const named = url.replace("127.0.0.1", "localhost")
  yield* run(["server", "--url", named, "--requirements", requirements, "-o", output])
  const results = readChecks(output)

  for (const [scenario, checks] of [...results].sort(([a], [b]) => a.localeCompare(b))) {
    const known = scenario in expected.server || scenario in expected.unscored
    const state = passes(checks, 1) ? (known ? "pass" : "pass, not in expected.json") : known ? "FAIL" : "not yet"
    console.log(`${scenario}: ${state} (${count(checks, "SUCCESS")}/${checks.length})`)
  }
  const broken = judge(results, expected.server) + judge(results, expected.unscored)
  const passed = Object.entries(expected.server).filter(([name, least]) => passes(results.get(name), least)).length
  console.log(`server: ${passed}/${expected.scored.server}`)
  // The client's scenarios are not run yet.
  console.log(`client: 0/${expected.scored.client}`)
  return broken
})

const broken = await Effect.runPromise(
  Effect.scoped(main).pipe(
    Effect.provide(NodeMcpEndpoint.layerHttp({ host: "localhost" }).pipe(Layer.provide(endpoint)))
  )
)
process.exitCode = broken === 0 ? 0 : 1
