/**
 * What the options cost: each against none, and all together.
 */
import type { Row } from "../harness/Row.ts"
import { servers } from "../harness/Servers.ts"
import { echo } from "../Requests.ts"

const file = "servers/fairleadOptions.ts"

const cost: Row = {
  part: "options",
  name: "small call, 64 connections",
  unit: "calls/s",
  floor: "none",
  peers: servers([
    { name: "none", file },
    { name: "a middleware that passes on", file, args: ["--mode", "middleware"] },
    { name: "an access policy that allows", file, args: ["--mode", "access"] },
    { name: "idempotency, calls without a key", file, args: ["--mode", "idempotency"] },
    { name: "all", file, args: ["--mode", "all"] }
  ], { message: echo, connections: 64 }),
  targets: [{ peer: "all", against: "none", atLeast: 0.5 }]
}

export const options: ReadonlyArray<Row> = [cost]
