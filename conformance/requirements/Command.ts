/** The command behind `npm run requirements`: reads lists and results, prints, and says whether all is well. */
import { parseArgs } from "node:util"
import { claimable, nearest, unknownMessage } from "./Claims.ts"
import { type Coverage, coverageOf } from "./Coverage.ts"
import type { Lists } from "./Lists.ts"
import { renderMissing, renderReport } from "./Render.ts"
import type { Results, Staleness } from "./Results.ts"
import { problemsOf } from "./Validation.ts"

/** What the command works on. */
export interface Input {
  readonly lists: Lists
  /** The results that still hold; `undefined` when no run was recorded. */
  readonly results: Results | undefined
  readonly stale: Staleness
}

/** What the command did. */
export interface Outcome {
  readonly lines: ReadonlyArray<string>
  readonly exitCode: 0 | 1 | 2
}

const help = [
  "npm run requirements -- [options]",
  "",
  "  --check          fail when a closed area has a hole, an id is unknown, or results are missing",
  "  --missing AREA   only what an area lacks",
  "  --json           the whole picture as JSON",
  "",
  "Results come from the last test runs; run the tests first."
]

const again = "run the tests, then this"

/** Every reason why a check fails, one line each. */
export const failuresOf = (input: Input, coverage: Coverage): ReadonlyArray<string> => {
  const known = claimable(input.lists)
  return [
    ...problemsOf(input.lists),
    ...(input.results === undefined ? [`no test results: ${again}`] : []),
    ...input.stale.missing.map((file) => `${file}: not run: ${again}`),
    ...input.stale.changed.map((file) => `${file}: changed since it was run: ${again}`),
    ...coverage.unknown.map(({ claim, test }) => `${test.file}: ${unknownMessage(claim, known)}`),
    ...coverage.areas.flatMap(({ area, holes }) =>
      holes.map(({ id, level, state, text }) => `closed area ${area.name}: ${id} ${state}: ${level}: ${text}`)
    )
  ]
}

const parse = (args: ReadonlyArray<string>) =>
  parseArgs({
    args: [...args],
    options: {
      check: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      missing: { type: "string" },
      help: { type: "boolean", default: false }
    }
  }).values

const missingOf = (coverage: Coverage, name: string): Outcome => {
  const found = coverage.areas.filter(({ area }) => area.name === name || area.name.startsWith(`${name}/`))
  if (found.length > 0) return { lines: found.flatMap(renderMissing), exitCode: 0 }
  const names = coverage.areas.map(({ area }) => area.name)
  return { lines: [`unknown area ${JSON.stringify(name)}; nearest: ${nearest(name, names).join(", ")}`], exitCode: 2 }
}

/** Runs the command. */
export const runCommand = (args: ReadonlyArray<string>, input: Input): Outcome => {
  let options: ReturnType<typeof parse>
  try {
    options = parse(args)
  } catch (error) {
    return { lines: [(error as Error).message, "", ...help], exitCode: 2 }
  }
  if (options.help) return { lines: help, exitCode: 0 }
  const coverage = coverageOf(input.lists, input.results ?? { version: 1, files: {} })
  if (options.missing !== undefined) return missingOf(coverage, options.missing)
  const failures = failuresOf(input, coverage)
  const exitCode = options.check && failures.length > 0 ? 1 : 0
  if (options.json) return { lines: [JSON.stringify({ ...coverage, failures }, null, 2)], exitCode }
  const report = renderReport(coverage, input.lists)
  if (failures.length === 0) return { lines: report, exitCode }
  const heading = `${options.check ? "failed" : "would fail a check"}: ${failures.length}`
  return { lines: [...report, "", heading, ...failures.map((line) => `  ${line}`)], exitCode }
}
