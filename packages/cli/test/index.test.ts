import { assert, it } from "@effect/vitest"
import * as Cli from "@fairlead/cli"

it("has no exports until its commands are there", () => {
  assert.deepStrictEqual(Object.keys(Cli), [])
})
