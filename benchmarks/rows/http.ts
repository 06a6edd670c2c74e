/**
 * HTTP servers: a small call, as many as 64 connections can bring.
 */
import type { Row } from "../harness/Row.ts"
import { servers } from "../harness/Servers.ts"
import { echo } from "../Requests.ts"

export const http: Row = {
  part: "http",
  name: "small call, 64 connections",
  unit: "calls/s",
  floor: "node:http",
  peers: servers([
    { name: "node:http", file: "servers/floor.ts" },
    { name: "SDK", file: "servers/sdk.ts" },
    { name: "effect/ai", file: "servers/effectAi.ts", args: ["--mode", "shared"] },
    { name: "effect/ai, request scoped", file: "servers/effectAi.ts" },
    { name: "Fairlead listener", file: "servers/fairlead.ts" },
    { name: "Fairlead in HttpRouter", file: "servers/fairleadRouter.ts" }
  ], { message: echo, connections: 64 }),
  targets: [
    { peer: "Fairlead listener", against: "node:http", atLeast: 0.75 },
    { peer: "Fairlead listener", against: "SDK", atLeast: 12 },
    { peer: "Fairlead listener", against: "effect/ai", atLeast: 8 },
    { peer: "Fairlead in HttpRouter", against: "node:http", atLeast: 0.6 }
  ]
}
