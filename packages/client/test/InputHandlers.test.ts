/** Answering what servers ask for: by handlers, and by hand. */
import { assert, describe, expect, it } from "@effect/vitest"
import type * as CallEnding from "@fairlead/client/CallEnding"
import * as Continuation from "@fairlead/client/Continuation"
import * as InputHandlers from "@fairlead/client/InputHandlers"
import * as McpClient from "@fairlead/client/McpClient"
import type * as McpClientError from "@fairlead/client/McpClientError"
import { verifies } from "@fairlead/conformance/verifies"
import * as Call from "@fairlead/protocol/Call"
import type * as Json from "@fairlead/protocol/Json"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Resource from "@fairlead/protocol/Resource"
import * as Revision from "@fairlead/protocol/Revision"
import * as Tool from "@fairlead/protocol/Tool"
import type { Outgoing } from "@fairlead/protocol/Transport"
import * as Input from "@fairlead/server/Input"
import * as Invocation from "@fairlead/server/Invocation"
import * as McpEndpoint from "@fairlead/server/McpEndpoint"
import * as McpServer from "@fairlead/server/McpServer"
import * as TestClient from "@fairlead/testing/TestClient"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { TestClock } from "effect/testing"
import { Route } from "./support/tools.ts"
import { metaOf, progressOf, results, scripted, success } from "./support/transport.ts"

const Work = Tool.make("work", { output: Schema.Struct({ did: Schema.Unknown }) })

const form = (message = "Who?"): Json.Object => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: {} } }
})
const url: Json.Object = {
  method: "elicitation/create",
  params: { mode: "url", message: "Go", url: "https://example.com/a" }
}
const block = { type: "text", text: "hi" }
const sampling: Json.Object = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: block }], maxTokens: 5 }
}
const samplingOf = (...messages: ReadonlyArray<Json.Object>): Json.Object => ({
  method: "sampling/createMessage",
  params: { messages, maxTokens: 5 }
})
const use: Json.Object = {
  role: "assistant",
  content: { type: "tool_use", id: "1", name: "t", input: {}, _meta: { "com.example/a": 1 } }
}
const result: Json.Object = { type: "tool_result", toolUseId: "1", content: [], _meta: { "com.example/b": 2 } }
const roots: Json.Object = { method: "roots/list" }

const asks = (inputRequests: Json.Object, requestState?: string): Json.Object => ({
  resultType: "input_required",
  inputRequests,
  ...(requestState === undefined ? {} : { requestState })
})
const done: Json.Object = { content: [], structuredContent: { did: true } }

/** Answers round after round; the last answer stays. */
const rounds = (...answers: ReadonlyArray<Json.Object>) => {
  let n = 0
  return results(() => answers[Math.min(n++, answers.length - 1)]!)
}

const sent = (request: Outgoing): Json.Object => {
  const { _meta: _, ...params } = request.params
  return params
}

const logging = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => {
    lines.push(JSON.stringify(message))
  })
  return { lines, layer: Logger.layer([logger]) }
}

/** A client with handlers, over a transport whose answers the test writes. */
const handled = <H>(
  handlers: Layer.Layer<H>,
  answer: Parameters<typeof scripted>[0],
  options: McpClient.Options & { readonly hasHeaders?: boolean } = {}
) => Effect.provide(scripted(answer, options), handlers)

const declared = (request: Outgoing) => metaOf(request)[Revision.meta.clientCapabilities]

const everything = Layer.mergeAll(
  InputHandlers.form(() => Effect.succeed(InputHandlers.accept({ name: "Ada" }))),
  InputHandlers.url(() => Effect.succeed(InputHandlers.accept())),
  InputHandlers.sampling(() =>
    Effect.succeed({ role: "assistant" as const, content: { type: "text", text: "yo" }, model: "m" })
  ),
  InputHandlers.roots(Effect.succeed([{ uri: "file:///work", name: undefined }, { uri: "file:///tmp", name: "tmp" }]))
)

describe("handlers", () => {
  it.effect("a round that did not leave does not undo that the server has had the call", () =>
    Effect.gen(function*() {
      const token = yield* Call.makeCancellationToken
      const second = Deferred.makeUnsafe<void>()
      const { client } = yield* handled(everything, (request) => {
        if (request.params["inputResponses"] === undefined) {
          request.sent()
          return Effect.succeed(success(request, asks({ a: form() })))
        }
        Deferred.doneUnsafe(second, Effect.void)
        return Effect.never
      })
      const fiber = yield* client.call(Work, {}).pipe(Call.withCancellation(token), Effect.flip, Effect.forkChild)
      yield* Deferred.await(second)
      yield* token.cancel
      expect(yield* Fiber.join(fiber)).toMatchObject({ code: "cancelled.completed" })
    }))

  it.effect(
    verifies(
      "MRTR-16",
      "MRTR-18",
      "MRTR-19",
      "MRTR-21",
      "MRTR-24",
      "ELI-3@client",
      "ELI-6",
      "SAM-6",
      "ROOT-2@client",
      "STATE-5@client",
      "snodo/promise/request_ids"
    )(
      "answer what is asked, round after round: the same request with the latest answers and state alone"
    ),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* handled(
          everything,
          rounds(asks({ b: form(), a: url }, "s1"), asks({ c: sampling, d: roots }), done)
        )
        expect(yield* client.call(Work, {}).pipe(Call.withCorrelation("c-1"))).toEqual({ did: true })
        expect(requests.map(sent)).toEqual([
          { name: "work", arguments: {} },
          {
            name: "work",
            arguments: {},
            inputResponses: { a: { action: "accept" }, b: { action: "accept", content: { name: "Ada" } } },
            requestState: "s1"
          },
          {
            name: "work",
            arguments: {},
            inputResponses: {
              c: { role: "assistant", content: { type: "text", text: "yo" }, model: "m" },
              d: { roots: [{ uri: "file:///work" }, { uri: "file:///tmp", name: "tmp" }] }
            }
          }
        ])
        expect(new Set(requests.map(({ id }) => id)).size).toBe(3)
        expect(requests.map((request) => metaOf(request)[Call.metaKeys.correlation])).toEqual(["c-1", "c-1", "c-1"])
      })
  )

  it.effect(
    verifies("ELI-1", "SAM-1", "ROOT-1", "DEP-1@client")(
      "declare their capabilities, under what is declared beside them"
    ),
    () =>
      Effect.gen(function*() {
        const of = <H>(handlers: Layer.Layer<H>, options: McpClient.Options = {}) =>
          Effect.map(
            Effect.tap(handled(handlers, rounds(done), options), ({ client }) => client.call(Work, {})),
            ({ requests }) => declared(requests[0]!)
          )
        const forms = InputHandlers.form(() => Effect.succeed(InputHandlers.decline))
        const urls = InputHandlers.url(() => Effect.succeed(InputHandlers.decline))
        expect(yield* of(Layer.empty)).toEqual({})
        expect(yield* of(forms)).toEqual({ elicitation: { form: {} } })
        expect(yield* of(everything)).toEqual({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} })
        // Declared empty it is form mode, which has to be said beside another one.
        expect(yield* of(urls, { capabilities: { elicitation: {} } })).toEqual({ elicitation: { form: {}, url: {} } })
        expect(yield* of(everything, { capabilities: { sampling: { tools: {} }, experimental: { x: { y: 1 } } } }))
          .toEqual({
            elicitation: { form: {}, url: {} },
            sampling: { tools: {} },
            roots: {},
            experimental: { x: { y: 1 } }
          })
        expect(yield* of(Layer.empty, { inputMethods: ["sampling", "roots"], capabilities: { elicitation: {} } }))
          .toEqual({ elicitation: { form: {} }, sampling: {}, roots: {} })
      })
  )

  it.effect("get what was asked, and run one after the other by key", () =>
    Effect.gen(function*() {
      const seen: Array<readonly [string, unknown]> = []
      const handlers = Layer.mergeAll(
        InputHandlers.form(({ key, message, params, requestedSchema }) =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => {
              seen.push([key, { message, params: Object.keys(params), requestedSchema }])
              return InputHandlers.decline
            })
          )
        ),
        InputHandlers.url(({ key, url }) =>
          Effect.sync(() => {
            seen.push([key, url.hostname])
            return InputHandlers.cancel
          })
        ),
        InputHandlers.sampling(({ key, maxTokens, messages }) =>
          Effect.sync(() => {
            seen.push([key, { maxTokens, messages: messages.length }])
            return { role: "assistant" as const, content: [block], model: "m", stopReason: "endTurn" }
          })
        )
      )
      const { client, requests } = yield* handled(
        handlers,
        rounds(asks({ c: form("C"), "10": sampling, a: url }), done)
      )
      yield* client.call(Work, {})
      expect(seen).toEqual([
        ["10", { maxTokens: 5, messages: 1 }],
        ["a", "example.com"],
        ["c", {
          message: "C",
          params: ["message", "requestedSchema"],
          requestedSchema: { type: "object", properties: {} }
        }]
      ])
      expect(sent(requests[1]!)["inputResponses"]).toEqual({
        "10": { role: "assistant", content: [block], model: "m", stopReason: "endTurn" },
        a: { action: "cancel" },
        c: { action: "decline" }
      })
    }))

  it.effect("have the services of their layer, and a call with nothing but deadline, cancellation and correlation", () =>
    Effect.gen(function*() {
      class Name extends Context.Service<Name, string>()("test/Name") {}
      let call: Call.Call | undefined
      const handlers = InputHandlers.form(() =>
        Effect.gen(function*() {
          call = yield* Call.Current
          return InputHandlers.accept({ name: yield* Name })
        })
      ).pipe(Layer.provide(Layer.succeed(Name, "Bob")))
      const { client, requests } = yield* handled(handlers, rounds(asks({ a: form() }), done))
      const token = yield* Call.makeCancellationToken
      yield* client.call(Work, {}).pipe(
        Call.withDeadline("1 minute"),
        Call.withTimeout("5 seconds"),
        Call.withCancellation(token),
        Call.withCorrelation("c-1"),
        Call.withIdempotencyKey("k"),
        Call.withMeta({ "com.example/a": 1 }),
        Call.withProgress(() => Effect.void)
      )
      expect(sent(requests[1]!)["inputResponses"]).toEqual({ a: { action: "accept", content: { name: "Bob" } } })
      expect(call).toEqual({ ...Call.empty, deadline: 60_000, cancellation: [token], correlation: "c-1" })
      expect(metaOf(requests[1]!)).toMatchObject({ [Call.metaKeys.idempotencyKey]: "k", "com.example/a": 1 })
    }))

  it.effect("have a scope of their own, which ends with the answer", () =>
    Effect.gen(function*() {
      const ends: Array<string> = []
      const forms = InputHandlers.form(({ key }) =>
        Effect.as(Effect.addFinalizer(() => Effect.sync(() => ends.push(key))), InputHandlers.decline)
      )
      const { client } = yield* handled(forms, rounds(asks({ a: form(), b: form() }), done))
      yield* client.call(Work, {})
      expect(ends).toEqual(["a", "b"])
    }))

  it.effect.each<readonly [string, Json.Object]>([
    ["a form without a message", { method: "elicitation/create", params: { requestedSchema: {} } }],
    ["a form without a schema", { method: "elicitation/create", params: { message: "x" } }],
    ["a URL that is none", { method: "elicitation/create", params: { mode: "url", message: "x", url: "no" } }],
    ["a sampling without messages", { method: "sampling/createMessage", params: { maxTokens: 1 } }],
    ["a sampling without a bound", { method: "sampling/createMessage", params: { messages: [] } }],
    ["a message of another role", samplingOf({ role: "system", content: block })],
    ["a message without blocks", samplingOf({ role: "user", content: [] })],
    ["a block of a sixth kind", samplingOf({ role: "user", content: [block, { type: "resource_link", uri: "a:b" }] })],
    ["a use of a tool that nothing answers", samplingOf(use)],
    ["a result of a tool that was not used", samplingOf({ role: "user", content: [result] })]
  ])(verifies("SAM-4@client")("do not run beside %s"), ([_case, broken]) =>
    Effect.gen(function*() {
      let ran = 0
      const counting = InputHandlers.form(() =>
        Effect.sync(() => {
          ran++
          return InputHandlers.decline
        })
      )
      const { client, requests } = yield* handled(
        Layer.merge(everything, counting),
        rounds(asks({ a: form(), b: broken }), done)
      )
      const error = yield* Effect.flip(client.call(Work, {}))
      assert(error._tag === "McpClientError")
      expect([error.code, ran, requests.length]).toEqual(["malformed_response", 0, 1])
    }))

  it.effect("do not run where one of the requests has none", () =>
    Effect.gen(function*() {
      let ran = 0
      const forms = InputHandlers.form(() => Effect.sync(() => (ran++, InputHandlers.decline)))
      const { client, requests } = yield* handled(forms, rounds(asks({ a: form(), b: roots }), done), {
        inputMethods: ["roots"]
      })
      const error = yield* Effect.flip(client.call(Work, {}))
      expect([error._tag, ran, requests.length]).toEqual(["InputRequired", 0, 1])
    }))

  it.effect.each<readonly [string, Effect.Effect<InputHandlers.Elicited, unknown>]>([
    ["fails", Effect.fail("boom")],
    ["dies", Effect.die(new Error("boom"))],
    ["gives no answer", Effect.succeed({ action: "maybe" } as unknown as InputHandlers.Elicited)]
  ])(
    verifies("MRTR-22", "GAP-4")("of a question that %s dismisses it, and says so in the log"),
    ([_case, handler]) =>
      Effect.gen(function*() {
        const { layer, lines } = logging()
        const { client, requests } = yield* handled(
          InputHandlers.form(() => handler),
          rounds(asks({ a: form() }), done)
        )
        yield* Effect.provide(client.call(Work, {}), layer)
        expect(sent(requests[1]!)["inputResponses"]).toEqual({ a: { action: "cancel" } })
        expect(lines.length).toBe(1)
        expect(lines[0]).toContain("dismissed")
      })
  )

  it.effect.each<readonly [string, Layer.Layer<InputHandlers.Sampling | InputHandlers.Roots>, Json.Object]>([
    ["a sampling", Layer.provideMerge(InputHandlers.sampling(() => Effect.fail("secret boom")), everything), sampling],
    [
      "the roots, where one is no file,",
      Layer.provideMerge(InputHandlers.roots(Effect.succeed([{ uri: "https://x.y" }])), everything),
      roots
    ],
    [
      "a sampling, whose answer has a block of no message,",
      Layer.provideMerge(
        InputHandlers.sampling(() =>
          Effect.succeed({ role: "assistant" as const, content: [{ type: "resource_link" }], model: "m" })
        ),
        everything
      ),
      sampling
    ],
    [
      "a sampling, whose answer is none,",
      Layer.provideMerge(
        InputHandlers.sampling(() => Effect.succeed({} as unknown as InputHandlers.Sampled)),
        everything
      ),
      sampling
    ]
  ])(
    verifies("SAM-4@client", "SAM-10", "ROOT-2@client", "MRTR-22", "GAP-4")(
      "of %s that fails ends the call, and nothing is sent again"
    ),
    ([_case, handlers, request]) =>
      Effect.gen(function*() {
        const { layer, lines } = logging()
        const { client, requests } = yield* handled(handlers, rounds(asks({ a: request }), done))
        const error = yield* Effect.provide(Effect.flip(client.call(Work, {})), layer)
        assert(error._tag === "McpClientError")
        expect([error.code, requests.length, lines.length]).toEqual(["invalid_input_responses", 1, 1])
        expect(error.isRetryable({ idempotent: true })).toBe(false)
        expect(error.message).not.toContain("boom")
      })
  )

  const fields = {
    text: { type: "string", minLength: 2, maxLength: 3 },
    email: { type: "string", format: "email" },
    uri: { type: "string", format: "uri" },
    date: { type: "string", format: "date" },
    time: { type: "string", format: "date-time" },
    amount: { type: "number", minimum: 0.5, maximum: 1.5 },
    count: { type: "integer", minimum: 1, maximum: 3 },
    sure: { type: "boolean" },
    color: { type: "string", enum: ["red", "blue"] },
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }] },
    days: { type: "array", items: { type: "string", enum: ["mo", "tu"] }, minItems: 1, maxItems: 2 },
    nights: { type: "array", items: { anyOf: [{ const: "fr", title: "Friday" }] } }
  }
  const filled = (content: Json.Object, required: ReadonlyArray<string> = []) =>
    Effect.gen(function*() {
      const { layer, lines } = logging()
      const asked = {
        method: "elicitation/create",
        params: { message: "Fill in", requestedSchema: { type: "object", properties: fields, required } }
      }
      const { client, requests } = yield* handled(
        InputHandlers.form(() => Effect.succeed(InputHandlers.accept(content))),
        rounds(asks({ a: asked }), done)
      )
      yield* Effect.provide(client.call(Work, {}), layer)
      return { answer: (sent(requests[1]!)["inputResponses"] as Json.Object)["a"], lines }
    })

  it.effect.each<Json.Object>([
    { text: "abc", email: "a@b.c", uri: "a:b", date: "2024-02-29", time: "2024-02-29T10:00:00.5+01:00" },
    { text: "🌍🌍🌍" },
    { amount: 0.5, count: 3, sure: false, color: "red", size: "s", days: ["mo", "tu"], nights: [] },
    { amount: 1.25 },
    { other: "a field that the form does not name" },
    {}
  ])(verifies("ELI-7@client", "GAP-6@client")("send what fits the form: %j"), (content) =>
    Effect.gen(function*() {
      const { answer, lines } = yield* filled(content)
      expect(answer).toEqual({ action: "accept", content })
      expect(lines).toEqual([])
    }))

  it.effect.each<readonly [string, Json.Object]>([
    ["is too short", { text: "a" }],
    ["is too long", { text: "abcd" }],
    ["has another type", { text: 1 }],
    ["has another type", { text: null }],
    ["has another type", { text: ["ab"] }],
    ["is no email", { email: "a" }],
    ["is no uri", { uri: "a" }],
    ["is no date", { date: "2023-02-29" }],
    ["is no date-time", { time: "2024-02-29" }],
    ["is too small", { amount: 0.4 }],
    ["is too large", { amount: 1.6 }],
    ["has another type", { count: 1.5 }],
    ["is too large", { count: 4 }],
    ["has another type", { sure: "yes" }],
    ["is no choice", { color: "green" }],
    ["is no choice", { size: "Small" }],
    ["has too few choices", { days: [] }],
    ["has too many choices", { days: ["mo", "tu", "mo"] }],
    ["is no choice", { days: ["we"] }],
    ["is no choice", { nights: ["Friday"] }],
    ["is none of text, number, boolean and a list of texts", { other: { a: 1 } }]
  ])(verifies("ELI-7@client")("dismiss a form whose answer %s: %j"), ([problem, content]) =>
    Effect.gen(function*() {
      const { answer, lines } = yield* filled(content)
      expect(answer).toEqual({ action: "cancel" })
      expect(lines[0]).toContain(`the field ${Object.keys(content)[0]} ${problem}`)
    }))

  it.effect(verifies("ELI-7@client")("dismiss a form whose answer lacks a field"), () =>
    Effect.gen(function*() {
      expect((yield* filled({ sure: true }, ["sure"])).answer).toEqual({ action: "accept", content: { sure: true } })
      const { answer, lines } = yield* filled({ text: "ab" }, ["text", "sure"])
      expect(answer).toEqual({ action: "cancel" })
      expect(lines[0]).toContain("the field sure is missing")
    }))

  it.effect(
    verifies("ELI-12")("that agree to a visit are asked again, as often as the server wants"),
    () =>
      Effect.gen(function*() {
        let visits = 0
        const visiting = InputHandlers.url(() => Effect.sync(() => (visits++, InputHandlers.accept())))
        const { client, requests } = yield* handled(visiting, rounds(asks({ a: url }), asks({ a: url }), done))
        expect(yield* client.call(Work, {})).toEqual({ did: true })
        expect([visits, requests.length]).toEqual([2, 3])
      })
  )

  it.effect(
    verifies("SAM-7", "SAM-8")(
      "of samplings get the bound, the hints in their order and all metadata, and no earlier messages"
    ),
    () =>
      Effect.gen(function*() {
        const seen: Array<InputHandlers.SamplingRequest> = []
        const modelPreferences = { hints: [{ name: "small" }, { name: "large" }, { name: "any" }] }
        const talk = [{ role: "user", content: block }, use, { role: "user", content: [result] }]
        const first = { method: "sampling/createMessage", params: { messages: talk, maxTokens: 7, modelPreferences } }
        const { client } = yield* handled(
          Layer.merge(
            everything,
            InputHandlers.sampling((request) =>
              Effect.sync(() => {
                seen.push(request)
                return { role: "assistant" as const, content: block, model: "m" }
              })
            )
          ),
          rounds(asks({ a: first }), asks({ a: sampling }), done)
        )
        yield* client.call(Work, {})
        expect(seen.map(({ maxTokens, messages }) => [maxTokens, messages])).toEqual([
          [7, talk],
          [5, [{ role: "user", content: block }]]
        ])
        expect(seen.map(({ modelPreferences }) => modelPreferences)).toEqual([modelPreferences, undefined])
      })
  )

  it.effect("stop after 10 rounds, or as many as are allowed: the call ends as it is", () =>
    Effect.gen(function*() {
      for (const [options, sends] of [[{}, 11], [{ maxInputRounds: 2 }, 3]] as const) {
        const { client, requests } = yield* handled(everything, rounds(asks({ a: form() }, "s")), options)
        const ending = yield* client.callResult(Work, {})
        assert(ending._tag === "InputRequired")
        expect([requests.length, ending.continuation.state]).toEqual([sends, "s"])
      }
    }))

  it.effect(
    verifies("MRTR-14", "MRTR-17")("wait a moment before a round that asks for nothing, by the clock"),
    () =>
      Effect.gen(function*() {
        const { client, requests } = yield* handled(
          everything,
          rounds({ resultType: "input_required", requestState: "" }, done)
        )
        const fiber = yield* Effect.forkChild(client.call(Work, {}))
        yield* TestClock.adjust("249 millis")
        expect(requests.length).toBe(1)
        yield* TestClock.adjust("1 millis")
        expect(yield* Fiber.join(fiber)).toEqual({ did: true })
        expect(sent(requests[1]!)).toEqual({ name: "work", arguments: {}, requestState: "" })
      })
  )

  it.effect("have no timeout, but the deadline, the tokens and the client's end cut them", () =>
    Effect.gen(function*() {
      const endings: ReadonlyArray<
        readonly [string, (client: McpClient.Client, token: Call.CancellationToken) => Effect.Effect<void>]
      > = [
        ["timed_out.completed", () => TestClock.adjust("1 minute")],
        ["cancelled.completed", (_client, token) => token.cancel],
        ["cancelled.completed", (client) => client.close]
      ]
      for (const [code, end] of endings) {
        const asked = yield* Deferred.make<void>()
        let interrupted = false
        const slow = InputHandlers.form(() =>
          Deferred.succeed(asked, undefined).pipe(
            Effect.andThen(Effect.never),
            Effect.onInterrupt(() => Effect.sync(() => (interrupted = true)))
          )
        )
        const { client, requests } = yield* handled(slow, rounds(asks({ a: form() }), done))
        const token = yield* Call.makeCancellationToken
        const fiber = yield* client.call(Work, {}).pipe(
          Call.withDeadline("90 seconds"),
          Call.withCancellation(token),
          Effect.flip,
          Effect.forkChild
        )
        yield* Deferred.await(asked)
        yield* TestClock.adjust("31 seconds")
        expect(fiber.pollUnsafe()).toBeUndefined()
        yield* end(client, token)
        const error = yield* Fiber.join(fiber)
        assert(error._tag === "McpClientError")
        expect([error.code, requests.length, interrupted]).toEqual([code, 1, true])
      }
    }))

  it.effect("all rounds have the trace of the one span that the call is", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* handled(
        InputHandlers.form(() => Effect.succeed(InputHandlers.decline)),
        rounds(asks({ a: form() }), done)
      )
      const span = yield* Effect.withSpan(Effect.andThen(client.call(Work, {}), Effect.currentSpan), "call")
      const traces = requests.map((request) => metaOf(request)[Revision.meta.traceparent])
      expect(traces.map((trace) => String(trace).includes(`${span.traceId}-${span.spanId}`))).toEqual([true, true])
    }))

  it.effect("progress goes on in every round, each with its own token", () =>
    Effect.gen(function*() {
      const seen: Array<number> = []
      let n = 0
      const { client } = yield* handled(everything, (request) =>
        Effect.sync(() => {
          request.sent()
          request.notify(progressOf(request, ++n))
          return success(request, n < 3 ? asks({ a: form() }) : done)
        }))
      yield* client.call(Work, {}).pipe(Call.withProgress(({ progress }) => Effect.sync(() => seen.push(progress))))
      expect(seen).toEqual([1, 2, 3])
    }))

  it.effect("a round keeps the headers of the call", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* handled(
        everything,
        rounds(asks({ a: form() }), { content: [], structuredContent: { at: "2020-01-02T00:00:00.000Z" } }),
        { hasHeaders: true }
      )
      yield* client.call(Route, { region: "eu" })
      expect(requests.map(({ headers }) => headers.find(([name]) => name === "mcp-param-region"))).toEqual([
        ["mcp-param-region", "eu"],
        ["mcp-param-region", "eu"]
      ])
    }))
})

describe("what was not declared", () => {
  it.effect.each<readonly [string, Json.Object, McpClient.Options]>([
    ["any input", form(), {}],
    ["a URL where forms are declared", url, { capabilities: { elicitation: {} } }],
    ["a sampling", sampling, { inputMethods: ["form"] }],
    [
      "a sampling with tools",
      { method: "sampling/createMessage", params: { messages: [], maxTokens: 1, tools: [] } },
      { inputMethods: ["sampling"] }
    ],
    ["a method that nobody knows", { method: "com.example/ask" }, {
      inputMethods: ["form", "url", "sampling", "roots"]
    }]
  ])(
    verifies("client/with_input_methods", "client/reason/unsupported_input_request", "SAM-2@client")(
      "fails the call: %s"
    ),
    ([_case, request, options]) =>
      Effect.gen(function*() {
        const { client } = yield* scripted(rounds(asks({ a: request })), options)
        const error = yield* Effect.flip(client.callResult(Work, {}))
        expect([error.code, error.evidence]).toEqual(["unsupported_input_request", "Completed"])
      })
  )

  it.effect("an unknown input method is refused", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(scripted(rounds(done), { inputMethods: ["forms" as "form"] }))
      assert(error.reason._tag === "InvalidConfig")
      expect(error.reason.field).toBe("inputMethods")
      const rounded = yield* Effect.flip(scripted(rounds(done), { maxInputRounds: 0 }))
      assert(rounded.reason._tag === "InvalidConfig")
      expect(rounded.reason.field).toBe("maxInputRounds")
    }))
})

describe("by hand", () => {
  const paused = (client: McpClient.Client) =>
    Effect.map(client.callResult(Work, {}).pipe(Call.withCorrelation("c-1")), (ending) => {
      assert(ending._tag === "InputRequired")
      return ending
    })

  const options: McpClient.Options = { inputMethods: ["form", "url", "sampling", "roots"] }

  it.effect(
    verifies(
      "client/resume",
      "client/promise/resume_more_rounds",
      "client/promise/correlation_one_per_logical_call",
      "client/promise/continuation_needs_open_client",
      "snodo/request_option/input_responses",
      "snodo/request_option/request_state",
      "snodo/promise/not_answered_automatically",
      "snodo/outcome/input_required",
      "MRTR-20"
    )("a call is continued by another client, from text, and may pause again"),
    () =>
      Effect.gen(function*() {
        const first = yield* scripted(rounds(asks({ a: form() }, "s1")), options)
        const text = Continuation.toText((yield* paused(first.client)).continuation)
        yield* first.client.close
        const second = yield* scripted(rounds(asks({ b: form() }, "s2"), done), options)
        const continuation = Result.getOrThrow(Continuation.fromText(text))
        const again = yield* second.client.resume(Work, continuation, { a: { action: "accept" } }).pipe(
          Call.withCorrelation("other"),
          Call.withIdempotencyKey("k")
        )
        assert(again._tag === "InputRequired")
        const ending = yield* second.client.resume(Work, again.continuation, { b: { action: "decline" } })
        assert(ending._tag === "Succeeded")
        expect(ending.output).toEqual({ did: true })
        expect(second.requests.map(sent)).toEqual([
          { name: "work", arguments: {}, inputResponses: { a: { action: "accept" } }, requestState: "s1" },
          { name: "work", arguments: {}, inputResponses: { b: { action: "decline" } }, requestState: "s2" }
        ])
        expect(second.requests.map((request) => metaOf(request)[Call.metaKeys.correlation])).toEqual(["c-1", "c-1"])
        expect(metaOf(second.requests[0]!)[Call.metaKeys.idempotencyKey]).toBe("k")
      })
  )

  it.effect(
    verifies("client/resume", "client/promise/correlation_one_per_logical_call")(
      "a call resumes by itself, with its handle, its correlation and its services, and may pause again"
    ),
    () =>
      Effect.gen(function*() {
        class Suffix extends Context.Service<Suffix, string>()("Suffix") {}
        const output = Schema.String.pipe(
          Schema.decodeTo(
            Schema.String,
            {
              decode: SchemaGetter.transformEffect((text: string) => Effect.map(Suffix, (suffix) => text + suffix)),
              encode: SchemaGetter.passthrough()
            }
          )
        )
        const Suffixed = Tool.make("suffixed", { output })
        const { client, requests } = yield* scripted(
          rounds(asks({ a: form() }, "s1"), asks({ b: form() }, "s2"), { content: [], structuredContent: "done" }),
          options
        )
        const handle = client.with({ idempotencyKey: "k" })
        const first = yield* handle.callResult(Suffixed, {}).pipe(
          Call.withCorrelation("c-1"),
          Effect.provideService(Suffix, "!")
        )
        assert(first._tag === "InputRequired")
        const second = yield* first.resume({ a: {} }).pipe(
          Call.withCorrelation("c-2"),
          Call.withDeadline("1 second"),
          Effect.flip
        )
        assert(second._tag === "InputRequired")
        const last: Effect.Effect<
          CallEnding.Succeeded<string> | CallEnding.ToolFailed<never>,
          McpClientError.McpClientError | typeof second
        > = second.resume({ b: InputHandlers.decline })
        expect(yield* last).toMatchObject({ _tag: "Succeeded", output: "done!" })
        expect(requests.map(sent)).toEqual([
          { name: "suffixed", arguments: {} },
          { name: "suffixed", arguments: {}, inputResponses: { a: {} }, requestState: "s1" },
          { name: "suffixed", arguments: {}, inputResponses: { b: { action: "decline" } }, requestState: "s2" }
        ])
        const { correlation, idempotencyKey, timeoutMillis } = Call.metaKeys
        expect(requests.map(metaOf).map((meta) => [meta[correlation], meta[idempotencyKey], meta[timeoutMillis]]))
          .toEqual(
            [["c-1", "k", undefined], ["c-1", "k", 1000], ["c-1", "k", undefined]]
          )
        yield* client.close
        expect(yield* Effect.flip(second.resume({ b: {} }))).toMatchObject({ code: "cancelled.not_sent" })
      })
  )

  it.effect(
    verifies("ELI-7@client")("what was accepted has to fit its form, and the error repeats nothing of it"),
    () =>
      Effect.gen(function*() {
        const asked = {
          method: "elicitation/create",
          params: {
            message: "Who?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
          }
        }
        const { client, requests } = yield* scripted(rounds(asks({ a: asked }), done), options)
        const ending = yield* paused(client)
        for (const content of [{}, { name: 1 }]) {
          const error = yield* Effect.flip(ending.resume({ a: { action: "accept", content } }))
          assert(error._tag === "McpClientError")
          expect([error.code, error.message]).toEqual([
            "invalid_input_responses",
            "The responses do not fit the input requests: a response does not fit its form"
          ])
        }
        expect(requests.length).toBe(1)
        expect((yield* ending.resume({ a: { action: "accept", content: { name: "Ada" } } }))._tag).toBe("Succeeded")
      })
  )

  it.effect.each<readonly [string, McpClient.InputResponses]>([
    ["none", {}],
    ["one too few", { a: {} }],
    ["one too many", { a: {}, b: {}, c: {} }],
    ["another key", { a: {}, c: {} }],
    ["a text", { a: {}, b: "yes" as unknown as Json.Object }],
    ["null", { a: {}, b: null as unknown as Json.Object }],
    ["a list", { a: {}, b: [] as unknown as Json.Object }],
    ["an inherited key", Object.create({ a: {}, b: {} }) as McpClient.InputResponses]
  ])(
    verifies("client/reason/invalid_input_responses")("responses have to be one object for each request: %s"),
    ([_case, responses]) =>
      Effect.gen(function*() {
        const { client, requests } = yield* scripted(rounds(asks({ a: form(), b: form() })), options)
        const { continuation } = yield* paused(client)
        const error = yield* Effect.flip(client.resume(Work, continuation, responses))
        assert(error._tag === "McpClientError")
        expect([error.code, error.evidence, error.correlation]).toEqual(["invalid_input_responses", "NotSent", "c-1"])
        expect(requests.length).toBe(1)
      })
  )

  it.effect("a continuation of another call is refused", () =>
    Effect.gen(function*() {
      const { client, requests } = yield* scripted(rounds(asks({ a: form() })), options)
      const { continuation } = yield* paused(client)
      const Manual = Resource.make("docs://manual", { name: "manual" })
      const responses = { a: {} }
      const errors = yield* Effect.all([
        Effect.flip(client.resume(Tool.make("other"), continuation, responses)),
        Effect.flip(client.resume("other", continuation, responses)),
        Effect.flip(client.resume(Prompt.make("work"), continuation, responses)),
        Effect.flip(client.resume(Manual, continuation, responses)),
        Effect.flip(client.resumeRaw({ ...continuation, method: "tools/list" }, responses))
      ])
      for (const error of errors) {
        assert(error._tag === "McpClientError")
        expect(error.code).toBe("invalid_arguments")
      }
      expect(requests.length).toBe(1)
    }))

  it.effect("a tool known at run time, and any call without its definition", () =>
    Effect.gen(function*() {
      const { client } = yield* scripted(rounds(asks({ a: form() }), { content: [], structuredContent: null }), options)
      const ending = yield* client.callDiscovered("x", {})
      assert(ending._tag === "InputRequired")
      const found = yield* client.resume("x", ending.continuation, { a: {} })
      expect(found).toMatchObject({ _tag: "Succeeded", output: { _tag: "Some", value: null } })
      expect(yield* client.resumeRaw(ending.continuation, { a: {} })).toEqual({ content: [], structuredContent: null })
    }))
})

describe("a server in this process", () => {
  const Name = Schema.Struct({ name: Schema.String })
  const greeting = Effect.gen(function*() {
    yield* Invocation.progress({ progress: 1 })
    const first = yield* Effect.orDie(Input.form("first", { message: "Who?", schema: Name }))
    const second = yield* Effect.orDie(Input.form("second", { message: "And?", schema: Name }))
    return `${first.name} and ${second.name}`
  })
  const Greet = Tool.make("greet", { output: Schema.String })
  const Greeting = Prompt.make("greeting")
  const Manual = Resource.make("docs://manual", { name: "manual" })
  const Chapter = Resource.template("docs://chapters/{n}", {
    name: "chapter",
    params: Schema.Struct({ n: Schema.Int })
  })
  const endpoint = Layer.mergeAll(
    McpServer.tool(Greet, () => greeting),
    McpServer.prompt(Greeting, () => greeting),
    McpServer.resource(Manual, () => greeting),
    McpServer.resourceTemplate(Chapter, ({ n }) => Effect.map(greeting, (text) => `${n}: ${text}`))
  ).pipe(McpEndpoint.serve({ name: "input", version: "1.0.0" }))

  const answering = InputHandlers.form(({ key }) => Effect.succeed(InputHandlers.accept({ name: key })))

  it.effect(
    verifies("snodo/promise/input_on_all_kinds", "PAT-2", "client/promise/same_definition")(
      "is answered on tools, prompts and reads alike"
    ),
    () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        expect(yield* client.call(Greet, {})).toBe("first and second")
        const prompt = yield* client.getPrompt(Greeting)
        expect(prompt.messages[0]!.content).toMatchObject({ text: "first and second" })
        expect((yield* client.readResource(Manual)).contents[0]).toMatchObject({ text: "first and second" })
        expect((yield* client.readResource(Chapter, { n: 3 })).contents[0]).toMatchObject({
          text: "3: first and second"
        })
      }).pipe(Effect.provide(TestClient.layer(endpoint).pipe(Layer.provide(answering))))
  )

  it.effect("resumes by itself on tools, prompts and reads", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const first = { first: { action: "accept", content: { name: "a" } } }
      const second = { second: { action: "accept", content: { name: "b" } } }
      const prompt = yield* Effect.flip(client.getPrompt(Greeting))
      const read = yield* Effect.flip(client.readResource(Chapter, { n: 2 }))
      assert(prompt._tag === "InputRequired" && read._tag === "InputRequired")
      const prompting = yield* Effect.flip(prompt.resume(first))
      const reading = yield* Effect.flip(read.resume(first))
      assert(prompting._tag === "InputRequired" && reading._tag === "InputRequired")
      expect(yield* prompting.resume(second)).toMatchObject({ messages: [{ content: { text: "a and b" } }] })
      expect(yield* reading.resume(second)).toMatchObject({ contents: [{ text: "2: a and b" }] })
    }).pipe(Effect.provide(TestClient.layer(endpoint, { client: { inputMethods: ["form"] } }))))

  it.effect("is answered by hand on prompts and reads", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const accept = (name: string) => ({ action: "accept", content: { name } })
      const continuationOf = <A, E extends { readonly _tag: string }>(
        self: Effect.Effect<A, E | CallEnding.InputRequired>
      ) =>
        Effect.map(Effect.flip(self), (error) => {
          assert(error._tag === "InputRequired")
          return (error as CallEnding.InputRequired).continuation
        })
      const one = yield* continuationOf(client.getPrompt(Greeting))
      const two = yield* continuationOf(client.resume(Greeting, one, { first: accept("a") }))
      const prompt = yield* client.resume(Greeting, two, { second: accept("b") })
      expect(prompt.messages[0]!.content).toMatchObject({ text: "a and b" })
      const three = yield* continuationOf(client.readResource(Chapter, { n: 7 }))
      const four = yield* continuationOf(client.resume(Chapter, three, { first: accept("c") }))
      const read = yield* client.resume(Chapter, four, { second: accept("d") })
      expect(read.contents[0]).toMatchObject({ text: "7: c and d" })
    }).pipe(Effect.provide(TestClient.layer(endpoint, { client: { inputMethods: ["form"] } }))))

  it.effect("what was not declared is the server's to refuse", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const exit = yield* Effect.exit(client.call(Greet, {}))
      assert(exit._tag === "Failure")
      expect(Cause.squash(exit.cause)).toMatchObject({ code: "rpc_error.-32021" })
    }).pipe(Effect.provide(TestClient.layer(endpoint))))
})
