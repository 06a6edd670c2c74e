/**
 * Names what a test shows. Throws on an id that neither list has, so the test file fails when it is collected. Where
 * the roles have different duties the id needs one: `STDIO-3@client`.
 *
 * @example
 * ```ts
 * it.effect(verifies("META-6", "HDR-1")("a request carries its metadata"), () => ...)
 * ```
 */
export declare const verifies: (...ids: ReadonlyArray<string>) => (title: string) => string
