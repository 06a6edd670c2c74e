/**
 * What a server program is told on its command line: `--tools 10` (how many tools there are beside the four that are
 * called), `--limit 4194304` (the largest body, both ways), `--mode` (which form of the peer).
 */
import { parseArgs } from "node:util"

const { values } = parseArgs({
  // A driver that has a server inside is told for both.
  strict: false,
  options: {
    tools: { type: "string", default: "0" },
    limit: { type: "string", default: String(1024 * 1024) },
    mode: { type: "string", default: "" }
  }
})

/** How many tools there are beside those that are called. */
export const extraTools = Number(values.tools)
/** The largest body in bytes. */
export const limit = Number(values.limit)
/** Which form of the peer. */
export const mode = String(values.mode)

/** The names of the tools that are only there. */
export const extraNames: ReadonlyArray<string> = Array.from(
  { length: extraTools },
  (_, i) => `extra_${String(i).padStart(5, "0")}`
)
