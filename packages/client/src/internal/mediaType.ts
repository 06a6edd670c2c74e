/**
 * Media types, parsed: a parameter or a substring never decides.
 */

/** `type/subtype` in lower case, without parameters; `undefined` for what is no media type. */
export const mediaTypeOf = (header: string | undefined): string | undefined => {
  if (header === undefined) return undefined
  const essence = header.split(";", 1)[0]!.trim().toLowerCase()
  return /^[!#$%&'*+\-.^_`|~0-9a-z]+\/[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(essence) ? essence : undefined
}

/** `application/json` and everything that says `+json`. */
export const isJsonType = (mediaType: string | undefined): boolean =>
  mediaType !== undefined && (mediaType === "application/json" || /^[^/]+\/[^/]+\+json$/.test(mediaType))
