/**
 * The rules that the lists themselves keep: ids are unique, levels and roles exist, every duty lies in exactly one
 * area, deferrals name something that is there.
 */
import {
  type Area,
  foreignRoles,
  isOwnRole,
  levels,
  type Lists,
  ownDuties,
  ownRoles,
  type Requirement
} from "./Lists.ts"

const requirementId = /^[A-Z]+-\d+[a-z]?$/
const parityId = /^[a-z]+\/[a-z0-9_]+(?:\/[a-z0-9_]+)?$/
const sources: ReadonlySet<string> = new Set(["client", "output", "http", "snodo"])
const roles: ReadonlySet<string> = new Set([...ownRoles, ...foreignRoles])

const isSentence = (text: unknown): boolean => typeof text === "string" && text.trim() === text && text.length > 0

/** Whether an area holds an id for a role; areas of the original documents hold it for none. */
export const areaHolds = (area: Area, id: string, role: string | undefined): boolean =>
  area.role === role && area.match.some((prefix) => id.startsWith(prefix))

const duplicates = (ids: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))].map((id) => `${id}: listed twice`)

const requirementProblems = (requirement: Requirement): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const { applies, duties, id, level, page, text, why } = requirement
  if (!requirementId.test(id)) problems.push("malformed id")
  for (const duty of [{ level, text }, ...(duties ?? [])]) {
    if (!levels.includes(duty.level)) problems.push(`unknown level ${duty.level}`)
    if (!isSentence(duty.text)) problems.push("no text")
  }
  if (!isSentence(page)) problems.push("no page")
  if (requirement.roles.length === 0) problems.push("no role")
  for (const role of requirement.roles) {
    if (!roles.has(role)) problems.push(`unknown role ${role}`)
  }
  if (duties !== undefined) {
    const named = duties.map((duty) => duty.role)
    if (named.join() !== requirement.roles.join()) problems.push("roles differ from those of the duties")
    const strongest = levels.find((each) => duties.some((duty) => duty.level === each))
    if (strongest !== level) problems.push("level is not the strongest of the duties")
  }
  const foreign = requirement.roles.every((role) => !isOwnRole(role))
  if (foreign && applies !== false) problems.push("is a duty of others only and must say that it does not apply")
  if ((applies === false) !== isSentence(why)) problems.push("`why` belongs to exactly those that do not apply")
  return problems.map((problem) => `${id}: ${problem}`)
}

const placementProblems = (lists: Lists): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const place = (id: string, role: string | undefined) => {
    const holders = lists.areas.filter((area) => areaHolds(area, id, role))
    const label = role === undefined ? id : `${id}@${role}`
    if (holders.length !== 1) problems.push(`${label}: lies in ${holders.length} areas instead of one`)
  }
  for (const requirement of lists.requirements) {
    for (const { role } of ownDuties(requirement)) place(requirement.id, role)
  }
  for (const { id } of lists.parity) place(id, undefined)
  return problems
}

const areaProblems = (area: Area, lists: Lists): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (!isSentence(area.why)) problems.push("no reason")
  const ids = area.role === undefined
    ? lists.parity.map(({ id }) => id)
    : lists.requirements.filter((each) => ownDuties(each).some((duty) => duty.role === area.role)).map(({ id }) => id)
  const held = new Set(ids.filter((id) => areaHolds(area, id, area.role)))
  if (held.size === 0) problems.push("holds nothing")
  for (const { by, id, why } of area.deferred ?? []) {
    if (!held.has(id)) problems.push(`defers ${id}, which it does not hold`)
    if (!isSentence(why) || !isSentence(by)) problems.push(`defers ${id} without saying why and by what`)
  }
  return problems.map((problem) => `area ${area.name}: ${problem}`)
}

/** Everything that is wrong with the lists, one line each; empty when they are sound. */
export const problemsOf = (lists: Lists): ReadonlyArray<string> => [
  ...duplicates([...lists.requirements, ...lists.parity].map(({ id }) => id)),
  ...duplicates(lists.areas.map(({ name }) => name)),
  ...lists.requirements.flatMap(requirementProblems),
  ...lists.parity.flatMap(({ id, ours, source, text }) => {
    const sound = parityId.test(id) && sources.has(source) && id.startsWith(`${source}/`) && isSentence(text)
      && isSentence(ours)
    return sound ? [] : [`${id}: malformed`]
  }),
  ...lists.areas.flatMap((area) => areaProblems(area, lists)),
  ...placementProblems(lists)
]
