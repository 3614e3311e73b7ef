/** Departures that are lent to call nodes: however late within its permission a request really leaves, no second has one too many. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t from "tap"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallRate, type LendableDeparture, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { most } from "#test/support/rates.ts"
import { run } from "#test/support/run.ts"

const LEND_MILLIS = 250
/** Counted from the question, which was on the way for a moment. */
const SOONEST_LAPSE_MILLIS = 240

interface Lent {
  readonly departure: LendableDeparture
  /** How many permissions lapse before it uses one. */
  lapses: number
  lapsesAt: number | undefined
  /** How long after the permission its request leaves; undefined: it never does. */
  readonly after: number | undefined
  /** How much later the dispatcher hears of it; undefined: the word is lost. */
  readonly heardAfter: number | undefined
  leavesAt: number | undefined
  heardAt: number | undefined
  departed: (() => void) | undefined
}

type Course = readonly [after: number | undefined, heardAfter: number | undefined, lapses?: number]

/** When the requests left. */
const play = (rate: number, calls: ReadonlyArray<Course>) =>
  run(
    Effect.gen(function* () {
      const rates = yield* CallRate
      const lent = calls.map(
        ([after, heardAfter, lapses = 0]): Lent => ({
          after,
          departed: undefined,
          departure: rates.reserve([{ key: "campaign:1", rate }]),
          heardAfter,
          heardAt: undefined,
          lapses,
          lapsesAt: undefined,
          leavesAt: undefined
        })
      )
      const left: Array<number> = []
      for (let millis = 0; millis < (calls.length / rate) * 4000 + 5000; millis++) {
        const now = yield* SteadyTime.now
        for (const call of lent) {
          if (call.departed === undefined && call.departure.readyAt() <= now) {
            call.departed = call.departure.lend(LEND_MILLIS)
            if (call.departed !== undefined && call.lapses > 0) call.lapsesAt = now + SOONEST_LAPSE_MILLIS
            else if (call.departed !== undefined && call.after !== undefined) call.leavesAt = now + call.after
          }
          if (call.lapsesAt !== undefined && call.lapsesAt <= now) {
            call.lapses--
            call.lapsesAt = undefined
            call.departure.renew()
            call.departed = undefined
          }
          if (call.leavesAt !== undefined && call.leavesAt <= now) {
            left.push(now)
            call.leavesAt = undefined
            if (call.heardAfter !== undefined) call.heardAt = now + call.heardAfter
          }
          if (call.heardAt !== undefined && call.heardAt <= now) {
            call.departed?.()
            call.heardAt = undefined
          }
        }
        yield* TestClock.adjust(1)
      }
      return left
    }).pipe(
      Effect.provide(CallRate.layerMemory),
      Effect.provideService(RealMillis, () => 0)
    )
  )

t.test("given calls that are lent, when each leaves at any time within a permission, then no second has more than the rate", async (t) => {
  const call = fc.tuple(
    fc.option(fc.integer({ max: LEND_MILLIS - 1, min: 0 }), { nil: undefined }),
    fc.option(fc.integer({ max: 400, min: 0 }), { nil: undefined }),
    fc.integer({ max: 2, min: 0 })
  )
  await fc.assert(
    fc.asyncProperty(fc.integer({ max: 5, min: 1 }), fc.array(call, { maxLength: 12, size: "max", minLength: 2 }), async (rate, calls) => {
      const left = await play(rate, calls)
      return most(left, 1000) <= rate && left.length === calls.filter(([after]) => after !== undefined).length
    }),
    { numRuns: 30 }
  )
  t.pass()
})

t.test("given calls that are lent, when it is heard at once that each has left, then the rate is used to the full", async (t) => {
  const left = await play(
    5,
    Array.from({ length: 20 }, () => [2, 1] as const)
  )
  const seconds = ((left.at(-1) ?? 0) - (left[0] ?? 0)) / 1000
  t.ok((left.length - 1) / seconds > 4.5, `${((left.length - 1) / seconds).toFixed(2)} per second`)
})
