/**
 * A client and a server in one process: the messages are encoded and decoded, and go nowhere.
 */
import { InProcess } from "@fairlead/server"
import { Client, InMemoryTransport } from "@modelcontextprotocol/client"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpTest from "effect/ai/McpTest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { identity } from "../Requests.ts"
import { registrations } from "../servers/effectAiTools.ts"
import { endpoint } from "../servers/fairleadTools.ts"
import { makeServer } from "../servers/sdkTools.ts"
import { serveEffects, servePromises } from "./calls.ts"
import { serveFairlead } from "./fairleadClient.ts"
import { args, peer, unknown } from "./settings.ts"

const fairlead = serveFairlead(InProcess.layer().pipe(Layer.provide(endpoint)))

const sdk = async () => {
  const client = new Client(identity, { versionNegotiation: { mode: "auto" } })
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair()
  // The server package has a transport type of its own, which is the same.
  await makeServer().connect(serverSide as never)
  await client.connect(clientSide)
  const call = () => client.callTool({ name: "echo", arguments: args })
  await servePromises(call, ({ structuredContent }) => structuredContent)
}

const effectAi = Effect.gen(function*() {
  const client = yield* McpTest.makeClient(registrations, { protocols: [McpProtocol.v2026_07_28] })
  const call = Effect.suspend(() => client.callTool({ name: "echo", arguments: args }))
  return yield* serveEffects(call, ({ structuredContent }) => structuredContent)
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
