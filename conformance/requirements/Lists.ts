/**
 * The three lists as they are kept on disk: requirements of the revision, promises of the original documents, and the
 * areas that say which of them must be shown by a test.
 */
import { readFileSync } from "node:fs"

/** How strongly the revision asks, in its own words; `INFO` where it states without asking. */
export const levels = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "INFO"] as const

/** One of {@link levels}. */
export type Level = (typeof levels)[number]

/** The roles that Fairlead plays itself. */
export const ownRoles = ["client", "server", "transport", "auth-client", "resource-server"] as const

/** The roles that others play: their duties apply to nothing here. */
export const foreignRoles = ["host", "proxy", "authorization-server"] as const

/** A role of {@link ownRoles} or {@link foreignRoles}. */
export type Role = (typeof ownRoles)[number] | (typeof foreignRoles)[number]

/** What one role has to do about a requirement. */
export interface Duty {
  readonly role: Role
  readonly level: Level
  readonly text: string
}

/** A requirement of the revision. */
export interface Requirement {
  readonly id: string
  readonly area: string
  readonly roles: ReadonlyArray<Role>
  /** The strongest level of all roles. */
  readonly level: Level
  /** The page of the specification that states it. */
  readonly page: string
  readonly text: string
  /** Present where the roles have different duties. */
  readonly duties?: ReadonlyArray<Duty>
  /** `false` when none of it is Fairlead's to fulfil. */
  readonly applies?: false
  /** Why it does not apply. */
  readonly why?: string
}

/** A function, setting, default, variant or promise of one of the original documents. */
export interface Parity {
  readonly id: string
  readonly source: "client" | "output" | "http" | "snodo"
  readonly text: string
  /** Where Fairlead has it. */
  readonly ours: string
  /** Present where Fairlead differs on purpose; `docs/departures.md` says how and why. */
  readonly departs?: true
}

/** A requirement of a closed area that cannot be shown yet. */
export interface Deferral {
  readonly id: string
  readonly why: string
  /** The area of work that will show it. */
  readonly by: string
}

/** A group of requirements that closes as a whole: from then on each MUST and each promise in it needs a test. */
export interface Area {
  readonly name: string
  /** Prefixes of ids. */
  readonly match: ReadonlyArray<string>
  /** The role whose duties the area holds; absent for the original documents, which have none. */
  readonly role?: Role
  readonly closed: boolean
  readonly why: string
  readonly deferred?: ReadonlyArray<Deferral>
}

/** All three lists. */
export interface Lists {
  readonly requirements: ReadonlyArray<Requirement>
  readonly parity: ReadonlyArray<Parity>
  readonly areas: ReadonlyArray<Area>
}

const readJson = (name: string): unknown => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"))

/** Reads the lists of this repository. */
export const readLists = (): Lists => ({
  requirements: readJson("requirements.json") as Lists["requirements"],
  parity: readJson("parity.json") as Lists["parity"],
  areas: readJson("areas.json") as Lists["areas"]
})

/** Whether a role is one that Fairlead plays. */
export const isOwnRole = (role: Role): boolean => (ownRoles as ReadonlyArray<string>).includes(role)

/** The duties of a requirement that are Fairlead's, one a role; empty when it does not apply. */
export const ownDuties = (requirement: Requirement): ReadonlyArray<Duty> => {
  if (requirement.applies === false) return []
  const { level, text } = requirement
  const duties = requirement.duties ?? requirement.roles.map((role) => ({ role, level, text }))
  return duties.filter((duty) => isOwnRole(duty.role))
}

/** Whether a level is one that a closed area insists on. */
export const isObligation = (level: Level): boolean => level === "MUST" || level === "MUST NOT"
