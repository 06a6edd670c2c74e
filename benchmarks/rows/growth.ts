/**
 * What grows: the number of tools, the size of a payload, the number of connections.
 */
import type { Row, Target } from "../harness/Row.ts"
import { type Program, servers } from "../harness/Servers.ts"
import { echo, fill, listTools, measure } from "../Requests.ts"

const makes: ReadonlyArray<Program> = [
  { name: "SDK", file: "servers/sdk.ts" },
  { name: "effect/ai", file: "servers/effectAi.ts", args: ["--mode", "shared"] },
  { name: "Fairlead", file: "servers/fairlead.ts" }
]

const counts = [10, 1000, 10_000]
// Room for a list of all tools on one page.
const roomy = String(16 * 1024 * 1024)

// A toolkit of 10,000 tools does not start within 4 GiB.
const mostOfEffectAi = 1000

const byTools = (what: string, message: string): Row => ({
  part: "growth",
  name: `${what} by the number of tools, 16 connections`,
  unit: "calls/s",
  peers: servers(
    makes.flatMap(({ args = [], file, name }) =>
      counts.filter((count) => name !== "effect/ai" || count <= mostOfEffectAi).map((count) => ({
        name: `${name}, ${count} tools`,
        file,
        args: [...args, "--tools", String(count), "--limit", roomy]
      }))
    ),
    { message, connections: 16 }
  ),
  targets: [{ peer: "Fairlead, 10 tools", against: "Fairlead, 10000 tools", atMost: 1.1 }]
})

/** A full page each, since with 10 tools the first page has only those; four tools are there beside the extra ones. */
const fullPages: Row = {
  part: "growth",
  name: "tools/list, a page of 100, by the number of tools, 16 connections",
  unit: "calls/s",
  peers: servers(
    [100, 1000, 10_000].map((count) => ({
      name: `Fairlead, ${count} tools`,
      file: "servers/fairlead.ts",
      args: ["--tools", String(count - 4), "--limit", roomy]
    })),
    { message: listTools, connections: 16 }
  ),
  targets: [{ peer: "Fairlead, 100 tools", against: "Fairlead, 10000 tools", atMost: 1.1 }]
}

const payload = (direction: string, size: string, message: string, targets: ReadonlyArray<Target>): Row => ({
  part: "growth",
  name: `${size} ${direction}, 8 connections`,
  unit: "calls/s",
  floor: "node:http",
  peers: servers(
    [{ name: "node:http", file: "servers/floor.ts" }, ...makes].map(({ args = [], ...program }) => ({
      ...program,
      args: [...args, "--limit", roomy]
    })),
    { message, connections: 8 }
  ),
  targets
})

const sizes = [["1 KiB", 1024], ["100 KiB", 100 * 1024], ["1 MiB", 1024 * 1024]] as const

const payloads = sizes.flatMap(([size, bytes]) => {
  const targets: ReadonlyArray<Target> = bytes === 1024 * 1024
    ? [{ peer: "Fairlead", against: "node:http", atLeast: 0.85 }]
    : []
  return [payload("in", size, measure(bytes), targets), payload("out", size, fill(bytes), targets)]
})

const connections = [1, 8, 64, 512].map((count): Row => ({
  part: "growth",
  name: `small call, connections: ${count}`,
  unit: "calls/s",
  floor: "node:http",
  peers: servers([{ name: "node:http", file: "servers/floor.ts" }, ...makes], { message: echo, connections: count })
}))

export const growth: ReadonlyArray<Row> = [
  byTools("tools/call", echo),
  byTools("tools/list, first page,", listTools),
  fullPages,
  ...payloads,
  ...connections
]
