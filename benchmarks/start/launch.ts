/**
 * Starts a program and waits for its first answer.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as Http from "node:http"
import { pinned } from "../harness/Child.ts"
import { requestBytes, withId } from "../load/requestBytes.ts"
import { echo } from "../Requests.ts"

/** How a start went, in milliseconds. */
export interface Start {
  /** From the start of the process to the end of its imports, as the process sees it. */
  readonly importMillis: number
  /** From here to here: the process is started, it answers a call. */
  readonly answerMillis: number
}

/** Starts a program of plain JavaScript, asks it one call, ends it. */
export const launch = async (file: string): Promise<Start> => {
  const start = performance.now()
  const [command, ...args] = pinned("measured", [process.execPath, file])
  const child = spawn(command!, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] })
  const [{ importMillis, port }] = await once(child, "message") as [{ port: number; importMillis: number }]
  const head = requestBytes(echo, 1, port).toString().split("\r\n\r\n")[0]!.split("\r\n").slice(1)
  const headers = Object.fromEntries(head.map((line) => line.split(": ") as [string, string]))
  const status = await new Promise<number>((resolve, reject) => {
    const request = Http.request({ port, host: "127.0.0.1", path: "/mcp", method: "POST", headers, agent: false })
    request.on("response", (response) => {
      response.resume()
      response.on("end", () => resolve(response.statusCode ?? 0))
    })
    request.on("error", reject)
    request.end(withId(echo, 1))
  })
  const answerMillis = performance.now() - start
  child.disconnect()
  await once(child, "exit")
  if (status !== 200) throw new Error(`${file} answers ${status}`)
  return { importMillis, answerMillis }
}
