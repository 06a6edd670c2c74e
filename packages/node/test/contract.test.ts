import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { afterAll, describe, it } from "@effect/vitest"
import { HttpTransport, StdioTransport } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { NodeHttpTransport, NodeMcpEndpoint } from "@fairlead/node"
import { InProcess, WebHandler } from "@fairlead/server"
import { ContractServer, RawPeer, TransportContract } from "@fairlead/testing"
import { Effect, Layer } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { fixture, layerFetch, layerNothing, layerRouter, Url } from "./support/servers.ts"

/** What cases show, whatever the transport; what only some transports show, by the name of the suite. */
const shown: Readonly<Record<string, ReadonlyArray<string>>> = {
  sequence: [
    "client/promise/three_transports",
    "snodo/promise/same_functions_three_connections",
    "TR-3",
    "BASE-1@client"
  ],
  discovery: ["client/promise/three_transports", "snodo/promise/same_functions_three_connections"],
  concurrency: ["snodo/promise/shared_by_many"],
  "typed-failure": ["client/promise/same_definition"],
  "fresh-call": ["client/promise/idempotency_key_at_handler", "client/promise/correlation_reaches_server", "TR-3"],
  correlation: ["client/promise/correlation_reaches_server"],
  progress: ["BASE-1@client", "snodo/request_option/progress"],
  interruption: ["BASE-1@client"]
}

const tagged = (title: string): string => {
  const claims = shown[TransportContract.cases.find((one) => one.title === title)?.id ?? ""]
  return claims === undefined ? title : verifies(...claims)(title)
}

const runner: TransportContract.Runner = {
  afterAll,
  describe,
  it: Object.assign((title: string, body: () => Promise<void>) => it(tagged(title), body), { skip: it.skip })
}

const resources = () =>
  process.getActiveResourcesInfo().filter((kind) => /^(TCP|Process|Pipe)/.test(kind) && kind !== "PipeWrap")

const listener: Layer.Layer<Url, unknown> = Layer.effect(
  Url,
  Effect.map(NodeMcpEndpoint.HttpListener, ({ url }) => url)
).pipe(Layer.provide(NodeMcpEndpoint.layerHttp()), Layer.provide(ContractServer.layer))

const over = (
  client: Layer.Layer<HttpClient.HttpClient>,
  server: Layer.Layer<Url, unknown>
): TransportContract.Subject => {
  const connectedTo = (url: Layer.Layer<Url, unknown>) => (limits: TransportContract.Limits) =>
    Layer.unwrap(Effect.map(Url, (url) => HttpTransport.layer({ url, ...limits }))).pipe(
      Layer.provide(client),
      Layer.provide(url)
    )
  return {
    channel: "exchange",
    server: connectedTo(server),
    raw: connectedTo(layerFetch(RawPeer.fetch)),
    unreachable: connectedTo(layerNothing)({ maxResponseBytes: 1024 }),
    resources
  }
}

TransportContract.suite(
  "HttpTransport on undici, to the listener",
  over(NodeHttpClient.layerUndici, listener),
  runner
)

TransportContract.suite("HttpTransport on fetch, to the listener", over(FetchHttpClient.layer, listener), runner)

TransportContract.suite(
  "HttpTransport on node:http, to the listener",
  over(NodeHttpClient.layerNodeHttp, listener),
  runner
)

TransportContract.suite(
  "HttpTransport on undici, to the app in a router",
  over(NodeHttpClient.layerUndici, layerRouter),
  runner
)

const onDispatcher = (url: Layer.Layer<Url, unknown>) => (limits: TransportContract.Limits) =>
  Layer.unwrap(Effect.map(Url, (url) => NodeHttpTransport.layer({ url, ...limits }))).pipe(Layer.provide(url))

TransportContract.suite("NodeHttpTransport, to the listener", {
  channel: "exchange",
  server: onDispatcher(listener),
  raw: onDispatcher(layerFetch(RawPeer.fetch)),
  unreachable: onDispatcher(layerNothing)({ maxResponseBytes: 1024 }),
  resources
}, runner)

const fetching = (fetch: (request: Request) => Promise<Response>, limits: TransportContract.Limits) =>
  HttpTransport.layer({ url: "http://127.0.0.1/mcp", ...limits }).pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, (input, init) => fetch(new Request(input, init))))
  )

TransportContract.suite("HttpTransport on a fetch that is the web handler", {
  channel: "exchange",
  server: (limits) =>
    Layer.unwrap(Effect.map(WebHandler.make, (handler) => fetching(handler, limits))).pipe(
      Layer.provide(ContractServer.layer)
    ),
  raw: (limits) => fetching(RawPeer.fetch, limits),
  notApplicable: { unreachable: "the handler is in the same process" }
}, runner)

TransportContract.suite("StdioTransport, to a child process", {
  channel: "shared",
  server: (limits) =>
    StdioTransport.layer({ ...fixture("contractServer"), ...limits }).pipe(Layer.provide(NodeServices.layer)),
  raw: (limits) => StdioTransport.layer({ ...fixture("rawPeer"), ...limits }).pipe(Layer.provide(NodeServices.layer)),
  unreachable: StdioTransport.layer({ command: "/no/such/program" }).pipe(Layer.provide(NodeServices.layer)),
  resources
}, runner)

TransportContract.suite("InProcess", {
  channel: "shared",
  server: ({ maxResponseBytes }) =>
    InProcess.layer({ maxResponseLength: maxResponseBytes }).pipe(Layer.provide(ContractServer.layer)),
  resources,
  notApplicable: {
    raw: "the peer is always an endpoint of ours, which keeps to the protocol",
    unreachable: "the peer is in the same process"
  }
}, runner)
