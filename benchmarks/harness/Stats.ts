/**
 * The arithmetic of the tables.
 */

/** The middle value; the mean of the two middle ones where there is no single one. `NaN` of nothing. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** How far the values lie around their median: half the distance between the quartiles, as a part of the median. */
export const spread = (values: ReadonlyArray<number>): number => {
  if (values.length < 2) return 0
  const sorted = values.toSorted((a, b) => a - b)
  const at = (part: number) => {
    const position = part * (sorted.length - 1)
    const low = Math.floor(position)
    const high = Math.ceil(position)
    return sorted[low]! + (sorted[high]! - sorted[low]!) * (position - low)
  }
  return (at(0.75) - at(0.25)) / 2 / median(sorted)
}

/** A percentile of latencies; sorts the array it is given. */
export const percentile = (latencies: Float64Array, part: number): number => {
  if (latencies.length === 0) return NaN
  latencies.sort()
  return latencies[Math.min(latencies.length - 1, Math.floor(part * latencies.length))]!
}
