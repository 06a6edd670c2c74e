/** Child processes whose bytes are kept as they come. */
import * as Effect from "effect/Effect"
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  readonly process: ChildProcessWithoutNullStreams
  readonly stdout: () => Buffer
  readonly stderr: () => string
  /** The messages that came so far; a line that is none throws. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly messages: () => ReadonlyArray<any>
  readonly write: (text: string | Uint8Array) => void
  readonly ended: Effect.Effect<Ended>
  /** Waits until something holds; looks again with every byte. */
  readonly until: (condition: () => boolean) => Effect.Effect<void>
}

/** Runs a fixture from its sources; it is killed with the scope. */
export const run = (fixture: string, args: ReadonlyArray<string> = []) =>
  Effect.acquireRelease(
    Effect.sync((): Child => {
      const file = fileURLToPath(new URL(`../fixtures/${fixture}.ts`, import.meta.url))
      const child = spawn(process.execPath, ["--conditions=@fairlead/source", file, ...args])
      const chunks: Array<Buffer> = []
      let stderr = ""
      let ended: Ended | undefined
      const listeners = new Set<() => void>()
      const changed = () => {
        for (const listener of listeners) listener()
      }
      child.stdout.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        changed()
      })
      child.stderr.on("data", (chunk: Buffer) => {
        stderr += chunk.toString()
        changed()
      })
      child.stdin.on("error", () => {})
      child.on("close", (code, signal) => {
        ended = { code, signal }
        changed()
      })
      const stdout = () => Buffer.concat(chunks)
      const until = (condition: () => boolean) =>
        Effect.callback<void>((resume) => {
          const look = () => {
            if (!condition()) return
            listeners.delete(look)
            resume(Effect.void)
          }
          listeners.add(look)
          look()
          return Effect.sync(() => listeners.delete(look))
        })
      return {
        process: child,
        stdout,
        stderr: () => stderr,
        messages: () => stdout().toString().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line)),
        write: (text) => void child.stdin.write(text),
        ended: Effect.map(until(() => ended !== undefined), () => ended!),
        until
      }
    }),
    ({ process }) => Effect.sync(() => void process.kill("SIGKILL"))
  )
