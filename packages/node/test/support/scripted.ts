/** Every transport, connected to a server of `layerScripted`. */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { HttpTransport, StdioTransport } from "@fairlead/client"
import { NodeHttpTransport, NodeMcpEndpoint } from "@fairlead/node"
import type { Transport } from "@fairlead/protocol"
import { InProcess } from "@fairlead/server"
import { Effect, Layer } from "effect"
import { layerScripted } from "./script.ts"
import { fixture } from "./servers.ts"

type Connected = Layer.Layer<Transport.Transport, unknown>

const listening = (client: (url: string) => Connected): Connected =>
  Layer.unwrap(Effect.map(NodeMcpEndpoint.HttpListener, ({ url }) => client(url))).pipe(
    Layer.provide(NodeMcpEndpoint.layerHttp()),
    Layer.provide(layerScripted)
  )

export const transports: {
  readonly [T in "HttpTransport" | "NodeHttpTransport" | "StdioTransport" | "InProcess"]: Connected
} = {
  HttpTransport: listening((url) => HttpTransport.layer({ url }).pipe(Layer.provide(NodeHttpClient.layerUndici))),
  NodeHttpTransport: listening((url) => NodeHttpTransport.layer({ url })),
  StdioTransport: StdioTransport.layer(fixture("scriptedServer")).pipe(Layer.provide(NodeServices.layer)),
  InProcess: InProcess.layer().pipe(Layer.provide(layerScripted))
}
