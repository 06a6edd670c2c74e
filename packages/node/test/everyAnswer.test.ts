/** Every answer of every front over HTTP says the version that it speaks. */
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { NodeMcpEndpoint } from "@fairlead/node"
import { Content, Revision, Tool } from "@fairlead/protocol"
import { HttpApp, McpEndpoint, McpServer, RequestContext, WebHandler } from "@fairlead/server"
import { TestRequest } from "@fairlead/testing"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpRouter, HttpServer } from "effect/http"
import * as Layer from "effect/Layer"
import { once } from "node:events"
import * as Http from "node:http"

const registrations = Layer.mergeAll(
  McpServer.tool(Tool.make("greet"), () => Effect.succeed([Content.text("Hello")])),
  McpServer.tool(Tool.make("hang"), () => Effect.never),
  McpServer.tool(Tool.make("die"), () => Effect.die(new Error("broken")))
)

interface Answer {
  readonly status: number
  readonly version: string | null | undefined
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const over = (port: number) => async ({ body, headers, method, path }: Sent): Promise<Answer> => {
  const request = Http.request({ host: "127.0.0.1", port, path, method, headers, agent: false })
  request.end(method === "POST" ? body : undefined)
  const [response] = await once(request, "response") as [Http.IncomingMessage]
  response.resume()
  await once(response, "end")
  return { status: response.statusCode!, version: response.headers["mcp-protocol-version"] as string | undefined }
}

const listener = (endpoint: Layer.Layer<McpEndpoint.McpEndpoint, unknown>) =>
  Effect.map(
    Layer.build(Layer.provide(NodeMcpEndpoint.layerHttp({ health: true }), endpoint)),
    (services) => over(Context.get(services, NodeMcpEndpoint.HttpListener).port)
  )

const router = (endpoint: Layer.Layer<McpEndpoint.McpEndpoint, unknown>) =>
  Effect.map(
    Layer.build(
      HttpRouter.serve(HttpApp.route("/mcp"), { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(() => Http.createServer(), { port: 0, host: "127.0.0.1" })),
        Layer.provide(endpoint)
      )
    ),
    (services) => {
      const { address } = Context.get(services, HttpServer.HttpServer)
      return over("port" in address ? address.port : 0)
    }
  )

const webHandler = (endpoint: Layer.Layer<McpEndpoint.McpEndpoint, unknown>) =>
  Effect.map(Layer.build(endpoint), (services) => async ({ body, headers, method, path }: Sent): Promise<Answer> => {
    const handle = await Effect.runPromise(Effect.provideContext(WebHandler.make, services))
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      ...method === "POST" ? { body } : {}
    })
    const response = await handle(request)
    await response.text()
    return { status: response.status, version: response.headers.get("mcp-protocol-version") }
  })

interface Row {
  readonly status: number
  readonly tool?: string
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly options?: Partial<McpEndpoint.Options>
}

const rows: Readonly<Record<string, Row>> = {
  "a result": { status: 200 },
  "a stream": { status: 200, headers: { accept: "text/event-stream" } },
  "an error in a result's place": { status: 200, tool: "die" },
  "a notification": { status: 202, body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/x" }) },
  "a preflight": {
    status: 204,
    method: "OPTIONS",
    headers: { origin: "http://localhost", "access-control-request-method": "POST" }
  },
  "no JSON": { status: 400, body: "{" },
  "another version": { status: 400, headers: { "mcp-protocol-version": "1999-01-01" } },
  "a refusal of the verifier": {
    status: 401,
    options: { verify: () => Effect.fail(new RequestContext.Refused({ status: 401, message: "Who are you" })) }
  },
  "another host": { status: 403, headers: { host: "evil.example" } },
  "another origin": { status: 403, headers: { origin: "null" } },
  "an unknown method": {
    status: 404,
    headers: { "mcp-method": "x/y" },
    body: TestRequest.make("x/y", {}).body
  },
  "a method of HTTP that is not served": { status: 405, method: "GET" },
  "an answer that the client does not take": { status: 406, headers: { accept: "text/html" } },
  "a body beyond the limit": { status: 413, options: { maxBodyBytes: 10 } },
  "a body of another type": { status: 415, headers: { "content-type": "text/plain" } },
  "a callback that dies": { status: 500, options: { verify: () => Effect.die(new Error("broken")) } },
  "a deadline": { status: 504, tool: "hang", options: { requestTimeout: "20 millis" } },
  "a deadline before the message was read": {
    status: 504,
    options: { requestTimeout: "20 millis", verify: () => Effect.never }
  }
}

/** What a listener answers by itself; the others leave it to their hosts. */
const ofListener: Readonly<Record<string, Row>> = {
  "another path": { status: 404, path: "/other" },
  "its health": { status: 200, method: "GET", path: "/healthz" },
  "its readiness": { status: 200, method: "GET", path: "/readyz" }
}

const cases = ([["listener", listener], ["router", router], ["web handler", webHandler]] as const).flatMap(
  ([name, front]) =>
    Object.entries(name === "listener" ? { ...rows, ...ofListener } : rows).map(([row, what]) =>
      [name, row, front, what] as const
    )
)

const ask = (front: typeof listener | typeof router | typeof webHandler, { options, ...row }: Row) =>
  Effect.gen(function*() {
    const endpoint = McpEndpoint.serve({ name: "test", version: "1", ...options })(registrations)
    const send = yield* front(endpoint)
    const { body, headers } = TestRequest.make("tools/call", { name: row.tool ?? "greet" })
    return yield* Effect.promise(() =>
      send({
        method: row.method ?? "POST",
        path: row.path ?? "/mcp",
        headers: { ...headers, ...row.headers },
        body: row.body ?? body
      })
    )
  })

describe("every answer says the version", () => {
  it.live.each(cases)("of the %s: %s", ([, , front, row]) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ask(front, row), { status: row.status, version: Revision.latest.version })
    }))

  it.live.each([["listener", listener], ["router", router], ["web handler", webHandler]] as const)(
    "of a %s that stops",
    ([, front]) =>
      Effect.gen(function*() {
        const served = McpEndpoint.serve({ name: "test", version: "1" })(registrations)
        const stopped = Layer.effectDiscard(Effect.flatMap(McpEndpoint.McpEndpoint, ({ stop }) => stop))
        const answer = yield* ask(() => front(Layer.provideMerge(stopped, served)), { status: 503 })
        assert.deepStrictEqual(answer, { status: 503, version: Revision.latest.version })
      })
  )
})
