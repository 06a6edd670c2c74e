import { NodeServices } from "@effect/platform-node"
import { assert, describe, expect, it } from "@effect/vitest"
import * as McpClient from "@fairlead/client/McpClient"
import * as StdioTransport from "@fairlead/client/StdioTransport"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import { Transport } from "@fairlead/protocol/Transport"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import * as fs from "node:fs"
import * as os from "node:os"
import { fileURLToPath } from "node:url"
import { Search } from "./support/tools.ts"

const script = fileURLToPath(new URL("./fixtures/peer.mjs", import.meta.url))

interface Options extends Omit<Partial<StdioTransport.Options>, "args"> {
  readonly args?: ReadonlyArray<string>
  readonly client?: McpClient.Options
}

/** A client of the fixture, and everything that the child writes to its standard error. */
const spawn = (options: Options = {}) =>
  Effect.gen(function*() {
    const { args = [], client, ...rest } = options
    let errors = ""
    const service = yield* StdioTransport.make({
      command: process.execPath,
      args: [script, ...args],
      stderr: (text) =>
        Effect.sync(() => {
          errors += text
        }),
      ...rest
    })
    const made = yield* McpClient.make(client).pipe(Effect.provideService(Transport, service))
    return {
      client: made,
      errors: () => errors,
      ask: (query: string) => Effect.map(made.call(Search, { query }), ({ titles }) => titles)
    }
  }).pipe(Effect.provide(NodeServices.layer))

const failure = Effect.flip

const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    for (let i = 0; i < 1000 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(condition()).toBe(true)
  })

const logging = () => {
  const lines: Array<{ readonly level: string; readonly text: string }> = []
  const logger = Logger.make((options) => {
    lines.push({ level: options.logLevel, text: Logger.formatJson.log(options) })
  })
  return { lines, layer: Logger.layer([logger]) }
}

describe("a start that is interrupted", () => {
  it.live("leaves no child behind, whenever it is", () =>
    Effect.gen(function*() {
      const count = { started: 0, open: 0 }
      const child = {
        stdout: Stream.never,
        stderr: Stream.never,
        stdin: Sink.drain,
        exitCode: Effect.succeed(0),
        kill: () => Effect.void
      }
      const spawner = {
        spawn: () =>
          Effect.acquireRelease(
            Effect.sync(() => {
              count.started++
              count.open++
              return child
            }),
            () => Effect.sync(() => count.open--)
          )
      }
      for (let before = 0; before < 200; before++) {
        // Each step takes a turn of its own, and the interruption comes in any of them.
        const fiber = yield* StdioTransport.make({ command: "server" }).pipe(
          Effect.andThen(Effect.never),
          Effect.scoped,
          Effect.provideService(ChildProcessSpawner, spawner as never),
          Effect.provideService(Scheduler.MaxOpsBeforeYield, 3),
          Effect.forkChild
        )
        for (let i = 0; i < before; i++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        expect([before, count.open]).toEqual([before, 0])
      }
      expect(count.started).toBeGreaterThan(0)
    }))
})

describe("calls", () => {
  it.live(
    verifies("STDIO-1", "STDIO-2@client", "STDIO-3@client", "client/stdio", "snodo/connect/stdio")(
      "a request is one line of JSON, its answer another"
    ),
    () =>
      Effect.gen(function*() {
        const { ask } = yield* spawn()
        expect(yield* ask("echo zwölf\nlines\u2028 🌍")).toEqual(["zwölf\nlines\u2028 🌍"])
        const [line] = yield* ask("received")
        const message = JSON.parse(line!)
        expect(message.jsonrpc).toBe("2.0")
        expect(message.method).toBe("tools/call")
        expect(yield* ask("pieces")).toEqual(["zwölf 🌍"])
      })
  )

  it.live(
    verifies("STDIO-5", "snodo/promise/stdio_correlates", "STATE-4")(
      "many run at once, answers find their call in any order"
    ),
    () =>
      Effect.gen(function*() {
        const { ask } = yield* spawn()
        const held = yield* Effect.forkChild(
          Effect.all(Array.from({ length: 10 }, () => ask("hold")), { concurrency: "unbounded" })
        )
        const echoes = Array.from({ length: 30 }, (_, i) => ask(`echo ${i}`))
        expect((yield* Effect.all(echoes, { concurrency: "unbounded" })).map(([title]) => title)).toEqual(
          Array.from({ length: 30 }, (_, i) => String(i))
        )
        expect(held.pollUnsafe()).toBeUndefined()
        expect(yield* ask("release")).toEqual(["released"])
        const ids = (yield* Fiber.join(held)).map(([id]) => Number(id))
        expect(ids).toEqual([...ids].sort((a, b) => a - b))
      })
  )

  it.live(
    verifies("STDIO-5", "snodo/promise/progress_function")("progress finds its call by its token"),
    () =>
      Effect.gen(function*() {
        const { ask } = yield* spawn()
        const seen: Array<number> = []
        const call = ask("progress").pipe(Call.withProgress(({ progress }) => Effect.sync(() => seen.push(progress))))
        expect(yield* call).toEqual(["a"])
        expect(seen).toEqual([1, 2, 3])
      })
  )

  it.live("noise is skipped and reported with its length alone", () =>
    Effect.gen(function*() {
      const { layer, lines } = logging()
      yield* Effect.gen(function*() {
        const { ask } = yield* spawn()
        expect(yield* ask("noise")).toEqual(["a"])
      }).pipe(Effect.provide(layer))
      expect(lines.map(({ level }) => level)).toEqual(Array(6).fill("Warn"))
      const text = lines.map(({ text }) => text).join("\n")
      expect(text).toContain("\"length\":18")
      expect(text).not.toContain("s3cret")
    }))

  it.live("framing with headers is named", () =>
    Effect.gen(function*() {
      const { layer, lines } = logging()
      const framed = `process.stdin.once("data", () => process.stdout.write("Content-Length: 2\\r\\n\\r\\n{}"))`
      yield* Effect.gen(function*() {
        const service = yield* StdioTransport.make({ command: process.execPath, args: ["-e", framed] })
        const client = yield* McpClient.make().pipe(Effect.provideService(Transport, service))
        yield* Effect.forkScoped(Effect.ignore(client.discover))
        yield* until(() => lines.length > 0)
      }).pipe(Effect.provide(NodeServices.layer), Effect.provide(layer))
      expect(lines[0]!.text).toContain("The server frames its messages with headers, as language servers do")
    }))

  it.live.each<readonly [string, string, string]>([
    ["no version", "{\"id\":ID,\"result\":{}}", "malformed_response"],
    ["a result that is no object", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":5}", "malformed_response"],
    [
      "an error",
      "{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-32603,\"message\":\"x\"}}",
      "rpc_error.-32603"
    ],
    [
      "an error without an id, for the only call",
      "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"x\"}}",
      "rpc_error.-32700"
    ]
  ])("an answer with %s", ([_name, line, code]) =>
    Effect.gen(function*() {
      const { ask, client } = yield* spawn()
      const error = yield* failure(client.callResult(Search, { query: `raw ${line}` }))
      expect(error.code).toBe(code)
      expect(yield* ask("echo b")).toEqual(["b"])
    }))

  it.live("the id of another type is not the call's: it waits on", () =>
    Effect.gen(function*() {
      const { client } = yield* spawn()
      const call = client.callResult(Search, { query: "raw {\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"result\":{}}" })
      expect((yield* failure(call.pipe(Call.withDeadline("200 millis")))).code).toBe("timed_out.maybe_sent")
    }))

  it.live(
    verifies(
      "client/with_max_pending_calls",
      "client/default/max_pending_calls",
      "client/reason/too_many_pending_calls",
      "client/kind/overloaded"
    )("64 calls may wait; one more is refused and not sent"),
    () =>
      Effect.gen(function*() {
        const { ask, client } = yield* spawn()
        const held = yield* Effect.forkChild(
          Effect.all(Array.from({ length: 64 }, () => ask("hold")), { concurrency: "unbounded" })
        )
        yield* Effect.sleep("50 millis")
        const error = yield* failure(client.callResult(Search, { query: "echo" }))
        assert(error.reason._tag === "TooManyPendingCalls")
        expect(error.reason.limit).toBe(64)
        expect(error.evidence).toBe("NotSent")
        expect(error.isRetryable({ idempotent: false })).toBe(true)
        yield* Fiber.interrupt(held)
        expect(yield* ask("echo a")).toEqual(["a"])
      })
  )
})

describe("log messages", () => {
  it.live("go to every call that asked for them, since nothing says whose they are", () =>
    Effect.gen(function*() {
      const { ask } = yield* spawn()
      const heard: Array<readonly [string, unknown]> = []
      const hear = (who: string) => Call.withLogLevel("debug", ({ data }) => Effect.sync(() => heard.push([who, data])))
      const held = yield* Effect.forkChild(ask("hold").pipe(hear("held")))
      const deaf = yield* Effect.forkChild(ask("hold"))
      yield* Effect.sleep("50 millis")
      expect(yield* ask("log one").pipe(hear("asked"))).toEqual(["a"])
      yield* ask("log two")
      yield* ask("release")
      yield* Fiber.join(held)
      yield* Fiber.join(deaf)
      expect(heard).toEqual([["held", "one"], ["asked", "one"], ["held", "two"]])
    }))
})

describe("limits", () => {
  it.live.each([
    { query: "size 5000", passes: true },
    { query: "size 5001", passes: false },
    { query: "size-late-id 5000", passes: true },
    { query: "size-late-id 5001", passes: false }
  ])(
    verifies("client/reason/response_too_large")("the answer's, in bytes: $query passes $passes"),
    ({ passes, query }) =>
      Effect.gen(function*() {
        const { ask, client } = yield* spawn({ maxResponseBytes: 5000 })
        if (passes) return expect(yield* ask(query)).toEqual(["a"])
        const waiting = yield* Effect.forkChild(ask("hold"))
        yield* Effect.sleep("20 millis")
        const error = yield* failure(client.callResult(Search, { query }))
        assert(error.reason._tag === "ResponseTooLarge")
        expect(error.reason.limit).toBe(5000)
        expect(error.evidence).toBe("MaybeSent")
        expect(waiting.pollUnsafe()).toBeUndefined()
        expect(yield* ask("release")).toEqual(["released"])
        yield* Fiber.join(waiting)
      })
  )

  it.live("the default is 1 MiB", () =>
    Effect.gen(function*() {
      const { ask, client } = yield* spawn()
      expect(yield* ask(`size ${1024 * 1024}`)).toEqual(["a"])
      const error = yield* failure(client.callResult(Search, { query: `size ${1024 * 1024 + 1}` }))
      assert(error.reason._tag === "ResponseTooLarge")
      expect(error.reason.limit).toBe(1024 * 1024)
    }))

  it.live(
    verifies("snodo/option/max_line_bytes", "snodo/promise/long_line_times_out")(
      "a line over the limit fails its call by the id in its head, and the next line is read"
    ),
    () =>
      Effect.gen(function*() {
        const { ask, client } = yield* spawn({ maxLineBytes: 10_000 })
        const waiting = yield* Effect.forkChild(ask("hold"))
        yield* Effect.sleep("20 millis")
        for (const query of ["size 10001", "size 500000"]) {
          const error = yield* failure(client.callResult(Search, { query }))
          assert(error.reason._tag === "ResponseTooLarge")
          expect(error.reason.limit).toBe(10_000)
        }
        expect(waiting.pollUnsafe()).toBeUndefined()
        expect(yield* ask("release")).toEqual(["released"])
        yield* Fiber.join(waiting)
      })
  )

  it.live(
    verifies("snodo/default/max_line_bytes")("a line may have 16 MiB unless said otherwise"),
    () =>
      Effect.gen(function*() {
        const limit = 16 * 1024 * 1024
        const { ask, client } = yield* spawn({ maxResponseBytes: 2 * limit })
        expect(yield* ask(`size ${limit}`)).toEqual(["a"])
        const error = yield* failure(client.callResult(Search, { query: `size ${limit + 1}` }))
        assert(error.reason._tag === "ResponseTooLarge")
        expect(error.reason.limit).toBe(limit)
      })
  )

  it.live("an answer of many megabytes fails its call alone, as one does that is no JSON or nests too deep", () =>
    Effect.gen(function*() {
      const { ask, client } = yield* spawn()
      const call = (query: string) => failure(client.callResult(Search, { query }))
      const waiting = yield* Effect.forkChild(ask("hold"))
      yield* Effect.sleep("20 millis")
      expect((yield* call(`size-late-id ${12 * 1024 * 1024}`)).code).toBe("response_too_large")
      const deep = `${"[".repeat(70)}${"]".repeat(70)}`
      for (const value of ["NaN", deep]) {
        const error = yield* call(`raw {"jsonrpc":"2.0","id":ID,"result":{"x":${value}}}`)
        expect(error.code).toBe("malformed_response")
      }
      expect(waiting.pollUnsafe()).toBeUndefined()
      expect(yield* ask("release")).toEqual(["released"])
      yield* Fiber.join(waiting)
    }))

  it.live("a line over the limit without an id in its head fails the only call, or all", () =>
    Effect.gen(function*() {
      const { ask, client } = yield* spawn({ maxLineBytes: 10_000 })
      const alone = yield* failure(client.callResult(Search, { query: "size-late-id 20000" }))
      expect(alone.code).toBe("response_too_large")
      const waiting = yield* Effect.forkChild(failure(client.callResult(Search, { query: "hold" })))
      yield* Effect.sleep("20 millis")
      const one = yield* failure(client.callResult(Search, { query: "size-late-id 20000" }))
      expect(one.code).toBe("response_too_large")
      expect((yield* Fiber.join(waiting)).code).toBe("response_too_large")
      expect(yield* ask("echo a")).toEqual(["a"])
    }))
})

describe("ends of a call", () => {
  it.live(
    verifies(
      "STDIO-6",
      "CAN-1@client",
      "CAN-2@client",
      "CAN-6@client",
      "client/promise/cancellation_stdio",
      "snodo/promise/stdio_timeout_cancels"
    )("deadline, token and interruption tell the server, once, and late answers are ignored"),
    () =>
      Effect.gen(function*() {
        const { layer, lines } = logging()
        yield* Effect.gen(function*() {
          const { ask, client, errors } = yield* spawn()
          const hold = client.callResult(Search, { query: "hold" })
          const late = yield* failure(hold.pipe(Call.withDeadline("50 millis")))
          expect(late.code).toBe("timed_out.maybe_sent")
          const token = yield* Call.makeCancellationToken
          const fiber = yield* Effect.forkChild(failure(hold.pipe(Call.withCancellation(token))))
          yield* Effect.sleep("50 millis")
          yield* token.cancel
          expect((yield* Fiber.join(fiber)).code).toBe("cancelled.maybe_sent")
          const interrupted = yield* Effect.forkChild(hold)
          yield* Effect.sleep("50 millis")
          yield* Fiber.interrupt(interrupted)
          yield* until(() => errors().split("cancelled").length === 4)
          expect(errors()).toMatch(/^(cancelled \d+ reason,requestId\n){3}$/)
          const ids = errors().match(/\d+/g)!.map(Number)
          expect(ids).toEqual([...ids].sort((a, b) => a - b))
          expect(yield* ask("release")).toEqual(["released"])
          expect(errors().split("cancelled").length).toBe(4)
        }).pipe(Effect.provide(layer))
        expect(lines).toEqual([])
      })
  )

  it.live(
    verifies("snodo/promise/stdio_progress_failure_cancels")("a progress handler that dies tells the server, once"),
    () =>
      Effect.gen(function*() {
        const { ask, client, errors } = yield* spawn()
        const exit = yield* Effect.exit(
          client.callResult(Search, { query: "progress-hold" }).pipe(Call.withProgress(() => Effect.die("handler")))
        )
        expect(exit).toEqual(Exit.die("handler"))
        yield* until(() => errors().includes("cancelled"))
        expect(yield* ask("echo a")).toEqual(["a"])
        expect(errors()).toMatch(/^cancelled \d+ reason,requestId\n$/)
      })
  )

  it.live("a call that is cut before its frame could leave was not sent, and the server never hears of it", () =>
    Effect.gen(function*() {
      // A child that reads nothing: the pipe fills, what comes after waits here.
      const { client } = yield* spawn({ args: ["--deaf"], closeWait: "100 millis" })
      const filling = yield* Effect.forkChild(failure(
        client.callResult(Search, { query: "x".repeat(4 * 1024 * 1024) }).pipe(Call.withDeadline("1 second"))
      ))
      yield* Effect.sleep("100 millis")
      const error = yield* failure(client.callResult(Search, { query: "echo" }).pipe(Call.withDeadline("100 millis")))
      expect(error.code).toBe("timed_out.not_sent")
      expect((yield* Fiber.join(filling)).code).toBe("timed_out.maybe_sent")
    }))

  it.live(
    verifies(
      "client/reason/connection_closed",
      "client/kind/unreachable",
      "snodo/promise/stdio_exit",
      "snodo/error/connection_closed"
    )("a child that exits: what it answered counts, the rest is lost, later calls are not sent"),
    () =>
      Effect.gen(function*() {
        const { ask, client } = yield* spawn()
        const answered = yield* Effect.forkChild(ask("hold"))
        const lost = yield* Effect.forkChild(failure(client.callResult(Search, { query: "hold" })))
        yield* Effect.sleep("20 millis")
        const error = yield* failure(client.callResult(Search, { query: "exit 3" }))
        assert(error.reason._tag === "ConnectionClosed")
        expect({ ...error.reason }).toEqual({
          _tag: "ConnectionClosed",
          evidence: "MaybeSent",
          exitCode: 3,
          stderr: "dying s3cret\n"
        })
        expect(error.message).not.toContain("s3cret")
        expect(yield* Fiber.join(answered)).toEqual(["last words"])
        expect((yield* Fiber.join(lost)).code).toBe("connection_closed.maybe_sent")
        const later = yield* failure(client.callResult(Search, { query: "echo" }))
        assert(later.reason._tag === "ConnectionClosed")
        expect(later.code).toBe("connection_closed.not_sent")
        expect(later.reason.exitCode).toBe(3)
        expect(later.isRetryable({ idempotent: false })).toBe(true)
      })
  )

  it.live("a child that is killed has no exit code", () =>
    Effect.gen(function*() {
      const { client } = yield* spawn()
      const error = yield* failure(client.callResult(Search, { query: "signal" }))
      assert(error.reason._tag === "ConnectionClosed")
      expect(error.code).toBe("connection_closed.maybe_sent")
      expect(error.reason.exitCode).toBeUndefined()
    }))

  it.live("a child that exits at once", () =>
    Effect.gen(function*() {
      const { client } = yield* spawn({ args: ["--exit"] })
      const error = yield* failure(client.callResult(Search, { query: "echo" }))
      assert(error.reason._tag === "ConnectionClosed")
      expect(error.reason.exitCode).toBe(9)
      expect((yield* failure(client.callResult(Search, { query: "echo" }))).code).toBe("connection_closed.not_sent")
    }))

  it.live.each(["close-stdout", "close-stdin"])(
    "a child that lives on but breaks its pipe: %s",
    (query) =>
      Effect.gen(function*() {
        const { client } = yield* spawn({ closeWait: "100 millis" })
        const error = yield* failure(
          Effect.andThen(
            client.callResult(Search, { query }).pipe(Call.withTimeout("300 millis"), Effect.ignore),
            client.callResult(Search, { query: "echo" })
          )
        )
        expect(error.code).toMatch(/^connection_closed\./)
        const later = yield* failure(client.callResult(Search, { query: "echo" }))
        expect(later.code).toBe("connection_closed.not_sent")
      })
  )

  it.effect("time is the fiber's, also with a real child", () =>
    Effect.gen(function*() {
      const { client, errors } = yield* spawn()
      const fiber = yield* Effect.forkChild(failure(client.callResult(Search, { query: "hold" })))
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 100)))
      yield* TestClock.adjust("30 seconds")
      expect((yield* Fiber.join(fiber)).code).toBe("timed_out.maybe_sent")
      yield* until(() => errors().includes("cancelled"))
    }))
})

describe("standard error", () => {
  it.live(verifies("STDIO-4@client")("is always read, its last 16 KiB are kept"), () =>
    Effect.gen(function*() {
      const { ask, client, errors } = yield* spawn()
      yield* ask("stderr 300000")
      yield* until(() => errors().endsWith("end\n"))
      expect(errors().length).toBe(300_009)
      const error = yield* failure(client.callResult(Search, { query: "exit 0" }))
      assert(error.reason._tag === "ConnectionClosed")
      expect(error.reason.stderr!.length).toBe(16 * 1024)
      expect(error.reason.stderr!.endsWith("xend\ndying s3cret\n")).toBe(true)
    }))
})

describe("what hears standard error", () => {
  it.live(verifies("STDIO-4@client")("can be a queue, read as a stream"), () =>
    Effect.gen(function*() {
      const queue = yield* Queue.bounded<string>(4)
      const { ask } = yield* spawn({ stderr: queue })
      const heard = yield* Stream.fromQueue(queue).pipe(
        Stream.mapAccum(() => "", (all, text) => [all + text, [all + text]] as const),
        Stream.takeUntil((all) => all.endsWith("end\n")),
        Stream.runLast,
        Effect.forkChild
      )
      yield* ask("stderr 300000")
      const all = yield* Fiber.join(heard)
      expect(Option.getOrThrow(all).length).toBeGreaterThanOrEqual(300_004)
    }))

  it.live("may die: the rest is still read", () =>
    Effect.gen(function*() {
      const { layer, lines } = logging()
      yield* Effect.gen(function*() {
        const { ask } = yield* spawn({ stderr: () => Effect.die("hearing") })
        yield* ask("stderr 300000")
        expect(yield* ask("echo a")).toEqual(["a"])
      }).pipe(Effect.provide(layer))
      expect(lines[0]!.level).toBe("Warn")
    }))
})

describe("the child", () => {
  it.live(
    verifies("client/promise/stdio_no_shell")("gets its arguments as they are, never through a shell"),
    () =>
      Effect.gen(function*() {
        const args = ["$HOME", "a b", "\"", "'", "; echo no", "*", ""]
        const { ask } = yield* spawn({ args })
        expect(yield* ask("argv")).toEqual(args)
      })
  )

  it.live(
    verifies("TR-4", "snodo/option/env")("gets a safe environment, what is added to it, or all of it"),
    () =>
      Effect.gen(function*() {
        process.env["FAIRLEAD_TEST_SECRET"] = "s3cret"
        const safe = yield* spawn()
        const names = yield* safe.ask("env")
        expect(names).toContain("PATH")
        expect(names).not.toContain("FAIRLEAD_TEST_SECRET")
        const more = yield* spawn({ env: { ADDED: "1", TOKEN: Redacted.make("t"), PATH: undefined } })
        const added = yield* more.ask("env")
        expect(added).toContain("ADDED")
        expect(added).toContain("TOKEN")
        expect(added).not.toContain("PATH")
        const extended = yield* spawn({ extendEnv: true, env: { ADDED: "1" } })
        const all = yield* extended.ask("env")
        expect(all).toContain("FAIRLEAD_TEST_SECRET")
        expect(all).toContain("ADDED")
        delete process.env["FAIRLEAD_TEST_SECRET"]
      })
  )

  it.live(verifies("snodo/option/cd")("runs where it is told to"), () =>
    Effect.gen(function*() {
      const directory = fs.realpathSync(os.tmpdir())
      const { ask } = yield* spawn({ cwd: directory })
      expect(yield* ask("cwd")).toEqual([directory])
    }))

  it.live.each<readonly [string, Options, string]>([
    ["that does not exist", { command: "/no/such/program-s3cret" }, "NotFound"],
    ["that is not in the path", { command: "no-such-program-s3cret" }, "NotFound"],
    ["that is no program", { command: script }, "PermissionDenied"],
    ["in a directory that does not exist", { cwd: "/no/such/s3cret" }, "NotFound"]
  ])(
    verifies("client/reason/connect_failed", "client/promise/stdio_command_hidden")(
      "a program %s fails the layer, and is nowhere in the error"
    ),
    ([_name, options, detail]) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(spawn({ args: ["--token", "s3cret"], env: { A: "s3cret" }, ...options }))
        assert(Exit.isFailure(exit))
        const error = yield* failure(exit)
        assert(error.reason._tag === "ConnectFailed")
        expect(error.reason.detail).toBe(detail)
        expect(error.evidence).toBe("NotSent")
        const shown = [JSON.stringify(exit), String(exit), Cause.pretty(exit.cause), error.stack].join("\n")
        expect(shown).not.toContain("s3cret")
        expect(shown).not.toContain("/no/such")
      })
  )

  it.live("a command is nowhere in the logs and errors of its calls either", () =>
    Effect.gen(function*() {
      const { layer, lines } = logging()
      yield* Effect.gen(function*() {
        const { client } = yield* spawn({ args: ["--token", "s3cret-argument"] })
        const exit = yield* Effect.exit(client.callResult(Search, { query: "signal" }))
        assert(Exit.isFailure(exit))
        yield* Effect.logError("failed", exit.cause)
        expect(JSON.stringify(exit) + String(exit) + Cause.pretty(exit.cause)).not.toContain("s3cret")
      }).pipe(Effect.provide(layer))
      expect(lines.length).toBeGreaterThan(0)
      expect(lines.map(({ text }) => text).join()).not.toContain("s3cret")
      expect(lines.map(({ text }) => text).join()).not.toContain("peer.mjs")
    }))

  it.effect.each<readonly [string, Options]>([
    ["command", { command: "" }],
    ["command", { command: "a\u0000b" }],
    ["args", { args: ["a\u0000b"] }],
    ["env", { env: { "": "x" } }],
    ["env", { env: { "A=B": "x" } }],
    ["env", { env: { A: "a\u0000b" } }],
    ["cwd", { cwd: "a\u0000b" }],
    ["maxPendingCalls", { maxPendingCalls: 0 }],
    ["maxPendingCalls", { maxPendingCalls: 1.5 }],
    ["maxLineBytes", { maxLineBytes: -1 }],
    ["maxResponseBytes", { maxResponseBytes: NaN }],
    ["closeWait", { closeWait: 0 }],
    ["closeWait", { closeWait: "Infinity" }]
  ])(
    verifies("client/config_field/max_pending_calls", "client/kind/configuration")("the setting %s is refused: %j"),
    ([field, options]) =>
      Effect.gen(function*() {
        const error = yield* failure(spawn(options))
        assert(error.reason._tag === "InvalidConfig")
        expect(error.reason.field).toBe(field)
      })
  )
})

describe("closing", () => {
  const isAlive = (pid: number) => {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  }

  it.live.each<readonly [string, ReadonlyArray<string>, number]>([
    ["ends by itself when its input ends", [], 0],
    ["is asked by SIGTERM when it does not", ["--ignore-eof"], 1],
    ["is killed when it ignores that too", ["--ignore-eof", "--ignore-term"], 2],
    ["is killed when it reads nothing", ["--deaf", "--ignore-term"], 2]
  ])(
    verifies("STDIO-7", "client/promise/close_child", "snodo/promise/stdio_close_stdin", "snodo/promise/stdio_owner")(
      "a child %s (%j)"
    ),
    ([_name, args, waits]) =>
      Effect.gen(function*() {
        const before = process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length
        const scope = yield* Scope.make()
        yield* spawn({ args, closeWait: "300 millis" }).pipe(Scope.provide(scope))
        yield* Effect.sleep("200 millis")
        const start = performance.now()
        yield* Scope.close(scope, Exit.void)
        const took = performance.now() - start
        expect(took).toBeGreaterThan(waits * 290)
        const after = process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length
        expect(after).toBe(before)
      })
  )

  it.live("calls in flight end as cancelled, and the child is gone", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const service = yield* StdioTransport.make({ command: process.execPath, args: [script] }).pipe(
        Effect.provide(NodeServices.layer),
        Scope.provide(scope)
      )
      const client = yield* McpClient.make().pipe(Effect.provideService(Transport, service))
      const pid = Number((yield* client.call(Search, { query: "pid" })).titles[0])
      expect(isAlive(pid)).toBe(true)
      const fiber = yield* Effect.forkChild(failure(client.callResult(Search, { query: "hold" })))
      yield* Effect.sleep("100 millis")
      yield* Scope.close(scope, Exit.void)
      expect((yield* Fiber.join(fiber)).code).toBe("cancelled.maybe_sent")
      expect((yield* failure(client.callResult(Search, { query: "echo" }))).code).toBe("cancelled.not_sent")
      expect(isAlive(pid)).toBe(false)
    }))

  it.live(verifies("STDIO-7")("signals reach the whole process group"), () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { client } = yield* spawn({ args: ["--ignore-eof"], closeWait: "300 millis" }).pipe(Scope.provide(scope))
      const { titles } = yield* client.call(Search, { query: "grandchild" })
      const pid = Number(titles[0])
      expect(isAlive(pid)).toBe(true)
      yield* Scope.close(scope, Exit.void)
      yield* until(() => !isAlive(pid))
    }))

  it.live("a transport built inside a call does not carry it", () =>
    Effect.gen(function*() {
      const heard = yield* Deferred.make<Call.Call>()
      const { ask } = yield* spawn({
        stderr: () => Effect.flatMap(Call.Current, (call) => Deferred.succeed(heard, call))
      }).pipe(Call.withCorrelation("building"))
      yield* ask("stderr 1")
      expect(yield* Deferred.await(heard)).toEqual(Call.empty)
    }))
})

describe("restart", () => {
  it.live(
    verifies("STDIO-9")("starts a server that ended by itself again; what came meanwhile was not sent"),
    () =>
      Effect.gen(function*() {
        const { ask, client } = yield* spawn({ restart: { base: 50, cap: 100 } })
        expect(yield* ask("echo a")).toEqual(["a"])
        const lost = yield* failure(ask("exit 3"))
        assert(lost._tag === "McpClientError" && lost.reason._tag === "ConnectionClosed")
        expect([lost.code, lost.reason.exitCode]).toEqual(["connection_closed.maybe_sent", 3])
        expect(yield* failure(ask("echo b"))).toMatchObject({ code: "connection_closed.not_sent" })
        const again = yield* ask("echo c").pipe(McpClient.retry({ schedule: Schedule.spaced("20 millis") }))
        expect(again).toEqual(["c"])
        yield* client.close
      })
  )

  it.live("is off unless it is asked for, and gives up after so many attempts", () =>
    Effect.gen(function*() {
      const off = yield* spawn()
      yield* failure(off.ask("exit 3"))
      expect(yield* failure(off.ask("echo b"))).toMatchObject({ code: "connection_closed.not_sent" })
      const { layer, lines } = logging()
      const few = yield* Effect.provide(spawn({ args: ["--exit"], restart: { base: 5, attempts: 2 } }), layer)
      yield* until(() => lines.length === 2)
      yield* Effect.sleep("1500 millis")
      expect(lines.map(({ level }) => level)).toEqual(["Warn", "Warn"])
      expect(yield* failure(few.ask("echo b"))).toMatchObject({ code: "connection_closed.not_sent" })
    }))

  it.effect("a setting that cannot be used is refused", () =>
    Effect.gen(function*() {
      const error = yield* failure(spawn({ restart: { attempts: 0 } }))
      assert(error.reason._tag === "InvalidConfig")
      expect(error.reason.field).toBe("restart")
    }))
})

describe("close", () => {
  it.live(
    verifies("client/promise/close_child", "snodo/promise/stdio_close_stdin")(
      "returns at once, shuts the child down, and the scope waits for it"
    ),
    () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const { ask, client, errors } = yield* Scope.provide(
          spawn({ args: ["--ignore-eof", "--ignore-term"], closeWait: "200 millis", restart: true }),
          scope
        )
        yield* ask("echo a")
        const fiber = yield* Effect.forkChild(failure(ask("hold")))
        yield* Effect.sleep("50 millis")
        const before = performance.now()
        yield* client.close
        expect(performance.now() - before).toBeLessThan(100)
        expect(yield* Fiber.join(fiber)).toMatchObject({ code: "cancelled.maybe_sent" })
        yield* Scope.close(scope, Exit.void)
        expect(performance.now() - before).toBeGreaterThan(350)
        expect(errors()).toContain("ignored SIGTERM")
      })
  )
})
