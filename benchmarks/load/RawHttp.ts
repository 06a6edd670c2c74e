/**
 * A client that does as little as a client can: keep-alive connections, requests that are bytes already, responses that
 * are only looked at for their end. It is not to be what a server waits for.
 */
import * as Net from "node:net"
import type { Order, Outcome } from "../harness/Message.ts"
import { percentile } from "../harness/Stats.ts"
import { requestBytes } from "./requestBytes.ts"

const headEnd = Buffer.from("\r\n\r\n")
const chunksEnd = Buffer.from("0\r\n\r\n")
const bufferBytes = 256 * 1024

/** Finds the end of each response in the bytes of one connection; the server sends one at a time. */
class Responses {
  #head: Buffer | undefined
  /** Bytes of the body that are still to come; `-1` while the head is not whole, `-2` in a chunked body. */
  #left = -1
  #tail = Buffer.alloc(0)

  /** Whether these bytes end the response; throws for any status but 200. */
  feed(bytes: Buffer): boolean {
    if (this.#left === -1) {
      const all = this.#head === undefined ? bytes : Buffer.concat([this.#head, bytes])
      const end = all.indexOf(headEnd)
      if (end === -1) {
        this.#head = Buffer.from(all)
        return false
      }
      this.#head = undefined
      const head = all.toString("latin1", 0, end)
      if (!head.startsWith("HTTP/1.1 200")) throw new Error(all.toString())
      return this.#body(all.subarray(end + 4), contentLength(head))
    }
    return this.#body(bytes, undefined)
  }

  #body(bytes: Buffer, length: number | undefined): boolean {
    if (length !== undefined) this.#left = length
    if (this.#left >= 0) {
      this.#left -= bytes.length
      if (this.#left > 0) return false
    } else {
      const last = bytes.length >= chunksEnd.length ? bytes : Buffer.concat([this.#tail, bytes])
      if (!last.subarray(-chunksEnd.length).equals(chunksEnd)) {
        this.#tail = Buffer.from(last.subarray(-chunksEnd.length))
        return false
      }
      this.#tail = Buffer.alloc(0)
    }
    this.#left = -1
    return true
  }
}

const contentLength = (head: string): number => {
  const match = /\r\ncontent-length: *(\d+)/i.exec(head)
  return match === null ? -2 : Number(match[1])
}

/**
 * Keeps the event loop turning until told to stop: a load that sleeps has to be woken by what it measures, and on a
 * virtual machine a wake-up costs the waker more than a request, the more often the slower it is.
 */
export const spin = (): () => void => {
  let stopped = false
  const turn = () => {
    if (!stopped) setImmediate(turn)
  }
  turn()
  return () => {
    stopped = true
  }
}

/** Sends the message over and over, on as many connections as there are calls in flight. */
export const load = (order: Order): Promise<Outcome> => {
  const { calls = Infinity, concurrency, message = "", millis, port = 0, sleeps = false } = order
  const latencies: Array<number> = []
  const start = performance.now()
  const end = start + millis
  let begun = 0
  const stop = sleeps ? () => {} : spin()

  const connection = (id: number) =>
    new Promise<void>((resolve, reject) => {
      const responses = new Responses()
      const bytes = requestBytes(message, id, port)
      let sentAt = 0
      const send = () => {
        sentAt = performance.now()
        if (calls === Infinity ? sentAt >= end : begun >= calls) {
          socket.end()
          return resolve()
        }
        begun++
        socket.write(bytes)
      }
      const socket = Net.connect({
        port,
        host: "127.0.0.1",
        noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafe(bufferBytes),
          callback: (read, buffer) => {
            try {
              if (responses.feed(Buffer.from(buffer.buffer, buffer.byteOffset, read))) {
                latencies.push((performance.now() - sentAt) * 1000)
                send()
              }
            } catch (error) {
              reject(error as Error)
              socket.destroy()
            }
            return true
          }
        }
      })
      socket.once("connect", send)
      socket.once("error", reject)
      socket.once("close", () => resolve())
    })

  return Promise.all(Array.from({ length: concurrency }, (_, id) => connection(id + 1))).finally(stop).then(() => {
    const seconds = (performance.now() - start) / 1000
    const sorted = Float64Array.from(latencies)
    return {
      calls: latencies.length,
      seconds,
      p50Micros: percentile(sorted, 0.5),
      p99Micros: percentile(sorted, 0.99)
    }
  })
}
