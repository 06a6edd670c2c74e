/** What an open object promises, as cases made from a sample. */

type Json = { readonly [key: string]: unknown }

const isObject = (u: unknown): u is Json => typeof u === "object" && u !== null && !Array.isArray(u)

/** The samples with an unknown member in every object that is not itself a map of names. */
export const withUnknownMembers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withUnknownMembers)
  if (!isObject(value)) return value
  const members = Object.entries(value).map((
    [key, member]
  ) => [key, maps.has(key) ? member : withUnknownMembers(member)])
  return { ...Object.fromEntries(members), "x-unknown": { deep: [1, "a", true] } }
}

// Names given by the peer, or schemas: every member there has a meaning already.
const maps = new Set([
  "arguments",
  "experimental",
  "extensions",
  "inputResponses",
  "inputRequests",
  "inputSchema",
  "outputSchema"
])

/** The sample without each of its own members in turn. */
export const withoutEach = (value: Json): ReadonlyArray<readonly [key: string, rest: Json]> =>
  Object.keys(value).map((name) =>
    [name, Object.fromEntries(Object.entries(value).filter(([key]) => key !== name))] as const
  )
