/**
 * Requests with mistakes all over the check order, each with the status that it has to get: of several mistakes the one
 * that is looked for first is answered.
 */
import { HttpRules, Json, Revision } from "@fairlead/protocol"
import { TestRequest } from "@fairlead/testing"
import * as fc from "fast-check"
import type { Front } from "./server.ts"
import { limits } from "./Tools.ts"

/** Bytes to send over a connection of their own, and the statuses that may come back. */
export interface Fuzzed {
  /** In the parts in which they are sent. */
  readonly parts: ReadonlyArray<Uint8Array>
  readonly expected: ReadonlyArray<number>
  /** The mistakes, in the order in which they are looked for. */
  readonly mistakes: ReadonlyArray<string>
}

/** One thing that is different from a good request. */
interface Change {
  readonly message?: (message: Json.Object) => Json.Object
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly method?: string
  readonly target?: string
  readonly body?: (text: string) => Uint8Array | string
  /** What the bytes of the head become. */
  readonly head?: (head: string) => string
  /** Whether the body comes in chunks. */
  readonly chunked?: boolean
}

/** A mistake and the statuses it may be answered with. */
interface Mistake extends Change {
  readonly expected: ReadonlyArray<number>
}

interface Stage {
  readonly name: string
  readonly mistake: fc.Arbitrary<Mistake>
}

const { meta } = Revision

const paramsOf = (message: Json.Object) => message["params"] as Json.Object
const present = (members: Record<string, Json.Value | undefined>): Json.Object =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, Json.Value] => entry[1] !== undefined))

const withParams = (change: Record<string, Json.Value | undefined>): Change => ({
  message: (message) => ({ ...message, params: present({ ...paramsOf(message), ...change }) })
})
const withMeta = (change: Record<string, Json.Value | undefined>): Change => ({
  message: (message) =>
    withParams({ _meta: present({ ...paramsOf(message)["_meta"] as Json.Object, ...change }) }).message!(message)
})
const withMembers = (change: Record<string, Json.Value | undefined>): Change => ({
  message: (message) => present({ ...message, ...change })
})

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1
})
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json.Value>
const notText = json.filter((value) => typeof value !== "string")
const notObject = json.filter((value) => !Json.isObject(value))

const mistakes = <A>(values: fc.Arbitrary<A>, expected: number | ReadonlyArray<number>, change: (value: A) => Change) =>
  values.map((value): Mistake => ({ ...change(value), expected: typeof expected === "number" ? [expected] : expected }))

const header = (name: string, values: fc.Arbitrary<string | undefined>, expected: number) =>
  mistakes(values, expected, (value) => ({ headers: { [name]: value } }))

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

const stages: ReadonlyArray<Stage> = [
  {
    name: "HTTP",
    mistake: fc.oneof(
      mistakes(fc.string({ minLength: 1 }), 400, (line) => ({ head: (head) => `\u0001${line}\r\n${head}` })),
      mistakes(fc.constant(undefined), 400, () => ({ head: (head) => head.replace("HTTP/1.1", "HTTP/7.7") })),
      mistakes(fc.constant(undefined), 400, () => ({ head: (head) => head.replace("\r\n", "\r\nno colon\r\n") })),
      mistakes(
        fc.integer({ min: 17_000, max: 30_000 }),
        431,
        (length) => ({ headers: { "x-long": "x".repeat(length) } })
      ),
      header("host", fc.constant(undefined), 400)
    )
  },
  {
    name: "Host",
    mistake: header(
      "host",
      fc.oneof(
        fc.constantFrom(
          "evil.example",
          "localhost.evil.example",
          "localhost:x",
          "127.0.0.1.evil.example",
          "a b",
          "::1",
          "[::1"
        ),
        visible.filter((value) => !loopback.test(value))
      ),
      403
    )
  },
  {
    name: "Origin",
    mistake: header(
      "origin",
      fc.oneof(
        fc.constantFrom(
          "null",
          "http://evil.example",
          "https://localhost",
          "http://localhost.evil.example",
          "localhost"
        ),
        visible.filter((value) => !value.toLowerCase().startsWith("http://"))
      ),
      403
    )
  },
  {
    name: "path",
    mistake: mistakes(
      fc.oneof(
        fc.constantFrom("/", "/mcp/", "/mcp2", "//mcp", "/MCP", "/%6dcp", "*"),
        fc.webPath().filter((path) => path !== "/mcp" && path !== "")
      ),
      404,
      (target) => ({ target })
    )
  },
  {
    name: "method",
    mistake: mistakes(
      fc.constantFrom("GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"),
      405,
      (method) => ({ method })
    )
  },
  {
    name: "Content-Type",
    mistake: header(
      "content-type",
      fc.constantFrom(
        undefined,
        "text/plain",
        "application/jsonx",
        "text/plain; x=application/json",
        "application",
        ","
      ),
      415
    )
  },
  {
    name: "Accept",
    mistake: header(
      "accept",
      fc.oneof(
        fc.constantFrom(
          "text/html",
          "application/json;q=0",
          "application/json;q=0, text/event-stream;q=0.0",
          "image/*"
        ),
        visible.filter((value) => !/[*,;]|json|event/i.test(value))
      ),
      406
    )
  },
  {
    name: "size",
    mistake: fc.record({
      more: fc.integer({ min: limits.maxBodyBytes, max: 4 * limits.maxBodyBytes }),
      chunked: fc.boolean()
    }).map(({ chunked, more }): Mistake => ({ chunked, body: (text) => text + " ".repeat(more), expected: [413] }))
  },
  {
    name: "text",
    mistake: fc.oneof(
      mistakes(fc.nat(), 400, (at) => ({ body: (text) => text.slice(0, at % text.length) })),
      mistakes(fc.string({ unit: "binary" }), 400, (body) => ({ body: () => body })),
      mistakes(fc.uint8Array(), 400, (bytes) => ({ body: () => Buffer.from([0xff, ...bytes]) })),
      mistakes(fc.integer({ min: limits.maxJsonDepth + 1, max: 2000 }), 400, (depth) => ({
        body: () => "[".repeat(depth) + "]".repeat(depth)
      })),
      mistakes(
        fc.integer({ min: limits.maxJsonDepth + 1, max: 1500 }),
        400,
        (depth) => ({ body: () => "{\"a\":".repeat(depth) })
      ),
      mistakes(json, 400, (value) => ({ body: () => JSON.stringify(value) })),
      mistakes(fc.constantFrom("}", "\u0000", ",{}", "\ufeff{}"), 400, (tail) => ({ body: (text) => text + tail }))
    )
  },
  {
    name: "envelope",
    mistake: fc.oneof(
      mistakes(json.filter((value) => value !== "2.0"), 400, (jsonrpc) => withMembers({ jsonrpc })),
      mistakes(
        json.filter((value) => typeof value !== "string" && !(typeof value === "number" && Number.isInteger(value))),
        400,
        (id) => withMembers({ id })
      ),
      mistakes(notText, 400, (method) => withMembers({ method })),
      mistakes(notObject, 400, (params) => withMembers({ params })),
      mistakes(fc.constant(undefined), 202, () => withMembers({ id: undefined, method: "notifications/x" }))
    )
  },
  {
    name: "_meta",
    mistake: fc.oneof(
      mistakes(notObject, 400, (_meta) => withParams({ _meta })),
      mistakes(fc.constant(undefined), 400, (_meta) => withParams({ _meta })),
      mistakes(notText, 400, (version) => withMeta({ [meta.protocolVersion]: version })),
      mistakes(fc.constant(undefined), 400, (version) => withMeta({ [meta.protocolVersion]: version })),
      mistakes(notObject, 400, (capabilities) => withMeta({ [meta.clientCapabilities]: capabilities })),
      mistakes(fc.constant(undefined), 400, (capabilities) => withMeta({ [meta.clientCapabilities]: capabilities }))
    )
  },
  {
    name: "version header",
    mistake: header(
      HttpRules.headerNames.protocolVersion,
      fc.oneof(fc.constant(undefined), visible.filter((value) => value !== Revision.latest.version)),
      400
    )
  },
  {
    name: "version",
    mistake: mistakes(visible.filter((value) => value !== Revision.latest.version), 400, (version) => ({
      ...withMeta({ [meta.protocolVersion]: version }),
      headers: { [HttpRules.headerNames.protocolVersion]: version }
    }))
  },
  {
    name: "routing headers",
    mistake: fc.oneof(
      header("mcp-method", fc.oneof(fc.constant(undefined), visible.filter((value) => value !== "tools/call")), 400)
    )
  },
  {
    name: "name header",
    mistake: header("mcp-name", fc.oneof(fc.constant(undefined), visible.filter((value) => value !== "echo")), 400)
  },
  {
    name: "optional _meta",
    mistake: mistakes(
      notText.filter((value) => !(typeof value === "number" && Number.isInteger(value))),
      200,
      (token) => withMeta({ [meta.progressToken]: token })
    )
  },
  {
    name: "unknown method",
    mistake: mistakes(visible, 404, (name) => ({
      message: (message) => ({ ...message, method: `x/${name}` }),
      headers: { "mcp-method": `x/${name}` }
    }))
  },
  {
    name: "params",
    mistake: fc.oneof(
      mistakes(
        visible,
        200,
        (name) => ({ ...withParams({ name: `no-${name}` }), headers: { "mcp-name": `no-${name}` } })
      ),
      mistakes(json, 200, (value) => withParams({ arguments: value })),
      mistakes(fc.dictionary(fc.string({ unit: "binary" }), json), 200, (args) => withParams({ arguments: args }))
    )
  }
]

/** What may differ without being a mistake. */
const harmless: ReadonlyArray<fc.Arbitrary<Change>> = [
  fc.constantFrom("localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]", "[::1]:65535").map((host) => ({
    headers: { host }
  })),
  fc.constantFrom(undefined, "http://localhost", "HTTP://127.0.0.1:5173", "http://[::1]:1").map((origin) => ({
    headers: { origin }
  })),
  fc.constantFrom("application/json", "Application/JSON; charset=utf-8").map((type) => ({
    headers: { "content-type": type }
  })),
  fc.constantFrom(
    undefined,
    "*/*",
    "application/json",
    "application/*;q=0.1",
    "text/event-stream",
    "text/html, */*;q=0.5"
  ).map(
    (accept) => ({ headers: { accept } })
  ),
  fc.boolean().map((chunked) => ({ chunked })),
  fc.oneof(fc.string({ unit: "binary" }), fc.integer()).map((id) => withMembers({ id })),
  fc.oneof(fc.constant(undefined), visible).map((correlation) => ({ headers: { "x-correlation-id": correlation } }))
]

const base = (): Json.Object =>
  JSON.parse(TestRequest.make("tools/call", { name: "echo", arguments: { text: "é🙂" } }).body) as Json.Object

const bytesOf = (text: string | Uint8Array): Buffer => typeof text === "string" ? Buffer.from(text) : Buffer.from(text)

const framed = (body: Buffer, chunkBytes: number): ReadonlyArray<Buffer> => {
  const parts: Array<Buffer> = []
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes)
    parts.push(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]))
  }
  return [...parts, Buffer.from("0\r\n\r\n")]
}

/** The request with changes, later ones over earlier ones. */
const build = (changes: ReadonlyArray<Change>, chunkBytes: number): ReadonlyArray<Uint8Array> => {
  const message = changes.reduce((made, change) => change.message?.(made) ?? made, base())
  const text = changes.reduce<string | Uint8Array>(
    (made, change) => change.body?.(typeof made === "string" ? made : Buffer.from(made).toString()) ?? made,
    Json.stringify(message)
  )
  const body = bytesOf(text)
  const isChunked = changes.reduce((made, change) => change.chunked ?? made, false)
  const headers: Record<string, string | undefined> = {
    ...TestRequest.make("tools/call", { name: "echo", arguments: {} }).headers,
    host: "localhost",
    ...(isChunked ? { "transfer-encoding": "chunked" } : { "content-length": String(body.length) })
  }
  for (const change of changes) Object.assign(headers, change.headers)
  const method = changes.reduce((made, change) => change.method ?? made, "POST")
  const target = changes.reduce((made, change) => change.target ?? made, "/mcp")
  const lines = Object.entries(headers).flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}`])
  const head = changes.reduce(
    (made, change) => change.head?.(made) ?? made,
    `${method} ${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`
  )
  return [Buffer.from(head, "latin1"), ...(isChunked ? framed(body, chunkBytes) : [body])]
}

/** A request has one or two mistakes as a rule, and sometimes none. */
const sometimes = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.oneof({ weight: 11, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary })

/** A request to a front; one of the router has its path from there. */
export const fuzzed = (front: Exclude<Front, "stdio">): fc.Arbitrary<Fuzzed> => {
  const own = stages.filter(({ name }) => front === "listener" || name !== "path")
  return fc.record({
    mistakes: fc.tuple(...own.map(({ mistake }) => sometimes(mistake))),
    harmless: fc.tuple(...harmless),
    chunkBytes: fc.integer({ min: 1, max: limits.maxBodyBytes })
  }).map(({ chunkBytes, harmless, mistakes }): Fuzzed => {
    const made = mistakes.flatMap((mistake, index) =>
      mistake === undefined ? [] : [{ mistake, name: own[index]!.name }]
    )
    const isUnknown = made.some(({ name }) => name === "unknown method")
    // Of a method that is not known nothing says which name a header would repeat.
    const first = made.find(({ name }) => !(isUnknown && name === "name header"))
    return {
      // The first mistakes last: a later one must not undo them.
      parts: build([...harmless, ...made.map(({ mistake }) => mistake).reverse()], chunkBytes),
      expected: first?.mistake.expected ?? [200],
      mistakes: made.map(({ name }) => name)
    }
  })
}
