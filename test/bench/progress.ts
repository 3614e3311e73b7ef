/**
 * How fast the progress of a campaign of 100,000 contacts is returned while it is being dialed; beside it an answer that needs no database,
 * requested alternately.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { csvOf } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"
import { quantile } from "./Figure.ts"

const slots = 100

const millisOf = (engine: Engine, path: string) =>
  Effect.gen(function* () {
    const began = performance.now()
    yield* engine.get(path)
    return performance.now() - began
  })

const measure = ({ quick }: Options) =>
  Effect.gen(function* () {
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false, ringMillis: 1000, seed: 1, talkMillis: 9000 })
    const engine = yield* startEngine(database)
    const agentId = yield* prepare(engine, emulator)
    const campaign = yield* createCampaign(engine, agentId, csvOf(quick ? 10_000 : 100_000), { max_concurrency: slots })
    yield* engine.post(`/campaign/${campaign}/start`)
    yield* emulator.until(({ originates }) => originates > 1.5 * slots)
    const progress: Array<number> = []
    const health: Array<number> = []
    for (let request = 0; request < (quick ? 200 : 1000); request++) {
      progress.push(yield* millisOf(engine, `/campaign/${campaign}/progress`))
      health.push(yield* millisOf(engine, "/health"))
    }
    return [
      { name: "progress p50", value: quantile(progress, 0.5), unit: "ms", goal: { atMost: 20 }, control: quantile(health, 0.5) },
      { name: "progress p99", value: quantile(progress, 0.99), unit: "ms", goal: { atMost: 20 }, control: quantile(health, 0.99) }
    ]
  }).pipe(Effect.scoped)

export const progress: Benchmark = { name: "progress", run: measure }
