/**
 * What answers when a server asks for input in the middle of a call: one handler for forms, one for visits to a URL, one
 * for samples of a language model, one for the roots. Each is a layer beside the client's; a client that is made with
 * some declares their capabilities and answers by itself, round after round (spec: basic/patterns/mrtr).
 *
 * All requests of a round are checked before any handler runs; then they run one after the other, by key. Where one of
 * them has no handler, none runs and the call ends as `InputRequired`. Handlers run within the deadline and the
 * cancellation of the call, which both follow into their own calls, as the correlation does.
 *
 * An elicitation handler that fails, or accepts with what its form does not take, answers with `cancel`, and that is
 * logged. A sampling or roots handler that
 * fails ends the call with `InvalidInputResponses`, since the protocol has no answer for it, and nothing is sent again.
 *
 * | setting of `McpClient` | default |
 * | --- | --- |
 * | `maxInputRounds` | 10 |
 * | `inputMethods` | none beyond the handlers |
 *
 * **Example** (A client that fills in forms)
 *
 * ```ts
 * import { HttpTransport, InputHandlers, McpClient } from "@fairlead/client"
 * import { Effect, Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const Forms = InputHandlers.form(({ message }) =>
 *   Effect.as(Effect.log(message), InputHandlers.accept({ name: "Ada" }))
 * )
 *
 * export const Client = McpClient.layer().pipe(
 *   Layer.provide(Forms),
 *   Layer.provide(HttpTransport.layer({ url: "http://127.0.0.1:3000/mcp" })),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * Sampling and roots are deprecated by the revision (SEP-2577) and fully functional.
 *
 * @since 0.1.0
 */
import type * as InputRequest from "@fairlead/protocol/InputRequest"
import type * as Json from "@fairlead/protocol/Json"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * What can be asked for, by the names of its handlers.
 *
 * @category models
 * @since 0.1.0
 */
export type InputMethod = "form" | "url" | "sampling" | "roots"

/**
 * A form that a server wants filled in. The server chose its text and its schema: show who asks.
 *
 * @category models
 * @since 0.1.0
 */
export interface FormRequest {
  /** The key of the request within its call. */
  readonly key: string
  readonly message: string
  /** A flat JSON Schema of an object. */
  readonly requestedSchema: Json.Object
  /** All parameters, as they came. */
  readonly params: Json.Object
}

/**
 * A URL that a server wants visited. Open it only with the user's consent, who must see it whole; never fetch it.
 *
 * @category models
 * @since 0.1.0
 */
export interface UrlRequest {
  /** The key of the request within its call. */
  readonly key: string
  readonly message: string
  readonly url: URL
  /** All parameters, as they came. */
  readonly params: Json.Object
}

/**
 * A sample that a server wants of a language model.
 *
 * @category models
 * @since 0.1.0
 */
export interface SamplingRequest extends InputRequest.Sampling {
  /** The key of the request within its call. */
  readonly key: string
  /** All parameters, as they came. */
  readonly params: Json.Object
}

/**
 * What a user did: accepted, with the content of a form, declined, or dismissed. It is a response of
 * `McpClient.resume` too.
 *
 * @category models
 * @since 0.1.0
 */
export type Elicited =
  | { readonly action: "accept"; readonly content?: Json.Object }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }

/**
 * What a language model said.
 *
 * @category models
 * @since 0.1.0
 */
export interface Sampled {
  readonly role: "user" | "assistant"
  /** A block of content, or several. */
  readonly content: Json.Value
  readonly model: string
  readonly stopReason?: string | undefined
}

/**
 * A root: a `file:` URI that the server may work in.
 *
 * @category models
 * @since 0.1.0
 */
export interface Root {
  readonly uri: string
  readonly name?: string | undefined
}

/**
 * Answers forms.
 *
 * @category services
 * @since 0.1.0
 */
export class Form extends Context.Service<Form, (request: FormRequest) => Effect.Effect<Elicited, unknown>>()(
  "@fairlead/client/InputHandlers/Form"
) {}

/**
 * Answers visits to a URL.
 *
 * @category services
 * @since 0.1.0
 */
export class Url extends Context.Service<Url, (request: UrlRequest) => Effect.Effect<Elicited, unknown>>()(
  "@fairlead/client/InputHandlers/Url"
) {}

/**
 * Answers samplings.
 *
 * @category services
 * @since 0.1.0
 */
export class Sampling
  extends Context.Service<Sampling, (request: SamplingRequest) => Effect.Effect<Sampled, unknown>>()(
    "@fairlead/client/InputHandlers/Sampling"
  )
{}

/**
 * Answers with the roots.
 *
 * @category services
 * @since 0.1.0
 */
export class Roots extends Context.Service<Roots, Effect.Effect<ReadonlyArray<Root>, unknown>>()(
  "@fairlead/client/InputHandlers/Roots"
) {}

/**
 * A handler for forms.
 *
 * @category layers
 * @since 0.1.0
 */
export const form = <E, R = never>(
  handler: (request: FormRequest) => Effect.Effect<Elicited, E, R>
): Layer.Layer<Form, never, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    Form,
    Effect.map(Effect.context<Exclude<R, Scope.Scope>>(), (context) => (request) => provided(handler(request), context))
  )

/**
 * A handler for visits to a URL. Accepting means that the user agreed to go there, not that they are done.
 *
 * @category layers
 * @since 0.1.0
 */
export const url = <E, R = never>(
  handler: (request: UrlRequest) => Effect.Effect<Elicited, E, R>
): Layer.Layer<Url, never, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    Url,
    Effect.map(Effect.context<Exclude<R, Scope.Scope>>(), (context) => (request) => provided(handler(request), context))
  )

/**
 * A handler for samples of a language model. It gets no tools unless the client declares `sampling.tools`. Keep to its
 * `maxTokens`, and try the hints of `modelPreferences` in their order: the first that fits a model counts.
 *
 * @category layers
 * @since 0.1.0
 */
export const sampling = <E, R = never>(
  handler: (request: SamplingRequest) => Effect.Effect<Sampled, E, R>
): Layer.Layer<Sampling, never, Exclude<R, Scope.Scope>> =>
  Layer.effect(
    Sampling,
    Effect.map(Effect.context<Exclude<R, Scope.Scope>>(), (context) => (request) => provided(handler(request), context))
  )

/**
 * What gives the roots.
 *
 * @category layers
 * @since 0.1.0
 */
export const roots = <E, R = never>(
  roots: Effect.Effect<ReadonlyArray<Root>, E, R>
): Layer.Layer<Roots, never, Exclude<R, Scope.Scope>> =>
  Layer.effect(Roots, Effect.map(Effect.context<Exclude<R, Scope.Scope>>(), (context) => provided(roots, context)))

/** The layer's services under the call's own: what the call carries wins. The scope ends with the answer. */
const provided = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  context: Context.Context<Exclude<R, Scope.Scope>>
): Effect.Effect<A, E> =>
  Effect.updateContext(
    Effect.scoped(self),
    (own: Context.Context<never>) => Context.merge(context, own)
  )

/**
 * The user agreed; a form has its content.
 *
 * @category constructors
 * @since 0.1.0
 */
export const accept = (content?: Json.Object): Elicited =>
  content === undefined ? { action: "accept" } : { action: "accept", content }

/**
 * The user said no.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decline: Elicited = { action: "decline" }

/**
 * The user dismissed the question without an answer.
 *
 * @category constructors
 * @since 0.1.0
 */
export const cancel: Elicited = { action: "cancel" }
