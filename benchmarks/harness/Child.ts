/**
 * The benchmark's half: starts child processes, each on a core of its own kind where the machine has `taskset` and two
 * cores, and asks them.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as Os from "node:os"
import * as Path from "node:path"
import type { CpuProfile, Order, Outcome, Reply, Request, Usage } from "./Message.ts"
import { descendantsOf, usageOf } from "./Processes.ts"

/** What is measured runs on one core, what drives it on another, unless both may have all. */
export type Core = "measured" | "driver" | "any"

// Not `availableParallelism`: a process that is held on one core starts children that belong on the other.
const canPin = Os.cpus().length >= 2 && spawnSync("taskset", ["-V"]).status === 0
const cores: Record<Exclude<Core, "any">, string> = { measured: "0", driver: "1" }

/** Whether processes are held on cores of their own. */
export const isPinned: boolean = canPin

const root = Path.resolve(import.meta.dirname, "..")

/** A child process under the benchmark's control. */
export interface Child {
  readonly pid: number
  readonly port: number
  readonly usage: (collect?: boolean) => Promise<Usage>
  /** CPU time of the processes that the child has started itself, in microseconds, where the system tells. */
  readonly usageBelow: () => { readonly cpuMicros: number; readonly peakBytes: number } | undefined
  readonly run: (order: Order) => Promise<Outcome>
  /** Has the child tell its listeners of so many changes; done when it has written, or holds, the last. */
  readonly tell: (changes: number) => Promise<void>
  /** A CPU profile of the child while something runs. */
  readonly profile: (during: () => Promise<unknown>) => Promise<CpuProfile>
  readonly stop: () => Promise<void>
}

const alive = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL")
})

/** A command line, held on a core. */
export const pinned = (core: Core, command: ReadonlyArray<string>): ReadonlyArray<string> =>
  canPin && core !== "any" ? ["taskset", "-c", cores[core], ...command] : command

/** The command line that runs a program of this folder on a core. */
export const commandFor = (core: Core, program: string, args: ReadonlyArray<string>): ReadonlyArray<string> =>
  pinned(core, [
    process.execPath,
    "--conditions=@fairlead/source",
    "--expose-gc",
    Path.join(root, program),
    ...args
  ])

/** Starts a program of this folder and waits until it is ready. */
export const start = async (core: Core, program: string, args: ReadonlyArray<string> = []): Promise<Child> => {
  const [command, ...rest] = commandFor(core, program, args)
  const child = spawn(command!, rest, { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  alive.add(child)
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let lastId = 0
  const port = await new Promise<number>((resolve, reject) => {
    child.on("message", (reply: Reply) => {
      if (reply.op === "ready") return resolve(reply.port ?? 0)
      const one = waiting.get(reply.id)
      waiting.delete(reply.id)
      if (reply.op === "done") one?.resolve(reply.value as never)
      else one?.reject(new Error(`${program}: ${reply.message}`))
    })
    child.on("exit", (code) => {
      alive.delete(child)
      const error = new Error(`${program} ended with ${code}`)
      reject(error)
      for (const one of waiting.values()) one.reject(error)
    })
    child.on("error", reject)
  })
  const ask = <A>(request: (id: number) => Request): Promise<A> =>
    new Promise((resolve, reject) => {
      const id = ++lastId
      waiting.set(id, { resolve, reject })
      child.send(request(id))
    })
  return {
    pid: child.pid!,
    port,
    usage: (collect = false) => ask((id) => ({ id, op: "usage", collect })),
    usageBelow: () => {
      const pids = descendantsOf(child.pid!)
      return pids === undefined ? undefined : usageOf(pids)
    },
    run: (order) => ask((id) => ({ id, op: "run", order })),
    tell: (changes) => ask((id) => ({ id, op: "tell", changes })),
    profile: async (during) => {
      await ask((id) => ({ id, op: "profile", on: true }))
      await during()
      return ask((id) => ({ id, op: "profile", on: false }))
    },
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once("exit", () => resolve())
        child.disconnect()
        setTimeout(() => child.kill("SIGKILL"), 3000).unref()
      })
  }
}
