import { assert, describe, it } from "@effect/vitest"
import { type JsonRpc, Transport } from "@fairlead/protocol"
import * as Effect from "effect/Effect"

const failures: ReadonlyArray<readonly [Transport.Failure, string]> = [
  [new Transport.InvalidConfig({ field: "Url", detail: "not a URL" }), "The setting Url cannot be used: not a URL"],
  [new Transport.ConnectFailed({}), "Could not connect"],
  [new Transport.ConnectFailed({ detail: "ECONNREFUSED" }), "Could not connect (ECONNREFUSED)"],
  [new Transport.Refused({ detail: "plain HTTP" }), "The destination is refused: plain HTTP"],
  [new Transport.ConnectionClosed({ evidence: "MaybeSent" }), "The connection closed before the answer"],
  [
    new Transport.ConnectionClosed({ evidence: "NotSent", exitCode: 3, stderr: "a secret" }),
    "The server process ended with code 3 before the answer"
  ],
  [new Transport.ResponseTooLarge({ limit: 10 }), "The response is larger than 10 bytes"],
  [new Transport.TooManyPendingCalls({ limit: 2 }), "More than 2 calls are waiting"],
  [
    new Transport.HttpStatus({ status: 503, wwwAuthenticate: "Bearer a secret", location: "https://secret.test" }),
    "The server answered with HTTP status 503"
  ],
  [new Transport.MalformedResponse({ detail: "no id" }), "The response breaks the protocol: no id"],
  [new Transport.Cancelled({ evidence: "Completed" }), "The call was cancelled"],
  [
    new Transport.TimedOut({ evidence: "NotSent", bound: "connect", millis: 10_000 }),
    "The connect of 10000 ms ran out"
  ]
]

describe("Transport", () => {
  it.each(failures)("%o says what happened and nothing of the peer's", (failure, message) => {
    assert.strictEqual(failure.message, message)
    assert.instanceOf(failure, Error)
    assert.strictEqual(failure._tag, failure.constructor.name)
  })

  it.effect("each failure is caught by its tag", () =>
    Effect.gen(function*() {
      const fail = (failure: Transport.Failure) => Effect.fail(failure)
      const status = yield* fail(new Transport.HttpStatus({ status: 401 })).pipe(
        Effect.catchTag("HttpStatus", ({ status }) => Effect.succeed(status))
      )
      assert.strictEqual(status, 401)
      const evidence = yield* fail(new Transport.ConnectionClosed({ evidence: "NotSent" })).pipe(
        Effect.catchTag("ConnectionClosed", ({ evidence }) => Effect.succeed(evidence))
      )
      assert.strictEqual(evidence, "NotSent")
    }))

  it.effect("a transport of one's own is a service", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const echo = Transport.Transport.of({
        name: "echo",
        hasHeaders: false,
        send: (request) =>
          Effect.sync(() => {
            request.sent()
            request.notify({ _tag: "Notification", method: "notifications/progress", params: {} })
            return { response: { _tag: "Success", id: request.id, result: request.params } }
          })
      })
      const send = Effect.flatMap(Transport.Transport, (transport) =>
        transport.send({
          id: "1",
          method: "tools/list",
          params: { a: 1 },
          text: "",
          headers: [],
          sent: () => heard.push("sent"),
          notify: ({ method }: JsonRpc.Notification) => heard.push(method)
        }))
      const incoming = yield* Effect.provideService(send, Transport.Transport, echo)
      assert.deepStrictEqual(incoming.response, { _tag: "Success", id: "1", result: { a: 1 } })
      assert.deepStrictEqual(heard, ["sent", "notifications/progress"])
    }))
})
