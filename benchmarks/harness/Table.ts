/**
 * The results as tables, for the terminal and for `RESULTS.md`.
 */
import type { Machine } from "./Machine.ts"
import { rivals } from "./Row.ts"
import type { PeerResult, RowResult, TargetResult } from "./Run.ts"

const grouped = (value: number): string => Math.round(value).toLocaleString("en-US")

const amount = (value: number, unit: string): string =>
  unit === "calls/s" ? grouped(value) : value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0)

const ratio = (value: number | undefined): string =>
  value === undefined ? "" : value.toFixed(value < 0.1 ? 3 : value < 10 ? 2 : 1)

const micros = (value: number | undefined): string =>
  value === undefined ? "" : value < 10 ? value.toFixed(1) : grouped(value)

const mebibytes = (value: number | undefined): string => value === undefined ? "" : (value / 1024 / 1024).toFixed(0)

/** The columns that a row has something for. */
const columnsOf = (row: RowResult): ReadonlyArray<readonly [head: string, cell: (peer: PeerResult) => string]> => {
  const has = (field: "cpuMicros" | "p50Micros" | "peakBytes") => row.peers.some((peer) => peer[field] !== undefined)
  const floorCpu = row.peers.find(({ name }) => name === row.floor)?.cpuMicros
  return [
    ["", ({ name }) => name],
    [row.unit, ({ value }) => amount(value, row.unit)],
    ...row.rounds > 1 ? [["±", ({ spread }: PeerResult) => `${Math.round(spread * 100)}%`] as const] : [],
    ...row.floor === undefined ? [] : [
      ["/floor", (peer: PeerResult) => peer.name === row.floor ? "1" : ratio(peer.ratios[row.floor!])] as const
    ],
    ...rivals.filter((rival) => row.peers.some(({ name }) => name === rival)).map((rival) =>
      [`/${rival}`, (peer: PeerResult) => peer.name === rival ? "1" : ratio(peer.ratios[rival])] as const
    ),
    ...has("cpuMicros") ? [["CPU µs", ({ cpuMicros }: PeerResult) => micros(cpuMicros)] as const] : [],
    ...floorCpu !== undefined
      ? [
        [
          "floor/CPU",
          ({ cpuMicros }: PeerResult) => cpuMicros === undefined ? "" : ratio(floorCpu / cpuMicros)
        ] as const
      ]
      : [],
    ...has("p50Micros")
      ? [
        ["p50 µs", ({ p50Micros }: PeerResult) => micros(p50Micros)] as const,
        ["p99 µs", ({ p99Micros }: PeerResult) => micros(p99Micros)] as const
      ]
      : [],
    ...has("peakBytes") ? [["peak MiB", ({ peakBytes }: PeerResult) => mebibytes(peakBytes)] as const] : []
  ]
}

const target = ({ against, atLeast, atMost, byCpu, met, peer, reached }: TargetResult): string => {
  const bound = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  const found = byCpu === undefined ? ratio(reached) : `${ratio(reached)} (${ratio(byCpu)} by CPU time)`
  return `${met ? "met" : "NOT met"}: ${peer}${against === undefined ? "" : ` / ${against}`} ${bound}, is ${found}`
}

/** A row as a table with its targets. */
export const render = (row: RowResult): string => {
  const columns = columnsOf(row)
  const lines = [columns.map(([head]) => head), ...row.peers.map((peer) => columns.map(([, cell]) => cell(peer)))]
  const widths = columns.map((_, i) => Math.max(3, ...lines.map((line) => line[i]!.length)))
  const written = lines.map((line) =>
    `| ${line.map((cell, i) => i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)).join(" | ")} |`
  )
  const rule = `| ${widths.map((width, i) => i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`).join(" | ")} |`
  const targets = row.targets.map((one) => `- ${target(one)}`)
  return [
    `### ${row.part}: ${row.name}`,
    "",
    written[0],
    rule,
    ...written.slice(1),
    ...targets.length === 0 ? [] : ["", ...targets],
    ""
  ].join("\n")
}

/** What stands above the tables. */
export const renderMachine = (machine: Machine, plan: string): string => {
  const { commit, cores, cpu, date, load, memoryMiB, pinned, system, versions } = machine
  return [
    `${date}, commit ${commit}. ${cpu}, ${cores} cores, ${memoryMiB} MiB, ${system}; load average ${
      load.map((value) => value.toFixed(2)).join(" before, ")
    }${load.length > 1 ? " after" : ""}.`,
    `${Object.entries(versions).map(([name, version]) => `${name} ${version}`).join(", ")}.`,
    `${plan} ${
      pinned
        ? "What is measured and what drives it have a core each."
        : "What is measured and what drives it share the cores: this machine has no `taskset`, or one core."
    }`,
    ""
  ].join("\n")
}
