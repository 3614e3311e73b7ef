/**
 * How many calls with recorded audio one engine carries: more and more of them, until callees miss more than one frame in a thousand, or the
 * engine holds further calls back. The gaps that callees hear are counted. The control sends each frame back as it comes, over the same
 * transport: it does not speak, mix or record.
 */
import { Effect } from "effect"
import { countOf } from "#test/support/prometheus.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { byEcho, callsPerSecond, carried, cleanOf, cpuMillisOf, type RampPlan, ringMillis, spentDuring, tooMany } from "./callRamp.ts"
import { csvOf, staysUntilHungUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, metricsOf, prepare, startEngine } from "./Engine.ts"
import type { Figure } from "./Figure.ts"

/** Time to synthesize a stretch of the greeting, and to catch up. */
const settle = "3 seconds"
const greeting = "Hello. This is the clinic at the old market square, with a reminder. Please call us back today. Good bye."

const planOf = ({ quick }: Options): RampPlan =>
  quick ? { first: 10, step: 10, most: 20, windowSeconds: 2, settle } : { first: 50, step: 25, most: 500, windowSeconds: 10, settle }

const byEngine = (options: Options) =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: true, ringMillis })
    const environment = { METRICS: "on", ORG_CONCURRENCY: "1000", RECORDINGS: "on" }
    const engine = yield* startEngine(yield* startDatabase(), { environment })
    const agentId = yield* prepare(engine, emulator, greeting)
    const cpuSeconds = Effect.map(metricsOf(engine), (figures) => countOf(figures, "process_cpu_seconds_total"))
    const run = yield* carried(planOf(options), emulator, {
      add: Effect.fnUntraced(function* (count, from) {
        const campaign = yield* createCampaign(engine, agentId, csvOf(count, staysUntilHungUp, from), { rate_limit: callsPerSecond })
        yield* engine.post(`/campaign/${campaign}/start`)
      }),
      noted: (step) => spentDuring(cpuSeconds, step)
    })
    const limit = (yield* metricsOf(engine)).values.get("media_calls_limit")
    return { ...run, limit }
  }).pipe(Effect.scoped)

export const media: Benchmark = {
  name: "media",
  run: Effect.fnUntraced(function* (options) {
    const own = yield* byEngine(options)
    const echo = yield* byEcho(planOf(options))
    const [clean, control] = [cleanOf(own), cleanOf(echo)]
    const failed = tooMany(own)
    const cpuOf = (step: typeof clean) => (step === undefined ? 0 : cpuMillisOf(step, step.noted))
    const figures: ReadonlyArray<Figure> = [
      { name: "media, calls", value: clean?.calls ?? 0, unit: "calls", goal: { atLeast: 150 }, control: control?.calls ?? 0 },
      { name: "media, CPU of a call at that count", value: cpuOf(clean), unit: "ms/s", control: cpuOf(control) },
      {
        name: "media, frames missed at that count",
        value: 1000 * (clean?.lost ?? 0),
        unit: "in 1,000",
        control: 1000 * (control?.lost ?? 0)
      },
      ...(failed === undefined
        ? []
        : [{ name: `media, frames missed at ${failed.calls} calls`, value: 1000 * failed.lost, unit: "in 1,000" }]),
      ...(own.limit === undefined ? [] : [{ name: "media, limit that the engine has found", value: own.limit, unit: "calls" }]),
      { name: "media, more calls were held back", value: own.wasHeldBack ? 1 : 0, unit: "" }
    ]
    return figures
  })
}
