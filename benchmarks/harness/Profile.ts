/**
 * Where the time of a call goes: a CPU profile of a server or a client under load, in microseconds a call.
 */
import type { CpuProfile } from "./Message.ts"

/** Time spent in one place. */
export interface Entry {
  readonly name: string
  readonly micros: number
}

const placeOf = ({ functionName, url }: CpuProfile["nodes"][number]["callFrame"]): string => {
  if (functionName === "(garbage collector)") return "garbage collection"
  if (functionName === "(program)") return "system calls and the event loop"
  if (functionName.startsWith("(")) return functionName
  const own = /\/(?:packages|benchmarks)\/(.+)$/.exec(url)
  if (own !== null) return own[1]!.replace("/src/", "/")
  const dependency = /\/node_modules\/(?:@[^/]+\/[^/]+|[^/]+)/g
  const found = [...url.matchAll(dependency)].at(-1)
  if (found !== undefined) return found[0].slice("/node_modules/".length)
  return url.startsWith("node:") ? url.split("/").slice(0, 2).join("/") : "V8 and native code"
}

/** Self time by place and by function, largest first, without the time in which nothing ran. */
export const summarize = (profile: CpuProfile, calls: number) => {
  const byId = new Map(profile.nodes.map((node) => [node.id, node.callFrame]))
  const places = new Map<string, number>()
  const functions = new Map<string, number>()
  const { samples = [], timeDeltas = [] } = profile
  samples.forEach((id, i) => {
    const frame = byId.get(id)!
    if (frame.functionName === "(idle)") return
    const micros = (timeDeltas[i] ?? 0) / calls
    const place = placeOf(frame)
    const name = `${frame.functionName || "(anonymous)"} (${place}:${frame.lineNumber + 1})`
    places.set(place, (places.get(place) ?? 0) + micros)
    functions.set(name, (functions.get(name) ?? 0) + micros)
  })
  const sorted = (map: Map<string, number>): ReadonlyArray<Entry> =>
    [...map].map(([name, micros]) => ({ name, micros })).toSorted((a, b) => b.micros - a.micros)
  return { places: sorted(places), functions: sorted(functions) }
}
