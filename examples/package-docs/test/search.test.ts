import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { PackageDocs } from "../src/PackageDocs.ts"
import { project, shapes } from "./fixture.ts"

const many: Record<string, string> = {
  ...shapes,
  "node_modules/many/package.json": JSON.stringify({ name: "many", version: "1.0.0", types: "./index.d.ts" }),
  "node_modules/many/index.d.ts": Array.from(
    { length: 200 },
    (_, i) => `/** Paints the fence, in way ${i}. */\nexport declare function paint${i}(): void;\n`
  ).join("")
}

const withMany = <A, E>(program: Effect.Effect<A, E, PackageDocs>) =>
  Effect.scoped(Effect.flatMap(project(many), ({ start }) => start(program)))

describe("search", () => {
  it.live("returns at most as many hits as asked for, and no more than 100", () =>
    withMany(Effect.gen(function*() {
      const docs = yield* PackageDocs
      for (const [limit, count] of [[0, 0], [-1, 0], [1, 1], [7, 7], [1000, 100]] as const) {
        expect(yield* docs.search("paint the fence", limit)).toHaveLength(count)
      }
    })))

  it.live("sorts hits by score and says what they are", () =>
    withMany(Effect.gen(function*() {
      const docs = yield* PackageDocs
      const hits = yield* docs.search("a circle without corners", 5)
      expect(hits[0]).toMatchObject({
        package: "shapes",
        version: "1.2.3",
        title: "Circle.make",
        kind: "export",
        page: "shapes/Circle#make",
        snippet: "Makes a circle."
      })
      expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a))
    })))

  it.live("finds words in other forms, misspelled, or as parts of identifiers", () =>
    withMany(Effect.gen(function*() {
      const docs = yield* PackageDocs
      for (const query of ["computing areas of shapes", "compuets area", "Tools.sharpen", "old area", "circl"]) {
        const [hit] = yield* docs.search(query, 1)
        expect(hit?.package, query).toBe("shapes")
      }
      expect(yield* docs.search("", 5)).toEqual([])
      expect(yield* docs.search("?!", 5)).toEqual([])
      expect(yield* docs.search("xyzzyxyzzy", 5)).toEqual([])
    })))

  it.live("names what there is when a page or a package is unknown", () =>
    withMany(Effect.gen(function*() {
      const docs = yield* PackageDocs
      const page = yield* Effect.flip(docs.read("shapes#aera"))
      expect(page).toMatchObject({ _tag: "PageNotFound", page: "shapes#aera" })
      expect(page.message).toContain("There is no page \"shapes#aera\"")
      expect((yield* Effect.flip(docs.read("shapes#areas"))).similar).toContain("shapes#area")
      const unknown = yield* Effect.flip(docs.exports("shape"))
      expect(unknown).toMatchObject({ _tag: "PackageNotFound", package: "shape", similar: ["shapes"] })
      expect(yield* Effect.flip(docs.exports("shapes/Nothing"))).toMatchObject({ _tag: "PackageNotFound" })
    })))

  it.live("lists packages, direct dependencies first", () =>
    withMany(Effect.gen(function*() {
      const docs = yield* PackageDocs
      expect(yield* docs.list).toEqual([
        {
          name: "shapes",
          version: "1.2.3",
          description: "Shapes and their areas",
          direct: true,
          pages: expect.any(Number),
          exports: 9
        },
        { name: "many", version: "1.0.0", description: "", direct: false, pages: 200, exports: 200 }
      ])
    })))

  it.live("what a page says of another is about the other, and what others use comes first", () =>
    Effect.scoped(Effect.gen(function*() {
      const { start } = yield* project({
        "node_modules/walks/package.json": JSON.stringify({ name: "walks", version: "1.0.0", types: "./index.d.ts" }),
        "node_modules/walks/index.d.ts": `export * as Walk from "./Walk.js"\n`,
        "node_modules/walks/Walk.d.ts": [
          "/** Goes.\n * @see {@link stroll} for ambling leisurely\n */\nexport declare function go(): void;",
          "/** Moves.\n */\nexport declare function stroll(): void;",
          "/** Paints a fence. */\nexport declare function daub(): void;",
          "/** Paints a fence. */\nexport declare function wash(): void;",
          "/** Rests.\n * @example\n * Walk.wash()\n */\nexport declare function rest(): void;"
        ].join("\n")
      })
      yield* start(Effect.gen(function*() {
        const docs = yield* PackageDocs
        const names = (query: string) =>
          Effect.map(docs.search(query, 5), (hits) => hits.map(({ page }) => page.split("#Walk.")[1]))
        expect(yield* names("ambling leisurely")).toEqual(["stroll"])
        expect(yield* names("paint the fence")).toEqual(["wash", "daub"])
        expect((yield* docs.read("walks#Walk.go")).text).toContain("ambling leisurely")
      }))
    })))
})
