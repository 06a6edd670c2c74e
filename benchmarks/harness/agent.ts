/**
 * The child's half: answers what the benchmark asks over the channel between the two processes.
 */
import { Session } from "node:inspector/promises"
import type { CpuProfile, Order, Outcome, Reply, Request, Usage, Value } from "./Message.ts"

/** Says that the child is ready, and serves the benchmark until it goes away. */
export const serve = (options: {
  /** Where the child listens, if it does. */
  readonly port?: number | undefined
  /** Runs a loop of calls, if the child can. */
  readonly run?: ((order: Order) => Promise<Outcome>) | undefined
  /** Tells all listeners that the tools have changed, if the child has listeners. */
  readonly tell?: (() => Promise<void> | void) | undefined
} = {}): void => {
  const answer = async (request: Request): Promise<Value> => {
    if (request.op === "usage") return usage(request.collect)
    if (request.op === "profile") return request.on ? startProfile() : stopProfile()
    if (request.op === "tell") {
      if (options.tell === undefined) throw new Error("This child has no listeners")
      for (let i = 0; i < request.changes; i++) {
        await options.tell()
        // Changes come one by one, and clients read in between.
        await new Promise((resolve) => setImmediate(resolve))
      }
      return undefined
    }
    if (options.run === undefined) throw new Error("This child runs nothing")
    return options.run(request.order)
  }
  process.on("message", (request: Request) => {
    answer(request).then(
      (value) => send({ op: "done", id: request.id, value }),
      (error: unknown) =>
        send({ op: "failed", id: request.id, message: error instanceof Error ? error.stack ?? "" : String(error) })
    )
  })
  process.on("disconnect", () => process.exit(0))
  send({ op: "ready", port: options.port })
}

const send = (reply: Reply): void => {
  process.send?.(reply)
}

const usage = (collect: boolean): Usage => {
  if (collect) { for (let i = 0; i < 3; i++) (globalThis as { readonly gc?: () => void }).gc?.() }
  const { system, user } = process.cpuUsage()
  return {
    cpuMicros: user + system,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    heapBytes: process.memoryUsage().heapUsed
  }
}

const session = new Session()

const startProfile = async (): Promise<undefined> => {
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.setSamplingInterval", { interval: 200 })
  await session.post("Profiler.start")
}

const stopProfile = async (): Promise<CpuProfile> => {
  const { profile } = await session.post("Profiler.stop")
  session.disconnect()
  return profile
}
