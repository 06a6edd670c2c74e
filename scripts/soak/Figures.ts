/**
 * What a process holds: its fibers, sockets and timers, and its heap after everything was collected.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

export interface Figures {
  readonly fibers: number
  readonly sockets: number
  /** Timers that keep the process alive. */
  readonly timers: number
  readonly heapBytes: number
}

let fibers = 0

/** Counts the fibers of a program, and of all that it starts. */
export const counted: <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R> = Effect.provideService(
  Metric.FiberRuntimeMetrics,
  {
    recordFiberStart: () => {
      fibers++
    },
    recordFiberEnd: () => {
      fibers--
    }
  }
)

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Collects until nothing more becomes free. Needs `--expose-gc`. */
const collect = async (): Promise<number> => {
  const { gc } = globalThis as { readonly gc?: () => void }
  if (gc === undefined) throw new Error("The soak needs node --expose-gc")
  let bytes = Infinity
  for (let round = 0; round < 10; round++) {
    gc()
    // What waits for a finalization registry or a weak reference needs a turn between.
    // oxlint-disable-next-line no-await-in-loop
    await turn()
    const now = process.memoryUsage().heapUsed
    if (now >= bytes) return Math.min(now, bytes)
    bytes = now
  }
  return bytes
}

/** The figures of this process. */
export const figures = async (): Promise<Figures> => {
  const heapBytes = await collect()
  const resources = process.getActiveResourcesInfo()
  const count = (name: string) => resources.filter((resource) => resource === name).length
  return { fibers, sockets: count("TCPSocketWrap"), timers: count("Timeout"), heapBytes }
}
