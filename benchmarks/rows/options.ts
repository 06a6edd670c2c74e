/**
 * What the options cost: each against none, and all together.
 */
import type { Row } from "../harness/Row.ts"

export const options: ReadonlyArray<Row> = [
  // Middleware, idempotency and access policy go here, alone and together, when the server has them.
]
