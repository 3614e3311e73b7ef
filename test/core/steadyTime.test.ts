import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import * as SteadyTime from "#core/SteadyTime.ts"
import { stepWallClock } from "#test/support/run.ts"
import { test } from "./effectTest.ts"

const passed = Effect.fnUntraced(function* (step: Effect.Effect<void>) {
  const before = yield* SteadyTime.now
  yield* step
  return (yield* SteadyTime.now) - before
})

t.test("given steady time", async (t) => {
  test(t, "when time passes, then it advances", function* (t) {
    t.equal(yield* passed(TestClock.adjust("1500 millis")), 1500)
  })

  test(t, "when the wall clock is set back, then it stands still", function* (t) {
    t.equal(yield* passed(stepWallClock(-3_600_000)), 0)
  })

  test(t, "when a moment of it is recorded, then it is the wall clock's", function* (t) {
    const recorded = Effect.gen(function* () {
      const at = yield* SteadyTime.now
      yield* TestClock.adjust("1 minute")
      return yield* SteadyTime.toWall(at)
    })
    t.equal(yield* recorded, 0)
  })

  test(t, "when a recorded moment is read, then it is as long ago as it was", function* (t) {
    const read = Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      const clock = yield* Clock.Clock
      return SteadyTime.nowOf(clock) - SteadyTime.steadyOf(clock, 20_000)
    })
    t.equal(yield* read, 40_000)
  })

  test(t, "when a past moment seems to be in the future, then it counts as now", function* (t) {
    const read = Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      const clock = yield* Clock.Clock
      return [20_000, 3_660_000].map((at) => SteadyTime.nowOf(clock) - SteadyTime.steadyPast(clock, at))
    })
    t.strictSame(yield* read, [40_000, 0])
  })
})
