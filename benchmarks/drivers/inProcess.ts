/**
 * A client and a server in one process: the messages are encoded and decoded, and go nowhere.
 */
import { McpClient } from "@fairlead/client"
import { InProcess } from "@fairlead/server"
import { Client, InMemoryTransport } from "@modelcontextprotocol/client"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpTest from "effect/ai/McpTest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { serve } from "../harness/agent.ts"
import { ofEffects, ofPromises } from "../harness/Loop.ts"
import { identity } from "../Requests.ts"
import { registrations } from "../servers/effectAiTools.ts"
import { Echo } from "../servers/fairleadEcho.ts"
import { endpoint } from "../servers/fairleadTools.ts"
import { makeServer } from "../servers/sdkTools.ts"
import { args, check, peer, unknown } from "./settings.ts"

const fairlead = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const call = Effect.suspend(() => client.call(Echo, args))
  check(yield* call)
  serve({ run: (order) => Effect.runPromise(ofEffects(order, call)) })
  return yield* Effect.never
}).pipe(Effect.provide(McpClient.layer().pipe(Layer.provide(InProcess.layer()), Layer.provide(endpoint))))

const sdk = async () => {
  const client = new Client(identity, { versionNegotiation: { mode: "auto" } })
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  // The server package has a transport type of its own, which is the same.
  await makeServer().connect(serverSide as never)
  await client.connect(clientSide)
  const call = () => client.callTool({ name: "echo", arguments: args })
  check((await call()).structuredContent)
  serve({ run: (order) => ofPromises(order, call) })
}

const effectAi = Effect.gen(function*() {
  const client = yield* McpTest.makeClient(registrations, { protocols: [McpProtocol.v2026_07_28] })
  const call = Effect.suspend(() => client.callTool({ name: "echo", arguments: args }))
  check((yield* call).structuredContent)
  serve({ run: (order) => Effect.runPromise(ofEffects(order, call)) })
  return yield* Effect.never
}).pipe(Effect.scoped)

switch (peer) {
  case "fairlead":
    Effect.runFork(fairlead)
    break
  case "sdk":
    await sdk()
    break
  case "effect/ai":
    Effect.runFork(effectAi)
    break
  default:
    unknown()
}
