/**
 * The end of a text that may never stop growing.
 */
import { concat } from "@fairlead/protocol/Bytes"

export class Tail {
  readonly #maxBytes: number
  #chunks: Array<Uint8Array> = []
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk.length > this.#maxBytes ? chunk.slice(-this.#maxBytes) : chunk.slice())
    this.#length += this.#chunks.at(-1)!.length
    while (this.#length - this.#chunks[0]!.length >= this.#maxBytes) this.#length -= this.#chunks.shift()!.length
  }

  /** At most the last `maxBytes`, without the rest of a character that was cut. */
  get text(): string {
    let bytes = concat(this.#chunks, this.#length)
    if (bytes.length > this.#maxBytes) bytes = bytes.subarray(bytes.length - this.#maxBytes)
    let start = 0
    while (start < bytes.length && start < 3 && (bytes[start]! & 0xc0) === 0x80) start++
    return new TextDecoder().decode(bytes.subarray(start))
  }
}
