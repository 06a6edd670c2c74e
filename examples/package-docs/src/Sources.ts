import * as Fs from "node:fs"
import * as Path from "node:path"

/** The files and directories of a package that were read, by which it is known later whether it has changed. */
export class Sources {
  readonly directory: string
  readonly paths = new Set<string>()

  constructor(directory: string) {
    this.directory = directory
  }

  /** Reads a file. */
  read(path: string): string {
    this.paths.add(Path.relative(this.directory, path))
    return Fs.readFileSync(path, "utf8")
  }

  /** Lists a directory: a file added to it later changes the fingerprint. */
  list(path: string): ReadonlyArray<Fs.Dirent> {
    this.paths.add(Path.relative(this.directory, path))
    return Fs.readdirSync(path, { withFileTypes: true })
  }
}

/** The state of files and directories: when each was changed, and its size. */
export const fingerprint = (directory: string, paths: Iterable<string>): string => {
  // FNV-1a over numbers: a start compares thousands of files, of which strings would be made in vain.
  let a = 0x811c9dc5
  let b = 0x1b873593
  const mix = (value: number) => {
    a = Math.imul(a ^ (value & 0xffff), 0x01000193)
    b = Math.imul(b ^ (value >>> 16), 0x01000193)
  }
  for (const path of paths) {
    const stat = Fs.statSync(path === "" ? directory : `${directory}${Path.sep}${path}`, { throwIfNoEntry: false })
    if (stat === undefined) {
      mix(-1)
      continue
    }
    mix(stat.mtimeMs | 0)
    mix((stat.mtimeMs / 0x100000000) | 0)
    mix((stat.mtimeMs * 1024) | 0)
    mix(stat.isDirectory() ? 1 : stat.size)
  }
  return `${(a >>> 0).toString(36)}-${(b >>> 0).toString(36)}`
}
