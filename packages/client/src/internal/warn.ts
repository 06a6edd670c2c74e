/**
 * Warnings of one client among several.
 */
import * as Effect from "effect/Effect"

/** Logs a warning with its fields, and with the label of the client where it has one. */
export const warn = (
  label: string | undefined,
  message: string,
  fields: { readonly [key: string]: unknown }
): Effect.Effect<void> => Effect.logWarning(message, label === undefined ? fields : { client: label, ...fields })
