/**
 * Web handlers in process: a `Request` in, the text of a `Response` out.
 */
import { drivers } from "../harness/Drivers.ts"
import type { Row } from "../harness/Row.ts"

const file = "drivers/webHandler.ts"

export const webHandler: Row = {
  part: "http",
  name: "web handler in process, small call, 16 at once",
  unit: "calls/s",
  floor: "text, parse, Response",
  peers: drivers([
    { name: "text, parse, Response", file, args: ["--peer", "floor"] },
    { name: "SDK", file, args: ["--peer", "sdk"] },
    { name: "effect/ai", file, args: ["--peer", "effect/ai"] },
    { name: "Fairlead", file, args: ["--peer", "fairlead"] }
  ], { concurrency: 16 }),
  targets: [{ peer: "Fairlead", against: "text, parse, Response", atLeast: 0.75 }]
}
