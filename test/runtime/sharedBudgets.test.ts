/** Budgets that engines share by Redis, and what they do while it is away. */
import { Clock, Context, Effect, Layer } from "effect"
import t, { type Test } from "tap"
import { OrganizationId } from "#core/Id.ts"
import { LoginLimit } from "#core/organization/LoginLimit.ts"
import { RequestRates } from "#core/organization/RequestRates.ts"
import { SharedBudgets } from "#core/organization/SharedBudgets.ts"
import { WrongCredentials } from "#core/organization/WrongKeys.ts"
import * as sharedBudgets from "#runtime/redis/sharedBudgets.ts"
import { tag } from "#test/store/services.ts"
import { redisUnavailable, startRedis } from "#test/support/redis.ts"
import { connectedEngine } from "#test/support/redisEngine.ts"
import { until, untilTrue } from "#test/support/until.ts"

const skip = (await redisUnavailable()) ?? false
/** What Redis did not take in time is lost, and is not worth ten minutes of waiting: the file then fails, and runs once more. */
const patienceMillis = 60_000

/** Next to nothing is granted again while a test runs. */
const allowance = { followers: 1, requestBurst: 20, requestsPerSecond: 0.001 }
const ada = { email: "ada@example.org", subscriber: "192.0.2.1", standing: "noAccount" } as const

/** The limits of an engine. `learned`: what it has learned of each budget, rounded. */
const engineOf = async (t: Test, url: string) => {
  const learned: Array<string> = []
  const watched = Layer.effect(
    SharedBudgets,
    Effect.map(SharedBudgets, ({ share }) => ({
      share: (name: string, budget: Parameters<typeof share>[1]) =>
        share(name, {
          learn: (key, spent) => {
            budget.learn(key, spent)
            learned.push(`${name} ${Math.round(spent)}`)
          },
          take: budget.take
        })
    }))
  ).pipe(Layer.provide(sharedBudgets.layer))
  const limits = Layer.merge(LoginLimit.layer, WrongCredentials.layer).pipe(Layer.provideMerge(watched))
  const { context, isUp } = await connectedEngine(t, url, limits)
  const [login, wrong] = [Context.get(context, LoginLimit), Context.get(context, WrongCredentials)]
  const rates = new RequestRates(await Effect.runPromise(Clock.Clock), Context.get(context, SharedBudgets))
  const organization = (id: number) => ({ allowance, organizationId: OrganizationId.make(id), role: "owner" }) as const
  return {
    isUp,
    learned,
    login,
    /** Whether it has learned this since. */
    learns: async (what: string) => {
      await untilTrue(what, () => learned.includes(what), patienceMillis)
      learned.length = 0
    },
    logIn: () => Effect.runPromise(tag(login.attempt(ada))),
    /** How many of so many requests are answered. */
    requests: (id: number, times: number) =>
      Array.from({ length: times }, () => rates.refusal(organization(id))).filter((refusal) => refusal === undefined).length,
    /** How many of so many wrong keys are looked up. */
    wrongKeys: async (times: number) => {
      const asked = Effect.forEach(Array.from({ length: times }), (_, at) =>
        Effect.match(wrong.within("192.0.2.9", `key ${at}`, Effect.fail("wrong" as const)), {
          onFailure: (error) => error === "wrong",
          onSuccess: () => true
        })
      )
      return (await Effect.runPromise(asked)).filter((isLookedUp) => isLookedUp).length
    }
  }
}

t.test("given two engines that share budgets", { skip }, async (t) => {
  const server = await startRedis(t)
  const [one, other] = [await engineOf(t, server.url), await engineOf(t, server.url)]

  t.test("when one has answered all requests of an organization, then the other one answers none but the first", async (t) => {
    t.equal(one.requests(1, 30), 20)
    await one.learns("requests 20")
    t.equal(other.requests(1, 1), 1)
    await other.learns("requests 21")
    t.equal(other.requests(1, 30), 0)
    t.equal(other.requests(2, 30), 20, "and others have their own")
    await other.learns("requests 20")
  })

  t.test("when both answer some, then they answer as many together as one of them would", async (t) => {
    t.strictSame([one.requests(3, 6), other.requests(3, 6)], [6, 6])
    await until("sum", () => [...one.learned, ...other.learned].find((what) => what === "requests 12"), patienceMillis)
    one.learned.length = other.learned.length = 0
    t.strictSame([one.requests(3, 1), other.requests(3, 1)], [1, 1])
    await until("sum", () => [...one.learned, ...other.learned].find((what) => what === "requests 14"), patienceMillis)
    one.learned.length = other.learned.length = 0
    t.equal(one.requests(3, 1), 1)
    await one.learns("requests 15")
    t.equal(one.requests(3, 30), 5)
    await one.learns("requests 20")
  })

  t.test("when an account's password is guessed at one, then guessing goes no further at the other one", async (t) => {
    for (let times = 0; times < 10; times++) t.equal(await one.logIn(), "none")
    t.equal(await one.logIn(), "TooManyAttempts")
    await one.learns("loginsOfPair 10")
    t.equal(await other.logIn(), "none")
    await other.learns("loginsOfPair 11")
    t.equal(await other.logIn(), "TooManyAttempts")
  })

  t.test("when one of them succeeds, then neither holds the former guesses against it", async (t) => {
    await Effect.runPromise(one.login.succeeded(ada))
    await one.learns("loginsOfPair 1")
    for (let times = 0; times < 9; times++) t.equal(await one.logIn(), "none")
  })

  t.test("when wrong keys flood one, then the other one looks up few", async (t) => {
    t.ok((await one.wrongKeys(300)) >= 200)
    await until("count", () => one.learned.find((what) => /^wrongKeys (19|20)\d/.test(what)), patienceMillis)
    t.equal(await other.wrongKeys(1), 1)
    await until("count", () => other.learned.find((what) => /^wrongKeys \d{3}/.test(what)), patienceMillis)
    const more = await other.wrongKeys(300)
    t.ok(more < 150, `${more}`)
  })

  t.test("when one looks into Redis, then no address is there, and every key ends", async (t) => {
    const keys = await server.ask("KEYS", "*")
    t.match(keys, [/^trunkline:\{(budgets|alive)\}:/])
    t.notMatch(JSON.stringify(keys), /ada@|example|192[.]/, "ids may have such digits")
    for (const key of Array.isArray(keys) ? keys : []) t.ok(Number(await server.ask("PTTL", String(key))) > 0)
  })

  t.test("when Redis is wiped, then it learns again what was spent", async (t) => {
    t.equal(one.requests(4, 10), 10)
    await one.learns("requests 10")
    await server.wipe()
    t.equal(one.requests(4, 1), 1)
    await one.learns("requests 11")
    t.equal(other.requests(4, 1), 1)
    await other.learns("requests 12")
    t.equal(other.requests(4, 30), 8)
  })

  for (const [what, leave, back] of [
    ["stopped", () => server.stop(), () => server.start()],
    ["frozen", async () => server.freeze(), async () => server.wake()]
  ] as const)
    t.test(`when Redis is ${what}, then each counts alone at once, and together again when it is back`, async (t) => {
      const [id, another] = what === "stopped" ? [5, 6] : [8, 9]
      t.equal(one.requests(id, 1), 1)
      await one.learns("requests 1")
      await leave()
      await untilTrue("notice", () => !one.isUp() && !other.isUp())
      t.strictSame([one.requests(id, 30), other.requests(id, 30)], [19, 20])
      t.doesNotThrow(() => Effect.runSync(tag(other.login.attempt(ada))), "nobody waits")
      await back()
      await untilTrue("return", () => one.isUp() && other.isUp())
      // The one before that is known only to the first engine is forgotten if the other one comes first.
      await until(
        "what both have spent",
        () => [...one.learned, ...other.learned].find((text) => /^requests (39|40)$/.test(text)),
        patienceMillis
      )
      t.equal(one.requests(another, 5), 5)
      await one.learns("requests 5")
    })
})
