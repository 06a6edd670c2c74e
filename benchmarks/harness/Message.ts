/**
 * What the benchmark says to its child processes, and what they answer. A child is a server under load, a client under
 * test, or the load itself.
 */

/** What a child has used since it started. */
export interface Usage {
  /** CPU time of all its threads, in microseconds. */
  readonly cpuMicros: number
  /** The most memory it ever held, in bytes. */
  readonly peakBytes: number
  /** Its heap in use, in bytes, after a collection where the child allows one. */
  readonly heapBytes: number
}

/** A loop of calls to run for a while. */
export interface Order {
  readonly millis: number
  /** How many calls are in flight at once. */
  readonly concurrency: number
  /** Ends after so many calls, however long they take. */
  readonly calls?: number | undefined
  /** Whether the load sleeps while it waits, where it shares its cores with what it measures. */
  readonly sleeps?: boolean | undefined
  /** What to call, where a child can do more than one thing. */
  readonly what?: string | undefined
  /** Where to send it, for the load. */
  readonly port?: number | undefined
  /** The text of a request with `0` as id, for the load. */
  readonly message?: string | undefined
}

/** What a loop of calls came to. */
export interface Outcome {
  readonly calls: number
  readonly seconds: number
  readonly p50Micros: number
  readonly p99Micros: number
}

/** From the benchmark to a child. */
export type Request =
  | { readonly id: number; readonly op: "usage"; readonly collect: boolean }
  | { readonly id: number; readonly op: "run"; readonly order: Order }
  | { readonly id: number; readonly op: "profile"; readonly on: boolean }
  /** Tells all listeners of so many changes. */
  | { readonly id: number; readonly op: "tell"; readonly changes: number }

/** A CPU profile, as the inspector gives it. */
export interface CpuProfile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
    readonly children?: ReadonlyArray<number> | undefined
  }>
  readonly samples?: ReadonlyArray<number> | undefined
  readonly timeDeltas?: ReadonlyArray<number> | undefined
}

/** What a child answers. */
export type Value = Usage | Outcome | CpuProfile | undefined

/** From a child to the benchmark. */
export type Reply =
  | { readonly op: "ready"; readonly port: number | undefined }
  | { readonly op: "done"; readonly id: number; readonly value: Value }
  | { readonly op: "failed"; readonly id: number; readonly message: string }
