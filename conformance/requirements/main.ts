/** Runs the requirements command on this repository's lists and results. */
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { runCommand } from "./Command.ts"
import { readLists } from "./Lists.ts"
import { currentResults, readResults, resultsFile } from "./Results.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Prints what the arguments ask for and sets the exit code; `projects` are the folders that have a `test` folder. */
export const main = (args: ReadonlyArray<string>, projects: ReadonlyArray<string>): void => {
  const recorded = readResults(join(root, resultsFile))
  const { results, stale } = currentResults(root, projects, recorded)
  const outcome = runCommand(args, {
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
}
