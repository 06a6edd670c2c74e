import * as Fs from "node:fs"
import * as Path from "node:path"
import type { Card } from "./Extract.ts"
import type { Installed } from "./Installed.ts"
import { messageOf } from "./Model.ts"
import * as Segment from "./Segment.ts"
import { fingerprint } from "./Sources.ts"

/** A directory with the index of each package in a file of its own. */
export class Store {
  readonly directory: string
  // What could not be written, so that a project on a read-only disk can be searched nevertheless.
  private readonly memory = new Map<string, Buffer>()

  constructor(directory: string) {
    this.directory = directory
  }

  /** The stored index of a package, if it is there, whole, and the package is as it was then. */
  load(installed: Installed): Segment.Segment | undefined {
    const segment = this.open(installed.label)
    return segment !== undefined && isCurrent(segment, installed) ? segment : undefined
  }

  /**
   * Stores the index of a package. Readers and other writers see the old file or the new one, never a part. Returns
   * why it could not be written; it is kept in memory then.
   */
  save(label: string, bytes: Buffer): string | undefined {
    const path = this.path(label)
    const temporary = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`
    try {
      Fs.mkdirSync(this.directory, { recursive: true })
      Fs.writeFileSync(temporary, bytes)
      Fs.renameSync(temporary, path)
      this.memory.delete(label)
      return undefined
    } catch (cause) {
      this.memory.set(label, bytes)
      try {
        Fs.rmSync(temporary, { force: true })
      } catch {
        // Where nothing can be written, there may not even be a directory.
      }
      return messageOf(cause)
    }
  }

  /** Removes the index of packages that are no longer there, and what a process that was killed has left. */
  prune(labels: ReadonlyArray<string>): void {
    const keep = new Set(labels.map(fileName))
    for (const name of Fs.existsSync(this.directory) ? Fs.readdirSync(this.directory) : []) {
      const path = Path.join(this.directory, name)
      const stale = name.endsWith(".tmp")
        ? Date.now() - (Fs.statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 3_600_000
        : name.endsWith(extension) && !keep.has(name)
      if (stale) {
        Fs.rmSync(path, { force: true })
      }
    }
  }

  /** What is said about pages in lists; `undefined` if the file is no longer the one the segment was loaded from. */
  cards(segment: Segment.Segment, from: number, to: number): ReadonlyArray<Card> | undefined {
    const start = segment.cards[from]!
    const bytes = this.bytes(segment, start, segment.cards[to]!)
    return bytes === undefined
      ? undefined
      : Array.from({ length: to - from }, (_, i) =>
        JSON.parse(
          bytes.toString("utf8", segment.cards[from + i]! - start, segment.cards[from + i + 1]! - start)
        ) as Card)
  }

  /** The text of a page; `undefined` if the file is no longer the one the segment was loaded from. */
  text(segment: Segment.Segment, page: number): string | undefined {
    return this.bytes(segment, segment.texts[page]!, segment.texts[page + 1]!)?.toString()
  }

  /** Loads an index whether or not its package has changed since. */
  open(label: string): Segment.Segment | undefined {
    return this.withFile(label, (read, header) => Segment.decode(read(Segment.headerLength, header.bodyLength), header))
  }

  private bytes(segment: Segment.Segment, start: number, end: number): Buffer | undefined {
    return this.withFile(
      segment.info.label,
      (read, header) => header.stamp === segment.stamp ? read(start, end - start) : undefined
    )
  }

  // A file that is absent or makes no sense is as good as none: it is made anew.
  private withFile<A>(
    label: string,
    use: (read: Read, header: NonNullable<ReturnType<typeof Segment.parseHeader>>) => A | undefined
  ): A | undefined {
    const memory = this.memory.get(label)
    let file: number | undefined
    try {
      let read: Read
      let size: number
      if (memory === undefined) {
        const descriptor = file = Fs.openSync(this.path(label), "r")
        read = (position, length) => {
          // A buffer of its own, as typed arrays are made on top of it, which have to be aligned.
          const buffer = Buffer.allocUnsafeSlow(length)
          return buffer.subarray(0, Fs.readSync(descriptor, buffer, 0, length, position))
        }
        size = Fs.fstatSync(descriptor).size
      } else {
        read = (position, length) => Buffer.from(new Uint8Array(memory.subarray(position, position + length)).buffer)
        size = memory.length
      }
      const header = Segment.parseHeader(read(0, Segment.headerLength), size)
      return header === undefined ? undefined : use(read, header)
    } catch {
      return undefined
    } finally {
      if (file !== undefined) {
        Fs.closeSync(file)
      }
    }
  }

  private path(label: string): string {
    return Path.join(this.directory, fileName(label))
  }
}

/** Whether a package is as it was when it was indexed. */
export const isCurrent = ({ info }: Segment.Segment, { directory, label, manifest }: Installed): boolean =>
  info.label === label && info.directory === directory && info.version === manifest.version &&
  fingerprint(directory, info.paths) === info.fingerprint

const extension = ".docs"

const fileName = (label: string): string => `${label.replace(/\//g, "+")}${extension}`

type Read = (position: number, length: number) => Buffer
