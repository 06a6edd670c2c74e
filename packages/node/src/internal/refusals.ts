/**
 * Refusals on a bare connection: of what is no HTTP, did not arrive in time or asks for a tunnel, Node makes no request
 * that could be answered.
 */
import * as Revision from "@fairlead/protocol/Revision"
import * as Http from "node:http"
import type { Duplex } from "node:stream"

/** How long a client that is refused may go on sending before its connection closes. */
export const lingerMillis = 1000
/** How much it may send in that time. */
export const lingerBytes = 16 * 1024 * 1024

export const versionHeader = { "mcp-protocol-version": Revision.latest.version }

/** The headers that a short text has, whatever it refuses. */
export const textHeaders = { "content-type": "text/plain; charset=utf-8", ...versionHeader }

/** What Node could not read, by the code of its error; anything else is an error of the connection. */
const unreadable = (code: string): readonly [status: number, text: string] | undefined => {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "The request took too long to arrive."]
    case "HPE_HEADER_OVERFLOW":
      return [431, "The headers are too large."]
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return [413, "The chunk extensions are too large."]
    default:
      return code.startsWith("HPE_") ? [400, "This is not HTTP/1.1."] : undefined
  }
}

/** The connections that were refused and are not closed yet. */
export class Refusals {
  private readonly sockets = new Set<Duplex>()

  /** Answers what could not be read, if anything can be said. */
  onError(error: NodeJS.ErrnoException, socket: Duplex, isAnswered: boolean): void {
    // Node tells of each mistake it finds.
    if (this.sockets.has(socket)) return
    const known = unreadable(error.code ?? "")
    // Nothing can be said in the middle of another answer.
    if (known === undefined || isAnswered || !socket.writable) {
      socket.destroy(error)
      return
    }
    this.refuse(socket, known[0], {}, known[1])
  }

  /**
   * Answers, and goes on reading for a while: a connection that closes while its client still sends loses what the client
   * has not read yet, which is the answer.
   */
  refuse(socket: Duplex, status: number, headers: Readonly<Record<string, string>>, text: string): void {
    this.sockets.add(socket)
    let dropped = 0
    const timer = setTimeout(() => socket.destroy(), lingerMillis)
    // Node would read on, and make a request of what comes, or find the next mistake.
    socket.removeAllListeners("data")
    socket.on("data", (chunk: Buffer) => {
      dropped += chunk.length
      if (dropped > lingerBytes) socket.destroy()
    })
    // It was refused already, however it ends.
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      this.sockets.delete(socket)
    })
    socket.end(head(status, { ...textHeaders, ...headers, "content-length": String(Buffer.byteLength(text)) }) + text)
    socket.resume()
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy()
  }
}

const head = (status: number, headers: Readonly<Record<string, string>>): string =>
  `HTTP/1.1 ${status} ${Http.STATUS_CODES[status]}\r\n${
    Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n`
