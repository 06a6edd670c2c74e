/**
 * Builds every published package into its `dist`: modules, declarations and source maps. It begins with nothing, so that
 * a file that was renamed or removed leaves nothing behind.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { packages, root } from "./architecture/Workspace.ts"
import { run } from "./run.ts"

/**
 * The comment that a module begins with says what it is for, and has the tables of settings. The compiler drops it from
 * the declarations where the import behind it is dropped.
 */
const keepHeaders = (folder: string): void => {
  for (const file of fs.globSync("src/**/*.ts", { cwd: folder })) {
    const header = /^\/\*\*[^]*?\*\/\n/.exec(fs.readFileSync(path.join(folder, file), "utf8"))?.[0]
    const declarations = path.join(folder, file.replace(/^src/, "dist").replace(/\.ts$/, ".d.ts"))
    if (header === undefined || !fs.existsSync(declarations)) continue
    const text = fs.readFileSync(declarations, "utf8")
    if (text.startsWith(header.trimEnd())) continue
    fs.writeFileSync(declarations, header + text)
    const map = JSON.parse(fs.readFileSync(`${declarations}.map`, "utf8"))
    map.mappings = ";".repeat(header.split("\n").length - 1) + map.mappings
    fs.writeFileSync(`${declarations}.map`, JSON.stringify(map))
  }
}

const folders = packages().map((folder) => folder.path)
for (const folder of folders) {
  fs.rmSync(path.join(root, folder, "dist"), { recursive: true, force: true })
  fs.rmSync(path.join(root, folder, ".tsbuildinfo/src.tsbuildinfo"), { force: true })
}
await run("tsc", ["-b", ...folders.map((folder) => `${folder}/tsconfig.src.json`)])
for (const folder of folders) keepHeaders(path.join(root, folder))
console.log(`built ${folders.length} packages`)
