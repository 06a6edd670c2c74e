/**
 * Calls over pipes: client and server of the same make, each on a core of its own.
 */
import { drivers } from "../harness/Drivers.ts"
import type { Row } from "../harness/Row.ts"

const file = "drivers/stdio.ts"

const row = (concurrency: number, name: string, atLeast: number | undefined): Row => ({
  part: "stdio",
  name: `small call, ${name}`,
  unit: "calls/s",
  floor: "lines, parse, stringify",
  peers: drivers([
    { name: "pipes alone", file, args: ["--peer", "pipes"] },
    { name: "lines, parse, stringify", file, args: ["--peer", "floor"] },
    { name: "SDK", file, args: ["--peer", "sdk"] },
    { name: "effect/ai", file, args: ["--peer", "effect/ai"] },
    { name: "Fairlead", file, args: ["--peer", "fairlead"] }
  ], { concurrency }),
  targets: atLeast === undefined ? [] : [{ peer: "Fairlead", against: "SDK", atLeast }]
})

export const stdio: ReadonlyArray<Row> = [row(1, "one after the other", undefined), row(64, "64 in flight", 4)]
