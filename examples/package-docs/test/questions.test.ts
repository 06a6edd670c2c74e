import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { PackageDocs } from "../src/PackageDocs.ts"
import { type Question, questions } from "./questions.ts"

const repository = Path.resolve(import.meta.dirname, "../../..")

const answers = (question: Question, page: string) =>
  question.pages.some((accepted) => accepted.endsWith("*") ? page.startsWith(accepted.slice(0, -1)) : page === accepted)

describe("questions about the packages of this repository", () => {
  // Indexed from scratch: a cache may stem from another state of the engine.
  it.live("nine of ten have an answer among the first three hits", () =>
    Effect.gen(function*() {
      const cache = yield* Effect.acquireRelease(
        Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "package-docs-"))),
        (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true, force: true }))
      )
      const run = Effect.gen(function*() {
        const docs = yield* PackageDocs
        const found: Array<{ readonly question: Question; readonly first: boolean; readonly right: boolean }> = []
        for (const question of questions) {
          const hits = yield* docs.search(question.question, 3)
          const rank = hits.findIndex(({ page }) => answers(question, page))
          found.push({ question, right: rank >= 0, first: rank === 0 })
        }
        return { found, problems: yield* docs.problems }
      })
      const { found, problems } = yield* Effect.provide(run, PackageDocs.layer({ project: repository, cache }))
      expect(problems).toEqual([])
      const share = (of: typeof found, key: "first" | "right") => of.filter((one) => one[key]).length / of.length
      const heldOut = found.filter(({ question }) => question.heldOut)
      const tuned = found.filter(({ question }) => !question.heldOut)
      expect(heldOut).toHaveLength(15)
      for (const [name, of] of [["all", found], ["tuned", tuned], ["held out", heldOut]] as const) {
        console.error(
          `${name}: ${of.length} questions, ${Math.round(share(of, "right") * 100)} % answered in the first three, ` +
            `${Math.round(share(of, "first") * 100)} % in the first`
        )
      }
      console.error(
        found.filter(({ right }) => !right).map(({ question }) => `not found: ${question.question}`).join("\n")
      )
      expect(share(found, "right")).toBeGreaterThanOrEqual(0.9)
    }), 120_000)
})
