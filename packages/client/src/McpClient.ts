/**
 * The client: typed calls of a server's tools, under deadlines, cancellation and correlation that follow the fiber. It
 * sends through a `Transport`, which the layers of `HttpTransport` and `StdioTransport` give.
 *
 * | setting | default |
 * | --- | --- |
 * | `info` | `fairlead` and its version |
 * | `capabilities` | none |
 * | `timeout` | 30 seconds a request |
 * | `maxPages` | 256 pages a listing |
 * | `maxItems` | 10,000 items a listing |
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
 * Not included yet: resources, prompts, listening, input rounds.
 *
 * @since 0.1.0
 */
import * as Call from "@fairlead/protocol/Call"
import type * as Capabilities from "@fairlead/protocol/Capabilities"
import type * as Messages from "@fairlead/protocol/Messages"
import type * as Tool from "@fairlead/protocol/Tool"
import { Transport } from "@fairlead/protocol/Transport"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { InputRequired, Succeeded, ToolFailed } from "./CallEnding.ts"
import type { Core } from "./internal/core.ts"
import { discover } from "./internal/discovery.ts"
import { begin, type Logical } from "./internal/exchange.ts"
import { listTools } from "./internal/listing.ts"
import { type Settings, settingsOf } from "./internal/settings.ts"
import { callTool } from "./internal/toolCall.ts"
import * as McpClientError from "./McpClientError.ts"

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
  /** A name for the warnings that the client logs, as the field `client`. Default: none. */
  readonly label?: string | undefined
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
   * again: never with a part of the list.
   */
  readonly listTools: Effect.Effect<ReadonlyArray<ListedTool>, McpClientError.McpClientError>
  /**
   * Calls a tool and gives its output. It fails with the tool's typed failure where it has one, with `ToolFailed` for
   * any other failure of the tool, with `InputRequired` when the server asks for input, and with `McpClientError` when
   * there is no answer that can be used (spec: server/tools, Calling Tools).
   */
  readonly call: <T extends Tool.Any>(tool: T, input: Tool.Input<T>) => Effect.Effect<
    Tool.Output<T>,
    McpClientError.McpClientError | ToolFailed | InputRequired | Tool.Failure<T>,
    Tool.ClientServices<T>
  >
  /**
   * Calls a tool and gives how it ended, as a value: `Succeeded`, `ToolFailed` or `InputRequired`. It fails only when
   * there is no answer that can be used.
   */
  readonly callResult: <T extends Tool.Any>(tool: T, input: Tool.Input<T>) => Effect.Effect<
    Succeeded<Tool.Output<T>> | ToolFailed<Tool.Failure<T>> | InputRequired,
    McpClientError.McpClientError,
    Tool.ClientServices<T>
  >
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
    const settings = settingsOf(options)
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
  const start = <A, E, R>(f: (logical: Logical) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const call = fiber.getRef(Call.Current)
      return f(begin(core, overlay === undefined ? call : Call.combine(call, overlay), fiber.context))
    })
  // The services that a tool's schemas need are stated by `Client`; inside they are not told apart.
  const callResult: Client["callResult"] = (tool, input) => start((logical) => callTool(logical, tool, input)) as never
  return {
    discover: start(discover),
    listTools: start(listTools),
    callResult,
    call: (tool, input) => Effect.flatMap(callResult(tool, input), outputOf),
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

const outputOf = <Output, Failure>(
  result: Succeeded<Output> | ToolFailed<Failure> | InputRequired
): Effect.Effect<Output, ToolFailed | InputRequired | Failure> => {
  if (result._tag === "Succeeded") return Effect.succeed(result.output)
  return result._tag === "ToolFailed" && Option.isSome(result.failure)
    ? Effect.fail(result.failure.value)
    : Effect.fail(result)
}
