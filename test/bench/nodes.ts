/**
 * One cap of ten for three engines, of which one decides, as callees saw it: how much of the slots' time is used by forty
 * campaigns, how soon a slot that one engine frees is used on another, and how two campaigns share it; what a call costs two engines together; and how
 * much faster two dial where their threads are what limits. The control is one engine alone.
 *
 * The busier an engine, the more calls share a statement or a turn of its event loop, and the less each of them costs. So the cost is also compared
 * with that of one engine that has half as many calls a second, as each of two has.
 */
import { Effect } from "effect"
import type { AriEmulatorOptions } from "#test/emulators/ari/AriEmulator.ts"
import type { CalleeEntry } from "#test/emulators/shared/CalleeLog.ts"
import type { Benchmark, Options } from "./Benchmark.ts"
import { sharedBy, startCallNode } from "./CallNode.ts"
import { judging } from "./Child.ts"
import { csvOf, talksThenHangsUp } from "./Contacts.ts"
import { startDatabase } from "./Database.ts"
import { startEmulator } from "./Emulator.ts"
import { createCampaign, prepare, startEngine } from "./Engine.ts"
import { quantile } from "./Figure.ts"
import { treeSecondsOf } from "./TreeCpu.ts"

const cap = 10
const LOOK_AGAIN = "200 millis"
/** Half to one and a half times this long, so that slots become free evenly. */
const far = { media: false, ringMillis: 200, seed: 3, talkMillis: 800 }
const crowd = ({ quick }: Options): Plan => ({ campaigns: 40, cap, contactsEach: quick ? 2 : 20, far })
const pair = ({ quick }: Options): Plan => ({ campaigns: 2, cap, contactsEach: quick ? 60 : 200, far })
/** As many calls as two cores can take: what engines do while they are idle hardly counts. */
const burst = ({ quick }: Options): Plan => ({
  campaigns: 1,
  cap: 100,
  contactsEach: quick ? 200 : 8000,
  far: { media: false, ringMillis: 100, talkMillis: 200 }
})
/** Fewer calls, each of which holds the thread of its engine for this long: see `heldUpMain.ts`. */
const DIAL_MILLIS = 6
const heldUp = ({ quick }: Options): Plan => ({
  ...burst({ quick }),
  contactsEach: quick ? 200 : 4000,
  environment: { DIAL_MILLIS: String(DIAL_MILLIS) },
  file: "heldUpMain.ts"
})
/** The share of the calls after which engines have compiled what they run, each for itself. */
const WARM_UP = 0.25
/** In how many dials in a row the two campaigns have to be served alike. */
const inARow = 100

interface Plan {
  readonly campaigns: number
  readonly cap: number
  readonly contactsEach: number
  readonly far: AriEmulatorOptions
  readonly environment?: Readonly<Record<string, string>>
  /** See `startEngine`. */
  readonly file?: string
}

interface Dialed {
  readonly entries: ReadonlyArray<CalleeEntry>
  /** Which engine had a call. */
  readonly nodes: ReadonlyMap<string, string>
  /** CPU milliseconds of all engines for each call, after the warm-up. */
  readonly cpuMillis: number
  /** How many calls left in each second, from the warm-up to the last one. */
  readonly rate: number
}

/** The campaign of a number, by the list that it was in. */
const campaignOf = (number: string, { contactsEach }: Plan): number => Math.floor((Number(number.slice(5, 11)) - 200_000) / contactsEach)

const secondsOf = (pids: ReadonlyArray<number>) => Effect.sync(() => pids.reduce((sum, pid) => sum + (treeSecondsOf(pid) ?? Number.NaN), 0))

/** Runs all campaigns at once, with these call nodes beside the engine. */
const dial = (plan: Plan, callNodes: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { campaigns, cap, contactsEach, far, file = "../../runtime/start.js" } = plan
    const contacts = campaigns * contactsEach
    const database = yield* startDatabase()
    const emulator = yield* judging(startEmulator(far))
    const environment = { ...sharedBy(database), ...plan.environment, ORG_CONCURRENCY: String(cap) }
    const engine = yield* startEngine(database, { environment, file })
    const nodePids = yield* Effect.forEach(callNodes, (name) => startCallNode(engine, database, { environment, file, name }))
    const agentId = yield* prepare(engine, emulator)
    const ids: Array<number> = []
    for (let campaign = 0; campaign < campaigns; campaign++)
      ids.push(
        yield* createCampaign(engine, agentId, csvOf(contactsEach, talksThenHangsUp, campaign * contactsEach), { max_concurrency: cap })
      )
    const spent = secondsOf([engine.child.pid, ...nodePids])
    yield* Effect.forEach(ids, (id) => engine.post(`/campaign/${id}/start`), { discard: true })
    yield* emulator.until(({ originates }) => originates >= WARM_UP * contacts)
    const [before, { originates: warm }] = [yield* spent, yield* emulator.counts]
    yield* emulator.until(({ live, originates }) => originates >= contacts && live === 0)
    const open = Effect.promise(() => database.sql`SELECT FROM attempts WHERE state NOT IN ('ended', 'void') LIMIT 1`)
    yield* Effect.repeat(Effect.delay(open, LOOK_AGAIN), { until: ({ length }) => length === 0 })
    const cpuMillis = (((yield* spent) - before) * 1000) / (contacts - warm)
    const rows = yield* Effect.promise(() => database.sql<Array<{ id: string; node: string }>>`SELECT id::text, node FROM attempts`)
    const entries = yield* emulator.entries
    return { cpuMillis, entries, nodes: new Map(rows.map(({ id, node }) => [id, node])), rate: rateOf(entries) } satisfies Dialed
  }).pipe(Effect.scoped)

const rateOf = (entries: ReadonlyArray<CalleeEntry>): number => {
  const times = entries.filter(({ kind }) => kind === "originate").map(({ at }) => at)
  const warm = times.slice(Math.floor(WARM_UP * times.length))
  return (1000 * (warm.length - 1)) / ((warm.at(-1) ?? 0) - (warm[0] ?? 0))
}

/** From the moment when the slots were first full until the last contact was dialed. */
const whileFull = (entries: ReadonlyArray<CalleeEntry>) => {
  let live = 0
  const full = entries.findIndex(({ kind }) => {
    live += kind === "originate" ? 1 : kind === "ended" ? -1 : 0
    return live === cap
  })
  return entries.slice(full, entries.findLastIndex(({ kind }) => kind === "originate") + 1)
}

/** How much of the slots' time was used, 0 to 1, and how long each freed slot was idle, in milliseconds. */
const slotsOf = ({ entries, nodes }: Dialed) => {
  const freed: Array<CalleeEntry> = []
  const gaps: Array<{ readonly millis: number; readonly isElsewhere: boolean }> = []
  const [first, ...rest] = whileFull(entries)
  for (const entry of rest) {
    if (entry.kind === "ended") freed.push(entry)
    const from = entry.kind === "originate" ? freed.shift() : undefined
    if (from !== undefined) gaps.push({ isElsewhere: nodes.get(from.channelId) !== nodes.get(entry.channelId), millis: entry.at - from.at })
  }
  const idle = gaps.reduce((sum, { millis }) => sum + millis, 0)
  const used = 1 - idle / (cap * ((rest.at(-1)?.at ?? 0) - (first?.at ?? 0)))
  return {
    elsewhere: gaps.filter(({ isElsewhere }) => isElsewhere).map(({ millis }) => millis),
    gaps: gaps.map(({ millis }) => millis),
    used
  }
}

/** The largest share, 0 to 1, that one of two campaigns has of that many dials in a row, while both have contacts. */
const largestShare = ({ entries }: Dialed, plan: Plan): number => {
  const dials = whileFull(entries)
    .filter(({ kind }) => kind === "originate")
    .map(({ number }) => campaignOf(number, plan))
  const lasts = Array.from({ length: plan.campaigns }, (_, campaign) => dials.lastIndexOf(campaign))
  const both = dials.slice(0, Math.min(...lasts) + 1)
  const shares = both.slice(inARow - 1).map((_, from) => {
    const firsts = both.slice(from, from + inARow).filter((campaign) => campaign === 0).length
    return Math.max(firsts, inARow - firsts) / inARow
  })
  return shares.length === 0 ? Number.NaN : Math.max(...shares)
}

export const nodes: Benchmark = {
  name: "nodes",
  run: Effect.fnUntraced(function* (options) {
    const callNodes = ["left", "right"]
    const many = slotsOf(yield* dial(crowd(options), callNodes))
    const alone = slotsOf(yield* dial(crowd(options), []))
    const busy = yield* dial(burst(options), ["left"])
    const busyAlone = yield* dial(burst(options), [])
    const half = { ...burst(options), environment: { CALL_RATE: String(Math.max(1, Math.round(busy.rate / 2))) } }
    const halfBusy = yield* dial({ ...half, contactsEach: Math.ceil(half.contactsEach / 2) }, [])
    const held = yield* dial(heldUp(options), ["left"])
    const heldAlone = yield* dial(heldUp(options), [])
    const shared = largestShare(yield* dial(pair(options), callNodes), pair(options))
    const elsewhere = (share: number, goal: number) => ({
      name: `nodes: from a slot freed on one engine to an originate on another, p${100 * share}`,
      value: quantile(many.elsewhere, share),
      unit: "ms",
      goal: { atMost: goal },
      control: quantile(alone.gaps, share)
    })
    return [
      {
        name: "nodes: slot use, 40 campaigns under a cap of 10",
        value: 100 * many.used,
        unit: "%",
        goal: { atLeast: 98 },
        control: 100 * alone.used
      },
      elsewhere(0.5, 8),
      elsewhere(0.99, 40),
      { name: "nodes: the largest share of 100 dials in a row, two campaigns", value: 100 * shared, unit: "%", goal: { atMost: 55 } },
      {
        name: "nodes: CPU of two engines for each call",
        value: busy.cpuMillis,
        unit: "ms",
        goal: { atMost: 1.15 * busyAlone.cpuMillis },
        control: busyAlone.cpuMillis
      },
      {
        name: "nodes: the same, next to one engine with half as many calls a second",
        value: busy.cpuMillis,
        unit: "ms",
        control: halfBusy.cpuMillis
      },
      { name: "nodes: calls a second in these runs", value: busy.rate, unit: "1/s", control: busyAlone.rate },
      {
        name: `nodes: calls a second of two engines whose calls each hold the thread for ${DIAL_MILLIS} ms`,
        value: held.rate,
        unit: "1/s",
        goal: { atLeast: 1.8 * heldAlone.rate },
        control: heldAlone.rate
      }
    ]
  })
}
