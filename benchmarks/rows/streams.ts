/**
 * Answers that are streams.
 */
import * as Net from "node:net"
import { start } from "../harness/Child.ts"
import type { Peer, Row } from "../harness/Row.ts"
import { servers } from "../harness/Servers.ts"
import { median } from "../harness/Stats.ts"
import { requestBytes } from "../load/requestBytes.ts"
import { listen, progress } from "../Requests.ts"

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

/** Opens listeners and waits until each has heard something. */
const openListeners = (port: number, count: number): Promise<ReadonlyArray<Net.Socket>> =>
  Promise.all(Array.from({ length: count }, () =>
    new Promise<Net.Socket>((resolve, reject) => {
      const socket = Net.connect(port, "127.0.0.1", () => socket.write(requestBytes(listen, 1, port)))
      socket.on("error", reject)
      socket.once("data", (chunk) =>
        chunk.toString().startsWith("HTTP/1.1 200")
          ? resolve(socket)
          : reject(new Error(`A listener is answered ${chunk}`)))
    })))

const kibibyte = 1024

/** The servers that have listeners. `effect/ai` has none in its request-scoped form. */
const peers = (measure: (file: string, args: ReadonlyArray<string>) => Promise<number>): ReadonlyArray<Peer> =>
  ([
    ["node:http", "servers/floorListen.ts"],
    ["SDK", "servers/sdk.ts"],
    ["effect/ai", "servers/effectAi.ts", "--mode", "shared"],
    ["Fairlead", "servers/fairlead.ts"]
  ] as const).map(([name, file, ...args]) => ({
    name,
    start: async () => ({ measure: async () => ({ value: await measure(file, args) }), stop: async () => {} })
  }))

/** The heap that an idle listener takes, with the connection that it has to itself. */
const idle: Row = {
  part: "streams",
  name: "heap for an idle listener",
  unit: "KiB",
  floor: "node:http",
  rounds: 3,
  warmUp: false,
  peers: peers(async (file, args) => {
    const server = await start("measured", file, args)
    // What the first ones bring about is not theirs.
    const first = await openListeners(server.port, 50)
    const before = await server.usage(true)
    const more = await openListeners(server.port, 900)
    const after = await server.usage(true)
    for (const socket of [...first, ...more]) socket.destroy()
    await server.stop()
    return (after.heapBytes - before.heapBytes) / more.length / kibibyte
  }),
  // At most 4 KiB above a bare stream, which takes 5.8.
  targets: [
    { peer: "Fairlead", atMost: 9.8 },
    { peer: "Fairlead", against: "SDK", atMost: 1 },
    { peer: "Fairlead", against: "effect/ai", atMost: 1 }
  ]
}

/** The text that all notifications of a change have. */
const changed = "list_changed"

/** From the order to tell of a change to the last of the listeners that has heard of it. */
const fanOut: Row = {
  part: "streams",
  name: "one notification to 1,000 listeners, time to the last",
  unit: "ms",
  floor: "node:http",
  warmUp: false,
  peers: peers(async (file, args) => {
    const server = await start("measured", file, args)
    const sockets = await openListeners(server.port, 1000)
    const told = async (): Promise<number> => {
      const since = performance.now()
      const heard = Promise.all(sockets.map((socket) =>
        new Promise<void>((resolve) => {
          const onData = (chunk: Buffer) => {
            if (!chunk.includes(changed)) return
            socket.off("data", onData)
            resolve()
          }
          socket.on("data", onData)
        })
      ))
      await server.tell(1)
      await heard
      return performance.now() - since
    }
    // The first ones compile what they run.
    const times: Array<number> = []
    for (let i = 0; i < 20; i++) times.push(await told())
    for (const socket of sockets) socket.destroy()
    await server.stop()
    return median(times.slice(10))
  })
}

const stalledChanges = 50_000

/** What a listener that has stopped reading makes its server hold. */
const stalled: Row = {
  part: "streams",
  name: "heap for a listener that has stopped reading, after 50,000 changes",
  unit: "KiB",
  rounds: 1,
  warmUp: false,
  peers: peers(async (file, args) => {
    const server = await start("measured", file, args)
    const [reader, other] = await openListeners(server.port, 2)
    await server.tell(100)
    const before = await server.usage(true)
    other!.pause()
    await server.tell(stalledChanges)
    const after = await server.usage(true)
    reader!.destroy()
    other!.destroy()
    await server.stop()
    return (after.heapBytes - before.heapBytes) / kibibyte
  })
}

export const streams: ReadonlyArray<Row> = [reports, idle, fanOut, stalled]
