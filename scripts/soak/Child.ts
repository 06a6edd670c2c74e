/**
 * A server under soak, as its parent sees it.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import * as path from "node:path"
import type { Readable, Writable } from "node:stream"
import type { Figures } from "./Figures.ts"
import type { Front, Message } from "./server.ts"

export interface Child {
  readonly front: Front
  readonly port: number
  /** The standard streams of a server over stdio. */
  readonly stdin: Writable
  readonly stdout: Readable
  readonly figures: Effect.Effect<Figures>
  /** Asks it to end, the way its front is ended, and gives what it exits with. */
  readonly stop: Effect.Effect<number | string>
}

const program = path.join(import.meta.dirname, "server.ts")

const exited = (child: ChildProcess): Effect.Effect<number | string> =>
  Effect.callback((resume) => {
    const done = () => resume(Effect.succeed(child.exitCode ?? child.signalCode ?? "unknown"))
    if (child.exitCode !== null || child.signalCode !== null) return done()
    child.once("exit", done)
    return Effect.sync(() => child.removeListener("exit", done))
  })

/** Starts a server; it is killed with the scope. */
export const start = (front: Front): Effect.Effect<Child, never, Scope.Scope> =>
  Effect.gen(function*() {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, ["--conditions=@fairlead/source", "--expose-gc", program, front], {
          stdio: ["pipe", "pipe", "inherit", "ipc"]
        })
      ),
      (child) => Effect.andThen(Effect.sync(() => void child.kill("SIGKILL")), exited(child))
    )
    // Its end is looked at by `stop`; until then a broken pipe is found by what waits for an answer.
    child.stdin!.on("error", () => {})
    if (front !== "stdio") child.stdout!.resume()
    const next = <Op extends Message["op"]>(op: Op) =>
      Effect.callback<Extract<Message, { readonly op: Op }>>((resume) => {
        const stop = () => {
          child.removeListener("message", onMessage)
          child.removeListener("exit", onExit)
        }
        const onMessage = (message: Message) => {
          if (message.op !== op) return
          stop()
          resume(Effect.succeed(message as Extract<Message, { readonly op: Op }>))
        }
        const onExit = () => {
          stop()
          resume(Effect.die(new Error(`The server ${front} has ended`)))
        }
        child.on("message", onMessage)
        child.on("exit", onExit)
        return Effect.sync(stop)
      })
    const { port } = yield* next("ready")
    return {
      front,
      port,
      stdin: child.stdin!,
      stdout: child.stdout!,
      figures: Effect.suspend(() => {
        child.send("figures")
        return Effect.map(next("figures"), ({ figures }) => figures)
      }),
      stop: Effect.suspend(() => {
        if (front === "stdio") child.stdin!.end()
        else child.kill("SIGTERM")
        return exited(child)
      })
    }
  })
