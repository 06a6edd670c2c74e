import { assert, describe, it } from "@effect/vitest"
import { Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as Path from "node:path"

const program = Path.join(import.meta.dirname, "fixtures/cluster.ts")

interface Running {
  readonly child: ChildProcess
  readonly url: string
}

const start = Effect.acquireRelease(
  Effect.promise(async (): Promise<Running> => {
    const child = spawn(process.execPath, ["--conditions=@fairlead/source", program])
    let output = ""
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      output += String(chunk)
      const urls = output.match(/http:\S+/g) ?? []
      if (urls.length === 2) {
        assert.strictEqual(urls[0], urls[1])
        child.stdout.resume()
        return { child, url: urls[0]! }
      }
    }
    throw new Error(`The workers did not start: ${output}`)
  }),
  ({ child }) =>
    Effect.promise(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill("SIGTERM")
      await once(child, "exit")
    })
)

// A connection belongs to one worker, so each request has a new one.
const call = async (url: string, name: string, more: Record<string, unknown> = {}) => {
  const { body, headers } = TestRequest.make("tools/call", { name, ...more } as never, {
    meta: { [Revision.meta.clientCapabilities]: { elicitation: {} } }
  })
  const response = await fetch(url, { method: "POST", headers: { ...headers, connection: "close" }, body })
  // oxlint-disable-next-line typescript/no-explicit-any
  return ((await response.json()) as any).result
}

const textOf = (result: { readonly content: ReadonlyArray<{ readonly text: string }> }) => result.content[0]!.text

describe("two workers on one port", () => {
  it.live("both serve, and each opens what the other sealed", () =>
    Effect.gen(function*() {
      const { url } = yield* start
      yield* Effect.promise(async () => {
        const pids = new Set<string>()
        // The primary hands connections round, but need not begin with either.
        for (let i = 0; i < 100 && pids.size < 2; i++) {
          // oxlint-disable-next-line no-await-in-loop
          pids.add(textOf(await call(url, "who")))
        }
        assert.strictEqual(pids.size, 2)
        const asked = await call(url, "ask")
        assert.strictEqual(asked.resultType, "input_required")
        const answeredBy = new Set<string>()
        for (let i = 0; i < 100 && answeredBy.size < 2; i++) {
          // oxlint-disable-next-line no-await-in-loop
          const answer = await call(url, "ask", {
            requestState: asked.requestState,
            inputResponses: { name: { action: "accept", content: { name: "Ada" } } }
          })
          answeredBy.add(textOf(answer))
        }
        assert.deepStrictEqual(answeredBy, new Set([...pids].map((pid) => `Ada by ${pid}`)))
      })
    }), 60_000)

  it.live("drain on SIGTERM: what runs ends, then both are gone", () =>
    Effect.gen(function*() {
      const { child, url } = yield* start
      yield* Effect.promise(async () => {
        const running = Promise.all([1, 2, 3, 4].map(() => call(url, "slow")))
        // Their handlers run by the time one more is answered.
        await call(url, "who")
        await new Promise((resolve) => setTimeout(resolve, 100))
        const exit = once(child, "exit")
        child.kill("SIGTERM")
        assert.deepStrictEqual((await running).map(textOf), ["done", "done", "done", "done"])
        await exit
        await fetch(url).then(
          () => assert.fail("the port is still open"),
          () => {}
        )
      })
    }), 60_000)
})
