/**
 * What the system says of processes that do not answer for themselves, such as the server behind a pipe. Linux only.
 */
import * as Fs from "node:fs"

/** Ticks of a second in `/proc`: the same on every Linux that Node runs on. */
const ticks = 100

const read = (path: string): string | undefined => {
  try {
    return Fs.readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/** The processes below one, or `undefined` where the system does not tell. */
export const descendantsOf = (pid: number): ReadonlyArray<number> | undefined => {
  const children = read(`/proc/${pid}/task/${pid}/children`)
  if (children === undefined) return undefined
  return children.split(" ").filter((text) => text !== "").flatMap((text) => {
    const child = Number(text)
    return [child, ...descendantsOf(child) ?? []]
  })
}

/** CPU time and peak memory of processes, added up. */
export const usageOf = (
  pids: ReadonlyArray<number>
): { readonly cpuMicros: number; readonly peakBytes: number } => {
  let cpuMicros = 0
  let peakBytes = 0
  for (const pid of pids) {
    // The command in the second field may hold anything, so the fields are counted from its end.
    const fields = read(`/proc/${pid}/stat`)?.replace(/^.*\) /s, "").split(" ")
    if (fields !== undefined) cpuMicros += (Number(fields[11]) + Number(fields[12])) * (1_000_000 / ticks)
    peakBytes += Number(/^VmHWM:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`) ?? "")?.[1] ?? 0) * 1024
  }
  return { cpuMicros, peakBytes }
}
