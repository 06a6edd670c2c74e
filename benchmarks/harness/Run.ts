/**
 * Runs a row: all peers are started, then measured in turn, round after round, so that whatever the machine does beside
 * meets all of them alike.
 */
import type { Peer, Row, Running, Sample } from "./Row.ts"
import { median, spread } from "./Stats.ts"

/** How long and how often is measured. */
export interface Plan {
  readonly rounds: number
  readonly millis: number
  readonly warmUpMillis: number
}

/** What a peer came to: medians over the rounds. */
export interface PeerResult {
  readonly name: string
  readonly value: number
  /** Half the distance between the quartiles, as a part of the median. */
  readonly spread: number
  readonly cpuMicros: number | undefined
  readonly p50Micros: number | undefined
  readonly p99Micros: number | undefined
  readonly peakBytes: number | undefined
  /** How it stands to each other peer: the median of the ratios within a round. */
  readonly ratios: Readonly<Record<string, number>>
}

/** A target and what became of it. */
export interface TargetResult {
  readonly peer: string
  readonly against: string | undefined
  readonly atLeast: number | undefined
  readonly atMost: number | undefined
  readonly reached: number
  /** The same ratio by the CPU time of a call, which other programs on the machine disturb less. */
  readonly byCpu: number | undefined
  readonly met: boolean
}

/** What a row came to. */
export interface RowResult {
  readonly part: string
  readonly name: string
  readonly unit: string
  readonly floor: string | undefined
  readonly rounds: number
  readonly peers: ReadonlyArray<PeerResult>
  readonly targets: ReadonlyArray<TargetResult>
}

/** Measures a row. */
export const run = async (row: Row, plan: Plan): Promise<RowResult> => {
  const running: Array<{ readonly peer: Peer; readonly it: Running; readonly samples: Array<Sample> }> = []
  const rounds = Math.min(plan.rounds, row.rounds ?? plan.rounds)
  try {
    for (const peer of row.peers) running.push({ peer, it: await peer.start(), samples: [] })
    if (row.warmUp !== false) { for (const { it } of running) await it.measure(plan.warmUpMillis) }
    for (let round = 0; round < rounds; round++) {
      for (const { it, samples } of running) samples.push(await it.measure(plan.millis))
    }
  } finally {
    await Promise.all(running.map(({ it }) => it.stop()))
  }
  const peers = running.map(({ peer, samples }): PeerResult => ({
    name: peer.name,
    value: median(samples.map(({ value }) => value)),
    spread: spread(samples.map(({ value }) => value)),
    cpuMicros: known(samples, "cpuMicros"),
    p50Micros: known(samples, "p50Micros"),
    p99Micros: known(samples, "p99Micros"),
    peakBytes: known(samples, "peakBytes"),
    ratios: Object.fromEntries(
      running.filter((other) => other.peer !== peer).map((other) => [
        other.peer.name,
        median(samples.map((sample, round) => sample.value / other.samples[round]!.value))
      ])
    )
  }))
  return {
    part: row.part,
    name: row.name,
    unit: row.unit,
    floor: row.floor,
    rounds,
    peers,
    targets: (row.targets ?? []).map(({ against, atLeast, atMost, peer }) => {
      const found = peers.find(({ name }) => name === peer)
      const reached = (against === undefined ? found?.value : found?.ratios[against]) ?? NaN
      const other = peers.find(({ name }) => name === against)
      return {
        peer,
        against,
        atLeast,
        atMost,
        reached,
        byCpu: found?.cpuMicros === undefined || other?.cpuMicros === undefined
          ? undefined
          : other.cpuMicros / found.cpuMicros,
        met: reached >= (atLeast ?? -Infinity) && reached <= (atMost ?? Infinity)
      }
    })
  }
}

const known = (
  samples: ReadonlyArray<Sample>,
  field: "cpuMicros" | "p50Micros" | "p99Micros" | "peakBytes"
): number | undefined => {
  const values = samples.flatMap((sample) => sample[field] ?? [])
  return values.length === 0 ? undefined : field === "peakBytes" ? Math.max(...values) : median(values)
}
