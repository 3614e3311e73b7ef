/**
 * What the calls of one organization hear of another whose Asterisk sends events without end: eight callees listen to a recorded voice, and the frames
 * that they miss are counted; without a flood, and during each kind of it. The control is what they miss in quiet. And what an honest Asterisk's
 * events cost, as many as a campaign of a hundred calls a second causes.
 */
import { Console, Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type Child, fromElsewhere, startChild } from "./Child.ts"
import { csvOf } from "./Contacts.ts"
import { mainSecondsOf } from "./Measures.ts"
import { startDatabase } from "./Database.ts"
import { createCampaign, type Engine, neighbourOf, prepare } from "./Engine.ts"
import type { Poured } from "./eventFloodMain.ts"
import type { Figure } from "./Figure.ts"
import { type Listeners, startListeners } from "./listeners.ts"

const floods = ["strangers", "one word", "not JSON", "pings", "long lists"] as const
export type Flood = (typeof floods)[number]

const honestPerSecond = 3000
const settleSeconds = 2
const secondsOf = ({ quick }: Options) => (quick ? 4 : 14)
/** Of a thousand frames. */
const goals = { missedAtMost: 5 }

/** Connects the engine to the Asterisk of that organization, which happens at its first campaign. */
const connected = Effect.fnUntraced(function* (engine: Engine, url: string) {
  const agentId = yield* prepare(engine, { url, user: "other", password: "secret" }, "Hello")
  const campaign = yield* createCampaign(engine, agentId, csvOf(1))
  yield* engine.post(`/campaign/${campaign}/start`)
})

interface Scene {
  readonly listeners: Listeners
  readonly flood: Child
}

interface Order {
  readonly flood: Flood
  readonly perSecond?: number
}

const phase = Effect.fnUntraced(function* ({ flood, listeners: { during, engine } }: Scene, name: string, seconds: number, order?: Order) {
  if (order !== undefined) flood.send(order)
  const spent = yield* mainSecondsOf(engine.child)
  const began = performance.now()
  const { frames, missed } = yield* during(Effect.sleep(`${seconds} seconds`))
  const busy = ((yield* mainSecondsOf(engine.child)) - spent) / ((performance.now() - began) / 1000)
  const { bytes, events } = yield* flood.ask<Poured>({ stop: true }, "poured")
  yield* Console.error(
    `${name}: ${missed} of ${frames} frames missed, main thread ${(busy * 100).toFixed(0)} % busy, ${(events / seconds).toFixed(0)} events/s, ${(bytes / seconds / 1e6).toFixed(1)} MB/s taken`
  )
  yield* Effect.sleep(`${settleSeconds} seconds`)
  return { name, busy, events: events / seconds, missed: (1000 * missed) / frames }
})

export const eventFlood: Benchmark = {
  name: "event-flood",
  run: (options) =>
    Effect.gen(function* () {
      const database = yield* startDatabase(options)
      const listeners = yield* startListeners(database, { EGRESS_ALLOW: "127.0.0.0/8" })
      const flood = yield* fromElsewhere(startChild({ file: "eventFloodMain.ts" }))
      yield* connected(yield* neighbourOf(database, listeners.engine), yield* flood.told<string>("url"))
      yield* Effect.sleep(`${settleSeconds} seconds`)
      const scene: Scene = { flood, listeners }
      const seconds = secondsOf(options)
      const quiet = yield* phase(scene, "quiet", seconds)
      const honest = yield* phase(scene, "honest", seconds, { flood: "strangers", perSecond: honestPerSecond })
      const flooded = yield* Effect.forEach(floods, (one) => phase(scene, one, seconds, { flood: one }))
      const figures: ReadonlyArray<Figure> = [
        ...flooded.map(({ missed, name }) => ({
          name: `event-flood, ${name}: frames missed`,
          value: missed,
          unit: "in 1,000",
          goal: { atMost: goals.missedAtMost },
          control: quiet.missed
        })),
        ...flooded.map(({ busy, name }) => ({
          name: `event-flood, ${name}: main thread`,
          value: busy * 100,
          unit: "%",
          control: quiet.busy * 100
        })),
        { name: "event-flood, honest: events taken", value: honest.events, unit: "/s", control: honestPerSecond },
        { name: "event-flood, honest: main thread", value: honest.busy * 100, unit: "%", control: quiet.busy * 100 }
      ]
      return figures
    }).pipe(Effect.scoped)
}
