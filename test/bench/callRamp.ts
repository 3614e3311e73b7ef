/** More and more calls with audio, until callees miss too many frames, or calls are held back. The gaps that callees hear are counted. */
import { type Duration, Effect, Option } from "effect"
import { startChild } from "./Child.ts"
import { rowsOf, staysUntilHungUp } from "./Contacts.ts"
import { cpuSecondsOf } from "./Measures.ts"
import { type Emulator, startEmulator } from "./Emulator.ts"

const lostAtMost = 0.001
export const ringMillis = 500
export const callsPerSecond = 20
/** The time in which the calls of a step are answered, unless the engine holds them back. */
const ANSWERED = "20 seconds"

export interface RampPlan {
  readonly first: number
  readonly step: number
  readonly most: number
  readonly windowSeconds: number
  /** The time from the last answer of a step until its measurement. */
  readonly settle: Duration.Input
}

/** Anything that carries calls: starts this many more, the first of which is number `from`, and returns its measurements of a step. */
interface Carrier<A> {
  readonly add: (count: number, from: number) => Effect.Effect<unknown>
  readonly noted: (step: Effect.Effect<void>) => Effect.Effect<A>
}

interface Step<A> {
  readonly calls: number
  readonly seconds: number
  /** The share of lost frames, 0 to 1. */
  readonly lost: number
  readonly noted: A
}

interface Carried<A> {
  /** All measured steps; the last one may have been too large. */
  readonly steps: ReadonlyArray<Step<A>>
  /** Whether not all calls of the next step were placed. */
  readonly wasHeldBack: boolean
}

const measured = Effect.fnUntraced(function* <A>(emulator: Emulator, carrier: Carrier<A>, calls: number, plan: RampPlan) {
  const seconds = plan.windowSeconds
  yield* Effect.sleep(plan.settle)
  const before = yield* emulator.flow
  const noted = yield* carrier.noted(Effect.sleep(`${seconds} seconds`))
  const after = yield* emulator.flow
  const missed = after.missed - before.missed
  const played = after.played - before.played
  const step: Step<A> = { calls, seconds, lost: missed / Math.max(1, missed + played), noted }
  return step
})

export const carried = <A>(plan: RampPlan, emulator: Emulator, carrier: Carrier<A>): Effect.Effect<Carried<A>> =>
  Effect.gen(function* () {
    const steps: Array<Step<A>> = []
    for (let calls = plan.first; calls <= plan.most; calls += plan.step) {
      const from = steps.at(-1)?.calls ?? 0
      yield* carrier.add(calls - from, from)
      const answered = yield* Effect.timeoutOption(
        emulator.until((counts) => counts.answered >= calls),
        ANSWERED
      )
      if (Option.isNone(answered)) return { steps, wasHeldBack: true }
      const seen = yield* measured(emulator, carrier, calls, plan)
      steps.push(seen)
      if (seen.lost > lostAtMost) break
    }
    return { steps, wasHeldBack: false }
  })

/** The largest step without loss whose measurements satisfy `holds`, as those of all smaller steps do. */
export const cleanOf = <A>({ steps }: Carried<A>, holds: (noted: A) => boolean = () => true): Step<A> | undefined => {
  const end = steps.findIndex(({ lost, noted }) => lost > lostAtMost || !holds(noted))
  return end === -1 ? steps.at(-1) : steps[end - 1]
}
export const tooMany = <A>({ steps }: Carried<A>): Step<A> | undefined => steps.find(({ lost }) => lost > lostAtMost)

/** How much `read` grows during an effect. */
export const spentDuring = (read: Effect.Effect<number>, during: Effect.Effect<void>): Effect.Effect<number> =>
  Effect.gen(function* () {
    const before = yield* read
    yield* during
    return (yield* read) - before
  })

/** CPU milliseconds for each second of a call. */
export const cpuMillisOf = ({ calls, seconds }: Step<unknown>, cpuSeconds: number): number => (1000 * cpuSeconds) / (seconds * calls)

/** Each frame is sent back as it comes, through an emulated Asterisk. Measures CPU seconds. */
export const byEcho = (plan: RampPlan): Effect.Effect<Carried<number>> =>
  Effect.gen(function* () {
    const emulator = yield* startEmulator({ media: true, ringMillis })
    const { password, url, user } = emulator
    const child = yield* startChild({ file: "echoMain.ts" })
    return yield* carried(plan, emulator, {
      add: (count, from) =>
        Effect.sync(() => {
          const numbers = rowsOf(count, staysUntilHungUp, from).flatMap(([number = ""]) => number)
          child.send({ emulator: { password, url, user }, numbers, from, callsPerSecond })
        }),
      noted: (step) => spentDuring(cpuSecondsOf(child), step)
    })
  }).pipe(Effect.scoped)
