/** Runs a program with the repository's own tools first in the path, and fails with its output when it fails. */
import { spawn } from "node:child_process"
import * as path from "node:path"
import { root } from "./architecture/Workspace.ts"

/** How a program is run. */
export interface RunOptions {
  /** Where. Default: the repository's root. */
  readonly cwd?: string
  /** Milliseconds until it is killed and counts as failed. Default: 300 000 (5 minutes). */
  readonly timeout?: number
}

/** The path with the repository's `node_modules/.bin` first: its Node, its compiler. */
export const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${path.join(root, "node_modules/.bin")}${path.delimiter}${process.env.PATH ?? ""}`,
  NO_COLOR: "1",
  FORCE_COLOR: undefined
})

/** Runs a program to its end and gives its exit code and all it printed. */
export const attempt = (
  command: string,
  args: ReadonlyArray<string>,
  options: RunOptions = {}
): Promise<{ readonly code: number | null; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const limit = options.timeout ?? 300_000
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"]
    })
    let output = ""
    const timer = setTimeout(() => {
      output += `\n(killed after ${limit} ms)`
      child.kill("SIGKILL")
    }, limit)
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
    }
    child.stdout.on("data", collect)
    child.stderr.on("data", collect)
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })

/** Runs a program; any exit but 0 throws with what it printed. */
export const run = async (command: string, args: ReadonlyArray<string>, options?: RunOptions): Promise<string> => {
  const { code, output } = await attempt(command, args, options)
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} failed (exit ${code}):\n${output}`)
  return output
}
