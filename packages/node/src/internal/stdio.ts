/**
 * The endpoint over the standard streams of the process.
 */
import * as Frames from "@fairlead/protocol/Frames"
import type { McpEndpoint } from "@fairlead/server/McpEndpoint"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export type StdioFailure = "unfinished-message" | "read-failed"

/** The largest message that is read: as an HTTP body. */
const maxFrameBytes = 1024 * 1024

export const serveStdio = (endpoint: McpEndpoint["Service"]): Effect.Effect<void, StdioFailure, Scope.Scope> =>
  Effect.flatMap(takeStdout, (output) =>
    Effect.callback<void, StdioFailure>((resume) => {
      const { stdin } = process
      const channel = endpoint.connect({
        transport: "stdio",
        send: output.write,
        onDrain: output.onDrain,
        services: undefined
      })
      const splitter = Frames.makeSplitter({
        frame: channel.receive,
        oversize: () => channel.reject(`The message is larger than ${maxFrameBytes} bytes`),
        malformed: () => channel.reject("The message is not valid UTF-8")
      }, maxFrameBytes)

      const stop = () => {
        stdin.removeListener("data", onData)
        stdin.removeListener("end", onEnd)
        stdin.removeListener("error", onError)
        stdin.pause()
        channel.closeUnsafe()
      }
      const done = (result: Effect.Effect<void, StdioFailure>) => {
        stop()
        resume(result)
      }
      const onData = (chunk: Buffer) => splitter.feed(chunk)
      const onEnd = () => done(splitter.end() > 0 ? Effect.fail("unfinished-message") : Effect.void)
      const onError = () => done(Effect.fail("read-failed"))
      stdin.on("data", onData)
      stdin.on("end", onEnd)
      stdin.on("error", onError)
      // Whoever closes the output does not want answers any more.
      output.onClosed(() => done(Effect.void))
      return Effect.sync(stop)
    }))

interface Output {
  readonly write: (message: string) => boolean
  readonly onDrain: (resume: () => void) => void
  readonly onClosed: (f: () => void) => void
}

/**
 * Takes the standard output for the protocol: whatever else the process writes there goes to the standard error, until
 * the scope closes. Messages of one turn are written together, and never cut.
 */
const takeStdout: Effect.Effect<Output, never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const { stdout } = process
      const write = stdout.write.bind(stdout)
      const original = Object.getOwnPropertyDescriptor(stdout, "write")
      stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write
      const closedListeners: Array<() => void> = []
      const onError = () => closedListeners.forEach((f) => f())
      stdout.on("error", onError)
      return { stdout, write, original, closedListeners, onError }
    }),
    ({ onError, original, stdout, write }) =>
      Effect.callback<void>((resume) => {
        stdout.removeListener("error", onError)
        // A late failure of the pipe must not end the process with a stack trace.
        stdout.on("error", () => {})
        if (original === undefined) delete (stdout as { write?: unknown }).write
        else Object.defineProperty(stdout, "write", original)
        if (stdout.destroyed || stdout.writableLength === 0) return resume(Effect.void)
        write("", () => resume(Effect.void))
      })
  ),
  ({ closedListeners, stdout, write }) => {
    let waiting: Array<string> = []
    const flush = () => {
      const frames = waiting
      waiting = []
      write(`${frames.join("\n")}\n`)
    }
    return {
      write: (message) => {
        waiting.push(message)
        if (waiting.length === 1) queueMicrotask(flush)
        return !stdout.writableNeedDrain
      },
      onDrain: (resume) => {
        stdout.once("drain", resume)
      },
      onClosed: (f) => {
        closedListeners.push(f)
      }
    }
  }
)
