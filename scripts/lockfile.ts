/**
 * Keeps package-lock.json fit for every machine.
 *
 *   npm run lockfile            fails if the lock file names a host, or leaves out an optional dependency
 *   npm run lockfile -- --fix   adds the optional dependencies that it leaves out
 *
 * Some packages name a binary for each platform as optional dependencies. A registry that lacks some of them makes npm
 * write a lock file without these, and `npm ci` then refuses it. The added entries have a version and a platform and no
 * integrity; npm skips them where the platform is another one.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { root } from "./architecture/Workspace.ts"

/** What is read and written of one entry of `packages`. */
export interface Entry {
  readonly version?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: ReadonlyArray<string>
  readonly cpu?: ReadonlyArray<string>
  readonly libc?: ReadonlyArray<string>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** The lock file, as far as this looks. */
export interface Lock {
  readonly packages: Readonly<Record<string, Entry>>
}

/** The entries that say where a package comes from. Links to workspace folders say a path. */
export const hosts = (lock: Lock): ReadonlyArray<string> =>
  Object.entries(lock.packages)
    .filter(([, entry]) => entry.resolved !== undefined && (entry.link !== true || /^[a-z+]+:/.test(entry.resolved)))
    .map(([name, entry]) => `${name}: ${entry.resolved}`)

const platform = (name: string): Pick<Entry, "os" | "cpu" | "libc"> => {
  const os = /(?:^|[-/])(android|darwin|freebsd|linux|openharmony|win32|windows)\b/.exec(name)?.[1]
  const cpu = /[-](arm64|arm|ia32|loong64|ppc64|riscv64|s390x|x64)\b/.exec(name)?.[1]
  const libc = /[-](glibc|gnu|musl)\b/.exec(name)?.[1]
  return {
    ...(os === undefined ? {} : { os: [os === "windows" ? "win32" : os] }),
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    ...(libc === undefined ? {} : { libc: [libc === "gnu" ? "glibc" : libc] })
  }
}

/** The optional dependencies that some entry names and no entry describes. */
export const missing = (lock: Lock): Readonly<Record<string, Entry>> => {
  const found: Record<string, Entry> = {}
  for (const [parent, entry] of Object.entries(lock.packages)) {
    for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
      const places = [`node_modules/${name}`, `${parent}/node_modules/${name}`]
      if (places.some((place) => place in lock.packages)) continue
      const target = platform(name)
      // Without a platform npm would install it everywhere.
      if (target.os === undefined) {
        throw new Error(`${parent} needs ${name}: its name tells no platform, add it by hand`)
      }
      found[places[0]!] = { version: range.replace(/^[\^~]/, ""), dev: entry.dev ?? false, optional: true, ...target }
    }
  }
  return found
}

const main = (): void => {
  const file = path.join(root, "package-lock.json")
  const lock = JSON.parse(fs.readFileSync(file, "utf8")) as Lock
  const named = hosts(lock)
  const absent = missing(lock)
  if (process.argv.includes("--fix")) {
    const packages = Object.fromEntries(
      Object.entries({ ...lock.packages, ...absent }).toSorted(([a], [b]) => a.localeCompare(b, "en"))
    )
    fs.writeFileSync(file, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
    console.log(`added ${Object.keys(absent).length} entries`)
  } else if (Object.keys(absent).length > 0) {
    console.error(`package-lock.json leaves out (npm run lockfile -- --fix):\n  ${Object.keys(absent).join("\n  ")}`)
    process.exitCode = 1
  }
  if (named.length > 0) {
    console.error(`package-lock.json says where packages come from:\n  ${named.join("\n  ")}`)
    process.exitCode = 1
  }
}

if (import.meta.main) main()
