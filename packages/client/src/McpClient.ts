/**
 * The client: typed calls of a server's tools, prompts and resources, under deadlines, cancellation and correlation that
 * follow the fiber. It sends through a `Transport`, which the layers of `HttpTransport` and `StdioTransport` give.
 *
 * | setting | default |
 * | --- | --- |
 * | `info` | `fairlead` and its version |
 * | `capabilities` | none |
 * | `timeout` | 30 seconds a request |
 * | `maxPages` | 256 pages a listing |
 * | `maxItems` | 10,000 items a listing |
 * | `inputMethods` | none beyond the `InputHandlers` beside the client |
 * | `maxInputRounds` | 10 |
 * | `cache` | off |
 * | `cache.maxEntries` | 256 answers |
 * | `cache.context` | none: only public answers are kept |
 * | `label` | none |
 *
 * **Example** (Calling a tool over HTTP)
 *
 * ```ts
 * import { HttpTransport, McpClient } from "@fairlead/client"
 * import { Call, Tool } from "@fairlead/protocol"
 * import { Effect, Layer, Schema } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const Search = Tool.make("search_docs", {
 *   input: Schema.Struct({ query: Schema.NonEmptyString }),
 *   output: Schema.Struct({ titles: Schema.Array(Schema.String) })
 * })
 *
 * const program = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const { titles } = yield* client.call(Search, { query: "Layer" }).pipe(Call.withDeadline("2 seconds"))
 *   yield* Effect.log(titles)
 * })
 *
 * const Client = McpClient.layer().pipe(
 *   Layer.provide(HttpTransport.layer({ url: "http://127.0.0.1:3000/mcp" })),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 *
 * export const main = program.pipe(Effect.provide(Client))
 * ```
 *
 * @since 0.1.0
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Capabilities from "@fairlead/protocol/Capabilities"
import type * as Completion from "@fairlead/protocol/Completion"
import type * as Json from "@fairlead/protocol/Json"
import type * as Messages from "@fairlead/protocol/Messages"
import type * as Prompt from "@fairlead/protocol/Prompt"
import type * as Resource from "@fairlead/protocol/Resource"
import type * as Tool from "@fairlead/protocol/Tool"
import { Transport } from "@fairlead/protocol/Transport"
import * as Clock from "effect/Clock"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { CallEnding, InputRequired, Succeeded, ToolFailed } from "./CallEnding.ts"
import type { Continuation } from "./Continuation.ts"
import type { InputMethod } from "./InputHandlers.ts"
import type { Core } from "./internal/core.ts"
import { discover } from "./internal/discovery.ts"
import { begin, type Start } from "./internal/exchange.ts"
import { handlersBeside } from "./internal/inputAnswers.ts"
import { paused } from "./internal/inputRounds.ts"
import { listen } from "./internal/listening.ts"
import { kinds, listAll, listPage, streamAll } from "./internal/listing.ts"
import { callRaw, complete, getPrompt, listRaw, readResource } from "./internal/operations.ts"
import { resumeDefined, resumeRaw } from "./internal/resuming.ts"
import { retrying } from "./internal/retrying.ts"
import { type Settings, settingsOf } from "./internal/settings.ts"
import { callDiscovered, callTool } from "./internal/toolCall.ts"
import * as McpClientError from "./McpClientError.ts"
import type * as Subscription from "./Subscription.ts"

/**
 * The options of {@link layer} and {@link make}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Options {
  /**
   * What the client calls itself, on every request; servers use it for display and logs only (spec: basic, _meta).
   * Default: `fairlead` and its version.
   */
  readonly info?: Capabilities.Implementation | undefined
  /** What the client can do for servers, declared on every request. Default: `{}`, nothing optional. */
  readonly capabilities?: Capabilities.ClientCapabilities | undefined
  /**
   * How long one request may take, from encoding its arguments to its decoded answer; `"Infinity"` lifts the bound. Then
   * the call fails with `TimedOut` and is cancelled at the server. `Call.withTimeout` replaces it for some calls.
   * Default: 30 seconds.
   */
  readonly timeout?: Duration.Input | undefined
  /** How many pages of a listing are read before it fails with `ListingLimitExceeded`. At least 1. Default: 256. */
  readonly maxPages?: number | undefined
  /** How many items of a listing are read before it fails with `ListingLimitExceeded`. At least 1. Default: 10,000. */
  readonly maxItems?: number | undefined
  /**
   * What the program answers itself when a server asks for it: declared as capabilities, so that such a call ends as
   * `InputRequired`. What `InputHandlers` answer is declared without being named here; a request for anything else fails
   * the call with `UnsupportedInputRequest`. Default: none.
   */
  readonly inputMethods?: ReadonlyArray<InputMethod> | undefined
  /**
   * How often a call is sent again with the answers of `InputHandlers` before it ends as `InputRequired`. At least 1.
   * Default: 10.
   */
  readonly maxInputRounds?: number | undefined
  /**
   * Keeps answers for as long as the server says: discoveries, pages of lists and reads. What a subscription of this
   * client tells of is dropped at once; answers to input and calls with metadata of their own are never kept. Default:
   * off.
   */
  readonly cache?: boolean | CacheOptions | undefined
  /** A name for the warnings that the client logs, as the field `client`. Default: none. */
  readonly label?: string | undefined
}

/**
 * How answers are kept.
 *
 * @category options
 * @since 0.1.0
 */
export interface CacheOptions {
  /** How many answers are kept; the least recently used go first. At least 1. Default: 256. */
  readonly maxEntries?: number | undefined
  /**
   * Whose call it is: a user, a tenant, a token. Private answers are kept for each of them apart; without it only public
   * ones are kept. It runs for each request that could be answered from what is kept. Default: none.
   */
  readonly context?: Effect.Effect<string> | undefined
}

/**
 * What is laid over the calls of a handle: see {@link Client.with}.
 *
 * @category options
 * @since 0.1.0
 */
export interface Overlay extends Omit<Call.Overlay, "deadline" | "timeout"> {
  /** When all calls of the handle have to be over, counted from when it is made. */
  readonly deadline?: Duration.Input | undefined
  /** How long each request may take, in place of the client's timeout. */
  readonly timeout?: Duration.Input | undefined
}

/**
 * What a server says of itself (spec: server/discover).
 *
 * @category models
 * @since 0.1.0
 */
export interface Discovery {
  /** The versions that the server speaks; the client's own is one of them. */
  readonly supportedVersions: ReadonlyArray<string>
  readonly capabilities: Capabilities.ServerCapabilities
  /** How to use the server, for a model. */
  readonly instructions: Option.Option<string>
  /** Name and version of the server. They are not verified: for display and logs only. */
  readonly serverInfo: Option.Option<Capabilities.Implementation>
  /** Whether the server advertises a capability at the top level, such as `tools` or `completions`. */
  readonly hasCapability: (name: string) => boolean
}

/**
 * A tool as a server lists it, with its schemas as they came.
 *
 * @category models
 * @since 0.1.0
 */
export type ListedTool = typeof Messages.Tool.Type

/**
 * What a server lists, by the name of the list; everything is as it came.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listed {
  readonly tools: ListedTool
  readonly resources: typeof Messages.Resource.Type
  readonly resourceTemplates: typeof Messages.ResourceTemplate.Type
  readonly prompts: typeof Messages.Prompt.Type
}

/**
 * The name of a list.
 *
 * @category models
 * @since 0.1.0
 */
export type ListKind = keyof Listed

/**
 * One page of a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page<out Item> {
  readonly items: ReadonlyArray<Item>
  /** What gives the next page; the empty text is a cursor too. */
  readonly nextCursor: Option.Option<string>
  /** The whole result as it came. */
  readonly result: Json.Object
}

/**
 * What a read gives: the contents, bytes decoded, and what the server says of keeping them.
 *
 * @category models
 * @since 0.1.0
 */
export type ReadResult = typeof Messages.ReadResource.result.Type

/**
 * A prompt that was rendered: its messages.
 *
 * @category models
 * @since 0.1.0
 */
export type PromptResult = typeof Messages.GetPrompt.result.Type

/**
 * What is completed.
 *
 * @category options
 * @since 0.1.0
 */
export interface CompletionOptions<Argument extends string> {
  /** The name of the argument or the parameter. */
  readonly argument: Argument
  /** What has been written so far. */
  readonly value: string
  /** The arguments that are known already. Default: none. */
  readonly context?: { readonly [argument: string]: string } | undefined
}

/**
 * The arguments of a prompt or the parameters of a template that can be completed.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Completable<Target> = Target extends Prompt.Any ? keyof Prompt.Args<Target> & string
  : Target extends Resource.AnyTemplate ? keyof Resource.Params<Target> & string
  : string

/**
 * How a call of a tool ends whose definition is not at hand: the output is the structured output as it came, none where
 * it is absent, null where the tool wrote null.
 *
 * @category models
 * @since 0.1.0
 */
export type DiscoveredEnding = CallEnding<Option.Option<Json.Value>>

/**
 * The responses to what a server asked for, by its keys: the results of the input requests as JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputResponses {
  readonly [key: string]: Json.Object
}

/**
 * The arguments of a definition, which can be left out where none is required.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Args<A> = {} extends A ? [args?: A] : [args: A]

/**
 * A client of one server. It is safe to share: calls run at once, and each is bound to its own fiber. Interrupting a
 * call cancels it at the server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Client {
  /**
   * Asks the server what it is. Fails with `UnsupportedVersion` when it does not speak the version of this client (spec:
   * server/discover).
   */
  readonly discover: Effect.Effect<Discovery, McpClientError.McpClientError>
  /**
   * Lists all tools, page by page. Each page has the timeout of a request, the deadline bounds them all. A tool whose
   * header annotations are not valid is left out over HTTP, and logged as a warning (spec: server/tools, Listing Tools).
   *
   * Fails with `ListingLimitExceeded` beyond `maxPages` or `maxItems`, and with `MalformedResponse` when a cursor comes
   * again: never with a part of the list. When the server refuses a cursor that it gave, the list is read once more from
   * its beginning.
   */
  readonly listTools: Effect.Effect<ReadonlyArray<ListedTool>, McpClientError.McpClientError>
  /**
   * Calls a tool and gives its output. It fails with the tool's typed failure where it has one, with `ToolFailed` for
   * any other failure of the tool, with `InputRequired` when the server asks for input, and with `McpClientError` when
   * there is no answer that can be used (spec: server/tools, Calling Tools).
   */
  readonly call: <T extends Tool.Any>(tool: T, ...input: Args<Tool.Input<T>>) => Effect.Effect<
    Tool.Output<T>,
    | McpClientError.McpClientError
    | ToolFailed
    | InputRequired<Succeeded<Tool.Output<T>> | ToolFailed<Tool.Failure<T>>>
    | Tool.Failure<T>,
    Tool.ClientServices<T>
  >
  /**
   * Calls a tool and gives how it ended, as a value: `Succeeded`, `ToolFailed` or `InputRequired`. It fails only when
   * there is no answer that can be used.
   */
  readonly callResult: <T extends Tool.Any>(tool: T, ...input: Args<Tool.Input<T>>) => Effect.Effect<
    CallEnding<Tool.Output<T>, Tool.Failure<T>>,
    McpClientError.McpClientError,
    Tool.ClientServices<T>
  >
  /**
   * Calls a tool that is known at run time only: by what {@link Client.listTools} gave, or by its name. Arguments and
   * output are JSON. By name alone a call over HTTP may need a second attempt: a server that misses the headers of its
   * arguments is asked for its tools first, within the same bounds.
   */
  readonly callDiscovered: (
    tool: ListedTool | string,
    args: Json.Object
  ) => Effect.Effect<DiscoveredEnding, McpClientError.McpClientError>
  /** Lists all resources, page by page, like {@link Client.listTools}. */
  readonly listResources: Effect.Effect<ReadonlyArray<Listed["resources"]>, McpClientError.McpClientError>
  /** Lists all resource templates, page by page, like {@link Client.listTools}. */
  readonly listResourceTemplates: Effect.Effect<
    ReadonlyArray<Listed["resourceTemplates"]>,
    McpClientError.McpClientError
  >
  /** Lists all prompts, page by page, like {@link Client.listTools}. */
  readonly listPrompts: Effect.Effect<ReadonlyArray<Listed["prompts"]>, McpClientError.McpClientError>
  /** The items of a list, a page at a time as they are taken; bounded like {@link Client.listTools}. */
  readonly listStream: <K extends ListKind>(kind: K) => Stream.Stream<Listed[K], McpClientError.McpClientError>
  /** One page of a list, for paging by hand. Without a cursor it is the first. */
  readonly listPage: <K extends ListKind>(
    kind: K,
    cursor?: string
  ) => Effect.Effect<Page<Listed[K]>, McpClientError.McpClientError>
  /** All items of any paged listing, as they came: `collection` is the member of the result that holds them. */
  readonly listRaw: (
    method: string,
    collection: string
  ) => Effect.Effect<ReadonlyArray<Json.Value>, McpClientError.McpClientError>
  /**
   * Reads a resource: by its URI, by its definition, or by a template and its parameters. Fails with `InputRequired` when
   * the server asks for input.
   */
  readonly readResource: {
    (
      resource: string | Resource.Resource
    ): Effect.Effect<ReadResult, McpClientError.McpClientError | InputRequired<ReadResult>>
    <T extends Resource.AnyTemplate>(template: T, params: Resource.Params<T>): Effect.Effect<
      ReadResult,
      McpClientError.McpClientError | InputRequired<ReadResult>,
      T["params"]["EncodingServices"]
    >
  }
  /**
   * Renders a prompt: by its name with texts, or by its definition with typed arguments. Fails with `InputRequired` when
   * the server asks for input.
   */
  readonly getPrompt: {
    (
      name: string,
      args?: { readonly [argument: string]: string }
    ): Effect.Effect<PromptResult, McpClientError.McpClientError | InputRequired<PromptResult>>
    <P extends Prompt.Any>(
      prompt: P,
      ...args: Args<Prompt.Args<P>>
    ): Effect.Effect<
      PromptResult,
      McpClientError.McpClientError | InputRequired<PromptResult>,
      P["args"]["EncodingServices"]
    >
  }
  /** Completes an argument of a prompt or a parameter of a template. */
  readonly complete: <T extends Completion.Reference | Prompt.Any | Resource.AnyTemplate>(
    target: T,
    options: CompletionOptions<Completable<T>>
  ) => Effect.Effect<Completion.Values<string>, McpClientError.McpClientError>
  /**
   * Sends a request of any method and gives its result as it came, also one that asks for input. `name` is what the
   * routing header repeats: mandatory for `tools/call`, `prompts/get` and `resources/read`, refused elsewhere with
   * `InvalidArguments`, as `subscriptions/listen` is, and a method that is not visible ASCII.
   */
  readonly callRaw: (
    method: string,
    name: string | undefined,
    params?: Json.Object
  ) => Effect.Effect<Json.Object, McpClientError.McpClientError>
  /**
   * Goes on with a call that waits for input. The responses are exactly one object for each of its requests, else it
   * fails with `InvalidInputResponses`; a continuation of another call fails with `InvalidArguments`. Further rounds may
   * follow. It has the correlation of the call, and the deadline, the progress and all else of this one.
   *
   * **Example** (Answering by hand)
   *
   * ```ts
   * import { type CallEnding, McpClient } from "@fairlead/client"
   * import { Tool } from "@fairlead/protocol"
   * import { Effect } from "effect"
   *
   * const Deploy = Tool.make("deploy")
   *
   * export const deploy = (
   *   client: McpClient.Client,
   *   answer: (requests: CallEnding.InputRequired["requests"]) => McpClient.InputResponses
   * ) =>
   *   client.call(Deploy, {}).pipe(
   *     Effect.catchTag("InputRequired", (paused) =>
   *       client.resume(Deploy, paused.continuation, answer(paused.requests)))
   *   )
   * ```
   */
  readonly resume: {
    <T extends Tool.Any>(tool: T, continuation: Continuation, responses: InputResponses): Effect.Effect<
      CallEnding<Tool.Output<T>, Tool.Failure<T>>,
      McpClientError.McpClientError,
      Tool.ClientServices<T>
    >
    (prompt: Prompt.Any, continuation: Continuation, responses: InputResponses): Effect.Effect<
      PromptResult,
      McpClientError.McpClientError | InputRequired<PromptResult>
    >
    (
      resource: Resource.Resource | Resource.AnyTemplate,
      continuation: Continuation,
      responses: InputResponses
    ): Effect.Effect<ReadResult, McpClientError.McpClientError | InputRequired<ReadResult>>
    (tool: ListedTool | string, continuation: Continuation, responses: InputResponses): Effect.Effect<
      DiscoveredEnding,
      McpClientError.McpClientError
    >
  }
  /** Goes on with any call that waits for input, and gives its result as it came. Fails with `InputRequired` again. */
  readonly resumeRaw: (continuation: Continuation, responses: InputResponses) => Effect.Effect<
    Json.Object,
    McpClientError.McpClientError | InputRequired<Json.Object>
  >
  /**
   * Listens to what changes at the server, until the scope closes: then it is cancelled there, and other calls go on.
   * It gives the subscription once the server has acknowledged it. The timeout bounds the opening alone; the deadline and
   * the tokens of the call hold for the open stream too.
   *
   * Fails like every call: with `rpc_error.-32601` where the server does not offer it, and with `MalformedResponse` when
   * anything else comes before the acknowledgement.
   */
  readonly listen: (
    filter: Subscription.Filter,
    options?: Subscription.Options
  ) => Effect.Effect<Subscription.Subscription, McpClientError.McpClientError, Scope.Scope>
  /**
   * Ends the client with all its handles, at once: calls in flight and later ones fail with `Cancelled`, and are
   * cancelled at the server. A child process is shut down with it, which the release of its layer waits for; what can be
   * shared stays, such as an HTTP client.
   */
  readonly close: Effect.Effect<void>
  /**
   * A handle over the same connection whose calls all carry what is given. A deadline counts from now, by the clock
   * that the client was made with. Of two deadlines the earlier counts, either token ends a call, metadata is merged;
   * for the rest the handle wins over the fiber.
   *
   * **Example** (A budget for a handle)
   *
   * ```ts
   * import type { McpClient } from "@fairlead/client"
   *
   * export const forOrder = (client: McpClient.Client, id: string) =>
   *   client.with({ deadline: "2 seconds", correlation: id, idempotencyKey: id })
   * ```
   */
  readonly with: (overlay: Overlay) => Client
}

/**
 * The service of programs that talk to one server; for several, see {@link layerFor}.
 *
 * @category services
 * @since 0.1.0
 */
export class McpClient extends Context.Service<McpClient, Client>()("@fairlead/client/McpClient") {}

/**
 * Makes a client. It sends nothing by itself. When its scope closes, calls in flight fail with `Cancelled`, and so do
 * later ones.
 *
 * Fails with `InvalidConfig` for a setting that cannot be used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (
  options?: Options
) => Effect.Effect<Client, McpClientError.McpClientError, Transport | Scope.Scope> = Effect.fnUntraced(
  function*(options: Options = {}) {
    const settings = settingsOf(options, yield* handlersBeside)
    if (Result.isFailure(settings)) return yield* McpClientError.make(settings.failure)
    const core = makeCore(settings.success, yield* Transport, yield* Clock.Clock)
    yield* Effect.addFinalizer(() => Effect.sync(() => close(core)))
    return handle(core, undefined)
  }
)

/**
 * The client as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<McpClient, McpClientError.McpClientError, Transport> =>
  layerFor(McpClient, options)

/**
 * The client as a layer, with options from the program's configuration.
 *
 * **Example** (Settings from the environment)
 *
 * ```ts
 * import { McpClient } from "@fairlead/client"
 * import { Config } from "effect"
 *
 * export const Client = McpClient.layerConfig(Config.all({
 *   timeout: Config.Duration("MCP_TIMEOUT").pipe(Config.withDefault("30 seconds")),
 *   label: Config.String("MCP_LABEL").pipe(Config.withDefault("docs"))
 * }))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (
  options: Config.Config<Options>
): Layer.Layer<McpClient, McpClientError.McpClientError | Config.ConfigError, Transport> =>
  Layer.unwrap(Effect.map(options, layer))

/**
 * When and how often a call is made again.
 *
 * @category options
 * @since 0.1.0
 */
export interface RetryPolicy<out Output = unknown, out Error = never, out Env = never> {
  /**
   * The waits, and when to stop. A `Retry-After` of the server lengthens a wait. The schedule bounds how often; a
   * `Call.withDeadline` around the retries bounds how long: a wait that would end after it is not begun, and the last
   * error ends the call. A token around them ends a wait with `Cancelled`, whose evidence is that of the last attempt.
   */
  readonly schedule: Schedule.Schedule<Output, unknown, Error, Env>
  /**
   * Whether doing it twice is the same as once: a read, or a call with an idempotency key. Then it is made again also
   * where the server may have acted. Default: false.
   */
  readonly idempotent?: boolean | undefined
}

/**
 * Makes a call again where that is safe (`McpClientError.isRetryable`), by a policy of yours. Any other failure ends it at
 * once, as do the tool's own. Nothing is made again without this.
 *
 * **Example** (A read that may be repeated)
 *
 * ```ts
 * import { McpClient } from "@fairlead/client"
 * import { Schedule } from "effect"
 *
 * export const manual = (client: McpClient.Client) =>
 *   client.readResource("docs://manual").pipe(
 *     McpClient.retry({ idempotent: true, schedule: Schedule.upTo(Schedule.exponential("100 millis"), { times: 3 }) })
 *   )
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const retry: {
  <Output, Error = never, Env = never>(
    policy: RetryPolicy<Output, Error, Env>
  ): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Error, R | Env>
  <A, E, R, Output, Error = never, Env = never>(
    self: Effect.Effect<A, E, R>,
    policy: RetryPolicy<Output, Error, Env>
  ): Effect.Effect<A, E | Error, R | Env>
} = dual(2, retrying)

/**
 * A client under a tag of your own, for programs that talk to several servers.
 *
 * **Example** (Two servers in one program)
 *
 * ```ts
 * import { HttpTransport, McpClient } from "@fairlead/client"
 * import { Context, Layer } from "effect"
 *
 * class Docs extends Context.Service<Docs, McpClient.Client>()("app/Docs") {}
 * class Deploys extends Context.Service<Deploys, McpClient.Client>()("app/Deploys") {}
 *
 * export const Clients = Layer.merge(
 *   McpClient.layerFor(Docs).pipe(Layer.provide(HttpTransport.layer({ url: "http://127.0.0.1:3000/mcp" }))),
 *   McpClient.layerFor(Deploys, { timeout: "2 minutes" }).pipe(
 *     Layer.provide(HttpTransport.layer({ url: "https://deploys.example.com/mcp" }))
 *   )
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFor = <Identifier>(
  tag: Context.Key<Identifier, Client>,
  options?: Options
): Layer.Layer<Identifier, McpClientError.McpClientError, Transport> => Layer.effect(tag, make(options))

const makeCore = (settings: Settings, transport: Transport["Service"], clock: Clock.Clock): Core => ({
  ...settings,
  transport,
  clock,
  live: new Set(),
  closed: false
})

const close = (core: Core) => {
  core.closed = true
  for (const { end } of core.live) end?.()
}

const handle = (core: Core, overlay: Call.Call | undefined): Client => {
  const start: Start = (f) =>
    Effect.withFiber((fiber) => {
      const call = fiber.getRef(Call.Current)
      return f(begin(core, overlay === undefined ? call : Call.combine(call, overlay), fiber.context, start))
    })
  // The services that schemas need are stated by `Client`; inside they are not told apart.
  const callResult: Client["callResult"] = (tool, input: unknown = {}) =>
    start((logical) => callTool(logical, tool, input)) as never
  return {
    discover: start(discover),
    listTools: start((logical) => listAll(logical, kinds.tools)),
    listResources: start((logical) => listAll(logical, kinds.resources)),
    listResourceTemplates: start((logical) => listAll(logical, kinds.resourceTemplates)),
    listPrompts: start((logical) => listAll(logical, kinds.prompts)),
    listStream: (kind) => Stream.unwrap(start((logical) => Effect.sync(() => streamAll(logical, kinds[kind])))),
    listPage: (kind, cursor) => start((logical) => listPage(logical, kinds[kind], cursor)),
    listRaw: (method, collection) => start((logical) => listRaw(logical, method, collection)),
    callResult,
    call: (tool, ...input) => Effect.flatMap(callResult(tool, ...input), outputOf),
    callDiscovered: (tool, args) => start((logical) => callDiscovered(logical, tool, args)),
    readResource: (target: string | Resource.Resource | Resource.AnyTemplate, params?: unknown) =>
      paused(start((logical) => readResource(logical, target, params))) as never,
    getPrompt: (target: string | Prompt.Any, args?: unknown) =>
      paused(start((logical) => getPrompt(logical, target, args))) as never,
    complete: (target, options) => start((logical) => complete(logical, target, options)),
    callRaw: (method, name, params = {}) => start((logical) => callRaw(logical, method, name, params)),
    resume: (definition: Definition, continuation: Continuation, responses: InputResponses) =>
      start((logical) => resumeDefined(logical, definition, continuation, responses)) as never,
    resumeRaw: (continuation, responses) => paused(start((logical) => resumeRaw(logical, continuation, responses))),
    listen: (filter, options = {}) => start((logical) => listen(logical, filter, options)),
    close: Effect.andThen(Effect.sync(() => close(core)), core.transport.close ?? Effect.void),
    with: (more) => {
      const over: Call.Overlay = {
        ...more,
        deadline: more.deadline === undefined
          ? undefined
          : core.clock.currentTimeMillisUnsafe() + Duration.toMillis(more.deadline),
        timeout: more.timeout === undefined ? undefined : Duration.toMillis(more.timeout)
      }
      return handle(core, Call.combine(overlay ?? Call.empty, over))
    }
  }
}

type Definition = Tool.Any | Prompt.Any | Resource.Resource | Resource.AnyTemplate | ListedTool | string

const outputOf = <Output, Failure>(
  result: CallEnding<Output, Failure>
): Effect.Effect<Output, ToolFailed | InputRequired<Succeeded<Output> | ToolFailed<Failure>> | Failure> => {
  if (result._tag === "Succeeded") return Effect.succeed(result.output)
  return result._tag === "ToolFailed" && Option.isSome(result.failure)
    ? Effect.fail(result.failure.value)
    : Effect.fail(result)
}
