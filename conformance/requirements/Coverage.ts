/**
 * Sets the lists against the results: what each area shows, by which tests, and what it lacks.
 */
import { type Claim, claimable } from "./Claims.ts"
import { type Area, type Deferral, isObligation, type Level, type Lists, ownDuties } from "./Lists.ts"
import type { Results, TaggedTest } from "./Results.ts"
import { areaHolds } from "./Validation.ts"

/** A test and the file it is in. */
export interface Evidence extends TaggedTest {
  readonly file: string
}

/** How an item stands: `failing` when a test that claims it failed, `skipped` when only skipped tests claim it. */
export type ItemState = "shown" | "failing" | "skipped" | "missing"

/** One duty or promise in an area. */
export interface Item {
  readonly id: string
  readonly level: Level | "PARITY"
  readonly text: string
  /** Whether a closed area insists on it. */
  readonly binding: boolean
  readonly state: ItemState
  readonly tests: ReadonlyArray<Evidence>
  readonly deferred?: Deferral
}

/** An area with all it holds. */
export interface AreaCoverage {
  readonly area: Area
  readonly items: ReadonlyArray<Item>
  /** What keeps a closed area from being so: binding, not deferred, not shown. Empty for an open one. */
  readonly holes: ReadonlyArray<Item>
}

/** A claim that neither list has, and the test that makes it. */
export interface UnknownClaim {
  readonly claim: string
  readonly test: Evidence
}

/** The whole picture. */
export interface Coverage {
  readonly areas: ReadonlyArray<AreaCoverage>
  readonly unknown: ReadonlyArray<UnknownClaim>
}

interface ClaimedTest {
  readonly claim: Claim
  readonly test: Evidence
}

const stateOf = (tests: ReadonlyArray<Evidence>): ItemState => {
  if (tests.some(({ state }) => state === "failed")) return "failing"
  if (tests.some(({ state }) => state === "passed")) return "shown"
  return tests.length > 0 ? "skipped" : "missing"
}

/** Computes the coverage of all areas by the given results. */
export const coverageOf = (lists: Lists, results: Results): Coverage => {
  const known = claimable(lists)
  const unknown: Array<UnknownClaim> = []
  const claimed = new Map<string, Array<ClaimedTest>>()
  for (const [file, result] of Object.entries(results.files)) {
    for (const tagged of result.tests) {
      const test = { ...tagged, file }
      for (const text of tagged.claims) {
        const claim = known.get(text)
        if (claim === undefined) unknown.push({ claim: text, test })
        else claimed.set(claim.id, [...(claimed.get(claim.id) ?? []), { claim, test }])
      }
    }
  }
  const coverArea = (area: Area): AreaCoverage => {
    const item = (id: string, level: Item["level"], text: string): Item => {
      const tests = (claimed.get(id) ?? [])
        .filter(({ claim }) => claim.role === undefined || claim.role === area.role)
        .map(({ test }) => test)
      const deferred = area.deferred?.find((each) => each.id === id)
      const binding = level === "PARITY" || isObligation(level)
      return { id, level, text, binding, state: stateOf(tests), tests, ...(deferred && { deferred }) }
    }
    const items = area.role === undefined
      ? lists.parity.filter(({ id }) => areaHolds(area, id, undefined)).map(({ id, text }) => item(id, "PARITY", text))
      : lists.requirements.flatMap((requirement) =>
        ownDuties(requirement)
          .filter(({ role }) => role === area.role && areaHolds(area, requirement.id, role))
          .map(({ level, text }) => item(requirement.id, level, text))
      )
    const isHole = ({ binding, deferred, state }: Item) => binding && deferred === undefined && state !== "shown"
    return { area, items, holes: area.closed ? items.filter(isHole) : [] }
  }
  return { areas: lists.areas.map(coverArea), unknown }
}
