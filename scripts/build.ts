/**
 * Builds every published package into its `dist`: modules, declarations and source maps. It begins with nothing, so that
 * a file that was renamed or removed leaves nothing behind.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { packages, root } from "./architecture/Workspace.ts"
import { run } from "./run.ts"

const folders = packages().map((folder) => folder.path)
for (const folder of folders) {
  fs.rmSync(path.join(root, folder, "dist"), { recursive: true, force: true })
  fs.rmSync(path.join(root, folder, ".tsbuildinfo/src.tsbuildinfo"), { force: true })
}
await run("tsc", ["-b", ...folders.map((folder) => `${folder}/tsconfig.src.json`)])
console.log(`built ${folders.length} packages`)
