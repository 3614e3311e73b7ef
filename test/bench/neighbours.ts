/**
 * What one organization notices of the others, and of strangers: how soon its `GET /campaign/` is answered, from a process that asks at a
 * steady rate, and how late its calls leave, as the emulator sees them; in quiet, in a flood, and beside a tenant who requests the heaviest
 * work allowed. Beside them, what the machine itself adds: a server that does nothing, and the timers of the process that asks.
 */
import { Console, Effect } from "effect"
import { spacing } from "#core/campaign/Pacing.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type Child, fromElsewhere, judging } from "./Child.ts"
import { csvOf } from "./Contacts.ts"
import { mainSecondsOf } from "./Measures.ts"
import { type Database, startDatabase } from "./Database.ts"
import { besideDisk } from "./Disk.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import { createAgent, createCampaign, type Engine, neighbourOf, prepare, startEngine } from "./Engine.ts"
import { type Figure, quantile } from "./Figure.ts"
import type { Answers, Attack, AttackTarget } from "./neighbourFloodMain.ts"
import type { Probed } from "./neighbourProbeMain.ts"
import { startHelper, startProbe } from "./Probe.ts"

const callsPerSecond = 40
const far = { media: false, ringMillis: 100, talkMillis: 200 }
/** Time that does not count, for compilers, caches and pools. */
const warmUpSeconds = 5
const settleSeconds = 3
const secondsOf = ({ quick }: Options) => (quick ? 5 : 30)
const goals = { timesQuiet: 3, leastMillis: 15, lateMillis: 50 }

interface Phase {
  readonly name: string
  readonly probed: Probed
  /** How many milliseconds later than its pace each originate came. */
  readonly late: ReadonlyArray<number>
  /** How busy the thread is that answers requests, 0 to 1. */
  readonly busy: number
  /** How many milliseconds a page took to reach the database's disk. */
  readonly syncs: ReadonlyArray<number>
  readonly answers: Answers
}

/**
 * Calls are due at even distances from the first one on. If the pace has been moved back for good, which loses a moment but keeps no call
 * waiting, the calls after it are judged by the new pace: by the earliest call of the last second.
 */
const latenessOf = (arrivals: ReadonlyArray<number>, apartMillis: number, perSecond: number): ReadonlyArray<number> => {
  const offsets = arrivals.map((at, index) => at - index * apartMillis)
  return offsets.map((offset, index) => offset - Math.min(...offsets.slice(Math.max(0, index - perSecond), index + 1)))
}

interface Scene {
  readonly database: Database
  readonly engine: Engine
  readonly emulator: Emulator
  readonly probing: (seconds: number) => Effect.Effect<Probed>
  readonly flood: Child
  readonly target: AttackTarget
}

const phase = Effect.fnUntraced(function* (scene: Scene, name: string, seconds: number, attack?: Attack) {
  const { database, emulator, engine, flood, probing, target } = scene
  if (attack !== undefined) {
    flood.send({ attack, target })
    yield* Effect.sleep(`${settleSeconds} seconds`)
  }
  const began = performance.timeOrigin + performance.now()
  const spent = yield* mainSecondsOf(engine.child)
  const { result: probed, syncs } = yield* besideDisk(database.folder, probing(seconds))
  const until = performance.timeOrigin + performance.now()
  const busy = ((yield* mainSecondsOf(engine.child)) - spent) / ((until - began) / 1000)
  const answers = yield* flood.ask<Answers>({ stop: true }, "answers")
  const arrivals = (yield* emulator.entries).flatMap(({ at, kind }) => (kind === "originate" && at >= began && at < until ? [at] : []))
  const late = latenessOf(arrivals, spacing(callsPerSecond), callsPerSecond)
  const counts = Object.entries(answers).map(([what, count]) => `${what}: ${count}`)
  yield* Console.error(
    `${name}: main thread ${(busy * 100).toFixed(0)} % busy, ${arrivals.length} calls, ${probed.failed} failed; ${counts.join(", ")}`
  )
  yield* Effect.sleep(`${attack === undefined ? 0 : settleSeconds} seconds`)
  return { name, probed, late, busy, syncs, answers } satisfies Phase
})

const figuresOf = ({ busy, late, name, probed, syncs }: Phase, quiet: Phase): ReadonlyArray<Figure> => {
  const isQuiet = name === quiet.name
  const atMost = Math.max(goals.timesQuiet * quantile(quiet.probed.engine, 0.99), goals.leastMillis)
  const figure = (label: string, share: number): Figure => ({
    name: `neighbours, ${name}: GET /campaign/ ${label}`,
    value: quantile(probed.engine, share),
    unit: "ms",
    control: quantile(probed.bare, share),
    ...(isQuiet || share !== 0.99 ? {} : { goal: { atMost } })
  })
  return [
    figure("p50", 0.5),
    figure("p99", 0.99),
    {
      name: `neighbours, ${name}: originates late p99.9`,
      value: quantile(late, 0.999),
      unit: "ms",
      control: quantile(probed.timers, 0.999),
      goal: { atMost: goals.lateMillis }
    },
    { name: `neighbours, ${name}: a page to this disk meanwhile, the slowest`, value: Math.max(...syncs), unit: "ms" },
    { name: `neighbours, ${name}: main thread`, value: busy * 100, unit: "%" }
  ]
}

const measure = (options: Options) =>
  Effect.gen(function* () {
    const database = yield* startDatabase(options)
    const emulator = yield* judging(startEmulator(far))
    const engine = yield* startEngine(database, { file: "measuredMain.ts", environment: { SIGNUP: "on" } })
    const agentId = yield* prepare(engine, emulator)
    const neighbour = yield* neighbourOf(database, engine)
    const target = { ...neighbour.address, agentId: yield* createAgent(neighbour, "Hello {{first_name}}") }
    const probing = yield* startProbe(engine, "/api/v1/campaign/")
    const flood = yield* fromElsewhere(startHelper("neighbourFloodMain.ts"))
    const scene: Scene = { database, emulator, engine, flood, probing, target }
    const seconds = secondsOf(options)
    const all = warmUpSeconds + 3 * seconds + 4 * settleSeconds
    const campaign = yield* createCampaign(engine, agentId, csvOf(callsPerSecond * all * 2), { rate_limit: callsPerSecond })
    yield* engine.post(`/campaign/${campaign}/start`)
    yield* probing(warmUpSeconds)
    const quiet = yield* phase(scene, "quiet", seconds)
    const flooded = yield* phase(scene, "flood", seconds, "flood")
    const worked = yield* phase(scene, "heaviest work", seconds, "heaviest work")
    return [quiet, flooded, worked].flatMap((one) => figuresOf(one, quiet))
  }).pipe(Effect.scoped)

export const neighbours: Benchmark = { name: "neighbours", run: measure }
