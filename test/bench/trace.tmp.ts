import { Effect } from "effect"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, prepare, startEngine } from "./Engine.ts"
import { csvOf } from "./Contacts.ts"
import { quantile } from "./Figure.ts"
import { dispatchOf } from "./dispatchRun.ts"
const main = process.argv[2] ?? "traceMain.tmp.ts"
const n = Number(process.argv[3] ?? 300)
await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
  const database = yield* startDatabase()
  const emulator = yield* startEmulator({ media: false, ringMillis: 1000, talkMillis: 9000, seed: 1 })
  const engine = yield* startEngine(database, { file: main, nodeOptions: process.argv.slice(4) })
  yield* Effect.forkScoped(Effect.forever(Effect.tap(engine.child.line(/^(\w+ .*(p50|ms).*|\{.*)$/), (m) => Effect.sync(() => console.log(m[0])))))
  const agentId = yield* prepare(engine, emulator, "")
  const campaign = yield* createCampaign(engine, agentId, csvOf(n), { max_concurrency: 100 })
  yield* engine.post(`/campaign/${campaign}/start`)
  yield* emulator.until(({ originates }) => originates >= n)
  const { turnarounds } = dispatchOf(yield* emulator.entries, 100)
  console.log("turnaround", turnarounds.length, "p50", quantile(turnarounds, .5), "p90", quantile(turnarounds, .9), "p99", quantile(turnarounds, .99))
})))
