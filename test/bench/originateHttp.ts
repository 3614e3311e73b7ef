/**
 * How many calls per second a campaign originates through a hosted carrier, each of them written to disk before its request leaves, and what
 * one costs: request, callbacks and end. Nobody answers, so that audio is not measured. The control is a loop that sends the same requests to
 * the same emulator, as many at once and with as many slots; it stores nothing and checks nothing.
 */
import { Effect } from "effect"
import twilio from "#adapters/twilio/twilio.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import type { LoopOrder } from "./carrierLoopMain.ts"
import { judging, startChild } from "./Child.ts"
import { csvOf, ringsThenGivesUp, rowsOf } from "./Contacts.ts"
import { cpuSecondsOf } from "./Measures.ts"
import { startDatabase } from "./Database.ts"
import { type Emulator, startTwilio } from "./Emulator.ts"
import { createAgent, createCampaign, startEngine, throughTwilio } from "./Engine.ts"
import type { Figure } from "./Figure.ts"
import { postgresSecondsOf } from "./TreeCpu.ts"

const from = "+15550199000"
/** The most that a campaign may have. */
const slots = 100
/** So short that a slot is free again before it is needed: calls never wait for slots. */
const far = { numbers: [from], ringMillis: 20, talkMillis: 20 }
/** The highest rate that a trunk and a campaign can be set to. */
const rate = 1000
const LOOK_AGAIN = "200 millis"

const contactsOf = ({ quick }: Options) => (quick ? 200 : 5000)

interface Originated {
  readonly perSecond: number
  /** CPU milliseconds. */
  readonly cpuMillis: number
}

const startJudge = judging(startTwilio(far))

const untilAllEnded = (emulator: Emulator, contacts: number) =>
  emulator
    .until(({ live, originates }) => originates >= contacts && live === 0)
    .pipe(
      Effect.andThen(emulator.entries),
      Effect.map((entries) => {
        const dials = entries.filter(({ kind }) => kind === "originate")
        return ((dials.length - 1) * 1000) / ((dials.at(-1)?.at ?? 0) - (dials[0]?.at ?? 0))
      })
    )

const byEngine = (options: Options) =>
  Effect.gen(function* () {
    const database = yield* startDatabase(options)
    const emulator = yield* startJudge
    const carrier = yield* throughTwilio(emulator, from)
    const limits = { CALL_RATE: String(rate), ORG_CONCURRENCY: String(slots), TRUNK_RATE: String(rate) }
    const engine = yield* startEngine(database, { environment: { ...carrier.environment, ...limits }, file: "measuredMain.ts" })
    yield* carrier.setUp(engine)
    const agentId = yield* createAgent(engine)
    const contacts = contactsOf(options)
    const settings = { max_concurrency: slots, retry_config: { max_retries: 0 } }
    const campaign = yield* createCampaign(engine, agentId, csvOf(contacts, ringsThenGivesUp), settings)
    const spent = Effect.all({ engine: cpuSecondsOf(engine.child), postgres: postgresSecondsOf(database) })
    const before = yield* spent
    yield* engine.post(`/campaign/${campaign}/start`)
    const perSecond = yield* untilAllEnded(emulator, contacts)
    const state = Effect.map(engine.get(`/campaign/${campaign}`), (answer) => answer instanceof Object && Reflect.get(answer, "state"))
    yield* Effect.repeat(Effect.delay(state, LOOK_AGAIN), { until: (now) => now === "completed" })
    const after = yield* spent
    const millis = (from: number, until: number) => ((until - from) * 1000) / contacts
    const postgresMillis =
      before.postgres === undefined || after.postgres === undefined ? undefined : millis(before.postgres, after.postgres)
    const originated: Originated = { perSecond, cpuMillis: millis(before.engine, after.engine) }
    return { ...originated, postgresMillis }
  }).pipe(Effect.scoped)

const byLoop = (options: Options) =>
  Effect.gen(function* () {
    const { password, url, user, ...emulator } = yield* startJudge
    const child = yield* startChild({ file: "carrierLoopMain.ts" })
    const contacts = contactsOf(options)
    const numbers = rowsOf(contacts, ringsThenGivesUp).flatMap(([number = ""]) => number)
    const before = yield* cpuSecondsOf(child)
    const inFlight = twilio.manifest.originatesInFlight
    child.send({ emulator: { password, url, user }, from, inFlight, numbers, slots } satisfies LoopOrder)
    const perSecond = yield* untilAllEnded({ password, url, user, ...emulator }, contacts)
    const originated: Originated = { perSecond, cpuMillis: (((yield* cpuSecondsOf(child)) - before) * 1000) / contacts }
    return originated
  }).pipe(Effect.scoped)

export const originateHttp: Benchmark = {
  name: "originate-http",
  run: Effect.fnUntraced(function* (options) {
    const engine = yield* byEngine(options)
    const loop = yield* byLoop(options)
    const figures: ReadonlyArray<Figure> = [
      { name: "originate-http, originations", value: engine.perSecond, unit: "/s", control: loop.perSecond },
      { name: "originate-http, CPU of the engine for each", value: engine.cpuMillis, unit: "ms", control: loop.cpuMillis },
      ...(engine.postgresMillis === undefined
        ? []
        : [{ name: "originate-http, CPU of Postgres for each", value: engine.postgresMillis, unit: "ms" }])
    ]
    return figures
  })
}
