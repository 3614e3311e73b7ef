/**
 * What calls from browsers are like for their callers, and for callees on the telephone. First, callers in browsers and callees behind an emulated
 * Asterisk converse with the same agent at the same time: how long they wait from the end of their own answer to the first audio of the agent's, as each
 * end hears it, in steps of 20 ms. The control of the former is the latter. A caller's end catches up with late frames in the agent's silence, as a
 * browser's jitter buffer does. Then callees are alone, which is the control, and twenty callers in browsers join them: what callees on the telephone then
 * miss, how long they wait, and what the engine's main thread uses. The callers' end of the connections takes as much CPU time as the engine's, on the same
 * cores, at an ordinary priority.
 */
import { Effect } from "effect"
import type { Benchmark, Options } from "./Benchmark.ts"
import { type BrowserCallers, startBrowserCallers } from "./BrowserCallers.ts"
import { judging } from "./Child.ts"
import type { Conversed } from "./Converser.ts"
import { callees, throughAsterisk } from "./conversingEngine.ts"
import { type Figure, type Goal, quantile } from "./Figure.ts"
import { cpuSecondsOf, mainSecondsOf } from "./Measures.ts"

const plan = { ...callees, thinksMillis: 1000 }
/** The time for first turns, in which code is compiled and speech is synthesized that is cached from then on. */
const SETTLE = "15 seconds"
const frameMillis = 20
/** Of the answer of a call from a browser, beyond that of a telephone call. */
const mostBeyond = 60

const sizeOf = ({ quick }: Options) =>
  quick ? { callees: 2, callers: 2, more: 4, seconds: 15 } : { callees: 6, callers: 6, more: 20, seconds: 60 }

type Asterisk = Effect.Success<ReturnType<typeof throughAsterisk>>

const waits = ({ answers }: Conversed): ReadonlyArray<number> => answers.map(({ millis }) => millis)

const latencyFigures = (browsers: Conversed, telephone: Conversed): ReadonlyArray<Figure> => {
  const [own, control] = [waits(browsers), waits(telephone)]
  const at = (name: string, share: number): ReadonlyArray<Figure> => {
    const [value, other] = [quantile(own, share), quantile(control, share)]
    return [
      { name: `browser-calls, answer to audio ${name}`, value, unit: "ms", control: other },
      {
        name: `browser-calls, answer to audio ${name}, beyond a telephone call's`,
        value: value - other,
        unit: "ms",
        goal: { atMost: mostBeyond }
      }
    ]
  }
  return [
    { name: "browser-calls, answers", value: own.length, unit: "", control: control.length },
    {
      name: "browser-calls, turns without an answer",
      value: browsers.unanswered,
      unit: "",
      goal: { atMost: 0 },
      control: telephone.unanswered
    },
    ...at("p50", 0.5),
    ...at("p99", 0.99)
  ]
}

interface Telephone {
  readonly conversed: Conversed
  readonly played: number
  readonly missed: number
  readonly longestGap: number
  /** CPU seconds. */
  readonly main: number
  readonly engine: number
}

/** What callees on the telephone note meanwhile, and what the engine uses. */
const watched = Effect.fnUntraced(function* ({ emulator, engine }: Asterisk, seconds: number) {
  yield* emulator.conversed
  const before = yield* emulator.flow
  const [main, all] = [yield* mainSecondsOf(engine.child), yield* cpuSecondsOf(engine.child)]
  yield* Effect.sleep(`${seconds} seconds`)
  const after = yield* emulator.flow
  const telephone: Telephone = {
    conversed: yield* emulator.conversed,
    played: after.played - before.played,
    missed: after.missed - before.missed,
    longestGap: after.longestGap * frameMillis,
    main: (yield* mainSecondsOf(engine.child)) - main,
    engine: (yield* cpuSecondsOf(engine.child)) - all
  }
  return telephone
})

const costFigures = (beside: Telephone, alone: Telephone, { more, seconds }: ReturnType<typeof sizeOf>): ReadonlyArray<Figure> => {
  const figure = (name: string, unit: string, of: (telephone: Telephone) => number, goal?: Goal): Figure => ({
    name: `browser-calls, telephone beside ${more}, ${name}`,
    value: of(beside),
    unit,
    control: of(alone),
    ...(goal === undefined ? {} : { goal })
  })
  const lost = ({ missed, played }: Telephone) => (1000 * missed) / Math.max(1, missed + played)
  return [
    figure("frames missed", "in 1,000", lost, { atMost: Math.max(1, lost(alone)) }),
    figure("longest gap", "ms", ({ longestGap }) => longestGap),
    figure("answer to audio p50", "ms", ({ conversed }) => quantile(waits(conversed), 0.5), {
      atMost: quantile(waits(alone.conversed), 0.5) + frameMillis
    }),
    figure("answer to audio p99", "ms", ({ conversed }) => quantile(waits(conversed), 0.99)),
    figure("CPU of the main thread", "ms/s", ({ main }) => (1000 * main) / seconds),
    figure("CPU of the engine", "ms/s", ({ engine }) => (1000 * engine) / seconds)
  ]
}

const heardExactly = (asterisk: Asterisk) => Effect.as(judging(Effect.succeed(asterisk.emulator)), asterisk)

const conversedBy = Effect.fnUntraced(function* ({ emulator }: Asterisk, callers: BrowserCallers, seconds: number) {
  yield* Effect.sleep(SETTLE)
  yield* emulator.conversed
  yield* callers.conversed
  const before = yield* callers.flow
  yield* Effect.sleep(`${seconds} seconds`)
  const after = yield* callers.flow
  const [played, missed] = [after.played - before.played, after.missed - before.missed]
  const lost: Figure = { name: "browser-calls, frames missed", value: (1000 * missed) / Math.max(1, missed + played), unit: "in 1,000" }
  const waiting: Figure = {
    name: "browser-calls, frames that wait for their tick, of all calls",
    value: after.waiting,
    unit: "",
    control: before.waiting
  }
  return [...latencyFigures(yield* callers.conversed, yield* emulator.conversed), lost, waiting]
})

export const browserCalls: Benchmark = {
  name: "browser-calls",
  run: (options) =>
    Effect.gen(function* () {
      const size = sizeOf(options)
      const asterisk = yield* throughAsterisk("cached", plan)
      const { add, agentId, engine } = yield* heardExactly(asterisk)
      yield* add(size.callees, 0)
      const callers = yield* judging(startBrowserCallers(engine, agentId, plan))
      yield* callers.add(size.callers)
      const latency = yield* conversedBy(asterisk, callers, size.seconds)
      yield* callers.hangUp
      yield* Effect.sleep(SETTLE)
      const alone = yield* watched(asterisk, size.seconds)
      const others = yield* startBrowserCallers(engine, agentId, callees)
      yield* others.add(size.more)
      yield* Effect.sleep(SETTLE)
      const beside = yield* watched(asterisk, size.seconds)
      const ended: Figure = {
        name: "browser-calls, calls that have ended by themselves",
        value: (yield* callers.ended) + (yield* others.ended),
        unit: "",
        goal: { atMost: 0 }
      }
      return [...latency, ...costFigures(beside, alone, size), ended]
    }).pipe(Effect.scoped)
}
