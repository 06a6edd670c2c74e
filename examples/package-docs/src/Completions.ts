import type { Completion } from "@fairlead/protocol"
import * as Effect from "effect/Effect"
import { PackageDocs } from "./PackageDocs.ts"

/** The values that have what was typed, those that begin with it first; else in the order they are given in. */
export const matching = (values: ReadonlyArray<string>, typed: string): Completion.Answer<string> => {
  const wanted = typed.toLowerCase()
  const beginning: Array<string> = []
  const containing: Array<string> = []
  for (const value of values) {
    const at = value.toLowerCase().indexOf(wanted)
    if (at === 0) {
      beginning.push(value)
    } else if (at > 0) {
      containing.push(value)
    }
  }
  const all = [...beginning, ...containing]
  return { values: all, total: all.length }
}

/** Names of packages, direct dependencies first. */
export const packages = (typed: string): Effect.Effect<Completion.Answer<string>, never, PackageDocs> =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    return matching((yield* docs.list).map(({ name }) => name), typed)
  })

/** Packages and their modules; the modules of a package once something of its name is typed. */
export const modules = (typed: string): Effect.Effect<Completion.Answer<string>, never, PackageDocs> =>
  Effect.gen(function*() {
    const docs = yield* PackageDocs
    const names = (yield* docs.list).map(({ name }) => name)
    return matching(typed === "" ? names : [...new Set([...names, ...yield* docs.modules()])], typed)
  })
