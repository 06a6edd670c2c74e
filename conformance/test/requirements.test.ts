import type * as DeclaredMain from "@fairlead/conformance/requirements"
import type * as Declared from "@fairlead/conformance/verifies"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, expectTypeOf, it } from "vitest"
import { claimable, claimsOf, nearest, plainTitle, tagTitle } from "../requirements/Claims.ts"
import { runCommand } from "../requirements/Command.ts"
import { coverageOf } from "../requirements/Coverage.ts"
import {
  type Area,
  type Duty,
  levels,
  type Lists,
  ownDuties,
  readLists,
  type Requirement
} from "../requirements/Lists.ts"
import { main } from "../requirements/main.ts"
import {
  currentResults,
  digestOf,
  mergeResults,
  readResults,
  type Results,
  resultsFile,
  type Staleness
} from "../requirements/Results.ts"
import { problemsOf } from "../requirements/Validation.ts"
import { verifies } from "../verifies.ts"

const repository = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const lists = readLists()

const requirement = (id: string, roles: Requirement["roles"], rest: Partial<Requirement> = {}): Requirement => ({
  id,
  area: "sample",
  roles,
  level: "MUST",
  page: "sample",
  text: "Something is so.",
  ...rest
})
const duty = (role: Duty["role"], level: Duty["level"]): Duty => ({ role, level, text: "Something is so." })
const area = (name: string, rest: Partial<Area>): Area => ({
  name,
  match: ["A-"],
  closed: true,
  why: "a sample",
  ...rest
})

const sample: Lists = {
  requirements: [
    requirement("A-1", ["client", "server"]),
    requirement("A-2", ["server"], { level: "SHOULD" }),
    requirement("A-3", ["client", "server"], { duties: [duty("client", "MUST"), duty("server", "MAY")] }),
    requirement("A-4", ["host"], { applies: false, why: "the duty of the application" }),
    requirement("A-5", ["client"], { level: "MUST NOT" })
  ],
  parity: [{ id: "http/with_bind", source: "http", text: "Where it listens.", ours: "host" }],
  areas: [
    area("a/client", { role: "client", deferred: [{ id: "A-5", why: "not reachable", by: "client: later" }] }),
    area("a/server", { role: "server" }),
    area("parity/http", { match: ["http/"] })
  ]
}

const resultsWith = (...tests: Results["files"][string]["tests"]): Results => ({
  version: 1,
  files: { "sample.test.ts": { digest: "0", tests } }
})
const passed = (...claims: ReadonlyArray<string>) => ({ title: "sample", state: "passed" as const, claims })
const holesOf = (results: Results) =>
  coverageOf(sample, results).areas.flatMap(({ area, holes }) =>
    holes.map(({ id, state }) => `${area.name} ${id} ${state}`)
  )
const noStale: Staleness = { missing: [], changed: [] }

describe("lists", () => {
  it("are sound", () => {
    expect(problemsOf(lists)).toEqual([])
  })

  it("have unique ids and known levels", () => {
    const ids = [...lists.requirements, ...lists.parity].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, level } of lists.requirements) expect([id, levels.includes(level)]).toEqual([id, true])
  })

  it("have at least what the revision and the original documents were read to have", () => {
    expect(lists.requirements.length).toBeGreaterThanOrEqual(389)
    expect(lists.parity.length).toBeGreaterThanOrEqual(371)
  })

  it("name the departures in their document", () => {
    const document = readFileSync(join(repository, "docs/departures.md"), "utf8")
    const missing = lists.parity.filter(({ departs, id }) => departs && !document.includes(`\`${id}\``))
    expect(missing.map(({ id }) => id)).toEqual([])
    const named = [...document.matchAll(/`((?:client|output|http|snodo)\/[a-z0-9_/]+)`/g)].map(([, id]) => id)
    const departing = new Set(lists.parity.filter(({ departs }) => departs).map(({ id }) => id))
    expect(named.filter((id) => !departing.has(id!))).toEqual([])
  })

  it("stay numbered without holes", () => {
    const numbers = new Map<string, Array<number>>()
    for (const { id } of lists.requirements) {
      const [prefix, number] = id.split("-") as [string, string]
      if (/^\d+$/.test(number)) numbers.set(prefix, [...(numbers.get(prefix) ?? []), Number(number)])
    }
    for (const [prefix, found] of numbers) {
      expect([prefix, found]).toEqual([prefix, found.map((_, index) => index + 1)])
    }
  })

  const broken: ReadonlyArray<[string, Partial<Lists>, RegExp]> = [
    ["an id twice", { requirements: [...sample.requirements, sample.requirements[0]!] }, /A-1: listed twice/],
    [
      "an unknown level",
      { requirements: [requirement("A-1", ["client"], { level: "OUGHT" as "MUST" })] },
      /unknown level/
    ],
    ["an unknown role", { requirements: [requirement("A-1", ["butler" as "host"])] }, /unknown role butler/],
    ["a level below its duties", {
      requirements: [requirement("A-1", ["client"], { level: "MAY", duties: [duty("client", "MUST")] })]
    }, /not the strongest/],
    [
      "an unexplained exception",
      { requirements: [requirement("A-1", ["client"], { applies: false })] },
      /`why` belongs/
    ],
    ["a duty of others that applies", { requirements: [requirement("A-1", ["proxy"])] }, /must say that it does not/],
    ["a duty outside all areas", { requirements: [requirement("B-1", ["client"])] }, /B-1@client: lies in 0 areas/],
    [
      "a duty in two areas",
      { areas: [...sample.areas, area("again", { role: "client" })] },
      /A-1@client: lies in 2 areas/
    ],
    ["a deferral of nothing", {
      areas: [
        ...sample.areas,
        area("b", { role: "server", match: ["A-2"], deferred: [{ id: "A-9", why: "x", by: "y" }] })
      ]
    }, /area b: defers A-9/],
    [
      "a promise of no document",
      { parity: [{ ...sample.parity[0]!, id: "htp/with_bind" }] },
      /htp\/with_bind: malformed/
    ]
  ]
  it.each(broken)("with %s are not sound", (_, change, message) => {
    expect(problemsOf(sample)).toEqual([])
    expect(problemsOf({ ...sample, ...change }).join("\n")).toMatch(message)
  })
})

describe("verifies", () => {
  it("appends the ids in their one form", () => {
    expect(verifies("META-6", "HDR-1")("a request carries its metadata"))
      .toBe("a request carries its metadata [META-6 HDR-1]")
    expect(verifies("client/with_deadline", "client/with_deadline")("ends")).toBe("ends [client/with_deadline]")
  })

  it("is declared as it is", () => {
    expectTypeOf(verifies).toEqualTypeOf<typeof Declared.verifies>()
  })

  it("throws on an unknown id and names the nearest", () => {
    expect(() => verifies("META-6", "MTA-7")).toThrow(/unknown requirement "MTA-7"; nearest: META-7/)
    expect(() => verifies("client/with_dedline")).toThrow(/nearest: client\/with_deadline/)
    expect(() => verifies()).toThrow(/at least one/)
  })

  it("wants the role where duties differ", () => {
    expect(() => verifies("STDIO-3")).toThrow(/nearest: STDIO-3@server, STDIO-3@client/)
    expect(verifies("STDIO-3@client")("writes messages only")).toBe("writes messages only [STDIO-3@client]")
    expect(verifies("BASE-2@server")("speaks JSON-RPC")).toBe("speaks JSON-RPC [BASE-2@server]")
    expect(() => verifies("CACHE-5@proxy")).toThrow(/unknown/)
  })

  it("reads back what it appended, for every claim there is", () => {
    const claims = [...claimable(lists).keys()]
    expect(claimsOf(tagTitle("all of them", claims))).toEqual(claims)
    expect(plainTitle(tagTitle("all [of] them", claims))).toBe("all [of] them")
  })

  it("leaves other brackets alone", () => {
    for (
      const title of ["an array [1, 2]", "a tuple [a b]", "no brackets", "[META-6] first", "ends [Symbol.iterator]"]
    ) {
      expect(claimsOf(title)).toEqual([])
      expect(plainTitle(title)).toBe(title)
    }
  })

  it("finds the nearest by edits, without regard to case", () => {
    expect(nearest("meta-6", ["HDR-1", "META-16", "META-6"], 2)).toEqual(["META-6", "META-16"])
  })
})

describe("coverage", () => {
  it("fails a closed area for each obligation and promise without a test", () => {
    expect(holesOf(resultsWith())).toEqual([
      "a/client A-1 missing",
      "a/client A-3 missing",
      "a/server A-1 missing",
      "parity/http http/with_bind missing"
    ])
  })

  it("is satisfied by passed tests", () => {
    expect(holesOf(resultsWith(passed("A-1", "A-3@client"), passed("http/with_bind")))).toEqual([])
  })

  it("counts neither skipped nor failed tests", () => {
    const all = ["A-1", "A-3@client", "http/with_bind"]
    expect(holesOf(resultsWith({ ...passed(...all), state: "skipped" })).map((hole) => hole.split(" ")[2]))
      .toEqual(["skipped", "skipped", "skipped", "skipped"])
    expect(holesOf(resultsWith(passed(...all), { ...passed("A-1"), state: "failed" })))
      .toEqual(["a/client A-1 failing", "a/server A-1 failing"])
  })

  it("counts a claim for one role for that role only", () => {
    expect(holesOf(resultsWith(passed("A-1@server", "A-3@client", "http/with_bind")))).toEqual(["a/client A-1 missing"])
  })

  it("asks nothing of an open area", () => {
    const open = { ...sample, areas: sample.areas.map((each) => ({ ...each, closed: false })) }
    expect(coverageOf(open, resultsWith()).areas.flatMap(({ holes }) => holes)).toEqual([])
  })

  it("reports claims that no list has", () => {
    expect(coverageOf(sample, resultsWith(passed("A-9"), passed("A-3"))).unknown.map(({ claim }) => claim))
      .toEqual(["A-9", "A-3"])
  })
})

describe("command", () => {
  const sound = resultsWith(passed("A-1", "A-3@client"), passed("http/with_bind"))
  const run = (args: ReadonlyArray<string>, results: Results | undefined = sound, stale = noStale) => {
    const { exitCode, lines } = runCommand(args, { lists: sample, results, stale })
    return { exitCode, text: lines.join("\n") }
  }

  it("prints each area with its tests, what is missing and why, and totals", () => {
    const { exitCode, text } = run([])
    expect(exitCode).toBe(0)
    expect(text).toContain("a/client  closed  2/3 binding")
    expect(text).toContain("  shown    A-1  MUST: Something is so.\n             sample.test.ts: sample")
    expect(text).toContain("  deferred A-5  MUST NOT: Something is so.\n             not reachable; by client: later")
    expect(text).toContain("  not shown: A-2 A-3")
    expect(text).toContain("  A-4  the duty of the application")
    expect(text).toContain("shown: 4/5 binding, 4/7 in all; 3 of 3 areas closed, with 0 holes")
  })

  it("passes a check when all is shown", () => {
    expect(run(["--check"]).exitCode).toBe(0)
  })

  it("fails a check for a hole, an unknown id, missing and outdated results, and unsound lists", () => {
    const hole = run(["--check"], resultsWith(passed("A-1")))
    expect(hole.exitCode).toBe(1)
    expect(hole.text).toContain("closed area a/client: A-3 missing: MUST: Something is so.")
    const unknown = run(["--check"], resultsWith(...sound.files["sample.test.ts"]!.tests, passed("A-6")))
    expect(unknown).toMatchObject({ exitCode: 1, text: expect.stringContaining("unknown requirement \"A-6\"") })
    const none = runCommand(["--check"], { lists: sample, results: undefined, stale: noStale })
    expect(none).toMatchObject({
      exitCode: 1,
      lines: expect.arrayContaining([expect.stringContaining("no test results")])
    })
    expect(run(["--check"], sound, { missing: ["b.test.ts"], changed: [] }).text).toContain("b.test.ts: not run")
    expect(run(["--check"], sound, { missing: [], changed: ["c.test.ts"] })).toMatchObject({ exitCode: 1 })
    const unsound = { ...sample, areas: sample.areas.slice(1) }
    expect(runCommand(["--check"], { lists: unsound, results: sound, stale: noStale }).exitCode).toBe(1)
  })

  it("does not fail without --check", () => {
    expect(run([], resultsWith())).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining("would fail a check: 4")
    })
  })

  it("prints JSON", () => {
    const { exitCode, text } = run(["--json", "--check"], resultsWith())
    expect(exitCode).toBe(1)
    const { areas, failures, unknown } = JSON.parse(text)
    expect([areas.length, failures.length, unknown.length]).toEqual([3, 4, 0])
  })

  it("prints what an area lacks", () => {
    expect(run(["--missing", "a"]).text.split("\n")).toEqual([
      "A-5@client  deferred  MUST NOT: Something is so.",
      "A-2@server  missing  SHOULD: Something is so.",
      "A-3@server  missing  MAY: Something is so."
    ])
    expect(run(["--missing", "b/client"])).toMatchObject({
      exitCode: 2,
      text: expect.stringContaining("nearest: a/client")
    })
  })

  it("is declared as it is", () => {
    expectTypeOf(main).toEqualTypeOf<typeof DeclaredMain.main>()
  })

  it("runs on this repository", () => {
    const script = join(repository, "scripts/requirements.ts")
    const { status, stdout } = spawnSync(process.execPath, [script, "--missing", "authorization"], { encoding: "utf8" })
    expect(status).toBe(0)
    expect(stdout).toContain("AUTH-34@auth-client  ")
  })

  it("refuses options it does not know", () => {
    expect(run(["--chek"]).exitCode).toBe(2)
    expect(run(["--help"])).toMatchObject({ exitCode: 0, text: expect.stringContaining("--missing AREA") })
  })
})

describe("results", () => {
  const scratch = mkdtempSync(join(tmpdir(), "fairlead-requirements-"))
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))
  const path = join(scratch, resultsFile)
  const config = join(repository, "conformance/test/fixtures/requirements/vitest.config.ts")

  const writeTest = (name: string, body: string) =>
    writeFileSync(
      join(scratch, name),
      `import { describe, expect, it } from "vitest"\nimport { verifies } from "@fairlead/conformance/verifies"\n${body}\n`
    )
  const runTests = (...args: ReadonlyArray<string>) => {
    const entry = join(repository, "node_modules/vitest/vitest.mjs")
    const { status, stderr, stdout } = spawnSync(process.execPath, [entry, "run", "--config", config, ...args], {
      cwd: scratch,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], NO_COLOR: "1", FIXTURE_ROOT: scratch }
    })
    return { status, output: stdout + stderr }
  }
  const kept = (file: string) =>
    readResults(path)?.files[file]?.tests.map(({ claims, state, title }) => `${title} ${state} ${claims.join(" ")}`)

  it("are kept by the reporter for the files that ran", { timeout: 120_000 }, () => {
    mkdirSync(join(scratch, "node_modules"))
    symlinkSync(join(repository, "node_modules/vitest"), join(scratch, "node_modules/vitest"))
    mkdirSync(join(scratch, "node_modules/@fairlead"))
    symlinkSync(join(repository, "conformance"), join(scratch, "node_modules/@fairlead/conformance"))
    writeTest(
      "a.test.ts",
      `it(verifies("BASE-4")("passes"), () => {})
it.skip(verifies("BASE-5")("is skipped"), () => {})
it.todo(verifies("BASE-6")("is to do"))
it(verifies("BASE-7")("fails"), () => expect(1).toBe(2))
it.fails(verifies("BASE-9")("is expected to fail"), () => expect(1).toBe(2))
it("claims nothing", () => {})
describe(verifies("BASE-10")("suite"), () => {
  it.each([1, 2])(verifies("BASE-11")("case %i"), () => {})
})`
    )
    writeTest("b.test.ts", `it(verifies("META-6")("passes"), () => {})`)
    expect(runTests().status).toBe(1)
    expect(kept("a.test.ts")).toEqual([
      "passes passed BASE-4",
      "is skipped skipped BASE-5",
      "is to do skipped BASE-6",
      "fails failed BASE-7",
      "is expected to fail skipped BASE-9",
      "suite > case 1 passed BASE-10 BASE-11",
      "suite > case 2 passed BASE-10 BASE-11"
    ])
    expect(kept("b.test.ts")).toEqual(["passes passed META-6"])

    // A file with an unknown id fails as a whole; the other file's entry stays.
    writeTest("a.test.ts", `it("passes", () => {})\nit(verifies("BASE-99")("is unknown"), () => {})`)
    const unknown = runTests("a.test.ts")
    expect(unknown.status).toBe(1)
    expect(unknown.output).toContain(`unknown requirement "BASE-99"; nearest: BASE-19, BASE-9`)
    expect(kept("a.test.ts")).toEqual([])
    expect(kept("b.test.ts")).toEqual(["passes passed META-6"])

    // A run of some names is not kept.
    writeTest("b.test.ts", `it(verifies("META-7")("passes"), () => {})`)
    expect(runTests("b.test.ts", "-t", "passes").status).toBe(0)
    expect(kept("b.test.ts")).toEqual(["passes passed META-6"])
    expect(runTests("b.test.ts").status).toBe(0)
    expect(kept("b.test.ts")).toEqual(["passes passed META-7"])
  })

  it("hold as long as the test file is what it was when it ran", () => {
    const root = mkdtempSync(join(scratch, "root-"))
    mkdirSync(join(root, "one/test"), { recursive: true })
    const write = (name: string, text: string) => writeFileSync(join(root, "one/test", name), text)
    write("kept.test.ts", "it(verifies(\"A-1\")(\"x\"), () => {})")
    write("changed.test.ts", "before")
    write("new.test.ts", "it(verifies(\"A-1\")(\"x\"), () => {})")
    write("untagged.test.ts", "it(\"x\", () => {})")
    const entry = (name: string) => ({ digest: digestOf(join(root, "one/test", name)) ?? "0", tests: [passed("A-1")] })
    const results = mergeResults(undefined, {
      "one/test/kept.test.ts": entry("kept.test.ts"),
      "one/test/changed.test.ts": entry("changed.test.ts"),
      "one/test/gone.test.ts": entry("gone.test.ts")
    })
    write("changed.test.ts", "after")
    const current = currentResults(root, ["one", "two"], results)
    expect(Object.keys(current.results.files)).toEqual(["one/test/kept.test.ts"])
    expect(current.stale).toEqual({ missing: ["one/test/new.test.ts"], changed: ["one/test/changed.test.ts"] })
  })

  it("are replaced for the files of a run and kept for the others", () => {
    const first = mergeResults(undefined, { a: { digest: "1", tests: [passed("A-1")] }, b: { digest: "1", tests: [] } })
    const second = mergeResults(first, { a: { digest: "2", tests: [] } })
    expect(second.files).toEqual({ a: { digest: "2", tests: [] }, b: { digest: "1", tests: [] } })
  })

  it("that cannot be read are none", () => {
    writeFileSync(join(scratch, "broken.json"), "{")
    expect(readResults(join(scratch, "broken.json"))).toBeUndefined()
    expect(readResults(join(scratch, "absent.json"))).toBeUndefined()
  })
})

it("every duty that is not Fairlead's is left out of the areas", () => {
  const roles = lists.requirements.flatMap(ownDuties).map(({ role }) => role)
  expect(roles.filter((role) => ["host", "proxy", "authorization-server"].includes(role))).toEqual([])
})
