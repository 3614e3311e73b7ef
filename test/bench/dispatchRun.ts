/**
 * One campaign on full slots, as its callees saw it: from the end of a call to the originate that took its place, and how much of the slots'
 * time was used. `dispatch` and `slot-use` use the same run.
 */
import { Effect } from "effect"
import type { AriEmulatorOptions } from "#test/emulators/ari/AriEmulator.ts"
import { type CalleeEntry, CalleeLog } from "#test/emulators/shared/CalleeLog.ts"
import { dialByPolling, dialInLoop, type Dialing } from "./bareDialers.ts"
import type { Options } from "./Benchmark.ts"
import { judging } from "./Child.ts"
import { csvOf, rowsOf, talksThenHangsUp } from "./Contacts.ts"
import { commitMillis, startDatabase } from "./Database.ts"
import { besideDisk } from "./Disk.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"
import type { EmulatorAddress } from "./emulatorMain.ts"
import { createCampaign, prepare, startEngine } from "./Engine.ts"

const slots = 100
const callSeconds = 10
/** The part of these ten seconds in which the phone rings. */
const ringMillis = 1000

interface Dispatch {
  /** Milliseconds. */
  readonly turnarounds: ReadonlyArray<number>
  /** 0 to 1. */
  readonly slotUse: number
}
export interface Compared {
  readonly engine: Dispatch
  readonly loop: Dispatch
  readonly poller: Dispatch
  /** How many milliseconds commits took on the engine's disk before it was started. */
  readonly commits: ReadonlyArray<number>
  /** How many milliseconds a page took to reach the same disk, all the time the engine dialed. */
  readonly syncs: ReadonlyArray<number>
}
/** `steady`: half to one and a half times ten seconds, so that slots become free evenly. `in step`: as close together as they began. */
type Pace = "steady" | "in step"

export interface Plan extends Options {
  readonly pace: Pace
  /** Whether the agent greets, and the calls are recorded. */
  readonly voice: boolean
}

const secondsOf = ({ quick, voice }: Plan) =>
  quick ? { engine: 15, control: 15 } : voice ? { engine: 30, control: 20 } : { engine: 45, control: 20 }
const contactsFor = (seconds: number) => slots + (slots * seconds) / callSeconds

const emulatorOf = ({ pace, voice }: Plan): AriEmulatorOptions => ({
  media: voice,
  ringMillis,
  talkMillis: callSeconds * 1000 - ringMillis,
  ...(pace === "steady" ? { seed: 1 } : {})
})

/** From the moment when the slots were first full until the last contact was dialed. */
const dispatchOf = (entries: ReadonlyArray<CalleeEntry>, capacity: number): Dispatch => {
  let live = 0
  let full: number | undefined
  let used = 0
  let before = 0
  const last = entries.findLastIndex(({ kind }) => kind === "originate")
  for (const [index, { at, kind }] of entries.entries()) {
    if (kind !== "originate" && kind !== "ended") continue
    if (full !== undefined && index <= last) used += live * (at - before)
    before = at
    live += kind === "originate" ? 1 : -1
    if (live === capacity) full ??= index
  }
  const from = entries[full ?? 0]?.at ?? 0
  const until = entries[last]?.at ?? 0
  const log = new CalleeLog()
  log.entries = full === undefined ? [] : entries.slice(full + 1)
  return { slotUse: full === undefined ? 0 : used / (capacity * (until - from)), turnarounds: log.turnaroundMillis() }
}

const untilDialed = (emulator: Emulator, contacts: number) =>
  emulator
    .until(({ originates }) => originates >= contacts)
    .pipe(
      Effect.andThen(emulator.entries),
      Effect.map((entries) => dispatchOf(entries, slots))
    )

const byEngine = (plan: Plan) =>
  Effect.gen(function* () {
    const database = yield* startDatabase(plan)
    const commits = yield* commitMillis(database)
    const emulator = yield* judging(startEmulator(emulatorOf(plan)))
    const engine = yield* startEngine(database, { environment: { RECORDINGS: plan.voice ? "on" : "off" } })
    const agentId = yield* prepare(engine, emulator, plan.voice ? "Hello {{first_name}}, your order is ready." : "")
    const contacts = contactsFor(secondsOf(plan).engine)
    const campaign = yield* createCampaign(engine, agentId, csvOf(contacts), { max_concurrency: slots })
    yield* engine.post(`/campaign/${campaign}/start`)
    const { result, syncs } = yield* besideDisk(database.folder, untilDialed(emulator, contacts))
    return { commits, engine: result, syncs }
  }).pipe(Effect.scoped)

const byHand = (plan: Plan, dial: (emulator: EmulatorAddress, dialing: Dialing) => ReturnType<typeof dialInLoop>) =>
  Effect.gen(function* () {
    const emulator = yield* judging(startEmulator(emulatorOf(plan)))
    const contacts = contactsFor(secondsOf(plan).control)
    const numbers = rowsOf(contacts, talksThenHangsUp).flatMap(([number = ""]) => number)
    yield* dial(emulator, { numbers, slots })
    return yield* untilDialed(emulator, contacts)
  }).pipe(Effect.scoped)

const compared = Effect.fnUntraced(function* (plan: Plan) {
  const measured = yield* byEngine(plan)
  // Both are idle most of the time, so they do not disturb each other.
  const [loop, poller] = yield* Effect.all([byHand(plan, dialInLoop), byHand(plan, dialByPolling)], { concurrency: 2 })
  return { ...measured, loop, poller }
})

const runs = new Map<string, Compared>()

/** Runs each plan once in this process, and then returns its result. */
export const dispatchRun = (plan: Plan): Effect.Effect<Compared> =>
  Effect.suspend(() => {
    const key = JSON.stringify(plan)
    const known = runs.get(key)
    return known === undefined ? Effect.tap(compared(plan), (run) => Effect.sync(() => runs.set(key, run))) : Effect.succeed(known)
  })
