import { assert, describe, it } from "vitest"
import { hosts, missing } from "../lockfile.ts"

describe("the lock file check", () => {
  it("finds entries that name a host, not links to workspace folders", () => {
    const lock = {
      packages: {
        "node_modules/a": { version: "1.0.0" },
        "node_modules/b": { version: "1.0.0", resolved: "scheme://host/b.tgz" },
        "node_modules/@fairlead/cli": { resolved: "packages/cli", link: true }
      }
    }
    assert.deepStrictEqual(hosts(lock), ["node_modules/b: scheme://host/b.tgz"])
  })

  it("finds optional dependencies without an entry and gives them their platform", () => {
    const optionalDependencies = {
      "@x/darwin-arm64": "1.2.3",
      "@x/linux-x64-gnu": "1.2.3",
      "x-windows-thing": "^0.1.0"
    }
    const lock = {
      packages: {
        "node_modules/x": { version: "1.2.3", dev: true, optionalDependencies },
        "node_modules/@x/linux-x64-gnu": { version: "1.2.3" }
      }
    }
    assert.deepStrictEqual(missing(lock), {
      "node_modules/@x/darwin-arm64": { version: "1.2.3", dev: true, optional: true, os: ["darwin"], cpu: ["arm64"] },
      "node_modules/x-windows-thing": { version: "0.1.0", dev: true, optional: true, os: ["win32"] }
    })
  })

  it("does not guess a platform", () => {
    const lock = { packages: { "node_modules/x": { optionalDependencies: { y: "1.0.0" } } } }
    assert.throws(() => missing(lock), /tells no platform/)
  })
})
