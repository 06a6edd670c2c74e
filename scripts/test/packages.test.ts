import { assert, describe, it } from "vitest"
import { contents } from "../packages.ts"

describe("the contents of a package", () => {
  const good = [
    "LICENSE",
    "README.md",
    "package.json",
    "src/A.ts",
    "dist/A.js",
    "dist/A.js.map",
    "dist/A.d.ts",
    "dist/A.d.ts.map"
  ]

  it("are its sources, what is built from them, and three files", () => {
    assert.deepStrictEqual(contents(good, ["A.ts"]), [])
  })

  it("lack nothing and hold nothing else", () => {
    const bad = [
      ...good.filter((file) => file !== "LICENSE" && file !== "dist/A.js.map"),
      "test/A.test.ts",
      "dist/Old.js"
    ]
    assert.deepStrictEqual(contents(bad, ["A.ts"]), [
      "lacks LICENSE",
      "lacks dist/A.js.map",
      "has test/A.test.ts, which does not belong there",
      "has dist/Old.js, which does not belong there"
    ])
  })
})
