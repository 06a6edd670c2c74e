import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { PackageDocs } from "../src/PackageDocs.ts"
import { project, shapes } from "./fixture.ts"

const withShapes = <A, E>(program: Effect.Effect<A, E, PackageDocs>) =>
  Effect.scoped(Effect.flatMap(project(shapes), ({ start }) => start(program)))

describe("extraction", () => {
  it.live("lists what each module exports, each declaration once", () =>
    withShapes(Effect.gen(function*() {
      const docs = yield* PackageDocs
      const exports = yield* docs.exports("shapes")
      expect(exports.map(({ kind, page }) => `${page} (${kind})`).sort()).toEqual([
        "shapes#Shape (interface)",
        "shapes#Square (class)",
        "shapes#Tools (namespace)",
        "shapes#Tools.sharpen (function)",
        "shapes#area (function)",
        "shapes#oldArea (const)",
        "shapes#revealed (const)",
        "shapes/Circle#delete (const)",
        "shapes/Circle#make (const)"
      ])
      expect(exports.find(({ name }) => name === "area")).toMatchObject({
        module: "shapes",
        signature: "function area(shape: Shape): number; function area(name: string): number;",
        summary: "Computes the area of a shape."
      })
      expect((yield* docs.exports("shapes/Circle")).map(({ name }) => name)).toEqual(["delete", "make"])
      expect((yield* docs.exports("shapes", "circle make")).map(({ name }) => name)).toEqual(["make"])
    })))

  it.live("reads an export with its signature, docstring and example", () =>
    withShapes(Effect.gen(function*() {
      const docs = yield* PackageDocs
      const page = yield* docs.read("shapes#area")
      expect(page).toMatchObject({ package: "shapes", version: "1.2.3", title: "area", kind: "export" })
      expect(page.text).toContain("function area(shape: Shape): number;\nfunction area(name: string): number;")
      expect(page.text).toContain("Computes the area of a shape. Negative sizes are an error.")
      expect(page.text).toContain("- `shape`: what to measure, see `Shape`")
      expect(page.text).toContain("Returns: the area in acres")
      expect(page.text).toContain("```ts\narea({ size: 2 })\n```")
      expect(page.text).toContain("Computes the area of a named shape.")
    })))

  it.live("reads members, with those of bases that are not exported", () =>
    withShapes(Effect.gen(function*() {
      const docs = yield* PackageDocs
      expect((yield* docs.read("shapes#Shape")).text).toContain("- `size`: Its size in furlongs — “edge” to edge.")
      expect((yield* docs.read("shapes#Shape.size")).text).toContain("readonly size: number;")
      expect((yield* docs.read("shapes#Square.grow")).text).toContain("grow(): this;")
      expect((yield* docs.read("shapes#Square.rotate")).title).toBe("Square.rotate")
      expect((yield* Effect.flip(docs.read("shapes#Square.secret")))._tag).toBe("PageNotFound")
    })))

  it.live("knows modules that are exported as namespaces by both names", () =>
    withShapes(Effect.gen(function*() {
      const docs = yield* PackageDocs
      const page = yield* docs.read("shapes/Circle#make")
      expect(page.title).toBe("Circle.make")
      for (const name of ["Circle.make", "shapes#Circle.make"]) {
        expect(yield* docs.read(name)).toEqual(page)
      }
      const module = yield* docs.read("shapes/Circle")
      expect(module.text).toContain("Round shapes.")
      expect(module.text).toContain("- `make`: Makes a circle.")
      expect((yield* docs.read("shapes/Circle#delete")).text).toContain("Erases it.")
    })))

  it.live("reads READMEs and docs by section and as a whole, and leaves out change logs", () =>
    withShapes(Effect.gen(function*() {
      const docs = yield* PackageDocs
      const usage = yield* docs.read("shapes/README.md#usage")
      expect(usage.kind).toBe("readme")
      expect(usage.text).toBe("## Usage\n\nCall `area` with a shape.\n\n```ts\n# not a heading\n```")
      expect((yield* docs.read("shapes/README.md#usage-1")).text).toContain("Again.")
      expect((yield* docs.read("shapes/README.md")).text).toContain("Computes areas.")
      const hits = yield* docs.search("furlongs", 10)
      expect(hits.map(({ page }) => page)).toContain("shapes/docs/units.md#units")
      expect(hits.some(({ page }) => page.includes("CHANGELOG"))).toBe(false)
    })))
})
