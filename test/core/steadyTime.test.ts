import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import * as SteadyTime from "#core/SteadyTime.ts"
import { run, stepWallClock } from "#test/support/run.ts"

const passed = (step: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const before = yield* SteadyTime.now
    yield* step
    return (yield* SteadyTime.now) - before
  })

t.test("given steady time", async (t) => {
  t.test("when time passes, then it advances", async (t) => {
    t.equal(await run(passed(TestClock.adjust("1500 millis"))), 1500)
  })

  t.test("when the wall clock is set back, then it stands still", async (t) => {
    t.equal(await run(passed(stepWallClock(-3_600_000))), 0)
  })

  t.test("when a moment of it is recorded, then it is the wall clock's", async (t) => {
    const recorded = Effect.gen(function* () {
      const at = yield* SteadyTime.now
      yield* TestClock.adjust("1 minute")
      return yield* SteadyTime.toWall(at)
    })
    t.equal(await run(recorded), 0)
  })

  t.test("when a recorded moment is read, then it is as long ago as it was", async (t) => {
    const read = Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      const clock = yield* Clock.Clock
      return SteadyTime.nowOf(clock) - SteadyTime.steadyOf(clock, 20_000)
    })
    t.equal(await run(read), 40_000)
  })

  t.test("when a past moment seems to be in the future, then it counts as now", async (t) => {
    const read = Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      const clock = yield* Clock.Clock
      return [20_000, 3_660_000].map((at) => SteadyTime.nowOf(clock) - SteadyTime.steadyPast(clock, at))
    })
    t.strictSame(await run(read), [40_000, 0])
  })
})
