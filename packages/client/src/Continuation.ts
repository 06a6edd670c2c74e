/**
 * A call that waits for input, as data: what it was, what was asked, and the server's state. It holds no client and no
 * connection, so it can be stored and continued in another process, by `McpClient.resume`.
 *
 * **Example** (Keeping a continuation as text)
 *
 * ```ts
 * import { type CallEnding, Continuation } from "@fairlead/client"
 *
 * export const keep = (paused: CallEnding.InputRequired): string => Continuation.toText(paused.continuation)
 * export const restore = (text: string) => Continuation.fromText(text)
 * ```
 *
 * @since 0.1.0
 */
import * as Content from "@fairlead/protocol/Content"
import * as Json from "@fairlead/protocol/Json"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import { describe } from "./internal/issues.ts"

/**
 * A call that waits for input. Encoded and decoded it is the same JSON; keep it as secret as the arguments of the call.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Continuation = Schema.Struct({
  /** The method of the call, such as `tools/call`. */
  method: Schema.String,
  /** The name of the tool or prompt, or the URI of the resource. */
  name: Schema.String,
  /** The parameters as they were sent, without metadata and answers. */
  params: Content.Metadata,
  /** The parameter headers that it was sent with. */
  headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  /** What is asked, by the server's keys. */
  requests: Schema.Record(Schema.String, Schema.Struct({ method: Schema.String, params: Content.Metadata })),
  /** The server's state, to be sent back as it is. */
  state: Schema.optionalKey(Schema.String),
  /** The correlation of the call, which its rounds share. */
  correlation: Schema.String
})

/**
 * A call that waits for input.
 *
 * @category models
 * @since 0.1.0
 */
export type Continuation = typeof Continuation.Type

/**
 * A text that is no continuation; `detail` says where, and never what.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidContinuation extends Schema.TaggedError<InvalidContinuation>()("InvalidContinuation", {
  detail: Schema.String
}) {
  override get message(): string {
    return `This is no continuation: ${this.detail}`
  }
}

/**
 * Writes a continuation as one line of JSON. Numbers keep all their digits.
 *
 * @category codecs
 * @since 0.1.0
 */
export const toText = (self: Continuation): string => Json.stringify(self)

const decode = SchemaParser.decodeUnknownResult(Continuation)

/**
 * Reads what {@link toText} wrote.
 *
 * @category codecs
 * @since 0.1.0
 */
export const fromText = (text: string): Result.Result<Continuation, InvalidContinuation> => {
  const json = Json.parse(text)
  if (Result.isFailure(json)) return Result.fail(new InvalidContinuation({ detail: "it is not JSON" }))
  return Result.mapError(
    decode(json.success),
    (issue) => new InvalidContinuation({ detail: describe("continuation", issue) })
  )
}
