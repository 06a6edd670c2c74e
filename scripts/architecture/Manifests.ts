/**
 * The rules about the packages' own files: what each package.json says, no Node types in the compiler's settings of
 * portable packages, the licence and a README in each, and one changeset group that holds them all.
 */
import { isDeepStrictEqual } from "node:util"
import { nodePackages } from "./Imports.ts"
import type { Folder, Manifest, Violation } from "./Workspace.ts"

/** What every published package.json says alike: ESM without side effects, modules open, all below them closed. */
const common = {
  license: "MIT",
  type: "module",
  sideEffects: false,
  engines: { node: ">=22.19.0" },
  exports: {
    "./package.json": "./package.json",
    ".": { "@fairlead/source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./*": { "@fairlead/source": "./src/*.ts", types: "./dist/*.d.ts", default: "./dist/*.js" },
    "./internal/*": null,
    "./revision/*": null,
    "./index": null
  }
} satisfies Partial<Manifest>

const manifestProblems = (manifest: Manifest): ReadonlyArray<string> => [
  ...Object.entries(common)
    .filter(([key, value]) => !isDeepStrictEqual(manifest[key as keyof typeof common], value))
    .map(([key, value]) => `${key} must be ${JSON.stringify(value)}`),
  ...(manifest.peerDependencies?.["effect"] === undefined ? ["effect must be a peer dependency"] : []),
  ...(manifest.dependencies?.["effect"] === undefined ? [] : ["effect must be no dependency of its own"])
]

const read = (files: (file: string) => string | undefined, file: string): string => files(file) ?? ""

/** What must hold for the files of each published package. */
export const manifests = (
  packages: ReadonlyArray<Folder>,
  file: (path: string) => string | undefined
): ReadonlyArray<Violation> => {
  const out: Array<Violation> = []
  const licence = file("LICENSE")
  for (const { manifest, path } of packages) {
    for (const message of manifestProblems(manifest)) {
      out.push({ rule: "package.json", file: `${path}/package.json`, message })
    }
    const settings = `${path}/tsconfig.src.json`
    const types = (JSON.parse(read(file, settings) || "{}") as {
      readonly compilerOptions?: { readonly types?: ReadonlyArray<string> }
    }).compilerOptions?.types
    if (!nodePackages.has(manifest.name) && (types === undefined || types.length > 0)) {
      out.push({
        rule: "no Node here",
        file: settings,
        message: "compilerOptions.types must be [], so that Buffer, process and the like do not compile"
      })
    }
    if (file(`${path}/LICENSE`) !== licence) {
      out.push({ rule: "package files", file: `${path}/LICENSE`, message: "must be a copy of the root's LICENSE" })
    }
    if (!read(file, `${path}/README.md`).startsWith(`# ${manifest.name}\n`)) {
      out.push({ rule: "package files", file: `${path}/README.md`, message: `must begin with "# ${manifest.name}"` })
    }
  }
  const changesets = ".changeset/config.json"
  const fixed =
    (JSON.parse(read(file, changesets) || "{}") as { readonly fixed?: ReadonlyArray<ReadonlyArray<string>> })
      .fixed?.[0] ?? []
  const names = packages.map((folder) => folder.manifest.name)
  if (fixed.toSorted().join() !== names.toSorted().join()) {
    out.push({ rule: "one version", file: changesets, message: `the fixed group must hold ${names.join(", ")}` })
  }
  return out
}
