/** `npm run requirements`: which requirement is shown by which test, and what keeps a closed area from being so. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { runCommand } from "../conformance/requirements/Command.ts"
import { readLists } from "../conformance/requirements/Lists.ts"
import { currentResults, readResults, resultsFile } from "../conformance/requirements/Results.ts"
import { projects } from "../vitest.workspace.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const recorded = readResults(join(root, resultsFile))
const { results, stale } = currentResults(root, projects, recorded)
const outcome = runCommand(process.argv.slice(2), {
  lists: readLists(),
  results: recorded === undefined ? undefined : results,
  stale
})
process.exitCode = outcome.exitCode
// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
})
process.stdout.write(`${outcome.lines.join("\n")}\n`)
