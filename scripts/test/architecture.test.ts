import { assert, describe, it } from "vitest"
import { check, load } from "../architecture/Check.ts"
import { current, pinned, render } from "../architecture/Exports.ts"
import { barrels, circles, direction, nodeImports, undeclared } from "../architecture/Imports.ts"
import { manifests } from "../architecture/Manifests.ts"
import { parse } from "../architecture/Parse.ts"
import { barrelExports, barrelText, docs, revisionLiterals, tests } from "../architecture/Rules.ts"
import { sizes } from "../architecture/Sizes.ts"
import type { Folder, Violation } from "../architecture/Workspace.ts"
import { expand, folders, format, packages, sources } from "../architecture/Workspace.ts"

describe("the repository", () => {
  const input = load()

  it("is seen whole: every package has modules that were read", () => {
    assert.isAtLeast(input.packages.length, 6)
    for (const folder of input.packages) {
      assert.isTrue(input.modules.some((module) => module.path.startsWith(`${folder.path}/src/`)), folder.path)
    }
  })

  for (const [sentence, violations] of Object.entries(check(input))) {
    it(sentence, () => {
      assert.strictEqual(format(violations), "")
    })
  }
})

// Each rule is shown to fail, and not to fail on its nearest neighbour that is allowed.

const folder = (name: string, more: Partial<Folder["manifest"]> = {}): Folder => ({
  path: `packages/${name}`,
  manifest: { name: `@fairlead/${name}`, ...more }
})

const all = ["protocol", "client", "server", "node", "testing", "cli"].map((name) => folder(name))

const files = (texts: Record<string, string>) =>
  Object.entries(texts).map(([path, text]) => parse({ path: `packages/${path}`, text }))

const rules = (violations: ReadonlyArray<Violation>) =>
  violations.map((v) => `${v.file.replace("packages/", "")}${v.line === undefined ? "" : `:${v.line}`}`)

describe("circular imports", () => {
  it("are found with the chain, also across packages", () => {
    const found = circles(
      all,
      files({
        "protocol/src/A.ts": `import * as B from "./B.ts"\nexport const a = B`,
        "protocol/src/B.ts": `export * from "./internal/c.ts"`,
        "protocol/src/internal/c.ts": `export const c = () => import("@fairlead/protocol/A")`
      })
    )
    assert.strictEqual(found.length, 1)
    assert.include(
      found[0]!.message,
      "packages/protocol/src/A.ts -> packages/protocol/src/B.ts -> packages/protocol/src/internal/c.ts -> packages/protocol/src/A.ts"
    )
  })

  it("are two when two share a module", () => {
    const found = circles(
      all,
      files({
        "protocol/src/A.ts": `import "./B.ts"\nimport "./C.ts"`,
        "protocol/src/B.ts": `import "./A.ts"`,
        "protocol/src/C.ts": `import "./A.ts"`
      })
    )
    assert.strictEqual(found.length, 2)
  })

  it("do not count when a side is erased", () => {
    const found = circles(
      all,
      files({
        "protocol/src/A.ts": `import * as B from "./B.ts"\nexport const a = B`,
        "protocol/src/B.ts": `import type { A } from "./A.ts"\nimport { type C } from "./A.ts"\nexport type X = A | C`
      })
    )
    assert.deepStrictEqual(found, [])
  })
})

describe("package direction", () => {
  const at = (path: string, text: string) => rules(direction(all, files({ [path]: text })))

  it("forbids client and server each other, and protocol everything", () => {
    assert.deepStrictEqual(at("client/src/A.ts", `import "@fairlead/server/McpServer"`), ["client/src/A.ts:1"])
    assert.deepStrictEqual(at("server/src/A.ts", `\nexport * from "@fairlead/client"`), ["server/src/A.ts:2"])
    assert.deepStrictEqual(at("protocol/src/A.ts", `import type { X } from "@fairlead/client"`), [
      "protocol/src/A.ts:1"
    ])
    assert.deepStrictEqual(at("protocol/src/A.ts", `export type T = import("@fairlead/node").T`), [
      "protocol/src/A.ts:1"
    ])
    assert.deepStrictEqual(at("testing/src/A.ts", `import "@fairlead/node/X"`), ["testing/src/A.ts:1"])
  })

  it("forbids reaching into another package by a path or its internals", () => {
    assert.deepStrictEqual(at("client/src/A.ts", `import "../../protocol/src/Tool.ts"`), ["client/src/A.ts:1"])
    assert.deepStrictEqual(at("client/src/A.ts", `import "@fairlead/protocol/internal/x"`), ["client/src/A.ts:1"])
    assert.deepStrictEqual(at("client/src/A.ts", `import "@fairlead/client/Other"`), ["client/src/A.ts:1"])
  })

  it("wants a new package in the table", () => {
    const found = direction([...all, folder("redis")], files({ "redis/src/A.ts": `export const a = 1` }))
    assert.deepStrictEqual(rules(found), ["redis/package.json"])
  })

  it("allows what the design draws", () => {
    assert.deepStrictEqual(at("client/src/internal/a.ts", `import "@fairlead/protocol/Tool"\nimport "../B.ts"`), [])
    assert.deepStrictEqual(at("cli/src/A.ts", `import "@fairlead/testing/X"\nimport "effect/Effect"`), [])
  })
})

describe("other imports", () => {
  it("only node and cli name Node", () => {
    const text = `import * as fs from "node:fs"\nimport "fs/promises"\nimport "@effect/platform-node/NodeHttpServer"`
    assert.deepStrictEqual(rules(nodeImports(all, files({ "server/src/A.ts": text }))), [
      "server/src/A.ts:1",
      "server/src/A.ts:2",
      "server/src/A.ts:3"
    ])
    assert.deepStrictEqual(nodeImports(all, files({ "node/src/A.ts": text, "cli/src/A.ts": text })), [])
  })

  it("barrels are not loaded, their types may be", () => {
    const text =
      `import { Effect } from "effect"\nimport type { Layer } from "effect"\nimport { HttpRouter } from "effect/http"\n` +
      `import * as Tool from "@fairlead/protocol/Tool"\nimport { Call } from "@fairlead/protocol"\nimport * as H from "effect/http/HttpRouter"`
    assert.deepStrictEqual(rules(barrels(all, files({ "server/src/A.ts": text }))), [
      "server/src/A.ts:1",
      "server/src/A.ts:3",
      "server/src/A.ts:5"
    ])
  })

  it("what is imported is declared", () => {
    const some = [folder("client", { dependencies: { jose: "1" }, peerDependencies: { effect: "4" } })]
    const text = `import "effect/Effect"\nimport "jose"\nimport "undici"\nimport "@scope/thing/x"`
    assert.deepStrictEqual(rules(undeclared(some, files({ "client/src/A.ts": text }))), [
      "client/src/A.ts:3",
      "client/src/A.ts:4"
    ])
  })
})

describe("revision literals", () => {
  it("are refused in strings, templates and import paths outside the folder", () => {
    const text = `export const a = "2026-07-28"\nexport const b = \`x-2025-11-25\`\nimport "./revision/2026-07-28/x.ts"`
    assert.strictEqual(revisionLiterals(files({ "server/src/A.ts": text })).length, 3)
    assert.deepStrictEqual(revisionLiterals(files({ "protocol/src/revision/a.ts": text })), [])
  })

  it("are allowed in comments", () => {
    assert.deepStrictEqual(
      revisionLiterals(
        files({ "server/src/A.ts": `// see specification/2026-07-28/basic\n/* 2026-07-28 */ export const a = 1` })
      ),
      []
    )
  })
})

describe("tests", () => {
  const modules = files({
    "client/src/A.ts": "export const a = 1",
    "client/src/T.ts": "export type T = 1",
    "client/src/index.ts": "export {}",
    "client/src/internal/x.ts": "export const x = 1"
  })

  it("are wanted for every public module and for no other file", () => {
    assert.deepStrictEqual(rules(tests(modules, [])), ["client/src/A.ts", "client/src/T.ts"])
    assert.deepStrictEqual(tests(modules, ["packages/client/test/A.test.ts", "packages/client/test/T.tst.ts"]), [])
  })

  it("of types alone do not do for a module with values", () => {
    assert.deepStrictEqual(
      rules(tests(modules, ["packages/client/test/A.tst.ts", "packages/client/test/T.test.ts"])),
      ["client/src/A.ts"]
    )
  })
})

describe("docstrings", () => {
  const header = "/**\n * What it is for.\n *\n * @since 0.1.0\n */\n"
  const doc = "/**\n * A thing.\n *\n * @category models\n * @since 0.1.0\n */\n"
  const at = (text: string) => docs(files({ "client/src/A.ts": text })).map((v) => v.message)

  it("are complete here", () => {
    const text = `${header}import type * as X from "./X.ts"\n${doc}export const a = 1\n${doc}export interface A {}\n` +
      `${doc}export function f(a: 1): 1\nexport function f(a: 2): 2\nexport function f(a: any) { return a }\n` +
      `export {\n  ${doc}  x\n} from "./internal/x.ts"\n${doc}export declare namespace A {\n  ${doc}  export type B = X\n}\n`
    assert.deepStrictEqual(at(text), [])
  })

  it("are missed on values, types, re-exports and inside namespaces", () => {
    const text = `${header}export const a = 1, b = 2\n// not one\nexport type T = 1\nexport { x } from "./x.ts"\n` +
      `${doc}export declare namespace A {\n  export type B = 1\n}\n`
    assert.deepStrictEqual(at(text), [
      "value a has no docstring",
      "value b has no docstring",
      "type T has no docstring",
      "value x has no docstring",
      "type A.B has no docstring"
    ])
  })

  it("need a sentence, one @since and one telling @category", () => {
    const one = (comment: string) =>
      at(`${header}/**\n * ${comment.replaceAll("\n", "\n * ")}\n */\nexport const a = 1`)
    assert.deepStrictEqual(one("@category models\n@since 0.1.0"), ["value a has a docstring without a sentence"])
    assert.deepStrictEqual(one("A.\n@category models"), ["value a needs exactly one `@since 0.1.0` line"])
    assert.deepStrictEqual(one("A.\n@since 0.1.0"), ["value a needs exactly one `@category name` line"])
    assert.deepStrictEqual(one("A.\n@category utils\n@since 0.1.0"), ["value a has a category that says nothing"])
    assert.include(one("A.\n@internal")[0], "put it into src/internal")
  })

  it("follow `export *` to the file it names", () => {
    const found = docs(files({
      "client/src/A.ts": `${header}export * from "./internal/a.ts"`,
      "client/src/internal/a.ts": `export const a = 1`
    }))
    assert.deepStrictEqual(rules(found), ["client/src/internal/a.ts:1"])
  })

  it("of the module itself come first and say since when", () => {
    for (const text of ["", doc.replace(" * @since 0.1.0\n", ""), `import "x"\n${header}`, "// no\n"]) {
      assert.strictEqual(at(text + `\n${doc}export const a = 1`).length, 1, text)
    }
  })

  it("are not asked of internals", () => {
    assert.deepStrictEqual(docs(files({ "client/src/internal/a.ts": "export const a = 1" })), [])
  })
})

describe("barrels", () => {
  const modules = (index: string) =>
    files({
      "client/src/A.ts": "/**\n * Says it.\n * Twice.\n *\n * More.\n *\n * @since 0.1.0\n */\nexport const a = 1",
      "client/src/B.ts": "",
      "client/src/index.ts": index
    })

  it("name each module once and nothing else", () => {
    const [a, b] = [`export * as A from "./A.ts"\n`, `export * as B from "./B.ts"\n`]
    assert.deepStrictEqual(barrelExports(modules(a + b)), [])
    assert.strictEqual(barrelExports(modules(a)).length, 1)
    assert.strictEqual(barrelExports(modules(a + b + b)).length, 1)
    assert.strictEqual(barrelExports(modules(a + b + "export const x = 1\n")).length, 1)
    assert.strictEqual(barrelExports(files({ "client/src/A.ts": "" })).length, 1)
  })

  it("are written as they are checked", () => {
    const text = barrelText(modules(""))
    assert.strictEqual(
      text,
      `/**\n * Says it.\n * Twice.\n *\n * @since 0.1.0\n */\nexport * as A from "./A.ts"\n\nexport * as B from "./B.ts"\n`
    )
    assert.deepStrictEqual(barrelExports(modules(text)), [])
    assert.deepStrictEqual(barrelExports(files({ "cli/src/index.ts": barrelText([]) })), [])
  })
})

describe("pinned exports", () => {
  const before = files({ "client/src/A.ts": "export const a = 1\nexport type a = 1" })
  const list = render(current(before))

  it("hold while nothing changes", () => {
    assert.deepStrictEqual(JSON.parse(list), { A: ["type a", "value a"] })
    assert.deepStrictEqual(pinned(before, () => list), [])
  })

  it("report what came and what went, and a missing list", () => {
    const after = files({ "client/src/A.ts": "export type a = 1\nexport const b = 1" })
    assert.deepStrictEqual(pinned(after, () => list).map((v) => v.message.split(";")[0]), [
      "A: value b is exported and not in the list",
      "A: value a is in the list and no longer exported"
    ])
    assert.strictEqual(pinned(after, () => undefined).length, 1)
  })
})

describe("package files", () => {
  const good: Record<string, string> = {
    "LICENSE": "L",
    "packages/client/LICENSE": "L",
    "packages/client/README.md": "# @fairlead/client\n",
    "packages/client/tsconfig.src.json": `{"compilerOptions":{"types":[]}}`,
    ".changeset/config.json": `{"fixed":[["@fairlead/client"]]}`
  }
  const sound = load().packages[0]!.manifest
  const at = (more: Record<string, string>, manifest: Partial<Folder["manifest"]> = {}) =>
    manifests(
      [folder("client", { ...sound, name: "@fairlead/client", ...manifest })],
      (file) => ({ ...good, ...more })[file]
    )

  it("hold", () => assert.deepStrictEqual(at({}), []))

  it("are each missed", () => {
    assert.strictEqual(at({ "packages/client/LICENSE": "other" }).length, 1)
    assert.strictEqual(at({ "packages/client/README.md": "" }).length, 1)
    assert.strictEqual(at({ "packages/client/tsconfig.src.json": `{"compilerOptions":{"types":["node"]}}` }).length, 1)
    assert.strictEqual(at({ ".changeset/config.json": `{"fixed":[["@fairlead/*"]]}` }).length, 1)
  })

  it("say alike what a package is", () => {
    const { "./internal/*": _, ...open } = sound.exports as Record<string, unknown>
    const wrong: ReadonlyArray<Partial<Folder["manifest"]>> = [
      { type: "commonjs" },
      { license: "ISC" },
      { sideEffects: true },
      { engines: { node: ">=20" } },
      { exports: open },
      { peerDependencies: {} },
      { dependencies: { effect: "^4.1.0" } }
    ]
    for (const one of wrong) {
      assert.deepStrictEqual(at({}, one).map(({ rule }) => rule), ["package.json"], JSON.stringify(one))
    }
  })
})

describe("what is looked at", () => {
  it("comes from the workspace list, and zero matches fail", () => {
    assert.isAtLeast(folders().length, packages().length)
    assert.throws(() => expand("nothing/*"), /matches no folder/)
    assert.throws(() => expand("packages/*/deep/*"), /is not understood/)
    assert.throws(() => sources([folder("missing")]), /has no TypeScript file/)
  })

  it("must parse", () => {
    assert.throws(() => files({ "client/src/A.ts": "export const = 1" }), /packages\/client\/src\/A\.ts does not parse/)
  })

  it("is measured without comments and blank lines", () => {
    const found = sizes(files({ "client/src/A.ts": "/*\n\n*/\nexport const f = () => {\n  // no\n\n  return 1\n}\n" }))
    assert.deepStrictEqual(found.modules.map((s) => s.codeLines), [3])
    assert.deepStrictEqual(found.functions, [{ what: "packages/client/src/A.ts:4 f", codeLines: 3 }])
  })
})
