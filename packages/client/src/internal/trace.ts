/**
 * The trace context of the current span, as W3C writes it (spec: basic, _meta).
 */
import * as Revision from "@fairlead/protocol/Revision"
import * as Context from "effect/Context"
import * as Tracer from "effect/Tracer"

const traceId = /^(?!0{32})[0-9a-f]{32}$/
const spanId = /^(?!0{16})[0-9a-f]{16}$/

/** Absent where there is no span, or one whose ids cannot be written that way. */
export const traceparentOf = (context: Context.Context<never>): string | undefined => {
  const span = Context.getOrUndefined(context, Tracer.ParentSpan)
  return span === undefined || !traceId.test(span.traceId) || !spanId.test(span.spanId)
    ? undefined
    : `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`
}

const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
const listMember = /^[\x20-\x7e\t]{0,8192}$/

/** Whether a value is what the key of the trace context stands for. */
export const isTraceMember = (key: string, value: unknown): boolean =>
  typeof value === "string" && (key === Revision.meta.traceparent ? traceparent : listMember).test(value)
