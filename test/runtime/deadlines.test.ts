/** The timer wheel behind all deadlines. */
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { Deadlines } from "#runtime/dispatch/Deadlines.ts"
import { run, stepWallClock } from "#test/support/run.ts"

/** When deadlines that are set at `setAt` for `after` are met. */
const metAt = (plan: ReadonlyArray<{ readonly setAt: number; readonly after: number }>) =>
  run(
    Effect.gen(function* () {
      const wheel = yield* Deadlines
      const clock = yield* Clock.Clock
      const met: Array<number> = []
      for (const [i, { after, setAt }] of plan.entries()) {
        yield* TestClock.adjust(setAt - clock.currentTimeMillisUnsafe())
        wheel.set(after, () => {
          met[i] = clock.currentTimeMillisUnsafe()
        })
      }
      for (let i = 0; i < 400; i++) yield* TestClock.adjust(10)
      return met
    }).pipe(Effect.provide(Deadlines.layer))
  )

t.test("given deadlines set at any time, then each is met, never early, and at most a tick late", async (t) => {
  const plan = [0, 1, 49, 99, 100, 101, 199, 250, 333, 1000, 1077].flatMap((setAt) =>
    [0, 1, 50, 99, 100, 101, 730, 2000].map((after) => ({ after, setAt }))
  )
  const met = await metAt(plan)
  t.equal(met.length, plan.length)
  const lateness = plan.map(({ after, setAt }, i) => (met[i] ?? Number.NaN) - setAt - after)
  t.ok(Math.min(...lateness) >= 0, `earliest ${Math.min(...lateness)}`)
  t.ok(Math.max(...lateness) <= 100, `latest ${Math.max(...lateness)}`)
})

t.test("given a deadline that is cleared, then it is not met, and its neighbours are", async (t) => {
  const met = await run(
    Effect.gen(function* () {
      const wheel = yield* Deadlines
      const met: Array<string> = []
      const cleared = wheel.set(500, () => met.push("cleared"))
      wheel.set(500, () => met.push("neighbour"))
      const alone = wheel.set(900, () => met.push("alone"))
      cleared.clear()
      cleared.clear()
      alone.clear()
      yield* TestClock.adjust(2000)
      wheel.set(100, () => met.push("later"))
      yield* TestClock.adjust(300)
      return met
    }).pipe(Effect.provide(Deadlines.layer))
  )
  t.strictSame(met, ["neighbour", "later"])
})

t.test("given two deadlines of one tick, when the first that is met clears the other, then the other is not met", async (t) => {
  const met = await run(
    Effect.gen(function* () {
      const wheel = yield* Deadlines
      const met: Array<string> = []
      wheel.set(500, () => {
        met.push("first")
        other.clear()
      })
      const other = wheel.set(500, () => met.push("other"))
      yield* TestClock.adjust(1000)
      return met
    }).pipe(Effect.provide(Deadlines.layer))
  )
  t.strictSame(met, ["first"])
})

t.test("given a clock that leaps, as after a machine's sleep, then everything that is due is met, in order", async (t) => {
  const met = await run(
    Effect.gen(function* () {
      const wheel = yield* Deadlines
      const met: Array<number> = []
      for (const after of [3_600_000, 5000, 60_000]) wheel.set(after, () => met.push(after))
      yield* TestClock.setTime(7_200_000)
      return met
    }).pipe(Effect.provide(Deadlines.layer))
  )
  t.strictSame(met, [5000, 60_000, 3_600_000])
})

t.test("given a deadline, when the wall clock is stepped, then it is met when its time has passed", async (t) => {
  for (const step of [3_600_000, -3_600_000]) {
    const met = await run(
      Effect.gen(function* () {
        const wheel = yield* Deadlines
        let met = 0
        wheel.set(5000, () => {
          met++
        })
        yield* stepWallClock(step)
        yield* TestClock.adjust(4900)
        const early = met
        yield* TestClock.adjust(200)
        return { early, met }
      }).pipe(Effect.provide(Deadlines.layer))
    )
    t.strictSame(met, { early: 0, met: 1 })
  }
})

t.test("given a hundred thousand deadlines, when most are replaced, then the rest are met", async (t) => {
  const met = await run(
    Effect.gen(function* () {
      const wheel = yield* Deadlines
      let met = 0
      const first = Array.from({ length: 100_000 }, (_, i) =>
        wheel.set(60_000 + (i % 600), () => {
          met++
        })
      )
      for (const deadline of first.slice(1000)) deadline.clear()
      yield* TestClock.adjust(61_000)
      return met
    }).pipe(Effect.provide(Deadlines.layer))
  )
  t.equal(met, 1000)
})
