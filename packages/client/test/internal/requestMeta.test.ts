/** The text of a request is put together from parts; it has to say what its parameters say. */
import { assert, describe, it } from "@effect/vitest"
import { Call } from "@fairlead/protocol"
import type { Json } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import { scripted, success } from "../support/transport.ts"

const variants: ReadonlyArray<readonly [string, <A, E>(call: Effect.Effect<A, E>) => Effect.Effect<A, E>]> = [
  ["nothing", (call) => call],
  ["a correlation", Call.withCorrelation("a\"b\\c")],
  ["a correlation that cannot travel", Call.withCorrelation("not visible")],
  ["metadata", Call.withMeta({ "example.com/a": { b: [1, "}"] } })],
  ["empty metadata", Call.withMeta({})],
  ["an idempotency key", Call.withIdempotencyKey("key")],
  ["a deadline", Call.withDeadline("1 minute")],
  [
    "empty metadata and a correlation that cannot travel",
    (call) => call.pipe(Call.withMeta({}), Call.withCorrelation("not visible"))
  ]
]

const parameters: ReadonlyArray<Json.Object> = [{}, { name: "a" }, { nested: {} }, { text: "{}}" }]

describe("the text of a request", () => {
  it.effect.each(variants)("says what its parameters say, with %s", ([, around]) =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted((request) => Effect.succeed(success(request, {})))
      for (const params of parameters) yield* around(client.callRaw("example/method", undefined, params))
      assert.strictEqual(requests.length, parameters.length)
      requests.forEach(({ id, params, text }, i) => {
        assert.deepStrictEqual(JSON.parse(text), { jsonrpc: "2.0", id, method: "example/method", params })
        const { _meta: meta, ...rest } = params
        assert.isDefined(meta)
        assert.deepStrictEqual(rest, parameters[i])
      })
    }))
})
