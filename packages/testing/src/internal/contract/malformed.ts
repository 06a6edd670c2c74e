/**
 * Cases: what breaks the protocol fails the call it is for, or nobody's, and never passes for an answer.
 */
import * as Effect from "effect/Effect"
import * as RawPeer from "../../RawPeer.ts"
import { equal, ok } from "./assert.ts"
import { type Case, clientOf, errorOf, expectError, expectText, rawCall } from "./harness.ts"

/** Messages that name the request: they fail it, whatever the transport. */
const broken: ReadonlyArray<RawPeer.Behaviour> = [
  "no-version",
  "result-and-error",
  "neither-result-nor-error",
  "result-not-an-object",
  "error-not-an-object",
  "fraction-as-code",
  "unknown-result-type",
  "content-not-a-list"
]

/** Messages that name no request under way: on a shared channel they are nobody's. */
const stray: ReadonlyArray<RawPeer.Behaviour> = [
  "not-json",
  "not-an-object",
  "batch",
  "other-id",
  "id-of-another-type",
  "result-without-id",
  "request-from-server"
]

const words = (name: string) => name.replaceAll("-", " ")

export const cases: ReadonlyArray<Case> = [
  ...broken.map((name): Case => ({
    id: `broken-${name}`,
    title: `a broken answer fails its call and the next call works: ${words(name)}`,
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      const error = expectError(yield* Effect.exit(rawCall(client, name)), "MalformedResponse", "MaybeSent")
      ok(!error.message.includes(RawPeer.peerText), `the message repeats the peer: ${error.message}`)
      expectText(yield* rawCall(client, "good"), "good")
    })
  })),
  ...stray.map((name): Case => ({
    id: `stray-${name}`,
    title: `a stray message never passes for the answer, and the next call works: ${words(name)}`,
    needs: "raw",
    run: Effect.fnUntraced(function*({ channel, freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      if (channel === "shared") expectText(yield* rawCall(client, name), "good")
      else expectError(yield* Effect.exit(rawCall(client, name)), "MalformedResponse", "MaybeSent")
      expectText(yield* rawCall(client, "good"), "good")
    })
  })),
  {
    id: "noise",
    title: "texts that are no messages are passed over until the answer comes",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      expectText(yield* rawCall(client, "noise"), "good")
      expectText(yield* rawCall(client, "good"), "good")
    })
  },
  {
    id: "no-result-type",
    title: "an answer without a result type is complete",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      expectText(yield* rawCall(client, "no-result-type"), "good")
    })
  },
  ...(["error-without-id", "error-with-null-id"] as const).map((name): Case => ({
    id: name,
    title: `an ${words(name)} belongs to the only call it can be for`,
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      expectError(yield* Effect.exit(rawCall(client, name)), "RpcError", "Completed")
      expectText(yield* rawCall(client, "good"), "good")
    })
  })),
  {
    id: "error",
    title: "an error keeps code, text and data, and its message repeats none of the peer's words",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      const error = errorOf(yield* Effect.exit(rawCall(client, "error")))
      const { reason } = error
      equal(
        reason._tag === "RpcError" ? [reason.code, reason.text, reason.data] : reason._tag,
        [4711, RawPeer.peerText, { é: "🙂" }],
        "the error"
      )
      ok(!error.message.includes(RawPeer.peerText), "the message repeats the peer")
    })
  },
  {
    id: "answer-without-end",
    title: "a call ends at its answer, also where the connection stays open",
    needs: "raw",
    run: Effect.fnUntraced(function*({ freshRaw }) {
      const client = yield* clientOf(yield* freshRaw)
      expectText(yield* rawCall(client, "good-and-open"), "good")
      expectText(yield* rawCall(client, "good"), "good")
    })
  }
]
