/**
 * What a live call takes of the engine's memory: the growth between a thousand calls up and all of them, so that what the engine needs
 * anyway does not count. Calls without audio; beside them bare fibers that wait on a queue.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { startChild } from "./Child.ts"
import { csvOf, staysUntilHungUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, prepare, startEngine } from "./Engine.ts"
import { type Memory, memoryOf } from "./Memory.ts"

const ringMillis = 200
/** For the last calls to be answered and recorded. */
const SETTLE = "3 seconds"
const nodeOptions = ["--expose-gc"]

interface Count {
  readonly first: number
  readonly all: number
}

const each = (before: Memory, after: Memory, count: number): Memory => ({
  heap: (after.heap - before.heap) / count,
  rss: (after.rss - before.rss) / count
})

const ofCalls = ({ all, first }: Count) =>
  Effect.gen(function* () {
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false, ringMillis })
    const environment = { ORG_CONCURRENCY: "20000" }
    const engine = yield* startEngine(database, { environment, file: "actorsMain.ts", nodeOptions })
    const agentId = yield* prepare(engine, emulator)
    const campaign = yield* createCampaign(engine, agentId, csvOf(all + first, staysUntilHungUp))
    const up = Effect.fnUntraced(function* (calls: number) {
      yield* emulator.until(({ live }) => live >= calls)
      yield* Effect.sleep(SETTLE)
    })
    yield* engine.post(`/campaign/${campaign}/start`)
    yield* up(first)
    const before = yield* memoryOf(engine.child)
    const { live: early } = yield* emulator.counts
    yield* up(all + first)
    const after = yield* memoryOf(engine.child)
    return each(before, after, all + first - early)
  }).pipe(Effect.scoped)

const ofBare = (add: "fibers" | "table", { all, first }: Count) =>
  Effect.gen(function* () {
    const child = yield* startChild({ file: "bareActorsMain.ts", nodeOptions })
    yield* child.next((message) => (message instanceof Object && "ready" in message ? true : undefined))
    child.send({ add, count: first })
    const before = yield* memoryOf(child)
    child.send({ add, count: all })
    return each(before, yield* memoryOf(child), all)
  }).pipe(Effect.scoped)

const measure = ({ quick }: Options) =>
  Effect.gen(function* () {
    const count = quick ? { all: 1000, first: 200 } : { all: 9000, first: 1000 }
    const fibers = yield* ofBare("fibers", count)
    const table = yield* ofBare("table", count)
    const calls = yield* ofCalls(count)
    const kibibytes = (bytes: number) => bytes / 1024
    return [
      { name: "actors, heap per live call", value: kibibytes(calls.heap), unit: "KiB", goal: { atMost: 8 }, control: kibibytes(fibers.heap) },
      { name: "actors, of it in the ARI adapter's table", value: kibibytes(table.heap), unit: "KiB", control: kibibytes(calls.heap) },
      { name: "actors, resident memory per live call", value: kibibytes(calls.rss), unit: "KiB", control: kibibytes(fibers.rss) }
    ]
  })

export const actors: Benchmark = { name: "actors", run: measure }
