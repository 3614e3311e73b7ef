/** What the engine counts, under the trade's names, and what its process takes. Never a label with a phone number or an organization. */
import { Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Config } from "./config.ts"
import { PoolUses } from "./PoolUse.ts"

export const callsOriginated = Metric.counter("calls_originated_total", { description: "Dial requests sent", incremental: true })
export const callsLive = Metric.gauge("calls_live", { description: "Calls of this node, from the dial request to the end" })

interface Family {
  readonly name: string
  readonly type: "gauge" | "counter"
  readonly help: string
  /** By label, which is empty for the only one. */
  readonly values: ReadonlyArray<readonly [label: string, value: number]>
}

const gauge = (name: string, help: string, ...values: Family["values"]): Family => ({ name, type: "gauge", help, values })
const one = (value: number) => ["", value] as const

const textOf = ({ help, name, type, values }: Family): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...values.map(([label, value]) => `${name}${label} ${value}`), ""].join("\n")

const processFamilies = (): ReadonlyArray<Family> => {
  const { heapUsed, rss } = process.memoryUsage()
  const { system, user } = process.cpuUsage()
  return [
    { name: "process_cpu_seconds_total", type: "counter", help: "Time spent on a core", values: [one((system + user) / 1e6)] },
    gauge("process_resident_memory_bytes", "Memory of the process", one(rss)),
    gauge("nodejs_heap_used_bytes", "Memory of its JavaScript objects", one(heapUsed)),
    gauge("process_uptime_seconds", "Since its start", one(process.uptime()))
  ]
}

const resolutionMillis = 20
/** What a timer is late by that has nothing before it. */
const seconds = (nanos: number): number => (Number.isFinite(nanos) ? Math.max(0, nanos / 1e9 - resolutionMillis / 1000) : 0)

/** All of it in the text format of Prometheus; undefined where METRICS is off. */
export const exposition = Effect.gen(function* () {
  if (!(yield* Config).metrics) return undefined
  const pools = yield* PoolUses
  const delay = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const monitor = monitorEventLoopDelay({ resolution: resolutionMillis })
      monitor.enable()
      return monitor
    }),
    (monitor) => Effect.sync(() => monitor.disable())
  )
  // Since it was last asked.
  const lateness = Effect.sync(() => {
    const [p50, p99, max] = [delay.percentile(50), delay.percentile(99), delay.max].map(seconds)
    delay.reset()
    return gauge(
      "event_loop_delay_seconds",
      "How late timers are",
      ['{quantile="0.5"}', p50 ?? 0],
      ['{quantile="0.99"}', p99 ?? 0],
      ['{quantile="1"}', max ?? 0]
    )
  })
  const poolFamilies = () => [
    gauge(
      "postgres_statements_running",
      "Statements and transactions with a connection",
      ['{pool="engine"}', pools.engine.running],
      ['{pool="requests"}', pools.requests.running]
    ),
    gauge(
      "postgres_statements_waiting",
      "Statements and transactions that wait for a connection",
      ['{pool="engine"}', pools.engine.waiting],
      ['{pool="requests"}', pools.requests.waiting]
    )
  ]
  return Effect.gen(function* () {
    const families = [...processFamilies(), yield* lateness, ...poolFamilies()]
    return `${(yield* PrometheusMetrics.format()).trimEnd()}\n${families.map(textOf).join("")}`
  })
})
