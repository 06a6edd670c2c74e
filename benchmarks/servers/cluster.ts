/**
 * Several workers of a server program on one port, by Node's cluster module: `--program servers/fairlead.ts --workers 2`.
 */
import Cluster from "node:cluster"
import * as Path from "node:path"
import { parseArgs } from "node:util"
import { serve } from "../harness/agent.ts"
import type { Reply } from "../harness/Message.ts"

const { values } = parseArgs({
  options: { program: { type: "string", default: "" }, workers: { type: "string", default: "1" } }
})

Cluster.setupPrimary({ exec: Path.resolve(import.meta.dirname, "..", values.program), args: [] })

const workers = Number(values.workers)
let ready = 0
// Workers that ask for any port get the same one.
Cluster.on("message", (_worker, reply: Reply) => {
  if (reply.op === "ready" && ++ready === workers) serve({ port: reply.port })
})
Cluster.on("exit", () => process.exit(1))
for (let i = 0; i < workers; i++) Cluster.fork()
