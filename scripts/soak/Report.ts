/**
 * What the soak found: a table, and what is wrong in it.
 */
import type { Figures } from "./Figures.ts"

/** The figures of one process, and the slots that did not come back. */
export interface Result {
  readonly name: string
  /** Before anything was done. */
  readonly start: Figures
  /** After the warm-up, when nothing runs. */
  readonly warm: Figures
  /** After the load, when nothing runs. */
  readonly end: Figures
  /** Absent for the process of the clients. */
  readonly slots: number | undefined
  /** What its end gave, where it was asked to end. */
  readonly exit?: number | string | undefined
  readonly expectedExit?: number | undefined
  readonly counts: ReadonlyMap<string, number>
}

/** How much larger than after the warm-up the heap may be. */
const maxGrowth = 0.05

const growth = ({ end, warm }: Result): number => end.heapBytes / warm.heapBytes - 1

const left = ({ end, start }: Result) => ({
  fibers: end.fibers - start.fibers,
  sockets: end.sockets - start.sockets,
  timers: end.timers - start.timers
})

/** What must not be, in words. */
export const faultsOf = (result: Result): ReadonlyArray<string> => {
  const { exit, expectedExit, name, slots } = result
  const counts = { ...left(result), ...slots === undefined ? {} : { slots } }
  const faults = Object.entries(counts).flatMap(([what, count]) =>
    count === 0 ? [] : [`${name}: ${count} ${what} left`]
  )
  // The heap of the clients holds what the generators make.
  if (slots !== undefined && growth(result) > maxGrowth) {
    faults.push(`${name}: the heap grew by ${percent(growth(result))}, more than ${percent(maxGrowth)}`)
  }
  if (exit !== expectedExit) faults.push(`${name}: it ended with ${exit} and not with ${expectedExit}`)
  return faults
}

const percent = (value: number) => `${(100 * value).toFixed(1)} %`
const mebibytes = (bytes: number) => (bytes / 1024 / 1024).toFixed(1)

const kinds = ["calls", "cancels", "disconnects", "listens", "malformed"]

/** The results as a table. */
export const table = (results: ReadonlyArray<Result>): string => {
  const head = ["", ...kinds, "slots", "fibers", "sockets", "timers", "heap MiB", "after", "change"]
  const rows = results.map((result) => {
    const { fibers, sockets, timers } = left(result)
    return [
      result.name,
      ...kinds.map((kind) => result.counts.get(kind)?.toLocaleString("en-US") ?? ""),
      result.slots ?? "",
      fibers,
      sockets,
      timers,
      mebibytes(result.warm.heapBytes),
      mebibytes(result.end.heapBytes),
      percent(growth(result))
    ].map(String)
  })
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)))
  return [head, ...rows].map((row) =>
    row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)).join("  ").trimEnd()
  ).join("\n")
}
