import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Json, Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as Effect from "effect/Effect"
import { type Child, run } from "./support/child.ts"

const { codes, meta, notification } = Revision
const limit = 1024 * 1024

const call = (name: string, id: unknown, args: Json.Object = {}, more: Json.Object = {}): string =>
  Json.stringify({
    ...JSON.parse(TestRequest.make("tools/call", { name, arguments: args }, { meta: { ...more } }).body),
    id
  })

const echo = (id: unknown, text: string): string => call("echo", id, { text })

const cancel = (requestId: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method: notification.cancelled, params: { requestId } })

/** Waits for a number of lines. */
const lines = (child: Child, count: number) => child.until(() => child.stdout().toString().split("\n").length > count)

const echoed = (child: Child) =>
  child.messages().map(({ error, id, result }) => [id, error?.code ?? result.structuredContent])

describe.concurrent("the standard output", () => {
  it.live(
    verifies("STDIO-2@server", "STDIO-3@server", "STDIO-4@server", "BASE-2@server", "BASE-18@server")(
      "carries the protocol alone, line by line, whatever the program writes and whenever"
    ),
    () =>
      Effect.gen(function*() {
        const child = yield* run("stdioServer")
        child.write(`${call("noisy", 1)}\n`)
        yield* lines(child, 1)
        child.write(`${echo(2, "a\nb\r\nc\u2028d")}\n${call("report", 3, {}, { [meta.progressToken]: "t" })}\n`)
        yield* lines(child, 6)
        child.process.stdin.end()
        assert.deepStrictEqual(yield* child.ended, { code: 0, signal: null })

        const bytes = child.stdout()
        assert.isFalse(bytes.includes(0x0d))
        assert.strictEqual(bytes.at(-1), 0x0a)
        const messages = child.messages()
        assert.deepStrictEqual(messages.map(({ id, method }) => id ?? method), [
          1,
          2,
          notification.progress,
          notification.progress,
          notification.progress,
          3
        ])
        // No blank line, no banner: each line is a message.
        assert.strictEqual(bytes.toString(), messages.map((message) => `${JSON.stringify(message)}\n`).join(""))
        assert.strictEqual(messages[1].result.structuredContent, "a\nb\r\nc\u2028d")

        for (const where of ["layer", "handler", "finalizer"]) {
          for (const what of ["console", "stdout", "bytes", "effect"]) {
            assert.include(child.stderr(), `${what} ${where}`)
          }
        }
      })
  )

  it.live("never shows what a handler died of", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${call("die", "x")}\n`)
      yield* lines(child, 1)
      assert.deepStrictEqual(child.messages()[0], {
        jsonrpc: "2.0",
        id: "x",
        error: { code: codes.internalError, message: "Internal error" }
      })
      yield* child.until(() => child.stderr().includes("hunter2"))
    }))

  it.live("is one endpoint's: a second one in the same process fails", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer", ["twice"])
      yield* child.until(() => child.stderr().includes("second: "))
      assert.include(child.stderr(), "The standard streams are served by another endpoint of this process")
      child.write(`${echo(1, "first")}\n`)
      yield* lines(child, 1)
      assert.deepStrictEqual(echoed(child).at(-1), [1, "first"])
    }))

  it.live("that nobody reads any more ends the server with success, without a stack trace", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${echo(1, "a")}\n`)
      yield* lines(child, 1)
      child.process.stdout.destroy()
      child.write(`${echo(2, "b")}\n${echo(3, "c")}\n`)
      const ended = yield* child.ended
      assert.deepStrictEqual(ended, { code: 0, signal: null })
      assert.include(child.stderr(), "closed\n")
      assert.notInclude(child.stderr(), "EPIPE")
    }))
})

describe.concurrent("the end of the standard input", () => {
  it.live(verifies("STDIO-8")("ends the server, with its finalizers"), () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${echo(1, "a")}\n`)
      yield* lines(child, 1)
      child.process.stdin.end()
      assert.deepStrictEqual(yield* child.ended, { code: 0, signal: null })
      assert.include(child.stderr(), "closed\n")
    }))

  it.live(verifies("STDIO-8")("interrupts what runs, and answers nothing more"), () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${call("hang", 1)}\n`)
      yield* child.until(() => child.stderr().includes("started hang"))
      child.process.stdin.end()
      assert.deepStrictEqual(yield* child.ended, { code: 0, signal: null })
      assert.include(child.stderr(), "interrupted\n")
      assert.strictEqual(child.stdout().length, 0)
    }))

  it.live(verifies("STDIO-8")("ends a program that holds a timer and a socket too"), () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer", ["timer"])
      child.write(`${echo(1, "a")}\n`)
      yield* lines(child, 1)
      child.process.stdin.end()
      assert.deepStrictEqual(yield* child.ended, { code: 0, signal: null })
    }))

  it.live("waits for a handler that cannot be interrupted no longer than stopping may take", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${call("stubborn", 1)}\n`)
      yield* child.until(() => child.stderr().includes("started stubborn"))
      child.process.stdin.end()
      assert.deepStrictEqual(yield* child.ended, { code: 0, signal: null })
      assert.include(child.stderr(), "closed\n")
    }))

  it.live("in the middle of a message fails", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${echo(1, "a")}\n{"jsonrpc":"2.0","id":2,`)
      yield* lines(child, 1)
      child.process.stdin.end()
      assert.deepStrictEqual(yield* child.ended, { code: 1, signal: null })
      assert.include(child.stderr(), "The standard input ended in the middle of a message")
      assert.include(child.stderr(), "closed\n")
      assert.strictEqual(child.messages().length, 1)
    }))
})

describe.concurrent("signals", () => {
  it.live.each(["SIGINT", "SIGTERM"] as const)(
    "%s ends the server with 130, after its finalizers",
    (signal) =>
      Effect.gen(function*() {
        const child = yield* run("stdioServer")
        child.write(`${call("hang", 1)}\n`)
        yield* child.until(() => child.stderr().includes("started hang"))
        child.process.kill(signal)
        assert.deepStrictEqual(yield* child.ended, { code: 130, signal: null })
        assert.include(child.stderr(), "interrupted\n")
        assert.include(child.stderr(), "closed\n")
      })
  )
})

describe.concurrent("frames", () => {
  it.live("come with CRLF, blank lines, a byte order mark, and byte by byte", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`\uFEFF${echo(1, "a")}\r\n\n\r\n${echo(2, "b")}\n`)
      yield* lines(child, 2)
      const bytes = Buffer.from(`${echo(3, "€ — 🙂")}\n`)
      for (const byte of bytes) {
        child.write(Uint8Array.of(byte))
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      yield* lines(child, 3)
      assert.deepStrictEqual(echoed(child), [[1, "a"], [2, "b"], [3, "€ — 🙂"]])
    }))

  it.live("of exactly the limit are served; one that is larger is answered, and the next is served", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${echo(1, "a").padEnd(limit)}\n${echo(2, "b").padEnd(limit + 1)}\n${echo(3, "c")}\n`)
      yield* lines(child, 3)
      assert.deepStrictEqual(echoed(child), [[1, "a"], [undefined, codes.invalidRequest], [3, "c"]])
      assert.include(child.messages()[1].error.message, String(limit))
    }))

  it.live(
    verifies("BASE-11", "BASE-20")(
      "that are no message are answered, with the id where it can be read, and it goes on"
    ),
    () =>
      Effect.gen(function*() {
        const child = yield* run("stdioServer")
        child.write("{\n[]\n{\"id\":99,\"method\":\"tools/list\"}\n")
        child.write(Buffer.from([0x7b, 0xff, 0x7d, 0x0a]))
        child.write(`${echo(1, "a")}\n`)
        yield* lines(child, 5)
        assert.deepStrictEqual(echoed(child), [
          [undefined, codes.parseError],
          [undefined, codes.invalidRequest],
          [99, codes.invalidRequest],
          [undefined, codes.invalidRequest],
          [1, "a"]
        ])
        for (const message of child.messages()) assert.isFalse(message.id === null)
      })
  )

  it.live("have the limit of a body over HTTP", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer", ["small"])
      child.write(`${echo(1, "a").padEnd(2000)}\n${echo(2, "b").padEnd(2001)}\n${echo(3, "c")}\n`)
      yield* lines(child, 3)
      assert.deepStrictEqual(echoed(child), [[1, "a"], [undefined, codes.invalidRequest], [3, "c"]])
      assert.include(child.messages()[1].error.message, "2000 bytes")
    }))

  it.live("beyond 100 requests that run are answered with an error, until one of them ends", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      for (let id = 0; id < 100; id++) child.write(`${call("hang", id)}\n`)
      child.write(`${echo("a", "too many")}\n`)
      yield* lines(child, 1)
      assert.deepStrictEqual(echoed(child), [["a", codes.internalError]])
      child.write(`${cancel(7)}\n${echo("b", "room again")}\n`)
      yield* lines(child, 2)
      assert.deepStrictEqual(echoed(child)[1], ["b", "room again"])
    }))

  it.live("with headers, as language servers have them, are told apart", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      const message = echo(1, "a")
      child.write(`Content-Length: ${message.length}\r\n\r\n${message}\n`)
      yield* lines(child, 2)
      assert.deepStrictEqual(echoed(child), [[undefined, codes.invalidRequest], [1, "a"]])
      assert.include(child.messages()[0].error.message, "a message is one line of JSON")
    }))

  it.live("keep the type and the digits of their ids", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      const ids = ["1", "\"1\"", "0", "\"\"", "-5", "9007199254740993"]
      child.write(ids.map((id) => `${echo("ID", "a").replace("\"ID\"", id)}\n`).join(""))
      yield* lines(child, ids.length)
      const text = child.stdout().toString()
      for (const id of ids) assert.include(text, `{"jsonrpc":"2.0","id":${id},`)
    }))

  it.live("with an id that is in flight are refused", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      child.write(`${call("hang", 1)}\n${call("hang", 1)}\n${echo("1", "a")}\n`)
      yield* lines(child, 2)
      assert.deepStrictEqual(echoed(child), [[1, codes.invalidRequest], ["1", "a"]])
    }))

  it.live(
    verifies("CAN-4", "CAN-5")("that cancel a request end it without an answer; foreign ones are ignored"),
    () =>
      Effect.gen(function*() {
        const child = yield* run("stdioServer")
        child.write(`${call("hang", 1)}\n`)
        yield* child.until(() => child.stderr().includes("started hang"))
        child.write(`${cancel("1")}\n${cancel(2)}\n${cancel(null)}\n${echo(3, "still there")}\n`)
        yield* lines(child, 1)
        assert.notInclude(child.stderr(), "interrupted")
        child.write(`${cancel(1)}\n`)
        yield* child.until(() => child.stderr().includes("interrupted"))
        // The id is free again.
        child.write(`${echo(1, "again")}\n`)
        yield* lines(child, 2)
        assert.deepStrictEqual(echoed(child), [[3, "still there"], [1, "again"]])
      })
  )

  it.live("of many requests at once are answered, each one whole", () =>
    Effect.gen(function*() {
      const child = yield* run("stdioServer")
      const text = "é".repeat(5000)
      const count = 50
      for (let id = 0; id < count; id++) child.write(`${echo(id, text + id)}\n`)
      yield* lines(child, count)
      assert.deepStrictEqual(
        echoed(child).sort(([a], [b]) => a - b),
        Array.from({ length: count }, (_, id) => [id, text + id])
      )
    }))
})
