/**
 * `npm run bench -- --profile <program>`: where the time of a call goes, in microseconds, from a CPU profile of the
 * program under load.
 */
import * as Requests from "../Requests.ts"
import { start } from "./Child.ts"
import { type Entry, summarize } from "./Profile.ts"
import { loader } from "./Servers.ts"

const list = (entries: ReadonlyArray<Entry>): string =>
  entries.filter(({ micros }) => micros >= 0.05).map(({ micros, name }) => `${micros.toFixed(2).padStart(8)}  ${name}`)
    .join("\n")

const messages: Readonly<Record<string, string>> = {
  echo: Requests.echo,
  list: Requests.listTools,
  progress: Requests.progress(1000),
  in: Requests.measure(1024 * 1024),
  out: Requests.fill(1024 * 1024)
}

/** Profiles a program of `servers` or `drivers`. */
export const profile = async (options: {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly concurrency: number
  readonly message: string
  readonly millis: number
}): Promise<string> => {
  const isClient = options.program.startsWith("drivers/httpClient")
  const floor = isClient ? await start("driver", "servers/floor.ts") : undefined
  const measured = await start("measured", options.program, [
    ...options.args,
    ...(floor === undefined ? [] : ["--port", String(floor.port)])
  ])
  const driving = options.program.startsWith("servers/") ? await loader() : measured
  const message = messages[options.message] ?? Requests.echo
  const order = { millis: options.millis, concurrency: options.concurrency, port: measured.port, message }
  await driving.run(order)
  const before = await measured.usage()
  const plain = await driving.run(order)
  const after = await measured.usage()
  let calls = 0
  const found = await measured.profile(async () => {
    calls = (await driving.run(order)).calls
  })
  await measured.stop()
  await floor?.stop()
  const { functions, places } = summarize(found, calls)
  return [
    `${options.program}: ${Math.round(plain.calls / plain.seconds)} calls/s, ${
      ((after.cpuMicros - before.cpuMicros) / plain.calls).toFixed(1)
    } µs of CPU a call without the profiler`,
    "",
    "Microseconds a call, by module:",
    list(places.slice(0, 40)),
    "",
    "By function:",
    list(functions.slice(0, 70))
  ].join("\n")
}
