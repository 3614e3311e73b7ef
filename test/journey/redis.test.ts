/** An engine whose Redis comes late, fails, and comes back: it works all the time, and says what it is missing. */
import t from "tap"
import { untilTrue, World } from "#test/support/engine.ts"
import { redisServer, redisUnavailable } from "#test/support/redis.ts"

const skip = (await redisUnavailable()) ?? false

t.test("given an engine whose Redis is away at the start", { skip }, async (t) => {
  const redis = await redisServer(t, { password: "hunter2" })
  const world = await World.open(t, {
    emulator: { ringMillis: 50, seed: 3, talkMillis: 100 },
    environment: { METRICS: "on", RECORDINGS: "off", REDIS_URL: redis.url }
  })
  const ready = () => world.api.ask("GET", "/health/ready")
  const isRedis = (state: string) => async () => {
    const { body, status } = await ready()
    t.equal(status, 200)
    return JSON.stringify(body).includes(`"redis":"${state}"`)
  }
  const gauge = async () => /^redis_up (\d)$/m.exec(await (await fetch(`${world.engine.url}/metrics`)).text())?.[1]
  const call = async () =>
    (await world.api.ask("POST", `/public/agent/workflow/${world.agentUuid}`, { phone_number: "+15550100001" })).status

  await t.test("when it has started, then it is ready and calls, and says why Redis is away", async (t) => {
    t.ok(await isRedis("down")())
    t.equal(await gauge(), "0")
    t.equal(await call(), 200)
    await untilTrue("a word in the log", () => /Redis is away.*ECONNREFUSED/.test(world.output()))
  })

  await t.test("when Redis comes and goes, then readiness tells it, and calls go on", async (t) => {
    await redis.start()
    await untilTrue("Redis", isRedis("up"))
    t.equal(await gauge(), "1")
    t.equal(await call(), 200)
    redis.freeze()
    await untilTrue("notice", isRedis("down"))
    t.equal(await call(), 200)
    redis.wake()
    await untilTrue("return", isRedis("up"))
  })

  await t.test("when its log is read, then the password is not in it", async (t) => {
    t.notMatch(world.output(), "hunter2")
    t.equal(world.output().split("Redis is away").length, 3, "and each outage once")
  })
})
