import { assert, describe, it } from "@effect/vitest"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, Content, Frames, Revision, Tool } from "@fairlead/protocol"
import { type Front, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Net from "node:net"
import { collectLogs, endpointOf, makeGate, turns, until } from "./support/serve.ts"
import { call, headersOf, type Message, request, withToken } from "./support/wire.ts"

const { codes, notification } = Revision
const Slow = Tool.make("slow")

/** A channel of our own. */
const connect = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Partial<McpEndpoint.Options> = {}) =>
  Effect.gen(function*() {
    const services = yield* endpointOf(registrations, options)
    const sent: Array<string> = []
    const resumes: Array<() => void> = []
    const peer = { reads: true, onMessage: (_: string) => {} }
    const channel = Context.get(services, McpEndpoint.McpEndpoint).connect({
      transport: "pigeon",
      send: (message) => {
        sent.push(message)
        peer.onMessage(message)
        return peer.reads
      },
      onDrain: (resume) => resumes.push(resume),
      services: undefined
    })
    const receive = (message: Message | string | object) =>
      channel.receive(typeof message === "string" ? message : JSON.stringify(message))
    return { channel, peer, receive, resumes, sent, messages: () => sent.map((text) => JSON.parse(text)) }
  })

const cancel = (requestId: unknown) => ({ jsonrpc: "2.0", method: notification.cancelled, params: { requestId } })

describe("a channel", () => {
  it.effect(
    verifies("BASE-2@server", "BASE-6", "BASE-18@server", "PAT-2@server")("answers each message with one message"),
    () =>
      Effect.gen(function*() {
        const { messages, receive } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([Content.text("done")])))
        receive(request("server/discover", {}, { id: "a" }))
        receive(call("slow", {}, { id: 2 }))
        receive(call("nobody", {}, { id: 3 }))
        receive("{")
        receive("[]")
        receive({ jsonrpc: "1.0", id: 9, method: "tools/list" })
        receive({ jsonrpc: "2.0", id: null, method: "tools/list" })
        assert.deepStrictEqual(messages().map(({ error, id }) => [id, error?.code]), [
          ["a", undefined],
          [2, undefined],
          [3, codes.invalidParams],
          [undefined, codes.parseError],
          [undefined, codes.invalidRequest],
          [9, codes.invalidRequest],
          [undefined, codes.invalidRequest]
        ])
      })
  )

  it.effect(
    verifies("BASE-17@server", "BASE-3@server")("answers neither notifications nor responses"),
    () =>
      Effect.gen(function*() {
        const { receive, sent } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([])))
        receive({ jsonrpc: "2.0", method: "notifications/whatever" })
        receive({ jsonrpc: "2.0", method: "tools/list" })
        receive({ jsonrpc: "2.0", id: 1, result: {} })
        receive({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } })
        assert.deepStrictEqual(sent, [])
      })
  )

  it.effect(
    verifies("META-8", "VER-2", "VER-10", "TR-3")("makes the checks of the message that HTTP makes"),
    () =>
      Effect.gen(function*() {
        const { messages, receive } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([])))
        receive({ jsonrpc: "2.0", id: 1, method: "tools/list" })
        receive(request("tools/list", {}, { id: 2, meta: { [Revision.meta.protocolVersion]: "1" } }))
        receive({ jsonrpc: "2.0", id: 3, method: "initialize", params: { protocolVersion: "1" } })
        receive(request("unknown", {}, { id: 4 }))
        const supported = [Revision.latest.version]
        assert.deepStrictEqual(messages().map(({ error, id }) => [id, error.code, error.data]), [
          [1, codes.invalidParams, undefined],
          [2, codes.unsupportedProtocolVersion, { supported, requested: "1" }],
          [3, codes.unsupportedProtocolVersion, { supported, requested: "1" }],
          [4, codes.methodNotFound, undefined]
        ])
      })
  )

  it.live(
    verifies("STDIO-10")("serves any stream of bytes with the frames of stdio, such as a TCP connection"),
    () =>
      Effect.gen(function*() {
        const services = yield* endpointOf(McpServer.tool(Slow, () => Effect.succeed([Content.text("done")])))
        const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
        const server = Net.createServer((socket) => {
          const channel = endpoint.connect({
            transport: "tcp",
            send: (message) => socket.write(`${message}\n`),
            onDrain: (resume) => socket.once("drain", resume),
            services: undefined
          })
          const splitter = Frames.makeSplitter({
            frame: channel.receive,
            oversize: () => channel.reject("too large"),
            malformed: () => channel.reject("not UTF-8")
          }, 10_000)
          socket.on("data", (bytes) => splitter.feed(bytes))
          socket.on("close", channel.closeUnsafe)
        })
        yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
        const text = yield* Effect.promise(async () => {
          await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
          const socket = Net.connect((server.address() as Net.AddressInfo).port, "127.0.0.1")
          socket.write(`{\n${JSON.stringify(call("slow", {}, { id: "é" }))}\r\n`)
          let text = ""
          for await (const chunk of socket.iterator({ destroyOnReturn: true })) {
            text += String(chunk)
            if (text.split("\n").length > 2) break
          }
          return text
        })
        assert.deepStrictEqual(
          text.trimEnd().split("\n").map((line) => JSON.parse(line)).map(({ error, id }) => [id, error?.code]),
          [[undefined, codes.parseError], ["é", undefined]]
        )
      })
  )

  it.effect("refuses an id that is in flight, and the request that has it goes on", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { messages, receive, sent } = yield* connect(
        McpServer.tool(Slow, () => Effect.as(gate.run, [Content.text("done")]))
      )
      receive(call("slow", {}, { id: 1 }))
      receive(call("slow", {}, { id: 1 }))
      receive(call("slow", {}, { id: "1" }))
      assert.deepStrictEqual(messages().map(({ error, id }) => [id, error.code]), [[1, codes.invalidRequest]])
      assert.strictEqual(gate.starts(), 2)
      yield* gate.release
      yield* until(() => sent.length === 3)
      assert.deepStrictEqual(messages().slice(1).map(({ id }) => id), [1, "1"])
      // The id is free again.
      receive(call("slow", {}, { id: 1 }))
      yield* until(() => sent.length === 4)
      assert.isDefined(messages()[3].result)
    }))

  it.effect(
    verifies("CAN-4", "CAN-5")("a cancelled request is interrupted and gets no answer"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const other = makeGate()
        const layer = McpServer.tool(
          Tool.make("slow", { input: Schema.Struct({ other: Schema.optionalKey(Schema.Boolean) }) }),
          (input) => Effect.as(input.other === true ? other.run : gate.run, [])
        )
        const { messages, receive, sent } = yield* connect(layer, { maxConcurrentRequests: 2 })
        receive(call("slow", {}, { id: 1 }))
        receive(call("slow", { other: true }, { id: "1" }))
        for (const id of ["2", 2, null, 1.5, {}, undefined]) receive(cancel(id))
        receive({ jsonrpc: "2.0", method: notification.cancelled })
        assert.deepStrictEqual([gate.ends(), other.ends()], [0, 0])
        receive(cancel(1))
        assert.isTrue(Exit.hasInterrupts(yield* gate.ended))
        assert.strictEqual(other.ends(), 0)
        // Twice is harmless, and the id may be used again.
        receive(cancel(1))
        receive(request("tools/list", {}, { id: 1 }))
        yield* other.release
        yield* until(() => sent.length === 2)
        assert.deepStrictEqual(messages().map(({ id }) => id), [1, "1"])
      })
  )

  it.effect(
    verifies("CAN-6@server")("a cancellation that crosses the answer changes nothing: neither for it nor for the next"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const layer = McpServer.tool(
          Tool.make("slow", { input: Schema.Struct({ waits: Schema.Boolean }) }),
          ({ waits }) => Effect.as(waits ? gate.run : Effect.void, [Content.text("done")])
        )
        const { messages, peer, receive, sent } = yield* connect(layer)
        // The client cancels while the answer is being written, and again when it has it.
        peer.onMessage = () => receive(cancel(1))
        receive(call("slow", { waits: false }, { id: 1 }))
        peer.onMessage = () => {}
        receive(cancel(1))
        assert.deepStrictEqual(messages().map(({ id, result }) => [id, result.content[0].text]), [[1, "done"]])
        // The same, where the answer and the cancellation come from different turns.
        receive(call("slow", { waits: true }, { id: 1 }))
        yield* gate.started
        yield* Effect.all([gate.release, Effect.sync(() => receive(cancel(1)))], { concurrency: "unbounded" })
        yield* gate.ended
        yield* turns()
        const before = sent.length
        assert.isAtMost(before, 2)
        receive(call("slow", { waits: false }, { id: 1 }))
        assert.strictEqual(messages()[before].result.content[0].text, "done")
      })
  )

  it.effect(
    verifies("CAN-8@server")("the reason of a cancellation is logged, at most 200 characters of it"),
    () =>
      Effect.gen(function*() {
        const { layer, logs } = collectLogs()
        yield* Effect.gen(function*() {
          const gate = makeGate()
          const { receive } = yield* connect(McpServer.tool(Slow, () => Effect.as(gate.run, [])), { label: "here" })
          const reasons = ["The user changed their mind", "x".repeat(10_000), undefined, 7]
          for (const [id, reason] of reasons.entries()) {
            receive(call("slow", {}, { id, meta: { [Call.metaKeys.correlation]: `c-${id}` } }))
            receive({ jsonrpc: "2.0", method: notification.cancelled, params: { requestId: id, reason } })
          }
          // What is not running has nothing to log.
          receive({ jsonrpc: "2.0", method: notification.cancelled, params: { requestId: 99, reason: "late" } })
        }).pipe(Effect.provide(layer), Effect.provideService(References.MinimumLogLevel, "Debug"))
        const common = { method: "tools/call", endpoint: "here" }
        assert.deepStrictEqual(
          logs.map(({ annotations, level, text }) => ({ annotations, level, text })),
          [
            { reason: "The user changed their mind" },
            { reason: "x".repeat(200) },
            {},
            {}
          ].map((reason, id) => ({
            annotations: { correlation: `c-${id}`, ...common, ...reason },
            level: "Debug",
            text: "A request was cancelled by its client"
          }))
        )
      })
  )

  it.effect("a late end of a cancelled request says nothing to the one that has its id now", () =>
    Effect.gen(function*() {
      const gates = [makeGate(), makeGate()]
      const waiting = [...gates]
      const { messages, receive, sent } = yield* connect(
        McpServer.tool(
          Slow,
          () => Effect.as(Effect.uninterruptible(waiting.shift()!.run), [Content.text(String(waiting.length))])
        )
      )
      receive(call("slow", {}, { id: 1 }))
      receive(cancel(1))
      receive(call("slow", {}, { id: 1 }))
      yield* gates[0]!.release
      yield* until(() => gates[0]!.ends() === 1)
      yield* turns()
      assert.deepStrictEqual(sent, [])
      // It is still in flight.
      receive(call("slow", {}, { id: 1 }))
      assert.strictEqual(messages()[0].error.code, codes.invalidRequest)
      yield* gates[1]!.release
      yield* until(() => sent.length === 2)
      assert.isDefined(messages()[1].result)
    }))

  it.effect("a peer that cancels upon the first report, in the same turn, is heard", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<Exit.Exit<unknown, unknown>>()
      const layer = McpServer.tool(Slow, () =>
        Invocation.progress({ progress: 1 }).pipe(
          Effect.andThen(Effect.never),
          Effect.onExit((exit) => Deferred.succeed(ended, exit))
        ))
      const { peer, receive, sent } = yield* connect(layer)
      peer.onMessage = () => receive(cancel(7))
      receive(call("slow", {}, { id: 7, ...withToken("t") }))
      assert.isTrue(Exit.hasInterrupts(yield* Deferred.await(ended)))
      assert.strictEqual(sent.length, 1)
    }))

  it.effect("a handler waits while the peer does not read", () =>
    Effect.gen(function*() {
      const reported: Array<number> = []
      const layer = McpServer.tool(Slow, () =>
        Effect.forEach([1, 2, 3], (progress) =>
          Effect.tap(Invocation.progress({ progress }), () =>
            Effect.sync(() => reported.push(progress)))).pipe(Effect.as([])))
      const { peer, receive, resumes, sent } = yield* connect(layer)
      peer.reads = false
      receive(call("slow", {}, withToken("t")))
      yield* turns()
      assert.deepStrictEqual([reported, sent.length, resumes.length], [[], 1, 1])
      peer.reads = true
      resumes.shift()!()
      yield* until(() =>
        sent.length === 4
      )
      assert.deepStrictEqual(reported, [1, 2, 3])
    }))

  it.effect("a request beyond the slots is answered, with its id", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { messages, receive, sent } = yield* connect(McpServer.tool(Slow, () => Effect.as(gate.run, [])), {
        maxConcurrentRequests: 1
      })
      receive(call("slow", {}, { id: 1 }))
      receive(call("slow", {}, { id: 2 }))
      const [answer] = messages()
      assert.deepStrictEqual([answer.id, answer.error.code], [2, codes.internalError])
      yield* gate.release
      yield* until(() => sent.length === 2)
      receive(call("slow", {}, { id: 2 }))
      yield* until(() => sent.length === 3)
      assert.isDefined(messages()[2].result)
    }))

  it.effect("the deadline answers at once, while the handler has its grace", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const { messages, receive, sent } = yield* connect(
        McpServer.tool(Slow, () => Effect.as(Effect.uninterruptible(gate.run), []))
      )
      receive(call("slow", {}, { id: "a" }))
      yield* TestClock.adjust("30 seconds")
      yield* until(() => sent.length === 1)
      assert.deepStrictEqual([messages()[0].id, messages()[0].error.code], ["a", codes.internalError])
      assert.strictEqual(gate.ends(), 0)
      yield* gate.release
      yield* until(() => gate.ends() === 1)
      yield* turns()
      assert.strictEqual(sent.length, 1)
    }))

  it.effect(
    verifies("CAN-4")("a peer that goes away ends its requests; nothing is written or read any more"),
    () =>
      Effect.gen(function*() {
        const gate = makeGate()
        const { channel, receive, sent } = yield* connect(McpServer.tool(Slow, () => Effect.as(gate.run, [])))
        receive(call("slow", {}, { id: 1 }))
        receive(call("slow", {}, { id: 2 }))
        channel.closeUnsafe()
        yield* until(() => gate.ends() === 2)
        channel.closeUnsafe()
        channel.reject("too late")
        receive(call("slow", {}, { id: 3 }))
        yield* turns()
        assert.deepStrictEqual([sent, gate.starts()], [[], 2])
      })
  )

  it.effect("what was no message at all is answered without an id", () =>
    Effect.gen(function*() {
      const { channel, messages } = yield* connect(McpServer.tool(Slow, () => Effect.succeed([])))
      channel.reject("The line is too long")
      assert.deepStrictEqual(messages(), [
        { jsonrpc: "2.0", error: { code: codes.invalidRequest, message: "The line is too long" } }
      ])
    }))

  it.effect("there are no headers to check", () =>
    Effect.gen(function*() {
      const Param = Tool.make("param", { input: Schema.Struct({ region: Tool.header("Region")(Schema.String) }) })
      const { messages, receive } = yield* connect(McpServer.tool(Param, () => Effect.succeed([])))
      receive(call("param", { region: "eu" }))
      assert.isDefined(messages()[0].result)
    }))
})

describe("an HTTP front of one's own", () => {
  const head = (message: Message, over: Record<string, string> = {}): Front.HttpRequest => {
    const headers: Record<string, string> = { host: "localhost", ...headersOf(message), ...over }
    return { method: "POST", url: "/", header: (name) => headers[name] }
  }

  const admit = (endpoint: McpEndpoint.McpEndpoint["Service"], message: Message) => {
    const admission = endpoint.http(head(message))
    assert(admission._tag === "Read")
    return (body: Uint8Array, responder: Front.HttpResponder) => admission.serve(body, responder)
  }

  const bytes = (message: Message) => new TextEncoder().encode(JSON.stringify(message))

  const recorder = () => {
    const log: Array<string> = []
    const responder: Front.HttpResponder = {
      respond: (status) => log.push(`respond ${status}`),
      open: (status) => log.push(`open ${status}`),
      write: (chunk) => {
        log.push(`write ${chunk.split("\n\n").length - 1}`)
        return true
      },
      onDrain: () => log.push("onDrain"),
      abort: () => log.push("abort"),
      end: (chunk) => log.push(`end ${chunk.split("\n\n").length - 1}`)
    }
    return { log, responder }
  }

  it.effect("a refusal is known by the head alone", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(McpServer.tool(Slow, () => Effect.succeed([])))
      const admission = Context.get(services, McpEndpoint.McpEndpoint).http(
        head(call("slow"), { host: "evil.example" })
      )
      assert.strictEqual(admission._tag, "Refuse")
      assert.strictEqual((admission as Front.HttpRefusal).status, 403)
    }))

  it.effect("is answered once: whole, or opened, written and ended", () =>
    Effect.gen(function*() {
      const layer = McpServer.tool(Slow, () =>
        Effect.forEach([1, 2, 3], (progress) => Invocation.progress({ progress })).pipe(Effect.as([])))
      const services = yield* endpointOf(layer)
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const whole = recorder()
      admit(endpoint, call("slow"))(bytes(call("slow")), whole.responder)
      assert.deepStrictEqual(whole.log, ["respond 200"])
      const stream = recorder()
      const message = call("slow", {}, withToken("t"))
      admit(endpoint, message)(bytes(message), stream.responder)
      // All of one turn: the reports leave with the answer.
      assert.deepStrictEqual(stream.log, ["open 200", "end 4"])
    }))

  it.effect("nothing is called after a disconnect", () =>
    Effect.gen(function*() {
      const gate = makeGate()
      const layer = McpServer.tool(Slow, () =>
        Invocation.progress({ progress: 1 }).pipe(
          Effect.andThen(Effect.uninterruptible(gate.run)),
          Effect.andThen(Invocation.progress({ progress: 2 })),
          Effect.as([])
        ))
      const services = yield* endpointOf(layer)
      const message = call("slow", {}, withToken("t"))
      const { log, responder } = recorder()
      const serve = admit(Context.get(services, McpEndpoint.McpEndpoint), message)
      const exchange = serve(bytes(message), responder)
      yield* until(() => log.length === 2)
      exchange.disconnect()
      exchange.disconnect()
      yield* gate.release
      yield* until(() => gate.ends() === 1)
      yield* turns()
      assert.deepStrictEqual(log, ["open 200", "write 1"])
    }))

  it.effect("one that throws costs no slot", () =>
    Effect.gen(function*() {
      const services = yield* endpointOf(McpServer.tool(Slow, () => Effect.succeed([])), { maxConcurrentRequests: 1 })
      const endpoint = Context.get(services, McpEndpoint.McpEndpoint)
      const { responder } = recorder()
      const broken = {
        ...responder,
        respond: () => {
          throw new Error("broken front")
        }
      }
      for (const message of [call("slow"), request("other"), call("nobody")]) {
        assert.throws(() => admit(endpoint, message)(bytes(message), broken), "broken front")
        const { log, responder } = recorder()
        admit(endpoint, call("slow"))(bytes(call("slow")), responder)
        assert.deepStrictEqual(log, ["respond 200"])
      }
    }))
})
