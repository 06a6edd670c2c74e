import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { PackageDocs } from "../src/PackageDocs.ts"
import { project, shapes } from "./fixture.ts"

const manifest = (name: string) => JSON.stringify({ name, version: "1.0.0", types: "./index.d.ts" })

describe("broken packages", () => {
  it.live("are reported and skipped", () =>
    Effect.gen(function*() {
      const { directory, start } = yield* project({
        ...shapes,
        "node_modules/bad-json/package.json": "{ \"name\": ",
        "node_modules/no-object/package.json": "[]",
        "node_modules/bad-types/package.json": manifest("bad-types"),
        "node_modules/bad-types/README.md": "# Bad types\n\nBut a fine README about dirigibles.\n",
        "node_modules/bad-types/index.d.ts": "export declare functoin ((((",
        "node_modules/no-file/package.json": manifest("no-file"),
        "node_modules/no-manifest/index.js": ""
      })
      Fs.symlinkSync("nowhere", Path.join(directory, "node_modules/dangling"))
      yield* start(Effect.gen(function*() {
        const docs = yield* PackageDocs
        const problems = yield* docs.problems
        expect(problems.map((problem) => problem.package).sort()).toEqual([
          "bad-json",
          "bad-types",
          "dangling",
          "no-object"
        ])
        expect(problems.find((problem) => problem.package === "no-object")?.reason).toBe(
          "package.json is not an object"
        )
        expect((yield* docs.list).map(({ name }) => name)).toEqual([
          "shapes",
          "bad-types",
          "no-file"
        ])
        expect((yield* docs.search("dirigibles", 1))[0]?.page).toBe("bad-types/README.md#bad-types")
        expect((yield* docs.search("area of a shape", 1))[0]?.page).toBe("shapes#area")
      }))
      // Problems are remembered with the index.
      const again = yield* start(Effect.flatMap(PackageDocs, (docs) => docs.problems))
      expect(again).toHaveLength(4)
    }))

  it.live("are reported if they may not be read", () =>
    Effect.gen(function*() {
      const { directory, start } = yield* project({
        ...shapes,
        "node_modules/locked/package.json": manifest("locked"),
        "node_modules/types/package.json": manifest("types"),
        "node_modules/types/index.d.ts": "export declare const x: 1\n"
      })
      Fs.chmodSync(Path.join(directory, "node_modules/locked/package.json"), 0o000)
      Fs.chmodSync(Path.join(directory, "node_modules/types/index.d.ts"), 0o000)
      const problems = yield* start(Effect.flatMap(PackageDocs, (docs) => docs.problems))
      // Root may read everything.
      const expected = process.getuid?.() === 0 ? [] : ["locked", "types"]
      expect(problems.map((problem) => problem.package)).toEqual(expected)
    }))

  it.live("a project without packages has an empty index", () =>
    Effect.gen(function*() {
      const { start } = yield* project({ "package.json": "{}" })
      yield* start(Effect.gen(function*() {
        const docs = yield* PackageDocs
        expect(yield* docs.list).toEqual([])
        expect(yield* docs.search("anything", 5)).toEqual([])
        expect((yield* Effect.flip(docs.read("a"))).message).toBe("There is no page \"a\"")
      }))
    }))

  it.live("another version inside of a package is told apart, the same one is not repeated, links are left out", () =>
    Effect.gen(function*() {
      const { directory, start } = yield* project({
        ...shapes,
        "packages/mine/package.json": JSON.stringify({ name: "mine", version: "1.0.0", dependencies: { a: "1" } }),
        "node_modules/a/package.json": JSON.stringify({ name: "a", version: "1.0.0" }),
        "node_modules/b/package.json": JSON.stringify({ name: "b", version: "1.0.0" }),
        "node_modules/b/node_modules/a/package.json": JSON.stringify({ name: "a", version: "2.0.0" }),
        "node_modules/b/node_modules/a/README.md": "# Second\n\nThe second edition.\n",
        "node_modules/c/package.json": JSON.stringify({ name: "c", version: "1.0.0" }),
        "node_modules/c/node_modules/a/package.json": JSON.stringify({ name: "a", version: "1.0.0" })
      })
      Fs.symlinkSync("../packages/mine", Path.join(directory, "node_modules/mine"))
      yield* start(Effect.gen(function*() {
        const docs = yield* PackageDocs
        expect((yield* docs.list).map(({ direct, name }) => `${name}${direct ? " (direct)" : ""}`)).toEqual([
          "a (direct)",
          "shapes (direct)",
          "a@2.0.0",
          "b",
          "c"
        ])
        expect((yield* docs.search("second edition", 1))[0]).toMatchObject({
          package: "a@2.0.0",
          page: "a@2.0.0/README.md#second"
        })
      }))
    }))
})
