/**
 * How exactly a campaign keeps its rate on disks that are slow to commit, as its callees saw it: how much of the rate it achieves, whether any
 * second holds more requests than allowed, and how long contacts are marked `sent` before their requests arrive. The control is a loop that
 * sends at the same distance, and waits for no database; its requests are marked as they are sent. The delay of commits is set, and not left
 * to the machine's disk: a disk that stalls for half a second takes more of these twenty seconds than the goal allows.
 */
import { Effect } from "effect"
import { spacing } from "#core/campaign/Pacing.ts"
import { type CalleeEntry, CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { type PostgresProxy, startPostgresProxy } from "#test/support/PostgresProxy.ts"
import { dialAtRate } from "./bareDialers.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { judging } from "./Child.ts"
import { csvOf, rowsOf, talksThenHangsUp } from "./Contacts.ts"
import { type Database, startDatabase } from "./Database.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"
import { type Figure, quantile } from "./Figure.ts"

/** Too many for the rate to wait for slots. */
const slots = 2000
const far = { media: false, ringMillis: 100, talkMillis: 200 }
const LOOK_AGAIN = "200 millis"

/** Dial requests per second, and for how many seconds: a machine that stalls for 0.2 s loses a hundredth of twenty. */
interface Rate {
  readonly rate: number
  readonly seconds: number
}
const ratesOf = ({ quick }: Options): ReadonlyArray<Rate> =>
  quick
    ? [{ rate: 20, seconds: 3 }]
    : [
        { rate: 1, seconds: 15 },
        { rate: 20, seconds: 20 },
        { rate: 100, seconds: 20 }
      ]
/** Milliseconds by which each commit is delayed. */
const delaysOf = ({ quick }: Options) => (quick ? [0, 30] : [0, 10, 30, 100])

/** The dials of a campaign, in order. */
interface Dialed {
  readonly arrivals: ReadonlyArray<CalleeEntry>
  /** Milliseconds from the mark to the arrival. */
  readonly waits: ReadonlyArray<number>
}

interface Bench {
  readonly agentId: number
  readonly database: Database
  readonly emulator: Emulator
  readonly engine: Engine
  readonly proxy: PostgresProxy
}

const startJudge = judging(startEmulator(far))

const contactsOf = ({ rate, seconds }: Rate) => rate * seconds

const originatesOf = (entries: ReadonlyArray<CalleeEntry>) => entries.filter(({ kind }) => kind === "originate")

const openProxy = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startPostgresProxy(url)),
    (proxy) => Effect.promise(() => proxy.stop())
  )

const stateOf = (engine: Engine, campaign: number) =>
  Effect.map(engine.get(`/campaign/${campaign}`), (answer) => (answer instanceof Object ? Reflect.get(answer, "state") : undefined))

const marksOf = ({ sql }: Database, campaign: number) =>
  Effect.promise(async () => {
    const rows = await sql<Array<{ id: string; at: number }>>`
      SELECT id::text, extract(epoch FROM sent_at)::float8 * 1000 AS at FROM attempts WHERE campaign_id = ${campaign} AND sent_at IS NOT NULL`
    return new Map(rows.map(({ at, id }) => [id, at]))
  })

const byEngine = Effect.fnUntraced(function* ({ agentId, database, emulator, engine, proxy }: Bench, plan: Rate, delayMillis: number) {
  const contacts = contactsOf(plan)
  const campaign = yield* createCampaign(engine, agentId, csvOf(contacts), { rate_limit: plan.rate })
  const before = yield* emulator.counts
  proxy.delayCommits(delayMillis)
  yield* engine.post(`/campaign/${campaign}/start`)
  yield* emulator.until(({ originates }) => originates >= before.originates + contacts)
  proxy.delayCommits(0)
  // Nothing of it is left when the next campaign begins.
  yield* Effect.repeat(Effect.delay(stateOf(engine, campaign), LOOK_AGAIN), { until: (state) => state === "completed" })
  const marks = yield* marksOf(database, campaign)
  const arrivals = originatesOf(yield* emulator.entries).filter(({ channelId }) => marks.has(channelId))
  if (arrivals.length !== contacts || marks.size !== contacts)
    return yield* Effect.die(new Error(`${contacts} contacts, ${marks.size} marks, ${arrivals.length} requests`))
  return { arrivals, waits: arrivals.map(({ at, channelId }) => at - (marks.get(channelId) ?? Number.NaN)) }
})

const byHand = (plan: Rate) =>
  Effect.gen(function* () {
    const emulator = yield* startJudge
    const contacts = contactsOf(plan)
    const numbers = rowsOf(contacts, talksThenHangsUp).flatMap(([number = ""]) => number)
    const sentAt = yield* dialAtRate(emulator, { apartMillis: spacing(plan.rate), numbers })
    yield* emulator.until(({ originates }) => originates >= contacts)
    const arrivals = originatesOf(yield* emulator.entries)
    return { arrivals, waits: arrivals.map(({ at, channelId }) => at - (sentAt.get(channelId) ?? Number.NaN)) }
  }).pipe(Effect.scoped)

/** Requests per second, from the first to the last. */
const achieved = ({ arrivals }: Dialed) => ((arrivals.length - 1) * 1000) / ((arrivals.at(-1)?.at ?? 0) - (arrivals[0]?.at ?? 0))

const mostInSecond = ({ arrivals }: Dialed) => {
  const log = new CalleeLog()
  log.entries = [...arrivals]
  return log.mostOriginatesIn(1000)
}

const figuresOf = ({ rate }: Rate, delayMillis: number, campaign: Dialed, loop: Dialed): ReadonlyArray<Figure> => {
  const name = `rate ${rate}/s, commits ${delayMillis} ms late`
  const wait = (label: string, share: number) => ({
    name: `${name}: from the mark to the request ${label}`,
    value: quantile(campaign.waits, share),
    unit: "ms",
    control: quantile(loop.waits, share)
  })
  return [
    {
      name: `${name}: achieved of it`,
      value: achieved(campaign) / rate,
      unit: "",
      goal: { atLeast: 0.96 },
      control: achieved(loop) / rate
    },
    { name: `${name}: most in a second`, value: mostInSecond(campaign), unit: "", goal: { atMost: rate }, control: mostInSecond(loop) },
    wait("p50", 0.5),
    wait("p90", 0.9),
    wait("p99", 0.99)
  ]
}

export const rate: Benchmark = {
  name: "rate",
  run: (options) =>
    Effect.gen(function* () {
      const database = yield* startDatabase({ unsynced: true })
      const emulator = yield* startJudge
      const proxy = yield* openProxy(database.url)
      const engine = yield* startEngine({ ...database, url: proxy.url }, { environment: { ORG_CONCURRENCY: String(slots) } })
      const bench = { agentId: yield* prepare(engine, emulator), database, emulator, engine, proxy }
      const figures: Array<Figure> = []
      for (const plan of ratesOf(options)) {
        const loop = yield* byHand(plan)
        for (const delayMillis of delaysOf(options)) {
          figures.push(...figuresOf(plan, delayMillis, yield* byEngine(bench, plan, delayMillis), loop))
        }
      }
      return figures
    }).pipe(Effect.scoped)
}
