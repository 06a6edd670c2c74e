/**
 * Keeps what tagged tests showed, for `npm run requirements`. A run brings the test files it ran up to date and leaves
 * the others; a run that is narrowed to some test names proves too little to be kept.
 */
import { dirname, join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node"
import { claimsOf, plainTitle } from "./requirements/Claims.ts"
import {
  digestOf,
  type FileResult,
  mergeResults,
  readResults,
  resultsFile,
  type TaggedTest,
  type TestState,
  writeResults
} from "./requirements/Results.ts"

const repository = dirname(dirname(fileURLToPath(import.meta.url)))

const titlesOf = (test: TestCase): ReadonlyArray<string> => {
  const titles = [test.name]
  for (let parent = test.parent; parent.type === "suite"; parent = parent.parent) titles.unshift(parent.name)
  return titles
}

// A test that is expected to fail shows the contrary of what it claims.
const stateOf = (test: TestCase): TestState => {
  const { state } = test.result()
  if (state === "passed") return test.options.fails ? "skipped" : "passed"
  return state === "failed" ? "failed" : "skipped"
}

const taggedTests = (module: TestModule): ReadonlyArray<TaggedTest> => {
  const tagged: Array<TaggedTest> = []
  for (const test of module.children.allTests()) {
    const titles = titlesOf(test)
    const claims = [...new Set(titles.flatMap(claimsOf))]
    if (claims.length > 0) tagged.push({ title: titles.map(plainTitle).join(" > "), state: stateOf(test), claims })
  }
  return tagged
}

/** Options of the reporter. */
export interface Options {
  /** The directory that test files are named relative to and results are kept in. Default: this repository. */
  readonly root?: string
}

/** The reporter; list it in `reporters` by its path. */
export default class RequirementsReporter implements Reporter {
  readonly root: string
  vitest: Vitest | undefined

  constructor(options: Options = {}) {
    this.root = options.root ?? repository
  }

  onInit(vitest: Vitest): void {
    this.vitest = vitest
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    if (this.vitest?.getGlobalTestNamePattern() !== undefined) return
    const ran: Record<string, FileResult> = {}
    for (const module of modules) {
      const state = module.state()
      if (state === "queued" || state === "pending") continue
      const digest = digestOf(module.moduleId)
      if (digest === undefined) continue
      const file = relative(this.root, module.moduleId).split(sep).join("/")
      ran[file] = { digest, tests: taggedTests(module) }
    }
    const path = join(this.root, resultsFile)
    writeResults(path, mergeResults(readResults(path), ran))
  }
}
