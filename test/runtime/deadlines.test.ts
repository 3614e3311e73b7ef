/** The timer wheel behind all deadlines. */
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { Deadlines } from "#runtime/dispatch/Deadlines.ts"
import { run, stepWallClock } from "#test/support/run.ts"

/** What `act` notes about the deadlines that are met. */
const metIn = <A>(act: (wheel: Deadlines["Service"], met: Array<A>) => Effect.Effect<unknown>) =>
  run(
    Effect.gen(function* () {
      const met: Array<A> = []
      yield* act(yield* Deadlines, met)
      return met
    }).pipe(Effect.provide(Deadlines.layer))
  )

t.test("given deadlines set at any time, then each is met, never early, and at most a tick late", async (t) => {
  const plan = [0, 1, 49, 99, 100, 101, 199, 250, 333, 1000, 1077].flatMap((setAt) =>
    [0, 1, 50, 99, 100, 101, 730, 2000].map((after) => ({ after, setAt }))
  )
  const lateness = await metIn<number>((wheel, late) =>
    Clock.clockWith((clock) =>
      Effect.gen(function* () {
        for (const { after, setAt } of plan) {
          yield* TestClock.adjust(setAt - clock.currentTimeMillisUnsafe())
          wheel.set(after, () => late.push(clock.currentTimeMillisUnsafe() - setAt - after))
        }
        for (let i = 0; i < 400; i++) yield* TestClock.adjust(10)
      })
    )
  )
  t.equal(lateness.length, plan.length)
  t.ok(Math.min(...lateness) >= 0, `earliest ${Math.min(...lateness)}`)
  t.ok(Math.max(...lateness) <= 100, `latest ${Math.max(...lateness)}`)
})

t.test("given a deadline that is cleared, then it is not met, and its neighbours are", async (t) => {
  const met = await metIn<string>((wheel, met) => {
    const cleared = wheel.set(500, () => met.push("cleared"))
    wheel.set(500, () => met.push("neighbour"))
    const alone = wheel.set(900, () => met.push("alone"))
    for (const one of [cleared, cleared, alone]) one.clear()
    const later = Effect.sync(() => wheel.set(100, () => met.push("later")))
    return TestClock.adjust(2000).pipe(Effect.andThen(later), Effect.andThen(TestClock.adjust(300)))
  })
  t.strictSame(met, ["neighbour", "later"])
})

t.test("given two deadlines of one tick, when the first that is met clears the other, then the other is not met", async (t) => {
  const met = await metIn<string>((wheel, met) => {
    wheel.set(500, () => {
      met.push("first")
      other.clear()
    })
    const other = wheel.set(500, () => met.push("other"))
    return TestClock.adjust(1000)
  })
  t.strictSame(met, ["first"])
})

t.test("given a clock that leaps, as after a machine's sleep, then everything that is due is met, in order", async (t) => {
  const met = await metIn<number>((wheel, met) => {
    for (const after of [3_600_000, 5000, 60_000]) wheel.set(after, () => met.push(after))
    return TestClock.setTime(7_200_000)
  })
  t.strictSame(met, [5000, 60_000, 3_600_000])
})

t.test("given a deadline, when the wall clock is stepped, then it is met when its time has passed", async (t) => {
  for (const step of [3_600_000, -3_600_000]) {
    const met = await metIn<string>((wheel, met) => {
      wheel.set(5000, () => met.push("met"))
      const early = Effect.sync(() => met.push("not early"))
      return stepWallClock(step).pipe(Effect.andThen(TestClock.adjust(4900)), Effect.andThen(early), Effect.andThen(TestClock.adjust(200)))
    })
    t.strictSame(met, ["not early", "met"])
  }
})

t.test("given a hundred thousand deadlines, when most are replaced, then the rest are met", async (t) => {
  const met = await metIn<number>((wheel, met) => {
    const set = Array.from({ length: 100_000 }, (_, i) => wheel.set(60_000 + (i % 600), () => met.push(i)))
    for (const deadline of set.slice(1000)) deadline.clear()
    return TestClock.adjust(61_000)
  })
  t.equal(met.length, 1000)
})
