/**
 * Workers on one port: one against two, with the load on both cores too.
 */
import { start } from "../harness/Child.ts"
import type { Peer, Row } from "../harness/Row.ts"
import { echo } from "../Requests.ts"

const loads = 2
const connections = 32

const workers = (name: string, program: string, count: number): Peer => ({
  name: `${name}, ${count === 1 ? "one worker" : `${count} workers`}`,
  start: async () => {
    const [server, ...loaders] = await Promise.all([
      start("any", "servers/cluster.ts", ["--program", program, "--workers", String(count)]),
      ...Array.from({ length: loads }, () => start("any", "load/main.ts"))
    ])
    return {
      measure: async (millis) => {
        const before = server.usageBelow()
        const outcomes = await Promise.all(
          loaders.map((loader) =>
            loader.run({ millis, concurrency: connections, port: server.port, message: echo, sleeps: true })
          )
        )
        const after = server.usageBelow()
        const calls = outcomes.reduce((sum, outcome) => sum + outcome.calls, 0)
        return {
          value: outcomes.reduce((sum, outcome) => sum + outcome.calls / outcome.seconds, 0),
          cpuMicros: before === undefined || after === undefined
            ? undefined
            : (after.cpuMicros - before.cpuMicros) / calls,
          p50Micros: Math.max(...outcomes.map(({ p50Micros }) => p50Micros)),
          p99Micros: Math.max(...outcomes.map(({ p99Micros }) => p99Micros)),
          peakBytes: after?.peakBytes
        }
      },
      stop: async () => {
        await Promise.all([server, ...loaders].map((child) => child.stop()))
      }
    }
  }
})

export const cores: Row = {
  part: "cores",
  name: "small call, 64 connections, load and workers share two cores",
  unit: "calls/s",
  peers: [
    workers("node:http", "servers/floor.ts", 1),
    workers("node:http", "servers/floor.ts", 2),
    workers("SDK", "servers/sdk.ts", 1),
    workers("SDK", "servers/sdk.ts", 2),
    workers("Fairlead", "servers/fairlead.ts", 1),
    workers("Fairlead", "servers/fairlead.ts", 2)
  ]
}
