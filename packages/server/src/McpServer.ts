/**
 * What a server offers, registered by layers: `McpServer.tool(Search, handler)`, `McpServer.resource(...)`,
 * `McpServer.prompt(...)`. Layers are merged and handed to `McpEndpoint.serve`, so that a port opens when every
 * registration is in place. The same registrations can come and go while the server runs, by layers of their own or by
 * the `McpServer` service; listeners hear of it.
 *
 * Not included: how it is reached (`McpEndpoint` and the fronts around it).
 *
 * @since 0.1.0
 */
import type * as Completion from "@fairlead/protocol/Completion"
import * as Prompt from "@fairlead/protocol/Prompt"
import * as Resource from "@fairlead/protocol/Resource"
import type * as Tool from "@fairlead/protocol/Tool"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type AnyComplete, makeCompleters, notOnTheWire } from "./internal/completer.ts"
import type { Entry } from "./internal/entry.ts"
import { makePromptRunner } from "./internal/promptRunner.ts"
import { makeResourceRunner, makeTemplateRunner } from "./internal/resourceRunner.ts"
import { makeRunner } from "./internal/toolRunner.ts"
import type { Invocation } from "./Invocation.ts"

/**
 * The kinds of things a server offers.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "tool" | "resource" | "resourceTemplate" | "prompt"

/**
 * A name that is taken already; the one who has it keeps it. For a resource template it is another one that matches the
 * same URIs.
 *
 * @category errors
 * @since 0.1.0
 */
export class DuplicateName extends Data.TaggedError("DuplicateName")<{
  readonly kind: Kind
  /** The name of a tool or prompt, the URI of a resource, the text of a template. */
  readonly name: string
}> {
  override get message(): string {
    return `There is a ${this.kind} named ${JSON.stringify(this.name)} already`
  }
}

/**
 * The catalog of a server: what is registered now, and ways to change it while it serves.
 *
 * @category services
 * @since 0.1.0
 */
export class McpServer extends Context.Service<McpServer, {
  /**
   * Registers a handler until it is unregistered; listeners hear of it. Fails with `DuplicateName` when the name is
   * taken; then nobody hears anything.
   */
  readonly register: <R>(handler: Handler<R>) => Effect.Effect<void, DuplicateName, Exclude<R, Provided>>
  /**
   * Registers a handler until the scope closes; listeners hear of both. What was unregistered before that and has a
   * successor under its name leaves the successor alone.
   */
  readonly registerScoped: <R>(
    handler: Handler<R>
  ) => Effect.Effect<void, DuplicateName, Exclude<R, Provided> | Scope.Scope>
  /**
   * Removes a tool or prompt by its name, a resource by its URI, a template by its text; says whether there was one.
   * Requests under way go on.
   */
  readonly unregister: (kind: Kind, name: string) => Effect.Effect<boolean>
  /** The names of what is registered, in order. */
  readonly names: (kind: Kind) => Effect.Effect<ReadonlyArray<string>>
}>()("@fairlead/server/McpServer") {}

/**
 * What every handler has without asking for it: the request it serves, and a scope that closes with the request.
 *
 * @category models
 * @since 0.1.0
 */
export type Provided = Invocation | Scope.Scope

const HandlerTypeId = "~fairlead/server/McpServer/Handler" as const

/**
 * A definition with its handler.
 *
 * @category models
 * @since 0.1.0
 */
export interface Handler<out R> {
  readonly kind: Kind
  readonly name: string
  /** What the catalog keeps of it, with the services it was registered with. */
  readonly entry: (context: Context.Context<never>) => Entry
  /** The services it needs; there for the compiler alone. */
  readonly [HandlerTypeId]: (_: never) => R
}

const makeHandler = <R>(kind: Kind, name: string, entry: Handler<R>["entry"]): Handler<R> => ({
  [HandlerTypeId]: (_) => _,
  kind,
  name,
  entry
})

/**
 * The services that a handler needs.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Services<H extends Handler<unknown>> = H extends Handler<infer R> ? R : never

/**
 * Completes the value of one argument: takes what is written so far and the arguments that are known, decoded, and
 * offers values of the argument's type, best first. At most 100 travel.
 *
 * @category models
 * @since 0.1.0
 */
export type Complete<Args, Name extends keyof Args, R> = (
  value: string,
  context: { readonly [K in keyof Args]?: Args[K] }
) => Effect.Effect<Completion.Answer<Exclude<Args[Name], undefined>>, never, R>

/**
 * What a prompt or a resource template has beside its handler. `Services` says what each completer needs, by its name.
 *
 * @category options
 * @since 0.1.0
 */
export interface CompletionOptions<Args, Services> {
  /**
   * Completes arguments, by their names on the wire; a name that is none throws the definition's `InvalidDefinition`.
   * Default: none is completed.
   */
  readonly complete?:
    | { readonly [Name in keyof Services]: Complete<Args, Name & keyof Args, Services[Name]> }
    | undefined
}

/**
 * Pairs a tool with its handler, for {@link handlers} and `McpServer.register`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toolHandler = <T extends Tool.Any, R = never>(
  tool: T,
  handle: (input: Tool.Input<T>) => Effect.Effect<Tool.Answer<T>, Tool.Failure<T> | Tool.ToolError, R>
): Handler<R | Tool.ServerServices<T>> => {
  const run = makeRunner(tool, handle as (input: unknown) => Effect.Effect<unknown, unknown>)
  const { declaration, name } = tool
  return makeHandler("tool", name, (context) => ({ kind: "tool", name, declaration, context, tool, run }))
}

/**
 * Pairs a resource with its handler, for {@link handlers} and `McpServer.register`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resourceHandler = <R = never>(
  resource: Resource.Resource,
  handle: () => Effect.Effect<Resource.Answer, Resource.NotFound, R>
): Handler<R> => {
  const run = makeResourceRunner(resource, handle as () => Effect.Effect<Resource.Answer, Resource.NotFound>)
  const { declaration, uri: name } = resource
  return makeHandler("resource", name, (context) => ({ kind: "resource", name, declaration, context, run }))
}

/**
 * Pairs a resource template with its handler, for {@link handlers} and `McpServer.register`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const templateHandler = <T extends Resource.AnyTemplate, R = never, RC = {}>(
  template: T,
  handle: (params: Resource.Params<T>, uri: string) => Effect.Effect<Resource.Answer, Resource.NotFound, R>,
  options?: CompletionOptions<Resource.Params<T>, RC>
): Handler<R | RC[keyof RC] | T["params"]["DecodingServices"]> => {
  const run = makeTemplateRunner(template, handle as never)
  const completers = makeCompleters(template.params, options?.complete as AnyCompleters)
  const foreign = notOnTheWire(completers, template.uriTemplate.variables)
  if (foreign !== undefined) {
    throw new Resource.InvalidDefinition({
      uri: template.uriTemplate.source,
      reason: `${foreign} is no variable of it`
    })
  }
  const { declaration } = template
  const name = template.uriTemplate.source
  return makeHandler("resourceTemplate", name, (context) => ({
    kind: "resourceTemplate",
    name,
    declaration,
    context,
    template,
    run,
    completers
  }))
}

/**
 * Pairs a prompt with its handler, for {@link handlers} and `McpServer.register`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const promptHandler = <P extends Prompt.Any, R = never, RC = {}>(
  prompt: P,
  handle: (args: Prompt.Args<P>) => Effect.Effect<Prompt.Answer, Prompt.PromptError, R>,
  options?: CompletionOptions<Prompt.Args<P>, RC>
): Handler<R | RC[keyof RC] | P["args"]["DecodingServices"]> => {
  const run = makePromptRunner(prompt, handle as never)
  const completers = makeCompleters(prompt.args as Schema.Top, options?.complete as AnyCompleters)
  const foreign = notOnTheWire(completers, prompt.arguments.map(({ name }) => name))
  if (foreign !== undefined) {
    throw new Prompt.InvalidDefinition({ prompt: prompt.name, reason: `${foreign} is not the name of an argument` })
  }
  const { declaration, name } = prompt
  return makeHandler("prompt", name, (context) => ({ kind: "prompt", name, declaration, context, run, completers }))
}

type AnyCompleters = Readonly<Record<string, AnyComplete | undefined>> | undefined

/**
 * Registers the handler of a tool for as long as the layer lives. A taken name dies with `DuplicateName`.
 *
 * The handler gets the decoded input and answers with the output, or with `Tool.reply` when it has content or metadata
 * of its own. It may fail with the tool's failure, or with `Tool.error` for one sentence. Its requirements come from the
 * layers around it or, for what differs from request to request, from the endpoint's context function; per-request
 * services win. It runs in a fiber of its own, which is interrupted when the client goes away or the deadline passes: use
 * `Effect.ensuring` for what has to happen then (a generator's `finally` does not run on interruption).
 *
 * **Example** (A tool and its handler)
 *
 * ```ts
 * import { Tool } from "@fairlead/protocol"
 * import { McpServer } from "@fairlead/server"
 * import { Effect, Schema } from "effect"
 *
 * const Add = Tool.make("add", {
 *   description: "Adds two numbers.",
 *   input: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
 *   output: Schema.Struct({ sum: Schema.Finite })
 * })
 *
 * export const layer = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const tool = <T extends Tool.Any, R = never>(
  tool: T,
  handle: (input: Tool.Input<T>) => Effect.Effect<Tool.Answer<T>, Tool.Failure<T> | Tool.ToolError, R>
): Layer.Layer<never, never, McpServer | Exclude<R | Tool.ServerServices<T>, Provided>> =>
  handlers([toolHandler(tool, handle)])

/**
 * Registers the handler of a resource for as long as the layer lives. A taken URI dies with `DuplicateName`.
 *
 * The handler answers with a text, with bytes, or with contents that say more. `Resource.NotFound` says that there is
 * nothing, and so does an empty list of contents.
 *
 * **Example** (A resource)
 *
 * ```ts
 * import { Resource } from "@fairlead/protocol"
 * import { McpServer } from "@fairlead/server"
 * import { Effect } from "effect"
 *
 * const Manual = Resource.make("docs://manual", { name: "manual", mimeType: "text/plain" })
 *
 * export const layer = McpServer.resource(Manual, () => Effect.succeed("Read the pages."))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const resource = <R = never>(
  resource: Resource.Resource,
  handle: () => Effect.Effect<Resource.Answer, Resource.NotFound, R>
): Layer.Layer<never, never, McpServer | Exclude<R, Provided>> => handlers([resourceHandler(resource, handle)])

/**
 * Registers the handler of the resources of a template for as long as the layer lives. A template that matches the same
 * URIs as another dies with `DuplicateName`.
 *
 * A resource with one URI wins over templates; of templates that match, the one with more literal text counts, then the
 * one with fewer expressions that span segments (`{+path}`, `{/path*}`), then the one whose text comes first. What wins
 * decides alone: where it is hidden from the caller, or its parameters cannot be decoded, there is no such resource.
 *
 * **Example** (Pages of a book)
 *
 * ```ts
 * import { Resource } from "@fairlead/protocol"
 * import { McpServer } from "@fairlead/server"
 * import { Effect, Schema } from "effect"
 *
 * const Page = Resource.template("docs://pages/{page}", {
 *   name: "page",
 *   params: Schema.Struct({ page: Schema.Int })
 * })
 *
 * export const layer = McpServer.resourceTemplate(
 *   Page,
 *   ({ page }) => page > 9 ? Effect.fail(new Resource.NotFound()) : Effect.succeed(`Page ${page}`),
 *   { complete: { page: () => Effect.succeed([1, 2, 3]) } }
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const resourceTemplate = <T extends Resource.AnyTemplate, R = never, RC = {}>(
  template: T,
  handle: (params: Resource.Params<T>, uri: string) => Effect.Effect<Resource.Answer, Resource.NotFound, R>,
  options?: CompletionOptions<Resource.Params<T>, RC>
): Layer.Layer<
  never,
  never,
  McpServer | Exclude<R | RC[keyof RC] | T["params"]["DecodingServices"], Provided>
> => handlers([templateHandler(template, handle, options)])

/**
 * Registers the handler of a prompt for as long as the layer lives. A taken name dies with `DuplicateName`.
 *
 * The handler gets the decoded arguments and answers with a text, with messages, or with messages and a description.
 *
 * **Example** (A prompt whose argument is completed)
 *
 * ```ts
 * import { Prompt } from "@fairlead/protocol"
 * import { McpServer } from "@fairlead/server"
 * import { Effect, Schema } from "effect"
 *
 * const Translate = Prompt.make("translate", {
 *   args: Schema.Struct({ language: Schema.Literals(["German", "Greek"]), text: Schema.String })
 * })
 *
 * export const layer = McpServer.prompt(
 *   Translate,
 *   ({ language, text }) => Effect.succeed(`Translate into ${language}: ${text}`),
 *   {
 *     complete: {
 *       language: (value) => Effect.succeed((["German", "Greek"] as const).filter((name) => name.startsWith(value)))
 *     }
 *   }
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const prompt = <P extends Prompt.Any, R = never, RC = {}>(
  prompt: P,
  handle: (args: Prompt.Args<P>) => Effect.Effect<Prompt.Answer, Prompt.PromptError, R>,
  options?: CompletionOptions<Prompt.Args<P>, RC>
): Layer.Layer<
  never,
  never,
  McpServer | Exclude<R | RC[keyof RC] | P["args"]["DecodingServices"], Provided>
> => handlers([promptHandler(prompt, handle, options)])

/**
 * Registers many handlers in one layer: thousands cost no more than a loop.
 *
 * @category layers
 * @since 0.1.0
 */
export const handlers = <const Handlers extends ReadonlyArray<Handler<unknown>>>(
  handlers: Handlers
): Layer.Layer<never, never, McpServer | Exclude<Services<Handlers[number]>, Provided>> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const server = yield* McpServer
    for (const handler of handlers) yield* Effect.orDie(server.registerScoped(handler))
  })) as Layer.Layer<never, never, McpServer | Exclude<Services<Handlers[number]>, Provided>>
