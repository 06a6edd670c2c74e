/**
 * A client and its server over pipes; the server is a child on the other core.
 */
import { NodeServices } from "@effect/platform-node"
import { StdioTransport } from "@fairlead/client"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as AiMcpClient from "effect/ai/McpClient"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import { spawn } from "node:child_process"
import { serve } from "../harness/agent.ts"
import { commandFor } from "../harness/Child.ts"
import { ofPromises } from "../harness/Loop.ts"
import { withId } from "../load/requestBytes.ts"
import { echo, identity } from "../Requests.ts"
import { serveEffects, servePromises } from "./calls.ts"
import { serveFairlead } from "./fairleadClient.ts"
import { args, peer, unknown } from "./settings.ts"

const commandOf = (program: string) => {
  const [command, ...args] = commandFor("driver", program, [])
  return { command: command!, args }
}

/** Lines, `JSON.parse` and `JSON.stringify`, one write a turn. */
const floor = async () => {
  const { args, command } = commandOf("servers/floorStdio.ts")
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const waiting = new Map<number, (result: { structuredContent: unknown }) => void>()
  const { arguments: input, name, ...rest } = JSON.parse(echo).params
  let lastId = 0
  let unread = ""
  let unwritten = ""
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (chunk: string) => {
    const lines = (unread + chunk).split("\n")
    unread = lines.pop()!
    for (const line of lines) {
      const { id, result } = JSON.parse(line)
      waiting.get(id)?.(result)
      waiting.delete(id)
    }
  })
  const call = () =>
    new Promise<{ structuredContent: unknown }>((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve)
      if (unwritten === "") {
        queueMicrotask(() => {
          child.stdin.write(unwritten)
          unwritten = ""
        })
      }
      const params = { name, arguments: input, ...rest }
      unwritten += `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`
    })
  await servePromises(call, ({ structuredContent }) => structuredContent)
}

/** The same with nothing but bytes: what the pipes alone can carry. */
const pipes = async () => {
  const { args, command } = commandOf("servers/pipes.ts")
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
  const line = Buffer.from(`${withId(echo, 1)}\n`)
  const waiting: Array<() => void> = []
  child.stdout.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) waiting.shift()?.()
  })
  const call = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      child.stdin.write(line)
    })
  await call()
  serve({ run: (order) => ofPromises(order, call) })
}

const fairlead = serveFairlead(
  StdioTransport.layer(commandOf("servers/fairleadStdio.ts")).pipe(Layer.provide(NodeServices.layer))
)

const sdk = async () => {
  const client = new Client(identity, { versionNegotiation: { mode: "auto" } })
  await client.connect(new StdioClientTransport(commandOf("servers/sdkStdio.ts")))
  const call = () => client.callTool({ name: "echo", arguments: args })
  await servePromises(call, ({ structuredContent }) => structuredContent)
}

const effectAi = Effect.gen(function*() {
  const client = yield* AiMcpClient.McpClient
  const tool = (yield* client.listTools()).find(({ name }) => name === "echo")
  const call = Effect.suspend(() => client.callTool({ tool: tool!, arguments: args }))
  return yield* serveEffects(call, ({ structuredContent }) => structuredContent)
}).pipe(
  Effect.provide(
    Layer.suspend(() => {
      const { args, command } = commandOf("servers/effectAiStdio.ts")
      return AiMcpClient.layerStdio({
        ...identity,
        command: ChildProcess.make(command, args),
        protocol: McpProtocol.v2026_07_28
      })
    }).pipe(Layer.provide(NodeServices.layer))
  )
)

switch (peer) {
  case "floor":
    await floor()
    break
  case "pipes":
    await pipes()
    break
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
