/** A cache that ages by steady time, whatever is done to the wall clock. */
import { Clock, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import * as SteadyCache from "#core/SteadyCache.ts"
import { stepWallClock } from "#test/support/run.ts"
import { test } from "./effectTest.ts"

const HOUR_MILLIS = 3_600_000

t.test("given an answer that is remembered for a second", async (t) => {
  const check = (title: string, act: Effect.Effect<unknown>, lookups: number) =>
    test(t, title, function* (t) {
      let asked = 0
      const timeToLive = (exit: Exit.Exit<string>) => (Exit.isSuccess(exit) ? "1 second" : 0)
      const cache = yield* SteadyCache.make((key: string) => Effect.sync(() => `${key} ${++asked}`), { capacity: 10, timeToLive })
      yield* cache.get("a")
      yield* act
      yield* cache.get("a")
      t.equal(asked, lookups)
    })
  check("half a second later, then it is unchanged", TestClock.adjust(500), 1)
  check("a second later, then it is looked up again", TestClock.adjust(1000), 2)
  check("when the clock is set forward, then it is unchanged", stepWallClock(HOUR_MILLIS), 1)
  const later = Effect.andThen(stepWallClock(-HOUR_MILLIS), TestClock.adjust(1000))
  check("a second later, when the clock was set back, then it is looked up again", later, 2)
})

test(t, "a look-up sees the wall clock", function* (t) {
  yield* stepWallClock(HOUR_MILLIS)
  const cache = yield* SteadyCache.make(() => Clock.currentTimeMillis, { capacity: 1, timeToLive: () => "1 second" })
  const seen = yield* cache.get("a")
  const now = yield* Clock.currentTimeMillis
  t.equal(seen, now)
})
