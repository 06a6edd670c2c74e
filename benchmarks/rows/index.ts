/**
 * All rows, in the order in which they run.
 */
import type { Row } from "../harness/Row.ts"
import { client } from "./client.ts"
import { cores } from "./cores.ts"
import { growth } from "./growth.ts"
import { http } from "./http.ts"
import { inProcess } from "./inProcess.ts"
import { options } from "./options.ts"
import { startRows } from "./start.ts"
import { stdio } from "./stdio.ts"
import { streams } from "./streams.ts"
import { webHandler } from "./webHandler.ts"

export const rows: ReadonlyArray<Row> = [
  http,
  webHandler,
  ...inProcess,
  ...stdio,
  ...client,
  ...streams,
  ...growth,
  ...options,
  cores,
  ...startRows
]
