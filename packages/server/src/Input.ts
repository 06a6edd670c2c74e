/**
 * Asks the client for input in the middle of a request, in straight-line code: a form, a visit to a URL, a sample of a
 * language model, the roots of the file system. For tools, prompts and reads of resources.
 *
 * The protocol is stateless, so a handler that asks is ended, and runs again from its top when the client answers. What
 * was answered and what {@link step} recorded come back sealed with the request, so any replica with the same keys can go
 * on. The rules that follow from it:
 *
 * 1. Finalizers run in each round: roll back on failure, not on interruption; {@link isSuspension} tells.
 * 2. Code outside of {@link step} runs in each round. Only successes of steps are kept.
 * 3. Keys have to be the same in each round. After 10 rounds the request fails with an error that names what it asks for.
 * 4. A key stands for one request: asking for another under the same key dies. When it asks for another than in the round
 *    before, the answer from there does not count, and it is asked for again: take what a question shows from a step.
 * 5. Nothing in the handler can catch the end of a round: what an uninterruptible region still does is not seen.
 * 6. A generator's `finally` does not run when a round ends; `Effect.ensuring` does.
 *
 * | bound | value | beyond |
 * | --- | --- | --- |
 * | rounds | 10 | -32603 that names the keys |
 * | state | 16 KiB, sealed | -32603 |
 * | time between rounds | 10 minutes | -32602 |
 *
 * @since 0.1.0
 */
import * as InputRequest from "@fairlead/protocol/InputRequest"
import type * as Json from "@fairlead/protocol/Json"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { deprecated } from "./internal/deprecated.ts"
import { InterruptedBy } from "./internal/interruption.ts"
import { InvalidOutput } from "./internal/invalidOutput.ts"
import { describe } from "./internal/issues.ts"
import { Invocation } from "./Invocation.ts"

/**
 * The user said no.
 *
 * @category errors
 * @since 0.1.0
 */
export class Declined extends Data.TaggedError("Declined")<{
  readonly key: string
}> {
  override get message(): string {
    return `The input ${this.key} was declined`
  }
}

/**
 * The user closed the question without an answer.
 *
 * @category errors
 * @since 0.1.0
 */
export class Dismissed extends Data.TaggedError("Dismissed")<{
  readonly key: string
}> {
  override get message(): string {
    return `The input ${this.key} was dismissed`
  }
}

/**
 * Asks the user to fill in a form. The schema is flat: texts, numbers, booleans and choices; one that no form can express
 * dies with `InputRequest.InvalidForm`. An answer that does not fit the schema is asked for again. Never ask for secrets
 * this way: send the user to a URL (spec: client/elicitation).
 *
 * Fails with {@link Declined} or {@link Dismissed}. A client that has not declared form elicitation gets -32021.
 *
 * **Example** (A confirmation)
 *
 * ```ts
 * import { Content, Tool } from "@fairlead/protocol"
 * import { Input, McpServer } from "@fairlead/server"
 * import { Effect, Schema } from "effect"
 *
 * const Deploy = Tool.make("deploy", { description: "Deploys to production." })
 *
 * export const layer = McpServer.tool(Deploy, () =>
 *   Effect.gen(function*() {
 *     const { sure } = yield* Input.form("confirm", {
 *       message: "Deploy to production?",
 *       schema: Schema.Struct({ sure: Schema.Boolean })
 *     })
 *     return [Content.text(sure ? "Deployed." : "Left as it is.")]
 *   }).pipe(Effect.catchTags({
 *     Declined: () => Effect.succeed([Content.text("Declined.")]),
 *     Dismissed: () => Effect.succeed([Content.text("Dismissed.")])
 *   })))
 * ```
 *
 * @category asking
 * @since 0.1.0
 */
export const form = <S extends Schema.Top>(key: string, options: {
  readonly message: string
  readonly schema: S
}): Effect.Effect<S["Type"], Declined | Dismissed, Invocation | S["DecodingServices"]> =>
  Effect.gen(function*() {
    const made = formOf(options.schema)
    if (Result.isFailure(made)) return yield* Effect.die(made.failure)
    const { codec, requestedSchema } = made.success
    const request = InputRequest.form(options.message, requestedSchema)
    const { input } = yield* Invocation
    const answer = yield* elicited(key, request)
    return yield* Effect.catch(
      SchemaParser.decodeUnknownEffect(codec)(answer["content"] ?? {}),
      (issue) => Effect.andThen(unfit(key, issue), input.askAgain(key, request))
    )
  })

/**
 * Asks the user to visit a URL, for what must not pass through the client. The answer says that the user agreed to, not
 * that anything was done there (spec: client/elicitation, URL mode). Whoever opens it can be somebody else: have the page
 * find out who that is. Anything but http and https, or a URL with a user's name or password in it, dies.
 *
 * Fails with {@link Declined} or {@link Dismissed}. A client that has not declared URL elicitation gets -32021.
 *
 * @category asking
 * @since 0.1.0
 */
export const url = (key: string, options: {
  readonly message: string
  readonly url: string | URL
}): Effect.Effect<void, Declined | Dismissed, Invocation> =>
  Effect.suspend(() => {
    const text = String(options.url)
    const problem = problemOfUrl(text)
    return problem === undefined
      ? Effect.asVoid(elicited(key, InputRequest.url(options.message, text)))
      : Effect.die(new Error(`The URL of the input ${JSON.stringify(key)} cannot be sent: ${problem}`))
  })

/**
 * Asks the client to sample its language model. Messages that the protocol does not allow die, such as a use of a tool
 * without its result.
 *
 * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
 * @category asking
 * @since 0.1.0
 */
export const sample = (
  key: string,
  options: InputRequest.Sampling
): Effect.Effect<typeof InputRequest.SamplingResult.Type, never, Invocation> =>
  Effect.suspend(() => {
    const problem = InputRequest.problemOfMessages(options.messages)
    return problem === undefined
      ? Effect.andThen(
        deprecated("Input.sample"),
        answered(key, InputRequest.sampling(options), InputRequest.SamplingResult)
      )
      : Effect.die(new Error(`The input ${JSON.stringify(key)} cannot be sampled: ${problem}`))
  })

/**
 * Asks the client for its roots. They are `file:` URIs; an answer with another is asked for again.
 *
 * @deprecated by the revision (SEP-2577), not removed before 2027-07-28; it is fully functional.
 * @category asking
 * @since 0.1.0
 */
export const roots = (
  key: string
): Effect.Effect<ReadonlyArray<typeof InputRequest.Root.Type>, never, Invocation> =>
  Effect.andThen(
    deprecated("Input.roots"),
    Effect.map(answered(key, InputRequest.roots, FileRoots), (result) => result.roots)
  )

/**
 * Asks for several things in one round; running them in parallel does the same.
 *
 * @category asking
 * @since 0.1.0
 */
export const all = <const Asks extends Readonly<Record<string, Effect.Effect<unknown, unknown, unknown>>>>(
  asks: Asks
): Effect.Effect<
  { readonly [K in keyof Asks]: Effect.Success<Asks[K]> },
  Effect.Error<Asks[keyof Asks]>,
  Effect.Services<Asks[keyof Asks]>
> => Effect.all(asks, { concurrency: "unbounded" }) as never

/**
 * Runs an effect once over all rounds of a request: its result comes back with the answers. Asked for twice at a time it
 * runs once. Only a success is kept; a failing step runs again in the next round. A round is not cut while a step runs,
 * so asking within a step dies, as do steps that wait for each other.
 *
 * @category steps
 * @since 0.1.0
 */
export const step = <S extends Schema.Top, E, R>(
  key: string,
  schema: S,
  effect: Effect.Effect<S["Type"], E, R>
): Effect.Effect<S["Type"], E, Invocation | R | S["DecodingServices"] | S["EncodingServices"]> => {
  const codec = Schema.toCodecJson(schema)
  const encode = SchemaParser.encodeUnknownEffect(codec)
  const decode = SchemaParser.decodeUnknownEffect(codec)
  return Effect.flatMap(Invocation, ({ input }) =>
    input.step(
      key,
      effect,
      (value) =>
        Effect.matchEffect(encode(value), {
          onSuccess: (encoded) => encoded === undefined ? invalidStep(key, "it is not JSON") : Effect.succeed(encoded),
          onFailure: (issue) => invalidStep(key, describe(issue).join("; "))
        }) as Effect.Effect<Json.Value, never, S["EncodingServices"]>,
      (value) => Effect.orDie(decode(value)) as Effect.Effect<S["Type"], never, S["DecodingServices"]>
    ))
}

const invalidStep = (key: string, problem: string): Effect.Effect<never> =>
  Effect.die(new InvalidOutput(`What the step ${JSON.stringify(key)} gave cannot be kept: ${problem}`))

/**
 * The low-level form: ends the round with these requests. In the next one, {@link responses} has the answers as they came
 * and {@link kept} what was kept. Without requests the client comes back by itself.
 *
 * @category low-level
 * @since 0.1.0
 */
export const require = (
  requests: Readonly<Record<string, InputRequest.InputRequest>>,
  kept?: Json.Value
): Effect.Effect<never, never, Invocation> => Effect.flatMap(Invocation, ({ input }) => input.require(requests, kept))

/**
 * What the client has answered so far, by key, as it came.
 *
 * @category low-level
 * @since 0.1.0
 */
export const responses: Effect.Effect<Readonly<Record<string, Json.Object>>, never, Invocation> = Effect.map(
  Invocation,
  ({ input }) => input.responses
)

/**
 * What {@link require} kept in the round before.
 *
 * @category low-level
 * @since 0.1.0
 */
export const kept: Effect.Effect<Json.Value | undefined, never, Invocation> = Effect.map(
  Invocation,
  ({ input }) => input.kept
)

/**
 * Whether a cause is the end of a round, and not of the request: for finalizers that would undo something.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSuspension = <E>(cause: Cause.Cause<E>): boolean => {
  if (Context.get(Cause.annotations(cause), InterruptedBy) === "input") return true
  // A child is interrupted by its parent, which does not say why.
  const fiber = Cause.hasInterruptsOnly(cause) ? Fiber.getCurrent() : undefined
  return fiber !== undefined && Context.getOrUndefined(fiber.context, Invocation)?.input.closed === true
}

const forms = new WeakMap<Schema.Top, ReturnType<typeof InputRequest.makeForm>>()

/** The form of a schema, made once: a handler asks again in every round. */
const formOf = <S extends Schema.Top>(schema: S): ReturnType<typeof InputRequest.makeForm<S>> => {
  let form = forms.get(schema)
  if (form === undefined) forms.set(schema, form = InputRequest.makeForm(schema))
  return form as ReturnType<typeof InputRequest.makeForm<S>>
}

/** Why a user must not be sent to a URL, if so. */
const problemOfUrl = (text: string): string | undefined => {
  if (!URL.canParse(text)) return "it is not an absolute URL"
  const { password, protocol, username } = new URL(text)
  if (protocol !== "https:" && protocol !== "http:") return "it is neither https nor http"
  return username === "" && password === "" ? undefined : "it has a user in it"
}

const FileRoots = InputRequest.RootsResult.check(Schema.makeFilter(
  ({ roots }) => roots.every(({ uri }) => /^file:\/\//i.test(uri)),
  { message: "Expected file URIs" }
))

/** Says why the client is asked again, where whoever runs the server sees it. */
const unfit = (key: string, issue: SchemaIssue.Issue | undefined): Effect.Effect<void> =>
  Effect.logWarning("An answer does not fit what was asked, so it is asked for again", {
    input: key,
    issues: issue === undefined ? [] : describe(issue)
  })

const elicited = (
  key: string,
  request: InputRequest.InputRequest
): Effect.Effect<typeof InputRequest.ElicitResult.Type, Declined | Dismissed, Invocation> =>
  Effect.flatMap(answered(key, request, InputRequest.ElicitResult), (answer): Effect.Effect<
    typeof InputRequest.ElicitResult.Type,
    Declined | Dismissed
  > => {
    switch (answer.action) {
      case "accept":
        return Effect.succeed(answer)
      case "decline":
        return Effect.fail(new Declined({ key }))
      case "cancel":
        return Effect.fail(new Dismissed({ key }))
    }
  })

/** An answer that is not of its form is asked for again. */
const answered = <S extends Schema.Codec<unknown, unknown>>(
  key: string,
  request: InputRequest.InputRequest,
  schema: S
): Effect.Effect<S["Type"], never, Invocation> =>
  Effect.gen(function*() {
    const { input } = yield* Invocation
    const answer = yield* input.ask(key, request)
    const decoded = SchemaParser.decodeUnknownExit(schema)(answer)
    if (Exit.isSuccess(decoded)) return decoded.value
    const issue = Exit.findErrorOption(decoded)
    return yield* Effect.andThen(unfit(key, Option.getOrUndefined(issue)), input.askAgain(key, request))
  })
