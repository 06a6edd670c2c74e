/**
 * A row of the benchmark: one question, put to several peers in turn.
 */

/** What a peer came to in one round. */
export interface Sample {
  /** Calls a second, milliseconds, bytes: what the row is about. */
  readonly value: number
  /** CPU time of what is measured, for one call. */
  readonly cpuMicros?: number | undefined
  readonly p50Micros?: number | undefined
  readonly p99Micros?: number | undefined
  /** The most memory that what is measured ever held. */
  readonly peakBytes?: number | undefined
}

/** A peer that is ready to be measured. */
export interface Running {
  readonly measure: (millis: number) => Promise<Sample>
  readonly stop: () => Promise<void>
}

/** One column of a row: a server, a client, or the floor that they are compared with. */
export interface Peer {
  readonly name: string
  /** Starts it and checks that it answers as it should. */
  readonly start: () => Promise<Running>
}

/** What a row is to reach: a ratio to another peer, or a value. */
export interface Target {
  readonly peer: string
  /** The peer that the ratio is taken to; the value itself where there is none. */
  readonly against?: string | undefined
  readonly atLeast?: number | undefined
  readonly atMost?: number | undefined
}

/** The parts of the benchmark, as `npm run bench -- <part>` names them. */
export const parts = [
  "http",
  "in-process",
  "stdio",
  "client",
  "streams",
  "growth",
  "options",
  "cores",
  "start"
] as const

/** A part of the benchmark. */
export type Part = typeof parts[number]

/** One row. */
export interface Row {
  readonly part: Part
  readonly name: string
  readonly unit: "calls/s" | "ms" | "MiB" | "KiB"
  /** The peer that is as fast as it can be. */
  readonly floor?: string | undefined
  readonly peers: ReadonlyArray<Peer>
  readonly targets?: ReadonlyArray<Target> | undefined
  /** Rounds, where a row takes fewer than the others or has to. */
  readonly rounds?: number | undefined
  /** Whether a first round goes uncounted. Default: true. */
  readonly warmUp?: boolean | undefined
}

/** The names of the peers that the tables compare with, beside the floor. */
export const rivals = ["SDK", "effect/ai"] as const
