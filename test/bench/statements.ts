/**
 * What a dial costs the database: statements, counted on the wire, and, as the database counts them, blocks touched and time, for a thousand
 * dials of a campaign of 1,000 contacts and of one of 100,000. Anything that grows with the campaign shows here. Slots become free one by one,
 * which is the most expensive case: calls that are claimed together share a statement.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { csvOf } from "./Contacts.ts"
import { type Database, startDatabase } from "./Database.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, numberAt, prepare, startEngine } from "./Engine.ts"
import { countStatements, type StatementCounter } from "./StatementCounter.ts"

const slots = 100
const ringMillis = 200
const talkMillis = 1800
/** Time for live calls of a paused campaign to end and be recorded. */
const SETTLE = "4 seconds"

interface Bench {
  readonly agentId: number
  readonly counter: StatementCounter
  readonly database: Database
  readonly emulator: Emulator
  readonly engine: Engine
}
/** The cost per dial. */
interface Cost {
  readonly statements: number
  readonly blocks: number
  /** Time in the database, without waiting for the disk. */
  readonly millis: number
}

const costOf = ({ sql }: Database, statements: number, dials: number) =>
  Effect.promise(async (): Promise<Cost> => {
    const [row] = await sql<[{ blocks: number; millis: number }]>`
      SELECT sum(shared_blks_hit + shared_blks_read)::float8 AS blocks, sum(total_exec_time)::float8 AS millis
      FROM pg_stat_statements WHERE toplevel AND query NOT ILIKE '%pg_stat_statements%'`
    return { statements: statements / dials, blocks: row.blocks / dials, millis: row.millis / dials }
  })

const dial = Effect.fnUntraced(function* (
  { agentId, counter, database, emulator, engine }: Bench,
  contacts: number,
  dials: number,
  settings: object
) {
  const campaign = yield* createCampaign(engine, agentId, csvOf(contacts), { ...settings, max_concurrency: slots })
  const before = yield* emulator.counts
  yield* Effect.promise(() => database.sql`VACUUM ANALYZE`)
  yield* Effect.promise(() => database.sql`SELECT pg_stat_statements_reset()`)
  const counted = counter.count()
  yield* engine.post(`/campaign/${campaign}/start`)
  yield* emulator.until(({ originates }) => originates >= before.originates + dials)
  if (contacts > dials) yield* engine.post(`/campaign/${campaign}/pause`)
  yield* emulator.until(({ live }) => live === 0)
  yield* Effect.sleep(SETTLE)
  const after = yield* emulator.counts
  const progress = yield* engine.get(`/campaign/${campaign}/progress`)
  const dialed = after.originates - before.originates
  if (numberAt(progress, "completed") !== dialed)
    return yield* Effect.die(new Error(`${dialed} dials, ${numberAt(progress, "completed")} recorded`))
  return yield* costOf(database, counter.count() - counted, dialed)
})

const measure = ({ quick }: Options) =>
  Effect.gen(function* () {
    const database = yield* startDatabase({ statistics: true })
    const emulator = yield* startEmulator({ media: false, ringMillis, seed: 1, talkMillis })
    const counter = yield* countStatements(database.url)
    const engine = yield* startEngine({ ...database, url: counter.url })
    const agentId = yield* prepare(engine, emulator)
    const bench = { agentId, counter, database, emulator, engine }
    const sizes = quick ? { large: 20_000, small: 200 } : { large: 100_000, small: 1000 }
    const cost = (contacts: number, settings: object) => dial(bench, contacts, sizes.small, settings)
    // The large campaign runs while there is no other, so that the planner takes it for the usual one.
    const large = yield* cost(sizes.large, {})
    const small = yield* cost(sizes.small, {})
    const guarded = yield* cost(sizes.small, { circuit_breaker: { enabled: true } })
    const goal = { atMost: 5 }
    const of = (contacts: number) => `${contacts.toLocaleString("en")} contacts`
    return [
      { name: `statements per dial, ${of(sizes.small)}`, value: small.statements, unit: "", goal },
      { name: `statements per dial, ${of(sizes.large)}`, value: large.statements, unit: "", goal, control: small.statements },
      { name: "statements per dial, with a circuit breaker", value: guarded.statements, unit: "", goal, control: small.statements },
      { name: `blocks touched per dial, ${of(sizes.large)}`, value: large.blocks, unit: "", control: small.blocks },
      { name: `time in the database per dial, ${of(sizes.large)}`, value: large.millis, unit: "ms", control: small.millis }
    ]
  }).pipe(Effect.scoped)

export const statements: Benchmark = { name: "statements", run: measure }
