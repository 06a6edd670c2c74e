/**
 * What an endpoint counts, for `effect/Metric`.
 */
import * as Metric from "effect/Metric"

export const overstays: Metric.Counter<number> = Metric.counter("fairlead_server_overstays", {
  description: "Requests that went on after their cancellation grace",
  incremental: true
})

export const overstaying: Metric.Gauge<number> = Metric.gauge("fairlead_server_overstaying", {
  description: "Requests that go on after their cancellation grace and hold their slot"
})
