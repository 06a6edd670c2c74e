/**
 * A peer that breaks the protocol on demand: the name of the tool that is called says how. It is one function from a
 * request to what is written, so it can stand behind any transport: `fetch` serves it to HTTP, `lines` to byte streams.
 *
 * @since 0.1.0
 */
import * as Frames from "@fairlead/protocol/Frames"
import * as Json from "@fairlead/protocol/Json"
import * as JsonRpc from "@fairlead/protocol/JsonRpc"
import * as Revision from "@fairlead/protocol/Revision"
import * as Result from "effect/Result"

/**
 * How answers find their requests: `exchange` where each request has an answer of its own, as in HTTP, `shared` where
 * messages of many requests come over one channel and only the id tells.
 *
 * @category models
 * @since 0.1.0
 */
export type ChannelKind = "exchange" | "shared"

/**
 * What the peer does with a request: it writes the texts, all in one chunk, and then
 *
 * - `end`: the answer is complete
 * - `open`: nothing more comes, and the connection stays open
 * - `close`: the connection breaks
 *
 * @category models
 * @since 0.1.0
 */
export interface Script {
  readonly texts: ReadonlyArray<string>
  /** The last text is cut in the middle. */
  readonly cut?: boolean | undefined
  readonly then: "end" | "open" | "close"
}

/**
 * The names that {@link script} knows. Each is the name of a tool to call.
 *
 * @category models
 * @since 0.1.0
 */
export type Behaviour = keyof typeof behaviours

/**
 * What the peer says in all that breaks the protocol: a client repeats it nowhere but in the fields that are for it.
 *
 * @category constants
 * @since 0.1.0
 */
export const peerText = "told by the peer"

interface Context {
  readonly id: JsonRpc.RequestId
  readonly args: Json.Object
  readonly kind: ChannelKind
  readonly progressToken: Json.Value | undefined
  /** The answer that is right. */
  readonly good: string
}

const resultOf = (text: string): Json.Object => ({
  resultType: Revision.resultType.complete,
  content: [{ type: "text", text }]
})

const answer = (id: JsonRpc.RequestId, result: Json.Value): string => JsonRpc.encodeResult(id, Json.stringify(result))

const progress = (token: Json.Value, value: number): string =>
  JsonRpc.encodeNotification(Revision.notification.progress, { progressToken: token, progress: value })

const whole = (...texts: ReadonlyArray<string>): Script => ({ texts, then: "end" })

/** Where ids alone connect answers and requests, what belongs to nobody is passed over, and the answer follows. */
const stray = ({ good, kind }: Context, text: string): Script => kind === "shared" ? whole(text, good) : whole(text)

const otherId = (id: JsonRpc.RequestId): JsonRpc.RequestId => typeof id === "number" ? id + 1_000_000 : `${id}-other`

const sameDigits = (id: JsonRpc.RequestId): JsonRpc.RequestId => typeof id === "string" ? `${id} ` : String(id)

/** An answer of exactly so many bytes. */
const sized = (id: JsonRpc.RequestId, bytes: number): string => {
  const empty = answer(id, resultOf(""))
  return answer(id, resultOf("x".repeat(Math.max(0, bytes - empty.length))))
}

const behaviours = {
  /** The right answer. */
  "good": ({ good }: Context) => whole(good),
  /** The right answer, after which the connection stays open. */
  "good-and-open": ({ good }: Context): Script => ({ texts: [good], then: "open" }),
  /** No answer, ever. */
  "silence": (): Script => ({ texts: [], then: "open" }),
  /** The connection breaks before the answer. */
  "close": (): Script => ({ texts: [], then: "close" }),
  /** The connection breaks in the middle of the answer. */
  "close-midway": ({ good }: Context): Script => ({ texts: [good], cut: true, then: "close" }),
  /** An answer of exactly `bytes` bytes. */
  "sized": ({ args, id }: Context) => whole(sized(id, Number(args["bytes"]))),

  "not-json": (context: Context) => stray(context, peerText),
  "not-an-object": (context: Context) => stray(context, "5"),
  "batch": (context: Context) => stray(context, `[${context.good}]`),
  "other-id": (context: Context) => stray(context, answer(otherId(context.id), resultOf(peerText))),
  "id-of-another-type": (context: Context) => stray(context, answer(sameDigits(context.id), resultOf(peerText))),
  "result-without-id": (context: Context) =>
    stray(context, `{"jsonrpc":"2.0","result":${Json.stringify(resultOf(peerText))}}`),
  "request-from-server": (context: Context) => stray(context, JsonRpc.encodeRequest(context.id, "ping", {})),

  "no-version": ({ id }: Context) =>
    whole(`{"id":${Json.stringify(id)},"result":${Json.stringify(resultOf(peerText))}}`),
  "result-and-error": ({ id }: Context) =>
    whole(
      `{"jsonrpc":"2.0","id":${Json.stringify(id)},"result":${Json.stringify(resultOf(peerText))},` +
        `"error":{"code":-32603,"message":${Json.stringify(peerText)}}}`
    ),
  "neither-result-nor-error": ({ id }: Context) => whole(`{"jsonrpc":"2.0","id":${Json.stringify(id)}}`),
  "result-not-an-object": ({ id }: Context) => whole(answer(id, 5)),
  "error-not-an-object": ({ id }: Context) =>
    whole(`{"jsonrpc":"2.0","id":${Json.stringify(id)},"error":${Json.stringify(peerText)}}`),
  "fraction-as-code": ({ id }: Context) =>
    whole(`{"jsonrpc":"2.0","id":${Json.stringify(id)},"error":{"code":1.5,"message":${Json.stringify(peerText)}}}`),
  "unknown-result-type": ({ id }: Context) => whole(answer(id, { ...resultOf(peerText), resultType: peerText })),
  "content-not-a-list": ({ id }: Context) => whole(answer(id, { ...resultOf(peerText), content: peerText })),

  /** An answer without a result type, as servers of older revisions give it. */
  "no-result-type": ({ id }: Context) => whole(answer(id, { content: [{ type: "text", text: "good" }] })),
  /** An error whose id could not be read. */
  "error-without-id": () => whole(JsonRpc.encodeError(undefined, { code: -32603, message: peerText })),
  /** An error whose id is null, as servers write it that leave no member out. */
  "error-with-null-id": () => whole(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"${peerText}"}}`),
  /** An error with a code of the server's own. */
  "error": ({ id }: Context) => whole(JsonRpc.encodeError(id, { code: 4711, message: peerText, data: { é: "🙂" } })),

  /** An error that refuses the version of the client and names one that nobody speaks. */
  "other-version": ({ id }: Context) =>
    whole(JsonRpc.encodeError(id, {
      code: Revision.codes.unsupportedProtocolVersion,
      message: peerText,
      data: { supported: [peerText], requested: Revision.latest.version }
    })),
  /** A request for a form, whatever is sent with it: it asks again in each round. */
  "asks": ({ id }: Context) =>
    whole(answer(id, {
      resultType: Revision.resultType.inputRequired,
      inputRequests: {
        name: {
          method: Revision.inputMethod.elicit,
          params: { mode: "form", message: peerText, requestedSchema: { type: "object", properties: {} } }
        }
      }
    })),
  /** A request for input of a kind that no client knows. */
  "asks-for-the-unknown": ({ id }: Context) =>
    whole(answer(id, {
      resultType: Revision.resultType.inputRequired,
      inputRequests: { name: { method: peerText, params: {} } }
    })),

  /** Three reports and the answer, in one chunk. */
  "progress-with-answer": ({ good, progressToken }: Context) =>
    whole(...[1, 2, 3].map((value) => progress(progressToken ?? null, value)), good),
  /** Reports with tokens that nobody gave, then the answer. */
  "foreign-progress": ({ good, id }: Context) =>
    whole(progress("nobody", 1), progress(otherId(id), 2), progress(sameDigits(id), 3), progress(null, 4), good),
  /** A report after the answer. */
  "late-progress": ({ good, progressToken }: Context) => whole(good, progress(progressToken ?? null, 9)),
  /** Texts that are no messages of the protocol, then the answer. */
  "noise": ({ good }: Context) =>
    whole("Server started", " ", `{"type":"heartbeat"}`, `{"jsonrpc":"2.0","method":"notifications/unknown"}`, good)
} as const satisfies { readonly [name: string]: (context: Context) => Script }

/** Two more tools and one more cursor, for ever. */
const page = (id: JsonRpc.RequestId, cursor: Json.Value | undefined): Script => {
  const tools = ["left", "right"].map((side) => ({
    name: `${side}-${typeof cursor === "string" ? cursor : ""}`,
    inputSchema: { type: "object" }
  }))
  const nextCursor = `${typeof cursor === "string" ? cursor : ""}x`
  return whole(
    answer(id, { resultType: Revision.resultType.complete, tools, nextCursor, ttlMs: 0, cacheScope: "public" })
  )
}

/**
 * What the peer does with a message. Nothing for what is no request; a list of tools that never ends; an error for
 * requests that name no behaviour.
 *
 * @category scripts
 * @since 0.1.0
 */
export const script = (text: string, kind: ChannelKind): Script | undefined => {
  const decoded = JsonRpc.decode(text)
  if (Result.isFailure(decoded) || decoded.success._tag !== "Request") return undefined
  const { id, method, params } = decoded.success
  if (method === Revision.method.listTools) return page(id, params["cursor"])
  const { _meta: meta, arguments: args, name } = params
  const behaviour = typeof name === "string" && Object.hasOwn(behaviours, name)
    ? behaviours[name as Behaviour] as (context: Context) => Script
    : undefined
  if (behaviour === undefined) {
    return whole(JsonRpc.encodeError(id, { code: JsonRpc.codes.invalidParams, message: peerText }))
  }
  return behaviour({
    id,
    args: Json.isObject(args) ? args : {},
    kind,
    progressToken: Json.isObject(meta) ? meta[Revision.meta.progressToken] : undefined,
    good: answer(id, resultOf("good"))
  })
}

const encoder = new TextEncoder()
const half = (text: string): string => text.slice(0, text.length / 2)

/**
 * The peer as a function from `Request` to `Response`. A connection that breaks before the answer rejects; one that
 * breaks later fails the body.
 *
 * @category hosts
 * @since 0.1.0
 */
export const fetch = async (request: Request): Promise<Response> => {
  const found = script(await request.text(), "exchange")
  if (found === undefined) return new Response(null, { status: 202 })
  const { cut = false, texts, then } = found
  if (texts.length === 0) {
    if (then === "close") throw new TypeError("The connection broke")
    const { signal } = request
    return new Promise((_, reject) => {
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
    })
  }
  if (texts.length === 1 && then === "end") {
    return new Response(texts[0]!, { headers: { "content-type": "application/json" } })
  }
  const events = texts.map((text) => `data: ${text}\n\n`).join("")
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(encoder.encode(cut ? half(events) : events))
      if (then === "end") controller.close()
    },
    // Pulled once what stands above has been taken.
    pull: (controller) => then === "close" ? controller.error(new TypeError("The connection broke")) : never
  })
  return new Response(body, { headers: { "content-type": "text/event-stream" } })
}

const never = new Promise<void>(() => {})

/**
 * The peer on a pair of byte streams, one message a line: give it what comes in; it calls back with what goes out.
 *
 * @category hosts
 * @since 0.1.0
 */
export const lines = (output: {
  readonly write: (chunk: Uint8Array) => void
  /** Breaks the connection. */
  readonly close: () => void
}): { readonly feed: (chunk: Uint8Array) => void } =>
  Frames.makeSplitter({
    frame: (text) => {
      const found = script(text, "shared")
      if (found === undefined) return
      const all = found.texts.map((line) => `${line}\n`).join("")
      if (all !== "") output.write(encoder.encode(found.cut === true ? half(all) : all))
      if (found.then === "close") output.close()
    },
    oversize: () => {},
    malformed: () => {}
  })
