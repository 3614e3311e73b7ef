/** When calls may leave an engine that is killed, frozen and started again: judged by the callee, whose clock does not stand still. */
import { setImmediate } from "node:timers/promises"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import t from "tap"
import { betweenEnginesMillis, spacing } from "#core/campaign/Pacing.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallRate, RealMillis } from "#runtime/dispatch/CallRate.ts"
import { campaign, most, trunk } from "#test/support/rates.ts"
import { run } from "#test/support/run.ts"

t.test("given a process that is frozen as a call leaves, when others are due in that turn, then they leave later", async (t) => {
  const rate = 5
  let millis = 0
  const left = await run(
    Effect.gen(function* () {
      const clock = Object.assign(Object.create(yield* Clock.Clock), { monotonicTimeNanosUnsafe: () => BigInt(Math.round(millis * 1e6)) })
      return yield* CallRate.use((rates) =>
        Effect.promise(async () => {
          const [frozen, ...others] = Array.from({ length: 2 * rate }, () => rates.reserve([trunk(rate)]))
          frozen?.leave()
          millis += 10_000
          const arrivals = [millis]
          // First in the same turn of the event loop: all timers are overdue.
          for (const due = new Set(others); due.size > 0; await setImmediate(), millis++) {
            for (const departure of due) {
              if (departure.readyAt() > millis || !departure.leave()) continue
              due.delete(departure)
              arrivals.push(millis)
            }
          }
          return arrivals
        })
      ).pipe(Effect.provide(CallRate.layerMemory), Effect.provideService(Clock.Clock, clock))
    }).pipe(Effect.provideService(RealMillis, () => millis))
  )
  t.ok(most(left, 1100) <= rate, left.join(", "))
  const gaps = left.slice(1).map((at, i) => at - (left[i] ?? 0))
  t.ok(Math.min(...gaps) >= spacing(rate), `nothing is caught up with: ${gaps.join(", ")}`)
})

/** Like the process of an engine: what is due while it is frozen is asked about when it wakes up, by whoever comes first. */
t.test("given any kills, freezes and delays, then no rolling second of the callee has more than the rate", async (t) => {
  const anyLife = fc.record({
    calls: fc.array(
      fc.record({
        frozen: fc.constantFrom(0, 0, 0, 30, 400, 10_000),
        /** Right before the freeze, the process has not let the request go yet. */
        isKept: fc.boolean(),
        late: fc.nat(60),
        transit: fc.nat(60)
      }),
      { maxLength: 14, minLength: 1, size: "max" }
    ),
    down: fc.nat(400)
  })
  const law = fc.asyncProperty(fc.integer({ max: 6, min: 1 }), fc.array(anyLife, { maxLength: 3, minLength: 1 }), async (rate, lives) => {
    let realMillis = 0
    const arrivals = await run(
      Effect.gen(function* () {
        const arrivals: Array<number> = []
        const passes = Effect.fnUntraced(function* (millis: number) {
          realMillis += millis
          yield* TestClock.adjust(millis)
        })
        let first = Number.NEGATIVE_INFINITY
        for (const { calls, down } of lives) {
          yield* CallRate.use((rates) =>
            Effect.gen(function* () {
              rates.begin(first)
              for (const { frozen, isKept, late, transit } of calls) {
                let mustWait = isKept && frozen > 100
                const departure = rates.reserve([trunk(rate), campaign(1, rate * 2)])
                yield* passes(late)
                while (true) {
                  // The process ticks and wakes every tenth of a second, at the latest.
                  const early = departure.readyAt() - (yield* SteadyTime.now)
                  if (early <= 0.01 && departure.leave()) {
                    yield* passes(frozen)
                    if (!mustWait) break
                    departure.renew()
                    mustWait = false
                    continue
                  }
                  yield* passes(Math.min(100, Math.max(1, Math.ceil(early))))
                }
                arrivals.push((yield* SteadyTime.now) + (frozen > 100 || first > 0 ? transit : Math.min(transit, 10)))
                yield* Effect.promise(() => setImmediate())
              }
            })
          ).pipe(Effect.provide(CallRate.layerMemory))
          first = (yield* SteadyTime.now) + betweenEnginesMillis
          yield* passes(down)
        }
        return arrivals
      }).pipe(Effect.provideService(RealMillis, () => realMillis))
    )
    return most(arrivals, 1000) <= rate
  })
  await fc.assert(law, { numRuns: 150, seed: 3 })
  t.pass()
})
