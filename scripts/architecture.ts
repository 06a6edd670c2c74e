/**
 * Prints what breaks the architecture's rules, and the size report.
 *
 *   npm run architecture           what scripts/test/architecture.test.ts checks, as one list; fails if there is any
 *   npm run architecture:update    rewrites the packages' index.ts and exports.snapshot.json from their modules
 *
 * With --sizes it prints the size report alone.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { check, load } from "./architecture/Check.ts"
import { current, render, snapshotFile } from "./architecture/Exports.ts"
import { barrelText } from "./architecture/Rules.ts"
import { report } from "./architecture/Sizes.ts"
import { folderOf, format, root } from "./architecture/Workspace.ts"

const update = (): void => {
  const { modules, packages } = load()
  for (const folder of packages) {
    const own = modules.filter((module) => folderOf(module.path) === folder.path)
    const files = {
      [`${folder.path}/src/index.ts`]: barrelText(own),
      [snapshotFile(folder.path)]: render(current(own))
    }
    for (const [file, text] of Object.entries(files)) {
      const full = path.join(root, file)
      if (fs.existsSync(full) && fs.readFileSync(full, "utf8") === text) continue
      fs.writeFileSync(full, text)
      console.log(`wrote ${file}`)
    }
  }
}

if (process.argv.includes("--update")) update()
else if (process.argv.includes("--sizes")) console.log(report(load().modules))
else {
  const input = load()
  console.log(report(input.modules))
  const violations = Object.values(check(input)).flat()
  console.log(
    violations.length === 0 ? "\nNo rule is broken." : `\n${format(violations)}\n\n${violations.length} to fix`
  )
  process.exitCode = violations.length === 0 ? 0 : 1
}
