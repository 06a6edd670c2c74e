import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import { PackageDocs } from "../src/PackageDocs.ts"
import { project, shapes } from "./fixture.ts"

const files: Record<string, string> = {
  ...shapes,
  "node_modules/other/package.json": JSON.stringify({ name: "other", version: "1.0.0" }),
  "node_modules/other/README.md": "# Other\n\nAbout other things.\n"
}

const stats = Effect.flatMap(PackageDocs, (docs) => docs.stats)
const pages = (query: string) =>
  Effect.map(
    Effect.flatMap(PackageDocs, (docs) => docs.search(query, 10)),
    (hits) => hits.map(({ page }) => page)
  )
const cacheFile = (cache: string, name: string) => Path.join(cache, `${name}.docs`)

describe("cache", () => {
  it.live("is used by the next start", () =>
    Effect.gen(function*() {
      const { start } = yield* project(files)
      expect(yield* start(stats)).toMatchObject({ indexed: ["other", "shapes"], reused: 0 })
      const first = yield* start(pages("area"))
      expect(yield* start(stats)).toMatchObject({ indexed: [], reused: 2 })
      expect(yield* start(pages("area"))).toEqual(first)
      expect((yield* start(Effect.flatMap(PackageDocs, (docs) => docs.read("shapes#area")))).text).toContain("acres")
    }))

  it.live("renews only the package that has changed, whichever of its files did", () =>
    Effect.gen(function*() {
      const { remove, start, write } = yield* project(files)
      yield* start(stats)
      const changes: ReadonlyArray<readonly [() => void, ReadonlyArray<string>]> = [
        [
          () => write({ "node_modules/other/package.json": JSON.stringify({ name: "other", version: "1.1.0" }) }),
          ["other"]
        ],
        [() => write({ "node_modules/other/README.md": "# Other\n\nAbout the zeppelin.\n" }), ["other"]],
        [() => write({ "node_modules/shapes/docs/more.md": "# More\n\nAbout a submarine.\n" }), ["shapes"]],
        [
          () => write({ "node_modules/shapes/dist/Circle.d.ts": "/** A hovercraft. */\nexport declare const x: 1\n" }),
          ["shapes"]
        ],
        [() => remove("node_modules/shapes/docs/units.md"), ["shapes"]]
      ]
      for (const [change, indexed] of changes) {
        change()
        expect((yield* start(stats)).indexed).toEqual(indexed)
      }
      expect(yield* start(pages("zeppelin"))).toEqual(["other/README.md#other"])
      expect(yield* start(pages("submarine"))).toEqual(["shapes/docs/more.md#more"])
      expect(yield* start(pages("hovercraft"))).toEqual(["shapes/Circle#x"])
      expect(yield* start(pages("furlongs"))).not.toContain("shapes/docs/units.md#units")
    }))

  it.live("forgets a package that was removed and takes up a new one", () =>
    Effect.gen(function*() {
      const { cache, remove, start, write } = yield* project(files)
      yield* start(stats)
      remove("node_modules/other")
      write({
        "node_modules/@scope/new/package.json": JSON.stringify({ name: "@scope/new", version: "1.0.0" }),
        "node_modules/@scope/new/README.md": "# New\n\nAbout a gyrocopter.\n"
      })
      expect(yield* start(stats)).toMatchObject({ indexed: ["@scope/new"], reused: 1 })
      expect(yield* start(pages("other things"))).toEqual([])
      expect(yield* start(pages("gyrocopter"))).toEqual(["@scope/new/README.md#new"])
      expect(Fs.readdirSync(cache).sort()).toEqual(["@scope+new.docs", "shapes.docs"])
    }))

  it.live("is made anew where it is damaged", () =>
    Effect.gen(function*() {
      const { cache, start } = yield* project(files)
      yield* start(stats)
      const file = cacheFile(cache, "shapes")
      const whole = Fs.readFileSync(file)
      const flipped = Buffer.from(whole)
      flipped[100] = flipped[100]! ^ 0xff
      for (const damaged of [Buffer.alloc(0), Buffer.from("nonsense"), whole.subarray(0, 200), flipped]) {
        Fs.writeFileSync(file, damaged)
        expect(yield* start(stats)).toMatchObject({ indexed: ["shapes"], reused: 1 })
        expect(Fs.readFileSync(file).equals(whole)).toBe(true)
      }
    }))

  it.live("survives several starts at once, and a change under a reader", () =>
    Effect.gen(function*() {
      const { cache, start, write } = yield* project(files)
      const starts = yield* Effect.all(Array.from({ length: 8 }, () => start(pages("area"))), {
        concurrency: "unbounded"
      })
      expect(new Set(starts.map((hits) => hits.join())).size).toBe(1)
      expect(Fs.readdirSync(cache).filter((name) => name.endsWith(".tmp"))).toEqual([])
      yield* start(Effect.gen(function*() {
        const docs = yield* PackageDocs
        yield* docs.stats
        write({ "node_modules/other/README.md": "# Other\n\nIt is all different and longer now.\n" })
        yield* start(stats)
        expect((yield* docs.read("other/README.md#other")).text).toContain("all different")
      }))
    }))

  it.live("is not needed: where it cannot be written, the index is kept in memory", () =>
    Effect.gen(function*() {
      const { cache, start, write } = yield* project(files)
      write({ cache: "a file, not a directory" })
      expect(Fs.statSync(cache).isFile()).toBe(true)
      const { problems, text } = yield* start(Effect.gen(function*() {
        const docs = yield* PackageDocs
        return { problems: yield* docs.problems, text: (yield* docs.read("shapes#area")).text }
      }))
      expect(text).toContain("acres")
      expect(problems[0]?.reason).toContain("could not be stored")
    }))
})
