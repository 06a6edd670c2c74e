/**
 * Who may see and use what.
 */
import type { AccessItem, AccessPolicy } from "../McpEndpoint.ts"
import type { Entry } from "./entry.ts"

/** What the policy says for one request; everything where there is none. */
export interface View {
  readonly sees: (entry: Entry) => boolean
  readonly uses: (entry: Entry) => boolean
}

const itemOf = (entry: Entry): AccessItem => ({
  kind: entry.kind,
  name: entry.name,
  declaration: entry.declaration
})

/** What cannot be seen cannot be used. */
export const viewOf = (policy: AccessPolicy): View => {
  const sees = (entry: Entry) => policy.visible?.(itemOf(entry)) ?? true
  return { sees, uses: (entry) => sees(entry) && (policy.callable?.(itemOf(entry)) ?? true) }
}
