import { assert, describe, it } from "@effect/vitest"
import { Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const main = Path.join(import.meta.dirname, "../main.ts")

/** Starts the server as its users do, until the scope closes. */
const start = (directory: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const child = spawn(process.execPath, ["--conditions=@fairlead/source", main, "0", directory])
        let output = ""
        for await (const chunk of child.stdout) {
          output += String(chunk)
          const url = /http:\/\/\S+/.exec(output)?.[0]
          if (url !== undefined) return { child, url }
        }
        throw new Error(`The server did not start: ${output}`)
      }),
      ({ child }) =>
        Effect.promise(async () => {
          child.kill("SIGTERM")
          if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
        })
    ),
    ({ url }) => url
  )

const directory = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "deploy-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true, force: true }))
)

interface Round {
  readonly resultType: string
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly requestState?: string
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

const round = (url: string, more: Readonly<Record<string, unknown>>) =>
  Effect.promise(async (): Promise<Round> => {
    const { body, headers } = TestRequest.make(
      "tools/call",
      { name: "deploy", arguments: { service: "shop", version: "1.2.3" }, ...more } as never,
      { meta: { [Revision.meta.clientCapabilities]: { elicitation: {} } } }
    )
    const response = await fetch(url, { method: "POST", headers: { ...headers, accept: "application/json" }, body })
    return ((await response.json()) as { readonly result: Round }).result
  })

describe("the deploy tool", () => {
  it.live("builds once, asks twice and survives restarts between its questions", () =>
    Effect.gen(function*() {
      const where = yield* directory
      const first = yield* Effect.scoped(Effect.flatMap(start(where), (url) => round(url, {})))
      assert.strictEqual(first.resultType, "input_required")
      assert.deepStrictEqual(Object.keys(first.inputRequests ?? {}), ["approval"])

      const second = yield* Effect.scoped(Effect.flatMap(start(where), (url) =>
        round(url, {
          requestState: first.requestState,
          inputResponses: { approval: { action: "accept", content: { approve: true } } }
        })))
      assert.deepStrictEqual(Object.keys(second.inputRequests ?? {}), ["window"])

      const last = yield* Effect.scoped(Effect.flatMap(start(where), (url) =>
        round(url, {
          requestState: second.requestState,
          inputResponses: { window: { action: "accept", content: { when: "tonight" } } }
        })))
      assert.strictEqual(last.resultType, "complete")
      assert.include(last.structuredContent, { release: "release-of-shop@1.2.3", when: "tonight" })
      assert.strictEqual(
        Fs.readFileSync(Path.join(where, "pipeline.log"), "utf8"),
        "built shop@1.2.3\nreleased shop@1.2.3 tonight\n"
      )
    }), 60_000)

  it.live("is answered by the official client, round by round", () =>
    Effect.gen(function*() {
      const url = yield* start(yield* directory)
      const result = yield* Effect.promise(async () => {
        const client = new Client({ name: "official", version: "1.0.0" }, {
          capabilities: { elicitation: { form: {} } },
          versionNegotiation: { mode: "auto" }
        })
        client.setRequestHandler("elicitation/create", async ({ params }) => ({
          action: "accept",
          content: "message" in params && params.message === "When?" ? { when: "now" } : { approve: true }
        }))
        await client.connect(new StreamableHTTPClientTransport(new URL(url)))
        const reports: Array<number> = []
        const result = await client.callTool(
          { name: "deploy", arguments: { service: "shop", version: "2.0.0" } },
          { onprogress: ({ progress }) => reports.push(progress) }
        )
        await client.close()
        return result
      })
      assert.include(result.structuredContent, { release: "release-of-shop@2.0.0", when: "now" })
    }), 60_000)

  it.live("says why when it is not approved", () =>
    Effect.gen(function*() {
      const url = yield* start(yield* directory)
      const first = yield* round(url, {})
      const refused = yield* round(url, {
        requestState: first.requestState,
        inputResponses: { approval: { action: "decline" } }
      })
      assert.isTrue(refused.isError)
      assert.deepStrictEqual(refused.structuredContent, { _tag: "NotApproved", reason: "it was declined" })
    }), 60_000)
})
