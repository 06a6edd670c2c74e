/**
 * Answers that are streams.
 */
import * as Net from "node:net"
import { start } from "../harness/Child.ts"
import type { Peer, Row } from "../harness/Row.ts"
import { servers } from "../harness/Servers.ts"
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

/** The heap that an idle listener takes, with the connection that it has to itself. */
const idle = (name: string, file: string): Peer => ({
  name,
  start: async () => ({
    measure: async () => {
      const server = await start("measured", file)
      // What the first ones bring about is not theirs.
      const first = await openListeners(server.port, 50)
      const before = await server.usage(true)
      const more = await openListeners(server.port, 900)
      const after = await server.usage(true)
      for (const socket of [...first, ...more]) socket.destroy()
      await server.stop()
      return { value: (after.heapBytes - before.heapBytes) / more.length / kibibyte }
    },
    stop: async () => {}
  })
})

const listeners: Row = {
  part: "streams",
  name: "heap for an idle listener",
  unit: "KiB",
  floor: "node:http",
  rounds: 3,
  warmUp: false,
  peers: [idle("node:http", "servers/floorListen.ts"), idle("Fairlead", "servers/fairlead.ts")],
  // At most 4 KiB above a bare stream, which takes 5.8.
  targets: [{ peer: "Fairlead", atMost: 9.8 }]
}

export const streams: ReadonlyArray<Row> = [
  reports,
  listeners
  // One notification to all of them and one that stops reading are still to come.
]
