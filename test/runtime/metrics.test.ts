import { Effect, Layer, Metric } from "effect"
import t from "tap"
import { Config } from "#runtime/config.ts"
import { callsOriginated, exposition } from "#runtime/metrics.ts"
import { PoolUse, PoolUses } from "#runtime/PoolUse.ts"

const pools = { engine: new PoolUse(), requests: new PoolUse() }
const told = <A, E>(
  environment: Readonly<Record<string, string>>,
  read: (figures: Effect.Effect<string> | undefined) => Effect.Effect<A, E>
) =>
  Effect.flatMap(exposition, read).pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(Layer.succeed(PoolUses, pools), Config.layerOf(environment))),
    Effect.runPromise
  )
/** `name{labels} value` of each line that is no comment. */
const valuesIn = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))])
  )

t.test("given metrics, when they are read, then there are figures of calls, connections and the process", async (t) => {
  const text = await told({}, (figures) =>
    Effect.gen(function* () {
      yield* Metric.update(callsOriginated, 2)
      // One statement has a connection, and one waits.
      const waiting = pools.engine.counted(() => figures ?? Effect.succeed(""))
      return yield* pools.engine.counted((lent) => Effect.andThen(Effect.sync(lent), waiting))
    })
  )
  const values = valuesIn(text)
  t.equal(values.get("calls_originated_total"), 2)
  t.equal(values.get('postgres_statements_running{pool="engine"}'), 1)
  t.equal(values.get('postgres_statements_waiting{pool="engine"}'), 1)
  t.equal(values.get('postgres_statements_running{pool="requests"}'), 0)
  t.ok((values.get("process_resident_memory_bytes") ?? 0) > 1e6)
  t.ok((values.get("process_cpu_seconds_total") ?? 0) > 0)
  t.ok(values.has('event_loop_delay_seconds{quantile="0.99"}'))
  t.notOk([...values.values()].some(Number.isNaN))
  t.strictSame([pools.engine.running, pools.engine.waiting], [0, 0])
  for (const name of new Set([...values.keys()].map((key) => key.replace(/\{.*|_(bucket|sum|count)$/, "")))) {
    t.match(text, new RegExp(`# TYPE ${name} (counter|gauge|histogram|summary)`))
  }
})

t.test("given METRICS=off, when they are read, then there are none", async (t) => {
  t.equal(await told({ METRICS: "off" }, (figures) => Effect.succeed(figures)), undefined)
})
