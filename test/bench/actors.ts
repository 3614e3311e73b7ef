/**
 * How much memory of the engine a live call takes: the growth between a thousand live calls and all of them, so that what the engine needs
 * anyway does not count. The calls have no audio; beside them, bare fibers that wait on a queue are measured.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { startChild } from "./Child.ts"
import { csvOf, staysUntilHungUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, prepare, startEngine } from "./Engine.ts"
import { type Memory, memoryOf } from "./Measures.ts"

const ringMillis = 200
/** Time for the last calls to be answered and recorded. */
const SETTLE = "3 seconds"
const nodeOptions = ["--expose-gc"]

interface Count {
  /** The number of calls at which the measured growth starts. */
  readonly first: number
  readonly more: number
}

const each = (before: Memory, after: Memory, count: number): Memory => ({
  heap: (after.heap - before.heap) / count,
  rss: (after.rss - before.rss) / count
})

const ofCalls = ({ first, more }: Count) =>
  Effect.gen(function* () {
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false, ringMillis })
    const environment = { ORG_CONCURRENCY: "20000" }
    const engine = yield* startEngine(database, { environment, file: "measuredMain.ts", nodeOptions })
    const agentId = yield* prepare(engine, emulator)
    const up = Effect.fnUntraced(function* (calls: number, list: string) {
      const campaign = yield* createCampaign(engine, agentId, list)
      yield* engine.post(`/campaign/${campaign}/start`)
      yield* emulator.until(({ live }) => live >= calls)
      yield* Effect.sleep(SETTLE)
      return yield* memoryOf(engine.child)
    })
    const before = yield* up(first, csvOf(first, staysUntilHungUp))
    return each(before, yield* up(first + more, csvOf(more, staysUntilHungUp, first)), more)
  }).pipe(Effect.scoped)

const ofBare = (add: "fibers" | "table", { first, more }: Count) =>
  Effect.gen(function* () {
    const child = yield* startChild({ file: "bareActorsMain.ts", nodeOptions })
    yield* child.told("ready")
    child.send({ add, count: first })
    const before = yield* memoryOf(child)
    child.send({ add, count: more })
    return each(before, yield* memoryOf(child), more)
  }).pipe(Effect.scoped)

const measure = Effect.fnUntraced(function* ({ quick }: Options) {
  const count = quick ? { first: 200, more: 1000 } : { first: 1000, more: 9000 }
  const fibers = yield* ofBare("fibers", count)
  const table = yield* ofBare("table", count)
  const calls = yield* ofCalls(count)
  const kibibytes = (bytes: number) => bytes / 1024
  return [
    {
      name: "actors, heap per live call",
      value: kibibytes(calls.heap),
      unit: "KiB",
      goal: { atMost: 8 },
      control: kibibytes(fibers.heap)
    },
    { name: "actors, of it in the ARI adapter's table", value: kibibytes(table.heap), unit: "KiB", control: kibibytes(calls.heap) },
    { name: "actors, resident memory per live call", value: kibibytes(calls.rss), unit: "KiB", control: kibibytes(fibers.rss) }
  ]
})

export const actors: Benchmark = { name: "actors", run: measure }
