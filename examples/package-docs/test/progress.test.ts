import { describe, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { PackageDocs } from "../src/PackageDocs.ts"
import * as Progress from "../src/Progress.ts"
import { project, shapes } from "./fixture.ts"

const shown = (isTTY: boolean, seconds: number) =>
  Effect.gen(function*() {
    const written: Array<string> = []
    const output = { isTTY, columns: 60, write: (text: string) => written.push(text) }
    yield* Effect.scoped(Effect.gen(function*() {
      yield* Progress.show({ total: 4, done: 1, current: "effect" }, output)
      yield* TestClock.adjust(`${seconds} seconds`)
    }))
    return written
  })

describe("progress", () => {
  it.effect("is not shown of what takes less than a second", () =>
    Effect.gen(function*() {
      expect(yield* shown(true, 0.9)).toEqual([])
      expect(yield* shown(false, 0.9)).toEqual([])
    }))

  it.effect("is a bar on a terminal, wiped off in the end", () =>
    Effect.gen(function*() {
      const written = yield* shown(true, 1.25)
      expect(written).toEqual([
        "\r\x1b[KIndexing [###-------]  25 % effect",
        "\r\x1b[KIndexing [###-------]  25 % effect",
        "\r\x1b[KIndexing [###-------]  25 % effect",
        "\r\x1b[K"
      ])
    }))

  it.effect("is a line now and then elsewhere", () =>
    Effect.gen(function*() {
      expect(yield* shown(false, 4)).toEqual([
        "Indexing documentation: 25 % (1 of 4) effect\n",
        "Indexing documentation: 25 % (1 of 4) effect\n",
        "Indexed the documentation of 4 packages\n"
      ])
    }))

  it.live("standard output stays free for the protocol", () =>
    Effect.gen(function*() {
      const { start } = yield* project({ ...shapes, "node_modules/broken/package.json": "{" })
      const write = vi.spyOn(process.stdout, "write")
      yield* start(Effect.flatMap(PackageDocs, (docs) => docs.search("area", 3)))
      expect(write).not.toHaveBeenCalled()
      write.mockRestore()
    }))

  it("a bar fits the terminal", () => {
    expect(Progress.bar({ total: 1, done: 0, current: "x".repeat(100) }, 40)).toHaveLength(39)
  })
})
