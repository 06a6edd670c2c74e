/**
 * The start of a server, its memory after many calls, and sizes.
 */
import * as Path from "node:path"
import { start } from "../harness/Child.ts"
import type { Peer, Row } from "../harness/Row.ts"
import { loader } from "../harness/Servers.ts"
import { echo } from "../Requests.ts"
import { bundle } from "../start/bundle.ts"
import { install, installedBytes } from "../start/install.ts"
import { launch, type Start } from "../start/launch.ts"

/** A peer that is measured without being kept running. */
const measured = (name: string, measure: () => Promise<number> | number): Peer => ({
  name,
  start: async () => ({ measure: async () => ({ value: await measure() }), stop: async () => {} })
})

let installed: string | undefined

const startRow = (name: string, value: (start: Start) => number, isAnswer: boolean): Row => {
  const peer = (name: string, file: string) =>
    measured(name, async () => value(await launch(Path.join(installed ??= install(), file))))
  return {
    part: "start",
    name,
    unit: "ms",
    floor: "node:http",
    peers: [
      peer("node:http", "floor.js"),
      peer("SDK", "sdk.js"),
      peer("effect/ai", "effectAi.js"),
      peer("Fairlead", "fairlead.js"),
      peer("Fairlead, packages imported whole", "fairleadBarrel.js")
    ],
    targets: isAnswer ? [{ peer: "Fairlead", against: "SDK", atMost: 1.3 }] : []
  }
}

const mebibyte = 1024 * 1024

/** The heap after so many calls, collected; one process each, since memory is a history. */
const heapAfter = (name: string, file: string, args: ReadonlyArray<string>, calls: number): Peer =>
  measured(name, async () => {
    const load = await loader()
    const server = await start("measured", file, args)
    await load.run({ millis: 0, calls, concurrency: 64, port: server.port, message: echo })
    const { heapBytes } = await server.usage(true)
    await server.stop()
    return heapBytes / mebibyte
  })

const memory: Row = {
  part: "start",
  name: "heap after 100,000 calls",
  unit: "MiB",
  floor: "node:http",
  rounds: 1,
  warmUp: false,
  peers: [
    heapAfter("node:http", "servers/floor.ts", [], 100_000),
    heapAfter("SDK", "servers/sdk.ts", [], 100_000),
    heapAfter("effect/ai", "servers/effectAi.ts", ["--mode", "shared"], 100_000),
    heapAfter("Fairlead", "servers/fairlead.ts", [], 100_000),
    heapAfter("Fairlead, after 10,000", "servers/fairlead.ts", [], 10_000)
  ],
  targets: [
    { peer: "Fairlead", against: "SDK", atMost: 1 },
    { peer: "Fairlead", against: "Fairlead, after 10,000", atMost: 1.05 }
  ]
}

const installedSize: Row = {
  part: "start",
  name: "installed, with all that it needs",
  unit: "MiB",
  rounds: 1,
  warmUp: false,
  peers: ([
    ["SDK", ["@modelcontextprotocol/server", "@modelcontextprotocol/client", "@modelcontextprotocol/node", "zod"]],
    ["effect/ai", ["effect", "@effect/platform-node"]],
    ["Fairlead", ["@fairlead/node"]],
    ["Fairlead's own part", []]
  ] as const).map(([name, packages]) =>
    measured(name, () =>
      name === "Fairlead's own part"
        ? (installedBytes(["@fairlead/node"]) - installedBytes(["effect", "@effect/platform-node"])) / mebibyte
        : installedBytes(packages) / mebibyte)
  )
}

const bundled = (what: string, size: (built: { readonly bytes: number; readonly gzipped: number }) => number): Row => ({
  part: "start",
  name: `minimal client, bundled and ${what}`,
  unit: "KiB",
  rounds: 1,
  warmUp: false,
  peers: ([["SDK", "sdk.ts"], ["effect/ai", "effectAi.ts"], ["Fairlead", "fairlead.ts"]] as const).map(
    ([name, file]) => measured(name, async () => size(await bundle(file)) / 1024)
  )
})

export const startRows: ReadonlyArray<Row> = [
  startRow("time to the end of the imports", ({ importMillis }) => importMillis, false),
  startRow("time to the first answered call", ({ answerMillis }) => answerMillis, true),
  memory,
  installedSize,
  bundled("minified", ({ bytes }) => bytes),
  bundled("gzipped", ({ gzipped }) => gzipped)
]
