import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { Content, type Json, JsonRpc, Prompt, Resource, Revision, Tool, Transport } from "@fairlead/protocol"
import { InProcess, Input, Invocation, McpServer } from "@fairlead/server"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Answer } from "./support/http.ts"
import { accept, askedBy, callRound, play, round, textOf } from "./support/rounds.ts"
import { endpointOf, serve } from "./support/serve.ts"
import { type Message, request, withToken } from "./support/wire.ts"

const Work = Tool.make("work")

const Name = Schema.Struct({ name: Schema.NonEmptyString })

const text = (value: unknown) => [Content.text(typeof value === "string" ? value : JSON.stringify(value))]

/** A tool that answers with what an effect gives, or with how it failed. */
const asking = <E extends { readonly _tag: string }>(ask: Effect.Effect<unknown, E, Invocation.Invocation>) =>
  McpServer.tool(
    Work,
    () => Effect.match(ask, { onSuccess: (value) => text(value ?? "nothing"), onFailure: ({ _tag }) => text(_tag) })
  )

const name = (key = "name") => Input.form(key, { message: "Who?", schema: Name })

/** Plays the tool over HTTP. */
const playWork = (
  ask: Effect.Effect<unknown, { readonly _tag: string }, Invocation.Invocation>,
  answers: Record<string, unknown>
) => Effect.flatMap(serve(asking(ask)), (server) => play(server.send, (more) => callRound("work", more), answers))

describe("a form", () => {
  it.effect(
    verifies("GAP-6@server")("takes numbers with a fraction, as large and as small as a double is"),
    () =>
      Effect.gen(function*() {
        const ask = Input.form("much", { message: "How much?", schema: Schema.Struct({ n: Schema.Finite }) })
        for (const n of [0.5, -1.25e-7, 1e21, 3]) {
          const { last } = yield* playWork(ask, { much: accept({ n }) })
          assert.deepStrictEqual(JSON.parse(textOf(last)), { n })
        }
      })
  )

  it.effect(
    verifies("MRTR-1", "MRTR-3", "MRTR-4", "MRTR-15", "ELI-3@server", "ELI-4", "TOOL-10")(
      "is asked for with the schema of its answer, by a result without cache fields and requests without ids"
    ),
    () =>
      Effect.gen(function*() {
        const schema = Schema.Struct({
          name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(10)).annotate({ title: "Your name" }),
          age: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 150 }))),
          sure: Schema.Boolean,
          color: Schema.Literals(["red", "green"])
        })
        const server = yield* serve(asking(Input.form("who", { message: "Who are you?", schema })))
        const answer = yield* server.send(callRound("work", { id: "a" }))
        assert.deepStrictEqual([answer.status, answer.headers["content-type"]], [200, "application/json"])
        const { result } = answer.json
        assert.deepStrictEqual(Object.keys(result).sort(), ["_meta", "inputRequests", "requestState", "resultType"])
        assert.strictEqual(result.resultType, "input_required")
        assert.isString(result.requestState)
        assert.deepStrictEqual(result.inputRequests, {
          who: {
            method: "elicitation/create",
            params: {
              mode: "form",
              message: "Who are you?",
              requestedSchema: {
                type: "object",
                properties: {
                  name: { type: "string", title: "Your name", minLength: 1, maxLength: 10 },
                  age: { type: "integer", minimum: 0, maximum: 150 },
                  sure: { type: "boolean" },
                  color: { type: "string", enum: ["red", "green"] }
                },
                required: ["name", "sure", "color"]
              }
            }
          }
        })
      })
  )

  it.effect(
    verifies("MRTR-2", "ELI-7@server")("gives the handler its answer, decoded, where the request is sent again"),
    () =>
      Effect.gen(function*() {
        const When = Schema.Struct({ when: Schema.Date })
        const { asked, last } = yield* playWork(
          Effect.map(Input.form("when", { message: "When?", schema: When }), ({ when }) => when.getTime()),
          { when: accept({ when: "1970-01-01T00:00:01.000Z" }) }
        )
        assert.deepStrictEqual([asked, textOf(last)], [[["when"]], "1000"])
      })
  )

  it.effect.each([
    ["decline", "Declined"],
    ["cancel", "Dismissed"]
  ])(verifies("ELI-7@server")("that gets %s fails with %s"), ([action, tag]) =>
    Effect.gen(function*() {
      const { asked, last } = yield* playWork(name(), { name: { action } })
      assert.deepStrictEqual([asked.length, textOf(last)], [1, tag])
    }))

  it.effect("that is declined says which, in one sentence", () =>
    Effect.gen(function*() {
      const messages = (effect: Effect.Effect<unknown, Input.Declined | Input.Dismissed, Invocation.Invocation>) =>
        Effect.catch(effect, (error) => Effect.succeed(`${error.key}: ${error.message}`))
      const { last } = yield* playWork(Effect.all([messages(name("a")), messages(name("b"))]), {
        a: { action: "decline" },
        b: { action: "cancel" }
      })
      assert.deepStrictEqual(JSON.parse(textOf(last)), [
        "a: The input a was declined",
        "b: The input b was dismissed"
      ])
    }))

  it.effect("without fields accepts an answer without content", () =>
    Effect.gen(function*() {
      const empty = Input.form("ok", { message: "Go on?", schema: Schema.Struct({}) })
      const without = yield* playWork(empty, { ok: accept() })
      assert.strictEqual(textOf(without.last), "{}")
      const withContent = yield* playWork(empty, { ok: accept({}) })
      assert.strictEqual(textOf(withContent.last), "{}")
    }))

  it.effect.each<[string, unknown]>([
    ["a value of another type", accept({ name: 1 })],
    ["a value that breaks the schema", accept({ name: "" })],
    ["a missing value", accept({})],
    ["no content", accept()],
    ["content that is no object", { action: "accept", content: [] }],
    ["an unknown action", { action: "reject" }],
    ["an action of another case", { action: "Accept", content: { name: "x" } }],
    ["no action", { content: { name: "x" } }],
    ["an empty answer", {}]
  ])(
    verifies("ELI-7@server", "MRTR-11", "MRTR-13")("is asked for again when the answer has %s"),
    ([, answer]) =>
      Effect.gen(function*() {
        const server = yield* serve(asking(name()))
        const first = yield* server.send(callRound("work"))
        const again = yield* server.send(
          callRound("work", { state: first.json.result.requestState, responses: { name: answer } })
        )
        assert.deepStrictEqual(askedBy(again), askedBy(first))
        const last = yield* server.send(
          callRound("work", { state: again.json.result.requestState, responses: { name: accept({ name: "Ann" }) } })
        )
        assert.strictEqual(textOf(last), "{\"name\":\"Ann\"}")
      })
  )

  it.effect("that no form can express dies, naming the field in the log and nothing to the client", () =>
    Effect.gen(function*() {
      const nested = Schema.Struct({ address: Schema.Struct({ street: Schema.String }) })
      const server = yield* serve(asking(Input.form("where", { message: "Where?", schema: nested })))
      const { json, status } = yield* server.send(callRound("work"))
      assert.deepStrictEqual([status, json.error.message], [200, "Internal error"])
      assert.include(Cause.pretty(server.logs[0]!.cause), "A form cannot ask for address")
    }))

  it.effect.each([
    Schema.Redacted(Schema.String),
    Schema.RedactedFromValue(Schema.String),
    Schema.optionalKey(Schema.Redacted(Schema.String)),
    Schema.Redacted(Schema.String).annotate({ title: "Token" })
  ])(verifies("ELI-8")("that asks for a secret dies, naming the field in the log"), (token) =>
    Effect.gen(function*() {
      const schema = Schema.Struct({ name: Schema.String, token })
      const server = yield* serve(asking(Input.form("login", { message: "Who?", schema })))
      const { json, status } = yield* server.send(callRound("work"))
      assert.deepStrictEqual([status, json.error.message], [200, "Internal error"])
      assert.include(Cause.pretty(server.logs[0]!.cause), "A form cannot ask for token: it is a secret")
    }))

  it.effect("whose schema dies while it decodes fails the request instead of asking for ever", () =>
    Effect.gen(function*() {
      const broken = Schema.Struct({
        name: Schema.String.check(Schema.makeFilter(() => {
          throw new Error("hunter2")
        }))
      })
      const server = yield* serve(asking(Input.form("name", { message: "Who?", schema: broken })))
      const { last } = yield* play(server.send, (more) => callRound("work", more), { name: accept({ name: "x" }) })
      assert.strictEqual(last.json.error.message, "Internal error")
      assert.notInclude(last.text, "hunter2")
    }))
})

describe("a visit to a URL", () => {
  const visit = (url: string | URL) => Input.url("pay", { message: "Pay there.", url })

  it.effect(
    verifies("ELI-3@server", "ELI-15")("is asked for with the URL, and whatever content comes with it is not seen"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(asking(visit(new URL("https://pay.example/1?x=%20y"))))
        const first = yield* server.send(callRound("work"))
        assert.deepStrictEqual(askedBy(first), {
          pay: {
            method: "elicitation/create",
            params: { mode: "url", message: "Pay there.", url: "https://pay.example/1?x=%20y" }
          }
        })
        const last = yield* server.send(callRound("work", {
          state: first.json.result.requestState,
          responses: { pay: accept({ card: "4111" }) }
        }))
        assert.notInclude(last.text, "4111")
        assert.strictEqual(last.json.result.resultType, "complete")
      })
  )

  it.effect("can be declined and dismissed", () =>
    Effect.gen(function*() {
      for (const [action, tag] of [["decline", "Declined"], ["cancel", "Dismissed"]] as const) {
        const { last } = yield* playWork(visit("https://pay.example"), { pay: { action } })
        assert.strictEqual(textOf(last), tag)
      }
    }))

  it.effect.each([
    "/pay",
    "",
    "not a url",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://ann:secret@pay.example",
    "https://ann@pay.example"
  ])(verifies("ELI-3@server", "ELI-11")("dies where a user must not be sent: %s"), (url) =>
    Effect.gen(function*() {
      const server = yield* serve(asking(visit(url)))
      const { json, status } = yield* server.send(callRound("work"))
      assert.deepStrictEqual([status, json.error.message], [200, "Internal error"])
      assert.include(Cause.pretty(server.logs[0]!.cause), "The URL of the input \"pay\" cannot be sent")
    }))
})

describe("a sample", () => {
  const message = { role: "user", content: { type: "text", text: "Hi" } }
  const answer = { role: "assistant", content: { type: "text", text: "Hello" }, model: "m-1" }
  const sampleOf = (messages: ReadonlyArray<Json.Object>) => Input.sample("talk", { messages, maxTokens: 100 })

  it.effect(verifies("SAM-3")("is asked for with what was given and nothing else"), () =>
    Effect.gen(function*() {
      const options = {
        messages: [message],
        maxTokens: 100,
        systemPrompt: "Be brief.",
        temperature: 0.5,
        stopSequences: ["."],
        modelPreferences: { hints: [{ name: "small" }], costPriority: 1 },
        metadata: { a: 1 },
        tools: [{ name: "t", inputSchema: { type: "object" } }],
        toolChoice: { mode: "auto" }
      }
      const full = yield* serve(asking(Input.sample("talk", options)))
      assert.deepStrictEqual(askedBy(yield* full.send(callRound("work"))), {
        talk: { method: "sampling/createMessage", params: options }
      })
      const least = yield* serve(asking(Input.sample("talk", {
        messages: [message],
        maxTokens: 1,
        systemPrompt: undefined
      })))
      assert.deepStrictEqual(askedBy(yield* least.send(callRound("work"))), {
        talk: { method: "sampling/createMessage", params: { messages: [message], maxTokens: 1 } }
      })
    }))

  it.effect("gives what the model said, with what else the client sent", () =>
    Effect.gen(function*() {
      const said = { ...answer, stopReason: "endTurn", more: [1] }
      const { last } = yield* playWork(sampleOf([message]), { talk: said })
      assert.deepStrictEqual(JSON.parse(textOf(last)), said)
    }))

  it.effect.each<[string, unknown]>([
    ["another role", { ...answer, role: "system" }],
    ["no model", { role: "assistant", content: answer.content }],
    ["no content", { role: "assistant", model: "m-1" }]
  ])("is asked for again when the answer has %s", ([, wrong]) =>
    Effect.gen(function*() {
      const { asked, last } = yield* playWork(sampleOf([message]), { talk: wrong })
      assert.strictEqual(asked.length, 10)
      assert.include(last.json.error.message, "talk")
    }))

  const use = (...ids: ReadonlyArray<string>) => ({
    role: "assistant",
    content: ids.map((id) => ({ type: "tool_use", id, name: "t", input: {} }))
  })
  const results = (...ids: ReadonlyArray<string>) => ({
    role: "user",
    content: ids.map((toolUseId) => ({ type: "tool_result", toolUseId, content: [] }))
  })

  it.effect.each<[string, ReadonlyArray<Json.Object>]>([
    ["another role", [{ role: "system", content: message.content }]],
    ["a block of another kind", [{ role: "user", content: { type: "resource_link", uri: "a:b" } }]],
    ["a block that is none", [{ role: "user", content: "Hi" }]],
    ["no content", [{ role: "user" }]],
    ["results beside a text", [message, use("1"), {
      role: "user",
      content: [...results("1").content, message.content]
    }]],
    ["results of the assistant", [message, use("1"), { ...results("1"), role: "assistant" }]],
    ["a use without its result", [message, use("1", "2"), results("1")]],
    ["a use that is answered too late", [message, use("1"), message, results("1")]],
    ["a use at the end", [message, use("1")]],
    ["a result without a use", [message, results("1")]],
    ["a use of the user", [{ ...use("1"), role: "user" }, results("1")]]
  ])(verifies("SAM-4@server", "SAM-5")("dies for messages with %s"), ([, messages]) =>
    Effect.gen(function*() {
      const server = yield* serve(asking(sampleOf(messages)))
      assert.strictEqual((yield* server.send(callRound("work"))).json.error.message, "Internal error")
      assert.include(Cause.pretty(server.logs[0]!.cause), "The input \"talk\" cannot be sampled")
    }))

  it.effect(
    verifies("SAM-4@server", "SAM-5")("carries messages of all kinds, uses of tools followed by results"),
    () =>
      Effect.gen(function*() {
        const messages = [
          { role: "user", content: [message.content, { type: "image", data: "", mimeType: "image/png" }] },
          use("1", "2"),
          results("2", "1"),
          { role: "assistant", content: { type: "audio", data: "", mimeType: "audio/wav" } },
          message
        ]
        const server = yield* serve(asking(sampleOf(messages)))
        assert.deepStrictEqual(askedBy(yield* server.send(callRound("work")))["talk"]!.params.messages, messages)
      })
  )
})

describe("the roots", () => {
  it.effect(
    verifies("ROOT-2@server", "ROOT-4")("are asked for without parameters, and given as file URIs"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(asking(Input.roots("where")))
        const first = yield* server.send(callRound("work"))
        assert.deepStrictEqual(askedBy(first), { where: { method: "roots/list", params: {} } })
        const roots = [{ uri: "file:///home/a", name: "home" }, { uri: "FILE:///b" }]
        const { last } = yield* play(server.send, (more) => callRound("work", more), { where: { roots } })
        assert.deepStrictEqual(JSON.parse(textOf(last)), roots)
      })
  )

  it.effect.each<[string, unknown]>([
    ["another scheme", { roots: [{ uri: "file:///a" }, { uri: "https://a.example" }] }],
    ["no URI", { roots: [{ name: "home" }] }],
    ["no list", {}]
  ])(verifies("ROOT-4")("are asked for again when the answer has %s"), ([, answer]) =>
    Effect.gen(function*() {
      const { asked } = yield* playWork(Input.roots("where"), { where: answer })
      assert.strictEqual(asked.length, 10)
    }))
})

describe("what a client did not declare", () => {
  const sample = Input.sample("talk", { messages: [], maxTokens: 1 })
  const withTools = Input.sample("talk", { messages: [], maxTokens: 1, tools: [] })
  const visit = Input.url("visit", { message: "Go there.", url: "https://a.example" })

  it.effect.each<[string, unknown, Effect.Effect<unknown, { readonly _tag: string }, Invocation.Invocation>, unknown]>([
    ["a form of nothing", {}, name(), { elicitation: { form: {} } }],
    ["a form of URLs alone", { elicitation: { url: {} } }, name(), { elicitation: { form: {} } }],
    ["a URL of forms", { elicitation: {} }, visit, { elicitation: { url: {} } }],
    ["a URL of forms by name", { elicitation: { form: {} } }, visit, { elicitation: { url: {} } }],
    ["a sample of nothing", { elicitation: {} }, sample, { sampling: {} }],
    ["a sample with tools of samples", { sampling: {} }, withTools, { sampling: { tools: {} } }],
    ["roots of nothing", {}, Input.roots("where"), { roots: {} }],
    ["roots that are no object", { roots: true }, Input.roots("where"), { roots: {} }],
    [
      "everything of nothing",
      {},
      Input.all({ a: name(), b: visit, c: withTools, d: Input.roots("where") }),
      { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
    ],
    [
      "some of some",
      { elicitation: {}, roots: {} },
      Input.all({ a: name(), b: visit, c: sample, d: Input.roots("where") }),
      { elicitation: { url: {} }, sampling: {} }
    ]
  ])(
    verifies("META-10", "META-11", "MRTR-5", "ELI-2", "SAM-2@server")(
      "is -32021 with HTTP 400 and all that is missing in the round: %s"
    ),
    ([, capabilities, ask, requiredCapabilities]) =>
      Effect.gen(function*() {
        const server = yield* serve(asking(ask))
        const { json, status } = yield* server.send(callRound("work", { capabilities, id: 7 }))
        assert.strictEqual(status, 400)
        assert.deepStrictEqual([json.id, json.error.code, json.error.data, json.result], [
          7,
          -32021,
          { requiredCapabilities },
          undefined
        ])
        assert.deepStrictEqual(server.logs, [])
      })
  )

  it.effect(
    verifies("META-10")("counts for each request by itself: another round has to declare it again"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(asking(Effect.andThen(name("a"), name("b"))))
        const first = yield* server.send(callRound("work"))
        const more = { state: first.json.result.requestState, responses: { a: accept({ name: "x" }) } }
        const refused = yield* server.send(callRound("work", { ...more, capabilities: {} }))
        assert.deepStrictEqual([refused.status, refused.json.error.code], [400, -32021])
        assert.deepStrictEqual(Object.keys(askedBy(yield* server.send(callRound("work", more)))), ["b"])
      })
  )

  it.effect("does not matter where it lost a race", () =>
    Effect.gen(function*() {
      const ask = Effect.andThen(Effect.raceFirst(sample, Effect.yieldNow), name())
      const server = yield* serve(asking(ask))
      const answer = yield* server.send(callRound("work", { capabilities: { elicitation: {} } }))
      assert.deepStrictEqual(Object.keys(askedBy(answer)), ["name"])
    }))
})

describe("several asks", () => {
  it.effect("in parallel are one round, however they are run", () =>
    Effect.gen(function*() {
      const ways: Record<string, Effect.Effect<unknown, Input.Declined | Input.Dismissed, Invocation.Invocation>> = {
        "Effect.all": Effect.all([name("a"), name("b"), name("c")], { concurrency: "unbounded" }),
        "Input.all": Input.all({ first: name("a"), second: name("b"), third: name("c") }),
        nested: Effect.all([name("a"), Input.all({ b: name("b"), c: name("c") })], { concurrency: 2 }),
        forkChild: Effect.gen(function*() {
          const a = yield* Effect.forkChild(name("a"))
          const b = yield* Effect.forkChild(Effect.andThen(Effect.yieldNow, name("b")))
          const c = yield* name("c")
          return [yield* Fiber.join(a), yield* Fiber.join(b), c]
        }),
        late: Effect.all([name("a"), Effect.andThen(Effect.promise(() => Promise.resolve()), name("b")), name("c")], {
          concurrency: "unbounded"
        })
      }
      const answers = { a: accept({ name: "A" }), b: accept({ name: "B" }), c: accept({ name: "C" }) }
      for (const [way, ask] of Object.entries(ways)) {
        const { asked, last } = yield* playWork(ask, answers)
        assert.deepStrictEqual(asked.map((keys) => [...keys].sort()), [["a", "b", "c"]], way)
        assert.strictEqual(last.json.result.resultType, "complete", way)
      }
    }))

  it.effect("that come one turn after the other are one round", () =>
    Effect.gen(function*() {
      const turn = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 0)))
      const { asked } = yield* playWork(
        Effect.all(
          [name("a"), Effect.andThen(turn, name("b")), Effect.andThen(turn, Effect.andThen(turn, name("c")))],
          {
            concurrency: "unbounded"
          }
        ),
        {}
      )
      assert.deepStrictEqual(asked[0], ["a", "b", "c"])
    }))

  it.effect("of different kinds are one round, and each has its answer under its own name", () =>
    Effect.gen(function*() {
      const { asked, last } = yield* playWork(
        Input.all({
          who: name("n"),
          where: Input.roots("r"),
          paid: Input.url("u", { message: "Pay.", url: "https://a.example" })
        }),
        { n: accept({ name: "Ann" }), r: { roots: [] }, u: accept() }
      )
      assert.deepStrictEqual(asked, [["n", "r", "u"]])
      assert.deepStrictEqual(JSON.parse(textOf(last)), { who: { name: "Ann" }, where: [] })
    }))

  it.effect("of which one is declined fail with it", () =>
    Effect.gen(function*() {
      const { last } = yield* playWork(Input.all({ a: name("a"), b: name("b") }), {
        a: accept({ name: "A" }),
        b: { action: "decline" }
      })
      assert.strictEqual(textOf(last), "Declined")
    }))

  it.effect(
    verifies("MRTR-10", "MRTR-14")(
      "one after the other are as many rounds; each round carries the answers of the one before, and no others"
    ),
    () =>
      Effect.gen(function*() {
        const { asked, last } = yield* playWork(Effect.all([name("a"), name("b"), name("c")]), {
          a: accept({ name: "A" }),
          b: accept({ name: "B" }),
          c: accept({ name: "C" })
        })
        assert.deepStrictEqual(asked, [["a"], ["b"], ["c"]])
        assert.deepStrictEqual(JSON.parse(textOf(last)), [{ name: "A" }, { name: "B" }, { name: "C" }])
      })
  )

  it.effect(
    verifies("MRTR-13")("of which some were answered are asked for again where they were not"),
    () =>
      Effect.gen(function*() {
        const { asked } = yield* playWork(Input.all({ a: name("a"), b: name("b") }), { a: accept({ name: "A" }) })
        assert.deepStrictEqual(asked, [["a", "b"], ...Array.from({ length: 9 }, () => ["b"])])
      })
  )
})

describe("answers", () => {
  it.effect(
    verifies("MRTR-12")("under keys that nobody asked for are ignored, now and later"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(asking(Effect.all([name("a"), name("b")])))
        const first = yield* server.send(callRound("work"))
        const second = yield* server.send(callRound("work", {
          state: first.json.result.requestState,
          // `b` was not asked for yet.
          responses: { a: accept({ name: "A" }), b: accept({ name: "B" }), other: { x: 1 } }
        }))
        assert.deepStrictEqual(Object.keys(askedBy(second)), ["b"])
      })
  )

  it.effect(
    verifies("STATE-5@server")("without a state count as those of a first round"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(asking(Effect.all([name("a"), name("b")])))
        const responses = { a: accept({ name: "A" }), other: {} }
        const first = yield* server.send(callRound("work", { responses }))
        assert.deepStrictEqual(Object.keys(askedBy(first)), ["b"])
        const last = yield* server.send(callRound("work", {
          state: first.json.result.requestState,
          responses: { b: accept({ name: "B" }) }
        }))
        assert.deepStrictEqual(JSON.parse(textOf(last)), [{ name: "A" }, { name: "B" }])
      })
  )

  it.effect("with a state that is null are the same", () =>
    Effect.gen(function*() {
      const server = yield* serve(asking(name()))
      const answer = yield* server.send(callRound("work", {
        state: null,
        responses: { name: accept({ name: "A" }) }
      }))
      assert.strictEqual(textOf(answer), "{\"name\":\"A\"}")
    }))

  it.effect.each<[unknown]>([
    ["text"],
    [1],
    [null],
    [[]],
    [{ name: 12345 }],
    [{ name: "accept" }],
    [{ name: null }],
    [{ name: [] }],
    [{ other: true }]
  ])(
    verifies("MRTR-11")("that are malformed are -32602, with a state and without: %j"),
    ([responses]) =>
      Effect.gen(function*() {
        let runs = 0
        const server = yield* serve(asking(Effect.suspend(() => {
          runs++
          return name()
        })))
        const first = yield* server.send(callRound("work"))
        for (const state of [undefined, first.json.result.requestState]) {
          const { json, status } = yield* server.send(callRound("work", { state, responses }))
          assert.deepStrictEqual([status, json.error.code], [200, JsonRpc.codes.invalidParams])
          assert.include(json.error.message, "inputResponses")
        }
        assert.strictEqual(runs, 1)
      })
  )

  it.effect("come under any key that the handler chooses", () =>
    Effect.gen(function*() {
      const keys = ["__proto__", "constructor", "toString", "", "0", "a b\n", "ключ"]
      const { asked, last } = yield* playWork(
        Effect.all(keys.map((key) => name(key)), { concurrency: "unbounded" }),
        Object.fromEntries(keys.map((key, i) => [key, accept({ name: `n${i}` })]))
      )
      assert.deepStrictEqual([...asked[0]!].sort(), [...keys].sort())
      assert.strictEqual(asked.length, 1)
      assert.deepStrictEqual(JSON.parse(textOf(last)), keys.map((_, i) => ({ name: `n${i}` })))
    }))

  it.effect("are not found where only every object has something under the key", () =>
    Effect.gen(function*() {
      const server = yield* serve(asking(Input.all({ a: name("constructor"), b: name("__proto__") })))
      const first = yield* server.send(callRound("work", { responses: {} }))
      assert.deepStrictEqual(Object.keys(askedBy(first)).sort(), ["__proto__", "constructor"])
      const second = yield* server.send(callRound("work", { responses: {}, state: first.json.result.requestState }))
      assert.deepStrictEqual(Object.keys(askedBy(second)).sort(), ["__proto__", "constructor"])
    }))

  it.effect("to another question than the handler now asks do not count: it is asked", () =>
    Effect.gen(function*() {
      let digest = 1
      const server = yield* serve(asking(Effect.suspend(() =>
        Input.form("sure", { message: `Deploy build ${digest}?`, schema: Schema.Struct({ sure: Schema.Boolean }) })
      )))
      const responses = { sure: accept({ sure: true }) }
      const first = yield* server.send(callRound("work"))
      digest = 2
      const second = yield* server.send(callRound("work", { responses, state: first.json.result.requestState }))
      assert.strictEqual(askedBy(second)["sure"]!.params.message, "Deploy build 2?")
      // The old answer is gone: it does not count for the new question.
      const third = yield* server.send(callRound("work", { state: second.json.result.requestState }))
      assert.deepStrictEqual(Object.keys(askedBy(third)), ["sure"])
      const last = yield* server.send(callRound("work", { responses, state: third.json.result.requestState }))
      assert.strictEqual(textOf(last), "{\"sure\":true}")
    }))
})

describe("input on every kind", () => {
  const Greeting = Prompt.make("greeting")
  const Manual = Resource.make("docs://manual", { name: "manual" })
  const Page = Resource.template("docs://pages/{page}", { name: "page", params: Schema.Struct({ page: Schema.Int }) })
  const who = Effect.orDie(Effect.map(name(), ({ name }) => name))
  const layer = Layer.mergeAll(
    McpServer.tool(Work, () => Effect.map(who, text)),
    McpServer.prompt(Greeting, () => Effect.map(who, (name) => `Hello, ${name}!`)),
    McpServer.resource(Manual, () => Effect.map(who, (name) => `For ${name}`)),
    McpServer.resourceTemplate(Page, ({ page }) => Effect.map(who, (name) => `Page ${page} for ${name}`))
  )
  const kinds: ReadonlyArray<[string, Record<string, unknown>, string]> = [
    ["tools/call", { name: "work" }, "Ann"],
    ["prompts/get", { name: "greeting" }, "Hello, Ann!"],
    ["resources/read", { uri: "docs://manual" }, "For Ann"],
    ["resources/read", { uri: "docs://pages/3" }, "Page 3 for Ann"]
  ]
  const answers = { name: accept({ name: "Ann" }) }

  it.effect.each(kinds)(
    verifies("MRTR-2", "MRTR-15")("%s %j is asked, and ends with the answer: %s"),
    ([method, params, expected]) =>
      Effect.gen(function*() {
        const server = yield* serve(layer)
        const first = yield* server.send(round(method, params))
        assert.deepStrictEqual(Object.keys(askedBy(first)), ["name"])
        assert.notInclude(first.text, "ttlMs")
        assert.notInclude(first.text, "cacheScope")
        const { asked, last } = yield* play(server.send, (more) => round(method, params, more), answers)
        assert.deepStrictEqual(asked, [["name"]])
        assert.strictEqual(last.json.result.resultType, "complete")
        assert.include(last.text, expected)
      })
  )

  it.effect.each(kinds)(
    "%s %j is asked in the same process",
    ([method, params, expected]) =>
      Effect.gen(function*() {
        const services = yield* endpointOf(layer)
        const transport = InProcess.layer().pipe(Layer.provide(Layer.succeedContext(services)))
        let id = 0
        const exchange = yield* Effect.provide(
          Effect.flatMap(Transport.Transport, (wire) => {
            const send = ({ params }: Message) =>
              Effect.map(
                wire.send({
                  id: ++id,
                  method,
                  params,
                  text: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
                  headers: [],
                  sent: () => {},
                  notify: () => {}
                }),
                ({ response }): Answer => ({
                  status: 200,
                  headers: {},
                  text: JSON.stringify(response),
                  json: response,
                  events: []
                })
              )
            return play(
              (message) => Effect.orDie(send(message)),
              (more) => round(method, params, more),
              answers
            )
          }),
          transport
        )
        assert.deepStrictEqual(exchange.asked, [["name"]])
        assert.include(exchange.last.text, expected)
      })
  )

  it.effect(
    verifies("MRTR-2")("lists, completion and discovery never ask, whatever comes with them"),
    () =>
      Effect.gen(function*() {
        const Topic = Prompt.make("topic", { args: Schema.Struct({ topic: Schema.String }) })
        const server = yield* serve(Layer.merge(
          layer,
          McpServer.prompt(Topic, () => who, {
            complete: { topic: () => Effect.as(Effect.orDie(name("hunter2")), ["x"]) }
          })
        ))
        const methods = ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover"]
        for (const method of methods) {
          const { json } = yield* server.send(round(method, {}, { state: "x", responses: { a: {} } }))
          assert.strictEqual(json.result.resultType, "complete", method)
        }
        assert.deepStrictEqual(server.logs, [])
        const completion = yield* server.send(
          request("completion/complete", {
            ref: { type: "ref/prompt", name: "topic" },
            argument: { name: "topic", value: "" }
          })
        )
        assert.deepStrictEqual([completion.status, completion.json.error.message], [200, "Internal error"])
        assert.notInclude(completion.text, "hunter2")
        assert.include(Cause.pretty(server.logs[0]!.cause), "Input cannot be asked for here")
      })
  )
})

describe("an ask", () => {
  it.effect(
    verifies("MRTR-15")("after progress is the last event of the stream, and ends it"),
    () =>
      Effect.gen(function*() {
        const server = yield* serve(
          asking(Effect.andThen(Invocation.progress({ progress: 1 }), name()))
        )
        const { events, headers, status } = yield* server.send(callRound("work", withToken("t")))
        assert.deepStrictEqual([status, headers["content-type"]], [200, "text/event-stream"])
        assert.deepStrictEqual(events.map(({ method, result }) => method ?? result.resultType), [
          "notifications/progress",
          "input_required"
        ])
      })
  )

  it.effect("after progress that the client cannot answer is an error event", () =>
    Effect.gen(function*() {
      const server = yield* serve(asking(Effect.andThen(Invocation.progress({ progress: 1 }), name())))
      const { events, status } = yield* server.send(callRound("work", { ...withToken("t"), capabilities: {} }))
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(events.at(-1).error.data, { requiredCapabilities: { elicitation: { form: {} } } })
    }))

  it.effect("works where the context function says who asks", () =>
    Effect.gen(function*() {
      const server = yield* serve(
        asking(Effect.all([
          Effect.map(name(), ({ name }) => name),
          Effect.map(Invocation.Invocation, ({ principal }) => principal)
        ])),
        {
          context: ({ header }) => Effect.as(Effect.yieldNow, Context.make(Invocation.Principal, header("x-user")))
        }
      )
      const as = (user: string) => (message: Json.Object) => server.send(message, { headers: { "x-user": user } })
      const { asked, last } = yield* play(as("ann"), (more) => callRound("work", more), {
        name: accept({ name: "Ann" })
      })
      assert.deepStrictEqual([asked, JSON.parse(textOf(last))], [[["name"]], ["Ann", "ann"]])
    }))

  it.effect("carries the name of the server in its metadata, unless that is off", () =>
    Effect.gen(function*() {
      const shown = yield* serve(asking(name()))
      const hidden = yield* serve(asking(name()), { serverInfo: false })
      const key = Revision.meta.serverInfo
      assert.isDefined((yield* shown.send(callRound("work"))).json.result._meta[key])
      assert.isUndefined((yield* hidden.send(callRound("work"))).json.result._meta)
    }))

  it.effect("is an ending of its own to our client", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(asking(name()))
      const client = McpClient.layer({ capabilities: { elicitation: {} } }).pipe(
        Layer.provide(InProcess.layer()),
        Layer.provide(Layer.succeedContext(services))
      )
      const ending = yield* Effect.provide(
        Effect.flatMap(McpClient.McpClient, (client) => client.callResult(Work, {})),
        client
      )
      assert.strictEqual(ending._tag, "InputRequired")
    }))
})

describe("the low-level form", () => {
  const form = {
    method: Revision.inputMethod.elicit,
    params: { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: {} } }
  }

  it.effect("ends the round with its requests; the next one has the answers as they came, and what was kept", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const server = yield* serve(asking(Effect.gen(function*() {
        const responses = yield* Input.responses
        const kept = yield* Input.kept
        seen.push([responses, kept])
        if (responses["a"] === undefined) return yield* Input.require({ a: form, b: form }, { step: 1 })
        return "done"
      })))
      const { asked, last } = yield* play(server.send, (more) => callRound("work", more), {
        a: { action: "whatever", x: [1] }
      })
      assert.deepStrictEqual([asked, textOf(last)], [[["a", "b"]], "done"])
      assert.deepStrictEqual(seen, [[{}, undefined], [{ a: { action: "whatever", x: [1] } }, { step: 1 }]])
    }))

  it.effect("asks for nothing that the client did not declare", () =>
    Effect.gen(function*() {
      const server = yield* serve(asking(Input.require({ a: form, b: { method: "roots/list", params: {} } })))
      const { json, status } = yield* server.send(callRound("work", { capabilities: {} }))
      assert.deepStrictEqual([status, json.error.data], [400, {
        requiredCapabilities: { elicitation: { form: {} }, roots: {} }
      }])
    }))

  it.effect(verifies("MRTR-3", "MRTR-14")("without requests is a round of state alone"), () =>
    Effect.gen(function*() {
      const server = yield* serve(asking(Effect.gen(function*() {
        const kept = ((yield* Input.kept) ?? 0) as number
        return kept < 3 ? yield* Input.require({}, kept + 1) : kept
      })))
      const first = yield* server.send(callRound("work", { capabilities: {} }))
      assert.deepStrictEqual(Object.keys(first.json.result).sort(), ["_meta", "requestState", "resultType"])
      const { asked, last } = yield* play(server.send, (more) => callRound("work", more), {})
      assert.deepStrictEqual([asked, textOf(last)], [[[], [], []], "3"])
    }))

  it.effect("keeps what is any JSON value, null too, and forgets it where nothing is kept", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const values = [null, [1, { a: "x" }], "", false]
      const server = yield* serve(asking(Effect.gen(function*() {
        seen.push(yield* Input.kept)
        if (seen.length <= values.length) return yield* Input.require({}, values[seen.length - 1] as Json.Value)
        if (seen.length === values.length + 1) return yield* Input.require({})
        return "done"
      })))
      yield* play(server.send, (more) => callRound("work", more), {})
      assert.deepStrictEqual(seen, [undefined, ...values, undefined])
    }))

  it.effect("without requests is ended by a step that ran beside it", () =>
    Effect.gen(function*() {
      const slow = Input.step(
        "slow",
        Schema.Number,
        Effect.promise(() => new Promise<number>((resolve) => setTimeout(() => resolve(1), 30)))
      )
      const server = yield* serve(asking(Effect.gen(function*() {
        if ((yield* Input.kept) === true) return yield* slow
        return yield* Effect.all([slow, Input.require({}, true)], { concurrency: 2 })
      })))
      const { asked, last } = yield* play(server.send, (more) => callRound("work", more), {})
      assert.deepStrictEqual([asked, textOf(last)], [[[]], "1"])
    }))

  it.effect("keeps what was kept while other things are asked for", () =>
    Effect.gen(function*() {
      const server = yield* serve(asking(Effect.gen(function*() {
        if ((yield* Input.kept) === undefined) return yield* Input.require({}, "mine")
        yield* name("a")
        yield* name("b")
        return yield* Input.kept
      })))
      const { last } = yield* play(server.send, (more) => callRound("work", more), {
        a: accept({ name: "A" }),
        b: accept({ name: "B" })
      })
      assert.strictEqual(textOf(last), "mine")
    }))
})
