/**
 * The floor over stdio: lines, `JSON.parse` and `JSON.stringify`, one write a turn.
 */
import { answer } from "./results.ts"

let rest = ""
let waiting = ""
process.stdin.setEncoding("utf8")
process.stdin.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n")
  rest = lines.pop()!
  for (const line of lines) {
    if (waiting === "") {
      queueMicrotask(() => {
        process.stdout.write(waiting)
        waiting = ""
      })
    }
    waiting += `${answer(JSON.parse(line))}\n`
  }
})
