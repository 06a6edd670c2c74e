import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { compile, documents, execute, fileOf, locate, remove, snippets, timeLimit, write } from "../docs-code/Check.ts"
import type { Snippet } from "../docs-code/Extract.ts"
import { fromMarkdown, fromSource } from "../docs-code/Extract.ts"

describe("the code in the documents", () => {
  const all = snippets()
  const wrong: Snippet = { document: "none.md", line: 5, name: "wrong.ts", text: "const a: 1 = 2", run: false }
  beforeAll(() => write([...all, wrong]))
  afterAll(remove)

  it("is looked for in documents that exist", () => {
    assert.isAtLeast(documents().length, 6)
  })

  it("compiles, and what does not compile is told with its place", async () => {
    assert.strictEqual(
      (await compile([...all, wrong])).trim(),
      "none.md:5:7: error TS2322: Type '2' is not assignable to type '1'."
    )
  }, 120_000)

  for (const snippet of all.filter((s) => s.run)) {
    it(`runs: ${snippet.document}:${snippet.line}`, async () => {
      assert.strictEqual(await execute(snippet), "")
    }, timeLimit + 10_000)
  }
})

describe("extraction", () => {
  const at = (text: string) => fromMarkdown({ path: "docs/x.md", text })

  it("takes each ts block as a module, with its line", () => {
    const found = at("# T\n\n```ts\nconst a = 1\n```\n\n```sh\nls\n```\n\n```ts no-run\nconst b = 1\n```\n")
    assert.deepStrictEqual(found, [
      { document: "docs/x.md", line: 4, name: "line-4.ts", text: "const a = 1", run: true },
      { document: "docs/x.md", line: 12, name: "line-12.ts", text: "const b = 1", run: false }
    ])
  })

  it("names a block after the comment before it and joins blocks of one name", () => {
    const found = at(
      "<!-- file: a.ts -->\n\n```ts no-run\n1\n```\n\n```ts\nimport './a.ts'\n```\n<!-- file: a.ts -->\n```ts\n2\n```\n"
    )
    assert.deepStrictEqual(found.map((s) => [s.name, s.text, s.run]), [
      ["a.ts", "1\n2", false],
      ["line-8.ts", "import './a.ts'", true]
    ])
  })

  it("forgets the name when text comes between, refuses odd names and open fences", () => {
    assert.deepStrictEqual(at("<!-- file: a.ts -->\nText.\n```ts\n1\n```").map((s) => s.name), ["line-4.ts"])
    assert.throws(() => at("<!-- file: ../a.ts -->\n```ts\n1\n```"), /names its file/)
    assert.throws(() => at("```ts\n1\n"), /never closed/)
  })

  it("leaves alone what says no-check, other languages, and blocks inside blocks", () => {
    assert.deepStrictEqual(at("```ts no-check\n1\n```\n```tsx\n1\n```\n````md\n```ts\n1\n```\n````\n"), [])
  })

  it("takes the blocks of docstrings, at their lines", () => {
    const text = "const x = 1\n/**\n * A.\n *\n * ```ts\n * const a = 1\n *   // in\n * ```\n */\nexport const a = 1\n"
    assert.deepStrictEqual(fromSource({ path: "packages/a/src/A.ts", text }), [
      { document: "packages/a/src/A.ts", line: 6, name: "line-6.ts", text: "const a = 1\n  // in", run: false }
    ])
  })

  it("says where in the document an error is", () => {
    const snippet: Snippet = { document: "docs/x.md", line: 10, name: "a.ts", text: "", run: true }
    assert.strictEqual(locate([snippet], `${fileOf(snippet)}(3,7): error`), "docs/x.md:12:7: error")
    assert.strictEqual(locate([snippet], `at file:///r/${fileOf(snippet)}:3:7`), "at file:///r/docs/x.md:12:7")
  })
})

describe("running", () => {
  it("reports a block that fails", async () => {
    const snippet: Snippet = { document: "none.md", line: 1, name: "missing.ts", text: "", run: true }
    assert.include(await execute(snippet), "none.md:1 ended with 1")
  })
})
