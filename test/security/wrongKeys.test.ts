/** A stranger sends keys that nobody has, as fast as he can: the database is asked for a few of them. */
import { Clock, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { WrongKeys } from "#core/organization/WrongKeys.ts"
import { run } from "#test/support/run.ts"

const given = Effect.fnUntraced(function* () {
  const wrong = new WrongKeys(yield* Clock.Clock)
  let lookUps = 0
  const ask = (subscriber: string, key: string, isGood = false) =>
    Effect.exit(
      wrong.within(
        subscriber,
        key,
        Effect.suspend(() => {
          lookUps++
          return isGood ? Effect.succeed(key) : Effect.fail("wrong" as const)
        })
      )
    )
  const flood = (subscriber: string, count: number) =>
    Effect.forEach(
      Array.from({ length: count }, (_, at) => `k${at}`),
      (key) => ask(subscriber, key)
    )
  return { ask, flood, lookUps: () => lookUps }
})

t.test("given an address that sends a thousand keys that nobody has", async (t) => {
  const seen = await run(
    Effect.gen(function* () {
      const { ask, flood, lookUps } = yield* given()
      yield* ask("a", "good", true)
      yield* flood("a", 1000)
      const flooded = lookUps()
      const refused = yield* ask("a", "new", true)
      const good = yield* ask("a", "good", true)
      const elsewhere = yield* ask("b", "new", true)
      yield* TestClock.adjust("10 seconds")
      yield* flood("a", 1000)
      return { flooded, refused, good, elsewhere, later: lookUps() - flooded }
    })
  )

  t.test("when they are looked up, then two hundred are, and five more a second", async (t) => {
    t.equal(seen.flooded, 201)
    t.ok(seen.later >= 50 && seen.later <= 54, `${seen.later}`)
  })
  t.test("when a key that was good before comes from there, then it is looked up; another one has to wait", async (t) => {
    t.ok(Exit.isSuccess(seen.good))
    t.match(JSON.stringify(seen.refused), "TooManyWrongKeys")
    t.match(JSON.stringify(seen.refused), '"retryAfterSeconds":1')
  })
  t.test("when a key comes from elsewhere, then it is looked up", async (t) => {
    t.ok(Exit.isSuccess(seen.elsewhere))
  })
})
