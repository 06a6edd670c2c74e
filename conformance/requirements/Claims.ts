/**
 * What a test claims to show: an id, with `@role` behind it where the roles have different duties. Claims travel at the
 * end of a test's title, so that every reporter shows them and no registry is needed.
 */
import { type Lists, ownDuties, type Role } from "./Lists.ts"

const token = /^(?:[A-Z]+-\d+[a-z]?(?:@[a-z-]+)?|[a-z]+\/[a-z0-9_]+(?:\/[a-z0-9_]+)?)$/
const suffix = / \[([^[\]]+)\]$/

/** An id and, where it matters, the role it is shown for. */
export interface Claim {
  readonly id: string
  readonly role?: Role
}

/** Everything that may be claimed, by the way it is written. */
export type Claimable = ReadonlyMap<string, Claim>

/**
 * Collects what may be claimed. A requirement whose roles share one duty is claimed by its id, for all of them, or for
 * one as `ID@role`; one whose duties differ only as `ID@role`; one of a single role, or that does not apply, by its id.
 */
export const claimable = (lists: Pick<Lists, "requirements" | "parity">): Claimable => {
  const known = new Map<string, Claim>()
  for (const requirement of lists.requirements) {
    const { id } = requirement
    if (requirement.duties === undefined) known.set(id, { id })
    for (const { role } of ownDuties(requirement)) known.set(`${id}@${role}`, { id, role })
  }
  for (const { id } of lists.parity) known.set(id, { id })
  return known
}

/** Appends claims to a title in the one form that {@link claimsOf} reads. */
export const tagTitle = (title: string, claims: ReadonlyArray<string>): string =>
  `${title} [${[...new Set(claims)].join(" ")}]`

/** Reads the claims at the end of a title; brackets with anything else in them are part of the title. */
export const claimsOf = (title: string): ReadonlyArray<string> => {
  const tokens = suffix.exec(title)?.[1]?.split(" ") ?? []
  return tokens.every((text) => token.test(text)) ? tokens : []
}

/** A title without its claims. */
export const plainTitle = (title: string): string => claimsOf(title).length === 0 ? title : title.replace(suffix, "")

const distance = (left: string, right: string): number => {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const change = left[i - 1] === right[j - 1] ? 0 : 1
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + change))
    }
    row = next
  }
  return row[right.length]!
}

/** The known claims that look most like an unknown one; the ones of the same id with a role come first. */
export const nearest = (unknown: string, known: Iterable<string>, count = 3): ReadonlyArray<string> => {
  const ids = [...known]
  const withRole = ids.filter((id) => id.startsWith(`${unknown}@`))
  if (withRole.length > 0) return withRole
  const lower = unknown.toLowerCase()
  return ids
    .map((id) => ({ id, far: distance(lower, id.toLowerCase()) }))
    .sort((a, b) => a.far - b.far || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id)
}

/** Says that an id is unknown and which ones it may have been meant for. */
export const unknownMessage = (unknown: string, known: Claimable): string =>
  `unknown requirement ${JSON.stringify(unknown)}; nearest: ${nearest(unknown, known.keys()).join(", ")}`
