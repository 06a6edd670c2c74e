import { stem } from "./Stem.ts"

// Words that stand for the same thing in the documentation of different libraries.
const groups: ReadonlyArray<string> = [
  "parallel concurrent concurrency simultaneously",
  "subprocess child process spawn",
  "env environment",
  "config configuration settings",
  "unique distinct duplicate",
  "delete remove",
  "abort cancel interrupt",
  "clock time timer",
  "secret redacted sensitive password",
  "cache memoize remember",
  "mock fake stub",
  "autocomplete suggest suggestion",
  "serialize encode stringify",
  "deserialize decode parse",
  "save persist store serialize",
  "limit max maximum",
  "begin start",
  "stop end shutdown",
  "close release dispose finalizer cleanup",
  "wait await",
  "promise async",
  "argument parameter arg param",
  "option flag",
  "folder directory",
  "function callback",
  "dictionary record map",
  "random arbitrary",
  "queue channel",
  "publish broadcast",
  "error failure exception",
  "required mandatory",
  "merge combine",
  "every all",
  "convert transform",
  "first race",
  "default fallback",
  "debounce quiet",
  "batch group chunk",
  "exhaustive every",
  "date datetime",
  "forever detach daemon",
  "intercept mock"
]

const table = new Map<string, Set<string>>()
for (const group of groups) {
  const stems = group.split(" ").map(stem)
  for (const one of stems) {
    const others = table.get(one) ?? new Set()
    stems.forEach((other) => other !== one && others.add(other))
    table.set(one, others)
  }
}

/** Terms that mean about the same as a term. */
export const of = (term: string): Iterable<string> => table.get(term) ?? []
