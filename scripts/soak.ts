/**
 * `npm run soak`: serves over HTTP (with the listener, and mounted in a router) and over stdio, does everything to the
 * servers that clients do and should not do, and then looks at what is left: no slot, no fiber, no socket, no timer, and a
 * heap that has not grown. A few minutes; `--short` takes 40 seconds, `--seed N` repeats the malformed requests of a run.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import { parseArgs } from "node:util"
import { type Child, start } from "./soak/Child.ts"
import { counted, type Figures, figures } from "./soak/Figures.ts"
import * as Http from "./soak/Http.ts"
import * as Log from "./soak/Log.ts"
import { faultsOf, type Result, table } from "./soak/Report.ts"
import * as Stdio from "./soak/Stdio.ts"
import type { Worker } from "./soak/Worker.ts"

const { values: options } = parseArgs({ options: { short: { type: "boolean" }, seed: { type: "string" } } })
const seed = Number(options.seed ?? Math.floor(Math.random() * 1_000_000))
/** How far the seeds of the two phases are apart. */
const phaseSeeds = 100_000
const seconds = options.short === true ? { warm: 16, load: 18 } : { warm: 45, load: 150 }

/** Does all that there is to do, for a while. */
const work = (workers: ReadonlyArray<Worker>, log: Log.Log, forSeconds: number) =>
  Effect.all(
    workers.flatMap(({ count, step }, kind) =>
      Array.from({ length: count }, (_, index) =>
        Effect.forever(
          Effect.catchCause(Effect.scoped(step), (cause) => log.wrong(`A client failed: ${cause}`))
        ).pipe(Random.withSeed(`${seed} ${kind} ${index}`)))
    ),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.timeoutOption(`${forSeconds} seconds`))

/** Waits until a process is as quiet as it was; what it has after that is left. */
const quiet = (measure: Effect.Effect<Figures>, start: Figures): Effect.Effect<Figures> =>
  Effect.gen(function*() {
    for (let attempt = 0;; attempt++) {
      const now = yield* measure
      const isQuiet = now.fibers <= start.fibers && now.sockets <= start.sockets && now.timers <= start.timers
      if (isQuiet || attempt === 50) return now
      yield* Effect.sleep("200 millis")
    }
  })

/** Both phases on one server: warm-up and load, each with its look at slots and heap. */
const soak = (
  child: Child,
  log: Log.Log,
  during: (forSeconds: number, seed: number) => Effect.Effect<unknown, unknown, Scope.Scope>,
  slotsLeft: Effect.Effect<number>
): Effect.Effect<Result, unknown> =>
  Effect.gen(function*() {
    const first = yield* child.figures
    const phase = (forSeconds: number, seed: number) =>
      Effect.gen(function*() {
        yield* Effect.scoped(during(forSeconds, seed))
        yield* quiet(child.figures, first)
        const slots = yield* slotsLeft
        return { slots, figures: yield* quiet(child.figures, first) }
      })
    const warm = yield* phase(seconds.warm, seed)
    const end = yield* phase(seconds.load, seed + phaseSeeds)
    return {
      name: child.front,
      start: first,
      warm: warm.figures,
      end: end.figures,
      slots: warm.slots + end.slots,
      exit: yield* child.stop,
      expectedExit: child.front === "stdio" ? 0 : 130,
      counts: log.counts
    }
  })

const overHttp = (front: "listener" | "router", log: Log.Log) =>
  Effect.flatMap(start(front), (child) => {
    const target = (seed: number) => ({ front, port: child.port, seed, log })
    return soak(
      child,
      log,
      (forSeconds, seed) => Effect.flatMap(Http.workers(target(seed)), (workers) => work(workers, log, forSeconds)),
      Http.slotsLeft(child.port)
    )
  })

const overStdio = (log: Log.Log) =>
  Effect.flatMap(start("stdio"), (child) => {
    const channel = Stdio.channelOf(child, log)
    return soak(child, log, (forSeconds) =>
      work(Stdio.workers(channel, log, seed), log, forSeconds), Stdio.slotsLeft(channel))
  })

const program = Effect.gen(function*() {
  yield* Effect.sync(() => console.log(`Soaking for ${seconds.warm + seconds.load} seconds, seed ${seed}`))
  const own = Effect.promise(figures)
  const first = yield* own
  const logs = [Log.make(), Log.make(), Log.make()] as const
  const servers = yield* Effect.scoped(
    Effect.all([overHttp("listener", logs[0]), overHttp("router", logs[1]), overStdio(logs[2])], {
      concurrency: "unbounded"
    })
  )
  const end = yield* quiet(own, first)
  const clients: Result = { name: "clients", start: first, warm: end, end, slots: undefined, counts: new Map() }
  const results = [...servers, clients]
  const faults = [...results.flatMap(faultsOf), ...logs.flatMap((log) => log.faults)]
  console.log(table(results))
  for (const fault of faults) console.error(fault)
  console.log(faults.length === 0 ? "Nothing is left." : `${faults.length} faults; repeat with --seed ${seed}`)
  return faults.length === 0 ? 0 : 1
})

process.exitCode = await Effect.runPromise(counted(program))
