/**
 * How soon an engine dials again after it was killed with full slots, as the callees saw it. The control was stopped in an orderly way, and so
 * has left nothing behind.
 */
import { Effect, Exit, Scope } from "effect"
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { csvOf, talksThenHangsUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"

const slotsOf = ({ quick }: Options) => (quick ? 10 : 100)
const livesOf = ({ quick }: Options) => (quick ? 2 : 8)
const lifeMillis = 3000
const longMillis = 600_000

type Database = Effect.Success<ReturnType<typeof startDatabase>>

const nowMillis = () => performance.timeOrigin + performance.now()

/** An engine in its own scope, and how to end it. */
const live = Effect.fnUntraced(function* (database: Database, environment: Readonly<Record<string, string>> = {}) {
  const scope = yield* Scope.make()
  const engine = yield* Scope.provide(startEngine(database, { environment: { CALL_RATE: "200", ...environment } }), scope)
  const readyAt = nowMillis()
  const close = Scope.close(scope, Exit.void)
  const kill = Effect.andThen(
    Effect.sync(() => process.kill(engine.child.pid, "SIGKILL")),
    close
  )
  return { engine, kill, readyAt, stop: close }
})

const begin = Effect.fnUntraced(function* (engine: Engine, emulator: Emulator, contacts: number, slots: number) {
  const agentId = yield* prepare(engine, emulator)
  const campaign = yield* createCampaign(engine, agentId, csvOf(contacts, talksThenHangsUp), { max_concurrency: slots })
  yield* engine.post(`/campaign/${campaign}/start`)
})

const countOf = (entries: ReadonlyArray<CalleeEntry>, kind: CalleeEntry["kind"]) => entries.filter((entry) => entry.kind === kind).length
const dialOf = (entries: ReadonlyArray<CalleeEntry>, index: number) =>
  entries.filter(({ kind }) => kind === "originate")[index]?.at ?? Number.NaN
const firstAfter = (entries: ReadonlyArray<CalleeEntry>, kind: CalleeEntry["kind"], at: number) =>
  entries.find((entry) => entry.kind === kind && entry.at > at)?.at ?? Number.NaN

/** The time from ready to the first new dial. */
const untilFirstDial = (options: Options, end: "kill" | "stop") =>
  Effect.gen(function* () {
    const slots = slotsOf(options)
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false, ringMillis: 100, talkMillis: longMillis })
    const first = yield* live(database)
    yield* begin(first.engine, emulator, 3 * slots, slots)
    yield* emulator.until(({ originates }) => originates >= slots)
    yield* Effect.repeat(Effect.delay(emulator.entries, "200 millis"), { until: (entries) => countOf(entries, "answered") >= slots })
    // The last answers reach the database.
    yield* Effect.sleep("1 second")
    yield* first[end]
    const second = yield* live(database)
    yield* emulator.until(({ originates }) => originates > slots)
    const dialedAt = dialOf(yield* emulator.entries, slots)
    yield* second.kill
    // It dials before it says that it is ready.
    return Math.max(0, dialedAt - second.readyAt)
  }).pipe(Effect.scoped)

/** Ringing phones are not hung up: the time from the first that stops to the dial that takes its place. */
const untilRefilled = (options: Options) =>
  Effect.gen(function* () {
    const slots = slotsOf(options)
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false, ringMillis: 14_000, seed: 1, talkMillis: 100 })
    const first = yield* live(database, { RING_TIMEOUT: "30" })
    yield* begin(first.engine, emulator, 3 * slots, slots)
    yield* emulator.until(({ originates }) => originates >= slots)
    yield* first.kill
    const second = yield* live(database, { RING_TIMEOUT: "30" })
    yield* emulator.until(({ originates }) => originates > slots)
    const entries = yield* emulator.entries
    const freeAt = Math.max(second.readyAt, entries.find(({ kind }) => kind === "ended")?.at ?? 0)
    yield* second.kill
    return dialOf(entries, slots) - freeAt
  }).pipe(Effect.scoped)

/** The share of short lives in which something was dialed or ended. */
const usefulLives = (options: Options) =>
  Effect.gen(function* () {
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false, ringMillis: 1500, seed: 1, talkMillis: 1500 })
    const first = yield* live(database)
    yield* begin(first.engine, emulator, 2000, 5)
    yield* emulator.until(({ originates }) => originates >= 5)
    yield* first.kill
    let useful = 0
    for (let lives = 0; lives < livesOf(options); lives++) {
      const { kill, readyAt } = yield* live(database)
      yield* Effect.sleep(lifeMillis)
      const entries = yield* emulator.entries
      yield* kill
      if (!Number.isNaN(firstAfter(entries, "originate", readyAt)) || !Number.isNaN(firstAfter(entries, "ended", readyAt))) useful++
    }
    return useful / livesOf(options)
  }).pipe(Effect.scoped)

export const recovery: Benchmark = {
  name: "recovery",
  run: Effect.fnUntraced(function* (options) {
    const killed = yield* untilFirstDial(options, "kill")
    const stopped = yield* untilFirstDial(options, "stop")
    return [
      {
        name: "recovery: from ready to the first dial, slots full of conversations",
        value: killed,
        unit: "ms",
        goal: { atMost: 5000 },
        control: stopped
      },
      {
        name: "recovery: from the first free slot to its dial, slots full of ringing phones",
        value: yield* untilRefilled(options),
        unit: "ms",
        goal: { atMost: 1000 },
        control: stopped
      },
      {
        name: "recovery: lives of three seconds that dial or settle",
        value: 100 * (yield* usefulLives(options)),
        unit: "%",
        goal: { atLeast: 100 }
      }
    ]
  })
}
