/**
 * The endpoint over the standard streams of the process.
 */
import * as Frames from "@fairlead/protocol/Frames"
import type { McpEndpoint } from "@fairlead/server/McpEndpoint"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export type StdioFailure = "unfinished-message" | "read-failed" | "in-use"

/** How many requests run at once; more are answered with an error. */
const maxRequests = 100

const lspFraming = "Messages are framed with headers, as those of a language server; here a message is one line of JSON"

/** Serves until the input ends, or nobody reads the output any more. */
export const serveStdio = (endpoint: McpEndpoint["Service"], output: Output): Effect.Effect<void, StdioFailure> =>
  Effect.callback<void, StdioFailure>((resume) => {
    const { stdin } = process
    const channel = endpoint.connect({
      transport: "stdio",
      send: output.write,
      onDrain: output.onDrain,
      services: undefined,
      maxRequests
    })
    const splitter = Frames.makeSplitter({
      frame: (line) => Frames.isLspHeader(line) ? channel.reject(lspFraming) : channel.receive(line),
      oversize: () => channel.reject(`The message is larger than ${channel.maxMessageBytes} bytes`),
      malformed: () => channel.reject("The message is not valid UTF-8")
    }, channel.maxMessageBytes)

    const stop = () => {
      stdin.removeListener("data", onData)
      stdin.removeListener("end", onEnd)
      stdin.removeListener("error", onError)
      stdin.pause()
      channel.closeUnsafe()
      output.flush()
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
  })

/** How long a program may go on after its input has ended and its layers are closed. */
const exitMillis = 1000

/** Ends the process in a moment, unless it ends by itself: a timer or a socket of some library would keep it for ever. */
export const exitSoon: Effect.Effect<void> = Effect.sync(() =>
  void setTimeout(() => process.exit(), exitMillis).unref()
)

/** The standard output, taken for the protocol. */
export interface Output {
  readonly write: (message: string) => boolean
  readonly onDrain: (resume: () => void) => void
  readonly onClosed: (f: () => void) => void
  /** Writes what waits for the end of the turn. */
  readonly flush: () => void
}

const nothing = () => {}

/** How many answers of one turn leave together at most. */
const burst = 16

/** Whether the standard output is taken: there is one of it in a process. */
let isTaken = false

const take = Effect.suspend(() => isTaken ? Effect.fail<StdioFailure>("in-use") : Effect.sync(redirect))

/**
 * Takes the standard output for the protocol: whatever else the process writes there goes to the standard error, until
 * the scope closes. Messages of one turn are written together, and never cut.
 */
export const takeStdout: Effect.Effect<Output, StdioFailure, Scope.Scope> = Effect.map(
  Effect.acquireRelease(take, ({ restore }) => restore),
  ({ output }) => output
)

/** The same for as long as the process runs: what its end logs is no message either. */
export const keepStdout: Effect.Effect<Output, StdioFailure> = Effect.map(take, ({ output }) => output)

const redirect = (): { readonly output: Output; readonly restore: Effect.Effect<void> } => {
  const { stderr, stdout } = process
  const write = stdout.write.bind(stdout)
  const original = Object.getOwnPropertyDescriptor(stdout, "write")
  let waiting: Array<string> = []
  let resumes: Array<() => void> = []
  const closedListeners: Array<() => void> = []

  const flush = () => {
    if (waiting.length === 0) return
    const frames = waiting
    waiting = []
    write(`${frames.join("\n")}\n`)
  }
  const onDrain = () => {
    const callbacks = resumes
    resumes = []
    for (const resume of callbacks) resume()
  }
  const onError = () => {
    for (const f of closedListeners) f()
  }

  isTaken = true
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  stdout.on("drain", onDrain)
  stdout.on("error", onError)
  // A parent that has gone takes both streams with it, and a log line must not end the process with a stack trace.
  stderr.on("error", nothing)

  return {
    output: {
      write: (message) => {
        waiting.push(message)
        if (waiting.length === 1) queueMicrotask(flush)
        // Many at once leave in parts, so that the client can read while the rest is made.
        else if (waiting.length === burst) flush()
        return !stdout.writableNeedDrain
      },
      onDrain: (resume) => {
        resumes.push(resume)
      },
      onClosed: (f) => {
        closedListeners.push(f)
      },
      flush
    },
    restore: Effect.callback<void>((resume) => {
      flush()
      stdout.removeListener("drain", onDrain)
      stdout.removeListener("error", onError)
      // A late failure of the pipes must not end the process with a stack trace either: both keep their listener.
      stdout.on("error", nothing)
      if (original === undefined) delete (stdout as { write?: unknown }).write
      else Object.defineProperty(stdout, "write", original)
      isTaken = false
      if (stdout.destroyed || stdout.writableLength === 0) return resume(Effect.void)
      write("", () => resume(Effect.void))
    })
  }
}
