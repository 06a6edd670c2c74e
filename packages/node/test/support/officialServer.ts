/** A server built with the official SDK, and the definitions that its tools have here. */
import { Prompt, Resource, Tool } from "@fairlead/protocol"
import {
  acceptedContent,
  completable,
  fromJsonSchema,
  inputRequired,
  McpServer,
  ResourceTemplate
} from "@modelcontextprotocol/server"
import { Schema } from "effect"

export const Greet = Tool.make("greet", {
  input: Schema.Struct({ name: Schema.String }),
  output: Schema.Struct({ greeting: Schema.String })
})

export const Count = Tool.make("count", { input: Schema.Struct({ to: Schema.Int }) })

export const Refuse = Tool.make("refuse", { input: Schema.Struct({ why: Schema.String }) })

export const Wait = Tool.make("wait", { input: Schema.Struct({ key: Schema.String }) })

/** Answers once a waiting call has started, or was aborted. */
export const Observe = Tool.make("observe", {
  input: Schema.Struct({ key: Schema.String, event: Schema.Literals(["started", "aborted"]) })
})

/** Asks for a name, and greets it. */
export const Ask = Tool.make("ask")

/** Says that the guide has changed. */
export const Touch = Tool.make("touch")

/** Logs a message. */
export const Tell = Tool.make("tell")

/** The names of all tools, in order. */
export const toolNames = ["ask", "count", "greet", "observe", "refuse", "tell", "touch", "wait"]

export const Guide = Resource.make("docs://guide", { name: "guide" })

export const Page = Resource.template("docs://page/{name}", { name: "page" })

export const Review = Prompt.make("review", { args: Schema.Struct({ code: Schema.String }) })

const object = <A>(properties: { readonly [name: string]: { readonly type: string } }) =>
  fromJsonSchema<A>({ type: "object", properties, required: Object.keys(properties) })

const text = (text: string) => ({ content: [{ type: "text" as const, text }] })

/** JSON Schema, since that has no libraries to come with, in the shape that completions are looked for. */
const reviewArguments = Object.assign(object<{ code: string }>({ code: { type: "string" } }), {
  shape: {
    code: completable(
      fromJsonSchema<string>({ type: "string" }),
      (value = "") => ["client", "server"].filter((name) => name.startsWith(value))
    )
  }
})

/**
 * A factory of servers that share what they have seen, as HTTP makes one a request. What a server of one request cannot
 * tell the listeners of others is told by `updated`.
 */
export const makeOfficial = (
  updated: (server: McpServer, uri: string) => unknown = (server, uri) => server.server.sendResourceUpdated({ uri })
): () => McpServer => {
  const seen = new Map<string, { readonly promise: Promise<void>; readonly resolve: () => void }>()
  const event = (name: string) => {
    const known = seen.get(name)
    if (known !== undefined) return known
    const made = Promise.withResolvers<void>()
    seen.set(name, made)
    return made
  }
  return () => {
    const server = new McpServer({ name: "official", version: "1.0.0" }, {
      capabilities: { logging: {}, resources: { subscribe: true } }
    })
    server.registerTool("greet", {
      description: "Greets somebody.",
      inputSchema: object<{ name: string }>({ name: { type: "string" } }),
      outputSchema: object<{ greeting: string }>({ greeting: { type: "string" } })
    }, ({ name }) => {
      const structuredContent = { greeting: `Hello, ${name}!` }
      return { ...text(JSON.stringify(structuredContent)), structuredContent }
    })
    server.registerTool("count", {
      inputSchema: object<{ to: number }>({ to: { type: "integer" } })
    }, async ({ to }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (let progress = 1; progress <= to; progress++) {
        if (progressToken === undefined) continue
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: to } })
      }
      return text(`counted to ${to}`)
    })
    server.registerTool("refuse", {
      inputSchema: object<{ why: string }>({ why: { type: "string" } })
    }, ({ why }) => ({ ...text(why), isError: true }))
    server.registerTool("wait", {
      inputSchema: object<{ key: string }>({ key: { type: "string" } })
    }, ({ key }, { mcpReq }) =>
      new Promise((_, reject) => {
        event(`${key}:started`).resolve()
        mcpReq.signal.addEventListener("abort", () => {
          event(`${key}:aborted`).resolve()
          reject(new Error("aborted"))
        })
      }))
    server.registerTool("observe", {
      inputSchema: object<{ key: string; event: string }>({ key: { type: "string" }, event: { type: "string" } })
    }, async ({ event: name, key }) => {
      await event(`${key}:${name}`).promise
      return text(name)
    })
    server.registerTool("ask", { description: "Asks for a name." }, ({ mcpReq }) => {
      const { name } = acceptedContent<{ name?: string }>(mcpReq.inputResponses, "name") ?? {}
      if (name !== undefined) return text(`Hello, ${name}!`)
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: "Who are you?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
          })
        }
      })
    })
    server.registerTool("touch", {}, async () => {
      await updated(server, "docs://guide")
      return text("touched")
    })
    server.registerTool("tell", {}, async ({ mcpReq }) => {
      await mcpReq.log("warning", "careful")
      return text("told")
    })
    server.registerResource("guide", "docs://guide", { mimeType: "text/plain" }, ({ href }) => ({
      contents: [{ uri: href, mimeType: "text/plain", text: "the guide" }]
    }))
    server.registerResource(
      "page",
      new ResourceTemplate("docs://page/{name}", {
        list: undefined,
        complete: { name: (value) => ["layers", "layout", "streams"].filter((name) => name.startsWith(value)) }
      }),
      {},
      ({ href }, { name }) => ({ contents: [{ uri: href, text: `page ${String(name)}` }] })
    )
    server.registerPrompt(
      "review",
      { description: "Reviews code.", argsSchema: reviewArguments },
      ({ code }) => ({ messages: [{ role: "user", content: { type: "text", text: `Review ${code}` } }] })
    )
    return server
  }
}
