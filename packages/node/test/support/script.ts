/** A server with something of everything, and a script of calls whose outcomes are the same over every transport. */
import { McpClient, type McpClientError } from "@fairlead/client"
import { Call, Content, Prompt, Resource, Revision, Tool, type Transport } from "@fairlead/protocol"
import { Input, Invocation, McpEndpoint, McpServer } from "@fairlead/server"
import { Deferred, Effect, Exit, Fiber, Layer, Redacted, Schema, type Scope, Stream } from "effect"

class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", { seconds: Schema.Int }) {}

const Add = Tool.make("add", {
  input: Schema.Struct({ a: Schema.Int.pipe(Tool.header("A")), b: Schema.Finite, at: Schema.optionalKey(Schema.Date) }),
  output: Schema.Struct({ sum: Schema.Finite, at: Schema.NullOr(Schema.Date) })
})
const Fail = Tool.make("fail", { output: Schema.String, failure: Unavailable })
const Complain = Tool.make("complain", { failure: Schema.String })
const Die = Tool.make("die")
const Nothing = Tool.make("nothing", { output: Schema.Null })
const Report = Tool.make("report", { output: Schema.Int })
const Ask = Tool.make("ask", { output: Schema.String })
const Hang = Tool.make("hang")
const Hanging = Tool.make("hanging", { output: Schema.Boolean })
/** Tells that the manual has changed. */
export const Touch = Tool.make("touch")
const Inspect = Tool.make("inspect", { output: Schema.Array(Schema.NullOr(Schema.String)) })
export const Manual = Resource.make("docs://manual", { name: "manual" })
const Page = Resource.template("docs://pages/{name}", { name: "page" })
const Review = Prompt.make("review", { args: Schema.Struct({ code: Schema.String }) })

const field = (key: string) =>
  Effect.map(
    Input.form(key, { message: `${key}?`, schema: Schema.Struct({ name: Schema.NonEmptyString }) }),
    ({ name }) => name
  )

const registrations = (endpoint: Deferred.Deferred<McpEndpoint.McpEndpoint["Service"]>) =>
  Layer.unwrap(Effect.sync(() => {
    let hanging = 0
    return Layer.mergeAll(
      McpServer.tool(Add, ({ a, at, b }) => Effect.succeed({ sum: a + b, at: at ?? null })),
      McpServer.tool(Fail, () => Effect.fail(new Unavailable({ seconds: 7 }))),
      McpServer.tool(Complain, () => Effect.fail("That is wrong.")),
      McpServer.tool(Die, () => Effect.die("a secret")),
      McpServer.tool(Nothing, () => Effect.succeed(null)),
      McpServer.tool(Report, () =>
        Effect.gen(function*() {
          for (const progress of [1, 2, 3]) {
            yield* Invocation.progress({ progress, total: 3, message: `step ${progress}` })
            yield* Invocation.log("warning", { progress })
          }
          return 3
        })),
      McpServer.tool(Ask, () =>
        Effect.zipWith(field("first"), field("last"), (first, last) => `${first} ${last}`).pipe(
          Effect.catchTag("Declined", () => Effect.succeed("declined")),
          Effect.catchTag("Dismissed", () => Effect.succeed("dismissed"))
        )),
      McpServer.tool(Hang, () =>
        Effect.suspend(() => {
          hanging++
          return Effect.ensuring(Effect.never, Effect.sync(() => hanging--))
        })),
      McpServer.tool(Hanging, () => Effect.sync(() => hanging > 0)),
      McpServer.tool(
        Touch,
        () =>
          Deferred.await(endpoint).pipe(
            Effect.flatMap((endpoint) => endpoint.resourceUpdated(Manual.uri)),
            Effect.as([Content.text("touched")])
          )
      ),
      McpServer.tool(Inspect, () =>
        Effect.map(
          Invocation.Invocation,
          (
            { correlation, idempotencyKey, meta }
          ) => [correlation, idempotencyKey ?? null, String(meta["example.com/a"])]
        )),
      McpServer.resource(Manual, () => Effect.succeed("the manual")),
      McpServer.resourceTemplate(Page, ({ name }) => Effect.succeed(`page ${name}`), {
        complete: { name: (value) => Effect.succeed(["layers", "layout"].filter((name) => name.startsWith(value))) }
      }),
      McpServer.prompt(Review, ({ code }) => Effect.succeed(`Review ${code}`))
    )
  }))

/** The endpoint; the tool that tells of a change needs the endpoint that serves it. */
export const layerScripted = Layer.unwrap(Effect.map(
  Deferred.make<McpEndpoint.McpEndpoint["Service"]>(),
  (endpoint) =>
    Layer.effectDiscard(Effect.flatMap(McpEndpoint.McpEndpoint, (made) => Deferred.succeed(endpoint, made))).pipe(
      Layer.provideMerge(
        McpEndpoint.serve({
          name: "scripted",
          version: "1.0.0",
          instructions: "Follow the script.",
          logging: true,
          pageSize: 4,
          listen: { maxListeners: 2 },
          stateKeys: [Redacted.make(new Uint8Array(32).fill(1))]
        })(registrations(endpoint))
      )
    )
))

/** Texts that are sealed anew each time. */
const sealed = new Set(["state", "requestState", "nextCursor"])
/** What only HTTP knows of an error. */
const onlyHttp = new Set(["status", "retryAfter"])

const plain = (value: unknown): unknown =>
  value === undefined ? "undefined" : JSON.parse(JSON.stringify(value, (key, member: unknown) => {
    if (onlyHttp.has(key)) return undefined
    return sealed.has(key) ? typeof member : member
  }))

const errorOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "reason" in error
    ? (({ code, correlation, evidence, kind, message, reason }: McpClientError.McpClientError) => ({
      code,
      correlation,
      evidence,
      kind,
      message,
      reason: { ...plain(reason) as object }
    }))(error as McpClientError.McpClientError)
    : plain(error)

const outcome = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<unknown, never, R> =>
  Effect.map(Effect.exit(call), (exit) =>
    Exit.isSuccess(exit)
      ? { value: plain(exit.value) }
      : { failed: exit.cause.reasons.map((reason) => reason._tag === "Fail" ? errorOf(reason.error) : reason._tag) })

/** The calls, by what they show. */
const steps = (client: McpClient.Client): { readonly [name: string]: Effect.Effect<unknown, never, Scope.Scope> } => {
  const heard: Array<unknown> = []
  const hangs = (expected: boolean) =>
    client.call(Hanging, {}).pipe(Effect.repeat({ while: (hangs) => hangs !== expected }), Effect.timeout("10 seconds"))
  return {
    "discovery": outcome(client.discover),
    "tools": outcome(client.listTools),
    "a page": outcome(Effect.map(client.listPage("tools"), ({ items }) => items)),
    "a cursor that is none": outcome(client.listPage("tools", "bogus")),
    "resources": outcome(client.listResources),
    "templates": outcome(client.listResourceTemplates),
    "prompts": outcome(client.listPrompts),
    "a raw list": outcome(client.listRaw(Revision.method.listPrompts, "prompts")),
    "a raw call": outcome(client.callRaw(Revision.method.readResource, Manual.uri)),
    "a raw call without its name": outcome(client.callRaw(Revision.method.readResource, undefined)),
    "a raw call of no method": outcome(client.callRaw("example/nothing", undefined)),
    "a typed call": outcome(client.call(Add, { a: 1, b: 0.5, at: new Date(0) })),
    "a result": outcome(client.callResult(Add, { a: -7, b: 2 })),
    "a typed failure": outcome(client.call(Fail, {})),
    "a failure in words": outcome(client.callResult(Complain, {})),
    "a defect": outcome(client.call(Die, {})),
    "null": outcome(client.callDiscovered("nothing", {})),
    "a null with a type": outcome(client.call(Nothing, {})),
    "a discovered call": outcome(client.callDiscovered("add", { a: 3, b: 4 })),
    "arguments of another form": outcome(client.callDiscovered("add", { a: 1, b: "x" })),
    "no such tool": outcome(client.callDiscovered("missing", {})),
    "what a call carries": outcome(
      client.call(Inspect, {}).pipe(Call.withIdempotencyKey("key-1"), Call.withMeta({ "example.com/a": "b" }))
    ),
    "an idempotency key of another form": outcome(client.call(Inspect, {}).pipe(Call.withIdempotencyKey("a b"))),
    "progress and messages": outcome(
      client.call(Report, {}).pipe(
        Call.withProgress((progress) => Effect.sync(() => void heard.push(progress))),
        Call.withLogLevel("info", (message) => Effect.sync(() => void heard.push(message))),
        Effect.map((value) => [value, heard])
      )
    ),
    "a read": outcome(client.readResource(Manual)),
    "a read by template": outcome(client.readResource(Page, { name: "a b/ü" })),
    "no such resource": outcome(client.readResource("docs://missing")),
    "a prompt": outcome(client.getPrompt(Review, { code: "let x" })),
    "a prompt without its arguments": outcome(client.getPrompt("review")),
    "a completion": outcome(client.complete(Page, { argument: "name", value: "lay" })),
    "a completion of nothing": outcome(
      client.complete({ type: "ref/prompt", name: "x" }, { argument: "y", value: "" })
    ),
    "input by hand": outcome(Effect.gen(function*() {
      const first = yield* Effect.flip(client.call(Ask, {}))
      if (first._tag !== "InputRequired") return yield* first
      const second = yield* client.resume(Ask, first.continuation, {
        first: { action: "accept", content: { name: "Ada" } }
      })
      if (second._tag !== "InputRequired") return second
      const third = yield* client.resume(Ask, second.continuation, { last: { action: "decline" } })
      return [first, second, third]
    })),
    "responses that do not fit": outcome(Effect.gen(function*() {
      const first = yield* Effect.flip(client.call(Ask, {}))
      return first._tag === "InputRequired" ? yield* client.resume(Ask, first.continuation, {}) : first
    })),
    "a deadline that has passed": outcome(
      Effect.suspend(() => {
        const late = client.with({ deadline: "1 millis" })
        return Effect.andThen(Effect.sleep("5 millis"), late.call(Nothing, {}))
      })
    ),
    "a timeout, which ends it at the server": outcome(Effect.gen(function*() {
      const error = yield* Effect.flip(client.call(Hang, {}).pipe(Call.withTimeout("500 millis")))
      yield* hangs(false)
      return errorOf(error)
    })),
    "a token, which ends it at the server": outcome(Effect.gen(function*() {
      const token = yield* Call.makeCancellationToken
      const fiber = yield* Effect.forkScoped(Effect.flip(client.call(Hang, {}).pipe(Call.withCancellation(token))))
      yield* hangs(true)
      yield* token.cancel
      const error = yield* Fiber.join(fiber)
      yield* hangs(false)
      return errorOf(error)
    })),
    "an interruption, which ends it at the server": outcome(Effect.gen(function*() {
      const fiber = yield* Effect.forkScoped(client.call(Hang, {}))
      yield* hangs(true)
      yield* Fiber.interrupt(fiber)
      return yield* hangs(false)
    })),
    "listening": outcome(Effect.gen(function*() {
      const subscription = yield* client.listen({ toolsListChanged: true, resourceSubscriptions: [Manual.uri] })
      const nothing = yield* subscription.next("10 millis")
      yield* client.call(Touch, {})
      return [subscription.confirmed, nothing, yield* Stream.runCollect(Stream.take(subscription.stream, 1))]
    })),
    "a call in flight when the client closes": outcome(Effect.gen(function*() {
      const fiber = yield* Effect.forkScoped(Effect.flip(client.call(Hang, {})))
      yield* hangs(true)
      yield* client.close
      return errorOf(yield* Fiber.join(fiber))
    })),
    "a call after that": outcome(client.call(Nothing, {}))
  }
}

/** How a step ended, in a word. */
export const ending = (outcome: unknown): string => {
  const { failed, value } = outcome as { readonly failed?: ReadonlyArray<Ending>; readonly value?: Ending | null }
  const given = failed?.[0] ?? value
  if (Array.isArray(given) || typeof given !== "object" || given === null) return "value"
  return given.code ?? given._tag ?? "value"
}

interface Ending {
  readonly code?: string
  readonly _tag?: string
}

/** What the script gives over a transport, by step. */
export const runScript = (
  transport: Layer.Layer<Transport.Transport, unknown>
): Effect.Effect<{ readonly [name: string]: unknown }, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const services = yield* Layer.build(transport)
    const client = yield* McpClient.make({ inputMethods: ["form"] }).pipe(Effect.provideContext(services))
    const outcomes: Record<string, unknown> = {}
    for (const [name, step] of Object.entries(steps(client.with({ correlation: "script" })))) {
      outcomes[name] = yield* Effect.scoped(step)
    }
    return outcomes
  })
