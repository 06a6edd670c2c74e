/**
 * Log messages of requests (spec: server/utilities/logging).
 */
import type { LogLevel } from "@fairlead/protocol/Messages"
import type * as EffectLogLevel from "effect/LogLevel"

/** The level of the protocol for one of Effect's. */
export const fromEffect = (level: EffectLogLevel.LogLevel): LogLevel => {
  switch (level) {
    case "Fatal":
      return "critical"
    case "Error":
      return "error"
    case "Warn":
      return "warning"
    case "Info":
      return "info"
    default:
      return "debug"
  }
}
