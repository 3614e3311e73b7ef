/** A stranger sends invalid keys as fast as possible: only a few of them are looked up in the database. */
import { Clock, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { SharedBudgets } from "#core/organization/SharedBudgets.ts"
import { WrongKeys } from "#core/organization/WrongKeys.ts"
import { bodyOf, openApi } from "#test/gateway/apiTest.ts"
import { bearer } from "#test/gateway/gatewayTest.ts"
import { run } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const given = Effect.fnUntraced(function* () {
  const wrong = new WrongKeys(yield* Clock.Clock, yield* SharedBudgets)
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

t.test("given an address that sends a thousand invalid keys", async (t) => {
  const seen = await run(function* () {
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

  t.test("when they are looked up, then two hundred are, and five more a second", async (t) => {
    t.equal(seen.flooded, 201)
    t.ok(seen.later >= 50 && seen.later <= 54, `${seen.later}`)
  })
  t.test("when a key that was valid before comes from there, then it is looked up; another one has to wait", async (t) => {
    t.ok(Exit.isSuccess(seen.good))
    t.match(JSON.stringify(seen.refused), "TooManyWrongKeys")
    t.match(JSON.stringify(seen.refused), '"retryAfterSeconds":1')
  })
  t.test("when a key comes from elsewhere, then it is looked up", async (t) => {
    t.ok(Exit.isSuccess(seen.elsewhere))
  })
})

t.test("given an address that sends made-up log-in tokens", async (t) => {
  const api = await openApi(t)
  const ask = (token: string) => api.ask("GET", "/campaign/", undefined, bearer(token))
  const account = { email: "flood@example.org", password: "correct horse" }
  const good = String(bodyOf(await api.ask("POST", "/auth/signup", account, { key: null }))["token"])
  t.strictSame([(await ask(good)).status, (await api.ask("GET", "/campaign/")).status], [200, 200])
  const madeUp = (at: number) => `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIke${at}IifQ.c2lnbmF0dXJl`
  const answers = await Promise.all(Array.from({ length: 500 }, (_, at) => ask(madeUp(at))))

  t.test("when there are hundreds, then they are refused unseen, and so is an invalid key", async (t) => {
    const refused = answers.filter(({ status }) => status === 429)
    t.ok(refused.length >= 200, `${refused.length}`)
    t.ok(refused.every(({ headers }) => Number(headers["retry-after"]) > 0))
    t.ok(answers.every(({ status }) => status === 429 || status === 401))
    // While a slow machine works, a few more look-ups become available.
    await untilTrue("refusal of a key", async () => {
      const more = await Promise.all(
        Array.from({ length: 20 }, (_, at) => api.ask("GET", "/campaign/", undefined, { key: `dgr_none_${at}` }))
      )
      return more.some(({ status }) => status === 429)
    })
  })
  t.test("when a token or a key that was valid comes from there, then it is looked up", async (t) => {
    t.equal((await ask(good)).status, 200)
    t.equal((await api.ask("GET", "/campaign/")).status, 200)
  })
  t.test("when one is longer than any valid one, then it is refused", async (t) => {
    t.equal((await ask(`eyJ${"a".repeat(3000)}.a.a`)).status, 401)
  })
})
