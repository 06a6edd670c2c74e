import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import { PackageDocs } from "../src/PackageDocs.ts"

/** A project on disk, removed when the scope closes. */
export interface Project {
  readonly directory: string
  readonly cache: string
  /** Writes files, by their paths in the project. */
  readonly write: (files: Record<string, string>) => void
  readonly remove: (path: string) => void
  /** Runs a program with the documentation of the project, indexed as by a new process. */
  readonly start: <A, E>(program: Effect.Effect<A, E, PackageDocs>) => Effect.Effect<A, E>
}

/** Makes a project in a temporary directory. */
export const project = (files: Record<string, string>) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "package-docs-"))),
      (directory) => Effect.sync(() => Fs.rmSync(directory, { recursive: true, force: true }))
    ),
    (directory): Project => {
      const cache = Path.join(directory, "cache")
      const write = (files: Record<string, string>) => {
        for (const [path, text] of Object.entries(files)) {
          const file = Path.join(directory, path)
          Fs.mkdirSync(Path.dirname(file), { recursive: true })
          Fs.writeFileSync(file, text)
        }
      }
      write(files)
      return {
        directory,
        cache,
        write,
        remove: (path) => Fs.rmSync(Path.join(directory, path), { recursive: true, force: true }),
        start: (program) => Effect.provide(program, PackageDocs.layer({ project: directory, cache }), { local: true })
      }
    }
  )

/** A small package with most of what declarations consist of. */
export const shapes: Record<string, string> = {
  "package.json": JSON.stringify({ name: "app", dependencies: { shapes: "1.0.0" } }),
  "node_modules/shapes/package.json": JSON.stringify({
    name: "shapes",
    version: "1.2.3",
    description: "Shapes and their areas",
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./*": "./dist/*.js",
      "./internal/*": null
    }
  }),
  "node_modules/shapes/README.md":
    "# Shapes\n\nComputes areas.\n\n## Usage\n\nCall `area` with a shape.\n\n```ts\n# not a heading\n```\n\n## Usage\n\nAgain.\n",
  "node_modules/shapes/docs/units.md": "# Units\n\nAll lengths are in furlongs.\n",
  "node_modules/shapes/CHANGELOG.md": "# 1.2.3\n\nFurlongs everywhere.\n",
  "node_modules/shapes/dist/index.js": "",
  "node_modules/shapes/dist/index.d.ts": `
import { hidden as secret } from "./internal/secret.js"
export * from "./area.js"
export * as Circle from "./Circle.js"
export { secret as revealed }
declare const _default: number
export default _default
`,
  "node_modules/shapes/dist/area.js": "",
  "node_modules/shapes/dist/area.d.ts": `
/**
 * Computes the area of a shape. Negative sizes are an error.
 *
 * @param shape - what to measure, see {@link Shape}
 * @returns the area in acres
 * @example
 * area({ size: 2 })
 */
export declare function area(shape: Shape): number;
/** Computes the area of a named shape. */
export declare function area(name: string): number;
/** Anything that has a size. */
export interface Shape {
    /** Its size in furlongs — “edge” to edge. */
    readonly size: number;
    color?: string;
}
declare class Base {
    /** Doubles the size. */
    grow(/* by two */): this;
    private secret(): void;
}
/** A square. */
export declare class Square extends Base {
    constructor(size: number);
    rotate(degrees: number): void;
}
/** @internal */
export declare const forInternalUse: number;
/** @deprecated Use {@link area}. */
export declare const oldArea: typeof area;
export declare namespace Tools {
    /** Sharpens the pencil. */
    function sharpen(): void;
}
`,
  "node_modules/shapes/dist/Circle.js": "",
  "node_modules/shapes/dist/Circle.d.ts": `
/**
 * Round shapes.
 */
import type { Shape } from "./area.js";
/**
 * Makes a circle.
 *
 * **When to use**
 *
 * Use when corners are not wanted.
 *
 * **Example** (Drawing a wheel)
 *
 * \`\`\`ts
 * Circle.make(3)
 * \`\`\`
 */
export declare const make: (radius: number) => Shape;
declare const _delete: () => void;
export { 
/** Erases it. */
_delete as delete };
`,
  "node_modules/shapes/dist/internal/secret.js": "",
  "node_modules/shapes/dist/internal/secret.d.ts": "/** Was hidden. */\nexport declare const hidden: string;\n"
}
