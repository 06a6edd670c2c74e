import { crc32 } from "node:zlib"
import type { Card, Extracted, Fields, PageDraft } from "./Extract.ts"
import type { Installed } from "./Installed.ts"
import type { PageKind, Problem } from "./Model.ts"
import { terms } from "./Terms.ts"
import { weights } from "./Weights.ts"

/** Raised by every change of what is stored, or of how texts are made into terms or weighed. */
const format = 10
const magic = 0x46504431

/** What is known of a package without looking at its pages. */
export interface Info {
  readonly label: string
  readonly directory: string
  readonly version: string
  readonly description: string
  /** Terms of its description and keywords. */
  readonly topics: ReadonlyArray<string>
  readonly pages: number
  readonly exports: number
  readonly problems: ReadonlyArray<Problem>
  /** Paths of the files and directories it was made of, and their state then. */
  readonly paths: ReadonlyArray<string>
  readonly fingerprint: string
}

/**
 * The index of one package. Its pages are sorted by id and its terms alphabetically; both are kept as bytes, as most
 * of them are never looked at. What pages say stays on disk.
 */
export interface Segment {
  readonly info: Info
  readonly count: number
  readonly ids: Strings
  readonly titles: Strings
  /** One byte for each page: its kind and the flags below. */
  readonly flags: Uint8Array
  readonly terms: Strings
  /** Where the postings of each term begin. */
  readonly starts: Uint32Array
  readonly documents: Uint32Array
  /** How often the term is in the page, weighed by field, times `weightScale`. */
  readonly counts: Uint16Array
  /** Where the card and the text of each page begin, from the start of the file. */
  readonly cards: Uint32Array
  readonly texts: Uint32Array
  /** How often other pages mention each, as a logarithm: 16 for each doubling. */
  readonly mentions: Uint8Array
  /** A checksum of each page's text. */
  readonly checksums: Uint32Array
  /** Tells whether the file still is the one that was loaded. */
  readonly stamp: number
}

/** Strings in one buffer, made when they are asked for. */
export class Strings {
  readonly bytes: Buffer
  readonly starts: Uint32Array
  private readonly ascii: boolean
  constructor(bytes: Buffer, starts: Uint32Array, ascii: boolean) {
    this.bytes = bytes
    this.starts = starts
    this.ascii = ascii
  }

  get length(): number {
    return this.starts.length - 1
  }

  get(index: number): string {
    const start = this.starts[index]!
    const end = this.starts[index + 1]!
    return this.bytes.toString(this.ascii ? "latin1" : "utf8", start, end)
  }

  /** The first index whose string is not less than the given one, if they are sorted. */
  lowerBound(text: string): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.isLess(middle, text)) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  // Without making a string of the bytes, as most searches are for words that a package does not have.
  private isLess(index: number, text: string): boolean {
    if (!this.ascii) {
      return this.get(index) < text
    }
    const { bytes } = this
    const start = this.starts[index]!
    const length = this.starts[index + 1]! - start
    const common = Math.min(length, text.length)
    for (let i = 0; i < common; i++) {
      const difference = bytes[start + i]! - text.charCodeAt(i)
      if (difference !== 0) {
        return difference < 0
      }
    }
    return length < text.length
  }

  /** The index of a string, or -1, if they are sorted. */
  indexOf(text: string): number {
    const index = this.lowerBound(text)
    return index < this.length && this.get(index) === text ? index : -1
  }
}

export const weightScale = 512

const kinds: ReadonlyArray<PageKind> = ["readme", "doc", "export"]
const hiddenFlag = 4
const deprecatedFlag = 8
const memberFlag = 16
const typeFlag = 32
const moduleFlag = 64
const settingFlag = 128

const fields: ReadonlyArray<keyof Fields> = ["name", "module", "summary", "body", "context", "code", "links"]

/** The kind of a page. */
export const kindOf = (segment: Segment, page: number): PageKind => kinds[segment.flags[page]! & 3]!
/** The page can be read but is not searched. */
export const isHidden = (segment: Segment, page: number): boolean => (segment.flags[page]! & hiddenFlag) !== 0
/** What the page is about is deprecated. */
export const isDeprecated = (segment: Segment, page: number): boolean => (segment.flags[page]! & deprecatedFlag) !== 0
/** The page is about a type, that has no value of the same name. */
export const isType = (segment: Segment, page: number): boolean => (segment.flags[page]! & typeFlag) !== 0
/** The page is about a module. */
export const isModule = (segment: Segment, page: number): boolean => (segment.flags[page]! & moduleFlag) !== 0
/** The page is about a member of an export. */
export const isMember = (segment: Segment, page: number): boolean => (segment.flags[page]! & memberFlag) !== 0
/** The page is about a member of an interface of options, which comes up when its function does. */
export const isSetting = (segment: Segment, page: number): boolean => (segment.flags[page]! & settingFlag) !== 0

// Makes the postings of pages: for each term the pages it is in, and how much it weighs there.
const postings = (
  pages: ReadonlyArray<PageDraft>
): Map<string, { readonly ids: Array<number>; weights: Array<number> }> => {
  const index = new Map<string, { readonly ids: Array<number>; weights: Array<number> }>()
  pages.forEach((page, id) => {
    if (page.hidden) {
      return
    }
    const sums = new Map<string, number>()
    for (const field of fields) {
      const { dilution, length, weight } = weights.fields[field]
      const list = terms(page.fields[field], field === "name")
      // Usual lengths are constants, so that the index of a package does not depend on which others there are.
      const unit = weight / (1 - dilution + dilution * (list.length / length))
      for (const term of list) {
        sums.set(term, (sums.get(term) ?? 0) + unit)
      }
    }
    for (const [term, weight] of sums) {
      let entry = index.get(term)
      if (entry === undefined) {
        index.set(term, entry = { ids: [], weights: [] })
      }
      entry.ids.push(id)
      entry.weights.push(Math.min(0xffff, Math.max(1, Math.round(weight * weightScale))))
    }
  })
  return index
}

/** The ids of pages that are in one of two indexes of a package only, or whose text is another. */
export const changedPages = (before: Segment | undefined, after: Segment | undefined): ReadonlyArray<string> => {
  const rest = new Map<string, number>()
  for (let page = 0; page < (before?.count ?? 0); page++) {
    rest.set(before!.ids.get(page), before!.checksums[page]!)
  }
  const out: Array<string> = []
  for (let page = 0; page < (after?.count ?? 0); page++) {
    const id = after!.ids.get(page)
    if (rest.get(id) !== after!.checksums[page]) {
      out.push(id)
    }
    rest.delete(id)
  }
  return [...out, ...rest.keys()]
}

/** Makes the index of a package, as it is stored. */
export const encode = (installed: Installed, extracted: Extracted): Buffer => {
  const pages = [...extracted.pages].sort((a, b) => a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  const info: Info = {
    label: installed.label,
    directory: installed.directory,
    version: installed.manifest.version,
    description: installed.manifest.description,
    topics: [...new Set(terms([installed.manifest.description, ...installed.manifest.keywords].join(" ")))],
    pages: pages.filter((page) => !page.hidden).length,
    exports: pages.filter((page) => page.card.export !== undefined).length,
    problems: extracted.problems.map((reason) => ({ package: installed.label, reason })),
    paths: extracted.sources.paths,
    fingerprint: extracted.sources.fingerprint
  }
  const index = postings(pages)
  const words = [...index.keys()].sort()
  const starts = new Uint32Array(words.length + 1)
  let total = 0
  words.forEach((word, i) => {
    starts[i] = total
    total += index.get(word)!.ids.length
  })
  starts[words.length] = total
  const documents = new Uint32Array(total)
  const counts = new Uint16Array(total)
  words.forEach((word, i) => {
    const entry = index.get(word)!
    documents.set(entry.ids, starts[i])
    counts.set(entry.weights, starts[i])
  })
  const flags = Uint8Array.from(
    pages,
    (page) =>
      kinds.indexOf(page.kind) | (page.hidden ? hiddenFlag : 0) | (page.deprecated ? deprecatedFlag : 0) |
      (page.kind === "export" && page.card.export === undefined
        ? page.id.includes("#") ? memberFlag : moduleFlag
        : 0) |
      (/#.*(?:Config|Constraints|Options|Settings)\.\w+$/.test(page.id) ? settingFlag : 0) |
      (/^(?:interface|type|namespace|, )+$/.test(page.card.export?.kind ?? "") ? typeFlag : 0)
  )
  const cards = pack(pages.map((page) => Buffer.from(JSON.stringify(cut(page.card)))))
  const pageTexts = pages.map((page) => Buffer.from(page.text))
  const texts = pack(pageTexts)
  const sections: ReadonlyArray<Uint8Array> = [
    Buffer.from(JSON.stringify(info)),
    ...packStrings(pages.map((page) => page.id)),
    ...packStrings(pages.map((page) => page.title)),
    flags,
    ...packStrings(words),
    bytesOf(starts),
    bytesOf(documents),
    bytesOf(counts),
    bytesOf(cards.starts),
    bytesOf(texts.starts),
    bytesOf(Uint32Array.from(pageTexts, (text) => crc32(text))),
    Uint8Array.from(pages, ({ mentions }) => Math.min(255, Math.round(16 * Math.log2(1 + mentions))))
  ]
  const body = join(sections)
  const header = Buffer.alloc(headerLength)
  header.writeUInt32LE(magic, 0)
  header.writeUInt32LE(format, 4)
  header.writeUInt32LE(body.length, 8)
  header.writeUInt32LE(crc32(body), 12)
  header.writeUInt32LE(crc32(texts.bytes, crc32(cards.bytes, crc32(body))), 16)
  header.writeUInt32LE(cards.bytes.length, 20)
  header.writeUInt32LE(texts.bytes.length, 24)
  return Buffer.concat([header, body, cards.bytes, texts.bytes])
}

/** The length of what comes before the index in a file. */
export const headerLength = 32

/** The parts of a file, by its header; `undefined` if it is not one of this format. */
export const parseHeader = (header: Buffer, fileSize: number) => {
  if (
    header.length < headerLength || header.readUInt32LE(0) !== magic || header.readUInt32LE(4) !== format
  ) {
    return undefined
  }
  const bodyLength = header.readUInt32LE(8)
  const cardsLength = header.readUInt32LE(20)
  if (headerLength + bodyLength + cardsLength + header.readUInt32LE(24) !== fileSize) {
    return undefined
  }
  return {
    bodyLength,
    checksum: header.readUInt32LE(12),
    stamp: header.readUInt32LE(16),
    cardsStart: headerLength + bodyLength,
    textsStart: headerLength + bodyLength + cardsLength
  }
}

/** Reads the index of a package as it was stored; `undefined` if it is damaged. */
export const decode = (body: Buffer, header: NonNullable<ReturnType<typeof parseHeader>>): Segment | undefined => {
  if (crc32(body) !== header.checksum) {
    return undefined
  }
  const sections = part(body)
  const shift = (starts: Uint32Array, by: number) => starts.map((start) => start + by)
  const strings = (index: number, ascii: boolean) => new Strings(sections[index]!, words(sections[index + 1]!), ascii)
  const counts = sections[10]!
  return {
    info: JSON.parse(sections[0]!.toString()) as Info,
    count: sections[5]!.length,
    ids: strings(1, false),
    titles: strings(3, false),
    flags: sections[5]!,
    terms: strings(6, true),
    starts: words(sections[8]!),
    documents: words(sections[9]!),
    counts: new Uint16Array(counts.buffer, counts.byteOffset, counts.length / 2),
    cards: shift(words(sections[11]!), header.cardsStart),
    texts: shift(words(sections[12]!), header.textsStart),
    checksums: words(sections[13]!),
    mentions: sections[14]!,
    stamp: header.stamp
  }
}

const cut = (card: Card): Card => ({
  ...card,
  summary: card.summary.length > 300 ? `${card.summary.slice(0, 299)}…` : card.summary
})

const pack = (buffers: ReadonlyArray<Buffer>): { readonly bytes: Buffer; readonly starts: Uint32Array } => {
  const starts = new Uint32Array(buffers.length + 1)
  buffers.forEach((buffer, i) => starts[i + 1] = starts[i]! + buffer.length)
  return { bytes: Buffer.concat(buffers), starts }
}

const packStrings = (texts: ReadonlyArray<string>): ReadonlyArray<Uint8Array> => {
  const { bytes, starts } = pack(texts.map((text) => Buffer.from(text)))
  return [bytes, bytesOf(starts)]
}

const bytesOf = (array: Uint32Array | Uint16Array): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)

const words = (bytes: Buffer): Uint32Array => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)

const padded = (length: number): number => (length + 3) & ~3

// Sections follow each other with their lengths in front, each at a multiple of four, as typed arrays want it.
const join = (sections: ReadonlyArray<Uint8Array>): Buffer => {
  const out = Buffer.alloc(sections.reduce((sum, section) => sum + 4 + padded(section.length), 0))
  let position = 0
  for (const section of sections) {
    out.writeUInt32LE(section.length, position)
    out.set(section, position + 4)
    position += 4 + padded(section.length)
  }
  return out
}

const part = (body: Buffer): ReadonlyArray<Buffer> => {
  const out: Array<Buffer> = []
  for (let position = 0; position < body.length;) {
    const length = body.readUInt32LE(position)
    out.push(body.subarray(position + 4, position + 4 + length))
    position += 4 + padded(length)
  }
  return out
}
