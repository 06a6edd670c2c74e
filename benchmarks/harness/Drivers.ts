/**
 * Peers that are clients, or both ends at once: each is a child that makes calls itself.
 */
import { type Core, start } from "./Child.ts"
import type { Peer, Running } from "./Row.ts"

/** A program that makes calls. */
export interface Driver {
  readonly name: string
  readonly file: string
  readonly args?: ReadonlyArray<string> | undefined
}

/** Clients that make calls; what they start counts as theirs. */
export const drivers = (
  programs: ReadonlyArray<Driver>,
  options: {
    readonly concurrency: number
    readonly core?: Core | undefined
    /** Starts what the clients talk to, and gives its port. */
    readonly server?: (() => Promise<{ readonly port: number; readonly stop: () => Promise<void> }>) | undefined
  }
): ReadonlyArray<Peer> =>
  programs.map(({ args = [], file, name }) => ({
    name,
    start: async (): Promise<Running> => {
      const server = await options.server?.()
      const port = server === undefined ? [] : ["--port", String(server.port)]
      const child = await start(options.core ?? "measured", file, [...args, ...port])
      return {
        measure: async (millis) => {
          const before = await child.usage()
          const belowBefore = child.usageBelow()
          const outcome = await child.run({ millis, concurrency: options.concurrency })
          const after = await child.usage()
          const below = child.usageBelow()
          return {
            value: outcome.calls / outcome.seconds,
            cpuMicros: (after.cpuMicros - before.cpuMicros + (below?.cpuMicros ?? 0) - (belowBefore?.cpuMicros ?? 0)) /
              outcome.calls,
            p50Micros: outcome.p50Micros,
            p99Micros: outcome.p99Micros,
            peakBytes: after.peakBytes + (below?.peakBytes ?? 0)
          }
        },
        stop: async () => {
          await child.stop()
          await server?.stop()
        }
      }
    }
  }))
