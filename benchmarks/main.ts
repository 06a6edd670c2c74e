/**
 * Fairlead beside the floor and its peers: `npm run bench`, see README.md.
 */
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import { look } from "./harness/Machine.ts"
import { profile } from "./harness/Profiles.ts"
import { parts } from "./harness/Row.ts"
import { type Plan, type RowResult, run } from "./harness/Run.ts"
import { stopLoad } from "./harness/Servers.ts"
import { render, renderMachine } from "./harness/Table.ts"
import { rows } from "./rows/index.ts"

const usage = `npm run bench -- [part...] [options]

parts: ${parts.join(", ")}; all of them by default

  --quick            short rounds: for a look, not for a comparison
  --rounds <n>       how often each peer is measured (5)
  --seconds <n>      how long a measurement takes (2)
  --only <text>      only rows whose name has the text
  --peers <texts>    only the floor and peers whose name has one of the texts, which commas part
  --json             one JSON document on the standard output
  --write            writes benchmarks/RESULTS.md
  --list             names the rows
  --profile <file>   where the time of a call goes in a program of servers/ or drivers/; with --peer, --message
                     (${["echo", "list", "progress", "in", "out"].join(", ")}) and --concurrency (64)
`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    seconds: { type: "string" },
    only: { type: "string", default: "" },
    peers: { type: "string", default: "" },
    json: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    profile: { type: "string" },
    peer: { type: "string" },
    message: { type: "string", default: "echo" },
    concurrency: { type: "string", default: "64" },
    help: { type: "boolean", default: false }
  }
})

const out = (text: string) => process.stdout.write(`${text}\n`)
const say = (text: string) => process.stderr.write(`${text}\n`)

const unknownPart = positionals.find((part) => !(parts as ReadonlyArray<string>).includes(part))
const wanted = values.peers.split(",").map((text) => text.trim())
const chosen = rows.filter((row) =>
  (positionals.length === 0 || positionals.includes(row.part)) && `${row.part}: ${row.name}`.includes(values.only)
).map((row) => {
  const peers = row.peers.filter(({ name }) => name === row.floor || wanted.some((text) => name.includes(text)))
  const isThere = (peer: string | undefined) => peer === undefined || peers.some(({ name }) => name === peer)
  const targets = row.targets?.filter(({ against, peer }) => isThere(peer) && isThere(against))
  return { ...row, peers, targets }
})

const plan: Plan = {
  rounds: Number(values.rounds ?? (values.quick ? 3 : 5)),
  millis: Number(values.seconds ?? (values.quick ? 0.5 : 2)) * 1000,
  warmUpMillis: values.quick ? 1000 : 3000
}

const described = `${plan.rounds} rounds of ${plan.millis / 1000} s, the peers of a row in turn; medians.`

const bench = async (): Promise<void> => {
  const machine = look()
  const results: Array<RowResult> = []
  const failures: Array<{ readonly row: string; readonly message: string }> = []
  if (!values.json) out(renderMachine(machine, described))
  for (const row of chosen) {
    say(`${row.part}: ${row.name}`)
    try {
      const result = await run(row, plan)
      results.push(result)
      if (!values.json) out(render(result))
    } catch (error) {
      // One peer that fails must not cost the rows after it.
      const message = error instanceof Error ? error.stack ?? error.message : String(error)
      failures.push({ row: `${row.part}: ${row.name}`, message })
      say(message)
      process.exitCode = 1
    }
  }
  const after = { ...machine, load: [...machine.load, Os.loadavg()[0]!] }
  if (values.json) out(JSON.stringify({ machine: after, plan, rows: results, failures }, undefined, 2))
  if (values.write) {
    const text = `# Results\n\n${renderMachine(after, described)}\n${results.map(render).join("\n")}`
    Fs.writeFileSync(Path.join(import.meta.dirname, "RESULTS.md"), text)
  }
}

if (values.help || unknownPart !== undefined) {
  say(unknownPart === undefined ? usage : `There is no part ${unknownPart}.\n\n${usage}`)
  process.exitCode = unknownPart === undefined ? 0 : 1
} else if (values.list) {
  for (const row of chosen) out(`${row.part}: ${row.name} (${row.peers.map(({ name }) => name).join("; ")})`)
} else if (values.profile !== undefined) {
  out(
    await profile({
      program: values.profile,
      args: values.peer === undefined ? [] : ["--peer", values.peer],
      concurrency: Number(values.concurrency),
      message: values.message,
      millis: plan.millis
    })
  )
} else {
  await bench()
}
await stopLoad()
// A peer that failed at its start may have left a child behind, which would hold this process.
process.exit()
