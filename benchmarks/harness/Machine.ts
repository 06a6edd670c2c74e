/**
 * What was measured on, and what was measured.
 */
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Os from "node:os"
import * as Path from "node:path"
import { isPinned } from "./Child.ts"

/** The machine and the versions of a run. */
export interface Machine {
  readonly date: string
  readonly cpu: string
  readonly cores: number
  readonly memoryMiB: number
  readonly system: string
  /** Whether server and load had cores of their own. */
  readonly pinned: boolean
  /** Load averages before and after: what else the machine did. */
  readonly load: ReadonlyArray<number>
  readonly commit: string
  readonly versions: Readonly<Record<string, string>>
}

const measured = ["effect", "@modelcontextprotocol/server", "@modelcontextprotocol/client", "undici"]

const versionOf = (name: string): string => {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  const file = folders.map((folder) => Path.join(folder, name, "package.json")).find((path) => Fs.existsSync(path))
  return file === undefined ? "?" : (JSON.parse(Fs.readFileSync(file, "utf8")) as { version: string }).version
}

const commit = (): string => {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim()
  } catch {
    return "?"
  }
}

/** Looks at the machine. */
export const look = (): Machine => ({
  date: new Date().toISOString().slice(0, 10),
  cpu: Os.cpus()[0]?.model ?? "?",
  cores: Os.availableParallelism(),
  memoryMiB: Math.round(Os.totalmem() / 1024 / 1024),
  system: `${Os.type()} ${Os.release()}`,
  pinned: isPinned,
  load: [Os.loadavg()[0]!],
  commit: commit(),
  versions: { node: process.versions.node, ...Object.fromEntries(measured.map((name) => [name, versionOf(name)])) }
})
