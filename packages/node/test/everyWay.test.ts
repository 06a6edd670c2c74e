/**
 * A whole server in a child process, over a real HTTP listener and over real standard streams.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { type Json, Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Peer, peer, type Received, ways } from "./support/everyWay.ts"

const { codes, meta, notification } = Revision

const elicits = { [meta.clientCapabilities]: { elicitation: {} } }
const accept = (name: string) => ({ action: "accept", content: { name } })

const call = (name: string, args: Json.Object = {}, more: Json.Object = {}) => ({
  method: "tools/call",
  params: { name, arguments: args, ...more },
  meta: elicits
})

const last = (messages: ReadonlyArray<Received>): Received => messages.at(-1)

const ask = (server: Peer, what: Parameters<Peer["send"]>[0]) => Effect.map(server.send(what), last)

const textOf = ({ result }: Received): string => result.content[0].text

const whole = (way: (typeof ways)[number], key = 1) => peer(way, "wholeServer", [String(key)])

const promptsAt = (server: Peer, cursor?: string) =>
  Effect.map(
    ask(server, { method: "prompts/list", params: cursor === undefined ? {} : { cursor } }),
    ({ error, result }) => ({
      code: error?.code,
      names: result?.prompts.map(({ name }: { readonly name: string }) => name),
      next: result?.nextCursor as string | undefined
    })
  )

describe.each(ways)("a whole server over %s", (way) => {
  const scope = Scope.makeUnsafe()
  let server: Peer
  beforeAll(
    () =>
      Effect.runPromise(Effect.map(Scope.provide(whole(way), scope), (started) => {
        server = started
      })),
    30_000
  )
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  it.live(
    verifies("PAGE-1", "PAGE-3", "STATE-5@server")("lists in pages; a cursor is outdated when its list changes"),
    () =>
      Effect.gen(function*() {
        const first = yield* promptsAt(server)
        const second = yield* promptsAt(server, first.next)
        const third = yield* promptsAt(server, second.next)
        assert.deepStrictEqual([first.names, second.names, third.names, third.next], [
          ["p0", "p1", "p2"],
          ["p3", "p4", "p5"],
          ["p6"],
          undefined
        ])
        yield* ask(server, call("change", { name: "p00", comes: true }))
        assert.strictEqual((yield* promptsAt(server, first.next)).code, codes.invalidParams)
        assert.strictEqual((yield* promptsAt(server, "forged")).code, codes.invalidParams)
        const again = yield* promptsAt(server)
        assert.deepStrictEqual(again.names, ["p0", "p00", "p1"])
        assert.deepStrictEqual((yield* promptsAt(server, again.next)).names, ["p2", "p3", "p4"])
        // Another list does not matter.
        const { result } = yield* ask(server, { method: "tools/list" })
        yield* ask(server, call("change", { name: "p00", comes: false }))
        const more = yield* ask(server, { method: "tools/list", params: { cursor: result.nextCursor } })
        assert.isDefined(more.result)
      })
  )

  it.live(
    verifies("SUB-2", "SUB-3", "SUB-5", "SUB-13", "RES-9", "PROMPT-8")(
      "tells listeners of each change once and of no failure, of watched resources alone, until they go"
    ),
    () =>
      Effect.gen(function*() {
        const filter = { promptsListChanged: true, resourceSubscriptions: ["docs://manual"] }
        const listening = yield* server.open({
          method: "subscriptions/listen",
          params: { notifications: filter },
          id: "listen"
        })
        yield* listening.until(() => listening.messages().length === 1)
        yield* ask(server, call("change", { name: "new", comes: true }))
        assert.strictEqual(textOf(yield* ask(server, call("change", { name: "new", comes: true }))), "Failure")
        yield* ask(server, call("touch", { uri: "docs://other" }))
        yield* ask(server, call("touch", { uri: "docs://manual" }))
        assert.strictEqual(textOf(yield* ask(server, call("change", { name: "new", comes: false }))), "true")
        assert.strictEqual(textOf(yield* ask(server, call("change", { name: "new", comes: false }))), "false")
        yield* listening.until(() => listening.messages().length === 4)
        assert.deepStrictEqual(
          listening.messages().map(({ method, params }) => [method, params._meta[meta.subscriptionId], params.uri]),
          [
            [notification.acknowledged, "listen", undefined],
            [notification.promptsListChanged, "listen", undefined],
            [notification.resourceUpdated, "listen", "docs://manual"],
            [notification.promptsListChanged, "listen", undefined]
          ]
        )
        listening.cancel()
        yield* ask(server, call("change", { name: "new", comes: true }))
        yield* ask(server, call("touch", { uri: "docs://manual" }))
        assert.lengthOf(listening.messages(), 4)
        yield* ask(server, call("change", { name: "new", comes: false }))
      })
  )

  it.live(
    verifies("MRTR-2", "RES-4")("reads a resource in rounds, and completes the parameters of its template"),
    () =>
      Effect.gen(function*() {
        const read = (more: Json.Object = {}) =>
          ask(server, { method: "resources/read", params: { uri: "docs://pages/7", ...more }, meta: elicits })
        const { requestState } = (yield* read()).result
        const { result } = yield* read({ requestState, inputResponses: { reader: accept("Ada") } })
        assert.deepStrictEqual(result.contents, [{ uri: "docs://pages/7", text: "Page 7 for Ada" }])
        const completion = (value: string) =>
          ask(server, {
            method: "completion/complete",
            params: { ref: { type: "ref/resource", uri: "docs://pages/{page}" }, argument: { name: "page", value } }
          })
        assert.deepStrictEqual((yield* completion("14")).result.completion.values, [
          "14",
          ...Array.from({ length: 10 }, (_, i) => String(140 + i))
        ])
        const all = (yield* completion("")).result.completion
        assert.deepStrictEqual([all.values.length, all.total, all.hasMore], [100, 150, true])
      })
  )

  it.live(
    verifies("TOOL-11", "CACHE-8")("hides what the caller may not see, to the byte, and runs nothing of it"),
    () =>
      Effect.gen(function*() {
        const of = (name: string) =>
          Effect.map(ask(server, { ...call(name), id: "same" }), (answer) => JSON.stringify(answer))
        assert.strictEqual(yield* of("hidden"), yield* of("nobody"))
        let cursor: string | undefined
        const names: Array<string> = []
        do {
          const { result } = yield* ask(server, {
            method: "tools/list",
            params: cursor === undefined ? {} : { cursor }
          })
          names.push(...result.tools.map(({ name }: { readonly name: string }) => name))
          cursor = result.nextCursor
        } while (cursor !== undefined)
        assert.deepStrictEqual(names, ["ask", "ask2", "change", "nothing", "report", "touch", "value"])
        assert.notInclude(server.stderr(), "hidden ran")
      })
  )

  it.live(
    verifies("TOOL-8", "BASE-6")("keeps null, absence and every digit of structured output apart"),
    () =>
      Effect.gen(function*() {
        for (const value of [null, 0, "", false, [], {}, [null], "null"]) {
          const { result } = yield* ask(server, call("value", { value }))
          assert.deepStrictEqual([result.structuredContent, textOf({ result })], [value, JSON.stringify(value)])
        }
        assert.notProperty((yield* ask(server, call("nothing"))).result, "structuredContent")
      })
  )

  it.live(
    verifies("BASE-6", "BASE-11", "BASE-20")(
      "answers ids of any legal form with their type and digits, and what is no message"
    ),
    () =>
      Effect.gen(function*() {
        for (const id of ["0", "-1", "\"\"", "\"1\"", "1", "9007199254740993", "\"é\""]) {
          const body = TestRequest.make("tools/list", {}, { id: 424_242 }).body.replace("424242", id)
          const { id: _, ...answer } = yield* server.raw(body)
          assert.isDefined(answer.result, id)
          assert.deepStrictEqual(_, JSON.parse(id))
        }
        for (
          const [text, code] of [
            ["{", codes.parseError],
            ["[]", codes.invalidRequest],
            ["5", codes.invalidRequest],
            ["{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/list\"}", codes.invalidRequest],
            ["{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"tools/list\"}", codes.invalidRequest]
          ] as const
        ) {
          const answer = yield* server.raw(text)
          assert.deepStrictEqual([answer.error.code, "id" in answer], [code, false], text)
        }
      })
  )

  it.live(
    verifies("PROG-3", "PROG-4", "CAN-4")(
      "reports progress that grows, before the answer; after a cancellation nothing"
    ),
    () =>
      Effect.gen(function*() {
        const withToken = { ...elicits, [meta.progressToken]: "t" }
        const report = (waits: boolean) => ({ ...call("report", { waits }), meta: withToken, id: "t" })
        const done = yield* server.send(report(false))
        assert.deepStrictEqual(
          done.map(({ method, params, result }) => method === undefined ? result.resultType : params.progress),
          [1, 2, 3, "complete"]
        )
        const waiting = yield* server.open(report(true))
        yield* waiting.until(() => waiting.messages().length === 3)
        waiting.cancel()
        yield* server.untilStderr("report interrupted", 0)
        yield* Effect.sleep(50)
        assert.lengthOf(waiting.messages(), 3)
        // The id is free again.
        assert.strictEqual(last(yield* server.send(report(false))).id, "t")
      })
  )

  it.live(
    verifies("MRTR-6", "MRTR-7", "MRTR-9", "MRTR-14")(
      "refuses state that was altered, is of another tool, other arguments or another key; a replica opens it"
    ),
    () =>
      Effect.gen(function*() {
        const replica = yield* whole(way)
        const stranger = yield* whole(way, 2)
        const args = { how: "parallel" }
        const { requestState } = (yield* ask(server, call("ask", args))).result
        const again = (to: Peer, name: string, args: Json.Object, requestState: Json.Value) =>
          ask(to, call(name, args, { requestState, inputResponses: { a: accept("A"), b: accept("B") } }))
        const at = Math.floor(requestState.length / 2)
        const flipped = requestState.slice(0, at) + (requestState[at] === "A" ? "B" : "A") + requestState.slice(at + 1)
        for (
          const refused of [
            again(server, "ask", args, flipped),
            again(server, "ask", args, requestState.slice(1)),
            again(server, "ask2", args, requestState),
            again(server, "ask", { ...args, other: "x" }, requestState),
            again(server, "ask", { how: "catch" }, requestState),
            again(stranger, "ask", args, requestState)
          ]
        ) assert.strictEqual((yield* refused).error?.code, codes.invalidParams)
        assert.strictEqual(textOf(yield* again(replica, "ask", args, requestState)), "A and B")
      })
  )

  it.live.each<readonly [how: string, keys: ReadonlyArray<ReadonlyArray<string>>, text: string, said: string]>([
    ["catch", [["a"]], "A", ""],
    ["ensuring", [["a"]], "A", "ensured\nensured\n"],
    ["timeout", [["a"]], "A", ""],
    ["race", [["a"]], "A", ""],
    ["parallel", [["a", "b"]], "A and B", ""],
    ["uninterruptible", [["a"]], "A", ""],
    // It runs where the generator goes on, and not where the round ends.
    ["generator", [["a"]], "A", "finally\n"],
    ["steps", [["a"], ["b"]], "A, B, 7", "made\n"]
  ])(
    verifies("TOOL-10")("asks in the middle of the code of a user: %s"),
    ([how, keys, text, said]) =>
      Effect.gen(function*() {
        const before = server.stderr().length
        const asked: Array<ReadonlyArray<string>> = []
        const answers: Json.Object = { a: accept("A"), b: accept("B") }
        let answer = yield* ask(server, call("ask", { how }))
        while (answer.result?.resultType === Revision.resultType.inputRequired) {
          const requested = Object.keys(answer.result.inputRequests)
          asked.push(requested)
          const inputResponses = Object.fromEntries(requested.map((key) => [key, answers[key]!]))
          const { requestState } = answer.result
          answer = yield* ask(server, call("ask", { how }, { inputResponses, requestState }))
        }
        assert.deepStrictEqual(asked, keys)
        assert.strictEqual(textOf(answer), text)
        // The standard error has a way of its own: what was said before this has arrived with it.
        yield* ask(server, call("nothing"))
        yield* server.untilStderr("nothing ran", before)
        const told = server.stderr().slice(before).split("\n").filter((line) =>
          ["ensured", "finally", "made"].includes(line)
        )
        assert.strictEqual(told.map((line) => `${line}\n`).join(""), said)
      })
  )
})
