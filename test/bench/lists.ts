/**
 * `lists`: how long lists take with 1,000,000 runs in the table, all of one campaign; beside it the same lists with 1,000 of them, on another database,
 * alternately. Filters, which count what they match, are not measured. `progress`: how fast the progress of a campaign of 100,000 contacts is
 * returned while it is being dialed; beside it an answer that needs no database, requested alternately.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { csvOf } from "./Contacts.ts"
import { type Database, startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import type { EmulatorAddress } from "./emulatorMain.ts"
import { createCampaign, type Engine, numberAt, prepare, startEngine } from "./Engine.ts"
import { quantile } from "./Figure.ts"

const few = 1000
const insertedAtOnce = 100_000
const warmUp = 50

/** Inserts finished runs as a campaign leaves them, a second apart, and the count that the campaign keeps. */
const insertRuns = ({ sql }: Database, campaignId: number, count: number) =>
  Effect.promise(async () => {
    for (let first = 1; first <= count; first += insertedAtOnce) {
      const last = Math.min(count, first + insertedAtOnce - 1)
      await sql`
        INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, is_completed, created_at, completed_at,
          initial_context, gathered_context, usage_info, logs)
        SELECT c.organization_id, a.id, a.current_definition_id, c.id, gen_random_uuid(), 'WR-CAMPAIGN-' || c.id || '-' || n, 'ari', true,
          '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 second',
          jsonb_build_object('phone_number', '+1555' || n, 'called_number', '+1555' || n, 'first_name', 'Ada', 'direction', 'outbound'),
          jsonb_build_object('mapped_call_disposition', 'user_hangup', 'call_tags', jsonb_build_array('user_hangup'), 'hangup_cause', 'normal_clearing'),
          jsonb_build_object('llm', '{}'::jsonb, 'tts', '{}'::jsonb, 'stt', '{}'::jsonb, 'call_duration_seconds', n % 90),
          jsonb_build_object('realtime_feedback_events', '[]'::jsonb, 'telephony_status_callbacks', '[]'::jsonb)
        FROM campaigns c JOIN agents a ON a.id = c.agent_id CROSS JOIN generate_series(${first}::int, ${last}::int) AS n
        WHERE c.id = ${campaignId}`
    }
    await sql`
      INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count) VALUES (${campaignId}, ${count}, ${count})`
    // Done here so that the database does not do it by itself during the measurement.
    await sql`VACUUM ANALYZE runs`
    await sql`CHECKPOINT`
  })

const lists = [
  ["campaigns", () => "/campaign/"],
  ["agents", () => "/workflow/fetch"],
  ["runs of a campaign", ({ campaignId }: Place) => `/campaign/${campaignId}/runs`],
  ["runs of an agent", ({ agentId }: Place) => `/workflow/${agentId}/runs`],
  ["runs of an organization", () => "/organizations/usage/runs"]
] as const

interface Place {
  readonly engine: Engine
  readonly agentId: number
  readonly campaignId: number
}

/** Opens an engine on its own database with this many runs. */
const open = Effect.fnUntraced(function* (emulator: EmulatorAddress, runs: number) {
  const database = yield* startDatabase()
  const engine = yield* startEngine(database)
  const agentId = yield* prepare(engine, emulator)
  const campaignId = yield* createCampaign(engine, agentId, csvOf(1))
  yield* insertRuns(database, campaignId, runs)
  const total = numberAt(yield* engine.get("/organizations/usage/runs"), "total_count")
  if (total !== runs) return yield* Effect.die(new Error(`${total} of ${runs} runs are listed`))
  return { engine, agentId, campaignId }
})

const millisOf = Effect.fnUntraced(function* (engine: Engine, path: string) {
  const began = performance.now()
  yield* engine.get(path)
  return performance.now() - began
})
/** How long two requests take, made alternately, so that anything else on the machine slows both down. */
const inTurn = Effect.fnUntraced(function* (requests: number, one: Effect.Effect<number>, other: Effect.Effect<number>) {
  const [ones, others]: [Array<number>, Array<number>] = [[], []]
  for (let request = 0; request < requests; request++) {
    ones.push(yield* one)
    others.push(yield* other)
  }
  return [ones, others] as const
})

const measure = ({ quick }: Options) =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: false })
    const small = yield* open(emulator, few)
    const large = yield* open(emulator, quick ? 10_000 : 1_000_000)
    const requests = quick ? 100 : 500
    const figures = yield* Effect.forEach(lists, ([name, pathIn]) =>
      Effect.gen(function* () {
        const asked = [small, large].map((place) => millisOf(place.engine, pathIn(place))) as [Effect.Effect<number>, Effect.Effect<number>]
        // The first ones plan their statements and fill caches.
        yield* inTurn(warmUp, ...asked)
        const [control, value] = yield* inTurn(requests, ...asked)
        const [slow, fast] = [quantile(value, 0.99), quantile(control, 0.99)]
        return [
          { name: `lists, ${name}, p50`, value: quantile(value, 0.5), unit: "ms", control: quantile(control, 0.5) },
          { name: `lists, ${name}, p99`, value: slow, unit: "ms", control: fast },
          { name: `lists, ${name}, p99, times slower`, value: slow / fast, unit: "", goal: { atMost: 1.5 } }
        ]
      })
    )
    return figures.flat()
  }).pipe(Effect.scoped)

export const listsOfRuns: Benchmark = { name: "lists", run: measure }

const slots = 100

const measureProgress = ({ quick }: Options) =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: false, ringMillis: 1000, seed: 1, talkMillis: 9000 })
    const engine = yield* startEngine(yield* startDatabase())
    const agentId = yield* prepare(engine, emulator)
    const campaign = yield* createCampaign(engine, agentId, csvOf(quick ? 10_000 : 100_000), { max_concurrency: slots })
    yield* engine.post(`/campaign/${campaign}/start`)
    yield* emulator.until(({ originates }) => originates > 1.5 * slots)
    const requests = quick ? 200 : 1000
    const [progress, health] = yield* inTurn(requests, millisOf(engine, `/campaign/${campaign}/progress`), millisOf(engine, "/health"))
    return [0.5, 0.99].map((share) => ({
      name: `progress p${100 * share}`,
      value: quantile(progress, share),
      unit: "ms",
      goal: { atMost: 20 },
      control: quantile(health, share)
    }))
  }).pipe(Effect.scoped)

export const progress: Benchmark = { name: "progress", run: measureProgress }
