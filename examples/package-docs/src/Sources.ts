import * as Fs from "node:fs"
import * as Path from "node:path"

/** The files and directories of a package that were read, by which it is known later whether it has changed. */
export class Sources {
  readonly directory: string
  private readonly known = new Set<string>()
  // Of their state before they were read: what changes in between is read again.
  private readonly state = new Digest()

  constructor(directory: string) {
    this.directory = directory
  }

  /** Reads a file. */
  read(path: string): string {
    this.add(Path.relative(this.directory, path))
    return Fs.readFileSync(path, "utf8")
  }

  /** Lists a directory: a file added to it later changes the fingerprint. */
  list(path: string): ReadonlyArray<Fs.Dirent> {
    const relative = Path.relative(this.directory, path)
    this.add(relative === "" ? "" : `${relative}${Path.sep}`)
    return Fs.readdirSync(path, { withFileTypes: true })
  }

  /** Their paths from the package's directory; those of directories end with a separator, its own one is empty. */
  get paths(): ReadonlyArray<string> {
    return [...this.known]
  }

  get fingerprint(): string {
    return this.state.text
  }

  private add(path: string): void {
    if (!this.known.has(path)) {
      this.known.add(path)
      this.state.add(statOf(this.directory, path))
    }
  }
}

/** The state of files and directories: when each was changed, and its size. */
export const fingerprint = (directory: string, paths: Iterable<string>): string => {
  const digest = new Digest()
  for (const path of paths) {
    digest.add(statOf(directory, path))
  }
  return digest.text
}

const statOf = (directory: string, path: string): Fs.Stats | undefined =>
  Fs.statSync(path === "" ? directory : `${directory}${Path.sep}${path}`, { throwIfNoEntry: false })

// FNV-1a over numbers: a start compares thousands of files, of which strings would be made in vain.
class Digest {
  private a = 0x811c9dc5
  private b = 0x1b873593

  get text(): string {
    return `${(this.a >>> 0).toString(36)}-${(this.b >>> 0).toString(36)}`
  }

  add(stat: Fs.Stats | undefined): void {
    if (stat === undefined) {
      this.mix(-1)
      return
    }
    this.mix(stat.mtimeMs | 0)
    this.mix((stat.mtimeMs / 0x100000000) | 0)
    this.mix((stat.mtimeMs * 1024) | 0)
    this.mix(stat.isDirectory() ? 1 : stat.size)
  }

  private mix(value: number): void {
    this.a = Math.imul(this.a ^ (value & 0xffff), 0x01000193)
    this.b = Math.imul(this.b ^ (value >>> 16), 0x01000193)
  }
}
