/**
 * The size report: modules over 400 lines of code and functions over 80, and the largest of both. Comments and blank
 * lines do not count. It informs; it does not fail.
 */
import type { Parsed } from "./Parse.ts"

/** The budgets of the house style. */
export const budget = { module: 400, function: 80 }

/** One line of the report. */
export interface Size {
  readonly what: string
  readonly codeLines: number
}

/** Every module and function with its lines of code, the longest first. */
export const sizes = (
  modules: ReadonlyArray<Parsed>
): { readonly modules: ReadonlyArray<Size>; readonly functions: ReadonlyArray<Size> } => {
  const descending = (a: Size, b: Size) => b.codeLines - a.codeLines
  return {
    modules: modules.map((module) => ({ what: module.path, codeLines: module.codeLines })).toSorted(descending),
    functions: modules.flatMap((module) =>
      module.functions.map((f) => ({ what: `${module.path}:${f.line} ${f.name}`, codeLines: f.codeLines }))
    ).toSorted(descending)
  }
}

/** The report as text: what is over its budget, then the ten largest modules and five longest functions. */
export const report = (modules: ReadonlyArray<Parsed>): string => {
  const all = sizes(modules)
  const list = (entries: ReadonlyArray<Size>) =>
    entries.length === 0 ? "  none" : entries.map((e) => `  ${String(e.codeLines).padStart(5)}  ${e.what}`).join("\n")
  return [
    `Modules over ${budget.module} lines of code:`,
    list(all.modules.filter((e) => e.codeLines > budget.module)),
    `Functions over ${budget.function} lines of code:`,
    list(all.functions.filter((e) => e.codeLines > budget.function)),
    "Largest modules:",
    list(all.modules.slice(0, 10)),
    "Longest functions:",
    list(all.functions.slice(0, 5))
  ].join("\n")
}
