/**
 * How soon campaigns are dialed again after their engine was killed or frozen, by a standby on the same machine, as the callees saw it. In the
 * control, the engine was asked to end. Each engine has its own folder, as on a machine of its own: its requests in flight are known to
 * nobody.
 */
import { Effect, Exit, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type Child, startChild } from "./Child.ts"
import { csvOf, talksThenHangsUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import { createCampaign, engineEnvironment, prepare, startEngine } from "./Engine.ts"
import { quantile } from "./Figure.ts"

const timesOf = ({ quick }: Options) => (quick ? 2 : 20)
const campaigns = 3
const contactsEach = 9000
/** The rate of each campaign: its next dial is due within a fifth of a second. */
const dialsPerSecond = 5
/** Enough that a slot is always free, although each call in doubt after a takeover keeps its slot for a minute and a half. */
const slotsEach = 100
const frozenMillis = 10_000
/** By then, everything in flight at the signal has arrived, and no standby has taken over. */
const arrivedMillis = 100

const nowMillis = () => performance.timeOrigin + performance.now()

interface Standby {
  readonly child: Child
  readonly close: Effect.Effect<void>
}

/** The campaign of a number, by the list that it was in. */
const campaignOf = (number: string): number => Math.floor((Number(number.slice(5, 11)) - 200_000) / contactsEach)

/** When each campaign first dialed after the moment, in milliseconds from it. */
const firstDials = (emulator: Emulator, signalledAt: number) =>
  Effect.map(emulator.entries, (entries) => {
    const firsts = new Map<number, number>()
    for (const { at, kind, number } of entries) {
      const campaign = campaignOf(number)
      if (kind === "originate" && at > signalledAt + arrivedMillis && !firsts.has(campaign)) firsts.set(campaign, at - signalledAt)
    }
    return [...firsts.values()]
  })

const signal = (child: Child, name: NodeJS.Signals) => Effect.sync(() => process.kill(child.pid, name))

const measure = (options: Options) =>
  Effect.gen(function* () {
    const database = yield* startDatabase()
    const emulator = yield* startEmulator({ media: false, ringMillis: 100, seed: 1, talkMillis: 200 })
    const shared = {
      CALL_RATE: String(dialsPerSecond),
      ORG_CONCURRENCY: String(campaigns * slotsEach),
      FILES_DIR: join(database.folder, "files"),
      SECRETS_KEY: randomBytes(32).toString("hex")
    }
    let started = 0
    const standBy: Effect.Effect<Standby> = Effect.gen(function* () {
      const scope = yield* Scope.make()
      const name = `standby${started++}`
      const environment = engineEnvironment({ folder: join(database.folder, name), url: database.url }, { ...shared, NODE_NAME: name })
      const child = yield* Scope.provide(startChild({ environment, file: "../../runtime/start.js" }), scope)
      yield* child.line(/stands by/)
      return { child, close: Scope.close(scope, Exit.void) }
    })

    const first = yield* Scope.make()
    const engine = yield* Scope.provide(startEngine(database, { environment: shared }), first)
    const agentId = yield* prepare(engine, emulator)
    for (let campaign = 0; campaign < campaigns; campaign++) {
      const list = csvOf(contactsEach, talksThenHangsUp, campaign * contactsEach)
      const id = yield* createCampaign(engine, agentId, list, { max_concurrency: slotsEach })
      yield* engine.post(`/campaign/${id}/start`)
    }
    yield* emulator.until(({ originates }) => originates > 10 * campaigns)

    let active: Standby = { child: engine.child, close: Scope.close(first, Exit.void) }
    const replace = Effect.fnUntraced(function* (how: "SIGKILL" | "SIGSTOP" | "SIGTERM") {
      const next = yield* standBy
      const signalledAt = nowMillis()
      yield* signal(active.child, how)
      const dials = yield* Effect.repeat(Effect.delay(firstDials(emulator, signalledAt), "200 millis"), {
        until: (found) => found.length === campaigns
      })
      if (how === "SIGSTOP") {
        yield* Effect.sleep(Math.max(0, signalledAt + frozenMillis - nowMillis()))
        yield* signal(active.child, "SIGCONT")
      }
      yield* active.close
      active = next
      return dials
    })
    const times = Array.from({ length: timesOf(options) })
    const ended = (yield* Effect.forEach(times.slice(0, Math.ceil(times.length / 4)), () => replace("SIGTERM"))).flat()
    const killed = (yield* Effect.forEach(times, () => replace("SIGKILL"))).flat()
    const frozen = (yield* Effect.forEach(times, () => replace("SIGSTOP"))).flat()
    const entries = yield* emulator.entries
    yield* active.close
    const [{ unknown } = { unknown: Number.NaN }] = yield* Effect.promise(
      () => database.sql<Array<{ unknown: number }>>`SELECT count(*)::int AS unknown FROM attempts WHERE outcome = 'unknown'`
    )
    return { ended, entries, frozen, killed, unknownEach: unknown / (2 * times.length) }
  }).pipe(Effect.scoped)

export const failover: Benchmark = {
  name: "failover",
  run: Effect.fnUntraced(function* (options) {
    const { ended, entries, frozen, killed, unknownEach } = yield* measure(options)
    const numbers = entries.filter(({ kind }) => kind === "originate").map(({ number }) => number)
    const of = (how: string, values: ReadonlyArray<number>) => [
      {
        name: `failover: ${how}, to each campaign's first dial, p50`,
        value: quantile(values, 0.5),
        unit: "ms",
        goal: { atMost: 3000 },
        control: quantile(ended, 0.5)
      },
      {
        name: `failover: ${how}, the longest`,
        value: Math.max(...values),
        unit: "ms",
        goal: { atMost: 4000 },
        control: Math.max(...ended)
      }
    ]
    return [
      ...of("killed", killed),
      ...of("frozen for 10 s", frozen),
      { name: "failover: numbers dialed twice", value: numbers.length - new Set(numbers).size, unit: "", goal: { atMost: 0 } },
      { name: "failover: attempts of which nobody knows what became, for each engine lost", value: unknownEach, unit: "" }
    ]
  })
}
