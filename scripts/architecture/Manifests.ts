/**
 * The rules about the packages' own files: no Node types in the compiler's settings of portable packages, the licence
 * and a README in each, and one changeset group that holds them all.
 */
import { nodePackages } from "./Imports.ts"
import type { Folder, Violation } from "./Workspace.ts"

const read = (files: (file: string) => string | undefined, file: string): string => files(file) ?? ""

/** What must hold for the files of each published package. */
export const manifests = (
  packages: ReadonlyArray<Folder>,
  file: (path: string) => string | undefined
): ReadonlyArray<Violation> => {
  const out: Array<Violation> = []
  const licence = file("LICENSE")
  for (const { manifest, path } of packages) {
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
