/**
 * The parameters and results of every method of the revision, as schemas. Objects are open: members that a schema does
 * not name are kept, as the protocol asks (spec: schema.ts).
 *
 * Decode with `Schema.decodeUnknownEffect(Messages.CallTool.result)`; bytes come out as `Uint8Array`.
 *
 * @since 0.1.0
 */
export * from "./revision/currentMessages.ts"
