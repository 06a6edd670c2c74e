/**
 * Calls within one process: client, encoding, decoding and server.
 */
import { drivers } from "../harness/Drivers.ts"
import type { Row } from "../harness/Row.ts"

const file = "drivers/inProcess.ts"

const row = (concurrency: number, name: string): Row => ({
  part: "in-process",
  name: `small call, ${name}`,
  unit: "calls/s",
  peers: drivers([
    { name: "SDK", file, args: ["--peer", "sdk"] },
    { name: "effect/ai", file, args: ["--peer", "effect/ai"] },
    { name: "Fairlead", file, args: ["--peer", "fairlead"] }
  ], { concurrency }),
  targets: [
    { peer: "Fairlead", against: "SDK", atLeast: 2 },
    { peer: "Fairlead", against: "effect/ai", atLeast: 15 }
  ]
})

export const inProcess: ReadonlyArray<Row> = [row(1, "one after the other"), row(16, "16 at once")]
