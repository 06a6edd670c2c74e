/**
 * The messages of the revision that is spoken.
 */
export * from "./2026-07-28/messages.ts"
