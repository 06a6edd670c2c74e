/** What `officialServer.ts` has, on the server of `effect/ai`. */
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpSchema from "effect/ai/McpSchema"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {
  override get message() {
    return this.why
  }
}

const Key = Schema.Struct({ key: Schema.String })

const toolkit = Toolkit.make(
  Tool.make("greet", {
    description: "Greets somebody.",
    parameters: Schema.Struct({ name: Schema.String }),
    success: Schema.Struct({ greeting: Schema.String })
  }),
  Tool.make("count", {
    description: "Counts.",
    parameters: Schema.Struct({ to: Schema.Int }),
    success: Schema.String,
    dependencies: [McpSchema.McpRequestContext]
  }),
  Tool.make("refuse", {
    description: "Always fails.",
    parameters: Schema.Struct({ why: Schema.String }),
    failure: Refused
  }),
  Tool.make("wait", { description: "Never answers.", parameters: Key }),
  Tool.make("touch", { description: "Says that the guide has changed.", success: Schema.String }),
  Tool.make("tell", { description: "Logs a message.", success: Schema.String }),
  Tool.make("observe", {
    description: "Answers once a waiting call has started, or was aborted.",
    parameters: Schema.Struct({ key: Schema.String, event: Schema.String }),
    success: Schema.String
  })
)

const handlers = toolkit.toLayer(Effect.gen(function*() {
  const server = yield* McpServer.McpServer
  const seen = new Map<string, Deferred.Deferred<void>>()
  const event = (name: string) => {
    const known = seen.get(name)
    if (known !== undefined) return known
    const made = Deferred.makeUnsafe<void>()
    seen.set(name, made)
    return made
  }
  return {
    greet: ({ name }) => Effect.succeed({ greeting: `Hello, ${name}!` }),
    count: Effect.fnUntraced(function*({ to }) {
      const { requestMetadata } = yield* McpSchema.McpRequestContext
      const token = requestMetadata?.["progressToken"]
      for (let progress = 1; progress <= to; progress++) {
        if (typeof token !== "string" && typeof token !== "number") continue
        yield* server.notifications["notifications/progress"]({ progressToken: token, progress, total: to })
      }
      return `counted to ${to}`
    }),
    refuse: ({ why }) => Effect.fail(new Refused({ why })),
    wait: ({ key }) =>
      Deferred.succeed(event(`${key}:started`), undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(event(`${key}:aborted`), undefined))
      ),
    touch: () => Effect.as(server.notifications["notifications/resources/updated"]({ uri: "docs://guide" }), "touched"),
    tell: () => Effect.as(server.notifications["notifications/message"]({ level: "warning", data: "careful" }), "told"),
    observe: ({ event: name, key }) => Effect.as(Deferred.await(event(`${key}:${name}`)), name)
  }
}))

// A toolkit's tool cannot ask.
const ask = Layer.effectDiscard(Effect.flatMap(McpServer.McpServer, (server) =>
  server.addTool({
    tool: new McpSchema.Tool({ name: "ask", description: "Asks for a name.", inputSchema: { type: "object" } }),
    annotations: Context.empty(),
    handle: () =>
      Effect.map(McpSchema.McpRequestContext, ({ inputResponses }) => {
        const content = inputResponses?.["name"]?.["content"] as { readonly name?: string } | undefined
        if (content?.name !== undefined) {
          return new McpSchema.CallToolResult({ content: [{ type: "text", text: `Hello, ${content.name}!` }] })
        }
        return new McpSchema.InputRequired({
          inputRequests: {
            name: {
              method: "elicitation/create",
              params: {
                mode: "form",
                message: "Who are you?",
                requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
              }
            }
          }
        })
      })
  })))

const pageName = McpSchema.param("name", Schema.String)

/** What every transport of this server is made with. */
export const options = {
  name: "effect",
  version: "1.0.0",
  protocols: [McpProtocol.v2026_07_28],
  registrations: Layer.mergeAll(
    McpServer.toolkit(toolkit).pipe(Layer.provide(handlers)),
    ask,
    McpServer.resource({
      uri: "docs://guide",
      name: "guide",
      mimeType: "text/plain",
      content: Effect.succeed("the guide")
    }),
    McpServer.resource`docs://page/${pageName}`({
      name: "page",
      completion: {
        name: (value: string) =>
          Effect.succeed(["layers", "layout", "streams"].filter((name) => name.startsWith(value)))
      },
      content: Effect.fn(function*(_uri, name) {
        return `page ${name}`
      })
    }),
    McpServer.prompt({
      name: "review",
      description: "Reviews code.",
      parameters: { code: Schema.String },
      completion: {
        code: (value: string) => Effect.succeed(["client", "server"].filter((name) => name.startsWith(value)))
      },
      content: ({ code }) => Effect.succeed(`Review ${code}`)
    })
  )
} as const
