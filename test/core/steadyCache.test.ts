/** A cache that ages by steady time, whatever is done to the wall clock. */
import { Clock, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import * as SteadyCache from "#core/SteadyCache.ts"
import { run, stepWallClock } from "#test/support/run.ts"

const HOUR_MILLIS = 3_600_000

t.test("given an answer that is remembered for a second", async (t) => {
  const check = async (name: string, act: Effect.Effect<unknown>, lookups: number) => {
    let asked = 0
    await run(
      Effect.gen(function* () {
        const cache = yield* SteadyCache.make((key: string) => Effect.sync(() => `${key} ${++asked}`), {
          capacity: 10,
          timeToLive: (exit) => (Exit.isSuccess(exit) ? "1 second" : 0)
        })
        yield* cache.get("a")
        yield* act
        yield* cache.get("a")
      })
    )
    t.equal(asked, lookups, name)
  }
  await check("half a second later, then it is unchanged", TestClock.adjust(500), 1)
  await check("a second later, then it is looked up again", TestClock.adjust(1000), 2)
  await check("when the clock is set forward, then it is unchanged", stepWallClock(HOUR_MILLIS), 1)
  await check(
    "a second later, when the clock was set back, then it is looked up again",
    Effect.andThen(stepWallClock(-HOUR_MILLIS), TestClock.adjust(1000)),
    2
  )
})

t.test("a look-up sees the wall clock", async (t) => {
  const [seen, now] = await run(
    Effect.gen(function* () {
      yield* stepWallClock(HOUR_MILLIS)
      const cache = yield* SteadyCache.make(() => Clock.currentTimeMillis, { capacity: 1, timeToLive: () => "1 second" })
      return [yield* cache.get("a"), yield* Clock.currentTimeMillis]
    })
  )
  t.equal(seen, now)
})
