/**
 * How many calls two engines dial while their Redis is away: once it does not answer, and once nothing listens there. The control is how many they dial
 * before that, in the same campaign and for as long. Only the slots limit them: as many calls leave as end.
 */
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import { redisUnavailable, startRedis } from "#test/support/redis.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { sharedBy, startCallNode } from "./CallNode.ts"
import { judging } from "./Child.ts"
import { csvOf, talksThenHangsUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, prepare, startEngine } from "./Engine.ts"

const slots = 40
/** Half to one and a half times this long, so that slots become free evenly. */
const far = { media: false, ringMillis: 200, seed: 3, talkMillis: 800 }
const secondsOf = ({ quick }: Options): number => (quick ? 3 : 30)
/** Until the engines have compiled what they run, and until they have connected to Redis again. */
const settleMillis = ({ quick }: Options): number => (quick ? 1000 : 10_000)
/** At most so many calls a second end, each of which is followed by another. */
const mostPerSecond = 2 * slots

const nowMillis = () => performance.timeOrigin + performance.now()

const redis = Effect.acquireRelease(
  Effect.promise(async () => {
    const ends: Array<() => unknown> = []
    return { ends, server: await startRedis({ teardown: (end) => void ends.push(end) }) }
  }),
  ({ ends }) => Effect.promise(() => Promise.all(ends.map((end) => end())))
).pipe(Effect.map(({ server }) => server))

const dialedIn = (entries: ReadonlyArray<CalleeEntry>, from: number, until: number): number =>
  entries.filter(({ at, kind }) => kind === "originate" && at >= from && at < until).length

const measure = (options: Options) =>
  Effect.gen(function* () {
    const millis = 1000 * secondsOf(options)
    const server = yield* redis
    const database = yield* startDatabase()
    const emulator = yield* judging(startEmulator(far))
    const environment = { ...sharedBy(database), ORG_CONCURRENCY: String(slots), REDIS_URL: server.url }
    const engine = yield* startEngine(database, { environment })
    yield* startCallNode(engine, database, { environment, name: "left" })
    const agentId = yield* prepare(engine, emulator)
    const contacts = mostPerSecond * ((3 * millis + 4 * settleMillis(options)) / 1000)
    const id = yield* createCampaign(engine, agentId, csvOf(contacts, talksThenHangsUp), { max_concurrency: slots })
    yield* engine.post(`/campaign/${id}/start`)

    const settle = Effect.promise(() => sleep(settleMillis(options)))
    /** From when until when. */
    const span = Effect.promise(async () => {
      const from = nowMillis()
      await sleep(millis)
      return [from, from + millis] as const
    })
    yield* settle
    const usual = yield* span
    server.freeze()
    const frozen = yield* span
    server.wake()
    yield* settle
    yield* Effect.promise(() => server.stop())
    const gone = yield* span
    const entries = yield* emulator.entries
    const [normally, whileFrozen, whileGone] = [usual, frozen, gone].map(
      ([from, until]) => dialedIn(entries, from, until) / (millis / 1000)
    )
    return { normally: normally ?? Number.NaN, whileFrozen: whileFrozen ?? Number.NaN, whileGone: whileGone ?? Number.NaN }
  }).pipe(Effect.scoped)

export const redisAway: Benchmark = {
  name: "redis-away",
  run: Effect.fnUntraced(function* (options) {
    const unavailable = yield* Effect.promise(redisUnavailable)
    if (unavailable !== undefined) return yield* Effect.die(new Error(unavailable))
    const { normally, whileFrozen, whileGone } = yield* measure(options)
    const of = (how: string, value: number) => ({
      name: `redis-away: calls a second while Redis ${how} for ${secondsOf(options)} s`,
      value,
      unit: "1/s",
      goal: { atLeast: 0.95 * normally },
      control: normally
    })
    return [of("does not answer", whileFrozen), of("is gone", whileGone)]
  })
}
