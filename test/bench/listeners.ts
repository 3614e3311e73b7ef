/** Eight callees of one organization who listen to a recorded voice, while others do what they do to the engine. */
import { Effect, type Scope } from "effect"
import { judging } from "./Child.ts"
import { csvOf, staysUntilHungUp } from "./Contacts.ts"
import type { Database } from "./Database.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import { createCampaign, type Engine, prepare, startEngine } from "./Engine.ts"

const calls = 8
const greeting = "Hello. This is the clinic at the old market square, with a reminder. ".repeat(60)
const FRAME_MILLIS = 20

export interface Listeners {
  readonly engine: Engine
  /** What they heard while the effect ran: the frames, those that they missed, and the longest gap in milliseconds. */
  readonly during: <A>(effect: Effect.Effect<A>) => Effect.Effect<Heard<A>>
}

interface Heard<A> {
  readonly result: A
  readonly frames: number
  readonly missed: number
  readonly longestGap: number
}

export const startListeners = (
  database: Database,
  environment: Readonly<Record<string, string>>
): Effect.Effect<Listeners, never, Scope.Scope> =>
  Effect.gen(function* () {
    const emulator: Emulator = yield* judging(startEmulator({ media: true, ringMillis: 100 }))
    const engine = yield* startEngine(database, { file: "measuredMain.ts", environment })
    const agentId = yield* prepare(engine, emulator, greeting)
    const campaign = yield* createCampaign(engine, agentId, csvOf(calls, staysUntilHungUp), { rate_limit: calls })
    yield* engine.post(`/campaign/${campaign}/start`)
    yield* emulator.until(({ answered }) => answered >= calls)
    yield* Effect.sleep("3 seconds")
    return {
      engine,
      during: Effect.fnUntraced(function* (effect) {
        const before = yield* emulator.flow
        const result = yield* effect
        const after = yield* emulator.flow
        const missed = after.missed - before.missed
        return { result, frames: after.played - before.played + missed, missed, longestGap: after.longestGap * FRAME_MILLIS }
      })
    }
  })
