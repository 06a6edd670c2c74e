/**
 * Clients over HTTP against a bare server, which is faster than any of them.
 */
import { type Child, start } from "../harness/Child.ts"
import { drivers } from "../harness/Drivers.ts"
import type { Row } from "../harness/Row.ts"

const file = "drivers/httpClient.ts"

/** One server for all clients of a row; it ends with the last of them. */
const shared = () => {
  let users = 0
  let running: Promise<Child> | undefined
  return async () => {
    users++
    const { port, stop } = await (running ??= start("driver", "servers/floor.ts"))
    return {
      port,
      stop: async () => {
        if (--users > 0) return
        running = undefined
        await stop()
      }
    }
  }
}

const row = (concurrency: number, name: string): Row => ({
  part: "client",
  name: `small call, ${name}`,
  unit: "calls/s",
  floor: "undici's pool",
  peers: drivers([
    { name: "undici's pool", file, args: ["--peer", "floor"] },
    { name: "fetch alone", file, args: ["--peer", "fetch"] },
    { name: "SDK", file, args: ["--peer", "sdk"] },
    { name: "effect/ai", file, args: ["--peer", "effect/ai"] },
    { name: "Fairlead, portable, on undici", file, args: ["--peer", "fairlead"] },
    { name: "Fairlead, portable, on fetch", file, args: ["--peer", "fairlead/fetch"] },
    { name: "Fairlead, on Node", file, args: ["--peer", "fairlead/node"] }
  ], { concurrency, server: shared() }),
  targets: concurrency === 1 ? [] : [
    { peer: "Fairlead, on Node", against: "undici's pool", atLeast: 0.5 },
    { peer: "Fairlead, on Node", against: "SDK", atLeast: 5 },
    { peer: "Fairlead, portable, on undici", against: "SDK", atLeast: 2 },
    { peer: "Fairlead, portable, on fetch", against: "SDK", atLeast: 2 }
  ]
})

export const client: ReadonlyArray<Row> = [row(1, "one after the other"), row(64, "64 in flight")]
