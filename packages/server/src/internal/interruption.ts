/**
 * Why a handler is interrupted from outside; an annotation of the cause, for finalizers that want to know.
 */
import * as Context from "effect/Context"

/** `input` ends a round, not the request. */
export type InterruptReason = "disconnect" | "cancelled" | "deadline" | "stop" | "input"

export const InterruptedBy: Context.Reference<InterruptReason | undefined> = Context.Reference<
  InterruptReason | undefined
>("@fairlead/server/InterruptedBy", { defaultValue: () => undefined })
