/**
 * Peers that are servers: each is a child under the load of another child.
 */
import * as Assert from "node:assert"
import { requestBytes, withId } from "../load/requestBytes.ts"
import { type Child, start } from "./Child.ts"
import type { Peer, Running } from "./Row.ts"

/** Serves one request, to see that the answer is right. */
const ask = async (port: number, message: string): Promise<string> => {
  const head = requestBytes(message, 1, port).toString().split("\r\n\r\n")[0]!.split("\r\n").slice(1)
  const headers = head.map((line) => line.split(": ") as [string, string]).filter(([name]) =>
    !["host", "content-length"].includes(name)
  )
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers, body: withId(message, 1) })
  return response.text()
}

interface Answer {
  readonly result: Record<string, unknown> & {
    readonly content?: unknown
    readonly structuredContent?: unknown
    readonly resultType?: unknown
    readonly tools?: ReadonlyArray<unknown>
  }
}

/** The parts of an answer that all peers have to agree on. */
const essence = (text: string): unknown => {
  const events = text.split("\n").filter((line) => line.startsWith("data: "))
  const json = events.length === 0 ? text : events.at(-1)!.slice("data: ".length)
  const { result } = JSON.parse(json) as Partial<Answer>
  if (result === undefined) return undefined
  const { content, resultType, structuredContent, tools } = result
  return { events: Math.max(0, events.length - 1), content, structuredContent, resultType, listed: tools !== undefined }
}

/** A way to serve. */
export interface Program {
  readonly name: string
  readonly file: string
  readonly args?: ReadonlyArray<string> | undefined
}

/** The load, one process for all rows. */
let loading: Promise<Child> | undefined

/** The child that sends requests. */
export const loader = (): Promise<Child> => loading ??= start("driver", "load/main.ts")

/** Ends the load. */
export const stopLoad = async (): Promise<void> => {
  await (await loading)?.stop()
  loading = undefined
}

/** Servers under the same load. Each has to answer the message as the first of them does. */
export const servers = (
  programs: ReadonlyArray<Program>,
  options: { readonly message: string; readonly connections: number }
): ReadonlyArray<Peer> => {
  let expected: unknown
  return programs.map(({ args, file, name }) => ({
    name,
    start: async (): Promise<Running> => {
      const load = await loader()
      const server = await start("measured", file, args)
      const text = await ask(server.port, options.message)
      const got = essence(text)
      if (got === undefined) throw new Error(`${name} answers ${text.slice(0, 1000)}`)
      if (expected === undefined) expected = got
      else Assert.deepStrictEqual(got, expected, `${name} answers something else`)
      return {
        measure: async (millis) => {
          const before = await server.usage()
          const outcome = await load.run({
            millis,
            concurrency: options.connections,
            port: server.port,
            message: options.message
          })
          const after = await server.usage()
          return {
            value: outcome.calls / outcome.seconds,
            cpuMicros: (after.cpuMicros - before.cpuMicros) / outcome.calls,
            p50Micros: outcome.p50Micros,
            p99Micros: outcome.p99Micros,
            peakBytes: after.peakBytes
          }
        },
        stop: server.stop
      }
    }
  }))
}
