/** What the engine counts, under the trade's names. Never a label with a phone number. */
import { Metric } from "effect"

export const callsOriginated = Metric.counter("calls_originated_total", { description: "Dial requests sent", incremental: true })
export const callsLive = Metric.gauge("calls_live", { description: "Calls of this node, from the dial request to the end" })
