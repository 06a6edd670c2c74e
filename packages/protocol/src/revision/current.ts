/**
 * The revision that is spoken: with `currentMessages.ts`, the only place that says which folder is the newest.
 */
export * as definition from "./2026-07-28/definition.ts"
export * as httpRules from "./2026-07-28/httpRules.ts"
