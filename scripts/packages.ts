/**
 * Checks the packages as they would be published (`npm run packages:check`): builds them, packs each, looks at what is
 * inside, runs publint and attw on the tarballs, then installs them all into a project outside the repository that
 * compiles and imports every public entry, with none of the repository's settings.
 */
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import type { Folder } from "./architecture/Workspace.ts"
import { filesBelow, isPublicModule, moduleName, packages, root } from "./architecture/Workspace.ts"
import { attempt, run } from "./run.ts"

/** What is wrong with the contents of one tarball, given the paths in it and the package's sources. */
export const contents = (
  paths: ReadonlyArray<string>,
  sources: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const has = new Set(paths)
  const expected = [
    "package.json",
    "README.md",
    "LICENSE",
    ...sources.map((file) => `src/${file}`),
    ...sources.flatMap((file) => {
      const base = `dist/${file.replace(/\.ts$/, "")}`
      return [`${base}.js`, `${base}.js.map`, `${base}.d.ts`, `${base}.d.ts.map`]
    })
  ]
  const wanted = new Set(expected)
  return [
    ...expected.filter((file) => !has.has(file)).map((file) => `lacks ${file}`),
    ...paths.filter((file) => !wanted.has(file)).map((file) => `has ${file}, which does not belong there`)
  ]
}

interface Packed {
  readonly folder: Folder
  readonly tarball: string
  readonly modules: ReadonlyArray<string>
  readonly internals: ReadonlyArray<string>
}

const failures: Array<string> = []
const fail = (what: string): void => {
  failures.push(what)
  console.error(`  ${what}`)
}

const pack = async (folder: Folder, into: string): Promise<Packed> => {
  const output = await run("npm", ["pack", `./${folder.path}`, "--json", "--pack-destination", into])
  const parsed = JSON.parse(output) as unknown
  const [entry] = (Array.isArray(parsed) ? parsed : Object.values(parsed as object)) as ReadonlyArray<{
    readonly filename: string
    readonly files: ReadonlyArray<{ readonly path: string }>
  }>
  const sources = filesBelow(`${folder.path}/src`).filter((file) => file.endsWith(".ts"))
  const relative = sources.map((file) => file.slice(`${folder.path}/src/`.length))
  for (const problem of contents(entry!.files.map((file) => file.path), relative)) {
    fail(`${folder.manifest.name} ${problem}`)
  }
  return {
    folder,
    tarball: path.join(into, entry!.filename),
    modules: sources.filter(isPublicModule).map(moduleName),
    internals: relative.filter((file) => file.includes("/")).map((file) => file.replace(/\.ts$/, ""))
  }
}

const inspect = async ({ folder, modules, tarball }: Packed): Promise<void> => {
  if (modules.length === 0) {
    // publint and attw refuse an exports pattern that matches nothing.
    console.log(`  ${folder.manifest.name} has no module yet: not inspected`)
    return
  }
  for (
    const [tool, args] of [["publint", [tarball, "--strict"]], ["attw", [tarball, "--profile", "esm-only"]]] as const
  ) {
    const { code, output } = await attempt(tool, args)
    if (code !== 0 || /suggestion|warning/i.test(tool === "publint" ? output : "")) {
      fail(`${folder.manifest.name}: ${tool} says\n${output}`)
    }
  }
}

const consumer = async (packed: ReadonlyArray<Packed>, project: string): Promise<void> => {
  const versionOf = (name: string): string =>
    `${name}@${
      (JSON.parse(fs.readFileSync(path.join(root, "node_modules", name, "package.json"), "utf8")) as {
        version: string
      }).version
    }`
  const write = (file: string, text: string) => fs.writeFileSync(path.join(project, file), text)
  const entries = packed.flatMap(({ folder, modules }) => [
    folder.manifest.name,
    ...modules.map((name) => `${folder.manifest.name}/${name}`)
  ])
  const closed = packed.flatMap(({ folder, internals, modules }) => [
    ...internals.map((file) => `${folder.manifest.name}/${file}`),
    `${folder.manifest.name}/index`,
    `${folder.manifest.name}/internal/nothing`,
    ...modules.map((name) => `${folder.manifest.name}/src/${name}.ts`)
  ])
  write("package.json", JSON.stringify({ name: "consumer", private: true, type: "module" }))
  write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        module: "nodenext",
        target: "es2023",
        lib: ["ES2024", "ESNext.Disposable", "DOM", "DOM.Iterable"],
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
        types: ["node"]
      },
      include: ["*.mts"]
    })
  )
  write(
    "open.mts",
    [
      ...entries.map((entry, i) => `import * as entry${i} from "${entry}"`),
      `const count = [${entries.map((_, i) => `entry${i}`).join(", ")}].length`,
      `console.log("imported " + count)`
    ].join("\n")
  )
  write(
    "closed.mts",
    [
      ...closed.map((entry, i) => `// @ts-expect-error: internal\nimport * as closed${i} from "${entry}"`),
      `export const all = [${closed.map((_, i) => `closed${i}`).join(", ")}]`
    ].join("\n")
  )
  write(
    "closed-at-run-time.mjs",
    `
for (const entry of ${JSON.stringify(closed)}) {
  const code = await import(entry).then(() => "resolves", (error) => error.code)
  if (!["ERR_PACKAGE_PATH_NOT_EXPORTED", "ERR_MODULE_NOT_FOUND"].includes(code)) console.log(entry + ": " + code)
}`
  )
  await run("npm", [
    "install",
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...packed.map((p) => p.tarball),
    ...["effect", "@effect/platform-node", "typescript", "@types/node"].map(versionOf)
  ], { cwd: project })
  for (
    const [what, command, args] of [
      ["does not compile", "node", [path.join(project, "node_modules/typescript/bin/tsc"), "-p", project]],
      ["does not run", "node", ["open.mts"]],
      ["reaches internals", "node", ["closed-at-run-time.mjs"]]
    ] as const
  ) {
    const { code, output } = await attempt(command, args, { cwd: project })
    if (code !== 0 || (args[0] === "closed-at-run-time.mjs" && output.trim() !== "")) {
      fail(`the consumer ${what}:\n${output}`)
    }
  }
  console.log(`  ${entries.length} entries compile and run, ${closed.length} internal paths are closed`)
}

const main = async (): Promise<void> => {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), "fairlead-packages-"))
  try {
    console.log("build")
    await run("node", ["scripts/build.ts"])
    console.log("pack")
    const packed: Array<Packed> = []
    for (const folder of packages()) packed.push(await pack(folder, temporary))
    console.log("publint, attw")
    for (const one of packed) await inspect(one)
    console.log("consumer")
    const project = path.join(temporary, "consumer")
    fs.mkdirSync(project)
    await consumer(packed, project)
  } finally {
    fs.rmSync(temporary, { recursive: true, force: true })
  }
  console.log(failures.length === 0 ? "The packages are sound." : `${failures.length} problems`)
  process.exitCode = failures.length === 0 ? 0 : 1
}

if (import.meta.main) await main()
