/**
 * Who may see and use what.
 */
import type { AccessItem, AccessPolicy } from "../McpEndpoint.ts"
import type { Entry } from "./entry.ts"

/** What the policy says for one request; everything where there is none. */
export interface View {
  readonly sees: (entry: Item) => boolean
  readonly uses: (entry: Item) => boolean
}

type Item = Pick<Entry, "kind" | "name" | "declaration">

/** The item alone: an entry holds more. */
const itemOf = ({ declaration, kind, name }: Item): AccessItem => ({ kind, name, declaration })

/** What cannot be seen cannot be used. */
export const viewOf = (policy: AccessPolicy): View => {
  const sees = (entry: Item) => policy.visible?.(itemOf(entry)) ?? true
  return { sees, uses: (entry) => sees(entry) && (policy.callable?.(itemOf(entry)) ?? true) }
}
