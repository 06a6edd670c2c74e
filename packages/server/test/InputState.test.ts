/**
 * The state between rounds: sealed, and bound to who asks, what for and until when.
 */
import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, type Json, JsonRpc, Prompt, Resource, Tool } from "@fairlead/protocol"
import { Input, Invocation, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Buffer from "node:buffer"
import { accept, askedBy, callRound, play, round, textOf } from "./support/rounds.ts"
import { type Options, serve } from "./support/serve.ts"

const Pay = Tool.make("pay", { input: Schema.Struct({ amount: Schema.optionalKey(Schema.Unknown) }) })
const Refund = Tool.make("refund", { input: Schema.Struct({ amount: Schema.optionalKey(Schema.Unknown) }) })
const Greeting = Prompt.make("pay", { args: Schema.Struct({ amount: Schema.optionalKey(Schema.String) }) })
const File = Resource.template("docs://{name}", { name: "file", params: Schema.Struct({ name: Schema.String }) })

let runs = 0

const ask = Effect.suspend(() => {
  runs++
  return Effect.orDie(
    Effect.map(
      Input.form("sure", { message: "Sure?", schema: Schema.Struct({ sure: Schema.Boolean }) }),
      ({ sure }) => `sure: ${sure}`
    )
  )
})

const paying = Effect.andThen(Input.step("secret", Schema.String, Effect.succeed("hunter2")), ask)

const layer = Layer.mergeAll(
  McpServer.tool(Pay, () => Effect.map(paying, (text) => [Content.text(text)])),
  McpServer.tool(Refund, () => Effect.map(paying, (text) => [Content.text(text)])),
  McpServer.prompt(Greeting, () => ask),
  McpServer.resourceTemplate(File, () => ask)
)

const responses = { sure: accept({ sure: true }) }

const key = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const withKeys = (...bytes: ReadonlyArray<number>): Options => ({ stateKeys: bytes.map(key) })

const byUser: Options = {
  context: ({ header }) => Effect.succeed(Context.make(Invocation.Principal, header("x-user")))
}

const stateOf = ({ json }: { readonly json: any }): string => json.result.requestState

/** The one answer to any state that is not good; the handler does not run. */
const isRefused = (answer: { readonly status: number; readonly json: any }, id: JsonRpc.RequestId = 1) =>
  assert.deepStrictEqual([answer.status, answer.json], [200, {
    jsonrpc: "2.0",
    id,
    error: { code: JsonRpc.codes.invalidParams, message: "params.requestState is not valid" }
  }])

const args = { amount: 5 }

describe("a state", () => {
  it.effect(
    verifies("MRTR-6", "MRTR-9")("that is altered in any byte is refused, and nothing runs"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        const state = stateOf(yield* server.send(callRound("pay", { args })))
        const bytes = Buffer.Buffer.from(state, "base64url")
        const before = runs
        yield* Effect.forEach(bytes.keys(), (at) =>
          Effect.gen(function*() {
            const altered = Buffer.Buffer.from(bytes)
            altered[at]! ^= 1 << (at % 8)
            isRefused(
              yield* server.send(callRound("pay", { args, responses, state: altered.toString("base64url") }))
            )
          }), { concurrency: 8, discard: true })
        assert.strictEqual(runs, before)
        assert.isAbove(bytes.length, 100)
        // And as it was, it is good.
        assert.strictEqual(textOf(yield* server.send(callRound("pay", { args, responses, state }))), "sure: true")
      })
  )

  it.effect(
    verifies("MRTR-6", "MRTR-9")("that is cut short, longer, or spelled in another way is refused"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        const state = stateOf(yield* server.send(callRound("pay", { args })))
        const bytes = Buffer.Buffer.from(state, "base64url")
        const lastAs = (offset: number) => {
          const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
          return state.slice(0, -1) + alphabet[(alphabet.indexOf(state.at(-1)!) + offset) % 64]
        }
        const wrong = [
          "",
          " ",
          "x",
          "null",
          "{}",
          ...[1, 2, 3, 16, 17, 33, bytes.length - 1].map((length) => bytes.subarray(0, length).toString("base64url")),
          Buffer.Buffer.concat([bytes, Buffer.Buffer.from([0])]).toString("base64url"),
          Buffer.Buffer.concat([Buffer.Buffer.from([2]), bytes.subarray(1)]).toString("base64url"),
          bytes.subarray(1).toString("base64url"),
          bytes.toString("base64"),
          `${state}=`,
          `${state}==`,
          ` ${state}`,
          `${state}\n`,
          `${state.slice(0, 10)}\n${state.slice(10)}`,
          `${state}.`,
          `${state}é`,
          lastAs(1),
          lastAs(2),
          lastAs(16),
          state + state,
          "A".repeat(100_000)
        ].filter((text) => text !== state)
        for (const text of wrong) isRefused(yield* server.send(callRound("pay", { args, responses, state: text })))
      })
  )

  it.effect.each([1, true, {}, [], ["x"]])(
    verifies("MRTR-9")("that is no text is refused: %j"),
    (state) =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        isRefused(yield* server.send(callRound("pay", { args, responses, state })))
      })
  )

  it.effect(
    verifies("MRTR-7", "ELI-13", "ELI-14")("of one user is refused to another, and to nobody; nobody's to a user"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(layer, byUser)
        const as = (user: string | undefined, state?: string) =>
          server.send(callRound("pay", { args, responses: state === undefined ? undefined : responses, state }), {
            headers: { "x-user": user }
          })
        const [ann, nobody] = [stateOf(yield* as("ann")), stateOf(yield* as(undefined))]
        isRefused(yield* as("bob", ann))
        isRefused(yield* as("Ann", ann))
        isRefused(yield* as(undefined, ann))
        isRefused(yield* as("ann", nobody))
        isRefused(yield* as("", nobody))
        assert.strictEqual(textOf(yield* as("ann", ann)), "sure: true")
        assert.strictEqual(textOf(yield* as(undefined, nobody)), "sure: true")
      })
  )

  it.effect(verifies("MRTR-7")("belongs to its method and its name"), () =>
    Effect.gen(function*() {
      const server = yield* serve(layer)
      const tool = stateOf(yield* server.send(callRound("pay")))
      isRefused(yield* server.send(callRound("refund", { responses, state: tool })))
      isRefused(yield* server.send(round("prompts/get", { name: "pay" }, { responses, state: tool })))
      const prompt = stateOf(yield* server.send(round("prompts/get", { name: "pay" })))
      isRefused(yield* server.send(callRound("pay", { responses, state: prompt })))
      const file = stateOf(yield* server.send(round("resources/read", { uri: "docs://a" })))
      isRefused(yield* server.send(round("resources/read", { uri: "docs://b" }, { responses, state: file })))
      const read = yield* server.send(round("resources/read", { uri: "docs://a" }, { responses, state: file }))
      assert.strictEqual(read.json.result.contents[0].text, "sure: true")
    }))

  it.effect(
    verifies("MRTR-7")("belongs to its arguments, whatever the order of their members"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        const first = { amount: { value: 5, of: ["EUR", { a: 1, b: 2 }] } }
        const state = stateOf(yield* server.send(callRound("pay", { args: first })))
        const others: ReadonlyArray<Json.Object | undefined> = [
          { amount: { value: 6, of: ["EUR", { a: 1, b: 2 }] } },
          { amount: { value: "5", of: ["EUR", { a: 1, b: 2 }] } },
          { amount: { value: 5, of: [{ a: 1, b: 2 }, "EUR"] } },
          { amount: { value: 5, of: ["EUR", { a: 1 }] } },
          { amount: { value: 5, of: ["EUR", { a: 1, b: 2, c: null }] } },
          { amount: { value: 5, of: ["EUR", { a: 1, b: 2 }] }, more: 1 },
          {},
          undefined
        ]
        for (const other of others) {
          isRefused(yield* server.send(callRound("pay", { args: other, responses, state })))
        }
        const same = { amount: { of: ["EUR", { b: 2, a: 1 }], value: 5 } }
        assert.strictEqual(textOf(yield* server.send(callRound("pay", { args: same, responses, state }))), "sure: true")
      })
  )

  it.effect("without arguments is the same as with none", () =>
    Effect.gen(function*() {
      const server = yield* serve(layer)
      const state = stateOf(yield* server.send(callRound("pay")))
      assert.strictEqual(
        textOf(yield* server.send(callRound("pay", { args: {}, responses, state }))),
        "sure: true"
      )
    }))

  it.effect(verifies("MRTR-7")("is good for 10 minutes, and each round has its own"), () =>
    Effect.gen(function*() {
      const server = yield* serve(layer)
      const state = stateOf(yield* server.send(callRound("pay", { args })))
      yield* TestClock.adjust("10 minutes")
      const again = yield* server.send(callRound("pay", { args, state }))
      yield* TestClock.adjust("1 millis")
      isRefused(yield* server.send(callRound("pay", { args, responses, state })))
      yield* TestClock.adjust("599999 millis")
      assert.strictEqual(
        textOf(yield* server.send(callRound("pay", { args, responses, state: stateOf(again) }))),
        "sure: true"
      )
    }))

  it.effect(
    verifies("MRTR-14", "STATE-3")("is opened by every endpoint with the same key, and by none without"),
    () =>
      Effect.gen(function*() {
        const [one, two, other, alone, alsoAlone] = yield* Effect.all([
          serve(layer, withKeys(1)),
          serve(layer, withKeys(1)),
          serve(layer, withKeys(2)),
          serve(layer),
          serve(layer)
        ])
        const state = stateOf(yield* one.send(callRound("pay", { args })))
        const retry = callRound("pay", { args, responses, state })
        assert.strictEqual(textOf(yield* two.send(retry)), "sure: true")
        for (const server of [other, alone]) isRefused(yield* server.send(retry))
        // Without keys each has one of its own.
        const lonely = callRound("pay", {
          args,
          responses,
          state: stateOf(yield* alone.send(callRound("pay", { args })))
        })
        isRefused(yield* alsoAlone.send(lonely))
        assert.strictEqual(textOf(yield* alone.send(lonely)), "sure: true")
        assert.deepStrictEqual(
          [one, alone].map(({ endpoint }) => endpoint.sealsAlone),
          [false, true]
        )
      })
  )

  it.effect("outlives a change of keys: the first of the ring seals, all of them open", () =>
    Effect.gen(function*() {
      const [old, changed, dropped] = yield* Effect.all([
        serve(layer, withKeys(1)),
        serve(layer, withKeys(2, 1)),
        serve(layer, withKeys(2))
      ])
      const retry = (state: string) => callRound("pay", { args, responses, state })
      const before = stateOf(yield* old.send(callRound("pay", { args })))
      assert.strictEqual(textOf(yield* changed.send(retry(before))), "sure: true")
      isRefused(yield* dropped.send(retry(before)))
      const after = stateOf(yield* changed.send(callRound("pay", { args })))
      assert.strictEqual(textOf(yield* dropped.send(retry(after))), "sure: true")
      isRefused(yield* old.send(retry(after)))
    }))

  it.effect(
    verifies("ELI-14")("shows nothing of what is in it, and is never the same twice"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        const states = yield* Effect.forEach(
          [1, 2, 3],
          () => Effect.map(server.send(callRound("pay", { args })), stateOf)
        )
        assert.strictEqual(new Set(states).size, 3)
        for (const state of states) {
          assert.match(state, /^[\w-]+$/)
          const bytes = Buffer.Buffer.from(state, "base64url").toString("latin1")
          for (const text of ["hunter2", "secret", "sure", "pay", "rounds"]) assert.notInclude(bytes, text)
        }
      })
  )

  it.effect("that is not good is refused for a tool that never asks, too", () =>
    Effect.gen(function*() {
      const Plain = Tool.make("plain")
      let ran = 0
      const server = yield* serve(McpServer.tool(Plain, () => Effect.as(Effect.sync(() => ran++), [])))
      isRefused(yield* server.send(callRound("plain", { state: "x" })))
      assert.strictEqual(ran, 0)
    }))

  it.effect("is refused alike where the context function is asked first", () =>
    Effect.gen(function*() {
      const server = yield* serve(layer, byUser)
      isRefused(yield* server.send(callRound("pay", { args, responses, state: "x", id: "i" })), "i")
    }))

  it.effect(
    verifies("MRTR-8", "MRTR-10")("may come again: the server does not remember it, and asks as often as it is called"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        const first = yield* server.send(callRound("pay", { args }))
        const retry = callRound("pay", { args, responses, state: stateOf(first) })
        for (let i = 0; i < 3; i++) {
          assert.deepStrictEqual(Object.keys(askedBy(yield* server.send(callRound("pay", { args })))), ["sure"])
          assert.strictEqual(textOf(yield* server.send(retry)), "sure: true")
        }
      })
  )

  it.effect("belongs to one of two parallel calls of the same kind as to the other: they are the same request", () =>
    Effect.gen(function*() {
      const server = yield* serve(layer)
      const [one, two] = yield* Effect.all(
        [1, 2].map((amount) => Effect.map(server.send(callRound("pay", { args: { amount }, id: amount })), stateOf)),
        { concurrency: 2 }
      )
      // Another call's state is refused, its own is good, under any id.
      isRefused(yield* server.send(callRound("pay", { args: { amount: 1 }, responses, state: two! })))
      const last = yield* server.send(callRound("pay", { args: { amount: 1 }, responses, state: one!, id: 99 }))
      assert.deepStrictEqual([last.json.id, textOf(last)], [99, "sure: true"])
    }))
})

describe("the size of a state", () => {
  const Big = Tool.make("big")
  const big = (characters: number) =>
    McpServer.tool(Big, () =>
      Input.step("text", Schema.String, Effect.succeed("x".repeat(characters))).pipe(
        Effect.andThen(ask),
        Effect.map((text) => [Content.text(text)])
      ))

  it.effect("is at most 16 KiB: beyond it an error says so, and tells nothing of it", () =>
    Effect.gen(function*() {
      const fits = yield* serve(big(12_000))
      const state = stateOf(yield* fits.send(callRound("big")))
      assert.isAtMost(state.length, 16 * 1024)
      assert.strictEqual(textOf(yield* fits.send(callRound("big", { responses, state }))), "sure: true")
      const beyond = yield* serve(big(12_300))
      const { json } = yield* beyond.send(callRound("big"))
      assert.deepStrictEqual(json.error, {
        code: JsonRpc.codes.internalError,
        message: "Answers and steps of this request are more than the 16384 characters of a state"
      })
    }))

  it.effect("does not grow with answers that are asked for again", () =>
    Effect.gen(function*() {
      const server = yield* serve(layer)
      let state: string | undefined
      for (let i = 0; i < 5; i++) {
        const wrong = { sure: accept({ sure: "x".repeat(9000) }) }
        const answer: { readonly json: any } = yield* server.send(
          callRound("pay", { args, state, responses: state === undefined ? undefined : wrong })
        )
        state = stateOf(answer)
        assert.isBelow(state.length, 1000)
      }
    }))
})

describe("many calls at a time", () => {
  it.effect("keep their rounds apart", () =>
    Effect.gen(function*() {
      const Named = Tool.make("named", { input: Schema.Struct({ n: Schema.Int }) })
      const server = yield* serve(
        McpServer.tool(Named, ({ n }) =>
          Effect.gen(function*() {
            const made = yield* Input.step("n", Schema.Int, Effect.succeed(n))
            const schema = Schema.Struct({ v: Schema.Int })
            const { v } = yield* Effect.orDie(Input.form(`k${n}`, { message: "", schema }))
            const { v: w } = yield* Effect.orDie(Input.form("second", { message: "", schema }))
            return [Content.text(JSON.stringify([made, v, w]))]
          }))
      )
      yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => n),
        (n) =>
          Effect.gen(function*() {
            const { asked, last } = yield* play(
              server.send,
              (more) => callRound("named", { ...more, args: { n } }),
              { [`k${n}`]: accept({ v: n * 2 }), second: accept({ v: n * 3 }) }
            )
            assert.deepStrictEqual([asked, JSON.parse(textOf(last))], [[[`k${n}`], ["second"]], [n, n * 2, n * 3]])
          }),
        { concurrency: 20, discard: true }
      )
    }))
})
