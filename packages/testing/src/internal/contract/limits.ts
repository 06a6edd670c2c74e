/**
 * Cases: an answer of exactly the limit passes, one more byte fails its call alone, and what travels arrives unchanged.
 */
import * as Json from "@fairlead/protocol/Json"
import type * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Tool from "@fairlead/protocol/Tool"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as ContractServer from "../../ContractServer.ts"
import type * as RawPeer from "../../RawPeer.ts"
import * as Wire from "../../Wire.ts"
import { equal, ok } from "./assert.ts"
import {
  type Case,
  clientOf,
  type Connection,
  expectError,
  expectText,
  freshKey,
  hold,
  maxResponseBytes,
  nextCallWorks,
  rawCall,
  sendTool,
  startHeld
} from "./harness.ts"

// Of one length, so that answers to them are too.
const ids = ["contract-limit-0", "contract-limit-1", "contract-limit-2"] as const

/** How long the text of `Big` has to be for an answer of exactly so many bytes. */
const lengthFor = Effect.fnUntraced(function*(connection: Connection, bytes: number) {
  const answer = (length: number) =>
    Effect.map(sendTool(connection, "big", { length }, { id: ids[0] }), (response) => Wire.textOf(response).length)
  const empty = yield* answer(0)
  // The text stands in the content and in the structured output.
  const each = (yield* answer(100)) - empty
  equal(each % 100, 0, "how an answer grows with its text")
  const length = Math.floor((bytes - empty) / (each / 100))
  return { length, rest: (bytes - empty) % (each / 100) }
})

/** An answer of exactly so many bytes: the rest is made by a longer id. */
const ofBytes = Effect.fnUntraced(function*(connection: Connection, bytes: number) {
  const { length, rest } = yield* lengthFor(connection, bytes)
  return yield* Effect.exit(sendTool(connection, "big", { length }, { id: `${ids[1]}${"+".repeat(rest)}` }))
})

const Sized = Tool.make("sized" satisfies RawPeer.Behaviour, { input: Schema.Struct({ bytes: Schema.Int }) })

const failureOf = (exit: Exit.Exit<unknown, { readonly _tag: string }>): unknown =>
  Exit.isFailure(exit) ? exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error : undefined

const texts: { readonly [what: string]: string } = {
  "Latin, Greek, Chinese": "crème brûlée αβγ 测试文档",
  "beyond the basic plane": "🙂👩‍👩‍👧‍👦𝒳",
  "line ends and controls": "a\nb\r\nc\rd\te\u0000f\u001b\u007f",
  "separators of JavaScript": "\u2028\u2029\u0085\ufeff",
  "what JSON escapes": "\"\\/\b\f",
  "what events and headers use": "data: x\n\nevent: y\nid: z\r\n\r\n: comment =?base64?eA==?=",
  "combining characters": "e\u0301 \u202e abc"
}

export const cases: ReadonlyArray<Case> = [
  {
    id: "limit-exact",
    title: "an answer of exactly the limit passes",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const exit = yield* ofBytes(yield* server, maxResponseBytes)
      ok(Exit.isSuccess(exit), `the answer did not pass: ${JSON.stringify(exit)}`)
      if (Exit.isSuccess(exit)) equal(Wire.textOf(exit.value).length, maxResponseBytes, "the size of the answer")
    })
  },
  {
    id: "limit-over",
    title: "an answer of one byte more fails its call alone, with the limit",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      const client = yield* clientOf(connection)
      const key = yield* freshKey
      const beside = yield* startHeld(client, key, hold(client, key))
      const failure = failureOf(yield* ofBytes(connection, maxResponseBytes + 1))
      equal(
        { tag: (failure as Json.Object | undefined)?.["_tag"], limit: (failure as Json.Object | undefined)?.["limit"] },
        { tag: "ResponseTooLarge", limit: maxResponseBytes },
        "the failure"
      )
      yield* client.call(ContractServer.Release, { key })
      equal(yield* Fiber.join(beside), { key }, "the answer of a call beside it")
      yield* nextCallWorks(client)
    })
  },
  {
    id: "limit-far-over",
    title: "an answer far beyond the limit fails its call, and the next call works",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const exit = yield* Effect.exit(client.call(ContractServer.Big, { length: maxResponseBytes * 4 }))
      const error = failureOf(exit) as { readonly reason?: { readonly _tag: string } } | undefined
      equal(error?.reason?._tag, "ResponseTooLarge", "the reason")
      yield* nextCallWorks(client)
    })
  },
  {
    id: "raw-limit",
    title: "the limit counts the bytes that arrive: as many pass, one more does not",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      const [block] = yield* client.call(Sized, { bytes: maxResponseBytes })
      equal(block?.type, "text", "the answer of exactly the limit")
      const exit = yield* Effect.exit(client.call(Sized, { bytes: maxResponseBytes + 1 }))
      expectError(exit, "ResponseTooLarge", "MaybeSent")
      expectText(yield* rawCall(client, "good"), "good")
    })
  },
  {
    id: "large-request",
    title: "a request and an answer of more than 64 KiB pass whole",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const client = yield* clientOf(yield* server)
      const text = "é0123456789".repeat(9000)
      equal((yield* client.call(ContractServer.Echo, { text })).text === text, true, "whether the text came back")
    })
  },
  ...Object.entries(texts).map(([what, text]): Case => ({
    id: `text-${what.toLowerCase().replace(/[^a-z]+/g, "-")}`,
    title: `text passes unchanged in every position: ${what}`,
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      const client = yield* clientOf(connection)
      equal(yield* client.call(ContractServer.Echo, { text }), { text }, "an argument and an output")
      const value = { [text]: [text, { [`${text}-inner`]: text }] }
      equal(yield* client.call(ContractServer.Mirror, { value }), { value }, "names of members")
      const said = yield* client.call(ContractServer.Say, { text })
      equal(said, [{ type: "text", text }], "a content block")
      const failure = yield* Effect.flip(client.call(ContractServer.Decline, { why: text }))
      equal((failure as { readonly why?: unknown }).why, text, "a typed failure")
      const meta = { "com.example/text": text }
      const seen = yield* structuredOf(sendTool(connection, "inspect", {}, { meta, id: text }))
      equal([seen["requestId"], (seen["meta"] as Json.Object)["com.example/text"]], [text, text], "metadata and id")
    })
  })),
  {
    id: "numbers",
    title: "numbers that a double cannot hold keep their digits",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      const sources = ["9007199254740993", "-123456789012345678901234567890", "0.1000000000000000000001", "1e400"]
      for (const source of sources) {
        const value = new Json.ExactNumber(source)
        const out = yield* structuredOf(sendTool(connection, "mirror", { value: { deep: [value] } }))
        equal(out["value"], { deep: [value] }, `the number ${source}`)
      }
    })
  },
  {
    id: "null-and-absent",
    title: "a structured null and no structured output are told apart",
    needs: "server",
    run: Effect.fnUntraced(function*({ server }) {
      const connection = yield* server
      const client = yield* clientOf(connection)
      equal(yield* client.call(ContractServer.Nothing, {}), null, "the output")
      const withNull = yield* resultOf(sendTool(connection, "nothing", {}))
      equal(["structuredContent" in withNull, withNull["structuredContent"]], [true, null], "a structured null")
      const without = yield* resultOf(sendTool(connection, "say", { text: "x" }))
      equal("structuredContent" in without, false, "whether there is structured output")
    })
  }
]

const resultOf = <E, R>(answer: Effect.Effect<JsonRpc.Response, E, R>): Effect.Effect<Json.Object, E, R> =>
  Effect.map(answer, (response) => {
    equal(response._tag, "Success", "the answer")
    return response._tag === "Success" ? response.result : {}
  })

const structuredOf = <E, R>(answer: Effect.Effect<JsonRpc.Response, E, R>): Effect.Effect<Json.Object, E, R> =>
  Effect.map(resultOf(answer), (result) => result["structuredContent"] as Json.Object)
