import { assert, describe, expect, it } from "@effect/vitest"
import { HttpExchange } from "@fairlead/client"
import { verifies } from "@fairlead/conformance/verifies"
import { Call, HttpRules, type JsonRpc, Revision, type Transport } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fc from "fast-check"

const outgoing = (heard: Array<JsonRpc.Notification> = []): Transport.Outgoing => ({
  id: 7,
  method: Revision.method.callTool,
  params: { name: "search", arguments: {} },
  text: "",
  headers: [["x-correlation-id", "order-42"]],
  sent: () => {},
  notify: (notification) => heard.push(notification)
})

const head = (status: number, headers: Readonly<Record<string, string>>): HttpExchange.Head => ({
  status,
  header: (name) => headers[name]
})

const answer = JSON.stringify({ jsonrpc: "2.0", id: 7, result: { text: "è🙂" } })
const report = JSON.stringify({ jsonrpc: "2.0", method: "notifications/progress", params: { progress: 1 } })

const chunksOf = (bytes: Uint8Array, points: ReadonlyArray<number>) => {
  const cuts = [...new Set(points.map((point) => point % bytes.length))].sort((a, b) => a - b)
  return [...cuts, bytes.length].map((cut, i) => bytes.subarray(i === 0 ? 0 : cuts[i - 1], cut))
}

const limits = { maxResponseBytes: 1024, maxStreamBytes: 4096 }

/** How a call ends whose answer comes in these chunks. */
const endOf = (
  its: HttpExchange.Head,
  chunks: ReadonlyArray<Uint8Array>,
  { heard, limit = 1024 }: { readonly heard?: Array<JsonRpc.Notification>; readonly limit?: number } = {}
): HttpExchange.Outcome => {
  const reader = HttpExchange.reader(outgoing(heard), its, { ...limits, maxResponseBytes: limit })
  if (Result.isFailure(reader)) return Result.fail(reader.failure)
  for (const chunk of chunks) {
    const outcome = reader.success.feed(chunk)
    if (outcome !== undefined) return outcome
  }
  return reader.success.end()
}

const failureOf = (outcome: HttpExchange.Outcome) => {
  assert(Result.isFailure(outcome))
  return outcome.failure
}

const utf8 = (text: string) => new TextEncoder().encode(text)

describe("HttpExchange", () => {
  it("reads a JSON answer cut anywhere", () => {
    fc.assert(fc.property(fc.array(fc.nat()), (points) => {
      const outcome = endOf(
        head(200, { "content-type": "application/json", "retry-after": "3" }),
        chunksOf(utf8(answer), points)
      )
      assert(Result.isSuccess(outcome))
      expect(outcome.success).toMatchObject({
        response: { _tag: "Success", id: 7, result: { text: "è🙂" } },
        status: 200,
        retryAfter: "3"
      })
    }))
  })

  it(verifies("HTTP-10@client")("reads an event stream cut anywhere, and ends at the answer"), () => {
    const bytes = utf8(`: hello\n\ndata: ${report}\n\ndata: not a message\n\ndata: ${answer}\n\n`)
    fc.assert(fc.property(fc.array(fc.nat()), (points) => {
      const heard: Array<JsonRpc.Notification> = []
      const outcome = endOf(head(200, { "content-type": "text/event-stream" }), chunksOf(bytes, points), { heard })
      assert(Result.isSuccess(outcome))
      expect(outcome.success.response).toMatchObject({ result: { text: "è🙂" } })
      expect(heard.map(({ method }) => method)).toEqual(["notifications/progress"])
    }))
  })

  it.effect("says how many events it skipped", () =>
    Effect.gen(function*() {
      const reader = Result.getOrThrow(
        HttpExchange.reader(outgoing(), head(200, { "content-type": "text/event-stream" }), limits)
      )
      expect(reader.feed(utf8("data: 1\n\ndata: 2\n\n"))).toBeUndefined()
      expect(reader.skipped()).toBe(2)
      yield* HttpExchange.logSkipped(reader.skipped())
    }))

  it("takes an answer of exactly the limit and no byte more", () => {
    const bytes = utf8(answer)
    const json = { "content-type": "application/json" }
    expect(Result.isSuccess(endOf(head(200, json), [bytes], { limit: bytes.length }))).toBe(true)
    expect(failureOf(endOf(head(200, json), [bytes], { limit: bytes.length - 1 }))).toMatchObject({
      _tag: "ResponseTooLarge",
      limit: bytes.length - 1
    })
    expect(failureOf(endOf(head(200, { ...json, "content-length": "1025" }), []))._tag).toBe("ResponseTooLarge")
    expect(Result.isFailure(HttpExchange.reader(outgoing(), head(200, { ...json, "content-length": "1025" }), limits)))
      .toBe(true)
  })

  it.each<readonly [number, Readonly<Record<string, string>>, string, object]>([
    [200, { "content-type": "text/html" }, "<p>", { _tag: "MalformedResponse" }],
    [200, { "content-type": "application/json" }, "[]", { _tag: "MalformedResponse" }],
    [200, {}, "", { _tag: "MalformedResponse" }],
    [200, { "content-type": "text/event-stream" }, ": bye\n\n", { _tag: "ConnectionClosed", evidence: "MaybeSent" }],
    [503, { "content-type": "text/event-stream", "retry-after": "9" }, "", {
      _tag: "HttpStatus",
      status: 503,
      retryAfter: "9"
    }],
    [401, { "content-type": "text/plain", "www-authenticate": "Bearer" }, "", {
      _tag: "HttpStatus",
      status: 401,
      wwwAuthenticate: "Bearer"
    }],
    [403, { "content-type": "text/plain; charset=utf-8", "content-length": "8" }, "Not you.", {
      _tag: "HttpStatus",
      status: 403,
      text: "Not you."
    }],
    [403, { "content-type": "text/plain", "content-length": "5" }, "Not", { _tag: "HttpStatus", text: "Not" }],
    [403, { "content-type": "text/plain", "content-length": "3" }, "Not you.", { _tag: "HttpStatus", text: undefined }],
    [403, { "content-type": "text/plain", "content-length": "2000" }, "", { _tag: "HttpStatus", text: undefined }],
    [403, { "content-type": "text/html", "content-length": "3" }, "<p>", { _tag: "HttpStatus", text: undefined }],
    [307, { location: "https://example.com/" }, "", {
      _tag: "HttpStatus",
      status: 307,
      location: "https://example.com/"
    }]
  ])("status %i with %j and the body %j", (status, headers, body, expected) => {
    expect(failureOf(endOf(head(status, headers), [utf8(body)]))).toMatchObject(expected)
  })

  it(
    verifies("HTTP-6", "HDR-1")("writes the headers of the protocol, and what the client adds"),
    () => {
      expect(Object.fromEntries(HttpExchange.requestHeaders(outgoing()))).toEqual({
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...Object.fromEntries(HttpRules.requestHeaders(Revision.method.callTool, { name: "search" })),
        "x-correlation-id": "order-42"
      })
    }
  )

  it.each<readonly [unknown, object]>([
    [{ code: "ECONNREFUSED" }, { _tag: "ConnectFailed", detail: "ECONNREFUSED" }],
    [{ cause: { code: "ENOTFOUND" } }, { _tag: "ConnectFailed", detail: "ENOTFOUND" }],
    [{ code: "ETIMEDOUT", syscall: "connect" }, { _tag: "ConnectFailed", detail: "ETIMEDOUT" }],
    [{ code: "ECONNRESET", syscall: "read" }, { _tag: "ConnectionClosed", evidence: "MaybeSent" }],
    [new Error("x"), { _tag: "ConnectionClosed", evidence: "MaybeSent" }],
    [undefined, { _tag: "ConnectionClosed", evidence: "MaybeSent" }]
  ])("what is lost: %j", (error, expected) => {
    expect(HttpExchange.lost(error)).toMatchObject(expected)
  })

  it.effect("checks the settings that all HTTP transports have", () =>
    Effect.gen(function*() {
      const { headers, limits, url } = yield* HttpExchange.settings({
        url: "http://127.0.0.1:3000",
        headers: [["X-Tenant", "a"], ["x-tenant", "b"]]
      })
      expect({ ...headers }).toEqual({ "x-tenant": "a, b" })
      expect(limits).toEqual({ maxResponseBytes: 1024 * 1024, maxStreamBytes: 16 * 1024 * 1024 })
      expect(url.href).toBe("http://127.0.0.1:3000/")
      const bad = yield* Effect.flip(HttpExchange.settings({ url: "ftp://example.com" }))
      expect(bad.reason).toMatchObject({ _tag: "InvalidConfig", field: "url" })
      const open = yield* Effect.flip(HttpExchange.settings({ url: "http://example.com", headers: [["a", "b"]] }))
      expect(open.code).toBe("refused")
      for (const maxStreamBytes of [0, -1, 1.5, NaN]) {
        const error = yield* Effect.flip(HttpExchange.settings({ url: "http://127.0.0.1", maxStreamBytes }))
        expect(error.reason).toMatchObject({ _tag: "InvalidConfig", field: "maxStreamBytes" })
      }
      const endless = yield* HttpExchange.settings({ url: "http://127.0.0.1", maxStreamBytes: Infinity })
      expect(endless.limits.maxStreamBytes).toBe(Infinity)
    }))

  it.effect("asks whether the host is allowed", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const allowHost = (host: string) => {
        asked.push(host)
        if (host === "throws.example.com") throw new Error("s3cret")
        return host === "good.example.com"
      }
      yield* HttpExchange.settings({ url: "https://good.example.com:8443/mcp", allowHost })
      for (const url of ["https://bad.example.com/", "https://throws.example.com/"]) {
        const error = yield* Effect.flip(HttpExchange.settings({ url, allowHost }))
        expect(error.code).toBe("refused")
        expect(error.isRetryable({ idempotent: true })).toBe(false)
        expect(JSON.stringify(error) + String(error)).not.toMatch(/s3cret|example/)
      }
      expect(asked).toEqual(["good.example.com", "bad.example.com", "throws.example.com"])
    }))

  it("bounds the stream of a call, not one that listens", () => {
    const noise = utf8(`: ${"x".repeat(limits.maxStreamBytes)}\n\n`)
    const its = head(200, { "content-type": "text/event-stream" })
    const call = Result.getOrThrow(HttpExchange.reader(outgoing(), its, limits))
    expect(call.feed(utf8(": hello\n\n"))).toBeUndefined()
    const cut = call.feed(noise)
    expect(cut !== undefined && failureOf(cut)).toMatchObject({
      _tag: "ResponseTooLarge",
      limit: limits.maxStreamBytes
    })
    const listening = { ...outgoing(), method: Revision.method.listen }
    const listen = Result.getOrThrow(HttpExchange.reader(listening, its, limits))
    expect(listen.feed(noise)).toBeUndefined()
  })

  it.each<readonly [number, string | undefined, string | undefined]>([
    [307, "/next", "https://example.com/next"],
    [308, "https://example.com/next?a=1", "https://example.com/next?a=1"],
    [308, "next", "https://example.com/a/next"],
    [301, "/next", undefined],
    [302, "/next", undefined],
    [303, "/next", undefined],
    [307, undefined, undefined],
    [307, "http://example.com/next", undefined],
    [307, "https://example.com:8443/next", undefined],
    [307, "//other.example.com/next", undefined],
    [307, "https://user@example.com/next", undefined],
    [307, "http://[", undefined],
    [200, "/next", undefined]
  ])("a redirect with %i to %s leads to %s", (status, location, target) => {
    const found = HttpExchange.redirect(
      head(status, location === undefined ? {} : { location }),
      new URL("https://example.com/a/b")
    )
    expect(found?.href).toBe(target)
  })

  it.effect("headers that are computed see no `Call`", () =>
    Effect.gen(function*() {
      const { headers } = yield* HttpExchange.settings({
        url: "http://127.0.0.1:3000",
        headers: Effect.map(Call.Current, ({ correlation }) => [["x-seen", correlation ?? "none"]] as const)
      })
      assert(Effect.isEffect(headers))
      expect({ ...yield* headers.pipe(Call.withCorrelation("order-42")) }).toEqual({ "x-seen": "none" })
    }))
})
