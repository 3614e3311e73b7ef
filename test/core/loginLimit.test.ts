import { Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { LoginLimit, type Standing } from "#core/organization/LoginLimit.ts"
import { stepWallClock } from "#test/support/run.ts"
import { test } from "./effectTest.ts"
import { tag } from "#test/store/services.ts"

t.test("given log-ins that fail", async (t) => {
  const from = (email: string, subscriber = "192.0.2.1", standing: Standing = "noAccount") => ({ email, subscriber, standing })
  const tried = (email: string, subscriber?: string, standing?: Standing) =>
    LoginLimit.use((_) => tag(_.attempt(from(email, subscriber, standing))))
  const play = <A>(work: Effect.Effect<A, never, LoginLimit>) =>
    Effect.runPromise(work.pipe(Effect.provide(LoginLimit.layer), Effect.provide(TestClock.layer())))

  t.test("when ten have failed for one account from one address, then that pair has to wait, and others do not", async (t) => {
    const answers = await play(
      Effect.gen(function* () {
        for (let times = 0; times < 10; times++) yield* tried("a")
        const now = [yield* tried("a"), yield* tried("b")]
        yield* TestClock.adjust("5 minutes")
        return [...now, yield* tried("a")]
      })
    )
    t.strictSame(answers, ["TooManyAttempts", "none", "none"])
  })

  t.test(
    "when many fail for many accounts from many addresses, then nobody else has to wait, and the number remembered is bounded",
    async (t) => {
      const answers = await play(
        Effect.gen(function* () {
          for (let times = 0; times < 10; times++) yield* tried("a")
          const early = yield* Effect.forEach(Array.from({ length: 9999 }), (_, at) => tried(`user ${at}`, `subscriber ${at}`))
          const before = yield* tried("a")
          return [new Set(early).size, before, yield* tried("one more", "another"), yield* tried("a")]
        })
      )
      t.strictSame(answers, [1, "TooManyAttempts", "none", "none"])
    }
  )

  t.test("when the clock is set forward or back, then the wait is as long as before", async (t) => {
    const answers = (step: number) =>
      runTurned(
        Effect.gen(function* () {
          for (let times = 0; times < 10; times++) yield* tried("a")
          yield* stepWallClock(step)
          const stepped = yield* tried("a")
          yield* TestClock.adjust("5 minutes")
          return [stepped, yield* tried("a")]
        }).pipe(Effect.provide(LoginLimit.layer))
      )
    t.strictSame(await answers(3_600_000), ["TooManyAttempts", "none"])
    t.strictSame(await answers(-3_600_000), ["TooManyAttempts", "none"])
  })

  t.test("when they succeed in the end, then nothing is held against the address", async (t) => {
    const answers = await play(
      Effect.gen(function* () {
        const limit = yield* LoginLimit
        for (let times = 0; times < 10; times++) yield* tried("a")
        yield* limit.succeeded(from("a"))
        return yield* tried("a")
      })
    )
    t.equal(answers, "none")
  })
})
