/** Turns a coverage into lines for a terminal. */
import type { AreaCoverage, Coverage, Item } from "./Coverage.ts"
import type { Lists } from "./Lists.ts"

const width = 118

const wrap = (words: ReadonlyArray<string>, indent: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = indent
  for (const word of words) {
    if (line.length > indent.length && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent
    }
    line += line === indent ? word : ` ${word}`
  }
  return line === indent ? lines : [...lines, line]
}

const itemLine = (item: Item, state: string): string => {
  const level = item.level === "PARITY" ? "" : `${item.level}: `
  return `  ${state.padEnd(8)} ${item.id}  ${level}${item.text}`
}

const shownLines = (item: Item): ReadonlyArray<string> => [
  itemLine(item, item.state),
  ...item.tests.map(({ file, state, title }) =>
    `             ${state === "passed" ? "" : `${state} `}${file}: ${title}`
  )
]

const count = (items: ReadonlyArray<Item>): string =>
  `${items.filter(({ state }) => state === "shown").length}/${items.length}`

/** One area: a heading, what is shown by which tests, and what is not and why. */
export const renderArea = ({ area, holes, items }: AreaCoverage): ReadonlyArray<string> => {
  const binding = items.filter((item) => item.binding)
  const others = items.filter((item) => !item.binding)
  const parts = [`${count(binding)} binding`, ...(others.length > 0 ? [`${count(others)} other`] : [])]
  const open = items.filter((item) => item.state === "missing" && item.deferred === undefined && !holes.includes(item))
  return [
    `${area.name}  ${area.closed ? "closed" : "open"}  ${parts.join(", ")}  (${area.why})`,
    ...items.filter(({ state }) => state !== "missing").flatMap(shownLines),
    ...holes.filter(({ state }) => state === "missing").map((item) => itemLine(item, "MISSING")),
    ...items.flatMap((item) =>
      item.deferred && item.state !== "shown"
        ? [itemLine(item, "deferred"), `             ${item.deferred.why}; by ${item.deferred.by}`]
        : []
    ),
    ...(open.length > 0 ? wrap(["not shown:", ...open.map(({ id }) => id)], "  ") : [])
  ]
}

/** What an area still lacks: for a closed one its holes come first. */
export const renderMissing = ({ area, items }: AreaCoverage): ReadonlyArray<string> =>
  items
    .filter(({ state }) => state !== "shown")
    .sort((a, b) => Number(b.binding) - Number(a.binding))
    .map((item) => {
      const state = item.deferred ? "deferred" : item.state
      return `${area.role === undefined ? item.id : `${item.id}@${area.role}`}  ${state}  ${item.level}: ${item.text}`
    })

/** The whole report. */
export const renderReport = (coverage: Coverage, lists: Lists): ReadonlyArray<string> => {
  const closed = coverage.areas.filter(({ area }) => area.closed)
  const all = coverage.areas.flatMap(({ items }) => items)
  const binding = all.filter((item) => item.binding)
  const holes = closed.reduce((sum, area) => sum + area.holes.length, 0)
  return [
    ...coverage.areas.flatMap((area) => [...renderArea(area), ""]),
    "not applying",
    ...lists.requirements.filter(({ applies }) => applies === false).map(({ id, why }) => `  ${id}  ${why}`),
    "",
    `shown: ${count(binding)} binding, ${
      count(all)
    } in all; ${closed.length} of ${coverage.areas.length} areas closed, `
    + `with ${holes} ${holes === 1 ? "hole" : "holes"}`
  ]
}
