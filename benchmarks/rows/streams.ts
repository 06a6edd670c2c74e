/**
 * Answers that are streams.
 */
import type { Row } from "../harness/Row.ts"
import { servers } from "../harness/Servers.ts"
import { progress } from "../Requests.ts"

const reports: Row = {
  part: "streams",
  name: "a call with 1,000 progress reports, 4 connections",
  unit: "calls/s",
  floor: "node:http",
  peers: servers([
    { name: "node:http", file: "servers/floor.ts" },
    { name: "SDK", file: "servers/sdk.ts" },
    { name: "effect/ai", file: "servers/effectAi.ts" },
    { name: "Fairlead listener", file: "servers/fairlead.ts" },
    { name: "Fairlead in HttpRouter", file: "servers/fairleadRouter.ts" }
  ], { message: progress(1000), connections: 4 })
}

export const streams: ReadonlyArray<Row> = [
  reports
  // Listeners go here: 1,000 that are idle, one notification to all of them, one that stops reading.
]
