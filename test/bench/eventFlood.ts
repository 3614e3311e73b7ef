/**
 * What the calls of one organization hear of another whose Asterisk sends events without end: eight callees listen to a recorded voice, and the frames
 * that they miss are counted; without a flood, and during each kind of it. The control is what they miss in quiet. And what an honest Asterisk's
 * events cost, as many as a campaign of a hundred calls a second causes.
 */
import { Console, Effect } from "effect"
import { createHash, randomBytes } from "node:crypto"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type Child, fromElsewhere, startChild } from "./Child.ts"
import { csvOf } from "./Contacts.ts"
import { mainSecondsOf } from "./Cpu.ts"
import { type Database, startDatabase } from "./Database.ts"
import { createCampaign, createTelephonyConfig, type Engine, numberAt } from "./Engine.ts"
import { type Flood, floods, type Poured } from "./eventFloodMain.ts"
import type { Figure } from "./Figure.ts"
import { type Listeners, startListeners } from "./listeners.ts"

const honestPerSecond = 3000
const settleSeconds = 2
const secondsOf = ({ quick }: Options) => (quick ? 4 : 14)
/** Of a thousand frames. */
const goals = { missedAtMost: 5 }

/** Creates another organization, and returns the engine as it sees it. */
const neighbourOf = ({ sql }: Database, engine: Engine) =>
  Effect.promise(async () => {
    const key = randomBytes(16).toString("hex")
    const [row] = await sql<Array<{ id: number }>>`INSERT INTO organizations (name) VALUES ('Neighbour') RETURNING id`
    await sql`
      INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role)
      VALUES (${row?.id ?? 0}, 'bench', ${key.slice(0, 8)}, ${createHash("sha256").update(key).digest("hex")}, 'owner')`
    return engine.as(key)
  })

/** Connects the engine to the Asterisk of that organization, which happens at its first campaign. */
const connected = Effect.fnUntraced(function* (engine: Engine, url: string) {
  const config = { provider: "ari", ari_endpoint: url, app_name: "other", app_password: "secret", dial_string: "PJSIP/{number}@trunk" }
  yield* createTelephonyConfig(engine, config)
  const data = { name: "Start", prompt: "Greet.", greeting_type: "text", greeting: "Hello" }
  const workflow_definition = { nodes: [{ id: "1", type: "startCall", position: { x: 0, y: 0 }, data }], edges: [] }
  const agentId = numberAt(yield* engine.post("/workflow/create/definition", { name: "Other", workflow_definition }), "id")
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

const pouredOf = (message: unknown): Poured | undefined =>
  // Nobody else sends messages over this channel.
  message instanceof Object && "poured" in message ? (message.poured as Poured) : undefined

const phase = Effect.fnUntraced(function* ({ flood, listeners: { during, engine } }: Scene, name: string, seconds: number, order?: Order) {
  if (order !== undefined) flood.send(order)
  const spent = yield* mainSecondsOf(engine.child)
  const began = performance.now()
  const { frames, missed } = yield* during(Effect.sleep(`${seconds} seconds`))
  const busy = ((yield* mainSecondsOf(engine.child)) - spent) / ((performance.now() - began) / 1000)
  const [{ bytes, events }] = yield* Effect.all([flood.next(pouredOf), Effect.sync(() => flood.send({ stop: true }))], {
    concurrency: "unbounded"
  })
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
      const url = yield* flood.next((message) => (message instanceof Object && "url" in message ? String(message.url) : undefined))
      yield* connected(yield* neighbourOf(database, listeners.engine), url)
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
