import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { fuzzed } from "../soak/Fuzz.ts"
import { faultsOf, type Result, table } from "../soak/Report.ts"

const idle = { fibers: 3, sockets: 0, timers: 1, heapBytes: 40_000_000 }

const result = (change: Partial<Result> = {}): Result => ({
  name: "listener",
  start: idle,
  warm: idle,
  end: idle,
  slots: 0,
  exit: 130,
  expectedExit: 130,
  counts: new Map([["calls", 1000]]),
  ...change
})

describe("the soak", () => {
  it("finds nothing where all is as it was", () => {
    assert.deepStrictEqual(faultsOf(result()), [])
    assert.include(table([result()]), "1,000")
  })

  it.each(
    [
      ["a fiber", { end: { ...idle, fibers: 4 } }, "listener: 1 fibers left"],
      ["a socket", { end: { ...idle, sockets: 1 } }, "listener: 1 sockets left"],
      ["a timer", { end: { ...idle, timers: 2 } }, "listener: 1 timers left"],
      ["one that was there and is gone", { end: { ...idle, timers: 0 } }, "listener: -1 timers left"],
      ["a slot", { slots: 1 }, "listener: 1 slots left"],
      [
        "a heap that grew by more than 5 %",
        { end: { ...idle, heapBytes: 42_400_000 } },
        "listener: the heap grew by 6.0 %, more than 5.0 %"
      ],
      ["another end", { exit: "SIGKILL" }, "listener: it ended with SIGKILL and not with 130"]
    ] as const
  )("finds %s", (_, change, fault) => {
    assert.deepStrictEqual(faultsOf(result(change)), [fault])
  })

  it("makes the same requests from the same seed, and all sorts of them", () => {
    const sample = (seed: number) => fc.sample(fuzzed("listener"), { seed, numRuns: 1000 })
    const first = sample(7)
    assert.deepStrictEqual(first, sample(7))
    assert.notDeepEqual(first, sample(8))
    const expected = new Set(first.map(({ expected }) => expected[0]))
    for (const status of [200, 202, 400, 403, 404, 405, 406, 413, 415]) assert.isTrue(expected.has(status), `${status}`)
  })
})
