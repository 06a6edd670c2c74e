/**
 * What a driver is told on its command line: `--peer` (who makes the calls) and `--port` (where to).
 */
import { parseArgs } from "node:util"

const { values } = parseArgs({
  // A driver that has a server inside is told for both.
  strict: false,
  options: {
    peer: { type: "string", default: "" },
    port: { type: "string", default: "0" }
  }
})

/** Who makes the calls. */
export const peer = String(values.peer)
/** Where to, for clients over HTTP. */
export const url = `http://127.0.0.1:${values.port}/mcp`

/** The arguments of the small call; its answer is the same. */
export const args = { text: "Hello" }

/** What is asked for in vain means that the benchmark itself is wrong. */
export const unknown = (): never => {
  throw new Error(`There is no peer named ${peer} here`)
}

/** Fails where a peer does not give back what it was sent. */
export const check = (output: unknown): void => {
  if ((output as { readonly text?: unknown } | undefined)?.text !== args.text) {
    throw new Error(`${peer} answers ${JSON.stringify(output)}`)
  }
}
