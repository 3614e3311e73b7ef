import { Effect } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { LoginLimit } from "#core/organization/LoginLimit.ts"
import { stepWallClock } from "#test/support/run.ts"
import { tag } from "#test/store/services.ts"
import { test } from "./effectTest.ts"

const from = (email: string, subscriber = "192.0.2.1") => ({ email, subscriber, standing: "noAccount" as const })
/** A limit, with the answer to a log-in that then fails, after ten that have failed for `a`. */
const scene = Effect.gen(function* () {
  const limit = yield* Effect.provide(LoginLimit, LoginLimit.layer)
  const tried = (email: string, subscriber?: string) => tag(limit.attempt(from(email, subscriber)))
  for (let times = 0; times < 10; times++) yield* tried("a")
  return { limit, tried }
})

t.test("given log-ins that fail", async (t) => {
  test(t, "when ten have failed for one account from one address, then that pair has to wait, and others do not", function* (t) {
    const { tried } = yield* scene
    t.strictSame([yield* tried("a"), yield* tried("b")], ["TooManyAttempts", "none"])
    yield* TestClock.adjust("5 minutes")
    t.equal(yield* tried("a"), "none")
  })

  test(t, "when many fail for many accounts and addresses, then nobody else waits, and the number remembered is bounded", function* (t) {
    const { tried } = yield* scene
    const early = yield* Effect.forEach(Array.from({ length: 9999 }), (_, at) => tried(`user ${at}`, `subscriber ${at}`))
    t.equal(new Set(early).size, 1)
    t.equal(yield* tried("a"), "TooManyAttempts")
    t.strictSame([yield* tried("one more", "another"), yield* tried("a")], ["none", "none"])
  })

  for (const step of [3_600_000, -3_600_000])
    test(t, `when the clock is set by ${step} ms, then the wait is as long as before`, function* (t) {
      const { tried } = yield* scene
      yield* stepWallClock(step)
      t.equal(yield* tried("a"), "TooManyAttempts")
      yield* TestClock.adjust("5 minutes")
      t.equal(yield* tried("a"), "none")
    })

  test(t, "when they succeed in the end, then nothing is held against the address", function* (t) {
    const { limit, tried } = yield* scene
    yield* limit.succeeded(from("a"))
    t.equal(yield* tried("a"), "none")
  })
})
